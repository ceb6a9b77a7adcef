"""What a contender has written is compared with f64 before it is timed, so that nothing wrong is."""

import numpy as np

# Of the largest magnitude: loose, since contenders round where they like, and chains of norms do so many times.
TOLERANCES = {"f32": 1e-3, "f16": 3e-2, "bf16": 1e-1}


def checked_places(count):
    """Of rows, or of values in a row."""
    return sorted({0, min(1, count - 1), count // 2, count - 1})


def wide(values):
    return values.astype(np.float64)


def check(name, operands, chained):
    written, cell = operands.written(), operands.cell
    for what, exact in operands.expected(chained).items():
        if what not in written:
            continue
        error = np.abs(wide(written[what]) - exact).max() / np.abs(exact).max()
        if not error <= TOLERANCES[cell.dtype]:
            raise RuntimeError(f"{name} computes a wrong {what} at {cell}: error {error:.2g} of the largest value")
