#include "autotune/search/device_tuning.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "autotune/base/interruption.h"
#include "autotune/base/robust_stats.h"
#include "autotune/measure/device_gate.h"
#include "autotune/model/known_gpus.h"
#include "autotune/search/device_contest.h"
#include "autotune/search/gpu_candidates.h"
#include "autotune/search/loaded_gpu_kernel.h"
#include "autotune/search/session_clock.h"
#include "autotune/search/session_kernels.h"
#include "autotune/search/strategy.h"
#include "schedules/gpu_space.h"

namespace normforge {

namespace {

constexpr int kFirstBlocks = 3;
constexpr int kBlocks = 21;
constexpr size_t kSurvivors = 6;  // beside the heuristic's

// Schedules that are tried before any is timed: enough for all cores to compile, few enough for a budget.
constexpr size_t kBatch = 16;

class DeviceSessionKernels : public SessionKernels {
public:
    using SessionKernels::SessionKernels;

    const GpuCode &code(const std::string &knobs) const { return *codes_.at(knobs); }

private:
    void gate(const std::vector<AnyKernelSpec> &specs, const GatedKernelsObserver &observer) override {
        const auto work = [&](size_t index, const ChildProcess::Send &send) {
            const GpuCode code(request().problem, std::get<GpuKernelSpec>(specs[index]).knobs);
            send(code.ptx());
            send(code.bytes());
            const CudaDevice device;
            const LoadedGpuKernel loaded(code);
            send_result(check_on_device(gate_, device, request().problem, loaded.kernel()), send);
        };
        gate_kernels(specs, work, ChildProcess::Memory::unlimited, observer);
    }

    void load(const GatedKernel &kernel) override {
        codes_[kernel.trial.knobs] = std::make_unique<GpuCode>(request().problem, kernel.gpu_code);
    }

    bool has_kernel(const std::string &knobs) const override { return codes_.contains(knobs); }

    const AccuracyGate gate_{request().problem, MergedIn::f32};
    std::map<std::string, std::unique_ptr<GpuCode>> codes_;
};

class DeviceRun {
public:
    DeviceRun(const TuneRequest &request, const Hardware &gpu, int64_t session, Database &database,
              Progress &progress)
        : request_(request), progress_(progress), reference_(to_text(gpu_heuristic(request.problem))),
          trials_(database, session), kernels_(request, reference_, trials_, progress), clock_(request.deadline) {
        for (const GpuKnobs &knobs : gpu_candidates(figures_of(gpu), request.problem, request.rows,
                                                    most_candidates(request.effort), GpuChoice::by_measurement)) {
            candidates_.push_back(to_text(knobs));
        }
    }

    TuneReport run() {
        search();
        if (!clock_.is_over()) {
            time(survivors(), kBlocks, [&] { return clock_.is_over(); });
        }
        stop_if_interrupted();
        TuneReport report{};
        for (const Trial &trial : trials_.trials()) {
            report.trials[trial.status]++;
        }
        report.selection = select_best(trials_.trials(), reference_);
        report.cut = clock_.was_late() ? "the budget was used up" : "";
        for (const auto &[rows, copies] : copies_) {
            if (!copies.empty()) {  // else a resumed session had nothing left to time
                report.copy_nanoseconds[rows] = median(copies);
            }
        }
        return report;
    }

private:
    // The heuristic's is in the first batch, so that with the least budget there is something to decide by.
    void search() {
        for (size_t first = 0; first < candidates_.size() && (first == 0 || !clock_.is_over_for_search());
             first += kBatch) {
            const size_t last = std::min(first + kBatch, candidates_.size());
            const std::vector<std::string> batch(candidates_.begin() + static_cast<std::ptrdiff_t>(first),
                                                 candidates_.begin() + static_cast<std::ptrdiff_t>(last));
            kernels_.try_schedules(batch, [&] { return clock_.is_over_for_search(); });
            time(trials_.timed_places(batch, request_.rows, reference_), kFirstBlocks,
                 [&] { return first == 0 ? is_interrupted() : clock_.is_over_for_search(); });
        }
    }

    // Of the first blocks, over all numbers of rows. Nothing for a schedule that lacks some, and for one that is
    // slower than the heuristic's at some number of rows.
    std::optional<double> log_ratio(const std::string &knobs) const {
        double sum = 0;
        for (int64_t rows : request_.rows) {
            const size_t place = trials_.place_of(knobs, rows);
            if (place == SessionTrials::kNone || trials_.trials()[place].status != TrialStatus::ok ||
                trials_.trials()[place].samples.size() < kFirstBlocks) {
                return std::nullopt;
            }
            Trial trial = trials_.trials()[place];
            trial.samples.resize(kFirstBlocks);  // a resumed session may have more
            const double ratio = median_ratio(trial);
            if (ratio > 1 + kLeastGain) {
                return std::nullopt;
            }
            sum += std::log(ratio);
        }
        return sum;
    }

    // The heuristic's, and those of the others that are nowhere slower and best over all numbers of rows.
    std::vector<size_t> survivors() const {
        std::vector<std::pair<double, std::string>> timed;
        for (const std::string &knobs : candidates_) {
            const std::optional<double> ratio = knobs == reference_ ? std::nullopt : log_ratio(knobs);
            if (ratio) {
                timed.emplace_back(*ratio, knobs);
            }
        }
        std::ranges::stable_sort(timed, {}, &std::pair<double, std::string>::first);
        timed.resize(std::min(timed.size(), kSurvivors));
        std::vector<std::string> schedules = {reference_};
        for (const auto &[ratio, knobs] : timed) {
            schedules.push_back(knobs);
        }
        return trials_.timed_places(schedules, request_.rows, reference_);
    }

    void time(const std::vector<size_t> &places, int blocks, const std::function<bool()> &stop) {
        size_t samples = 0;
        std::vector<size_t> lacking;
        for (int64_t rows : request_.rows) {
            for (const auto &[known, own] : trials_.lacking(places, rows, blocks)) {
                samples += own.size() * static_cast<size_t>(blocks - known);
                lacking.insert(lacking.end(), own.begin(), own.end());
            }
        }
        if (lacking.empty()) {
            return;
        }
        kernels_.complete(lacking);
        progress_.stage("timing", samples);
        for (int64_t rows : request_.rows) {
            for (const auto &[known, own] : trials_.lacking(lacking, rows, blocks)) {
                DeviceContest contest{request_.problem, rows,         &kernels_.code(reference_), {}, known,
                                      blocks - known,   request_.seed};
                for (size_t place : own) {
                    contest.contenders.push_back(&kernels_.code(trials_.trials()[place].knobs));
                }
                trials_.keep(own, known, stop, progress_, [&](const ContestObserver &observer) {
                    run_device_contest(contest, observer, copies_[rows]);
                });
            }
        }
    }

    const TuneRequest &request_;
    Progress &progress_;
    const std::string reference_;
    SessionTrials trials_;
    DeviceSessionKernels kernels_;
    SessionClock clock_;
    std::vector<std::string> candidates_;
    std::map<int64_t, std::vector<double>> copies_;  // by rows, in nanoseconds
};

}  // namespace

TuneReport run_device_session(const TuneRequest &request, const Hardware &gpu, int64_t session, Database &database,
                              Progress &progress) {
    return DeviceRun(request, gpu, session, database, progress).run();
}

}  // namespace normforge
