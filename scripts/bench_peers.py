#!/usr/bin/env python3
"""Times normforge's kernels beside those of other libraries.

bench_peers.sh prepares what this needs and calls it.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import sys

from peers import grid, machine, measure, summary

UNTUNED = "untuned"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small grid")
    parser.add_argument("--list-hidden", action="store_true", help="print the hidden sizes of the whole grid")
    parser.add_argument("--libraries", type=pathlib.Path, metavar="FOLDER", help="where bench/peers was built")
    parser.add_argument("--schedules", default=UNTUNED,
                        help=f"how ours were chosen, for the result; other than {UNTUNED}, such ones are measured too")
    parser.add_argument("--threads", metavar="LIST", help="numbers of threads; by default 1 and all")
    parser.add_argument("--passes", metavar="LIST", help="by default all")
    parser.add_argument("--ops", metavar="LIST", help="by default all")
    parser.add_argument("--dtypes", metavar="LIST", help="by default all")
    parser.add_argument("--rows", metavar="LIST", help="numbers of rows of the grid, and cold: from memory; by default all")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="where the result is written")
    parser.add_argument("--summary", type=pathlib.Path, metavar="FILE", help="only print the table of a result")
    return parser.parse_args()


def is_chosen(value, names):
    """names: with commas between, or none for all."""
    return not names or value in names.split(",")


def measure_in_process(cells, folder, tuned, threads, core):
    # Read when OpenMP is loaded. The count is of loops: its workers sleep after about half a millisecond.
    os.environ.update(OMP_NUM_THREADS=str(threads), GOMP_SPINCOUNT="30000")
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=measure.run, args=(cells, folder, tuned, threads, core, sender))
    process.start()
    sender.close()
    try:
        result = receiver.recv()
    except EOFError:
        process.join()
        sys.exit("error: the measuring process stopped")
    process.join()
    return result


def write_whole(file, text):
    """Under its name the file is there as a whole or not at all."""
    temporary = file.with_name(file.name + ".tmp")
    temporary.write_text(text)
    temporary.replace(file)


def format_document(document):
    """JSON with a line for each cell."""
    rows = ",\n".join(f"    {json.dumps(row)}" for row in document["rows"])
    rest = json.dumps({name: value for name, value in document.items() if name != "rows"}, indent=2)
    return f'{rest[:-2]},\n  "rows": [\n{rows}\n  ]\n}}\n'


def main():
    options = parse_arguments()
    if options.list_hidden:
        print(",".join(map(str, grid.HIDDEN_SIZES)))
        return
    if options.summary:
        summary.print_summary(json.loads(options.summary.read_text()))
        return
    here = machine.describe()
    cores = sorted(os.sched_getaffinity(0))
    thread_counts = (list(map(int, options.threads.split(","))) if options.threads
                     else sorted({1, len(cores)}))
    document = {"machine": here, "schedules": options.schedules, "versions": {}, "implementations": {}, "rows": []}
    for threads in thread_counts:
        cells = [cell for cell in grid.cells(options.quick, threads, here["last_cache_bytes"])
                 if is_chosen(cell.pass_, options.passes) and is_chosen(cell.op, options.ops)
                 and is_chosen(cell.dtype, options.dtypes) and is_chosen(grid.rows_name(cell), options.rows)]
        rows, versions, implementations = measure_in_process(
            cells, options.libraries, options.schedules != UNTUNED, threads, cores[-1])
        document["rows"] += rows
        document["versions"] = versions
        document["implementations"][str(threads)] = implementations
    write_whole(options.json, format_document(document))
    summary.print_summary(document)


if __name__ == "__main__":
    main()
