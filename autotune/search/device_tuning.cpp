#include "autotune/search/device_tuning.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "autotune/base/interruption.h"
#include "autotune/base/robust_stats.h"
#include "autotune/measure/device_gate.h"
#include "autotune/measure/machine_report.h"
#include "autotune/model/known_gpus.h"
#include "autotune/search/device_contest.h"
#include "autotune/search/gpu_candidates.h"
#include "autotune/search/loaded_gpu_kernel.h"
#include "autotune/search/strategy.h"
#include "runtime/cuda_driver.h"
#include "runtime/user_error.h"

namespace normforge {

namespace {

constexpr int kFirstBlocks = 3;
constexpr int kBlocks = 21;
constexpr size_t kSurvivors = 6;  // beside the heuristic's

// How the child of detect_gpu() begins what it says where there is none.
constexpr char kRefusal = '!';

// A session's schedules, each with a trial for every number of rows.
class DeviceRun {
public:
    DeviceRun(const TuneRequest &request, const Hardware &gpu, int64_t session, Database &database,
              Progress &progress)
        : request_(request), session_(session), database_(database), progress_(progress),
          candidates_(gpu_candidates(figures_of(gpu), request.problem, request.rows,
                                     most_candidates(request.effort), GpuChoice::by_measurement)) {}

    TuneReport run() {
        gate();
        compile(passed());
        time(passed(), kFirstBlocks);
        time(survivors(), kBlocks);
        TuneReport report{};
        std::vector<Trial> all;
        for (const Place &place : places_) {
            all.push_back(place.trial);
            report.trials[place.trial.status]++;
        }
        report.selection = select_best(all, to_text(candidates_.front()));
        for (const auto &[rows, copies] : copies_) {
            report.copy_nanoseconds[rows] = median(copies);
        }
        return report;
    }

private:
    struct Place {
        size_t candidate;
        int64_t id;
        Trial trial;
    };

    void gate() {
        std::vector<AnyKernelSpec> specs;
        for (const GpuKnobs &knobs : candidates_) {
            specs.push_back(kernel_spec(request_.problem, to_text(knobs), request_.target));
        }
        const AccuracyGate gate(request_.problem, MergedIn::f32);
        const auto work = [&](size_t index, const ChildProcess::Send &send) {
            const CudaDevice device;
            const GpuCode code(request_.problem, candidates_[index]);
            send(code.ptx());
            const LoadedGpuKernel loaded(code);
            send_result(check_on_device(gate, device, request_.problem, loaded.kernel()), send);
        };
        std::vector<Trial> trials(specs.size());
        progress_.stage("compiling and checking", specs.size());
        gate_kernels(specs, work, ChildProcess::Memory::unlimited,
                     {.stop = is_interrupted,
                      .tell = [&](const std::string &what) { progress_.say(what); },
                      .done =
                          [&](const GatedKernel &kernel) {
                              const auto candidate = std::ranges::find(
                                  candidates_, kernel.trial.knobs, [](const GpuKnobs &k) { return to_text(k); });
                              store(static_cast<size_t>(candidate - candidates_.begin()), kernel.trial);
                              progress_.advance();
                          }});
        stop_if_interrupted();
        for (const Place &place : places_) {
            if (place.candidate == 0 && place.trial.status != TrialStatus::ok) {
                throw_unusable_reference(request_.problem, place.trial);
            }
        }
    }

    void store(size_t candidate, Trial trial) {
        for (int64_t rows : request_.rows) {
            trial.rows = rows;
            places_.push_back({candidate, database_.add_trial(session_, trial), trial});
        }
    }

    // Candidates whose trials are all ok, the heuristic's first.
    std::vector<size_t> passed() const {
        std::vector<size_t> candidates;
        for (size_t candidate = 0; candidate < candidates_.size(); candidate++) {
            const bool failed = std::ranges::any_of(places_, [&](const Place &place) {
                return place.candidate == candidate && place.trial.status != TrialStatus::ok;
            });
            if (!failed) {
                candidates.push_back(candidate);
            }
        }
        return candidates;
    }

