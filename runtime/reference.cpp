#include "runtime/reference.h"

#include <cmath>
#include <cstdlib>

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

double element(const void *values, nf_dtype type, int64_t index, double absent) {
    switch (type) {
    case NF_NONE:
        return absent;
    case NF_F32:
        return static_cast<const float *>(values)[index];
    }
    std::abort();
}

}  // namespace

void reference_norm(const NormProblem &problem, const nf_arguments &arguments, double *y) {
    const auto hidden = static_cast<double>(problem.hidden);
    for (int64_t row = 0; row < arguments.rows; row++) {
        auto x = [&](int64_t index) {
            return element(arguments.x, problem.dtype, row * arguments.x_row_stride + index, 0);
        };
        double mean = 0;
        if (problem.op == NF_LAYER_NORM) {
            CompensatedSum sum;
            for (int64_t index = 0; index < problem.hidden; index++) {
                sum.add(x(index));
            }
            mean = sum.value() / hidden;
        }
        CompensatedSum squares;
        for (int64_t index = 0; index < problem.hidden; index++) {
            const double deviation = x(index) - mean;
            squares.add(deviation * deviation);
        }
        const double scale = std::sqrt(squares.value() / hidden + arguments.epsilon);
        for (int64_t index = 0; index < problem.hidden; index++) {
            y[row * problem.hidden + index] =
                (x(index) - mean) / scale * element(arguments.weight, problem.weight, index, 1) +
                element(arguments.bias, problem.bias, index, 0);
        }
    }
}

}  // namespace normforge
