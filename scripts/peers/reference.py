"""What a contender has written is compared with f64 before it is timed, so that nothing wrong is."""

import numpy as np

from peers.grid import EPSILON

# Of the largest magnitude: loose, since contenders round where they like, and chains of norms do so many times.
TOLERANCES = {"f32": 1e-3, "f16": 3e-2, "bf16": 1e-1}


def checked_rows(rows):
    return sorted({0, min(1, rows - 1), rows // 2, rows - 1})


def clear(operands):
    for values in (operands.y, operands.sum):
        if values is not None:
            values[checked_rows(operands.cell.rows)] = np.nan


def expected(operands, chained):
    """y and the sum of the checked rows, after as many norms of norms as are chained."""
    rows = checked_rows(operands.cell.rows)

    def wide(values):
        return None if values is None else values.astype(np.float64)

    y, weight, bias = wide(operands.x[rows]), wide(operands.weight), wide(operands.bias)
    residual, total = wide(None if operands.residual is None else operands.residual[rows]), None
    for _ in range(chained):
        if residual is not None:
            y = total = y + residual
        if operands.cell.op == "layer_norm":
            y = y - y.mean(axis=1, keepdims=True)
        y = y / np.sqrt((y * y).mean(axis=1, keepdims=True) + EPSILON) * weight
        if bias is not None:
            y = y + bias
    return y, total


def check(name, operands, chained):
    cell = operands.cell
    for what, exact in zip(("y", "sum"), expected(operands, chained)):
        if exact is None:
            continue
        written = getattr(operands, what)[checked_rows(cell.rows)].astype(np.float64)
        error = np.abs(written - exact).max() / np.abs(exact).max()
        if not error <= TOLERANCES[cell.dtype]:
            raise RuntimeError(f"{name} computes a wrong {what} at {cell}: error {error:.2g} of the largest value")
