#!/usr/bin/env python3
"""Opens pages of weigh in a browser, uses them as people do, and looks for what must not be there.

Usage: page.py PROGRAM [NAMES [SCREENSHOTS]], with Playwright and axe-playwright-python installed, and Debian's
Chromium. NAMES is how many hostile names to try; SCREENSHOTS is a directory for pictures to look at, and for those
in docs, page.png and page-phone.png.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

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
        file.write(weigh("--as", form, *arguments))
    return "file://" + path


class OpenPage:
    """A page in a browser, with all that went wrong in it, and all that it asked for."""

    def __init__(self, browser, url, size=DESK, scheme="light", script=True):
        context = browser.new_context(viewport=size, color_scheme=scheme, java_script_enabled=script)
        self.page, self.wrong, self.asked = context.new_page(), [], []
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.wrong.append("a dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.url = url
        self.page.goto(url)

    def done(self):
        assert not self.wrong, self.wrong
        assert self.asked == [self.url], self.asked
        self.page.context.close()

    def crumbs(self):
        return self.page.locator("nav button").all_text_contents()

    def status(self):
        return self.page.locator("output").text_content()

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
                write(f"{place}/tree/{top}/d{j}/f{k}", (i + 1) * (j + 1) * (k + 1) * 4096)
    os.symlink("cache", f"{place}/tree/link")
    return f"{place}/tree"


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
            page.get_by_role("button", name="src", exact=True).first.click()
            assert opened.crumbs() == [root, "src"], opened.crumbs()
            # In the map: a part of what is shown, and out again.
            page.locator("svg:not(.labels)").click(position={"x": 60, "y": 100})
            assert len(opened.crumbs()) == 3, opened.crumbs()
            opened.screenshot(name + "-zoomed")
            opened.check()
            page.locator("nav button").first.click()
            assert opened.crumbs() == [root]
            # By keys alone: the largest, in, the largest there, out.
            page.locator("#map").focus()
            for key in "ArrowDown", "Enter":
                page.keyboard.press(key)
            assert opened.crumbs() == [root, "src"], opened.crumbs()
            assert opened.status().startswith(f"{root}/src, "), opened.status()
            for key in "ArrowDown", "ArrowRight":
                page.keyboard.press(key)
            assert opened.status().startswith(f"{root}/src/d4, "), opened.status()
            page.keyboard.press("Escape")
            assert opened.crumbs() == [root]
            page.get_by_label("Search").fill("photos/d5/")
            shown = page.locator("tbody tr:visible th").all_text_contents()
            assert sorted(shown) == [f"f{k}" for k in range(8)], shown
            assert opened.status() == f"8 of {len(opened.names())} match", opened.status()
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
            if size is DESK:
                page.locator("svg:not(.labels)").hover(position={"x": 600, "y": 300})
                assert opened.status().startswith(root + "/"), opened.status()
            opened.done()
    opened = OpenPage(browser, url, script=False)
    assert opened.page.locator("text").count() > 10 and "src" in opened.names()
    opened.screenshot("without-a-script")
    opened.done()
    drawing = OpenPage(browser, page_of(place, root, form="svg"), scheme="dark")
    assert drawing.page.locator("path").count() > 100
    drawing.screenshot("map")
    drawing.done()
    if SCREENSHOTS:
        url = page_of(place, "/usr/lib")
        OpenPage(browser, url, {"width": 1000, "height": 700}).screenshot("page")
        OpenPage(browser, url, PHONE, scheme="dark").screenshot("page-phone")


def compared(browser, place):
    root = tree(place)
    weigh("--save", f"{place}/before", root)
    write(f"{root}/new/file", 9_000_000)
    os.unlink(f"{root}/src/d5/f7")
    for arguments in ["--since", f"{place}/before", root], ["--by", "size", root]:
        for scheme in "light", "dark":
            opened = OpenPage(browser, page_of(place, *arguments), scheme=scheme)
            opened.screenshot(arguments[0].strip("-") + "-" + scheme)
            opened.check()
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
    page.get_by_label("Search").fill("")
    page.get_by_role("button", name="Name").click()
    for row in range(0, NAMES, max(1, NAMES // 20)):
        page.locator("tbody button").nth(row).click()
    page.locator("#map").hover()
    opened.check()
    opened.done()
    drawing = OpenPage(browser, page_of(place, root.decode(), "-n", str(NAMES + 10), form="svg"))
    assert drawing.page.locator("script").count() == 0
    drawing.done()


def main():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for part in used, compared, hostile:
            with tempfile.TemporaryDirectory() as place:
                part(browser, place)
            print(f"{part.__name__}: as it should be", flush=True)


main()
