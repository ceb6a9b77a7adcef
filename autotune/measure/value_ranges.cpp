#include "autotune/measure/value_ranges.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "autotune/measure/gradient_ranges.h"
#include "autotune/measure/lane_sums.h"
#include "autotune/measure/operand_layout.h"
#include "autotune/measure/statistics_range.h"
#include "runtime/float_types.h"
#include "runtime/reference.h"

namespace normforge {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Numbers between which one of the kernel's lies. A NaN end is no end.
struct Interval {
    double low;
    double high;

    template <typename Function>
    Interval each(Function &&rising) const {
        return {rising(low), rising(high)};
    }
};

Interval hull(const Interval &a, const Interval &b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval product(const Interval &a, double factor) {
    return factor < 0 ? Interval{a.high * factor, a.low * factor} : Interval{a.low * factor, a.high * factor};
}

// Both of numbers >= 0 but for the first.
Interval product(const Interval &a, const Interval &factor) {
    return {a.low * (a.low < 0 ? factor.high : factor.low), a.high * (a.high < 0 ? factor.low : factor.high)};
}

double in_f32(double value) {
    return static_cast<float>(value);
}

// One row of a forward pass.
class ForwardRow {
public:
    ForwardRow(const NormProblem &problem, const nf_arguments &arguments, MergedIn merged)
        : problem_(problem), arguments_(arguments), exact_(reference_norm(problem, arguments)) {
        finite_ = std::ranges::all_of(exact_.h, [](double value) { return std::isfinite(value); });
        if (finite_) {
            statistics_ = statistics_range(problem, exact_.h, exact_.mean[0], arguments.epsilon, merged);
        } else {
            // The formula's 0 or NaN, which no rounding changes.
            statistics_ = {0, exact_.rstd[0], exact_.rstd[0]};
        }
    }

    ValueRange sum(int64_t i) const { return rounded_range(problem_.sum, exact_.h[i], exact_.h[i], exact_.h[i]); }

    ValueRange mean() const {
        const double mean = exact_.mean[0];
        const bool any = std::ranges::any_of(exact_.h, [](double value) { return std::isnan(value); });
        if (!finite_ && !any) {
            return anything(mean);  // infinite, or the difference of infinities
        }
        return rounded_range(NF_F32, mean, mean - statistics_.mean_error, mean + statistics_.mean_error);
    }

    ValueRange rstd() const {
        return rounded_range(NF_F32, exact_.rstd[0], statistics_.rstd_low, statistics_.rstd_high);
    }

    // The f32 that is rounded to the output's type, or divided by the scale.
    ValueRange value(int64_t i) const {
        const Interval exact_product = normalised(i);
        Interval factor = exact_product.each(in_f32);
        if (problem_.normalised != NF_NONE) {
            factor = factor.each([&](double value) { return round_to(problem_.normalised, value); });
        }
        Interval value = factor;
        if (problem_.weight != NF_NONE) {
            value = product(factor, weight_factor(problem_, arguments_, i));
        } else if (problem_.normalised == NF_NONE) {
            value = exact_product;
        }
        // The product may be rounded before the bias is added, or not.
        if (problem_.bias != NF_NONE) {
            const double bias = load_value(arguments_.bias, problem_.bias, i);
            const auto with_bias = [&](double number) { return number + bias; };
            value = hull(value.each(with_bias), value.each(in_f32).each(with_bias));
        }
        const nf_dtype type = is_quantised(problem_.output) ? problem_.unquantised : problem_.output;
        return rounded_range(type == NF_NONE ? NF_F32 : type, exact_.y[i], value.low, value.high);
    }

    ValueRange scale(const std::vector<ValueRange> &values) const {
        const auto exact = static_cast<float>(exact_.scales[0]);
        float low = 0;
        float high = 0;
        for (const ValueRange &value : values) {
            if (!std::isfinite(value.expected)) {
                return {exact, exact, exact};
            }
            const bool both_signs = value.low < 0 && value.high > 0;
            low = std::max(low, both_signs ? 0 : std::min(std::fabs(value.low), std::fabs(value.high)));
            high = std::max({high, std::fabs(value.low), std::fabs(value.high)});
        }
        if (!std::isfinite(high)) {
            return anything(exact);
        }
        const auto largest = static_cast<float>(largest_value(problem_.output));
        return {exact, std::max(low / largest, FLT_MIN), std::max(high / largest, FLT_MIN)};
    }

private:
    // (h - mean) * rstd before the product is rounded.
    Interval normalised(int64_t i) const {
        const double exact = exact_.normalised[i];
        if (!finite_) {
            return {exact, exact};
        }
        const double distance = exact_.h[i] - exact_.mean[0];
        double error = statistics_.mean_error;
        if (problem_.op == NF_LAYER_NORM) {
            error += 2 * kF32Rounding * (std::fabs(distance) + error) + lost_centre_error();
        }
        const Interval rstd = {statistics_.rstd_low * (1 - kF32Rounding),
                               statistics_.rstd_high * (1 + kF32Rounding)};
        const Interval value = product(Interval{distance - error, distance + error}, rstd);
        const double underflow = distance == 0 && error == 0 ? 0 : kF32Smallest;
        return {value.low - underflow, value.high + underflow};
    }

    // What a kernel may leave out of the mean's second number, none of a row of equal values.
    double lost_centre_error() const {
        constexpr double kOfDeviation = 0x1p-26;
        return statistics_.mean_error == 0
                   ? 0
                   : std::min(kOfDeviation / statistics_.rstd_low, kF32Rounding * std::fabs(exact_.mean[0]));
    }

    const NormProblem &problem_;
    const nf_arguments &arguments_;
    const ReferenceNorm exact_;
    bool finite_;
    StatisticsRange statistics_;
};

void append_forward(const NormProblem &problem, const nf_arguments &arguments, MergedIn merged,
                    OperandRanges &ranges) {
    const ForwardRow row(problem, arguments, merged);
    const auto append = [&](OperandId id, const ValueRange &range) {
        if (operand_type(problem, operand(id)) != NF_NONE) {
            ranges[static_cast<size_t>(id)].push_back(range);
        }
    };
    std::vector<ValueRange> values;
    for (int64_t i = 0; i < problem.hidden; i++) {
        values.push_back(row.value(i));
        append(OperandId::y, values.back());
        if (problem.sum != NF_NONE) {
            append(OperandId::sum, row.sum(i));
        }
    }
    append(OperandId::mean, row.mean());
    append(OperandId::rstd, row.rstd());
    if (problem.scale == NF_SCALE_PER_ROW) {
        append(OperandId::scales, row.scale(values));
    }
}

}  // namespace

bool ValueRange::is_anything() const {
    return low == -kInfinity && high == kInfinity;
}

bool ValueRange::contains(float value) const {
    if (is_anything()) {
        return true;
    }
    return std::isnan(low) ? std::isnan(value) : low <= value && value <= high;
}

double ValueRange::error_ratio(float value) const {
    if (value == expected || std::isnan(value) || std::isnan(expected)) {
        return 0;
    }
    const double reach = value > expected ? double(high) - expected : double(expected) - low;
    return std::isfinite(reach) ? std::fabs(double(value) - expected) / reach : 0;
}

ValueRange anything(double expected) {
    return {static_cast<float>(expected), -kInfinity, kInfinity};
}

ValueRange rounded_range(nf_dtype type, double expected, double low, double high) {
    const auto round = [&](double value) { return static_cast<float>(round_to(type, value)); };
    if (std::isnan(expected)) {
        return {kNan, kNan, kNan};
    }
    if (std::isnan(low) || std::isnan(high)) {
        return anything(expected);
    }
    // Each step of the kernel rounds to f32 first.
    return {round(expected), round(in_f32(low)), round(in_f32(high))};
}

ValueRange quantised(const ValueRange &range, nf_dtype type, float scale) {
    const auto quantise = [&](float value) { return static_cast<float>(round_to(type, value / scale)); };
    if (range.is_anything()) {
        return range;
    }
    return {quantise(range.expected), quantise(range.low), quantise(range.high)};
}

OperandRanges value_ranges(const NormProblem &problem, const nf_arguments &arguments, MergedIn merged) {
    OperandRanges ranges;
    GradientRanges gradients(problem, merged);
    for (int64_t group = 0; group < std::max<int64_t>(1, arguments.groups); group++) {
        for (int64_t row = 0; row < arguments.rows; row++) {
            const nf_arguments alone = one_row(problem, arguments, group, row);
            if (problem.pass == NF_BACKWARD) {
                gradients.append_row(alone, ranges);
            } else {
                append_forward(problem, alone, merged, ranges);
            }
        }
    }
    if (problem.pass == NF_BACKWARD) {
        gradients.append_sums(ranges);
    }
    return ranges;
}

}  // namespace normforge
