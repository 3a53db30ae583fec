"use strict";
// The rows of the table and the shapes of the map are the same nodes. What is drawn is there without this script; it
// adds zoom, search, order and keys. It writes text only as text, and asks nothing of any other place.
const map = document.getElementById("map");
const svg = map.querySelector("svg");
const table = document.querySelector("table");
const body = table.tBodies[0];
const said = document.querySelector("output");
const crumbs = document.querySelector("nav");
const search = document.querySelector("input");

const nodes = [];
const above = [];
for (const row of body.rows) {
  const depth = Number(row.dataset.d);
  const parent = depth ? above[depth - 1] : null;
  const shape = document.getElementById("n" + nodes.length);
  const numbers = shape ? shape.getAttribute("d").match(/-?[\d.]+/g).map(Number) : null;
  const cell = row.cells[0];
  const note = cell.querySelector("span");
  const name = cell.firstChild.data;
  const node = {
    row, parent, shape, depth, name, note, cell,
    children: [],
    number: nodes.length,
    figures: [...row.cells].slice(1).map((one) => one.textContent),
    place: numbers && { x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3] },
    path: parent && parent.name !== "(total)" ? parent.path.replace(/\/$/, "") + "/" + name : name,
  };
  if (parent) parent.children.push(node);
  above[depth] = node;
  nodes.push(node);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = name;
  cell.replaceChild(button, cell.firstChild);
  button.addEventListener("click", () => { zoom(node.children.length ? node : node.parent || node); choose(node); });
  node.button = button;
}

for (const node of nodes) {
  const inside = node.children.find((child) => child.place);
  node.strip = inside ? inside.place.y - node.place.y : null;
}

const root = nodes[0];
let current = root;
let chosen = root;

map.querySelectorAll("text").forEach((text) => text.remove());
const NAMES = "http://www.w3.org/2000/svg";
const labels = document.createElementNS(NAMES, "svg");
labels.setAttribute("class", "labels");
labels.setAttribute("aria-hidden", "true");
map.append(labels);
map.classList.add("live");
map.tabIndex = 0;
map.setAttribute("role", "application");
map.setAttribute("aria-label", "Map: arrow keys choose, Enter zooms in, Escape zooms out");
svg.setAttribute("preserveAspectRatio", "none");
crumbs.hidden = false;
search.closest("p").hidden = false;

function scale() {
  const { x, y, width, height } = current.place;
  return { x, y, across: map.clientWidth / width, down: map.clientHeight / height };
}

function on(node, by) {
  const { x, y, width, height } = node.place;
  return { x: (x - by.x) * by.across, y: (y - by.y) * by.down, width: width * by.across, height: height * by.down };
}

