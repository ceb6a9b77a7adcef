"""Measures the cells of one number of threads, in a process of its own."""

import collections
import contextlib
import os
import sys

# ours first, then the peers, then the copies; the files are those of bench/peers/CMakeLists.txt.
LIBRARIES = {
    "ours": "ours",
    "untuned": "untuned",
    "onednn": "onednn_pytorch",
    "onednn_debian": "onednn_debian",
    "pytorch": "pytorch",
    "ggml": "ggml",
    "halide_adams2019": "autoscheduled",
    "memcpy": "memcpy",
    "streaming": "streaming",
}
PROGRESS_CELLS = 50
PRIORITY = -10  # where the user may
COPIES = ["memcpy", "streaming"]


def load_contenders(folder, tuned):
    """Where ours are tuned, untuned ones are a contender too."""
    # Before the others: they use its OpenMP, and one of them is in its library.
    import torch  # noqa: F401

    from peers.native import NativeLibrary
    from peers.onnxruntime_peer import OnnxRuntime
    libraries = {name: NativeLibrary(folder / f"libpeer_{file}.so") for name, file in LIBRARIES.items()
                 if name != "untuned" or tuned}
    libraries["onnxruntime"] = OnnxRuntime()
    return libraries


def prepare(libraries, operands):
    """The contenders that can do the cell, each checked."""
    from peers import reference
    contenders = {}
    for name, library in libraries.items():
        contender = library.contender(operands)
        if contender is None:
            continue
        contenders[name] = contender
        operands.clear()
        contender.run(1)
        if name not in COPIES:
            reference.check(name, operands, contender.chained)
    return contenders


def measure_cells(cells, folder, tuned, threads, rows):
    """Appends a row of the result for each cell to rows. Returns the versions and the chosen implementations."""
    import torch

    from peers import grid, operands, timing
    from peers.backward import BackwardOperands
    from peers.forward import ForwardOperands
    operands_of_pass = {"forward": ForwardOperands, "backward": BackwardOperands}
    libraries = load_contenders(folder, tuned)
    torch.set_num_threads(threads)
    implementations = {name: collections.Counter() for name in libraries if name not in COPIES}
    pool = operands.Pool(max(map(operands.pool_bytes, cells)))
    for index, cell in enumerate(cells):
        if index % PROGRESS_CELLS == 0:
            print(f"{threads} thread{'s' * (threads > 1)}: {index} of {len(cells)} cells", file=sys.stderr)
        contenders = prepare(libraries, operands_of_pass[cell.pass_](pool, cell))
        times = timing.measure(contenders, threads)
        for name, contender in contenders.items():
            if name in implementations:
                implementations[name][contender.implementation] += 1
            contender.release()
        rows.append({
            **grid.row_of(cell),
            "ours_ns": times.pop("ours"),
            "copy_ns": min(times.pop(name) for name in COPIES),
            "peers": times,
        })
    return {name: libraries[name].version for name in implementations}, implementations


def run(cells, folder, tuned, threads, core, connection):
    """The main function of the process; the environment is set before it starts."""
    # Threads that wait for one another lose whole time slices to any other process.
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
    if threads == 1:
        os.sched_setaffinity(0, {core})
    rows = []
    versions, implementations = measure_cells(cells, folder, tuned, threads, rows)
    connection.send((rows, versions, implementations))
