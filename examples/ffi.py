"""A shared library of kernels from a language without C headers, here Python by ctypes: three functions, three
structures.

    normforge build --op layer_norm --hidden 384 --shared --name ffi_norms --out .
    python3 ffi.py ./libffi_norms.so
"""

import ctypes
import math
import sys
from ctypes import POINTER, byref, c_char_p, c_float, c_int, c_int64, c_void_p

NF_LAYER_NORM, NF_F32, NF_SUCCESS = 1, 1, 0
ROWS, HIDDEN, EPSILON = 3, 384, 1e-5


# As in normforge.h, whose enums are ints. Zero is a field's usual value, and ctypes begins with zeros.
class Problem(ctypes.Structure):
    _fields_ = [(name, c_int) for name in (
        "op", "pass_", "dtype", "output", "weight", "bias", "weight_offset", "epsilon_place", "normalised",
        "residual", "sum", "statistics", "saved_statistics", "scale", "unquantised", "portable")]
    _fields_ += [("hidden", c_int64)]


class Rows(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("row_stride", c_int64), ("group_stride", c_int64)]


class Arguments(ctypes.Structure):
    _fields_ = [("rows", c_int64), ("groups", c_int64), ("epsilon", c_float), ("scale", c_float),
                ("x", Rows), ("residual", Rows), ("weight", c_void_p), ("bias", c_void_p), ("y", Rows),
                ("sum", Rows), ("mean", c_void_p), ("rstd", c_void_p), ("scales", c_void_p), ("dy", Rows),
                ("dsum", Rows), ("dx", Rows), ("dresidual", Rows), ("dweight", c_void_p), ("dbias", c_void_p),
                ("workspace", c_void_p)]


def open_library(path):
    library = ctypes.CDLL(path)
    library.ffi_norms_library.restype = c_void_p
    library.nf_find.argtypes = [c_void_p, POINTER(Problem), POINTER(c_void_p)]
    library.nf_run.argtypes = [c_void_p, POINTER(Arguments)]
    library.nf_status_message.restype = c_char_p
    return library


def check(library, status):
    if status != NF_SUCCESS:
        raise RuntimeError(library.nf_status_message(status).decode())


def main():
    library = open_library(sys.argv[1])
    problem = Problem(op=NF_LAYER_NORM, dtype=NF_F32, output=NF_F32, weight=NF_F32, bias=NF_F32, hidden=HIDDEN)
    kernel = c_void_p()
    check(library, library.nf_find(library.ffi_norms_library(), byref(problem), byref(kernel)))

    x = (c_float * (ROWS * HIDDEN))(*(math.sin(i) for i in range(ROWS * HIDDEN)))
    y = (c_float * (ROWS * HIDDEN))()
    weight = (c_float * HIDDEN)(*(1 + i / HIDDEN for i in range(HIDDEN)))
    bias = (c_float * HIDDEN)(*(i / HIDDEN for i in range(HIDDEN)))
    arguments = Arguments(rows=ROWS, epsilon=EPSILON, weight=ctypes.addressof(weight), bias=ctypes.addressof(bias),
                          x=Rows(ctypes.addressof(x), HIDDEN), y=Rows(ctypes.addressof(y), HIDDEN))
    check(library, library.nf_run(kernel, byref(arguments)))

    largest = 0
    for start in range(0, ROWS * HIDDEN, HIDDEN):
        row = x[start:start + HIDDEN]
        mean = math.fsum(row) / HIDDEN
        deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in row) / HIDDEN + EPSILON)
        for i in range(HIDDEN):
            wanted = (row[i] - mean) / deviation * weight[i] + bias[i]
            largest = max(largest, abs(y[start + i] - wanted))
    print(f"largest error {largest:.2g}")
    # |y| is below 4, and f32 has 24 bits.
    return largest > 4 * 2 ** -22


if __name__ == "__main__":
    sys.exit(main())
