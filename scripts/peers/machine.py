"""What the machine is: its caches, its cores, its instructions."""

import os
import pathlib
import platform
import re

# Instructions that kernels for norms are written with, as the kernel names them.
KNOWN_INSTRUCTIONS = ["sse4_1", "avx", "f16c", "fma", "avx2", "avx_vnni", "avx512f", "avx512_bf16", "avx512_fp16",
                      "amx_bf16", "neon", "asimd", "sve", "sve2"]


def cache_bytes():
    """Bytes of the caches of data that the first core reaches, by level."""
    sizes = {}
    for index in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        if (index / "type").read_text().strip() != "Instruction":
            number, unit = re.fullmatch(r"(\d+)([KMG]?)", (index / "size").read_text().strip()).groups()
            sizes[int((index / "level").read_text())] = int(number) * 1024 ** " KMG".index(unit or " ")
    if 2 not in sizes:
        raise RuntimeError("the sizes of the caches are not in /sys/devices/system/cpu")
    return sizes


def describe():
    fields = dict(re.findall(r"^(\w[\w ]*?)\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE))
    flags = fields.get("flags", fields.get("Features", "")).split()
    caches = cache_bytes()
    return {
        "cpu": fields.get("model name", platform.machine()),
        "family": fields.get("cpu family"),
        "model": fields.get("model"),
        "isa": [name for name in KNOWN_INSTRUCTIONS if name in flags],
        "cores": len(os.sched_getaffinity(0)),
        "second_cache_bytes": caches[2],
        "last_cache_bytes": caches[max(caches)],
        "system": platform.platform(),
    }
