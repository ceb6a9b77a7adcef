#!/usr/bin/env python3
"""Draws what bench_peers.sh measured: docs/peers_OP.svg and docs/peers_OP_backward.svg of each op.

Speed against hidden size, without a residual, on one thread: of one row, whose operands are in cache, and of
enough rows that they are not. GB/s counts x and y once; backward x, dy and dx.
"""

import argparse
import itertools
import json
import math
import pathlib

from peers.grid import OPS, PASSES, cell_of, regime

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"

# Name in the legend, colour on white, colour on black. In this order.
SERIES = {
    "copy": ("best copy", "#8a8f98", "#8a8f98"),
    "ours": ("normforge", "#d1242f", "#ff7b72"),
    "onednn": ("oneDNN", "#0969da", "#58a6ff"),
    "onednn_debian": ("oneDNN of Debian", "#1b9e9e", "#56d4dd"),
    "pytorch": ("PyTorch", "#bc4c00", "#f0883e"),
    "onnxruntime": ("ONNX Runtime", "#8250df", "#d2a8ff"),
    "ggml": ("ggml", "#1a7f37", "#3fb950"),
    "halide_adams2019": ("Halide's Adams2019", "#9a6700", "#d29922"),
}
PANEL_DTYPES = ["f32", "bf16"]
PANEL_REGIMES = {"one row, in cache": "second cache", "out of cache": "out of cache"}

PANEL_WIDTH, PANEL_HEIGHT = 390, 210
LEFT, TOP, GAP_X, GAP_Y = 52, 92, 64, 74
WIDTH = LEFT + 2 * PANEL_WIDTH + GAP_X + 16
HEIGHT = TOP + 2 * PANEL_HEIGHT + GAP_Y + 48
LEGEND_LINE, LEGEND_TOP = 18, 44


def speeds(row):
    """GB/s by series."""
    times = {"ours": row["ours_ns"], "copy": row["copy_ns"], **row["peers"]}
    moved = cell_of(row).moved_bytes()
    return {name: moved / ns for name, ns in times.items()}


def rows_of_panel(document, pass_, op, dtype, regime_name):
    """By hidden size. One row, or where operands are out of cache all rows."""
    rows = [row for row in document["rows"]
            if (row["pass"], row["op"], row["dtype"]) == (pass_, op, dtype)
            and (row["threads"], row["residual"]) == (1, False)
            and regime(cell_of(row), document["machine"]) == regime_name
            and (row["rows"] == 1 or regime_name == "out of cache")]
    largest = {}
    for row in rows:
        if row["hidden"] not in largest or row["rows"] > largest[row["hidden"]]["rows"]:
            largest[row["hidden"]] = row
    return [largest[hidden] for hidden in sorted(largest)]


class Scale:
    """A logarithmic axis, from one place on the paper to another."""

    def __init__(self, values, base, start, end):
        self.base = base
        # A value that is a mark but for a rounding does not need the next one.
        self.first = math.floor(math.log(min(values), base) + 1e-9)
        self.last = max(self.first + 1, math.ceil(math.log(max(values), base) - 1e-9))
        self.start, self.end = start, end

    def place(self, value):
        part = (math.log(value, self.base) - self.first) / (self.last - self.first)
        return self.start + part * (self.end - self.start)

    def marks(self):
        return [self.base ** exponent for exponent in range(self.first, self.last + 1)]


