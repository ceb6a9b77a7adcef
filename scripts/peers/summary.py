"""The table that is printed of a result."""

import itertools
import statistics

from peers.grid import PASSES, cell_of, regime

# The fastest of these is what we are compared with; the others are shown in the file alone.
COMPARED = ["onednn", "onednn_debian", "pytorch", "onnxruntime", "ggml"]
REGIMES = ["second cache", "last cache", "between", "out of cache"]


def describe(row):
    residual = " residual" if row["residual"] else ""
    return f"{row['op']} {row['dtype']}{residual} hidden {row['hidden']} rows {row['rows']}"


def lead(row):
    """Time of the fastest of those we are compared with, by ours."""
    return min(row["peers"][name] for name in COMPARED if name in row["peers"]) / row["ours_ns"]


def fastest_peer(row):
    return min((row["peers"][name], name) for name in COMPARED if name in row["peers"])[1]


def copy_share(row):
    return row["copy_ns"] / row["ours_ns"]


def print_group(title, rows, figure, decimals, note=lambda row: "", pick=min):
    if not rows:
        return
    picked = pick(rows, key=figure)
    print(f"{title:<42}{len(rows):>6}{statistics.geometric_mean(map(figure, rows)):>9.{decimals}f}"
          f"{figure(picked):>9.{decimals}f}  {describe(picked)}{note(picked)}")


def print_untuned(rows):
    """How much longer the heuristic's schedules take than tuned ones."""
    if not any("untuned" in row["peers"] for row in rows):
        return
    print(f"\n{'untuned by tuned':<42}{'cells':>6}{'mean':>9}{'most':>9}  the most's cell")
    for name in REGIMES:
        print_group(name, [row for row in rows if row["regime"] == name],
                    lambda row: row["peers"]["untuned"] / row["ours_ns"], 2, pick=max)


def print_peers(rows):
    print(f"\n{'each peer by ours, geometric mean':<34}{'cells':>8}" + "".join(f"{name:>14}" for name in REGIMES)
          + "   least and its cell")
    for name in sorted({name for row in rows for name in row["peers"]} - {"untuned"}):
        means = []
        for regime_name in REGIMES:
            ratios = [row["peers"][name] / row["ours_ns"] for row in rows
                      if row["regime"] == regime_name and name in row["peers"]]
            means.append(f"{statistics.geometric_mean(ratios):>14.2f}" if ratios else f"{'-':>14}")
        measured = [row for row in rows if name in row["peers"]]
        worst = min(measured, key=lambda row: row["peers"][name] / row["ours_ns"])
        print(f"{name:<34}{len(measured):>8}" + "".join(means)
              + f"{worst['peers'][name] / worst['ours_ns']:>8.2f}  {describe(worst)}")


def print_summary(document):
    machine = document["machine"]
    rows = [{**row, "regime": regime(cell_of(row), machine)} for row in document["rows"]]
    print(f"{machine['cpu']}, {' '.join(machine['isa'])}; second cache {machine['second_cache_bytes'] >> 10} KiB, "
          f"last {machine['last_cache_bytes'] >> 10} KiB")
    print(", ".join(f"{name} {version}" for name, version in document["versions"].items()))
    print(f"Schedules: {document['schedules']}")
    for threads, pass_ in itertools.product(sorted({row["threads"] for row in rows}), PASSES):
        measured = [row for row in rows if row["threads"] == threads and row["pass"] == pass_]
        if not measured:
            continue
        print(f"\nThreads: {threads}, {pass_}, cells: {len(measured)}")
        print(f"\n{'fastest of ' + ', '.join(COMPARED) + ' by ours'}")
        print(f"{'operands in':<42}{'cells':>6}{'mean':>9}{'least':>9}  the least's cell and its fastest peer")
        for name in REGIMES:
            for residual in (False, True):
                chosen = [row for row in measured if row["regime"] == name and row["residual"] == residual]
                print_group(name + (", residual" if residual else ""), chosen, lead, 2,
                            lambda row: f", {fastest_peer(row)}")
        print(f"\n{'bytes per second by the best copy':<42}{'cells':>6}{'mean':>9}{'least':>9}  the least's cell")
        for dtype in sorted({row["dtype"] for row in measured}):
            for residual in (False, True):
                chosen = [row for row in measured if row["regime"] == "out of cache" and row["dtype"] == dtype
                          and row["residual"] == residual]
                print_group(f"out of cache, {dtype}" + (", residual" if residual else ""), chosen, copy_share, 3)
        print_untuned(measured)
        print_peers(measured)
