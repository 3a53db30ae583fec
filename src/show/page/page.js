"use strict";
// The rows of the table and the shapes of the map are the same nodes, in the same order. They are there without this
// script. It lays out the map for the window and for the directory that is zoomed in on, and adds a card, search, order
// and keys. It writes text only as text, and asks nothing of any other place.
const main = document.querySelector("main");
const search = document.querySelector("input[type=search]");
const crumbs = document.querySelector("nav");
const map = document.querySelector("figure");
const svg = map.querySelector("svg");
const drawing = svg.querySelector("g");
const card = document.querySelector("output");
const lists = [...document.querySelectorAll("aside section")];
const details = document.querySelector("details");
const table = document.querySelector("table");
const body = table.tBodies[0];
const heads = [...table.tHead.rows[0].cells];
const columns = heads.map((head) => head.textContent);
// Areas are as sizes; in a comparison, as changes.
const isComparison = columns.includes("Change");
const weights = columns.indexOf(isComparison ? "Share" : "Size");

// --- Nodes ---

const nodes = [];
const shapes = drawing.querySelectorAll("path");
const above = [];
for (const row of body.rows) {
  const depth = Number(row.dataset.d);
  const parent = depth ? above[depth - 1] : null;
  const name = row.cells[0].firstChild.data;
  const node = {
    number: nodes.length,
    row, parent, name,
    // In a list of files, names are paths.
    label: parent ? name.slice(name.lastIndexOf("/") + 1) : name,
    path: parent && parent.name !== "(total)" ? parent.path.replace(/\/$/, "") + "/" + name : name,
    weight: Number(row.cells[weights].dataset.v),
    shape: shapes[nodes.length],
    children: [],
  };
  node.shape.node = node;
  if (parent) parent.children.push(node);
  above[depth] = node;
  nodes.push(node);
}
const root = nodes[0];
let current = root;
let chosen = root;

// A directory that has hardly more than one directory in it is drawn as one with that: its innermost.
for (const node of [...nodes].reverse()) {
  const only = node.children.length === 1 && node.children[0];
  const isJoined = only && only.children.length > 0 && node.weight - only.weight <= node.weight / 100;
  node.innermost = isJoined ? only.innermost : node;
}

// What people see as letters: a flag or a family is one.
const segmenter = Intl.Segmenter && new Intl.Segmenter();
function lettersOf(label) {
  const isPlain = !segmenter || /^[ -~]*$/.test(label);
  return isPlain ? [...label] : Array.from(segmenter.segment(label), ({ segment }) => segment);
}

// How many letters at the start of the label, and at the end, one beside it has, too.
for (const { children } of nodes) {
  const order = children.map((node) => ({ node, letters: lettersOf(node.label) }));
  for (const side of ["start", "end"]) {
    if (side === "end") order.forEach(({ letters }) => letters.reverse());
    for (const one of order) one.key = one.letters.join("");
    order.sort((one, other) => (one.key < other.key ? -1 : 1));
    order.forEach(({ node, letters }, i) => {
      node[side] = 0;
      for (const beside of [order[i - 1], order[i + 1]]) {
        let same = 0;
        while (beside && same < letters.length && letters[same] === beside.letters[same]) same += 1;
        node[side] = Math.max(node[side], same);
      }
    });
  }
}

function text(node, column) {
  const cell = node.row.cells[columns.indexOf(column)];
  // The last cell ends with the line.
  return cell ? cell.textContent.trim() : "";
}

function figure(node) {
  return text(node, isComparison ? "Change" : "Size");
}

function button(words, onClick) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = words;
  element.addEventListener("click", onClick);
  return element;
}

function isWithin(node, outer) {
  for (; node; node = node.parent) if (node === outer) return true;
  return false;
}

// The directory around a node in the map.
function around(node) {
  let at = node.parent;
  while (at && at !== current && at.innermost !== at) at = at.parent;
  return at;
}

// --- Map ---

