"""Times of all contenders of a cell, in interleaved blocks."""

import gc
import math
import statistics
import time

BLOCK_NS = 400_000
ROUNDS = 11
LONG_ROUNDS = 7  # where one unit of most contenders is longer than a block
SLOW_ROUNDS = 3  # of contenders that are far from the fastest and would take most of the time
SLOW_TIMES = 4
LONG_NS = 3_000_000
# Workers of OpenMP wait actively for a while after a parallel region. They must be asleep when others are timed.
SETTLE_S = 0.003


def time_units(contender, units):
    start = time.perf_counter_ns()
    contender.run(units)
    return time.perf_counter_ns() - start


def units_of_block(contender):
    """And the time of a unit, roughly. The contender is warm when this returns."""
    units, elapsed = 1, time_units(contender, 1)
    while elapsed < BLOCK_NS / 2:
        units = max(units + 1, min(units * 16, math.ceil(units * BLOCK_NS / max(elapsed, 1))))
        elapsed = time_units(contender, units)
    return max(1, round(units * BLOCK_NS / elapsed)), elapsed / units


def measure(contenders, threads):
    """Median time in ns of one call of each contender."""
    plans = {name: units_of_block(contender) for name, contender in contenders.items()}
    calls = {name: contender.calls_of_unit for name, contender in contenders.items()}
    fastest = min(unit_ns / calls[name] for name, (_, unit_ns) in plans.items())

    def rounds_of(name):
        unit_ns = plans[name][1]
        if unit_ns < LONG_NS:
            return ROUNDS
        return SLOW_ROUNDS if unit_ns / calls[name] > SLOW_TIMES * fastest else LONG_ROUNDS

    samples = {name: [] for name in contenders}
    gc.disable()
    for number in range(ROUNDS):
        order = list(contenders)
        for name in order if number % 2 == 0 else reversed(order):
            if number >= rounds_of(name):
                continue
            units = plans[name][0]
            if threads > 1:
                time.sleep(SETTLE_S)
            if plans[name][1] < LONG_NS:
                # Brings its own arrays back into the caches. Threads that slept are awake after a block of it, as
                # they are in a program whose operators follow one another.
                contenders[name].run(units if threads > 1 else 1)
            samples[name].append(time_units(contenders[name], units) / (units * calls[name]))
    gc.enable()
    return {name: statistics.median(times) for name, times in samples.items()}
