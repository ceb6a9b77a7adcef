#!/usr/bin/env python3
"""Kills tuning processes at random moments, and checks that the database they share is sound and has lost nothing.

Each of several processes runs `normforge tune` into one file, is killed by SIGKILL, and begins anew, many times.
A reader watches how many trials every session has: none may ever lose one. Half of them resume what was killed. In
the end every problem is resumed once more, undisturbed. Takes a quarter of an hour on two cores, and all of them.
"""

import argparse
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

COUNTS = """SELECT uuid, count(trial.id) FROM session LEFT JOIN artifact ON artifact.session = session.id
            LEFT JOIN trial ON trial.artifact = artifact.id GROUP BY uuid"""


def command_line() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program = Path("build/release/normforge")
    parser.add_argument("--program", type=Path, default=program, help="default %(default)s")
    parser.add_argument("--processes", type=int, default=8, help="default %(default)s")
    parser.add_argument("--kills", type=int, default=50, help="of each process; default %(default)s")
    parser.add_argument("--longest", type=float, default=2, help="seconds to a kill at most; default %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the moments; default %(default)s")
    return parser.parse_args()


def tune_command(options: argparse.Namespace, file: Path, process: int) -> list[str]:
    # Problems of few schedules, which are compiled soon.
    problem = ["--op", ("rms_norm", "layer_norm")[process // 3 % 2]]
    problem += ["--dtype", ("f32", "f16", "bf16")[process % 3], "--hidden", str(1 + process // 6), "--rows", "1"]
    return [str(options.program), "tune", *problem, "--db", str(file)]


def kill_again_and_again(options: argparse.Namespace, file: Path, process: int) -> None:
    moments = random.Random(options.seed * 1000 + process)
    for _ in range(options.kills):
        command = tune_command(options, file, process) + ["--resume"] * (moments.random() < 0.5)
        tuning = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # Half of them while they compile and store trials, or before; the others when they time them.
        if moments.random() < 0.5:
            next((line for line in tuning.stderr if "timing" in line), "")
        try:
            tuning.wait(moments.uniform(0, options.longest))
        except subprocess.TimeoutExpired:
            tuning.kill()
        tuning.communicate()


def lost_trials(file: Path, seen: dict[str, int]) -> list[str]:
    """Compares what sessions have with what they had, which is brought up to date."""
    if not file.exists():
        return []
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=30) as connection:
        try:
            counts = dict(connection.execute(COUNTS).fetchall())
        except sqlite3.OperationalError as error:
            if seen:
                return [f"cannot be read: {error}"]
            return []  # no tables yet
    lost = []
    for uuid, had in seen.items():
        if counts.get(uuid, 0) < had:
            lost.append(f"session {uuid}: {counts.get(uuid, 0)} trials of {had}")
    seen.update(counts)
    return lost


def main() -> int:
    options = command_line()
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tuning.db"
        threads = [
            threading.Thread(target=kill_again_and_again, args=(options, file, process))
            for process in range(options.processes)
        ]
        for thread in threads:
            thread.start()
        seen: dict[str, int] = {}
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.2)
            faults += lost_trials(file, seen)
        trials = sum(seen.values())
        for process in range(options.processes):
            command = tune_command(options, file, process) + ["--quiet", "--resume"]
            if subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0:
                faults.append(f"tuning {process} does not complete any more")
        faults += lost_trials(file, seen)
        with sqlite3.connect(file) as connection:
            verdict = connection.execute("PRAGMA integrity_check").fetchone()[0]
            strays = len(connection.execute("PRAGMA foreign_key_check").fetchall())
            done = connection.execute("SELECT count(*) FROM session WHERE state = 'done'").fetchone()[0]
        if verdict != "ok" or strays:
            faults.append(f"integrity check: {verdict}, {strays} broken references")
    print(f"{options.processes * options.kills} kills; {len(seen)} sessions, {done} of them done; {trials} trials")
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
