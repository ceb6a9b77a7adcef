#!/usr/bin/env python3
"""How near the untuned schedules are to the best that tuning found, by the trials of a tuning database: for each
problem and number of rows of its latest finished session, the median of samples over the
reference's beside them, of the schedule that an untuned library has for those rows, divided by the best one's."""

import argparse
import json
import math
import pathlib
import re
import sqlite3
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Fewer are crossovers, which have but two schedules, or schedules that were left after a first look.
LEAST_SCHEDULES, LEAST_SAMPLES = 20, 10

TRIALS = """SELECT problem.*, rows, knobs, output_digest, ns / reference_ns FROM sample
    JOIN trial ON trial.id = sample.trial JOIN artifact ON artifact.id = trial.artifact
    JOIN candidate ON candidate.id = artifact.candidate JOIN session ON session.id = artifact.session
    JOIN problem ON problem.id = session.problem
    WHERE trial.status = 'ok' AND session.id IN (SELECT max(id) FROM session WHERE state = 'done' GROUP BY problem)"""


def problem_text(row, fields):
    return ",".join(f"{field}={row[field]}" for field in fields)


def untuned_schedules(program, row, fields):
    """(least number of rows, knobs), by rising rows, from the header of an untuned library."""
    options = [text for field in fields for text in (f"--{field.replace('_', '-')}", str(row[field]))]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "build", *options, "--untuned", "--quiet", "--name", "norms", "--out", folder],
                       check=True)
        header = (pathlib.Path(folder) / "norms.h").read_text()
    return [(int(rows), knobs) for rows, knobs in re.findall(r"from (\d+) rows: (\S+)", header)]


def read_cells(database):
    """Of each problem and number of rows the medians and digests by knobs, and an example row."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    fields = [row["name"] for row in connection.execute("PRAGMA table_info(problem)") if row["name"] != "id"]
    ratios, examples = {}, {}
    for row in connection.execute(TRIALS):
        cell = (problem_text(row, fields), row["rows"])
        examples[cell] = row
        ratios.setdefault(cell, {}).setdefault((row["knobs"], row["output_digest"]), []).append(row[-1])
    return fields, ratios, examples


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database", type=pathlib.Path)
    parser.add_argument("--program", default=str(ROOT / "build/release/normforge"))
    parser.add_argument("--json", action="store_true", help="every cell, instead of a summary")
    arguments = parser.parse_args()

    fields, ratios, examples = read_cells(arguments.database)
    schedules, cells, untried = {}, [], 0
    for cell, by_knobs in sorted(ratios.items()):
        if len(by_knobs) < LEAST_SCHEDULES:
            continue
        problem, rows = cell
        if problem not in schedules:
            schedules[problem] = untuned_schedules(arguments.program, examples[cell], fields)
        untuned = [knobs for least, knobs in schedules[problem] if least <= rows][-1]
        own = {digest: samples for (knobs, digest), samples in by_knobs.items() if knobs == untuned}
        if not own:
            untried += 1
            continue
        (own_digest, own_samples), = own.items()
        medians = {key: statistics.median(samples) for key, samples in by_knobs.items()
                   if len(samples) >= LEAST_SAMPLES}
        best = min(medians, key=medians.get)
        alike = min((median for (_, digest), median in medians.items() if digest == own_digest), default=None)
        own_median = statistics.median(own_samples)
        cells.append({"problem": problem, "rows": rows, "untuned": untuned, "best": best[0],
                      "ratio": own_median / medians[best],
                      "ratio_of_same_bits": own_median / alike if alike else None})
    if arguments.json:
        print(json.dumps(cells, indent=2))
        return
    for cell in sorted(cells, key=lambda cell: -cell["ratio"])[:10]:
        print(f"{cell['ratio']:.2f}  rows={cell['rows']} {cell['problem']}\n      {cell['untuned']}\n   >  {cell['best']}")
    alike = [cell["ratio_of_same_bits"] for cell in cells if cell["ratio_of_same_bits"]]
    print(f"{len(cells)} cells ({untried} more whose untuned schedule was not tried): the untuned schedule takes "
          f"{geometric_mean([cell['ratio'] for cell in cells]):.3f} of the best, geometric mean; of the best with the "
          f"same bits {geometric_mean(alike):.3f}; {sum(cell['ratio'] > 1.3 for cell in cells)} cells beyond 1.3")


if __name__ == "__main__":
    main()