// Divides `whole` among `weights`, the largest of which come first: rows along the shorter side, each extended as long
// as its rectangles get squarer (Bruls, Huizing and van Wijk, 2000).
function squarify(weights, whole) {
  const parts = [];
  let { x, y, width, height } = whole;
  let left = weights.reduce((sum, weight) => sum + weight, 0);
  for (let first = 0; first < weights.length; ) {
    const side = Math.min(width, height);
    const scale = left > 0 ? (width * height) / left : 0;
    let [end, sum, worst] = [first, 0, Infinity];
    for (; end < weights.length; end += 1) {
      const next = sum + weights[end];
      const area = next * next * scale;
      const ratio = Math.max((side * side * weights[first]) / area, area / (side * side * weights[end]));
      if (weights[end] > 0 && ratio > worst) break;
      sum = next;
      if (ratio >= 0) worst = ratio;
    }
    const isWide = width >= height;
    const thickness = side > 0 ? (sum * scale) / side : 0;
    let along = 0;
    for (; first < end; first += 1) {
      const length = sum > 0 ? (weights[first] / sum) * side : 0;
      parts.push(isWide
        ? { x, y: y + along, width: thickness, height: length }
        : { x: x + along, y, width: length, height: thickness });
      along += length;
    }
    if (isWide) [x, width] = [x + thickness, Math.max(width - thickness, 0)];
    else [y, height] = [y + thickness, Math.max(height - thickness, 0)];
    left -= sum;
  }
  return parts;
}

// The frame of a directory with so many frames around it: the height of the strip at its top, for its name if there is
// room, and its margin on the other sides. Only four directories that lie in one another have one.
function frameOf({ width, height }, frames) {
  if (frames >= 4) return { strip: 0, margin: 0 };
  const margin = Math.min(2, Math.min(width, height) / 20);
  return { strip: width >= 40 && height >= 40 ? 18 : margin, margin };
}

// What is left of a directory's area for its content.
function inside({ place, frames }) {
  const { strip, margin } = frameOf(place, frames);
  const { x, y, width, height } = place;
  return { x: x + margin, y: y + strip, width: width - 2 * margin, height: height - strip - margin };
}

// Gives each node an area: for its size, and for the frames in it, as if each directory were a square.
function giveAreas(scale) {
  for (const node of nodes) {
    const { parent } = node;
    const isJoined = parent && parent !== current && parent.innermost !== parent;
    node.frames = node === current || !parent ? 0 : parent.frames + (isJoined ? 0 : 1);
    node.area = node.weight * scale;
  }
  for (const node of [...nodes].reverse()) {
    const { parent, frames } = node;
    if (node.children.length && node.innermost === node) {
      const side = Math.sqrt(node.area);
      const { strip, margin } = frameOf({ width: side, height: side }, frames);
      node.area = (side + 2 * margin) * (side + strip + margin);
    }
    if (parent) parent.area += node.area - node.weight * scale;
  }
}

function shape(name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text) element.textContent = text;
  return element;
}

// With a gap on all sides.
function outline({ x, y, width, height }) {
  const gap = Math.min(0.5, width / 8, height / 8);
  const [left, top, across, down] = [x + gap, y + gap, width - 2 * gap, height - 2 * gap].map((it) => it.toFixed(1));
  return `M${left} ${top}h${across}v${down}h-${across}z`;
}

