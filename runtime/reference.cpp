#include "runtime/reference.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <span>
#include <utility>

#include "runtime/float_types.h"

namespace normforge {

namespace {

// Neumaier's sum: the rounding error of each addition is kept and added at the end.
class CompensatedSum {
public:
    void add(double value) {
        const double next = sum_ + value;
        lost_ += std::fabs(sum_) >= std::fabs(value) ? (sum_ - next) + value : (value - next) + sum_;
        sum_ = next;
    }
    // An infinite sum has lost nothing; the difference of infinities that lost_ then holds is no number.
    double value() const { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

private:
    double sum_ = 0;
    double lost_ = 0;
};

// The mean of value(0) to value(count - 1).
template <typename Value>
double mean_of(int64_t count, Value &&value) {
    CompensatedSum sum;
    for (int64_t index = 0; index < count; index++) {
        sum.add(value(index));
    }
    return sum.value() / static_cast<double>(count);
}

double rounded(nf_dtype type, double value) {
    return type == NF_NONE ? value : round_to(type, value);
}

// The only additions that the contract wants in f32. Both values are ones of f32.
double add_in_f32(double a, double b) {
    return static_cast<float>(a) + static_cast<float>(b);
}

// Of an operand; `absent` everywhere where the problem has none.
class Values {
public:
    Values(const void *values, nf_dtype type, double absent) : values_(values), type_(type), absent_(absent) {}
    // One row of an nf_input or nf_output.
    template <typename Rows>
    Values(const Rows &rows, nf_dtype type, int64_t group, int64_t row)
        : values_(rows.data), type_(type),
          first_(type == NF_NONE ? 0 : group * rows.group_stride + row * rows.row_stride) {}

    double operator[](int64_t index) const {
        return type_ == NF_NONE ? absent_ : load_value(values_, type_, first_ + index);
    }

private:
    const void *values_;
    nf_dtype type_;
    double absent_ = 0;
    int64_t first_ = 0;
};

class Reference {
public:
    Reference(const NormProblem &problem, const nf_arguments &arguments)
        : problem_(problem), arguments_(arguments), bias_(arguments.bias, problem.bias, 0) {
        const int64_t rows = std::max<int64_t>(1, arguments.groups) * arguments.rows;
        for (std::vector<double> *values : {&norm_.h, &norm_.normalised}) {
            values->reserve(rows * problem.hidden);
        }
        (problem.pass == NF_BACKWARD ? norm_.dx : norm_.y).reserve(rows * problem.hidden);

        for (int64_t index = 0; index < problem.hidden; index++) {
            weight_.push_back(weight_factor(problem, arguments, index));
        }
        if (problem.pass == NF_BACKWARD) {
            weight_sums_.resize(problem.weight == NF_NONE ? 0 : problem.hidden);
            bias_sums_.resize(problem.bias == NF_NONE ? 0 : problem.hidden);
        }
    }

    ReferenceNorm evaluate() && {
        for (int64_t group = 0; group < std::max<int64_t>(1, arguments_.groups); group++) {
            for (int64_t row = 0; row < arguments_.rows; row++) {
                evaluate_row(group, row);
            }
        }
        for (const CompensatedSum &sum : weight_sums_) {
            norm_.dweight.push_back(sum.value());
        }
        for (const CompensatedSum &sum : bias_sums_) {
            norm_.dbias.push_back(sum.value());
        }
        return std::move(norm_);
    }

private:
    void evaluate_row(int64_t group, int64_t row) {
        append_h(group, row);
        const std::span<const double> h = last_row(norm_.h);
        const int64_t hidden = problem_.hidden;
        const double mean = problem_.op == NF_LAYER_NORM ? mean_of(hidden, [&](int64_t i) { return h[i]; }) : 0;
        const double variance = mean_of(hidden, [&](int64_t i) { return (h[i] - mean) * (h[i] - mean); });
        const double rstd =
            problem_.pass == NF_BACKWARD ? arguments_.rstd[group * arguments_.rows + row] : 1 / divisor(variance);
        norm_.mean.push_back(mean);
        norm_.rstd.push_back(rstd);
        for (int64_t index = 0; index < hidden; index++) {
            norm_.normalised.push_back((h[index] - mean) * rstd);
        }
        if (problem_.pass == NF_BACKWARD) {
            append_gradients(group, row, variance);
        } else {
            append_y();
            norm_.scales.push_back(scale());
        }
    }

