// What emit()'s kernels make of inputs on which others failed, against exact values.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "autotune/measure/loaded_kernel.h"
#include "autotune/measure/test_rows.h"
#include "examples/npz.h"
#include "generators/emit.h"
#include "runtime/cpu_features.h"
#include "runtime/reference.h"
#include "schedules/space.h"
#include "schedules/target.h"
#include "tests/f32_calls.h"
#include "tests/kernel_test.h"
#include "tests/pinned_rows.h"

namespace normforge {
namespace {

// Half a unit in the last place of 1.
constexpr double kRounding = 0x1p-24;

struct Rows {
    NormProblem problem;
    std::vector<float> x;
    std::vector<float> weight;  // as the problem says, or empty
    std::vector<float> bias;
    float epsilon;

    nf_arguments arguments(float *y) const {
        const auto rows = static_cast<int64_t>(x.size()) / problem.hidden;
        return f32_arguments(rows, problem.hidden, x.data(), y, weight.data(), bias.data(), epsilon);
    }
};

Rows plain_rows(nf_op op, int64_t hidden, const std::vector<float> &x, float epsilon) {
    return {f32_problem(op, NF_NONE, NF_NONE, hidden), x, {}, {}, epsilon};
}

std::vector<double> exact(const Rows &rows) {
    return reference_norm(rows.problem, rows.arguments(nullptr)).y;
}

double largest_error(const std::vector<float> &y, const std::vector<double> &expected) {
    double largest = 0;
    for (size_t index = 0; index < y.size(); index++) {
        const double error = std::abs(y[index] - expected[index]);
        largest = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(largest, error);
    }
    return largest;
}

// The heuristic's kernels. With kTwoPass, layer norm's are those of two passes; rms_norm's are the same with
// either.
class Numerics : public testing::TestWithParam<std::tuple<Machine, Sums>> {
protected:
    void SetUp() override {
        if (needed_cpu_features(target) & ~cpu_features()) {
            GTEST_SKIP() << "this CPU cannot run " << target_name(target);
        }
    }

    LoadedKernel make_kernel(const NormProblem &problem) const {
        KernelSpec spec{problem, heuristic(problem, target), target};
        if (spec.knobs.sums == kRowPivot) {
            spec.knobs.sums = std::get<Sums>(GetParam());
        }
        return {problem, emit(spec, EmitForm::object), kernel_symbol(spec)};
    }

    std::vector<float> run(const Rows &rows) const {
        const LoadedKernel kernel = make_kernel(rows.problem);
        std::vector<float> y(rows.x.size());
        const nf_arguments arguments = rows.arguments(y.data());
        EXPECT_EQ(nf_run(&kernel.kernel(), &arguments), NF_SUCCESS);
        return y;
    }

