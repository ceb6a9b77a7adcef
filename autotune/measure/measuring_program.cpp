// What tune --launcher sends to another machine: holds each schedule of the one kernel that it is linked with to
// the accuracy gate, times those that pass beside the first, for each number of rows that is given, and prints
// what machine_report.h has. An emulator's times are not taken.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>

#include "autotune/base/hardware.h"
#include "autotune/measure/accuracy_gate.h"
#include "autotune/measure/child_process.h"
#include "autotune/measure/contest.h"
#include "autotune/measure/emulation.h"
#include "autotune/measure/machine_report.h"
#include "autotune/measure/single_kernel.h"
#include "autotune/measure/timing.h"
#include "runtime/vector_length.h"

#if defined(__aarch64__)
#include <sys/prctl.h>
#endif

extern "C" const nf_library *measured_library(void);

namespace normforge {
namespace {

// fmt's one function that the headers leave to its library, of which Debian has no static one. This file alone is
// compiled with all of fmt in its headers, and here the others find it.
[[gnu::used]] constexpr std::string (*kFormat)(fmt::string_view, fmt::format_args) = &fmt::vformat;

constexpr std::chrono::seconds kGateLimit{60};  // small cores and emulators are slow
constexpr std::chrono::seconds kSampleLimit{10};
constexpr int kBlocks = 15;
constexpr double kSampleNanoseconds = 250e3;

void print(const std::string &line) {
    std::fputs(line.c_str(), stdout);
    std::fflush(stdout);
}

// The length of registers that the kernels are for, where the machine has several.
void set_vector_length([[maybe_unused]] uint64_t features) {
#if defined(__aarch64__)
    if (const int bits = needed_vector_bits(features)) {
        prctl(PR_SVE_SET_VL, bits / 8);
    }
#endif
}

ReportedKernel gated(const AccuracyGate &gate, const nf_kernel &kernel) {
    ChildProcess child([&](const ChildProcess::Send &send) {
        const AccuracyGate::Result result = gate.check(kernel);
        send(fmt::format("{}", result.error_ratio));
        send(result.output_digest);
        send(result.failure);
    });
    const std::optional<std::string> ratio = child.read(kGateLimit);
    const std::optional<std::string> digest = child.read(kGateLimit);
    const std::optional<std::string> failure = child.read(kGateLimit);
    if (!failure) {
        return {ChildProcess::failure(child.outcome()), "in the accuracy gate: " + child.reason(), "", 0, {}};
    }
    return {failure->empty() ? TrialStatus::ok : TrialStatus::wrong, *failure, *digest, std::stod(*ratio), {}};
}

// The kernels of these places, beside the first one.
void time_kernels(const std::vector<const nf_kernel *> &kernels, const std::vector<size_t> &places, int64_t rows) {
    const TimingOperands operands(kernels.front()->problem, rows);
    Contest contest{kernels.front(), {}, &operands, 0, kBlocks, kSampleNanoseconds, 1};
    contest.sample_limit = kSampleLimit;
    for (size_t place : places) {
        contest.contenders.push_back(kernels[place]);
    }
    const auto tell = [](const std::string &what) { std::fprintf(stderr, "%s\n", what.c_str()); };
    run_contest(contest,
                {.sample =
                     [&](size_t contender, const Sample &sample) {
                         print(sample_line(places[contender], {rows, sample}));
                     },
                 .out =
                     [&](size_t contender, TrialStatus status, const std::string &reason) {
                         print(kernel_line(places[contender], {status, timing_failure(reason), "", 0, {}}));
                     },
                 .tell = tell});
}

int run(const nf_library &library, std::span<char *const> rows) {
    const nf_kernel &kernel = library.kernels[0];
    set_vector_length(kernel.cpu_features);
    print(hardware_line(detect_hardware()));
    if (const uint64_t missing = kernel.cpu_features & ~cpu_features()) {
        std::fprintf(stderr, "this CPU lacks %s\n", feature_names(missing).c_str());
        return 1;
    }
    const std::string sign = emulation_sign();
    print(emulation_line(sign));
    const AccuracyGate gate(kernel.problem);
    std::vector<std::unique_ptr<const SingleKernel>> singles;
    std::vector<const nf_kernel *> kernels;
    std::vector<size_t> passed;
    for (int64_t variant = 0; variant < kernel.variant_count; variant++) {
        singles.push_back(std::make_unique<const SingleKernel>(kernel.problem, kernel.variants[variant].entry));
        kernels.push_back(&singles.back()->kernel());
        const ReportedKernel reported = gated(gate, *kernels.back());
        print(kernel_line(kernels.size() - 1, reported));
        if (reported.status == TrialStatus::ok) {
            passed.push_back(kernels.size() - 1);
        }
    }
    if (sign.empty() && !passed.empty() && passed.front() == 0) {
        for (const char *count : rows) {
            time_kernels(kernels, passed, std::strtoll(count, nullptr, 10));
        }
    }
    print(end_line());
    return 0;
}

}  // namespace
}  // namespace normforge

int main(int argc, char **argv) {
    try {
        return normforge::run(*measured_library(), std::span(argv + 1, static_cast<size_t>(argc - 1)));
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
