#include "autotune/search/device_contest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>

#include "autotune/measure/child_process.h"
#include "autotune/measure/device_call.h"

namespace normforge {

namespace {

// What the child says: before it loads or calls a kernel, when it has timed one, and when it has timed the copy.
struct Message {
    enum Kind { before_call, timed, copied } kind;
    size_t contender;
    Sample sample;
};

constexpr size_t kReference = 0;
constexpr double kSampleSeconds = 1e-3;
constexpr int64_t kMostCalls = 1000;
constexpr std::chrono::seconds kLimit{30};  // of the compiler of a kernel, of a sample

class Timer {
public:
    explicit Timer(const CudaDevice &device) : device_(device) {}

    // Nanoseconds of one of so many calls.
    template <typename Work>
    double time(int64_t calls, Work &&work) const {
        constexpr double kNanoseconds = 1e9;
        return kNanoseconds * device_.seconds([&] {
            for (int64_t call = 0; call < calls; call++) {
                work();
            }
        }) / static_cast<double>(calls);
    }

private:
    const CudaDevice &device_;
};

// `active` are those that are not out.
void time_blocks(const DeviceContest &contest, const std::vector<size_t> &active, int first_block,
                 const ChildProcess::Send &send) {
    const auto tell = [&](const Message &message) {
        send(std::string(reinterpret_cast<const char *>(&message), sizeof message));
    };
    const CudaDevice device;
    const Timer timer(device);
    const TimingOperands operands(contest.problem, contest.rows);
    // A copy reads and writes each of its bytes.
    const auto bytes = static_cast<size_t>(std::max<int64_t>(1, contest.rows * row_bytes(contest.problem) / 2));
    const DeviceMemory from(device, bytes);
    const DeviceMemory to(device, bytes);
    std::vector<std::unique_ptr<LoadedGpuKernel>> kernels(contest.contenders.size());
    std::optional<DeviceCall> call;
    const auto run = [&](size_t contender) {
        const nf_cuda_kernel &kernel = kernels[contender]->kernel();
        if (!call) {
            call.emplace(device, contest.problem, operands.arguments(),
                         nf_cuda_workspace_bytes(&kernel, contest.rows, operands.arguments().groups));
        }
        if (const nf_status status = nf_cuda_run(&kernel, &call->arguments(), nullptr)) {
            throw std::runtime_error(nf_status_message(status));
        }
    };
    for (size_t contender : active) {
        tell({Message::before_call, contender, {}});
        kernels[contender] = std::make_unique<LoadedGpuKernel>(*contest.contenders[contender]);
        run(contender);
        device.wait();
    }
    tell({Message::before_call, kReference, {}});
    const double once = timer.time(1, [&] { run(kReference); });
    const auto calls =
        std::clamp<int64_t>(std::llround(kSampleSeconds * 1e9 / std::max(once, 1.0)), 1, kMostCalls);
    std::mt19937_64 random(contest.seed + static_cast<uint64_t>(first_block));
    for (int block = first_block; block < contest.blocks; block++) {
        std::vector<size_t> shuffled = active;
        std::ranges::shuffle(shuffled, random);
        double reference_ns = 0;
        for (size_t position = 0; position < shuffled.size(); position++) {
            const size_t contender = shuffled[position];
            tell({Message::before_call, contender, {}});
            const double ns = timer.time(calls, [&] { run(contender); });
            // Two contenders have the reference between them.
            if (position % 2 == 0) {
                reference_ns = timer.time(calls, [&] { run(kReference); });
            }
            tell({Message::timed, contender, {block, static_cast<int>(position), calls, ns, reference_ns}});
        }
        const double ns = timer.time(calls, [&] { device.copy_on_device(to.data(), from.data(), bytes); });
        tell({Message::copied, kReference, {block, 0, calls, ns, 0}});
    }
}

}  // namespace

void run_device_contest(const DeviceContest &contest, const ContestObserver &observer,
                        std::vector<double> &copies) {
    std::vector<size_t> active(contest.contenders.size());
    std::iota(active.begin(), active.end(), 0);
    int block = contest.first_block;
    const MachineLock lock(MachineLock::Use::timing, observer.tell);
    while (block < contest.blocks) {
        ChildProcess child([&](const ChildProcess::Send &send) { time_blocks(contest, active, block, send); },
                           ChildProcess::Memory::unlimited);
        size_t called = kReference;
        std::vector<std::pair<size_t, Sample>> samples;  // of the block, which counts when it is whole
        while (const std::optional<std::string> text = child.read(kLimit)) {
            Message message;
            std::memcpy(&message, text->data(), sizeof message);
            called = message.contender;
            if (message.kind == Message::timed) {
                samples.emplace_back(called, message.sample);
            } else if (message.kind == Message::copied) {
                copies.push_back(message.sample.ns);
                for (const auto &[contender, sample] : samples) {
                    observer.sample(contender, sample);
                }
                samples.clear();
                block++;
            }
        }
        if (child.outcome() == ChildProcess::Outcome::finished) {
            return;
        }
        if (called == kReference) {
            throw_failed_reference(child.reason());
        }
        observer.out(called, ChildProcess::failure(child.outcome()), child.reason());
        std::erase(active, called);
    }
}

}  // namespace normforge
