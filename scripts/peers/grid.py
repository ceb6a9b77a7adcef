"""The cells that are measured."""

import dataclasses
import itertools

PASSES = ["forward", "backward"]
OPS = ["layer_norm", "rms_norm"]
DTYPE_BYTES = {"f32": 4, "f16": 2, "bf16": 2}
HIDDEN_SIZES = [64, 128, 256, 512, 768, 1000, 1024, 2048, 3072, 4096, 5120, 7168, 8192, 16384]
QUICK_HIDDEN_SIZES = [64, 1024, 4096]
ROWS_IN_CACHE = [1, 8, 64, 512]
QUICK_ROWS_IN_CACHE = [1, 64]
EPSILON = 1e-5

# x and y together are at least this many times the last cache, so that nothing of them is found there.
OUT_OF_CACHE_TIMES = 4
# Whole blocks of rows for every schedule.
ROWS_MULTIPLE = 16


@dataclasses.dataclass(frozen=True)
class Cell:
    pass_: str  # the word is Python's
    op: str
    residual: bool
    dtype: str
    hidden: int
    rows: int
    threads: int

    def values(self):
        return self.rows * self.hidden

    def arrays(self):
        """Of rows that must be read or written once: x and y, with a residual it and the sum. Backward: x, dy and
        dx; with a residual the sum, dy, dsum, dx and dresidual."""
        if self.pass_ == "backward":
            return 5 if self.residual else 3
        return 4 if self.residual else 2

    def vectors(self):
        """Weight and bias. Backward: the weight and the gradients of both."""
        return (2 if self.op == "layer_norm" else 1) + (self.pass_ == "backward")

    def moved_bytes(self):
        return self.values() * DTYPE_BYTES[self.dtype] * self.arrays()

    def touched_bytes(self):
        return self.moved_bytes() + self.vectors() * self.hidden * DTYPE_BYTES[self.dtype]


def row_of(cell):
    """The beginning of the cell's row of the result."""
    return {name.rstrip("_"): value for name, value in vars(cell).items()}


def cell_of(row):
    """Of a row of the result."""
    return Cell(*(row[field.name.rstrip("_")] for field in dataclasses.fields(Cell)))


def out_of_cache_rows(dtype, hidden, last_cache_bytes):
    rows = -(-OUT_OF_CACHE_TIMES * last_cache_bytes // (2 * hidden * DTYPE_BYTES[dtype]))
    return -(-rows // ROWS_MULTIPLE) * ROWS_MULTIPLE


def cells(quick, threads, last_cache_bytes):
    """Cells of one type follow one another."""
    in_cache = QUICK_ROWS_IN_CACHE if quick else ROWS_IN_CACHE
    hidden_sizes = QUICK_HIDDEN_SIZES if quick else HIDDEN_SIZES
    for dtype, pass_, op, residual, hidden in itertools.product(DTYPE_BYTES, PASSES, OPS, [False, True],
                                                                hidden_sizes):
        largest = out_of_cache_rows(dtype, hidden, last_cache_bytes)
        for rows in [*in_cache, largest]:
            yield Cell(pass_, op, residual, dtype, hidden, rows, threads)


def rows_name(cell):
    """As --rows names it."""
    return str(cell.rows) if cell.rows in ROWS_IN_CACHE else "cold"


def regime(cell, machine):
    """Where the operands lie when a call is repeated."""
    if cell.touched_bytes() <= machine["second_cache_bytes"]:
        return "second cache"
    if cell.touched_bytes() <= machine["last_cache_bytes"]:
        return "last cache"
    if cell.moved_bytes() >= OUT_OF_CACHE_TIMES * machine["last_cache_bytes"]:
        return "out of cache"
    return "between"
