#include "autotune/model/simulate_all.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <memory>

#include "autotune/measure/child_process.h"
#include "autotune/model/static_time.h"
#include "runtime/usable_cores.h"

namespace normforge {

namespace {

// A kernel takes 50 to 300 ms.
constexpr std::chrono::milliseconds kLimit{30000};

std::vector<double> call_cycles(const KernelSpec &spec, const KnownCpu &cpu, const std::vector<int64_t> &rows) {
    std::map<int64_t, KernelCycles> simulated;  // by the rows of a pass
    std::vector<double> result;
    for (const int64_t count : rows) {
        const int64_t of_pass = std::min<int64_t>(count, spec.knobs.block);
        if (!simulated.contains(of_pass)) {
            simulated[of_pass] = simulate(spec, cpu.pipeline, of_pass);
        }
        result.push_back(static_time(spec, simulated.at(of_pass), cpu, count).total());
    }
    return result;
}

// Sends the cycles as bytes, then an empty message, or an empty message, then the failure.
void send_result(const ChildProcess::Send &send, const KernelSpec &spec, const KnownCpu &cpu,
                 const std::vector<int64_t> &rows) {
    try {
        const std::vector<double> cycles = call_cycles(spec, cpu, rows);
        send(std::string(reinterpret_cast<const char *>(cycles.data()), cycles.size() * sizeof(double)));
        send("");
    } catch (const std::exception &error) {
        send("");
        send(error.what());
    }
}

}  // namespace

void simulate_all(const std::vector<KernelSpec> &specs, const KnownCpu &cpu, const std::vector<int64_t> &rows,
                  const std::function<void(size_t index, SimulatedKernel)> &done) {
    const auto workers = static_cast<size_t>(usable_cores());
    // Of every so many specs one.
    const auto child_from = [&](size_t first) {
        return std::make_unique<ChildProcess>([&, first](const ChildProcess::Send &send) {
            for (size_t index = first; index < specs.size(); index += workers) {
                send_result(send, specs[index], cpu, rows);
            }
        });
    };
    std::vector<std::unique_ptr<ChildProcess>> children;
    for (size_t first = 0; first < workers; first++) {
        children.push_back(child_from(first));
    }
    for (size_t index = 0; index < specs.size(); index++) {
        std::unique_ptr<ChildProcess> &child = children[index % workers];
        const std::optional<std::string> cycles = child->read(kLimit);
        const std::optional<std::string> failure = cycles ? child->read(kLimit) : std::nullopt;
        SimulatedKernel result;
        if (failure) {
            result.failure = *failure;
            result.cycles.resize(cycles->size() / sizeof(double));
            std::memcpy(result.cycles.data(), cycles->data(), cycles->size());
        } else {
            result.failure = child->reason();
            child = child_from(index + workers);
        }
        done(index, std::move(result));
    }
}

}  // namespace normforge