function draw() {
  const whole = { x: 0, y: 0, width: map.clientWidth, height: map.clientHeight };
  svg.setAttribute("viewBox", `0 0 ${whole.width} ${whole.height}`);
  const scale = current.weight > 0 ? (whole.width * whole.height) / current.weight : 0;
  giveAreas(scale);
  for (const node of nodes) node.place = null;
  current.place = whole;
  const drawn = [current];
  const elements = document.createDocumentFragment();
  for (const node of drawn) {
    node.shape.setAttribute("d", outline(node.place));
    elements.append(node.shape);
    const content = inside(node);
    if (!node.children.length || content.width < 4 || content.height < 4) continue;
    const weights = node.children.map((child) => child.weight);
    // Links are in each of their directories, but count once above them.
    const rest = Math.max(node.weight - weights.reduce((sum, weight) => sum + weight, 0), 0);
    // The rest is always last: sorted by its size, it would move the shown entries.
    const places = squarify([...node.children.map((child) => child.area), rest * scale], content);
    const blank = places.pop();
    if (blank.width > 3 && blank.height > 3) {
      const element = shape("path", { class: "rest", d: outline(blank) });
      element.node = node;
      elements.append(element);
    }
    node.children.forEach((child, i) => {
      const { width, height } = places[i];
      if (width < 0.5 || height < 0.5) return;
      child.innermost.place = places[i];
      drawn.push(child.innermost);
    });
  }
  for (const node of drawn) {
    const name = label(node);
    if (name) elements.append(name);
  }
  drawing.replaceChildren(elements, frame);
}

const pen = document.createElement("canvas").getContext("2d");
function width(text, weight) {
  pen.font = `${weight} 12px system-ui, sans-serif`;
  return pen.measureText(text).width;
}

function label(node) {
  const { x, y, width: across, height } = node.place;
  const room = across - 8;
  const hasEntries = node.children.length > 0;
  if (room < 20 || (hasEntries ? inside(node).y - y : height) < 15) return null;
  const name = shorten(node, room);
  if (!name) return null;
  const element = shape("text", { class: node.shape.getAttribute("class"), x: x + 4, y: y + 13 }, name);
  const size = figure(node);
  if (hasEntries && width(name, "bold") + width(" " + size, "") <= room) {
    element.append(shape("tspan", {}, " " + size));
  }
  if (!hasEntries && height >= 30 && width(size, "") <= room) {
    element.append(shape("tspan", { x: x + 4, dy: 15 }, size));
  }
  return element;
}

// The label in this much room. What is left of a longer one says something, and tells it apart from those beside it; or
// else there is none.
function shorten(node, room) {
  let [label, first] = [node.label, node];
  for (let at = node.parent; at && at !== current && at.innermost === node; at = at.parent) {
    [label, first] = [at.label + "/" + label, at];
  }
  if (width(label, "bold") <= room) return label;
  const letters = lettersOf(label);
  const start = longest(letters, room, (most) => {
    while (isLoose(letters[most - 1])) most -= 1;
    return letters.slice(0, most);
  });
  if (start.length > Math.max(first.start, 3)) return start.join("") + "…";
  const end = longest(letters, room, (most) => {
    let from = letters.length - most;
    while (isLoose(letters[from])) from += 1;
    return letters.slice(from);
  });
  // The end of the names of several directories may be that of others, too.
  return first === node && end.length > Math.max(node.end, 3) ? "…" + end.join("") : null;
}

// Whether it says nothing beside an ellipsis.
function isLoose(letter) {
  return " ._-".includes(letter);
}

// The longest part of `letters` that has room beside an ellipsis.
function longest(letters, room, part) {
  let [most, more] = [0, letters.length];
  while (more - most > 1) {
    const middle = (most + more) >> 1;
    if (width(part(middle).join("") + "…", "bold") <= room) most = middle; else more = middle;
  }
  return part(most);
}

// --- Zoom, and its address ---

function address(node) {
  return "#" + node.path.split("/").map(encodeURIComponent).join("/");
}

function zoom(node) {
  if (node === current) return;
  show(node);
  location.hash = address(node);
}

function show(node) {
  current = chosen = node;
  leave();
  const way = [];
  for (let at = current; at; at = at.parent) way.unshift(at);
  crumbs.replaceChildren(...way.map((at) => {
    const crumb = button(at.name, () => { zoom(at); map.focus(); });
    if (at === current) crumb.setAttribute("aria-current", "location");
    return crumb;
  }));
  list();
  draw();
}