    const Halide::Target target = kernel_target(std::get<Machine>(GetParam()).target);
};

// What users get who do not tune.
class UntunedNumerics : public Numerics {};

std::string name_of(const testing::TestParamInfo<Numerics::ParamType> &test) {
    const auto &[machine, sums] = test.param;
    return std::string(machine.name) + (sums == kTwoPass ? "_two_pass" : "");
}

INSTANTIATE_TEST_SUITE_P(All, Numerics,
                         testing::Combine(testing::ValuesIn(kMachines), testing::Values(kRowPivot, kTwoPass)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, UntunedNumerics,
                         testing::Combine(testing::ValuesIn(kMachines), testing::Values(kRowPivot)), name_of);

TEST_P(Numerics, PinnedRowsAreRightToSixDigits) {
    for (const PinnedRow &pinned : pinned_rows()) {
        SCOPED_TRACE(pinned.name);
        const Rows rows = plain_rows(pinned.op, static_cast<int64_t>(pinned.x.size()), pinned.x, pinned.epsilon);
        const std::vector<float> y = run(rows);
        for (const auto &[index, expected] : pinned.y) {
            EXPECT_NEAR(y.at(index < 0 ? y.size() + index : index), expected,
                        1e-6 * std::max(1.0, std::abs(expected)))
                << "at " << index;
        }
    }
}

// Lanes, vectors and a tail of unequal numbers of values: all zeros but the last (mean 1, variance hidden - 1),
// and a ramp, where every lane has another pivot (variance (hidden^2 - 1) / 12). Oneflow-Inc/oneflow#7471, #6215.
TEST_P(Numerics, UnequalPartsAreMergedByTheirCounts) {
    for (int hidden : {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 129, 1023, 8193}) {
        SCOPED_TRACE(hidden);
        const std::vector<float> ramp = make_row(hidden, [](int i) { return i; });
        std::vector<float> spike(hidden, 0.0f);
        spike.back() = static_cast<float>(hidden);
        const double largest = hidden - 1;

        const std::vector<float> of_spike = run(plain_rows(NF_LAYER_NORM, hidden, spike, 1e-5f));
        EXPECT_NEAR(of_spike.front(), -1 / std::sqrt(largest + 1e-5), 1e-6);
        EXPECT_NEAR(of_spike.back(), largest / std::sqrt(largest + 1e-5), 1e-6 * std::sqrt(largest));

        const std::vector<float> of_ramp = run(plain_rows(NF_LAYER_NORM, hidden, ramp, 1e-5f));
        const double end = largest / 2 / std::sqrt(largest * (hidden + 1) / 12 + 1e-5);
        EXPECT_NEAR(of_ramp.front(), -end, 1e-6);
        EXPECT_NEAR(of_ramp.back(), end, 1e-6);
    }
}

// tenstorrent/tt-metal#49600, #23599, Xilinx/mlir-air#1679, pytorch/pytorch#143182.
TEST_P(Numerics, LongestRowIsRightToSixDigits) {
    const std::vector<float> ones(NF_MAX_HIDDEN, 1.0f);
    const std::vector<float> y = run(plain_rows(NF_RMS_NORM, NF_MAX_HIDDEN, ones, 1e-6f));
    EXPECT_NEAR(y.front(), 0.9999995, 1e-6);
    EXPECT_EQ(std::ranges::count(y, y.front()), NF_MAX_HIDDEN);
}

TEST_P(Numerics, MillionNormalValuesAreRightToSixDigits) {
    for (nf_op op : {NF_LAYER_NORM, NF_RMS_NORM}) {
        const int64_t hidden = (1 << 20) + 1;
        const Rows rows = plain_rows(op, hidden, normal_values(hidden, 100, 1, 1), 1e-5f);
        EXPECT_LE(largest_error(run(rows), exact(rows)), 1e-6) << field_text(op);
    }
}

// More rows than a 16-bit counter holds: NVIDIA/apex#411.
TEST_P(Numerics, EveryOneOf65537RowsIsNormalised) {
    const int64_t rows = 65537;
    std::vector<float> x;
    for (int64_t row = 0; row < rows; row++) {
        x.insert(x.end(), {static_cast<float>(row % 7), 1, -1, 2});
    }
    const Rows all = plain_rows(NF_LAYER_NORM, 4, x, 1e-5f);
    const std::vector<float> y = run(all);
    EXPECT_LE(largest_error(y, exact(all)), 1e-6);
    EXPECT_NEAR(y[4 * 65535], 0.229415, 1e-6);
    EXPECT_NEAR(y[4 * 65536 + 2], -1.632988, 1e-6);
}

// Rows that lie apart, and values before, between and behind them that nobody may write, with any tail:
// ROCm/aiter#5044, #5290, tile-ai/tilelang-ascend#890.
TEST_P(Numerics, NothingBesideTheRowsIsWritten) {
    constexpr float kCanary = -12345.5f;
    constexpr int64_t kRows = 7;
    for (int64_t hidden : {1, 7, 31, 33, 513, 769}) {
        SCOPED_TRACE(hidden);
        const int64_t stride = hidden + 1;
        const NormProblem problem = f32_problem(NF_RMS_NORM, NF_NONE, NF_NONE, hidden);
        const LoadedKernel kernel = make_kernel(problem);
        const std::vector<float> x = make_row(static_cast<int>(hidden), [](int i) { return 1 + i % 3; });
        nf_arguments arguments = f32_arguments(1, hidden, x.data(), nullptr, nullptr, nullptr, 1e-6f);
        const std::vector<double> expected = reference_norm(problem, arguments).y;
        arguments.x.row_stride = 0;
        arguments.rows = kRows;  // of one and the same input
        std::vector<float> first;
        for (int round = 0; round < 50; round++) {
            std::vector<float> y(kRows * stride + 1, kCanary);
            arguments.y = {y.data() + 1, stride, 0};
            ASSERT_EQ(nf_run(&kernel.kernel(), &arguments), NF_SUCCESS);
            first = round == 0 ? y : first;
            ASSERT_EQ(y, first) << "the values differ from run to run";
        }
        for (int64_t row = 0; row < kRows; row++) {
            const auto begin = first.begin() + 1 + row * stride;
            ASSERT_EQ(begin[-1], kCanary) << "before row " << row;
            ASSERT_LE(largest_error({begin, begin + hidden}, expected), 2e-7) << "in row " << row;
        }
        ASSERT_EQ(first.back(), kCanary);
    }
}

// halide/Halide#2498, #3813, #7242, #2538, #3609: compilers that take floats for reals lose NaNs.
TEST_P(Numerics, NotANumberMakesItsRowNotANumber) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (nf_op op : {NF_LAYER_NORM, NF_RMS_NORM}) {
        for (int64_t hidden : {3, 777}) {
            for (int64_t place : {int64_t{0}, hidden / 2, hidden - 1}) {
                std::vector<float> x = normal_values(3 * hidden, 0, 1, 1);
                x[hidden + place] = nan;  // in the middle row
                const std::vector<float> y = run(plain_rows(op, hidden, x, 1e-5f));
                for (int64_t index = 0; index < 3 * hidden; index++) {
                    ASSERT_EQ(std::isnan(y[index]), index / hidden == 1) << index << " of rows of " << hidden;
                }
            }
        }
    }
}

// DESIGN.md's table of largest errors for this form of the maths, 4096 values. Twice that is allowed: data differ.
struct TableRow {
    const char *name;
    double mean;
    double deviation;
    float first;  // replaces the first value of every row, if it is not 0
    bool weighted;
    double error;
};

constexpr TableRow kErrorTable[] = {{"mean 1e4, deviation 1", 1e4, 1, 0, false, 1.0e-6},
                                    {"mean 1e4, deviation 1e-2", 1e4, 1e-2, 0, false, 3e-7},
                                    {"all 14.1", 14.1, 0, 0, false, 0},
                                    {"first value 1e6", 0, 1, 1e6f, false, 7e-6},
                                    {"normal, with weights", 0, 1, 0, true, 2.0e-6}};

TEST_P(UntunedNumerics, ErrorsAreThoseOfTheDesign) {
    constexpr int64_t kHidden = 4096;
    constexpr int64_t kRows = 512;
    for (const TableRow &row : kErrorTable) {
        std::vector<float> x = normal_values(kRows * kHidden, row.mean, row.deviation, 1);
        for (int64_t begin = 0; begin < kRows * kHidden && row.first != 0; begin += kHidden) {
            x[begin] = row.first;
        }
        Rows rows = plain_rows(NF_LAYER_NORM, kHidden, x, 1e-5f);
        if (row.weighted) {
            rows.problem.weight = NF_F32;
            rows.weight = normal_values(kHidden, 0, 1, 2);
        }
        EXPECT_LE(largest_error(run(rows), exact(rows)), 2 * row.error) << row.name;
    }
}

// Inputs of real layers (tests/data/README.md): PyTorch's error there, and two roundings of the largest value,
// since both errors are of few values and partly chance: where one value is most of the variance, each value that
// its lane still adds rounds it once more.
TEST_P(UntunedNumerics, RealLayersComeOutAsExactAsPyTorchsOrMore) {
    const Npz archive(NORMFORGE_TEST_DATA "/norm_activations.npz");
    int layers = 0;
    for (const auto &[key, x] : archive.arrays()) {
        if (!key.ends_with("/x")) {
            continue;
        }
        SCOPED_TRACE(key);
        const std::string layer = key.substr(0, key.size() - 1);
        const bool centred = archive.arrays().contains(layer + "bias");
        Rows rows = {default_problem(centred ? NF_LAYER_NORM : NF_RMS_NORM, x.shape[1]), x.f32(),
                     archive.at(layer + "weight").f32(),
                     centred ? archive.at(layer + "bias").f32() : std::vector<float>(),
                     archive.at(layer + "eps").f32().front()};
        const std::vector<double> expected = exact(rows);
        const double largest =
            std::abs(*std::ranges::max_element(expected, {}, [](double y) { return std::abs(y); }));
        const double ours = largest_error(run(rows), expected);
        const double pytorchs = largest_error(archive.at(layer + "y_torch").f32(), expected);
        EXPECT_LE(ours, pytorchs + 2 * kRounding * largest);
        layers++;
    }
    EXPECT_GE(layers, 4);
}

}  // namespace
}  // namespace normforge
