"""Contenders that are shared libraries with the functions of bench/peers/peer.h."""

import ctypes

from peers.operands import address


class Vectors(ctypes.Structure):
    """peer_vectors of peer.h."""
    _fields_ = [(name, ctypes.c_void_p) for name in ("weight", "bias", "dweight", "dbias")]


class NativeLibrary:
    def __init__(self, file):
        library = ctypes.CDLL(str(file))
        self.prepare = library.peer_prepare
        self.prepare.restype = ctypes.c_void_p
        self.calls_of_unit = library.peer_calls_of_unit
        self.calls_of_unit.restype = ctypes.c_int64
        self.calls_of_unit.argtypes = [ctypes.c_void_p]
        self.run = library.peer_run
        self.run.restype = None
        self.run.argtypes = [ctypes.c_void_p, ctypes.c_int64]
        self.release = library.peer_release
        self.release.restype = None
        self.release.argtypes = [ctypes.c_void_p]
        self.implementation = library.peer_implementation
        self.implementation.restype = ctypes.c_char_p
        self.implementation.argtypes = [ctypes.c_void_p]
        library.peer_version.restype = ctypes.c_char_p
        self.version = library.peer_version().decode()

    def contender(self, operands):
        """None where the library has no such operation, pass, type or number of threads."""
        vectors = Vectors(**{name: address(values) for name, values in operands.vectors_f32.items()})
        prepared = self.prepare(ctypes.byref(operands.problem()), ctypes.byref(operands.arguments()),
                                ctypes.byref(vectors), operands.cell.threads)
        return NativeContender(self, prepared) if prepared else None


class NativeContender:
    chained = 1

    def __init__(self, library, prepared):
        self.library = library
        self.prepared = prepared
        self.calls_of_unit = library.calls_of_unit(prepared)
        self.implementation = library.implementation(prepared).decode()
        self.run_units = library.run

    def run(self, units):
        self.run_units(self.prepared, units)

    def release(self):
        self.library.release(self.prepared)