def draw_panel(document, pass_, op, dtype, title, left, top):
    regime_name = PANEL_REGIMES[title]
    rows = rows_of_panel(document, pass_, op, dtype, regime_name)
    lines = [f'<text class="title" x="{left}" y="{top - 10}">{dtype}, {title}</text>']
    if not rows:
        return lines
    points = [(row["hidden"], speeds(row)) for row in rows]
    if regime_name != "out of cache":
        for _, by_name in points:
            by_name.pop("copy", None)  # the limit is that of memory
    bottom, right = top + PANEL_HEIGHT, left + PANEL_WIDTH
    x = Scale([hidden for hidden, _ in points], 2, left, right)
    # Slower than a hundredth of the fastest is drawn at the bottom.
    fastest = max(speed for _, by_name in points for speed in by_name.values())
    slowest = min(speed for _, by_name in points for speed in by_name.values())
    y = Scale([max(slowest, fastest / 100), fastest], 2, bottom, top)
    for mark in y.marks():
        place = y.place(mark)
        lines.append(f'<path class="grid" d="M{left} {place:.1f}H{right}"/>')
        lines.append(f'<text class="number" text-anchor="end" x="{left - 6}" y="{place + 4:.1f}">{mark:g}</text>')
    for mark in x.marks():
        lines.append(f'<text class="number" text-anchor="middle" x="{x.place(mark):.1f}" y="{bottom + 16}">'
                     f'{mark:g}</text>')
    for name in SERIES:
        drawn = [(x.place(hidden), y.place(max(by_name[name], 2.0 ** y.first)))
                 for hidden, by_name in points if name in by_name]
        if drawn:
            path = "L".join(f"{at:.1f} {height:.1f}" for at, height in drawn)
            lines.append(f'<path class="line {name}" d="M{path}"/>')
            # A single hidden size is no line.
            lines += [f'<circle class="{name}" cx="{at:.1f}" cy="{height:.1f}" r="2"/>' for at, height in drawn]
    return lines


def style():
    lines = ["text{font:12px sans-serif;fill:#1f2328}.title{font-weight:600}.number{font-size:11px;fill:#59636e}",
             ".grid{stroke:#d1d9e0;fill:none}.line{fill:none;stroke-width:1.6}.line.ours{stroke-width:3}",
             ".line.copy{stroke-dasharray:4 3}"]
    lines += [f"path.{name}{{stroke:{light}}}circle.{name}{{fill:{light}}}"
              for name, (_, light, _) in SERIES.items()]
    dark = "".join(f"path.{name}{{stroke:{dark}}}circle.{name}{{fill:{dark}}}"
                   for name, (_, _, dark) in SERIES.items())
    lines.append("@media(prefers-color-scheme:dark){text{fill:#e6edf3}.number{fill:#9198a1}.grid{stroke:#3d444d}"
                 f"{dark}}}")
    return "\n".join(lines)


def draw_legend(names):
    lines, left, top = [], LEFT, LEGEND_TOP
    for name in names:
        width = 38 + 7 * len(SERIES[name][0])  # of a letter, about
        if left + width > WIDTH:
            left, top = LEFT, top + LEGEND_LINE
        lines.append(f'<path class="line {name}" d="M{left} {top - 4}h16"/>')
        lines.append(f'<text class="number" x="{left + 21}" y="{top}">{SERIES[name][0]}</text>')
        left += width
    return lines


def draw(document, pass_, op):
    """None where nothing of that was measured."""
    rows = [row for row in document["rows"] if (row["pass"], row["op"]) == (pass_, op)]
    measured = {name for row in rows for name in speeds(row)}
    if not measured:
        return None
    counted = "x, dy and dx" if pass_ == "backward" else "x and y"
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}">',
             f"<style>{style()}</style>",
             f'<text class="title" x="{LEFT}" y="20">{op}, {pass_}: GB/s of {counted} against hidden size, '
             "one thread</text>",
             f'<text class="number" x="{LEFT}" y="{HEIGHT - 8}">{document["machine"]["cpu"]}, '
             f'{" ".join(document["machine"]["isa"])}. Both axes logarithmic; slower than a hundredth of the '
             "fastest is drawn at the bottom.</text>"]
    lines += draw_legend([name for name in SERIES if name in measured])
    for row, dtype in enumerate(PANEL_DTYPES):
        for column, title in enumerate(PANEL_REGIMES):
            lines += draw_panel(document, pass_, op, dtype, title, LEFT + column * (PANEL_WIDTH + GAP_X),
                                TOP + row * (PANEL_HEIGHT + GAP_Y))
    return "\n".join([*lines, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("result", type=pathlib.Path, help="the file that bench_peers.sh wrote")
    parser.add_argument("--out", type=pathlib.Path, default=DOCS, metavar="FOLDER", help="by default docs")
    options = parser.parse_args()
    document = json.loads(options.result.read_text())
    for pass_, op in itertools.product(PASSES, OPS):
        drawn = draw(document, pass_, op)
        if drawn:
            suffix = "_backward" if pass_ == "backward" else ""
            (options.out / f"peers_{op}{suffix}.svg").write_text(drawn)


if __name__ == "__main__":
    main()
