"""The memory that all contenders of a cell work on."""

import ctypes
import mmap

import ml_dtypes
import numpy as np

from normforge_library import read_header
from peers.grid import DTYPE_BYTES, EPSILON

NUMPY_TYPES = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}
PAGE = 4096
SAMPLE_VALUES = 1 << 20
VECTORS = ["weight", "bias", "dweight", "dbias"]

VALUES, TYPES = read_header()


def align(count):
    return -(-count // PAGE) * PAGE


def pool_bytes(cell):
    rows = align(cell.values() * DTYPE_BYTES[cell.dtype]) * cell.arrays()
    return rows + 2 * align(cell.rows * 4) + 2 * len(VECTORS) * align(cell.hidden * 4)


class Pool:
    """Made once and used for every cell, so that its pages are there before anything is timed. In huge pages where
    the system has them: with small ones the time of a cell depends on which the system happened to give."""

    def __init__(self, size):
        self.memory = mmap.mmap(-1, size)
        self.memory.madvise(mmap.MADV_HUGEPAGE)
        self.bytes = np.frombuffer(self.memory, np.uint8)
        self.bytes[:] = 0
        random = np.random.RandomState(1)
        self.sample = random.standard_normal(SAMPLE_VALUES).astype(np.float32)


class Operands:
    """Arrays by the names of nf_arguments' fields. Every one begins at a page, after the end of the one before it.

    A pass adds what it reads and writes beside the weight, and clear(), written() and expected(): what is checked,
    by name, as a contender has left it and in f64.
    """

    def __init__(self, pool, cell):
        self.cell = cell
        self.pool = pool
        self.used = 0
        self.arrays = {}
        self.vectors_f32 = {}
        # Of norms of norms: weights other than one of either sign let values shrink until they are denormal, and a
        # bias about as large as they are makes errors die out.
        self.add_vector("weight", np.sign(self.pool.sample[:cell.hidden]))

    def take(self, shape, dtype):
        count = int(np.prod(shape))
        taken = self.pool.bytes[self.used:self.used + count * dtype.itemsize].view(dtype).reshape(shape)
        self.used += align(count * dtype.itemsize)
        return taken

    def add_rows(self, name, seed=None):
        self.arrays[name] = self.take((self.cell.rows, self.cell.hidden), NUMPY_TYPES[self.cell.dtype])
        if seed is not None:
            sample = self.random(seed).astype(self.arrays[name].dtype)
            flat = self.arrays[name].reshape(-1)
            for start in range(0, flat.size, sample.size):
                part = flat[start:start + sample.size]
                part[:] = sample[:part.size]

    def add_vector(self, name, values=None):
        shape = (self.cell.hidden,)
        self.arrays[name] = self.take(shape, NUMPY_TYPES[self.cell.dtype])
        self.vectors_f32[name] = self.take(shape, NUMPY_TYPES["f32"])
        if values is not None:
            self.arrays[name][:] = values
            self.vectors_f32[name][:] = self.arrays[name].astype(np.float32)

    def random(self, seed):
        """SAMPLE_VALUES normal numbers."""
        return np.roll(self.pool.sample, 4099 * seed)

    def problem(self):
        cell = self.cell
        dtype = VALUES[f"NF_{cell.dtype.upper()}"]
        problem = TYPES["nf_problem"](op=VALUES[f"NF_{cell.op.upper()}"], dtype=dtype, output=dtype, weight=dtype,
                                      hidden=cell.hidden)
        if cell.op == "layer_norm":
            problem.bias = dtype
        if cell.residual:
            problem.residual = problem.sum = dtype
        setattr(problem, "pass", VALUES[f"NF_{cell.pass_.upper()}"])
        return problem

    def arguments(self):
        arguments = TYPES["nf_arguments"](rows=self.cell.rows, epsilon=EPSILON)
        field_types = dict(TYPES["nf_arguments"]._fields_)
        for name, values in self.arrays.items():
            is_rows = field_types[name] in (TYPES["nf_input"], TYPES["nf_output"])
            setattr(arguments, name, field_types[name](address(values), self.cell.hidden, 0) if is_rows
                    else address(values))
        return arguments


def address(values):
    return values.ctypes.data
