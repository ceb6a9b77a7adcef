#include "autotune/search/simulate_all.h"

#include <cstring>

#include "autotune/model/static_time.h"

namespace normforge {

namespace {

// A kernel takes 20 to 150 ms.
constexpr std::chrono::seconds kSimulationLimit{30};

// Sends the object, then the cycles as bytes.
void compile_and_simulate(const KernelSpec &spec, const KnownCpu &cpu, const std::vector<int64_t> &rows,
                          const ChildProcess::Send &send) {
    const std::vector<KernelCycles> simulated = compile_and_simulate(spec, cpu.pipeline, rows, send);
    std::vector<double> cycles;
    for (size_t place = 0; place < rows.size(); place++) {
        cycles.push_back(static_time(spec, simulated[place], cpu, rows[place]).total());
    }
    send(std::string(reinterpret_cast<const char *>(cycles.data()), cycles.size() * sizeof(double)));
}

SimulatedKernel simulated_kernel(const ChildResult &result) {
    SimulatedKernel kernel{compiled_kernel(result), {}, ""};
    if (result.messages.size() < 2) {
        kernel.failure = result.reason;
        return kernel;
    }
    const std::string &cycles = result.messages.back();
    kernel.cycles.resize(cycles.size() / sizeof(double));
    std::memcpy(kernel.cycles.data(), cycles.data(), cycles.size());
    return kernel;
}

}  // namespace

void simulate_all(const std::vector<KernelSpec> &specs, const KnownCpu &cpu, const std::vector<int64_t> &rows,
                  const MachineLock::Tell &tell, const std::function<void(size_t index, SimulatedKernel)> &done) {
    run({.jobs = specs.size(),
         .work = [&](size_t job,
                     const ChildProcess::Send &send) { compile_and_simulate(specs[job], cpu, rows, send); },
         .limits = {kCompileLimit, kSimulationLimit},
         .tell = tell},
        [&](size_t job, const ChildResult &result) { done(job, simulated_kernel(result)); });
}

}  // namespace normforge
