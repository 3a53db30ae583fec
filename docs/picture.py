#!/usr/bin/env python3
"""Draws a command's coloured output as SVG, for the README:

    cargo build --release
    PATH=target/release:$PATH docs/picture.py weigh /usr > docs/picture.svg

Bars are drawn as rectangles, so that they look the same in every font.
"""
import os
import re
import subprocess
import sys
import unicodedata
from html import escape

COLUMNS, WIDTH, HEIGHT, MARGIN = 80, 8.4, 18, 14
FOREGROUND, BACKGROUND = "#d8dee9", "#1e222a"
COLOURS = dict(zip(range(30, 38), "#5c6370 #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #d8dee9".split()))
EIGHTHS = "█▉▊▋▌▍▎▏"


def look(look, codes):
    """The foreground, the background and whether it is bold, after these SGR codes."""
    foreground, background, bold = look
    codes = [int(code or 0) for code in codes.split(";")]
    while codes:
        code = codes.pop(0)
        if code in (38, 48) and codes[:1] == [2]:
            colour = "#%02x%02x%02x" % tuple(codes[1:4])
            foreground, background = (colour, background) if code == 38 else (foreground, colour)
            codes = codes[4:]
        elif code in (38, 48):
            foreground, codes = "#808080", codes[2:]  # the one of 256 that is used beside 16 M
        elif code == 0:
            foreground, background, bold = None, None, False
        elif code == 1:
            bold = True
        elif code in COLOURS:
            foreground = COLOURS[code]
    return foreground, background, bold


def columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)


def draw(lines):
    height = len(lines) * HEIGHT + 2 * MARGIN
    width = COLUMNS * WIDTH + 2 * MARGIN
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" width="{width:g}" '
           f'font-family="ui-monospace,Menlo,Consolas,\'DejaVu Sans Mono\',monospace" font-size="14" fill="{FOREGROUND}">')
    yield f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>'
    for row, line in enumerate(lines):
        top, column, style = MARGIN + row * HEIGHT, 0, (None, None, False)
        for part in re.split(r"(\x1b\[[\d;]*m)", line):
            if part.startswith("\x1b"):
                style = look(style, part[2:-1])
                continue
            foreground, background, bold = style
            for text in re.findall(f"[{EIGHTHS}]+|\\s+|[^\\s{EIGHTHS}]+(?: [^\\s{EIGHTHS}]+)*", part):
                x, wide = MARGIN + column * WIDTH, columns(text) * WIDTH
                column += columns(text)
                fill = f' fill="{foreground}"' if foreground else ""
                if background:
                    yield f'<rect x="{x:g}" y="{top}" width="{wide:g}" height="{HEIGHT}" fill="{background}"/>'
                if text[0] in EIGHTHS:
                    solid = sum(8 - EIGHTHS.index(c) for c in text) * WIDTH / 8
                    yield f'<rect x="{x:g}" y="{top}" width="{solid:g}" height="{HEIGHT}"{fill}/>'
                elif text.strip():
                    weight = ' font-weight="bold"' * bold
                    yield f'<text x="{x:g}" y="{top + 14}" textLength="{wide:g}"{fill}{weight}>{escape(text)}</text>'
    yield "</svg>"


command = sys.argv[1:]
flags = [command[0], "--force-colors", "--theme=dark", "--terminal-width", str(COLUMNS), *command[1:]]
environment = {**os.environ, "COLORTERM": "truecolor"}
output = subprocess.run(flags, check=True, capture_output=True, text=True, env=environment).stdout
print("\n".join(draw([f"\x1b[32m$\x1b[0m {' '.join(command)}", *output.splitlines()])))
