#pragma once

#include <string>

#include "autotune/database/database.h"

namespace normforge {

inline Hardware example_hardware() {
    return {.arch = "x86",
            .vendor = "amd",
            .model_name = "AMD EPYC 9654",
            .family = 25,
            .model = 17,
            .stepping = 1,
            .features = (1u << 9) - 1,  // up to avx512_zen4
            .l1d_bytes = 32 << 10,
            .l2_bytes = 1 << 20,
            .l3_bytes = 32 << 20,
            .line_bytes = 64,
            .usable_cores = 2};
}

inline std::string example_knobs(int number) {
    return "vector=16,unroll=" + std::to_string(number);
}

inline SessionKey example_key() {
    return {.problem = default_problem(NF_LAYER_NORM, 4096),
            .hardware = example_hardware(),
            .toolchain = {.halide = "21.0.0", .llvm = "23.1.1", .normforge = "0.1.0"},
            .generator = {.algorithm = "algorithm 1", .space = "space 1"},
            .target = "x86-64-linux-avx512_zen4",
            .reference = example_knobs(0)};
}

// Differs in every field from the trial of another number.
inline Trial example_trial(int number) {
    return {.knobs = example_knobs(number),
            .rows = number + 1,
            .status = TrialStatus::ok,
            .message = "message " + std::to_string(number),
            .object_hash = "object " + std::to_string(number),
            .code_hash = "code " + std::to_string(number),
            .output_digest = "output " + std::to_string(number),
            .error_ratio = 0.1 + number,
            .code_bytes = 1000 + number,
            .compile_ms = 12.3 + number,
            .samples = {{.block = 0, .position = 2, .calls = 64, .ns = 330.1 + number, .reference_ns = 340.2},
                        {.block = 3, .position = 1, .calls = 32, .ns = 335.3, .reference_ns = 345.7 + number}}};
}

}  // namespace normforge
