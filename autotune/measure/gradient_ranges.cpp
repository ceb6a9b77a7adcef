#include "autotune/measure/gradient_ranges.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "autotune/measure/lane_sums.h"
#include "runtime/cuda_slices.h"
#include "runtime/float_types.h"
#include "runtime/kernel_table.h"
#include "runtime/reference.h"

namespace normforge {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// A lane sums no more than these before its sum moves to f64.
constexpr double kLaneTerms = 130;

// The mean of what a kernel sums over a row, what it may be off by, and the largest term.
struct RowMean {
    double mean = 0;
    double error = 0;
    double largest = 0;
};

// Each term has been rounded that often.
template <typename Value>
RowMean row_mean(int64_t count, double term_roundings, Value &&value) {
    RowMean result;
    std::vector<double> terms;
    for (int64_t i = 0; i < count; i++) {
        terms.push_back(value(i));
        result.mean += terms.back() / static_cast<double>(count);
        result.largest = std::max(result.largest, std::fabs(terms.back()));
    }
    result.error = lane_mean_error(terms, term_roundings);
    return result;
}

// One row of a backward pass. Errors are absolute where no other word is said.
class BackwardRow {
public:
    BackwardRow(const NormProblem &problem, const nf_arguments &arguments, MergedIn merged)
        : problem_(problem), arguments_(arguments), in_f32_(merged == MergedIn::f32),
          exact_(reference_norm(problem, arguments)), rstd_(exact_.rstd[0]),
          centre_(problem.op == NF_LAYER_NORM ? arguments.mean[0] : 0) {
        const int64_t hidden = problem.hidden;
        for (int64_t i = 0; i < hidden; i++) {
            gradients_.push_back(dy(i) * weight_factor(problem, arguments, i));
        }
        const auto scaled = [&](int64_t i) { return (exact_.h[i] - centre_) * rstd_; };
        const RowMean product =
            row_mean(hidden, 4 + merging(), [&](int64_t i) { return gradients_[i] * scaled(i); });
        const RowMean slope = row_mean(hidden, 0, [&](int64_t i) { return gradients_[i] * exact_.normalised[i]; });
        const RowMean square = row_mean(hidden, 5 + merging(), [&](int64_t i) { return scaled(i) * scaled(i); });
        RowMean distance, gradient;
        if (problem.op == NF_LAYER_NORM) {
            // In f32 alone distances are summed times rstd.
            const double factor = in_f32_ ? 1 : 0;
            distance = row_mean(hidden, 1 + factor + merging(), [&](int64_t i) { return exact_.h[i] - centre_; });
            gradient = row_mean(hidden, 1 + merging(), [&](int64_t i) { return gradients_[i]; });
        }
        const bool on_deviation = problem.epsilon_place == NF_ON_DEVIATION;
        const double largest =
            std::max({distance.largest, gradient.largest, product.largest, on_deviation ? square.largest : 0});
        if (has_nan()) {
            outcome_ = Outcome::nan;
        } else if ((in_f32_ ? static_cast<double>(hidden) : kLaneTerms) * largest < FLT_MAX &&
                   std::isfinite(slope.mean + rstd_)) {
            outcome_ = Outcome::bounded;
        }

        // The sums are taken about the saved mean.
        const double shift = problem.op == NF_LAYER_NORM ? exact_.mean[0] - centre_ : 0;
        if (problem.op == NF_LAYER_NORM) {
            mean_error_ = distance.error + kF32Rounding * std::fabs(shift);
            if (in_f32_ && rstd_ > 0) {
                mean_error_ += kF32Smallest / rstd_;
            }
            gradient_mean_ = gradient.mean;
            gradient_mean_error_ = gradient.error + kF32Rounding * std::fabs(gradient.mean);
        }
        slope_ = slope.mean;
        slope_error_ = product.error +
                       rstd_ * (mean_error_ * std::fabs(gradient_mean_) + std::fabs(shift) * gradient_mean_error_);
        if (in_f32_) {
            slope_error_ += kF32Rounding * (std::fabs(product.mean) + std::fabs(shift * rstd_ * gradient_mean_));
        }
        if (on_deviation) {
            divide_slope(square, shift * rstd_);
        }
        slope_error_ += kF32Rounding * std::fabs(slope_);
    }