    // The heuristic's, and those of the others that are nowhere slower and best over all numbers of rows.
    std::vector<size_t> survivors() const {
        struct Timed {
            double log_ratio;
            size_t candidate;
        };
        std::vector<Timed> timed;
        for (size_t candidate : passed()) {
            Timed own{0, candidate};
            bool loses = candidate == 0;
            for (const Place &place : places_) {
                if (place.candidate == candidate) {
                    const double ratio = median_ratio(place.trial);
                    own.log_ratio += std::log(ratio);
                    loses = loses || !(ratio <= 1 + kLeastGain);
                }
            }
            if (!loses) {
                timed.push_back(own);
            }
        }
        std::ranges::sort(timed, {}, &Timed::log_ratio);
        std::vector<size_t> candidates = {0};
        for (size_t index = 0; index < timed.size() && index < kSurvivors; index++) {
            candidates.push_back(timed[index].candidate);
        }
        return candidates;
    }

    // Of candidates that children have compiled before.
    void compile(const std::vector<size_t> &candidates) {
        const MachineLock lock(MachineLock::Use::computing, [&](const std::string &what) { progress_.say(what); });
        progress_.stage("compiling", candidates.size());
        for (size_t candidate : candidates) {
            codes_[candidate] = std::make_unique<GpuCode>(request_.problem, candidates_[candidate]);
            progress_.advance();
            stop_if_interrupted();
        }
    }

    void time(const std::vector<size_t> &candidates, int blocks) {
        progress_.stage("timing", candidates.size() * request_.rows.size());
        for (int64_t rows : request_.rows) {
            DeviceContest contest{request_.problem, rows, {}, 0, blocks, request_.seed};
            std::vector<Place *> own;
            for (size_t candidate : candidates) {
                const auto place = std::ranges::find_if(places_, [&](const Place &each) {
                    return each.candidate == candidate && each.trial.rows == rows;
                });
                if (place->trial.status == TrialStatus::ok) {
                    contest.contenders.push_back(codes_.at(candidate).get());
                    contest.first_block = static_cast<int>(place->trial.samples.size());
                    own.push_back(&*place);
                }
            }
            run_device_contest(
                contest,
                {.sample = [&](size_t contender,
                               const Sample &sample) { own[contender]->trial.samples.push_back(sample); },
                 .out =
                     [&](size_t contender, TrialStatus status, const std::string &reason) {
                         Place &place = *own[contender];
                         place.trial.status = status;
                         place.trial.message = timing_failure(reason);
                         database_.fail_trial(place.id, status, place.trial.message);
                     },
                 .tell = [&](const std::string &what) { progress_.say(what); }},
                copies_[rows]);
            for (Place *place : own) {
                const auto is_new = [&](const Sample &sample) { return sample.block >= contest.first_block; };
                const std::vector<Sample> &samples = place->trial.samples;
                database_.add_samples(place->id, {std::ranges::find_if(samples, is_new), samples.end()});
                progress_.advance();
            }
            stop_if_interrupted();
        }
    }

    const TuneRequest &request_;
    const int64_t session_;
    Database &database_;
    Progress &progress_;
    const std::vector<GpuKnobs> candidates_;
    std::vector<Place> places_;
    std::map<size_t, std::unique_ptr<GpuCode>> codes_;  // by candidate
    std::map<int64_t, std::vector<double>> copies_;     // by rows, in nanoseconds
};

}  // namespace

Hardware detect_gpu() {
    constexpr std::chrono::seconds kLimit{60};  // machines with many GPUs take seconds to open the driver
    ChildProcess child(
        [](const ChildProcess::Send &send) {
            CudaDriver driver{};
            nf_status status = open_cuda_driver(driver);
            if (status == NF_SUCCESS) {
                const CudaDevice device;
                int64_t capability = 0;
                status = check_cuda_context(driver, capability);
                if (status == NF_SUCCESS) {
                    return send(hardware_line(hardware_of(device)) + emulation_line("") + end_line());
                }
            }
            send(kRefusal + std::string(nf_status_message(status)));
        },
        ChildProcess::Memory::unlimited);
    const std::optional<std::string> said = child.read(kLimit);
    if (!said) {
        throw UserError("the CUDA driver failed: " + child.reason());
    }
    if (said->starts_with(kRefusal)) {
        throw UserError("kernels for GPUs cannot be measured here: " + said->substr(1));
    }
    return parse_report(*said, 0).hardware;
}

Machine this_machine() {
    try {
        return {.gpu = detect_gpu()};
    } catch (const UserError &) {
        return {};
    }
}

TuneReport run_device_session(const TuneRequest &request, const Hardware &gpu, int64_t session, Database &database,
                              Progress &progress) {
    return DeviceRun(request, gpu, session, database, progress).run();
}

}  // namespace normforge
