#include "autotune/measure/accuracy_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "autotune/base/content_hash.h"
#include "autotune/measure/call_operands.h"
#include "autotune/measure/operand_layout.h"

namespace normforge {

namespace {

constexpr float kEpsilon = 1e-5f;
constexpr uint64_t kSeed = 101;
// Test rows of long hidden sizes are fewer, so that an operand's stay within 16 MiB.
constexpr int64_t kTestValues = 1 << 22;

bool same_bits(std::span<const float> a, std::span<const float> b) {
    return std::ranges::equal(std::as_bytes(a), std::as_bytes(b));
}

// Checks of one kernel; the first failure stays.
class Check {
public:
    Check(const NormProblem &problem, const AccuracyGate::Run &run) : problem_(problem), run_(run) {}

    void run(const AccuracyGate::Batch &batch) {
        std::vector<size_t> all(batch.kinds.size());
        std::iota(all.begin(), all.end(), 0);
        const OperandValues outputs = call(batch, all, {"all rows at once"});
        judge_rows(batch, outputs);
        judge_sums(batch, outputs, "");
        for (const std::vector<float> &values : outputs) {
            digested_.insert(digested_.end(), values.begin(), values.end());
        }
        repeat(batch, outputs, all, {"called again"});
        // Rows that begin at multiples of a vector may take another way through a kernel.
        repeat(batch, outputs, all, {"without gaps between rows", 1, false, CallOperands::without_gaps});
        repeat(batch, outputs, all, {"in two groups", 2});
        std::ranges::reverse(all);
        repeat(batch, outputs, all, {"in reverse order"});
        std::ranges::sort(all);
        for (size_t row : all) {
            repeat(batch, outputs, {row}, {"in place and alone", 1, true});
        }
    }

    AccuracyGate::Result result() && {
        result_.output_digest = content_hash(std::as_bytes(std::span(digested_)));
        return std::move(result_);
    }

private:
    struct Manner {
        const char *name;
        int64_t groups = 1;
        bool in_place = false;
        CallOperands::Gaps gaps = CallOperands::with_gaps;
    };

    OperandValues call(const AccuracyGate::Batch &batch, const std::vector<size_t> &rows, const Manner &manner) {
        const CallOperands operands(problem_, static_cast<int64_t>(rows.size()) / manner.groups, manner.groups,
                                    rows_of_values(problem_, batch.values, rows), manner.gaps);
        const nf_arguments arguments = manner.in_place ? operands.in_place() : operands.arguments();
        const nf_status status = run_(arguments);
        if (status != NF_SUCCESS) {
            fail(fmt::format("{}: refused: {}", manner.name, nf_status_message(status)));
        } else if (const std::optional<std::string> damaged = operands.damaged(arguments)) {
            fail(fmt::format("{}: wrote beside the rows of {}, or what it only reads", manner.name, *damaged));
        }
        return written_values(problem_, arguments);
    }

    // The bits of each row must be those that it gave before, and sums over rows must be right in any grouping.
    void repeat(const AccuracyGate::Batch &batch, const OperandValues &outputs, const std::vector<size_t> &rows,
                const Manner &manner) {
        if (!result_.failure.empty()) {
            return;
        }
        const OperandValues repeated = call(batch, rows, manner);
        const bool same_call =
            manner.groups == 1 && std::ranges::is_sorted(rows) && rows.size() == batch.kinds.size();
        for (const Operand &operand : kOperands) {
            const std::span<const float> own = repeated[static_cast<size_t>(operand.id)];
            const std::span<const float> first = outputs[static_cast<size_t>(operand.id)];
            if (operand.shape == OperandShape::vector) {
                if (same_call && !same_bits(own, first)) {
                    fail(fmt::format("{}, the bits of {} differ", manner.name, operand.name));
                }
                continue;
            }
            const auto length = static_cast<size_t>(value_count(problem_, operand, 1));
            for (size_t place = 0; place < rows.size() && !own.empty(); place++) {
                if (!same_bits(own.subspan(place * length, length), first.subspan(rows[place] * length, length))) {
                    fail(fmt::format("row '{}': {}, the bits of {} differ", batch.kinds[rows[place]], manner.name,
                                     operand.name));
                }
            }
        }
        if (manner.groups > 1) {
            judge_sums(batch, repeated, fmt::format("{}: ", manner.name));
        }
    }

    void judge_rows(const AccuracyGate::Batch &batch, const OperandValues &outputs) {
        for (const Operand &operand : kOperands) {
            const std::vector<float> &values = outputs[static_cast<size_t>(operand.id)];
            if (operand.shape == OperandShape::vector) {
                continue;
            }
            const auto length = static_cast<size_t>(value_count(problem_, operand, 1));
            for (size_t i = 0; i < values.size(); i++) {
                judge(operand, values[i], range_of(batch, outputs, operand, i), i % length,
                      [&] { return fmt::format("row '{}': ", batch.kinds[i / length]); });
            }
        }
    }