function shorten(text, most) {
  const letters = [...text];
  if (letters.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return letters.slice(0, most - 1 - end).join("") + "…" + letters.slice(letters.length - end).join("");
}

function draw() {
  labels.replaceChildren();
  if (!current.place) return;
  const { x, y, width, height } = current.place;
  svg.setAttribute("viewBox", [x, y, width, height].join(" "));
  const by = scale();
  const all = [current];
  for (const node of all) {
    if (!node.place) continue;
    const at = on(node, by);
    if (at.width < 40 || at.height < 14) continue;
    all.push(...node.children);
    const room = node.strip === null ? at.height : node.strip * by.down;
    if (room < 11) continue;
    const text = document.createElementNS(NAMES, "text");
    text.setAttribute("x", at.x + 4);
    text.setAttribute("y", at.y + Math.min(room / 2 + 4, 14));
    text.textContent = shorten(node.name, Math.floor((at.width - 8) / 7));
    labels.append(text);
  }
  if (chosen.place) {
    const at = on(chosen, by);
    const frame = document.createElementNS(NAMES, "rect");
    frame.setAttribute("class", "chosen");
    for (const side of ["x", "y", "width", "height"]) frame.setAttribute(side, at[side]);
    labels.append(frame);
  }
}

function zoom(node) {
  current = node.place && node.place.width > 0 && node.place.height > 0 ? node : current;
  const way = [];
  for (let at = current; at; at = at.parent) way.unshift(at);
  crumbs.replaceChildren(...way.map((at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = at.name;
    if (at === current) button.setAttribute("aria-current", "location");
    button.addEventListener("click", () => { zoom(at); choose(at); });
    return button;
  }));
  draw();
}

function choose(node) {
  chosen = node;
  const note = node.note ? node.note.textContent : "";
  said.textContent = [node.path + note, ...node.figures].join(", ");
  draw();
}

function at(event) {
  let shape = event.target.closest("path");
  // What has no row comes after its directory.
  while (shape && !shape.id) shape = shape.previousElementSibling;
  return shape ? nodes[Number(shape.id.slice(1))] : null;
}

function isWithin(node, outer) {
  for (; node; node = node.parent) if (node === outer) return true;
  return false;
}

svg.addEventListener("click", (event) => {
  let node = at(event);
  if (!node || !isWithin(node, current)) return;
  const clicked = node;
  while (node !== current && node.parent !== current) node = node.parent;
  if (node !== current && node.children.length) { zoom(node); choose(node); } else choose(clicked);
});
svg.addEventListener("mousemove", (event) => {
  const node = at(event);
  if (node && node !== chosen) choose(node);
});
map.addEventListener("keydown", (event) => {
  const siblings = chosen.parent ? chosen.parent.children : [chosen];
  const beside = (by) => siblings[siblings.indexOf(chosen) + by] || chosen;
  const inside = () => (chosen === current && chosen.children[0]) || chosen;
  switch (event.key) {
    case "ArrowRight": choose(chosen === current ? inside() : beside(1)); break;
    case "ArrowLeft": choose(chosen === current ? inside() : beside(-1)); break;
    case "ArrowDown": choose(chosen.children[0] || chosen); break;
    case "ArrowUp": if (chosen !== current) choose(chosen.parent); break;
    case "Enter": if (chosen.children.length) { zoom(chosen); choose(chosen); } break;
    case "Escape": case "Backspace":
      if (current.parent) { const was = current; zoom(current.parent); choose(was); }
      break;
    case "Home": zoom(root); choose(root); break;
    default: return;
  }
  event.preventDefault();
});

search.addEventListener("input", () => {
  const wanted = search.value.toLowerCase();
  let found = 0;
  for (const node of nodes) {
    const is = node.path.toLowerCase().includes(wanted);
    node.row.hidden = !is;
    if (node.shape) node.shape.classList.toggle("hit", is && wanted !== "");
    found += is;
  }
  svg.classList.toggle("searching", wanted !== "");
  said.textContent = wanted ? found + " of " + nodes.length + " match" : "";
});

const heads = [...table.tHead.rows[0].cells];
heads.forEach((head, column) => {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = head.textContent;
  head.replaceChildren(button);
  button.addEventListener("click", () => {
    // Names from A, figures from the largest; then the other way round, and then as they lie in one another.
    const isName = column === 0 || column === heads.length - 1;
    const orders = isName ? ["ascending", "descending"] : ["descending", "ascending"];
    const order = orders[orders.indexOf(head.getAttribute("aria-sort")) + 1] ?? "none";
    heads.forEach((one) => one.removeAttribute("aria-sort"));
    const sorted = [...nodes];
    if (order !== "none") {
      head.setAttribute("aria-sort", order);
      const sign = order === "descending" ? -1 : 1;
      const value = ({ row }) => {
        const cell = row.cells[column];
        // A share is of the size; what is counted has commas.
        const plain = cell.textContent.endsWith("%") ? row.cells[1].dataset.v : cell.textContent.replaceAll(",", "");
        return Number(cell.dataset.v ?? plain);
      };
      const words = (node) => (column === 0 ? node.path : node.figures[column - 1]);
      const compare = isName
        ? (one, other) => (words(one) < words(other) ? -1 : words(one) > words(other) ? 1 : 0)
        : (one, other) => value(one) - value(other);
      sorted.sort((one, other) => sign * compare(one, other) || one.number - other.number);
    }
    body.classList.toggle("flat", order !== "none");
    for (const node of nodes) node.button.textContent = order === "none" ? node.name : node.path;
    body.append(...sorted.map((node) => node.row));
  });
});

addEventListener("resize", draw);
zoom(root);