    double dy(int64_t i) const { return load_value(arguments_.dy.data, problem_.output, i); }

    ValueRange dx(int64_t i, nf_dtype type) const {
        const double expected = exact_.dx[i];
        const double dsum = problem_.sum == NF_NONE ? 0 : load_value(arguments_.dsum.data, problem_.sum, i);
        const double normalised = exact_.normalised[i];
        const double along = normalised * slope_;
        // Three roundings of each term: when it is made, and when the terms are added in any order.
        const double terms = std::fabs(gradients_[i]) + std::fabs(gradient_mean_) + std::fabs(along);
        const double error = 3 * kF32Rounding * terms + gradient_mean_error_ +
                             normalised_error(i) * (std::fabs(slope_) + slope_error_) +
                             std::fabs(normalised) * slope_error_ + 3 * kF32Smallest;
        const double product = expected - dsum;
        const double reach = rstd_ * error + kF32Rounding * std::fabs(product) + kF32Smallest;
        return range(type, expected, product - reach + dsum, product + reach + dsum);
    }

    // What the gradient of the output is multiplied by for that of the weight: exactly, and in the kernel.
    double exact_factor(int64_t i) const {
        const double exact = exact_.normalised[i];
        return problem_.normalised == NF_NONE ? exact : round_to(problem_.normalised, exact);
    }
    ValueRange factor(int64_t i) const {
        const double exact = exact_.normalised[i];
        const double error = normalised_error(i);
        const nf_dtype type = problem_.normalised == NF_NONE ? NF_F32 : problem_.normalised;
        return range(type, exact, exact - error, exact + error);
    }

private:
    // What can be said of the row: with infinities, or sums beyond f32, it depends on the order of operations.
    enum class Outcome { bounded, nan, anything };

    bool has_nan() const {
        const auto is_nan = [](double value) { return std::isnan(value); };
        const auto is_infinite = [](double value) { return std::isinf(value); };
        return std::isnan(rstd_) || std::ranges::any_of(exact_.h, is_nan) ||
               std::ranges::any_of(gradients_, is_nan) ||
               (rstd_ == 0 && std::ranges::any_of(exact_.h, is_infinite));
    }

    // Roundings that each term of a row's mean takes part in when all threads' sums are merged in f32, and when
    // the total is divided.
    double merging() const { return in_f32_ ? kMerges + 1 : 0; }

    ValueRange range(nf_dtype type, double expected, double low, double high) const {
        return outcome_ == Outcome::anything ? anything(expected) : rounded_range(type, expected, low, high);
    }

    // By the root of the normalised values' second moment. One that is lost beside its error comes out as zero,
    // with no slope then, or as something that one value's square has left of it.
    void divide_slope(const RowMean &square, double scaled_shift) {
        const double moment = std::max(0.0, square.mean - scaled_shift * scaled_shift);
        double error = square.error + 2 * std::fabs(scaled_shift) * rstd_ * mean_error_;
        if (in_f32_) {
            error += kF32Rounding * (square.mean + scaled_shift * scaled_shift);
        }
        const double largest = std::fabs(slope_) + slope_error_;
        const double low = std::max(moment - error, kF32Smallest / static_cast<double>(problem_.hidden));
        const double slope = moment > 0 ? slope_ / std::sqrt(moment) : 0;
        const double high = largest / std::sqrt(low);
        slope_error_ = moment > error ? high - std::fabs(slope) : high + std::fabs(slope);
        slope_error_ += 4 * kF32Rounding * std::fabs(slope);
        slope_ = slope;
    }

