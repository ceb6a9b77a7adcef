"""The backward pass: what it works on and what it must come to."""

import numpy as np

from peers.grid import EPSILON
from peers.operands import NUMPY_TYPES, Operands
from peers.reference import checked_places, wide

STATISTICS_VALUES = 1 << 20  # in f64 at once
# PyTorch's gradient of a bf16 weight is off by 0.9 of its size for 524288 rows, as sums in bf16 are.
MOST_NARROW_ROWS = 512


class BackwardOperands(Operands):
    def __init__(self, pool, cell):
        super().__init__(pool, cell)
        self.normalised = "sum" if cell.residual else "x"
        self.add_rows(self.normalised, 0)
        self.add_rows("dy", 1)
        if cell.residual:
            self.add_rows("dsum", 2)
        self.outputs = ["dx", "dresidual"] if cell.residual else ["dx"]
        for name in self.outputs:
            self.add_rows(name)
        self.gradients = ["dweight", "dbias"] if cell.op == "layer_norm" else ["dweight"]
        for name in self.gradients:
            self.add_vector(name)
        self.add_statistics()
        self.checked_rows = checked_places(cell.rows)
        self.checked_values = checked_places(cell.hidden)

    def add_statistics(self):
        has_mean = self.cell.op == "layer_norm"
        for name in ["mean", "rstd"] if has_mean else ["rstd"]:
            self.arrays[name] = self.take((self.cell.rows,), NUMPY_TYPES["f32"])
        rows_at_once = max(1, STATISTICS_VALUES // self.cell.hidden)
        for start in range(0, self.cell.rows, rows_at_once):
            rows = slice(start, start + rows_at_once)
            h = wide(self.arrays[self.normalised][rows])
            if has_mean:
                self.arrays["mean"][rows] = h.mean(axis=1)
            variance = h.var(axis=1) if has_mean else (h * h).mean(axis=1)
            self.arrays["rstd"][rows] = 1 / np.sqrt(variance + EPSILON)

    def problem(self):
        problem = super().problem()
        problem.saved_statistics = 1
        return problem

    def clear(self):
        for name in self.outputs:
            self.arrays[name][self.checked_rows] = np.nan
        for name in self.gradients:
            self.arrays[name][:] = self.vectors_f32[name][:] = np.nan

    def written(self):
        written = {}
        for name in self.gradients:
            in_f32 = self.vectors_f32[name][self.checked_values]
            written[name] = self.arrays[name][self.checked_values] if np.isnan(in_f32).all() else in_f32
        for name in self.outputs:
            written[name] = self.arrays[name][self.checked_rows]
        # x and residual share a gradient where a contender leaves it at that.
        if self.cell.residual and np.isnan(wide(written["dresidual"])).all():
            del written["dresidual"]
        return written

    def expected(self, chained):
        assert chained == 1
        expected = {}
        if self.cell.dtype == "f32" or self.cell.rows <= MOST_NARROW_ROWS:
            dy = self.selected("dy", values=True)
            expected = {"dweight": (dy * self.norm(values=True)).sum(axis=0), "dbias": dy.sum(axis=0)}
        n = self.norm()
        gradient = self.selected("dy") * wide(self.arrays["weight"])
        inner = gradient - n * (gradient * n).mean(axis=1, keepdims=True)
        if self.cell.op == "layer_norm":
            inner -= gradient.mean(axis=1, keepdims=True)
        expected["dx"] = inner * wide(self.arrays["rstd"])[self.checked_rows, None]
        if self.cell.residual:
            expected["dx"] += self.selected("dsum")
            expected["dresidual"] = expected["dx"]
        return expected

    def selected(self, name, values=False):
        """The checked rows, or of all rows the checked values."""
        array = self.arrays[name]
        return wide(array[:, self.checked_values] if values else array[self.checked_rows])

    def norm(self, values=False):
        rows = slice(None) if values else self.checked_rows
        n = self.selected(self.normalised, values)
        if self.cell.op == "layer_norm":
            n = n - wide(self.arrays["mean"])[rows, None]
        return n * wide(self.arrays["rstd"])[rows, None]
