// Kernels of the heuristic's schedules against what layers of known projects make of the same inputs.

#include <gtest/gtest.h>

#include "autotune/measure/loaded_kernel.h"
#include "generators/emit.h"
#include "schedules/space.h"
#include "schedules/target.h"
#include "tests/known_layers.h"

namespace normforge {
namespace {

class KnownLayerKernel : public testing::TestWithParam<KnownLayer> {};

INSTANTIATE_TEST_SUITE_P(All, KnownLayerKernel, testing::ValuesIn(known_layers()),
                         [](const auto &test) { return test.param.name; });

TEST_P(KnownLayerKernel, IsTheProjectsOwnLayer) {
    // Of f32's last place, at the largest value of a row. Gradients of weight and bias are sums of the row's
    // values.
    constexpr double kUnits = 4;
    const KnownLayer &layer = GetParam();
    const Halide::Target target = kernel_target("host");
    const KernelSpec spec{layer.problem, heuristic(layer.problem, target), target};
    const LoadedKernel loaded(layer.problem, emit(spec, EmitForm::object), kernel_symbol(spec));

    KnownCall call(layer);
    const nf_status status = call.run(loaded.kernel());
    ASSERT_EQ(status, NF_SUCCESS) << nf_status_message(status);
    for (const Operand &output : layer_operands(layer, true)) {
        EXPECT_EQ(first_difference(layer, output, call.values(output), kUnits), "");
    }
}

}  // namespace
}  // namespace normforge