    // Before the product is rounded.
    double normalised_error(int64_t i) const {
        if (problem_.op == NF_RMS_NORM) {
            return kF32Smallest;
        }
        const double about_saved = std::fabs(exact_.h[i] - centre_);
        // In f32 alone it is the distance times rstd that the mean's part is taken off.
        const double rounding =
            kF32Rounding * ((in_f32_ ? 2 : 1) * about_saved + std::fabs(exact_.h[i] - exact_.mean[0]));
        return rstd_ * (mean_error_ + rounding) + kF32Smallest;
    }

    const NormProblem &problem_;
    const nf_arguments &arguments_;
    const bool in_f32_;
    const ReferenceNorm exact_;
    const double rstd_;
    const double centre_;            // the saved mean
    std::vector<double> gradients_;  // of what the weight multiplies
    Outcome outcome_ = Outcome::anything;
    double mean_error_ = 0;
    double gradient_mean_ = 0;
    double gradient_mean_error_ = 0;
    double slope_;
    double slope_error_;
};

}  // namespace

GradientRanges::GradientRanges(const NormProblem &problem, MergedIn merged) : problem_(problem), merged_(merged) {
    const bool backward = problem.pass == NF_BACKWARD;
    weight_sums_.resize(backward && problem.weight != NF_NONE ? problem.hidden : 0);
    bias_sums_.resize(backward && problem.bias != NF_NONE ? problem.hidden : 0);
}

void GradientRanges::append_row(const nf_arguments &arguments, OperandRanges &ranges) {
    const BackwardRow row(problem_, arguments, merged_);
    for (OperandId id : {OperandId::dx, OperandId::dresidual}) {
        const nf_dtype type = operand_type(problem_, operand(id));
        for (int64_t i = 0; type != NF_NONE && i < problem_.hidden; i++) {
            ranges[static_cast<size_t>(id)].push_back(row.dx(i, type));
        }
    }
    const auto add = [&](Sum &sum, double dy, double exact, const ValueRange &factor) {
        sum.expected += dy * exact;
        if (factor.is_anything()) {
            sum.low -= kInfinity;
            sum.high += kInfinity;
            return;
        }
        sum.low += dy * (dy < 0 ? factor.high : factor.low);
        sum.high += dy * (dy < 0 ? factor.low : factor.high);
        sum.magnitudes += std::fabs(dy) * std::max(std::fabs(factor.low), std::fabs(factor.high));
    };
    const auto hidden = static_cast<size_t>(problem_.hidden);
    for (size_t i = 0; i < hidden && !weight_sums_.empty(); i++) {
        add(weight_sums_[i], row.dy(i), row.exact_factor(i), row.factor(i));
    }
    for (size_t i = 0; i < hidden && !bias_sums_.empty(); i++) {
        add(bias_sums_[i], row.dy(i), 1, {1, 1, 1});
    }
    rows_++;
}

void GradientRanges::append_sums(OperandRanges &ranges) const {
    append_sum(OperandId::dweight, weight_sums_, ranges);
    append_sum(OperandId::dbias, bias_sums_, ranges);
}

void GradientRanges::append_sum(OperandId id, const std::vector<Sum> &sums, OperandRanges &ranges) const {
    // A term is rounded when it is made, by each addition in its slice, and by each level of the tree above it. Of
    // a GPU's slices the errors are kept.
    int64_t slice = std::min(rows_, gradient_slice_rows(problem_));
    if (merged_ == MergedIn::f32) {
        slice = std::max(slice, (rows_ - 1) / cuda_slices(problem_, rows_) + 1);
    }
    const double levels = std::ceil(std::log2(static_cast<double>(std::max<int64_t>(1, rows_))));
    const double rounding = (static_cast<double>(slice) + levels + 1) * kF32Rounding;
    for (const Sum &sum : sums) {
        const double error = rounding * sum.magnitudes + kF32Smallest * static_cast<double>(rows_);
        // A NaN that must be one has made low one too.
        const bool any = std::isinf(sum.low) && std::isinf(sum.high);
        ranges[static_cast<size_t>(id)].push_back(any ? anything(sum.expected)
                                                      : rounded_range(operand_type(problem_, operand(id)),
                                                                      sum.expected, sum.low - error,
                                                                      sum.high + error));
    }
}

}  // namespace normforge
