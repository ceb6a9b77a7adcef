#include "autotune/measure/machine_report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "autotune/measure/emulation.h"
#include "runtime/user_error.h"
#include "tests/database_examples.h"

namespace normforge {
namespace {

ReportedKernel example_kernel() {
    return {TrialStatus::wrong, "row 3, 100 % off:\nits second line", "0123abc", 1.25, {}};
}

ReportedSample example_sample() {
    return {64, {.block = 2, .position = 1, .calls = 7, .ns = 123.4567, .reference_ns = 1e5 / 3}};
}

// What a login prints around it does not matter.
TEST(MachineReport, ComesBack) {
    const std::string text = "Welcome!\n" + hardware_line(example_hardware()) + emulation_line("") +
                             kernel_line(1, example_kernel()) + sample_line(1, example_sample()) + end_line() +
                             "Connection closed.\n";
    const MachineReport report = parse_report(text, 2);
    EXPECT_EQ(report.hardware, example_hardware());
    EXPECT_EQ(report.emulation, "");
    ASSERT_EQ(report.kernels.size(), 2u);
    EXPECT_EQ(report.kernels[0].status, TrialStatus::crash) << "nothing was said of it";
    const ReportedKernel &kernel = report.kernels[1];
    EXPECT_EQ(kernel.status, example_kernel().status);
    EXPECT_EQ(kernel.message, example_kernel().message);
    EXPECT_EQ(kernel.output_digest, example_kernel().output_digest);
    EXPECT_EQ(kernel.error_ratio, example_kernel().error_ratio);
    ASSERT_EQ(kernel.samples.size(), 1u);
    EXPECT_EQ(kernel.samples[0].rows, 64);
    EXPECT_EQ(kernel.samples[0].sample, example_sample().sample);
}

TEST(MachineReport, HoldsNumbersThatAreNone) {
    ReportedKernel kernel = example_kernel();
    kernel.error_ratio = NAN;
    EXPECT_TRUE(std::isnan(parse_report(kernel_line(0, kernel) + end_line(), 1).kernels[0].error_ratio));
    EXPECT_EQ(parse_report(emulation_line("it is qemu") + end_line(), 0).emulation, "it is qemu");
}

TEST(MachineReport, RefusesWhatIsBroken) {
    const std::string line = kernel_line(0, example_kernel());
    EXPECT_THROW(parse_report("", 1), std::runtime_error);
    EXPECT_THROW(parse_report(line, 1), std::runtime_error) << "it does not end";
    EXPECT_THROW(parse_report(line + end_line(), 0), std::runtime_error) << "there is no such kernel";
    EXPECT_THROW(parse_report("normforge: sample 0 1\n" + end_line(), 1), std::runtime_error);
    EXPECT_THROW(parse_report("normforge: kernel 0 odd ' ' 1\n" + end_line(), 1), UserError);
}

// This machine, that runs the tests by itself.
TEST(Emulation, IsNotHere) {
    EXPECT_EQ(emulation_sign(), "");
}

}  // namespace
}  // namespace normforge
