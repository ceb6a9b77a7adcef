#pragma once

#include <string>
#include <vector>

#include "autotune/base/hardware.h"
#include "autotune/base/trial.h"

namespace normforge {

// What a measuring program says of the machine that it ran on and of the kernels that it holds: lines of words
// that one end writes and the other reads.

struct ReportedSample {
    int64_t rows;
    Sample sample;
};

struct ReportedKernel {
    TrialStatus status = TrialStatus::ok;
    std::string message;
    std::string output_digest;
    double error_ratio = 0;
    std::vector<ReportedSample> samples;
};

struct MachineReport {
    Hardware hardware;
    std::string emulation;  // a sign of it; then nothing was timed
    std::vector<ReportedKernel> kernels;
};

// Lines of it, each with its end. Kernels are told of by their place.
std::string hardware_line(const Hardware &hardware);
std::string emulation_line(const std::string &sign);
std::string kernel_line(size_t place, const ReportedKernel &kernel);  // without its samples
std::string sample_line(size_t place, const ReportedSample &sample);
std::string end_line();

// Lines of anything else are passed by: a login may greet. Throws std::runtime_error where the report is broken or
// does not reach its end.
MachineReport parse_report(const std::string &text, size_t kernels);

}  // namespace normforge
