#!/usr/bin/env python3
"""Draws a command's coloured output as SVG, for the README:

    eval "$(dircolors -b)"; cargo build --release
    PATH=target/release:$PATH docs/picture.py weigh /usr > docs/picture.svg

Shades of a bar are drawn as rectangles, so that they look the same in every font.
"""
import re
import subprocess
import sys
import unicodedata
from html import escape

COLUMNS, WIDTH, HEIGHT, MARGIN = 80, 8.4, 18, 14
FOREGROUND, BACKGROUND = "#d8dee9", "#1e222a"
COLOURS = dict(zip(range(30, 38), "#5c6370 #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #d8dee9".split()))
SHADES = {"█": 1, "▓": 0.65, "▒": 0.4, "░": 0.18}


def runs(line):
    """The pieces of a line that look alike: (text, SGR codes)."""
    codes = set()
    for part in re.split(r"(\x1b\[[\d;]*m)", line):
        if part.startswith("\x1b"):
            for code in part[2:-1].split(";"):
                codes = set() if code in ("", "0") else codes | {int(code)}
        else:
            for piece in re.findall(r"█+|▓+|▒+|░+|\s+|[^█▓▒░\s]+(?: [^█▓▒░\s]+)*", part):
                yield piece, codes


def columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)


def draw(lines):
    height = len(lines) * HEIGHT + 2 * MARGIN
    width = COLUMNS * WIDTH + 2 * MARGIN
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" width="{width:g}" '
           f'font-family="ui-monospace,Menlo,Consolas,\'DejaVu Sans Mono\',monospace" font-size="14" fill="{FOREGROUND}">')
    yield f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>'
    for row, line in enumerate(lines):
        top, column = MARGIN + row * HEIGHT, 0
        for text, codes in runs(line):
            x, wide = MARGIN + column * WIDTH, columns(text) * WIDTH
            column += columns(text)
            colour = next((f' fill="{COLOURS[c]}"' for c in codes if c in COLOURS), "")
            look = ' font-weight="bold"' * (1 in codes) + ' opacity=".6"' * (2 in codes)
            if text[0] in SHADES:
                yield f'<rect x="{x:g}" y="{top}" width="{wide:g}" height="{HEIGHT - 2}"{colour} opacity="{SHADES[text[0]]:g}"/>'
            elif text.strip():
                yield f'<text x="{x:g}" y="{top + 14}" textLength="{wide:g}"{colour}{look}>{escape(text)}</text>'
    yield "</svg>"


command = sys.argv[1:]
flags = [command[0], "--force-colors", "--terminal-width", str(COLUMNS), *command[1:]]
output = subprocess.run(flags, check=True, capture_output=True, text=True).stdout
print("\n".join(draw([f"\x1b[32m$\x1b[0m {' '.join(command)}", *output.splitlines()])))
