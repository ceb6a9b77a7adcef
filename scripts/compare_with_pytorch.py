#!/usr/bin/env python3
"""Prints the largest errors against f64 of normforge's and PyTorch's f32 norms on rows that are hard to normalise.

compare_with_pytorch.sh prepares what this needs and calls it.
"""

import argparse
import functools
import json
import math
import sys

import numpy as np

OPS = ["layer_norm", "rms_norm"]
HIDDEN_SIZES = [768, 4096]
LONG_HIDDEN = 2**20
ROWS = 64


def outlier(place):
    def rows(normal):
        normal[:, {"first": 0, "middle": normal.shape[1] // 2, "last": -1}[place]] = 1e6
        return normal

    return rows


# Kinds of rows, made from normally distributed ones, each with its epsilon: of tiny rows, epsilon would be all.
ROW_KINDS = {
    "normal": (lambda normal: normal, 1e-5),
    "mean 1e4, deviation 1": (lambda normal: 1e4 + normal, 1e-5),
    "mean 1e4, deviation 1e-2": (lambda normal: 1e4 + 1e-2 * normal, 1e-5),
    "all 14.1": (lambda normal: np.full_like(normal, 14.1), 1e-5),
    "first is 1e6": (outlier("first"), 1e-5),
    "middle is 1e6": (outlier("middle"), 1e-5),
    "last is 1e6": (outlier("last"), 1e-5),
    "size 1e15": (lambda normal: 1e15 * normal, 1e-5),
    "size 1e-12": (lambda normal: 1e-12 * normal, 0.0),
    "denormal": (lambda normal: 1e-39 * normal, 1e-5),
}


def cases():
    for hidden in HIDDEN_SIZES:
        for kind, (make, epsilon) in ROW_KINDS.items():
            yield hidden, kind, make, epsilon, ROWS
    yield LONG_HIDDEN, "normal", ROW_KINDS["normal"][0], 1e-5, 4
    yield LONG_HIDDEN, "all 0.1", lambda normal: np.full_like(normal, 0.1), 1e-5, 1


def exact_norm(op, x, epsilon):
    x = x.astype(np.float64)
    if op == "layer_norm":
        x = x - np.array([math.fsum(row) for row in x])[:, None] / x.shape[1]
    squares = np.array([math.fsum(row) for row in x * x])[:, None] / x.shape[1]
    return x / np.sqrt(squares + np.float64(np.float32(epsilon)))


def largest_error(y, exact):
    """Infinite where a value is not a number."""
    error = np.abs(y.astype(np.float64) - exact)
    return float("inf") if np.isnan(error).any() else float(error.max())


def pytorch_norms(torch):
    def norm_of(function):
        def run(x, y, epsilon):
            y[:] = function(torch.from_numpy(x), x.shape[1:], eps=epsilon).numpy()

        return run

    functions = torch.nn.functional
    return {op: norm_of(getattr(functions, op)) for op in OPS if hasattr(functions, op)}


def measure(contestants):
    results = []
    for op in OPS:
        for hidden, kind, make, epsilon, rows in cases():
            normal = np.random.RandomState(1).standard_normal((rows, hidden))
            x = np.ascontiguousarray(make(normal), np.float32)
            exact = exact_norm(op, x, epsilon)
            result = {"op": op, "hidden": hidden, "rows": kind, "epsilon": epsilon,
                      "largest_y": float(np.abs(exact).max())}
            for name, norms in contestants.items():
                y = np.full_like(x, np.nan)
                if op in norms:
                    norms[op](x, y, epsilon)
                    result[name] = largest_error(y, exact)
            results.append(result)
    return results


def print_table(results, names):
    def number(value):
        return "-" if value is None else f"{value:.1e}"

    def print_line(op, hidden, rows, *numbers):
        print(f"{op:<11}{hidden:>8}  {rows:<25}" + "".join(f"{text:>13}" for text in numbers))

    print("Largest error against f64, f32, without weight and bias; inf: a value is not a number")
    print_line("op", "hidden", "rows", "largest |y|", *names)
    for result in results:
        numbers = [number(result.get(key)) for key in ["largest_y", *names]]
        print_line(result["op"], result["hidden"], result["rows"], *numbers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", metavar="FILE",
                        help="made by `normforge build --shared --name norms`; without it, PyTorch alone")
    parser.add_argument("--json", action="store_true", help="print JSON; an error that is infinite is null")
    parser.add_argument("--list-hidden", action="store_true", help="print the hidden sizes that the library needs")
    options = parser.parse_args()
    if options.list_hidden:
        print(",".join(map(str, [*HIDDEN_SIZES, LONG_HIDDEN])))
        return

    try:
        import torch
    except ImportError as error:
        sys.exit(f"error: PyTorch cannot be imported: {error}")
    contestants = {}
    if options.library:
        from normforge_library import NormforgeLibrary
        library = NormforgeLibrary(options.library, "norms")
        contestants["normforge"] = {op: functools.partial(library.run_f32, op) for op in OPS}
    contestants["pytorch"] = pytorch_norms(torch)
    results = measure(contestants)
    if options.json:
        finite = [{key: None if value == float("inf") else value for key, value in result.items()}
                  for result in results]
        print(json.dumps({"pytorch": torch.__version__, "errors": finite}, indent=2))
    else:
        print(f"PyTorch {torch.__version__}")
        print_table(results, contestants)


if __name__ == "__main__":
    main()