    void judge_sums(const AccuracyGate::Batch &batch, const OperandValues &outputs, const std::string &manner) {
        for (const Operand &operand : kOperands) {
            const std::vector<float> &values = outputs[static_cast<size_t>(operand.id)];
            for (size_t i = 0; i < values.size() && operand.shape == OperandShape::vector; i++) {
                judge(operand, values[i], range_of(batch, outputs, operand, i), i, [&] { return manner; });
            }
        }
    }

    template <typename Where>
    void judge(const Operand &operand, float value, const ValueRange &range, size_t index, Where &&where) {
        if (range.contains(value)) {
            result_.error_ratio = std::max(result_.error_ratio, range.error_ratio(value));
        } else {
            fail(fmt::format("{}{} {} is {}, expected {} and allowed {} to {}", where(), operand.name, index,
                             value, range.expected, range.low, range.high));
        }
    }

    // A quantised value is right for the scale that the kernel itself has stored.
    ValueRange range_of(const AccuracyGate::Batch &batch, const OperandValues &outputs, const Operand &operand,
                        size_t index) const {
        const ValueRange &range = batch.ranges[static_cast<size_t>(operand.id)].at(index);
        if (operand.id != OperandId::y || problem_.scale == NF_SCALE_NONE) {
            return range;
        }
        const bool per_row = problem_.scale == NF_SCALE_PER_ROW;
        const float scale =
            per_row ? outputs[static_cast<size_t>(OperandId::scales)][index / static_cast<size_t>(problem_.hidden)]
                    : batch.values[static_cast<size_t>(OperandId::scale)][0];
        return quantised(range, problem_.output, scale);
    }

    void fail(const std::string &what) {
        if (result_.failure.empty()) {
            result_.failure = what;
        }
    }

    const NormProblem &problem_;
    const AccuracyGate::Run &run_;
    AccuracyGate::Result result_;
    std::vector<float> digested_;
};

bool all_equal(const std::vector<float> &values) {
    return std::ranges::all_of(values, [&](float value) { return value == values[0]; });
}

// Whether no sum over the row can leave f32's range. Backward finds its sums in f32 alone.
bool has_f32_sums(const TestRow &row) {
    constexpr float kMost = 0x1p118f;
    const auto fits = [](float value) { return std::fabs(value) < kMost; };
    return row.finite && std::ranges::all_of(row.x, fits) && std::ranges::all_of(row.residual, fits);
}

// An even number of them, for two groups.
void keep_few(const NormProblem &problem, std::vector<TestRow> &rows) {
    const auto most = static_cast<size_t>(kTestValues / problem.hidden);
    rows.resize(std::clamp<size_t>(most, 2, rows.size()) / 2 * 2);
}

}  // namespace

AccuracyGate::AccuracyGate(const NormProblem &problem, MergedIn merged) : problem_(problem), merged_(merged) {
    // Sums over rows are judged where every row's part of them can be.
    std::vector<TestRow> judged, others, scale_free;
    // They go over several slices of rows.
    const size_t wanted =
        problem.pass == NF_BACKWARD ? 2 * static_cast<size_t>(gradient_slice_rows(problem)) + 4 : 1;
    for (uint64_t seed = 1; judged.size() < wanted; seed += 1000) {
        for (const TestRow &row : test_rows(problem, seed)) {
            const bool after_another = row.kind.starts_with("after");
            if (has_f32_sums(row) && !after_another) {
                judged.push_back(row);
            } else if (seed == 1) {
                others.push_back(row);
            }
            if (seed == 1 && row.scale_free && !all_equal(row.x)) {
                scale_free.push_back(row);
            }
        }
    }
    add_batch(judged, kEpsilon);
    add_batch(others, kEpsilon);
    add_batch(scale_free, 0);
}

void AccuracyGate::add_batch(const std::vector<TestRow> &rows, float epsilon) {
    std::vector<TestRow> few = rows;
    if (few.size() < 2) {
        return;
    }
    keep_few(problem_, few);
    Batch batch;
    for (const TestRow &row : few) {
        batch.kinds.push_back(row.kind);
    }
    batch.values = read_values(problem_, few, epsilon, kSeed);
    const CallOperands operands(problem_, static_cast<int64_t>(few.size()), 1, batch.values);
    batch.ranges = value_ranges(problem_, operands.arguments(), merged_);
    batches_.push_back(std::move(batch));
}

AccuracyGate::Result AccuracyGate::check(const nf_kernel &kernel) const {
    return check([&](const nf_arguments &arguments) { return nf_run(&kernel, &arguments); });
}

AccuracyGate::Result AccuracyGate::check(const Run &run) const {
    Check check(problem_, run);
    for (const Batch &batch : batches_) {
        check.run(batch);
    }
    return std::move(check).result();
}

}  // namespace normforge
