#include "autotune/search/gpu_candidates.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "autotune/search/selection.h"

namespace normforge {

std::vector<GpuKnobs> gpu_candidates(const GpuDevice &device, const NormProblem &problem,
                                     const std::vector<int64_t> &rows, size_t most, GpuChoice choice) {
    struct Judged {
        GpuKnobs knobs;
        double log_ratio;
        double log_waiting;
        bool loses;

        auto order() const { return std::tuple(log_ratio, log_waiting, -knobs.access); }
    };
    const bool by_model = choice == GpuChoice::by_model;
    const GpuKnobs reference = gpu_heuristic(problem);
    std::vector<Judged> judged;
    for (const GpuKnobs &knobs : enumerate_gpu(problem)) {
        Judged own{knobs, 0, 0, false};
        for (int64_t count : rows) {
            const GpuEstimate estimated = estimate(device, problem, knobs, count);
            const double ratio = estimated.seconds() / estimate(device, problem, reference, count).seconds();
            own.log_ratio += std::log(ratio);
            own.log_waiting += std::log(estimated.waiting);
            own.loses = own.loses || ratio > 1 + kLeastGain;
        }
        if (knobs != reference && !(by_model && own.loses)) {
            judged.push_back(own);
        }
    }
    std::ranges::stable_sort(judged, {}, &Judged::order);
    if (by_model) {
        const auto equal = std::ranges::unique(judged, {}, &Judged::log_ratio);
        judged.erase(equal.begin(), equal.end());
    }
    std::vector<GpuKnobs> candidates = {reference};
    for (size_t index = 0; index < judged.size() && candidates.size() < most; index++) {
        candidates.push_back(judged[index].knobs);
    }
    return candidates;
}

}  // namespace normforge
