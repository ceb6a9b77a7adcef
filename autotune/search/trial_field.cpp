#include "autotune/search/trial_field.h"

#include <set>

namespace normforge {

namespace {

// Long enough for the clock, short enough to fit between most interruptions.
constexpr double kSampleNanoseconds = 250e3;

}  // namespace

void TrialField::set_kernel(const std::string &knobs, std::unique_ptr<LoadedKernel> kernel) {
    kernels_[knobs] = std::move(kernel);
}

void TrialField::move_kernels(const std::vector<size_t> &places, const std::string &reference_knobs) {
    std::set<std::string> all = {reference_knobs};
    for (size_t place : places) {
        all.insert(trials()[place].knobs);
    }
    for (const std::string &knobs : all) {
        std::unique_ptr<LoadedKernel> &kernel = kernels_.at(knobs);
        kernel = kernel->loaded_again();
    }
}

void TrialField::time(const std::vector<size_t> &places, int blocks, const std::string &reference_knobs,
                      const TimingOperands &operands, uint64_t seed, const std::function<bool()> &stop,
                      Progress &progress) {
    // Another one than the contender of these knobs, so that the noise has what different places in memory do.
    const std::unique_ptr<LoadedKernel> reference = kernels_.at(reference_knobs)->loaded_again();
    for (const auto &[samples, own] : lacking(places, operands.arguments().rows, blocks)) {
        Contest contest{&reference->kernel(), {}, &operands, samples, blocks - samples, kSampleNanoseconds, seed};
        for (size_t place : own) {
            contest.contenders.push_back(&kernels_.at(trials()[place].knobs)->kernel());
        }
        keep(own, samples, stop, progress,
             [&](const ContestObserver &observer) { run_contest(contest, observer); });
    }
}

}  // namespace normforge