    void append_h(int64_t group, int64_t row) {
        if (problem_.pass == NF_BACKWARD && problem_.sum != NF_NONE) {
            const Values sum(arguments_.sum, problem_.sum, group, row);
            for (int64_t index = 0; index < problem_.hidden; index++) {
                norm_.h.push_back(sum[index]);
            }
            return;
        }
        const Values x(arguments_.x, problem_.dtype, group, row);
        const Values residual(arguments_.residual, problem_.residual, group, row);
        for (int64_t index = 0; index < problem_.hidden; index++) {
            norm_.h.push_back(problem_.residual == NF_NONE
                                  ? x[index]
                                  : rounded(problem_.statistics, add_in_f32(x[index], residual[index])));
        }
    }

    double divisor(double variance) const {
        const double epsilon = arguments_.epsilon;
        return problem_.epsilon_place == NF_ON_DEVIATION ? std::sqrt(variance) + epsilon
                                                         : std::sqrt(variance + epsilon);
    }

    void append_y() {
        const std::span<const double> normalised = last_row(norm_.normalised);
        for (int64_t index = 0; index < problem_.hidden; index++) {
            norm_.y.push_back(rounded(problem_.normalised, normalised[index]) * weight_[index] + bias_[index]);
        }
    }

    // Of the last row. Never 0, so that a row of zeros is divided by something.
    double scale() const {
        if (problem_.scale != NF_SCALE_PER_ROW) {
            return problem_.scale == NF_SCALE_STATIC ? arguments_.scale : 1;
        }
        double largest = 0;
        for (double y : last_row(norm_.y)) {
            const double magnitude = std::fabs(rounded(problem_.unquantised, y));
            if (!std::isfinite(magnitude)) {
                return 1;
            }
            largest = std::max(largest, magnitude);
        }
        return std::max<double>(largest / largest_value(problem_.output), FLT_MIN);
    }

    // With R = rstd, n = normalised and g the gradient of n, that of h is
    //     R * (g - mean(g) - k * n * mean(g * n))
    // where k, (the derivative of 1 / R by the deviation d) / (R d), is 1 for 1 / R = sqrt(d^2 + epsilon), and
    // 1 / (R d) for 1 / R = d + epsilon. Where d is 0, it has no gradient, and the term is 0. Roundings between
    // the steps pass gradients on as they come.
    void append_gradients(int64_t group, int64_t row, double variance) {
        const int64_t hidden = problem_.hidden;
        const Values dy(arguments_.dy, problem_.output, group, row);
        const Values dsum(arguments_.dsum, problem_.sum, group, row);
        const std::span<const double> normalised = last_row(norm_.normalised);
        const auto gradient = [&](int64_t index) { return dy[index] * weight_[index]; };

        const double mean = problem_.op == NF_LAYER_NORM ? mean_of(hidden, gradient) : 0;
        double slope = mean_of(hidden, [&](int64_t i) { return gradient(i) * normalised[i]; });
        if (problem_.epsilon_place == NF_ON_DEVIATION) {
            slope = variance == 0 ? 0 : slope / (norm_.rstd.back() * std::sqrt(variance));
        }
        for (int64_t index = 0; index < hidden; index++) {
            norm_.dx.push_back(norm_.rstd.back() * (gradient(index) - mean - normalised[index] * slope) +
                               dsum[index]);
        }
        for (size_t index = 0; index < weight_sums_.size(); index++) {
            weight_sums_[index].add(dy[index] * rounded(problem_.normalised, normalised[index]));
        }
        for (size_t index = 0; index < bias_sums_.size(); index++) {
            bias_sums_[index].add(dy[index]);
        }
    }

    std::span<const double> last_row(const std::vector<double> &values) const {
        return std::span(values).last(problem_.hidden);
    }

    const NormProblem &problem_;
    const nf_arguments &arguments_;
    std::vector<double> weight_;  // with the offset; ones where the problem has none
    Values bias_;
    std::vector<CompensatedSum> weight_sums_, bias_sums_;
    ReferenceNorm norm_;
};

}  // namespace

ReferenceNorm reference_norm(const NormProblem &problem, const nf_arguments &arguments) {
    return Reference(problem, arguments).evaluate();
}

double weight_factor(const NormProblem &problem, const nf_arguments &arguments, int64_t index) {
    const double weight = Values(arguments.weight, problem.weight, 1)[index];
    return problem.weight_offset == NF_OFFSET_ONE ? add_in_f32(weight, 1) : weight;
}

}  // namespace normforge
