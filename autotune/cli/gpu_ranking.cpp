#include "autotune/cli/gpu_ranking.h"

#include <fmt/format.h>

#include "autotune/cli/text_table.h"

namespace normforge {

std::string gpu_ranking(const GpuDevice &device, const NormProblem &problem, int64_t rows) {
    constexpr double kMicroseconds = 1e6;
    const GpuKnobs usual = gpu_heuristic(problem);  // throws where there is none
    std::vector<std::vector<std::string>> table = {
        {"us", "moving us", "waiting us", "bytes", "blocks", "occupancy", "waves", "knobs"}};
    for (const GpuKnobs &knobs : ranked_schedules(device, problem, rows)) {
        const GpuEstimate estimated = estimate(device, problem, knobs, rows);
        table.push_back({fmt::format("{:.4g}", estimated.seconds() * kMicroseconds),
                         fmt::format("{:.4g}", estimated.moving * kMicroseconds),
                         fmt::format("{:.4g}", estimated.waiting * kMicroseconds),
                         fmt::format("{}", estimated.bytes), fmt::format("{}", estimated.blocks_of_processor),
                         fmt::format("{:.0f} %", estimated.occupancy * 100), fmt::format("{}", estimated.waves),
                         to_text(knobs) + (knobs == usual ? " (heuristic)" : "")});
    }
    const double adding = estimate(device, problem, usual, rows).adding;  // whatever the schedule
    const std::string sums =
        adding > 0 ? fmt::format("# of each, {:.4g} us are for adding up partial sums of gradients\n",
                                 adding * kMicroseconds)
                   : "";
    return text_table(table) + sums +
           fmt::format(
               "# by the static model of {} at {} row{}, not measured; blocks of a processor at once, waves of "
               "these on all processors\n",
               device.name, rows, rows == 1 ? "" : "s");
}

}  // namespace normforge
