#!/usr/bin/env python3
"""Simulated cycles for a value of a row on the ARM CPUs of the static model: the shipped schedules, where there are
some, the heuristic's, and clang's code of plain loops (bench/plain_norms.c), as the table of docs/arm.md.

Opt-in: it needs Debian's clang, and the targets normforge and bitcode_cycles built in the folder BUILD. LLVM's own
simulator in this build takes clang's bitcode, so all columns are of one code generator and one model."""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The CPU for clang, with what its version 14 knows; SVE's loops would have no constant number of trips.
CLANG_CPUS = {
    "cortex-a72": "cortex-a72",
    "cortex-a76": "cortex-a76",
    "neoverse-n1": "neoverse-n1",
    "neoverse-v1": "neoverse-v1+nosve",
    "neoverse-v2": "neoverse-n2+nosve",
    "apple-m1": "apple-m1",
}
TARGETS = {
    "cortex-a72": "arm-64-linux-neon",
    "cortex-a76": "arm-64-linux-arm_fp16",
    "neoverse-n1": "arm-64-linux-arm_fp16",
    "neoverse-v1": "arm-64-linux-armv86a-sve-256",
    "neoverse-v2": "arm-64-linux-armv86a-sve2-128",
    "apple-m1": "arm-64-linux-arm_fp16",
}
ROWS = 16
UNSHIPPED = [(op, hidden) for op in ("layer_norm", "rms_norm") for hidden in (1024, 4096)]


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def entries(program, cpu, folder):
    """The problems, each with the heuristic's knobs and, where it is shipped, the best ones."""
    shipped = ROOT / f"autotune/shipped/arm-{cpu}.json"
    if not shipped.exists():
        for op, hidden in UNSHIPPED:
            knobs = output_of(program, "inspect", "--op", op, "--hidden", str(hidden), "--target", TARGETS[cpu])
            yield {"op": op, "hidden": hidden, "target": TARGETS[cpu], "reference": knobs.splitlines()[0]}
        return
    database = folder / f"{cpu}.db"
    output_of(program, "db", "import", shipped, "--db", database)
    for entry in json.loads(output_of(program, "db", "best", "--json", database)):
        if entry["dtype"] == "f32":
            entry["best"] = next(choice["knobs"] for choice in entry["choices"] if choice["rows"] == ROWS)
            yield entry


def kernel_cycles(program, cpu, entry, knobs):
    text = output_of(program, "inspect", "--op", entry["op"], "--hidden", str(entry["hidden"]), "--target",
                     entry["target"], "--emit", "cycles", "--cpu", cpu, "--knobs", knobs)
    return float(re.search(r"([\d.]+) a value", text)[1])


def clang_cycles(build, folder, cpu, entry, options):
    bitcode = folder / "plain_norms.bc"
    subprocess.run(["clang", "--target=aarch64-linux-gnu", f"-mcpu={CLANG_CPUS[cpu]}", f"-DHIDDEN={entry['hidden']}",
                    "-O3", "-fno-math-errno", *options, "-emit-llvm", "-c", ROOT / "bench/plain_norms.c", "-o",
                    bitcode], check=True)
    return float(output_of(build / "bitcode_cycles", bitcode, entry["op"], cpu)) / entry["hidden"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", nargs="?", default=ROOT / "build/release", type=pathlib.Path, metavar="BUILD")
    build = parser.parse_args().build.resolve()
    program = build / "normforge"
    print("| CPU | layer | shipped | heuristic | clang -O3 -ffast-math | clang -O3 |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for cpu in CLANG_CPUS:
            for entry in entries(program, cpu, folder):
                figures = [kernel_cycles(program, cpu, entry, entry[knobs]) if knobs in entry else None
                           for knobs in ("best", "reference")]
                figures += [clang_cycles(build, folder, cpu, entry, options) for options in (["-ffast-math"], [])]
                print(f"| {cpu} | {entry['op']} {entry['hidden']} | " +
                      " | ".join("-" if figure is None else f"{figure:.2f}" for figure in figures) + " |", flush=True)


if __name__ == "__main__":
    main()
