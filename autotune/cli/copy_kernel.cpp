#include "autotune/cli/copy_kernel.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "autotune/base/robust_stats.h"
#include "autotune/measure/contest.h"
#include "runtime/norm_problem.h"
#include "runtime/user_error.h"

namespace normforge {

namespace {

constexpr int kBlocks = 11;
constexpr double kSampleNanoseconds = 500e3;

template <nf_input nf_arguments::*from, nf_output nf_arguments::*to, int64_t value_bytes>
void copy_rows(const nf_arguments *arguments) {
    const int64_t values = arguments->rows * (arguments->*from).row_stride;
    std::memcpy((arguments->*to).data, (arguments->*from).data, static_cast<size_t>(values * value_bytes));
}

template <int64_t value_bytes>
SingleKernel::Entry copy_entry(nf_pass pass) {
    return pass == NF_FORWARD ? copy_rows<&nf_arguments::x, &nf_arguments::y, value_bytes>
                              : copy_rows<&nf_arguments::dy, &nf_arguments::dx, value_bytes>;
}

// The bytes of a value that both ends of the copy hold.
size_t value_bytes_of(const NormProblem &problem) {
    return std::min(element_size(problem.dtype), element_size(problem.output));
}

}  // namespace

SingleKernel::Entry copy_entry(const NormProblem &problem) {
    switch (value_bytes_of(problem)) {
    case 1:
        return copy_entry<1>(problem.pass);
    case 2:
        return copy_entry<2>(problem.pass);
    default:
        return copy_entry<4>(problem.pass);
    }
}

double copied_bytes(const NormProblem &problem, int64_t rows) {
    return 2 * static_cast<double>(value_bytes_of(problem)) * static_cast<double>(problem.hidden * rows);
}

double measure_copy(const NormProblem &problem, int64_t rows) {
    const SingleKernel copy(problem, copy_entry(problem));
    const TimingOperands operands(problem, rows);
    std::vector<double> nanoseconds;
    Contest contest{&copy.kernel(), {&copy.kernel()}, &operands, 0, kBlocks, kSampleNanoseconds, 1};
    contest.moves_all_rows = false;
    run_contest(contest, {.sample = [&](size_t, const Sample &sample) { nanoseconds.push_back(sample.ns); },
                          .out = [](size_t, TrialStatus, const std::string &reason) { throw UserError(reason); }});
    return copied_bytes(problem, rows) / median(nanoseconds);
}

}  // namespace normforge
