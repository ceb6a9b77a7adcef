#include <cstdio>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <string>

#include "runtime/cpu_features.h"
#include "runtime/kernel_table.h"
#include "runtime/norm_problem.h"

namespace normforge {
namespace {

constexpr uint64_t kNoCpuHasThis = uint64_t{1} << 62;

void do_nothing(const nf_arguments *) {}

const nf_variant kVariants[] = {{do_nothing, 0, "few_rows", "vector=8", "heuristic"},
                                {do_nothing, 64, "many_rows", "vector=16", "tuned: by hand"}};

nf_kernel make_kernel(nf_op op, int64_t hidden, uint64_t features, const char *target) {
    return {default_problem(op, hidden), features, target, std::size(kVariants), kVariants};
}

const nf_kernel kKernels[] = {
    make_kernel(NF_LAYER_NORM, 384, kNoCpuHasThis, "of the future"),
    make_kernel(NF_LAYER_NORM, 384, cpu_features(), "of this CPU"),
    make_kernel(NF_LAYER_NORM, 384, 0, "of any CPU"),
    make_kernel(NF_RMS_NORM, 384, cpu_features() | kNoCpuHasThis, "of the future"),
    make_kernel(NF_RMS_NORM, 576, 0, "of any CPU"),
};
const nf_library kLibrary = {std::size(kKernels), kKernels};

struct Search {
    const char *name;
    NormProblem problem;
    nf_status status;
    int found;  // index in kKernels
};

class Find : public testing::TestWithParam<Search> {};

TEST_P(Find, TakesTheFirstThatThisCpuRuns) {
    const nf_kernel *kernel = &kKernels[0];
    EXPECT_EQ(nf_find(&kLibrary, &GetParam().problem, &kernel), GetParam().status);
    EXPECT_EQ(kernel, GetParam().status == NF_SUCCESS ? &kKernels[GetParam().found] : nullptr);
}

NormProblem changed(NormProblem problem, void (*change)(NormProblem &)) {
    change(problem);
    return problem;
}

INSTANTIATE_TEST_SUITE_P(
    All, Find,
    testing::Values(
        Search{"best_for_this_cpu", default_problem(NF_LAYER_NORM, 384), NF_SUCCESS, 1},
        Search{"only_one", default_problem(NF_RMS_NORM, 576), NF_SUCCESS, 4},
        Search{"only_for_other_cpus", default_problem(NF_RMS_NORM, 384), NF_ERROR_CPU_LACKS_FEATURES, -1},
        Search{"other_hidden", default_problem(NF_LAYER_NORM, 576), NF_ERROR_NO_KERNEL, -1},
        Search{"other_operands",
               changed(default_problem(NF_RMS_NORM, 576), [](NormProblem &p) { p.weight = NF_NONE; }),
               NF_ERROR_NO_KERNEL, -1},
        Search{"other_type", default_problem(NF_RMS_NORM, 576, NF_BF16), NF_ERROR_NO_KERNEL, -1},
        Search{"other_option",
               changed(default_problem(NF_RMS_NORM, 576), [](NormProblem &p) { p.portable = NF_YES; }),
               NF_ERROR_NO_KERNEL, -1},
        Search{"fields_that_do_not_fit",
               changed(default_problem(NF_RMS_NORM, 576), [](NormProblem &p) { p.sum = NF_F32; }),
               NF_ERROR_SUM_WITHOUT_RESIDUAL, -1},
        Search{"hidden_zero", default_problem(NF_LAYER_NORM, 0), NF_ERROR_BAD_HIDDEN, -1},
        Search{"unknown_op", default_problem(static_cast<nf_op>(3), 384), NF_ERROR_UNKNOWN_OP, -1},
        Search{"unknown_dtype", default_problem(NF_LAYER_NORM, 384, NF_NONE), NF_ERROR_UNKNOWN_DTYPE, -1}),
    [](const auto &test) { return std::string(test.param.name); });

TEST(FindNull, IsRefusedAndSetsTheResultToNull) {
    const NormProblem problem = default_problem(NF_LAYER_NORM, 384);
    const nf_kernel *kernel = &kKernels[0];
    EXPECT_EQ(nf_find(nullptr, &problem, &kernel), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(kernel, nullptr);
    kernel = &kKernels[0];
    EXPECT_EQ(nf_find(&kLibrary, nullptr, &kernel), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(kernel, nullptr);
    EXPECT_EQ(nf_find(&kLibrary, &problem, nullptr), NF_ERROR_NULL_ARGUMENT);
}

TEST(Describe, TellsOfTheVariantForTheRows) {
    struct {
        int64_t rows;
        const nf_variant *variant;
    } const cases[] = {{0, &kVariants[0]}, {63, &kVariants[0]}, {64, &kVariants[1]}, {INT64_MAX, &kVariants[1]}};
    for (const auto &one : cases) {
        nf_description description;
        ASSERT_EQ(nf_describe(&kKernels[1], one.rows, &description), NF_SUCCESS);
        EXPECT_TRUE(same_problem(description.problem, kKernels[1].problem));
        EXPECT_EQ(description.target, kKernels[1].target);
        EXPECT_EQ(description.symbol, one.variant->symbol);
        EXPECT_EQ(description.knobs, one.variant->knobs);
        EXPECT_EQ(description.source, one.variant->source);
    }
}

TEST(Describe, RefusesByName) {
    nf_description description;
    EXPECT_EQ(nf_describe(nullptr, 1, &description), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(nf_describe(&kKernels[0], 1, nullptr), NF_ERROR_NULL_ARGUMENT);
    EXPECT_EQ(nf_describe(&kKernels[0], -1, &description), NF_ERROR_NEGATIVE_ROWS);
}

TEST(List, GivesEveryKernelOnce) {
    ASSERT_EQ(nf_kernel_count(&kLibrary), std::ssize(kKernels));
    for (int64_t index = 0; index < std::ssize(kKernels); index++) {
        EXPECT_EQ(nf_kernel_at(&kLibrary, index), &kKernels[index]);
    }
    EXPECT_EQ(nf_kernel_at(&kLibrary, -1), nullptr);
    EXPECT_EQ(nf_kernel_at(&kLibrary, std::ssize(kKernels)), nullptr);
    EXPECT_EQ(nf_kernel_count(nullptr), 0);
    EXPECT_EQ(nf_kernel_at(nullptr, 0), nullptr);
}

TEST(Status, EachHasItsOwnText) {
    const std::string of_no_status = nf_status_message(static_cast<nf_status>(1000));
    std::set<std::string> texts{of_no_status};
    for (int status = NF_SUCCESS; status <= NF_ERROR_NOT_FOLDABLE; status++) {
        const std::string text = nf_status_message(static_cast<nf_status>(status));
        EXPECT_TRUE(texts.insert(text).second) << status << ": " << text;
        EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
}

TEST(Version, HasThreeNumbers) {
    int numbers[3];
    char rest;
    EXPECT_EQ(std::sscanf(nf_version(), "%d.%d.%d%c", &numbers[0], &numbers[1], &numbers[2], &rest), 3)
        << nf_version();
}

}  // namespace
}  // namespace normforge