addEventListener("hashchange", () => {
  if (location.hash !== address(current)) show(atAddress());
});

function atAddress() {
  return nodes.find((node) => node.children.length && address(node) === location.hash) || root;
}

// --- Card ---

const frame = shape("path", { class: "chosen" });

// Chooses a node, frames it, and shows its card at a point of the window, or at the node itself.
function choose(node, at) {
  chosen = node;
  const place = node.innermost.place;
  frame.setAttribute("d", place ? outline(place) : "");
  const hasEntries = node.children.length > 0 || isDirectory(node);
  const date = text(node, "Modified");
  const share = text(node, "Share") + " of " + (isComparison ? "the changes" : root.label);
  const lines = [
    ["b", [node.path + (node.row.querySelector("th span")?.textContent ?? "")]],
    ["div", [text(node, "Size"), text(node, "Change"), share]],
    ["span", [text(node, "Kind"), hasEntries && text(node, "Entries") + " entries", date && "modified " + date]],
    ["span", [directoryAt(node) !== current && "Click to zoom"]],
  ];
  card.replaceChildren(...lines.map(([name, words]) => {
    const element = document.createElement(name);
    element.textContent = words.filter(Boolean).join(" · ");
    return element;
  }));
  const { left, top } = map.getBoundingClientRect();
  const { x, y } = at || { x: left + (place ? place.x : 0) + 20, y: top + (place ? place.y : 0) + 20 };
  const { width, height } = card.getBoundingClientRect();
  // Below and to the right, if there is room.
  const beside = (from, length, end) => Math.max(from + 14 + length < end ? from + 14 : Math.min(from, end) - 14 - length, 4);
  card.style.left = scrollX + beside(x, width, innerWidth) + "px";
  card.style.top = scrollY + beside(y, height, innerHeight) + "px";
}

function leave() {
  card.replaceChildren();
  frame.removeAttribute("d");
}

// What a click on a node zooms in on.
function directoryAt(node) {
  return node.children.length ? node : around(node) || current;
}

// Shows a node in the map, wherever it is.
function find(node) {
  zoom(directoryAt(node));
  map.scrollIntoView({ block: "nearest" });
  choose(node);
}

map.addEventListener("click", ({ target, clientX, clientY }) => {
  if (!target.node) return;
  const into = directoryAt(target.node);
  if (into === current) choose(target.node, { x: clientX, y: clientY }); else zoom(into);
});
map.addEventListener("mousemove", ({ target, clientX, clientY }) => {
  if (target.node) choose(target.node, { x: clientX, y: clientY });
});
map.addEventListener("mouseleave", leave);
map.addEventListener("blur", leave);
map.addEventListener("focus", () => {
  if (map.matches(":focus-visible")) choose(chosen);
});
map.addEventListener("keydown", (event) => {
  const outer = chosen === current ? null : around(chosen);
  const beside = (by) => {
    const all = outer ? outer.children.map((child) => child.innermost) : [];
    return all[all.indexOf(chosen) + by] || chosen;
  };
  const first = chosen.children.length ? chosen.children[0].innermost : chosen;
  switch (event.key) {
    case "ArrowRight": choose(outer ? beside(1) : first); break;
    case "ArrowLeft": choose(beside(-1)); break;
    case "ArrowDown": choose(first); break;
    case "ArrowUp": choose(outer || chosen); break;
    case "Enter": if (chosen.children.length) { zoom(chosen); choose(chosen); } break;
    case "Escape": case "Backspace": {
      const was = current;
      let out = current.parent;
      while (out && out.parent && out.innermost !== out) out = out.parent;
      if (out) { zoom(out); choose(was); }
      break;
    }
    case "Home": zoom(root); choose(root); break;
    default: return;
  }
  event.preventDefault();
});

// --- Lists ---

let order = null;
let found = nodes;
const headings = lists.map((section) => section.querySelector("h2").textContent);

function bySize(one, other) {
  return other.weight - one.weight || one.number - other.number;
}

