#!/usr/bin/env python3
"""Writes the jumps that bench/peers/onednn_in_pytorch.cpp needs to call the oneDNN within PyTorch's library.

Arguments: the program nm, libtorch_cpu.so, the assembly file to write. For x86-64.
"""

import pathlib
import re
import subprocess
import sys


def find_functions(nm, library):
    """Address of each function of oneDNN's C interface: those that start with dnnl_, clones left out."""
    lines = subprocess.run([nm, library], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^([0-9a-f]+) [tT] (dnnl_\w+)$", lines, re.MULTILINE)
    return {name: int(address, 16) for address, name in found}


def write_jumps(functions, file):
    places = "\n".join(f"    .quad {address:#x}" for address in functions.values())
    jumps = "\n".join(f"    .globl {name}\n    .hidden {name}\n"
                      f"{name}:\n    jmp *{8 * index}+normforge_onednn_places(%rip)"
                      for index, name in enumerate(functions))
    file.write_text(f"""    .data
    .globl normforge_onednn_places, normforge_onednn_count
    .hidden normforge_onednn_places, normforge_onednn_count
    .balign 8
normforge_onednn_places:
{places}
normforge_onednn_count:
    .quad {len(functions)}
    .text
{jumps}
    .section .note.GNU-stack,"",@progbits
""")


def main():
    nm, library, file = sys.argv[1:]
    functions = find_functions(nm, library)
    if "dnnl_primitive_execute" not in functions:
        sys.exit(f"error: oneDNN's functions are not among the symbols of {library}")
    write_jumps(functions, pathlib.Path(file))


if __name__ == "__main__":
    main()
