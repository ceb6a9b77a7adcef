#include "examples/accuracy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace normforge {

namespace {

void compare_value(double exact, float value, double bound, Accuracy &accuracy) {
    const double error = std::isnan(value) ? std::numeric_limits<double>::infinity() : std::abs(value - exact);
    accuracy.largest_error = std::max(accuracy.largest_error, error);
    accuracy.largest_output = std::max(accuracy.largest_output, std::abs(exact));
    if (error > 0) {
        accuracy.largest_ratio = std::max(accuracy.largest_ratio, error / bound);
    }
}

}  // namespace

void compare_with_f64(const nf_problem &problem, const nf_arguments &run, Accuracy &accuracy) {
    const bool centred = problem.op == NF_LAYER_NORM;
    const auto hidden = static_cast<double>(problem.hidden);
    const auto *weight = static_cast<const float *>(run.weight);
    const auto *bias = static_cast<const float *>(run.bias);
    for (int64_t row = 0; row < run.rows; ++row) {
        const float *x = static_cast<const float *>(run.x.data) + row * run.x.row_stride;
        const float *y = static_cast<const float *>(run.y.data) + row * run.y.row_stride;
        double sum = 0;
        for (int64_t i = 0; i < problem.hidden; ++i) {
            sum += x[i];
        }
        const double centre = centred ? sum / hidden : 0;
        double squares = 0;
        for (int64_t i = 0; i < problem.hidden; ++i) {
            squares += (x[i] - centre) * (x[i] - centre);
        }
        const double scale = 1 / std::sqrt(squares / hidden + run.epsilon);
        for (int64_t i = 0; i < problem.hidden; ++i) {
            const double z = (x[i] - centre) * scale;
            const double w = problem.weight == NF_NONE ? 1 : weight[i];
            const double exact = z * w + (problem.bias == NF_NONE ? 0 : bias[i]);
            const double shift = centred ? 1 : 0;
            const double bound = std::numeric_limits<float>::epsilon() *
                                 (std::sqrt(hidden) * (std::abs(z) + shift) * std::abs(w) + std::abs(exact));
            compare_value(exact, y[i], bound, accuracy);
        }
    }
    accuracy.rows += run.rows;
}

}  // namespace normforge
