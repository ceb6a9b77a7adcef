"""A generated shared library of kernels, called from Python. The C structures are read from normforge.h, so that
they are declared there alone."""

import ctypes
import pathlib
import re

HEADER = pathlib.Path(__file__).resolve().parent.parent / "runtime" / "normforge.h"
SCALAR_TYPES = {"int64_t": ctypes.c_int64, "float": ctypes.c_float, "int": ctypes.c_int}


def read_header():
    """Values of all enumerators, and a ctypes.Structure of each struct whose members are known."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    values, types = {}, dict(SCALAR_TYPES)
    for body, name in re.findall(r"typedef enum \w+ NF_ANY_NUMBER \{(.*?)\} (\w+);", text, re.DOTALL):
        types[name] = ctypes.c_int
        last = -1
        for enumerator in filter(None, map(str.strip, body.split(","))):
            enumerator_name, _, value = map(str.strip, enumerator.partition("="))
            last = values[enumerator_name] = int(value) if value else last + 1
    for name in re.findall(r"typedef void \(\*(\w+)\)", text):
        types[name] = ctypes.c_void_p
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", text, re.DOTALL):
        fields = []
        for member_type, pointer, member in re.findall(r"(?:const\s+)?(\w+)\s+(\**)(\w+);", body):
            fields.append((member, ctypes.c_void_p if pointer else types[member_type]))
        types[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
    return values, types


class NormforgeLibrary:
    def __init__(self, file, name):
        self.library = ctypes.CDLL(str(file))
        self.values, self.types = read_header()
        self.library.nf_status_message.restype = ctypes.c_char_p
        library_of = getattr(self.library, f"{name}_library")
        library_of.restype = ctypes.c_void_p
        self.table = ctypes.c_void_p(library_of())

    def check(self, status):
        if status != self.values["NF_SUCCESS"]:
            raise RuntimeError(self.library.nf_status_message(status).decode())

    def run_f32(self, op, x, y, epsilon):
        """Forward, without weight and bias, on contiguous rows."""
        f32 = self.values["NF_F32"]
        op_value = self.values[f"NF_{op.upper()}"]
        problem = self.types["nf_problem"](op=op_value, dtype=f32, output=f32, hidden=x.shape[1])
        kernel = ctypes.c_void_p()
        self.check(self.library.nf_find(self.table, ctypes.byref(problem), ctypes.byref(kernel)))
        arguments = self.types["nf_arguments"](rows=x.shape[0], epsilon=epsilon)
        arguments.x = self.types["nf_input"](x.ctypes.data, x.shape[1], 0)
        arguments.y = self.types["nf_output"](y.ctypes.data, x.shape[1], 0)
        self.check(self.library.nf_run(kernel, ctypes.byref(arguments)))