function isDirectory(node) {
  return text(node, "Kind") === "directory";
}

// Which nodes a list shows. A directory that makes up most of the one it is in is listed in its place.
const isFor = {
  directories: (node) => node !== current && isDirectory(node)
    && !node.children.some((child) => isDirectory(child) && child.weight * 5 >= node.weight * 4),
  files: (node) => !node.children.length && !["directory", "symlink"].includes(text(node, "Kind")),
};

// Lists the largest directories and files in the directory that is zoomed in on; or the largest of what is found.
function list() {
  const isSearch = search.value !== "";
  lists.forEach((section, i) => {
    const isListed = (node) => isFor[section.className](node) && isWithin(node, current);
    const listed = isSearch ? found : nodes.filter(isListed).sort(bySize);
    section.hidden = isSearch ? i > 0 : !listed.length;
    section.querySelector("h2").textContent = isSearch ? `${found.length} of ${nodes.length} found` : headings[i];
    section.querySelector("ol").replaceChildren(...listed.slice(0, 10).map((node) => {
      const item = document.createElement("li");
      const size = document.createElement("b");
      size.textContent = figure(node);
      item.append(size, button(node.path, () => find(node)));
      return item;
    }));
  });
}

// Fills the table, if it is open: with all rows, one in another; or, where a search or a heading asks for others, with
// their paths.
function fill() {
  if (!details.open) return;
  const isFlat = order !== null || search.value !== "";
  body.classList.toggle("flat", isFlat);
  for (const node of found) {
    const cell = node.row.cells[0];
    cell.replaceChild(button(isFlat ? node.path : node.name, () => find(node)), cell.firstChild);
  }
  body.replaceChildren(...(order ? [...found].sort(order) : found).map((node) => node.row));
}

details.addEventListener("toggle", fill);
search.addEventListener("input", () => {
  const wanted = search.value.toLowerCase();
  const isFound = (node) => node.path.toLowerCase().includes(wanted);
  found = wanted ? nodes.filter(isFound).sort(bySize) : nodes;
  main.classList.toggle("searching", wanted !== "");
  for (const node of nodes) node.shape.classList.remove("hit");
  if (wanted) for (const node of found) node.shape.classList.add("hit");
  details.open ||= wanted !== "";
  list();
  fill();
  draw();
});

heads.forEach((head, column) => {
  head.replaceChildren(button(columns[column], () => {
    // Names from A, figures from the largest; then the other way round, and then as they lie in one another.
    const isText = ["Name", "Modified", "Kind"].includes(columns[column]);
    const orders = isText ? ["ascending", "descending"] : ["descending", "ascending"];
    const next = orders[orders.indexOf(head.getAttribute("aria-sort")) + 1];
    heads.forEach((one) => one.removeAttribute("aria-sort"));
    if (next) head.setAttribute("aria-sort", next);
    const sign = next === "descending" ? -1 : 1;
    const value = (node) => {
      if (column === 0) return node.path;
      if (columns[column] === "Share") return node.weight;
      const { dataset, textContent } = node.row.cells[column];
      // What is counted has commas.
      return isText ? textContent : Number(dataset.v ?? textContent.replaceAll(",", ""));
    };
    const compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
    order = next ? (one, other) => sign * compare(value(one), value(other)) || one.number - other.number : null;
    fill();
  }));
});

for (const input of document.querySelectorAll("[type=radio]")) {
  input.addEventListener("change", () => {
    main.className = main.className.replace(/by-\w+/, "by-" + input.value);
  });
}

map.classList.add("live");
map.tabIndex = 0;
map.setAttribute("role", "application");
map.setAttribute("aria-label", "Map: arrow keys choose, Enter zooms in, Escape zooms out");
for (const element of document.querySelectorAll("[hidden]")) element.hidden = false;
document.querySelector("nav + span").hidden = !root.children.some((child) => child.children.length);
addEventListener("resize", draw);
show(atAddress());
