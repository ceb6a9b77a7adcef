#!/usr/bin/env python3
"""Writes tests/data/recorded_spaces.txt: all schedules of some problems as `normforge tune --effort exhaustive` timed
them here, for tests of the search's strategy that need neither clock nor hardware.

Tunes into a database for each problem in the given folder, which takes half an hour on two cores; those that are there
already are not tuned again, so it can be interrupted. Each schedule is written with the median of its first samples'
ratios to the reference, one for each number of rows: as a search sees it.
"""

import argparse
import json
import sqlite3
import statistics
import subprocess
import sys
from pathlib import Path

HOST = "host"
AVX2 = "x86-64-linux-avx-avx2-f16c-fma-sse41"
SSE4 = "x86-64-linux-sse41"
# Spaces that differ, and that are small enough to be exhausted: target, numbers of rows, problem.
SPACES = [
    (HOST, "1,64", "--op layer_norm --hidden 7"),
    (HOST, "1,64,1024", "--op layer_norm --hidden 1024 --pass backward --saved-statistics yes"),
    (AVX2, "1,64", "--op rms_norm --hidden 2048 --saved-statistics yes"),
    (HOST, "1,64", "--op rms_norm --hidden 4096 --dtype bf16 --pass backward --saved-statistics yes"),
    (AVX2, "1,64,1024", "--op layer_norm --hidden 1024 --portable yes"),
    (HOST, "1,64", "--op rms_norm --hidden 4096 --output i8 --scale per_row"),
    (HOST, "1,64", "--op rms_norm --hidden 768 --dtype f16 --saved-statistics yes"),
    (SSE4, "1,64", "--op rms_norm --hidden 512 --weight none"),
    (HOST, "1,64", "--op layer_norm --hidden 5 --dtype bf16"),
    (AVX2, "1,64", "--op rms_norm --hidden 4096 --dtype f16 --portable yes"),
    (AVX2, "1,64", "--op layer_norm --hidden 4096 --dtype f16 --pass backward --saved-statistics yes"),
    (HOST, "1,64", "--op rms_norm --hidden 8192 --residual f32 --sum f32 --saved-statistics yes"),
    (AVX2, "1,64", "--op rms_norm --hidden 128 --pass backward --saved-statistics yes"),
    (SSE4, "1,64", "--op layer_norm --hidden 1000 --pass backward --saved-statistics yes"),
    (AVX2, "1,64", "--op layer_norm --hidden 384 --saved-statistics yes"),
    (HOST, "1,64", "--op rms_norm --hidden 256 --saved-statistics yes"),
    (HOST, "1,64,1024", "--op layer_norm --hidden 2048 --dtype bf16 --portable yes"),
    (HOST, "1,64", "--op layer_norm --hidden 768 --residual bf16 --dtype bf16 --saved-statistics yes"),
    (HOST, "1,64", "--op rms_norm --hidden 2048 --dtype bf16 --saved-statistics yes"),
    (AVX2, "1,64", "--op rms_norm --hidden 1024 --dtype f16 --pass backward --saved-statistics yes"),
]

SESSION = """SELECT target, reference.knobs FROM session JOIN candidate AS reference ON reference.id = reference
             WHERE state = 'done'"""
SAMPLES = """SELECT candidate.knobs, rows, ns / reference_ns FROM sample JOIN trial ON trial.id = trial
             JOIN artifact ON artifact.id = artifact JOIN candidate ON candidate.id = candidate
             WHERE status = 'ok' ORDER BY candidate.knobs, rows, block"""


def command_line() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="for the databases")
    parser.add_argument("--program", type=Path, default=Path("build/release/normforge"), help="default %(default)s")
    parser.add_argument("--out", type=Path, default=Path("tests/data/recorded_spaces.txt"), help="default %(default)s")
    parser.add_argument("--only", action="store_true", help="write what there is; tune nothing")
    return parser.parse_args()


def problem_text(program: Path, file: Path) -> str:
    shown = subprocess.run([program, "db", "export", file, "--best"], check=True, capture_output=True, text=True)
    return json.loads(shown.stdout)["sessions"][0]["problem"]


def short(knobs: str) -> str:
    """Values alone, words by their first letter."""
    values = [pair.split("=")[1] for pair in knobs.split(",")]
    return ",".join(value if value.isdigit() else value[: 2 if value.startswith("p") else 1] for value in values)


def space_lines(program: Path, file: Path, rows_text: str) -> list[str]:
    ratios: dict[str, dict[int, list[float]]] = {}
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as connection:
        target, _ = connection.execute(SESSION).fetchone()
        for knobs, rows, ratio in connection.execute(SAMPLES):
            ratios.setdefault(knobs, {}).setdefault(rows, []).append(ratio)
    lines = [f"space {problem_text(program, file)} {target}"]
    for knobs, by_rows in ratios.items():
        medians = [statistics.median(by_rows[int(rows)]) for rows in rows_text.split(",")]
        lines.append(" ".join([short(knobs)] + [f"{median:.3g}" for median in medians]))
    return lines


def main() -> int:
    options = command_line()
    lines = ["# Ratios to the reference, by scripts/record_spaces.py"]
    for number, (target, rows, problem) in enumerate(SPACES, 1):
        file = options.folder / f"rec_{number}.db"
        done = file.with_suffix(".db.done")
        if not done.exists():
            if options.only:
                continue
            file.unlink(missing_ok=True)
            command = [options.program, "tune", "--effort", "exhaustive", "--target", target, "--rows", rows]
            subprocess.run([*command, *problem.split(), "--db", file, "--quiet"], check=True)
            done.touch()
        lines += space_lines(options.program, file, rows)
    options.out.write_text("\n".join(lines) + "\n")
    print(f"{options.out}: {sum(line.startswith('space') for line in lines)} spaces, {len(lines)} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
