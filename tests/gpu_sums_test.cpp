// The last step of a GPU's backward pass, by its loops as serial ones of this CPU.

#include <gtest/gtest.h>

#include <limits>

#include "schedules/target.h"
#include "tests/gpu_sums_cases.h"

namespace normforge {
namespace {

class GpuSums : public testing::TestWithParam<const char *> {};

TEST_P(GpuSums, AreExactHoweverManySlices) {
    for (const int64_t slices : {1, 31, 32, 33, 1000}) {
        expect_exact_sums(parse_problem(GetParam()), slices, kernel_target("host"));
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, GpuSums,
    testing::Values("op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=64",
                    "op=layer_norm,pass=backward,dtype=bf16,bias=f32,saved_statistics=yes,hidden=37",
                    "op=rms_norm,pass=backward,dtype=bf16,saved_statistics=yes,hidden=1",
                    "op=rms_norm,pass=backward,dtype=f32,weight=none,bias=f32,saved_statistics=yes,hidden=33"));

TEST(SomeGpuSums, OfNoSlicesAreZero) {
    const NormProblem problem =
        parse_problem("op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=64");
    SumsKernel kernel(problem, kernel_target("host"));
    std::vector<float> none(1), dweight(64, 5), dbias(64, 5);
    kernel.run(none.data(), 0, dweight.data(), dbias.data());
    EXPECT_EQ(dweight, std::vector<float>(64, 0));
    EXPECT_EQ(dbias, std::vector<float>(64, 0));
}

// What is infinite or no number stays so, and in its column.
TEST(SomeGpuSums, KeepInfinitiesAndNans) {
    const NormProblem problem =
        parse_problem("op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=64");
    SumsKernel kernel(problem, kernel_target("host"));
    std::vector<float> partial(3 * 128, 1), dweight(64), dbias(64);
    partial[128 + 5] = std::numeric_limits<float>::infinity();
    partial[6] = std::numeric_limits<float>::quiet_NaN();
    partial[7] = partial[128 + 7] = std::numeric_limits<float>::max();
    kernel.run(partial.data(), 3, dweight.data(), dbias.data());
    EXPECT_EQ(dweight[4], 3);
    EXPECT_EQ(dweight[5], std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(dweight[6]));
    EXPECT_EQ(dweight[7], std::numeric_limits<float>::infinity());
    EXPECT_EQ(dbias, std::vector<float>(64, 3));
}

}  // namespace
}  // namespace normforge
