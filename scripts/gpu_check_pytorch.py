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
DEVICE = "cuda"
BLOCKS = 15
CALLS = 10


def fields_of(problem):
    return dict(field.split("=") for field in problem.split(","))


def norm_of(fields):
    """PyTorch's norm of h, and the tensors that it has gradients of beside h; None where there is no such norm."""
    hidden = int(fields["hidden"])
    weight = random(fields, hidden)
    if fields["op"] == "layer_norm":
        bias = random(fields, hidden)
        return lambda h: functional.layer_norm(h, (hidden,), weight, bias, 1e-5), (weight, bias)
    if hasattr(functional, "rms_norm"):
        return lambda h: functional.rms_norm(h, (hidden,), weight, 1e-5), (weight,)
    return None


def random(fields, *shape):
    return torch.randn(*shape, device=DEVICE, dtype=DTYPES[fields["dtype"]])


def call_of(fields, rows):
    """A call of PyTorch's for the problem: a residual is one operation more, gradients are automatic
    differentiation's, of what the forward pass has saved."""
    found = norm_of(fields)
    if found is None:
        return None
    norm, parameters = found
    x = random(fields, rows, int(fields["hidden"]))
    if fields.get("pass") == "backward":
        inputs = (x, *parameters)
        for each in inputs:
            each.requires_grad_()
        y = norm(x)
        dy = torch.randn_like(y)
        return lambda: torch.autograd.grad(y, inputs, dy, retain_graph=True)
    if "residual" in fields:
        residual = random(fields, rows, int(fields["hidden"]))
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
        call = call_of(fields_of(timed["problem"]), timed["rows"])
        if call is None:
            continue
        timed["pytorch_seconds"] = seconds_of(call)
        del call
        torch.cuda.empty_cache()
        ratio = timed["pytorch_seconds"] / timed["schedules"][0]["seconds"]
        print(f"{ratio:.2f} times as fast as PyTorch {torch.__version__}: {timed['problem']}")
    with open(path, "w") as file:
        json.dump(results, file, indent=2)


if __name__ == "__main__":
    main()
