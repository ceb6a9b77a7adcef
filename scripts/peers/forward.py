"""The forward pass: what it works on and what it must come to."""

import numpy as np

from peers.grid import EPSILON
from peers.operands import Operands
from peers.reference import checked_places, wide


class ForwardOperands(Operands):
    def __init__(self, pool, cell):
        super().__init__(pool, cell)
        self.add_rows("x", 0)
        if cell.residual:
            self.add_rows("residual", 1)
        self.outputs = ["y", "sum"] if cell.residual else ["y"]
        for name in self.outputs:
            self.add_rows(name)
        if cell.op == "layer_norm":
            self.add_vector("bias", self.random(2)[:cell.hidden] * np.float32(0.5))
        self.checked_rows = checked_places(cell.rows)

    def clear(self):
        for name in self.outputs:
            self.arrays[name][self.checked_rows] = np.nan

    def written(self):
        return {name: self.arrays[name][self.checked_rows] for name in self.outputs}

    def expected(self, chained):
        """After as many norms of norms as are chained."""
        arrays = self.arrays
        y = wide(arrays["x"][self.checked_rows])
        expected = {}
        for _ in range(chained):
            if self.cell.residual:
                y = expected["sum"] = y + wide(arrays["residual"][self.checked_rows])
            if self.cell.op == "layer_norm":
                y = y - y.mean(axis=1, keepdims=True)
            y = y / np.sqrt((y * y).mean(axis=1, keepdims=True) + EPSILON) * wide(arrays["weight"])
            if "bias" in arrays:
                y = y + wide(arrays["bias"])
        expected["y"] = y
        return expected
