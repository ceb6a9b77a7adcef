#include "autotune/search/knob_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {
namespace {

// Times that are a product of what each knob does.
double log_time(const Knobs &knobs) {
    return std::log(knobs.vector == 8 ? 1 : 1.5) + std::log(1 + 0.2 * std::abs(std::log2(knobs.unroll) - 1)) +
           (knobs.stores == kStreaming ? -0.3 : 0) + 0.1 * knobs.prefetch;
}

// From a fifth of a space it finds what is best among the rest.
TEST(KnobModel, FindsTheBestOfAProduct) {
    const std::vector<Knobs> space =
        enumerate(default_problem(NF_RMS_NORM, 1024), kernel_target("x86-64-linux-avx-avx2-f16c-fma-sse41"));
    std::vector<Knobs> known;
    std::vector<double> log_times;
    for (size_t i = 0; i < space.size(); i += 5) {
        known.push_back(space[i]);
        log_times.push_back(log_time(space[i]));
    }
    const KnobModel model(known, log_times);
    const Knobs best = std::ranges::min(space, {}, [&](const Knobs &knobs) { return model.log_time(knobs); });
    const Knobs right = std::ranges::min(space, {}, log_time);
    EXPECT_NEAR(log_time(best), log_time(right), 1e-9) << to_text(best) << "\n" << to_text(right);
}

TEST(KnobModel, OfOneScheduleIsItsTime) {
    const Knobs knobs = heuristic(default_problem(NF_RMS_NORM, 64), kernel_target("x86-64-linux"));
    EXPECT_DOUBLE_EQ(KnobModel({knobs}, {-0.25}).log_time(knobs), -0.25);
}

}  // namespace
}  // namespace normforge
