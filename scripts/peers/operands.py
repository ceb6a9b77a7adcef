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

VALUES, TYPES = read_header()


def align(count):
    return -(-count // PAGE) * PAGE


def pool_bytes(cell):
    rows = align(cell.values() * DTYPE_BYTES[cell.dtype]) * (4 if cell.residual else 2)
    return rows + 6 * align(cell.hidden * 4)


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
    """Every array begins at a page, after the end of the one before it."""

    def __init__(self, pool, cell):
        self.cell = cell
        self.pool = pool
        self.used = 0
        dtype = NUMPY_TYPES[cell.dtype]
        shape = (cell.rows, cell.hidden)
        self.x = self.make(shape, dtype, 0)
        self.residual = self.make(shape, dtype, 1) if cell.residual else None
        self.y = self.make(shape, dtype)
        self.sum = self.make(shape, dtype) if cell.residual else None
        # Of norms of norms: weights other than one of either sign let values shrink until they are denormal, and a
        # bias about as large as they are makes errors die out.
        self.weight = self.make((cell.hidden,), dtype)
        self.weight[:] = np.sign(self.pool.sample[:cell.hidden])
        self.bias = self.make((cell.hidden,), dtype, 2, 0.5) if cell.op == "layer_norm" else None
        self.weight_f32 = self.make_f32(self.weight)
        self.bias_f32 = self.make_f32(self.bias) if self.bias is not None else None

    def take(self, shape, dtype):
        count = int(np.prod(shape))
        taken = self.pool.bytes[self.used:self.used + count * dtype.itemsize].view(dtype).reshape(shape)
        self.used += align(count * dtype.itemsize)
        return taken

    def make(self, shape, dtype, seed=None, scale=1.0):
        taken = self.take(shape, dtype)
        if seed is not None:
            sample = (np.roll(self.pool.sample, 4099 * seed) * np.float32(scale)).astype(dtype)
            flat = taken.reshape(-1)
            for start in range(0, flat.size, sample.size):
                part = flat[start:start + sample.size]
                part[:] = sample[:part.size]
        return taken

    def make_f32(self, values):
        taken = self.take(values.shape, NUMPY_TYPES["f32"])
        taken[:] = values.astype(np.float32)
        return taken

    def problem(self):
        cell = self.cell
        dtype = VALUES[f"NF_{cell.dtype.upper()}"]
        problem = TYPES["nf_problem"](op=VALUES[f"NF_{cell.op.upper()}"], dtype=dtype, output=dtype, weight=dtype,
                                      hidden=cell.hidden)
        if self.bias is not None:
            problem.bias = dtype
        if cell.residual:
            problem.residual = problem.sum = dtype
        return problem

    def arguments(self):
        hidden = self.cell.hidden
        arguments = TYPES["nf_arguments"](rows=self.cell.rows, epsilon=EPSILON)
        arguments.x = TYPES["nf_input"](address(self.x), hidden, 0)
        arguments.y = TYPES["nf_output"](address(self.y), hidden, 0)
        arguments.weight = address(self.weight)
        arguments.bias = address(self.bias)
        if self.cell.residual:
            arguments.residual = TYPES["nf_input"](address(self.residual), hidden, 0)
            arguments.sum = TYPES["nf_output"](address(self.sum), hidden, 0)
        return arguments


def address(values):
    return None if values is None else values.ctypes.data


def pointer(values):
    return ctypes.c_void_p(address(values))
