#pragma once

#include <cstdint>

#include "runtime/normforge.h"

// What each of the libraries that scripts/bench_peers.py loads has: one contender, timed beside the others on the
// same operands. Preparing may allocate; what is timed is peer_run alone.

#define NORMFORGE_PEER extern "C" __attribute__((visibility("default")))

// Null where the contender has no such operation, type or number of threads. The arguments' buffers outlive the
// result; rows follow one another without a gap. weight and bias are those of the arguments, in f32: for
// contenders that take these faster or alone.
NORMFORGE_PEER void *peer_prepare(const nf_problem *problem, const nf_arguments *arguments, const float *weight,
                                  const float *bias, int threads);

// Norms of all rows that one unit of peer_run computes, so that a fixed cost can be spread over several.
NORMFORGE_PEER int64_t peer_calls_of_unit(const void *prepared);

NORMFORGE_PEER void peer_run(void *prepared, int64_t units);

NORMFORGE_PEER void peer_release(void *prepared);

// The version, and of what is prepared the code that was chosen, where the contender tells; else empty.
NORMFORGE_PEER const char *peer_version();
NORMFORGE_PEER const char *peer_implementation(const void *prepared);
