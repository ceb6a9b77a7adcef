#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autotune/measure/guarded_bytes.h"
#include "autotune/measure/operand_values.h"

namespace normforge {

// Memory for a call with every operand of a problem, each behind unreadable pages and with a stride of its own, or
// without gaps between rows. In the gaps of what is read lie NaNs; what is written is filled with a pattern. Rows
// of several groups interleave.
class CallOperands {
public:
    enum Gaps { with_gaps, without_gaps };
    CallOperands(const NormProblem &problem, int64_t rows, int64_t groups, const OperandValues &values,
                 Gaps gaps = with_gaps);

    const nf_arguments &arguments() const { return arguments_; }

    // The same, but that rows are written over rows that are read, wherever values have one size: y over x, sum
    // over residual, dx over x and so on.
    nf_arguments in_place() const;

    // The operand in whose memory such a call changed what it may not: a gap, or something that it reads.
    std::optional<std::string> damaged(const nf_arguments &called) const;

private:
    struct Memory {
        const Operand *operand;
        nf_dtype type;
        GuardedBytes guarded;
        std::vector<std::byte> initial;
    };
    void add(const Operand &operand, const std::vector<float> &values, Gaps gaps);
    bool may_change(const Memory &memory, const nf_arguments &called) const;

    const NormProblem problem_;
    nf_arguments arguments_{};
    std::vector<Memory> memory_;
    GuardedBytes workspace_;
};

}  // namespace normforge
