#pragma once

#include <cstdint>

#include "runtime/normforge.h"

// What each of the libraries that scripts/bench_peers.py loads has: one contender, timed beside the others on the
// same operands. Preparing may allocate; what is timed is peer_run alone.

#define NORMFORGE_PEER extern "C" __attribute__((visibility("default")))

// The arguments' vectors in f32, for contenders that take these faster or alone. Null where the problem has none.
typedef struct peer_vectors {
    const float *weight;
    const float *bias;
    float *dweight;  // written instead of the arguments'
    float *dbias;
} peer_vectors;

// Null where the contender has no such operation, pass, type or number of threads. The buffers of arguments and
// vectors outlive the result; rows follow one another without a gap.
NORMFORGE_PEER void *peer_prepare(const nf_problem *problem, const nf_arguments *arguments,
                                  const peer_vectors *vectors, int threads);

// Passes over all rows that one unit of peer_run computes, so that a fixed cost can be spread over several.
NORMFORGE_PEER int64_t peer_calls_of_unit(const void *prepared);

NORMFORGE_PEER void peer_run(void *prepared, int64_t units);

NORMFORGE_PEER void peer_release(void *prepared);

// The version, and of what is prepared the code that was chosen, where the contender tells; else empty.
NORMFORGE_PEER const char *peer_version();
NORMFORGE_PEER const char *peer_implementation(const void *prepared);
