#!/usr/bin/env python3
"""Opens pages of weigh in a browser, uses them as people do, and looks for what must not be there.

Usage: page.py PROGRAM [NAMES [SCREENSHOTS]], with Playwright and axe-playwright-python installed, and Debian's
Chromium. NAMES is how many hostile names to try; SCREENSHOTS is a directory for pictures to look at. With
UPDATE_GENERATED=1, it also draws the pictures in docs, page.png and page-phone.png; else they must look the same.
"""

import base64

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

PROGRAM = os.path.abspath(sys.argv[1])
NAMES = int(sys.argv[2]) if len(sys.argv) > 2 else 200
SCREENSHOTS = sys.argv[3] if len(sys.argv) > 3 else None
DESK, PHONE = {"width": 1920, "height": 1080}, {"width": 360, "height": 640}


def weigh(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True).stdout


def write(path, length):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"x" * length)


def page_of(place, *arguments, form="html"):
    path = os.path.join(place, f"page.{form}")
    with open(path, "wb") as file:
        file.write(weigh(*arguments, "--as", form))
    return "file://" + path


class OpenPage:
    """A page in a browser, with all that went wrong in it, and all that it asked for."""

    def __init__(self, browser, url, size=DESK, scheme="light", script=True):
        context = browser.new_context(
            viewport=size, color_scheme=scheme, java_script_enabled=script, has_touch=size is PHONE
        )
        self.page, self.wrong, self.asked = context.new_page(), [], []
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.wrong.append("a dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.url = url
        self.page.goto(url)

    def done(self):
        assert not self.wrong, self.wrong
        assert self.asked == [self.url.split("#")[0]], self.asked
        self.page.context.close()

    def crumbs(self):
        return self.page.locator("nav button").all_text_contents()

    def card(self):
        """The path on the card; none if there is no card."""
        return (self.page.locator("output b").all_text_contents() or [None])[0]

    def listed(self, what="files"):
        """The paths in a list. While a search is on, only the first is there."""
        return self.page.locator(f"section.{what} button").all_text_contents()

    def address(self):
        return self.page.evaluate("decodeURIComponent(location.hash)")

    def fills(self, kind="path:not(.dir, .rest, .chosen)"):
        return set(self.page.eval_on_selector_all(f"figure g {kind}", "all => all.map(one => getComputedStyle(one).fill)"))

    def click(self, x, y):
        """By mouse, or by finger where there is no mouse."""
        map = self.page.locator("figure")
        map.tap(position={"x": x, "y": y}) if self.page.viewport_size == PHONE else map.click(position={"x": x, "y": y})

    def names(self):
        return self.page.locator("tbody th").all_text_contents()

    def screenshot(self, name):
        if SCREENSHOTS:
            self.page.screenshot(path=os.path.join(SCREENSHOTS, name + ".png"))

    def check(self):
        violations = Axe().run(self.page).response["violations"]
        assert not violations, json.dumps(violations, indent=1)[:4000]


def tree(place):
    for i, top in enumerate(["cache", "photos", "src"]):
        for j in range(6):
            for k in range(8):
                name = f"{place}/tree/{top}/d{j}/f{k}.{['log', 'jpg', 'rs'][i]}"
                write(name, (i + 1) * (j + 1) * (k + 1) * 4096)
                os.utime(name, (0, time.time() - 60 * j * 86400 * (i + 1)))
    os.symlink("cache", f"{place}/tree/link")
    return f"{place}/tree"


def check_labels(page):
    """A label says at least four letters of a name that is longer."""
    labels = page.eval_on_selector_all("figure text", "all => all.map(one => one.firstChild.data)")
    assert len(labels) > 10 or page.viewport_size == PHONE, labels
    assert all("…" not in label or len(label) > 4 for label in labels), labels


def check_legend(page):
    """Every colour and pattern of the map is in the legend that is shown."""
    fills = """(all) => [...new Set(all.filter((one) => one.checkVisibility()).map((one) => getComputedStyle(one).fill))]"""
    drawn = page.eval_on_selector_all("figure g path:not(.chosen)", fills)
    shown = page.eval_on_selector_all(".legend path", fills)
    assert len(drawn) > 3 and set(drawn) <= set(shown), (drawn, shown)


def check_contrast(page):
    """Text on tiles has a contrast of 4.5 and tiles one of 3 with the directory they are in, up to nine and five deep."""
    styles = page.evaluate("""() => {
        const main = document.querySelector("main"), group = document.querySelector("figure g"), styles = [];
        const of = (name, attributes) => {
            const one = document.createElementNS("http://www.w3.org/2000/svg", name);
            one.setAttribute("class", attributes);
            group.replaceChildren(one);
            const { fill, fillOpacity } = getComputedStyle(one);
            return { fill, opacity: Number(fillOpacity) };
        };
        for (const [by, letter, count] of [["kind", "k", 8], ["age", "a", 9], ["growth", "c", 3], ["group", "g", 8]]) {
            main.className = "map by-" + by;
            for (let i = 0; i < count; i += 1) {
                const name = letter + i;
                styles.push({ name, tile: of("path", name).fill, text: of("text", name).fill });
            }
        }
        return { styles, frame: of("path", "dir"), ink: of("text", "dir").fill, paper: getComputedStyle(document.body).backgroundColor };
    }""")
    color = lambda text: [int(part) for part in re.findall(r"\d+", text)[:3]]
    over = lambda one, opacity, other: [a * opacity + b * (1 - opacity) for a, b in zip(one, other)]

    def contrast(one, other):
        linear = lambda value: value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4
        light = lambda color: sum(share * linear(value / 255) for share, value in zip((0.2126, 0.7152, 0.0722), color))
        darker, brighter = sorted([light(one), light(other)])
        return (brighter + 0.05) / (darker + 0.05)

    grounds = [color(styles["paper"])]
    for _ in range(9):
        grounds.append(over(color(styles["frame"]["fill"]), styles["frame"]["opacity"], grounds[-1]))
        assert contrast(color(styles["ink"]), grounds[-1]) >= 4.5, len(grounds)
    assert len(styles["styles"]) == 28
    for style in styles["styles"]:
        # The opacities of tiles beside each other, as map.css has them.
        for opacity in 1, 0.92, 0.84:
            for depth, ground in enumerate(grounds[1:], 1):
                tile = over(color(style["tile"]), opacity, ground)
                assert contrast(color(style["text"]), tile) >= 4.5, (style, opacity, depth)
                assert depth > 5 or contrast(tile, ground) >= 3, (style, opacity, depth)


def used(browser, place):
    """By mouse and by keys, in light and in dark, on a desk and on a phone."""
    root = tree(place)
    url = page_of(place, root)
    for size in DESK, PHONE:
        for scheme in "light", "dark":
            opened = OpenPage(browser, url, size, scheme)
            page = opened.page
            name = f"{size['width']}-{scheme}"
            opened.screenshot(name)
            opened.check()
            assert opened.crumbs() == [root]
            assert opened.listed()[0] == f"{root}/src/d5/f7.rs" and len(opened.listed()) == 10
            tops = [f"{root}/{top}" for top in ("src", "photos", "cache")]
            listed = opened.listed("directories")
            assert [path for path in listed if path in tops] == tops and listed[0] == tops[0], listed
            check_labels(page)
            check_legend(page)
            # Into a directory, and back: by the address, too.
            opened.click(60, 60)
            assert len(opened.crumbs()) == 3 and opened.crumbs()[:2] == [root, "src"], opened.crumbs()
            zoomed = opened.crumbs()[2]
            assert opened.address() == f"#{root}/src/{zoomed}", opened.address()
            assert all(path.startswith(f"{root}/src/{zoomed}/") for path in opened.listed())
            assert not page.locator("section.directories").is_visible(), "there is none in it"
            opened.screenshot(name + "-zoomed")
            opened.check()
            page.locator("nav button").nth(1).click()
            assert opened.crumbs() == [root, "src"]
            page.go_back()
            assert opened.crumbs() == [root, "src", zoomed]
            page.go_back()
            assert opened.crumbs() == [root]
            again = OpenPage(browser, f"{url}#{root}/src/{zoomed}", size, scheme)
            assert again.crumbs() == [root, "src", zoomed]
            again.done()
            # By keys alone: the largest, in, the largest there, out.
            page.locator("figure").focus()
            for key in "ArrowDown", "Enter":
                page.keyboard.press(key)
            assert opened.crumbs() == [root, "src"], opened.crumbs()
            assert opened.card() == f"{root}/src", opened.card()
            for key in "ArrowDown", "ArrowRight":
                page.keyboard.press(key)
            assert opened.card() == f"{root}/src/d4", opened.card()
            opened.screenshot(name + "-card")
            opened.check()
            page.keyboard.press("Escape")
            assert opened.crumbs() == [root]
            page.keyboard.press("Tab")
            assert opened.card() is None
            # What colours say.
            kinds = opened.fills()
            page.get_by_role("radio", name="age").check(force=True)
            ages = opened.fills()
            assert len(kinds) >= 3 and len(ages) >= 5 and not kinds & ages, (kinds, ages)
            shown = page.locator(".legend li:visible").all_text_contents()
            assert "30 to 90 days" in shown and "source" not in shown, shown
            check_legend(page)
            opened.screenshot(name + "-age")
            opened.check()
            # The largest of what is found, with paths, in the list and in the table.
            page.get_by_label("Search").fill("photos/d5/")
            expected = [f"{root}/photos/d5/f{k}.jpg" for k in reversed(range(8))]
            assert opened.listed("directories") == expected, opened.listed("directories")
            assert page.locator("section:visible").count() == 1
            assert page.locator("tbody tr:visible th").all_text_contents() == expected
            found = page.locator("h2:visible").text_content()
            assert found.startswith("8 of "), found
            opened.screenshot(name + "-found")
            opened.check()
            page.get_by_label("Search").fill("")
            before = opened.names()
            page.get_by_role("button", name="Size").click()
            sizes = page.eval_on_selector_all("tbody tr", "rows => rows.map(row => Number(row.cells[1].dataset.v))")
            assert sizes == sorted(sizes, reverse=True)
            assert page.locator("th[aria-sort=descending]").count() == 1
            page.get_by_role("button", name="Name").click()
            paths = opened.names()
            assert paths == sorted(paths), paths[:5]
            opened.check()
            page.get_by_role("button", name="Name").click()
            page.get_by_role("button", name="Name").click()
            assert opened.names() == before
            page.get_by_role("button", name="cache", exact=True).click()
            assert opened.crumbs() == [root, "cache"] and opened.card() == f"{root}/cache"
            if size is DESK:
                page.locator("figure").hover(position={"x": 600, "y": 300})
                assert opened.card().startswith(root + "/cache/"), opened.card()
            page.emulate_media(media="print")
            assert not page.locator("nav").is_visible() and page.locator("figure").is_visible()
            opened.done()
    opened = OpenPage(browser, url, script=False)
    assert opened.page.locator("text").count() > 10 and "src" in opened.names()
    assert opened.page.locator("aside li").count() == 20 and not opened.page.locator("tbody").is_visible()
    opened.page.locator("summary").click()
    assert opened.page.locator("tbody").is_visible()
    opened.screenshot("without-a-script")
    opened.done()
    drawing = OpenPage(browser, page_of(place, root, form="svg"), scheme="dark")
    assert drawing.page.locator("path").count() > 100
    drawing.screenshot("map")
    drawing.done()
    for scheme in "light", "dark":
        opened = OpenPage(browser, url, scheme=scheme)
        check_contrast(opened.page)
        opened.done()


# The share of pixels in which two pictures differ, as a browser draws them.
DIFFERENCE = """async pictures => {
    const [one, two] = await Promise.all(pictures.map(async data => {
        const image = new Image();
        image.src = "data:image/png;base64," + data;
        await image.decode();
        const canvas = Object.assign(document.createElement("canvas"), {width: image.width, height: image.height});
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
    }));
    if (one.width !== two.width || one.height !== two.height) return 1;
    const pixels = one.data.filter((byte, i) => i % 4 < 3 && Math.abs(byte - two.data[i]) > 32).length;
    return pixels / (3 * one.width * one.height);
}"""


def docs(browser, place):
    """The pictures of the page in docs are those of today. Fonts may differ, so some pixels do."""
    url = page_of(place, "--from", "tests/it/look.weigh")
    for name, size, scheme in ("page", {"width": 1200, "height": 780}, "light"), ("page-phone", PHONE, "dark"):
        path = f"docs/{name}.png"
        opened = OpenPage(browser, url, size, scheme=scheme)
        drawn = opened.page.screenshot()
        if os.environ.get("UPDATE_GENERATED"):
            with open(path, "wb") as file:
                file.write(drawn)
        with open(path, "rb") as file:
            pictures = [base64.b64encode(bytes).decode() for bytes in (file.read(), drawn)]
        blank = browser.new_context().new_page()
        difference = blank.evaluate(DIFFERENCE, pictures)
        assert difference < 0.05, f"{path} is another ({difference:.1%}): UPDATE_GENERATED=1 draws it again"


def compared(browser, place):
    root = tree(place)
    weigh("--save", f"{place}/before", root)
    write(f"{root}/new/file", 9_000_000)
    os.unlink(f"{root}/src/d5/f7.rs")
    for arguments in ["diff", f"{place}/before", root], ["--by", "size", root]:
        for scheme in "light", "dark":
            opened = OpenPage(browser, page_of(place, *arguments), scheme=scheme)
            opened.screenshot(arguments[0].strip("-") + "-" + scheme)
            opened.check()
            opened.done()


def few(browser, place):
    """A directory of which nothing is shown is no file, and its card says how many entries are in it."""
    root = tree(place)
    opened = OpenPage(browser, page_of(place, root, "-n", "20"))
    assert opened.listed() and all(re.search(r"/f\d\.\w+$", path) for path in opened.listed()), opened.listed()
    opened.page.locator("figure").focus()
    for key in ["Home", "ArrowDown", "ArrowDown"] + ["ArrowRight"] * 4:
        opened.page.keyboard.press(key)
    card = opened.page.locator("output").inner_text()
    assert f"{root}/src/d1\n" in card and "directory · 9 entries · " in card, card
    opened.done()


def deep(browser, place):
    """Files of the same size have about the same area at any depth, also in a window of another shape."""
    way = place + "/tree"
    for level in range(20):
        for number in range(2):
            write(f"{way}/f{number}", 1_000_000)
        way += f"/d{level}"
    write(f"{way}/f2", 40_000_000)
    for size in DESK, PHONE:
        opened = OpenPage(browser, page_of(place, "-s", f"{place}/tree"), size)
        areas = opened.page.eval_on_selector_all("figure g path:not(.dir, .rest, .chosen)", """all => all.map((one) => {
            const { width, height } = one.getBBox();
            return [one.node.name, width * height / one.node.weight];
        })""")
        areas = [area for name, area in areas if name.startswith("f")]
        assert len(areas) == 41 and max(areas) <= (1.15 if size is DESK else 1.4) * min(areas), areas
        figure = opened.page.locator("figure").bounding_box()
        share = max(areas) * 40_000_000 / (figure["width"] * figure["height"])
        # It is half of all. Four frames around nearly everything take a tenth of the window, or a quarter of a small one.
        assert share >= (0.44 if size is DESK else 0.37), share
        opened.screenshot(f"{size['width']}-deep")
        opened.done()


def emoji(browser, place):
    """No part of a family is cut off."""
    family = "👨\u200d👩\u200d👧\u200d👦"
    for i in range(3):
        write(f"{place}/tree/{family * 8}{i}", 9000)
    opened = OpenPage(browser, page_of(place, f"{place}/tree"), PHONE)
    labels = opened.page.eval_on_selector_all("figure text", "all => all.map(one => one.firstChild.data)")
    cut = [label for label in labels if "…" in label]
    assert cut and all(re.fullmatch(f"(({family})*…)|(…({family})*\\d)", label) for label in cut), labels
    opened.done()


def hostile(browser, place):
    """Names that would be markup, script or addresses, if they were not text."""
    pieces = [
        b"</script>", b"<script>alert(1)</script>", b"<img src=x onerror=alert(1)>", b'"', b"'", b"`", b"&amp;", b"&#60;",
        b"]]>", b"<!--", b"-->", b"<style>*{background:url(http://127.0.0.1:9/)}</style>", b"\xff\xfe", b"\xe2\x80\xae",
        b"\xe2\x80\xa8", b"\n", b"\t", b"\x1b[2J", b"\x00"[:0], b"${alert(1)}", b"javascript:alert(1)", "漢".encode(),
        b" onmouseover=alert(1) x=", b"<svg onload=alert(1)>", b"<a href=http://127.0.0.1:9/>", b"<base href=//x>", b"=",
    ]
    dice = random.Random(7)
    root = os.fsencode(place) + b"/tree"
    os.makedirs(root)
    expected = set()
    for i in range(NAMES):
        name = b"".join(dice.choice(pieces) for _ in range(4)).replace(b"/", b"\xe2\x88\x95") + str(i).encode()
        expected.add(name[-255:])
        with open(root + b"/" + name[-255:], "wb") as file:
            file.write(b"x" * 5000)
    opened = OpenPage(browser, page_of(place, root.decode(), "-n", str(NAMES + 10)))
    read = opened.page.evaluate(
        """() => [...document.querySelectorAll("tbody th")].slice(1).map((cell) => cell.dataset.bytes
            ? [...atob(cell.dataset.bytes)].map((c) => c.charCodeAt(0))
            : [...new TextEncoder().encode(cell.textContent)])"""
    )
    assert {bytes(name) for name in read} == expected
    # Everything that a name can be put into.
    page = opened.page
    page.get_by_label("Search").fill("script")
    assert page.locator("aside section:visible button").count() == 10
    page.get_by_label("Search").fill("")
    page.get_by_role("button", name="Name").click()
    for row in range(0, NAMES, max(1, NAMES // 20)):
        page.locator("tbody button").nth(row).click()
    page.locator("figure").hover()
    page.locator("figure").focus()
    for key in ["Home", "ArrowDown"] + ["ArrowRight"] * 20:
        page.keyboard.press(key)
    opened.check()
    opened.done()
    drawing = OpenPage(browser, page_of(place, root.decode(), "-n", str(NAMES + 10), form="svg"))
    assert drawing.page.locator("script").count() == 0
    drawing.done()


def main():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for part in used, few, deep, emoji, compared, docs, hostile:
            with tempfile.TemporaryDirectory() as place:
                part(browser, place)
            print(f"{part.__name__}: as it should be", flush=True)


main()
