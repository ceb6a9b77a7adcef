#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <vector>

#include "runtime/float_types.h"
#include "runtime/operands.h"

namespace normforge {

// Norms as plain C++, computed in f64 and rounded where the problem or f32 wants it, with the steps that wrong
// ones change.

// What the kernels compute. A compiled kernel knows it; its arguments do not tell.
inline NormProblem problem;

struct Statistics {
    double mean = 0;
    double mean_square = 0;  // about the mean
};

inline double rounded(nf_dtype type, double value) {
    return type == NF_NONE ? value : round_to(type, value);
}

class PlainNorm {
public:
    explicit PlainNorm(const nf_arguments &arguments) : arguments_(arguments) {}
    virtual ~PlainNorm() = default;

    void run() {
        for (int64_t r = 0; r < arguments_.rows; r++) {
            problem.pass == NF_BACKWARD ? backward_row(r) : forward_row(r);
        }
        for (size_t i = 0; i < dweight_.size() && arguments_.dweight; i++) {
            static_cast<float *>(arguments_.dweight)[i] = static_cast<float>(dweight_[i]);
        }
        for (size_t i = 0; i < dbias_.size() && arguments_.dbias; i++) {
            static_cast<float *>(arguments_.dbias)[i] = static_cast<float>(dbias_[i]);
        }
    }

protected:
    template <typename Rows>
    static double load(const Rows &rows, nf_dtype type, int64_t r, int64_t i) {
        return type == NF_NONE ? 0 : load_value(rows.data, type, r * rows.row_stride + i);
    }

    static void store(const nf_output &rows, nf_dtype type, int64_t r, int64_t i, double value) {
        if (type != NF_NONE) {
            store_value(rows.data, type, r * rows.row_stride + i, value);
        }
    }

    virtual double h(int64_t r, int64_t i) const {
        if (problem.pass == NF_BACKWARD && problem.sum != NF_NONE) {
            return load(arguments_.sum, problem.sum, r, i);
        }
        const auto x = static_cast<float>(load(arguments_.x, problem.dtype, r, i));
        const auto residual = static_cast<float>(load(arguments_.residual, problem.residual, r, i));
        return rounded(problem.statistics, problem.residual == NF_NONE ? x : x + residual);
    }

    virtual Statistics statistics(const std::vector<double> &h) const {
        Statistics result;
        const auto hidden = static_cast<double>(problem.hidden);
        if (problem.op == NF_LAYER_NORM) {
            for (double value : h) {
                result.mean += (value - h[0]) / hidden;  // of equal values exactly 0
            }
            result.mean += h[0];
        }
        for (double value : h) {
            result.mean_square += (value - result.mean) * (value - result.mean) / hidden;
        }
        return result;
    }

    virtual double epsilon() const { return arguments_.epsilon; }

    virtual double rstd(const Statistics &row) const {
        return problem.epsilon_place == NF_ON_DEVIATION ? 1 / (std::sqrt(row.mean_square) + epsilon())
                                                        : 1 / std::sqrt(row.mean_square + epsilon());
    }

    virtual double weight(int64_t i) const {
        if (problem.weight == NF_NONE) {
            return 1;
        }
        const double weight = load_value(arguments_.weight, problem.weight, i);
        return problem.weight_offset == NF_OFFSET_ONE ? static_cast<float>(weight + 1) : weight;
    }

    virtual double bias(int64_t i) const {
        return problem.bias == NF_NONE ? 0 : load_value(arguments_.bias, problem.bias, i);
    }

    virtual double normalised(double h, const Statistics &row, double rstd) const {
        return rounded(problem.normalised, static_cast<float>((h - row.mean) * rstd));
    }

    // Rounded to f32, and to the type before it is quantised.
    virtual double affine(double normalised, int64_t i) const {
        return rounded(problem.unquantised, static_cast<float>(normalised * weight(i) + bias(i)));
    }

    virtual float scale(const std::vector<double> &values) const {
        if (problem.scale == NF_SCALE_STATIC) {
            return arguments_.scale;
        }
        double largest = 0;
        for (double value : values) {
            if (!std::isfinite(value)) {
                return 1;
            }
            largest = std::max(largest, std::fabs(value));
        }
        return static_cast<float>(std::max<double>(largest / largest_value(problem.output), FLT_MIN));
    }

