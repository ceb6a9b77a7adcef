#!/usr/bin/env python3
"""Times PyTorch's norms on the tensors of what gpu_check timed, and adds them to its file.

Usage: gpu_check_pytorch.py gpu_check.json
"""

import json
import statistics
import sys

import torch
import torch.nn.functional as functional

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
BLOCKS = 15
CALLS = 10


def fields_of(problem):
    return dict(field.split("=") for field in problem.split(","))


def norm_of(fields, rows):
    """A call of PyTorch's for the problem: a residual is one operation more."""
    hidden, dtype = int(fields["hidden"]), DTYPES[fields["dtype"]]
    make = lambda *shape: torch.randn(*shape, device="cuda", dtype=dtype)
    x, weight = make(rows, hidden), make(hidden)
    if fields["op"] == "layer_norm":
        bias = make(hidden)
        norm = lambda h: functional.layer_norm(h, (hidden,), weight, bias, 1e-5)
    elif hasattr(functional, "rms_norm"):
        norm = lambda h: functional.rms_norm(h, (hidden,), weight, 1e-5)
    else:
        return None
    if "residual" in fields:
        residual = make(rows, hidden)
        return lambda: norm(residual.add_(x))
    return lambda: norm(x)


def seconds_of(call):
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(3):
        call()
    blocks = []
    for _ in range(BLOCKS):
        start.record()
        for _ in range(CALLS):
            call()
        stop.record()
        stop.synchronize()
        blocks.append(start.elapsed_time(stop) * 1e-3 / CALLS)
    return statistics.median(blocks)


def main():
    path = sys.argv[1]
    with open(path) as file:
        results = json.load(file)
    results["pytorch"] = torch.__version__
    for timed in results["timed"]:
        call = norm_of(fields_of(timed["problem"]), timed["rows"])
        if call is None:
            continue
        with torch.no_grad():
            timed["pytorch_seconds"] = seconds_of(call)
        torch.cuda.empty_cache()
        ratio = timed["pytorch_seconds"] / timed["schedules"][0]["seconds"]
        print(f"{ratio:.2f} times as fast as PyTorch {torch.__version__}: {timed['problem']}")
    with open(path, "w") as file:
        json.dump(results, file, indent=2)


if __name__ == "__main__":
    main()
