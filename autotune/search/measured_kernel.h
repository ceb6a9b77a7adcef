#pragma once

#include <string>
#include <vector>

#include "autotune/search/any_kernel.h"
#include "autotune/search/decision.h"

namespace normforge {

// A kernel that a decision chose: what it was measured as.
struct MeasuredKernel {
    AnyKernelSpec spec;
    int64_t min_rows;  // it serves from here up to the next one's
    std::string object_hash;
    std::string code_hash;
    bool is_of_code;  // that was measured or simulated; the static model of GPUs judges schedules
};

// By rising min_rows, the first one's 0; changes are halfway, in ratio, between numbers of rows that were
// measured. Throws UserError where the decision is dead: its target or knobs are none any more, or do not fit its
// problem.
std::vector<MeasuredKernel> measured_kernels(const Decision &decision);

// Whether the code, of the same spec by the generators and compilers of today, is the one that was measured, or
// its object has that machine code. Otherwise what was measured says nothing of it. Any code is the same where it
// was the schedule that was judged.
enum class CodeState { same_object, same_code, other_code };
CodeState compare(const MeasuredKernel &measured, const std::string &code);

// "1.31x the heuristic at 1 row, the heuristic's own at 512 rows"
std::string gains(const Decision &decision);

}  // namespace normforge