    virtual double output(double value, float scale) const {
        return problem.scale == NF_SCALE_NONE ? value : static_cast<float>(value) / scale;
    }

    virtual void write(int64_t r, const std::vector<double> &values) {
        for (int64_t i = 0; i < problem.hidden; i++) {
            store(arguments_.y, problem.output, r, i, values[i]);
        }
    }

    virtual void forward_row(int64_t r) {
        const std::vector<double> row_h = h_of(r);
        const Statistics row = statistics(row_h);
        const double row_rstd = rstd(row);
        std::vector<double> values(row_h.size());
        for (int64_t i = 0; i < problem.hidden; i++) {
            values[i] = affine(normalised(row_h[i], row, row_rstd), i);
        }
        const float row_scale = problem.scale == NF_SCALE_NONE ? 1 : scale(values);
        if (problem.scale == NF_SCALE_PER_ROW) {
            arguments_.scales[r] = row_scale;
        }
        for (double &value : values) {
            value = output(value, row_scale);
        }
        for (int64_t i = 0; i < problem.hidden; i++) {
            store(arguments_.sum, problem.sum, r, i, row_h[i]);
        }
        write(r, values);
        save_statistics(r, row, row_rstd);
    }

    virtual void save_statistics(int64_t r, const Statistics &row, double row_rstd) {
        if (problem.saved_statistics == NF_YES) {
            arguments_.rstd[r] = static_cast<float>(row_rstd);
            if (problem.op == NF_LAYER_NORM) {
                arguments_.mean[r] = static_cast<float>(row.mean);
            }
        }
    }

    virtual double gradient_mean(double mean) const { return problem.op == NF_LAYER_NORM ? mean : 0; }

    // Of mean(g * n), which the deviation's gradient is made of. rstd is the saved one.
    virtual double slope_factor(const Statistics &row, double rstd) const {
        if (problem.epsilon_place == NF_IN_ROOT) {
            return 1;
        }
        return row.mean_square == 0 ? 0 : 1 / (rstd * std::sqrt(row.mean_square));
    }

    virtual void add(double &sum, double term) const { sum += term; }

    virtual void backward_row(int64_t r) {
        dweight_.resize(problem.hidden);
        dbias_.resize(problem.hidden);
        const std::vector<double> row_h = h_of(r);
        const Statistics row = statistics(row_h);
        const double row_rstd = arguments_.rstd[r];
        std::vector<double> g, n, dsum;
        double mean = 0;
        double slope = 0;
        for (int64_t i = 0; i < problem.hidden; i++) {
            const double dy = load(arguments_.dy, problem.output, r, i);
            dsum.push_back(load(arguments_.dsum, problem.sum, r, i));
            n.push_back((row_h[i] - row.mean) * row_rstd);
            g.push_back(dy * weight(i));
            mean += g[i] / static_cast<double>(problem.hidden);
            slope += g[i] * n[i] / static_cast<double>(problem.hidden);
            add(dweight_[i], dy * rounded(problem.normalised, n[i]));
            add(dbias_[i], dy);
        }
        for (int64_t i = 0; i < problem.hidden; i++) {
            const double dh =
                row_rstd * (g[i] - gradient_mean(mean) - n[i] * slope * slope_factor(row, row_rstd)) + dsum[i];
            store(arguments_.dx, problem.dtype, r, i, static_cast<float>(dh));
            store(arguments_.dresidual, problem.residual, r, i, static_cast<float>(dh));
        }
    }

    std::vector<double> h_of(int64_t r) const {
        std::vector<double> row(static_cast<size_t>(problem.hidden));
        for (int64_t i = 0; i < problem.hidden; i++) {
            row[i] = h(r, i);
        }
        return row;
    }

    const nf_arguments &arguments_;
    std::vector<double> dweight_;
    std::vector<double> dbias_;
};

using Entry = void (*)(const nf_arguments *);

template <typename Norm>
void kernel(const nf_arguments *arguments) {
    Norm(*arguments).run();
}

}  // namespace normforge
