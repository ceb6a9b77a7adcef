#include "autotune/search/device_contest.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>

#include "autotune/measure/contest_loop.h"
#include "autotune/measure/device_call.h"

namespace normforge {

namespace {

constexpr double kSampleSeconds = 1e-3;
constexpr double kNanoseconds = 1e9;
constexpr int64_t kMostCalls = 1000;
constexpr std::chrono::seconds kLimit{30};  // of the compiler of a kernel, of a sample

// What a child times a contest with. The copy is the last contender.
class DeviceTimer {
public:
    DeviceTimer(const DeviceContest &contest, const std::vector<size_t> &active, const BeforeCall &before_call)
        : contest_(contest), operands_(contest.problem, contest.rows), from_(device_, copied_bytes()),
          to_(device_, copied_bytes()), kernels_(contest.contenders.size()) {
        before_call(kReference);
        load(reference_, *contest.reference);
        for (const size_t contender : active) {
            if (contender < kernels_.size()) {
                before_call(contender);
                load(kernels_[contender], *contest.contenders[contender]);
            }
        }
        before_call(kReference);
        const double once = nanoseconds(kReference);
        calls_ =
            std::clamp<int64_t>(std::llround(kSampleSeconds * kNanoseconds / std::max(once, 1.0)), 1, kMostCalls);
    }

    int64_t calls() const { return calls_; }

    double nanoseconds(size_t contender) const {
        const auto call = [&] {
            if (contender == kernels_.size()) {
                device_.copy_on_device(to_.data(), from_.data(), copied_bytes());
            } else {
                run(contender == kReference ? *reference_ : *kernels_[contender]);
            }
        };
        call();  // what others left in the caches is gone then
        const double seconds = device_.seconds([&] {
            for (int64_t done = 0; done < calls_; done++) {
                call();
            }
        });
        return kNanoseconds * seconds / static_cast<double>(calls_);
    }

private:
    // A copy reads and writes each of its bytes.
    size_t copied_bytes() const {
        return static_cast<size_t>(std::max<int64_t>(1, contest_.rows * row_bytes(contest_.problem) / 2));
    }

    void load(std::unique_ptr<LoadedGpuKernel> &kernel, const GpuCode &code) {
        kernel = std::make_unique<LoadedGpuKernel>(code);
        if (!call_) {
            call_.emplace(device_, contest_.problem, operands_.arguments(),
                          nf_cuda_workspace_bytes(&kernel->kernel(), contest_.rows, operands_.arguments().groups));
        }
        run(*kernel);
        device_.wait();
    }

    void run(const LoadedGpuKernel &kernel) const {
        if (const nf_status status = nf_cuda_run(&kernel.kernel(), &call_->arguments(), nullptr)) {
            throw std::runtime_error(nf_status_message(status));
        }
    }

    const DeviceContest &contest_;
    const CudaDevice device_;
    const TimingOperands operands_;
    const DeviceMemory from_, to_;
    std::unique_ptr<LoadedGpuKernel> reference_;
    std::vector<std::unique_ptr<LoadedGpuKernel>> kernels_;
    std::optional<DeviceCall> call_;
    int64_t calls_ = 1;
};

}  // namespace

void run_device_contest(const DeviceContest &contest, const ContestObserver &observer,
                        std::vector<double> &copies) {
    if (contest.contenders.empty()) {
        return;
    }
    const size_t copy = contest.contenders.size();
    ContestObserver own = observer;
    own.sample = [&](size_t contender, const Sample &sample) {
        if (contender == copy) {
            copies.push_back(sample.ns);
        } else {
            observer.sample(contender, sample);
        }
    };
    own.out = [&](size_t contender, TrialStatus status, const std::string &reason) {
        if (contender == copy) {
            throw std::runtime_error("a copy on the device failed: " + reason);
        }
        observer.out(contender, status, reason);
    };
    const auto prepare = [&](const std::vector<size_t> &active, const BeforeCall &before_call) {
        const auto timer = std::make_shared<DeviceTimer>(contest, active, before_call);
        return ContestTimer{timer->calls(), [timer](size_t contender) { return timer->nanoseconds(contender); }};
    };
    run_contest_loop({copy + 1, contest.first_block, contest.blocks, contest.seed, kLimit,
                      ChildProcess::Memory::unlimited, prepare},
                     own);
}

}  // namespace normforge
