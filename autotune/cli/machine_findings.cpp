#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "autotune/base/robust_stats.h"
#include "autotune/base/text_file.h"
#include "autotune/cli/findings.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/measure/contest.h"
#include "autotune/measure/loaded_kernel.h"
#include "autotune/search/selection.h"
#include "generators/emit.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {

namespace {

Finding governor() {
    const std::string name = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (name.empty()) {
        return {"CPU governor", "not shown by this machine", ""};
    }
    return {"CPU governor", name, name == "performance" ? "" : "set it to performance while tuning"};
}

Finding load(const Hardware &hardware) {
    double average = 0;
    if (getloadavg(&average, 1) != 1) {
        return {"load", "unknown", ""};
    }
    return {"load", fmt::format("{:.2f} on {} usable cores", average, hardware.usable_cores),
            average < 0.5 ? "" : "other work is running; tune when the machine is quiet"};
}

// Of all CPUs since the boot: what they ran, and what the machine below this one took from them.
struct CpuTime {
    double busy = 0;
    double stolen = 0;
};

CpuTime cpu_time() {
    std::istringstream fields(first_line("/proc/stat"));
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft_interrupts = 0, stolen = 0;
    fields >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts >> stolen;
    return {user + nice + system + interrupts + soft_interrupts, stolen};
}

Finding steal(const CpuTime &before, const CpuTime &after) {
    const double stolen = after.stolen - before.stolen;
    const double share = stolen / std::max(1.0, stolen + after.busy - before.busy);
    return {"steal", fmt::format("{:.1f} % of the CPU time wanted", share * 100),
            share < 0.01 ? "" : "the host gives this machine's CPUs to others; expect noise"};
}

// One kernel under two names, as a tuning session's last round times it.
double noise_floor() {
    const NormProblem problem = default_problem(NF_LAYER_NORM, 4096);
    const KernelSpec spec{problem, heuristic(problem, kernel_target("host")), kernel_target("host")};
    const LoadedKernel kernel(problem, emit(spec, EmitForm::object), kernel_symbol(spec));
    const TimingOperands operands(problem, 1);
    std::vector<double> ratios;
    const auto fail = [](size_t, TrialStatus, const std::string &reason) { throw UserError(reason); };
    run_contest(
        {&kernel.kernel(), {&kernel.kernel()}, &operands, 0, 33, 250e3, 1},
        {.sample = [&](size_t, const Sample &sample) { ratios.push_back(sample.ns / sample.reference_ns); },
         .out = fail,
         .tell = note});
    return std::max(std::abs(median(ratios) - 1), median_uncertainty(ratios));
}

Finding noise(double floor) {
    return {"noise floor", fmt::format("{:.2f} % between a kernel and itself", floor * 100),
            floor < kLeastGain ? "" : "smaller gains than this are not seen; tune when the machine is quiet"};
}

}  // namespace

std::vector<Finding> machine_findings(const Hardware &hardware) {
    const CpuTime before = cpu_time();
    const Finding now = load(hardware);
    const double floor = noise_floor();
    return {governor(), now, steal(before, cpu_time()), noise(floor)};
}

}  // namespace normforge
