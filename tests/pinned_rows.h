#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/normforge.h"

namespace normforge {

// A row, normalised without weight and bias, on which public norm kernels failed: large means, sums that overflow,
// unequal parts, long rows. Some of its right values, to seven digits, so that neither the oracle nor the kernels
// that it judges can change unseen.
struct PinnedRow {
    std::string name;
    nf_op op;
    std::vector<float> x;
    float epsilon;
    std::vector<std::pair<int64_t, double>> y;  // by index; a negative one counts from the end
};

inline std::vector<float> make_row(int hidden, const std::function<double(int)> &value) {
    std::vector<float> x(hidden);
    for (int index = 0; index < hidden; index++) {
        x[index] = static_cast<float>(value(index));
    }
    return x;
}

inline const std::vector<PinnedRow> &pinned_rows() {
    static const std::vector<PinnedRow> rows = {
        // microsoft/onnxruntime#28463, #21935, NVIDIA/trt-samples-for-hackathon-cn#88
        {"mean_50000",
         NF_LAYER_NORM,
         make_row(8, [](int i) { return 50000 + 0.5 * i; }),
         1e-5f,
         {{0, -1.5275194}, {1, -1.0910853}, {2, -0.6546512}, {3, -0.2182171}, {4, 0.2182171}, {7, 1.5275194}}},
        {"one_differs_in_4099",
         NF_LAYER_NORM,
         make_row(4099, [](int i) { return i == 4098 ? 332 : 333; }),
         1e-5f,
         {{0, 0.0153105}, {4097, 0.0153105}, {-1, -62.742326}}},
        // tracel-ai/burn#5607, microsoft/onnxruntime#31973, pytorch/pytorch#51102, #40302
        {"mean_4096_and_tiny_steps",
         NF_LAYER_NORM,
         make_row(32, [](int i) { return 4096 + i / 1024.0; }),
         1e-5f,
         {{0, -1.5841438}, {31, 1.5841438}, {16, 1.5841438 / 31}}},
        {"mean_1000_and_tiny_steps",
         NF_LAYER_NORM,
         make_row(16, [](int i) { return 1000 + i / 1024.0; }),
         1e-5f,
         {{0, -1.3313334}, {15, 1.3313334}}},
        // tenstorrent/tt-metal#55159
        {"squares_beyond_f32", NF_RMS_NORM, make_row(512, [](int) { return 1e25; }), 1e-6f, {{0, 1}, {-1, 1}}},
        {"squares_below_f32", NF_RMS_NORM, make_row(4, [](int) { return 1e-30; }), 0, {{0, 1}, {3, 1}}},
        {"variance_beyond_f32",
         NF_LAYER_NORM,
         make_row(8, [](int i) { return i % 2 ? 2e20 : 1e20; }),
         1e-5f,
         {{0, -1}, {7, 1}}},
        // apple/coremltools#2821, #2822
        {"one_outlier_and_large_epsilon",
         NF_RMS_NORM,
         make_row(1024, [](int i) { return i == 5 ? 64 : 0.01; }),
         1e-3f,
         {{5, 31.9956013}, {0, 0.0049993}}},
        {"zeros", NF_RMS_NORM, make_row(1024, [](int) { return 0; }), 1e-3f, {{0, 0}, {-1, 0}}},
        // tenstorrent/tt-metal#49600, #23599, Xilinx/mlir-air#1679, pytorch/pytorch#143182
        {"million_of_a_tenth", NF_RMS_NORM, make_row(1 << 20, [](int) { return 0.1; }), 1e-6f, {{0, 0.9999500}}},
        // Oneflow-Inc/oneflow#7471, #6215
        {"only_the_tail_counts",
         NF_LAYER_NORM,
         make_row(9, [](int i) { return i == 8 ? 9 : 0; }),
         1e-5f,
         {{0, -0.3535532}, {7, -0.3535532}, {8, 2.8284254}}},
        {"nine_steps",
         NF_LAYER_NORM,
         make_row(9, [](int i) { return i; }),
         1e-5f,
         {{0, -1.5491922}, {8, 1.5491922}}},
        // ROCm/aiter#5044, #5290, tile-ai/tilelang-ascend#890
        {"hidden_33",
         NF_RMS_NORM,
         make_row(33, [](int i) { return 1 + i % 3; }),
         1e-6f,
         {{0, 0.4629100}, {1, 0.9258200}, {2, 1.3887300}, {-1, 1.3887300}}},
        // halide/Halide#2498, #3813, #7242, #2538, #3609
        {"all_equal", NF_LAYER_NORM, make_row(777, [](int) { return 55.3; }), 1e-5f, {{0, 0}, {-1, 0}}},
        {"one_value", NF_LAYER_NORM, {3}, 1e-5f, {{0, 0}}}};
    return rows;
}

}  // namespace normforge
