#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <vector>

#include "schedules/knobs.h"
#include "tests/plain_kernels.h"

namespace normforge {

// The arithmetic that docs/numerics.md promises, a second time and one value after the other.
struct Arithmetic {
    const char *name;
    Sums sums;
    size_t lanes;
    bool fused;  // products are added without being rounded
};

inline void PrintTo(const Arithmetic &arithmetic, std::ostream *out) {
    *out << arithmetic.name << ", " << arithmetic.lanes << " lanes" << (arithmetic.fused ? ", fused" : "");
}

// That of SimulatedNorm.
inline Arithmetic arithmetic;

struct Moments {
    double sum = 0;
    double squares = 0;
};

inline float multiply_add(float a, float b, float c) {
    return arithmetic.fused ? std::fma(a, b, c) : a * b + c;
}

// The values that one lane takes in one run.
inline std::vector<std::vector<float>> lane_runs(const std::vector<float> &x) {
    const size_t lanes = arithmetic.lanes;
    const size_t steps = x.size() / lanes;
    const size_t chunk_steps = std::min<size_t>(64, std::max<size_t>(steps / 3, 1));
    const size_t chunks = x.size() <= 128 * lanes ? 0 : steps / chunk_steps - 1;
    std::vector<std::vector<float>> runs((chunks + 1) * lanes);
    for (size_t i = 0; i < x.size(); i++) {
        const size_t chunk = std::min(i / lanes / chunk_steps, chunks);
        runs[chunk * lanes + i % lanes].push_back(x[i]);
    }
    return runs;
}

inline Moments run_moments(const std::vector<float> &values, float pivot) {
    float sum = 0;
    float squares = 0;
    for (float value : values) {
        const float d = value - pivot;
        sum += d;
        squares = multiply_add(d, d, squares);
    }
    return {sum, squares};
}

// Of the row's first three values, or of as many as it has.
inline float median_of_three(const std::vector<float> &row) {
    const auto value = [&](size_t i) { return row[std::min(i, row.size() - 1)]; };
    return std::max(std::min(value(0), value(1)), std::min(std::max(value(0), value(1)), value(2)));
}

// Of the row about `pivot`, the runs' moments added in f64.
inline Moments row_moments(const std::vector<float> &x, float pivot) {
    Moments total;
    for (const std::vector<float> &run : lane_runs(x)) {
        const Moments moments = run_moments(run, pivot);
        total.sum += moments.sum;
        total.squares += moments.squares;
    }
    return total;
}

// The mean of products of two rows, or of one row's values, summed as moments are.
inline double lane_mean(const std::vector<float> &a, const std::vector<float> &b) {
    std::vector<std::vector<float>> a_runs = lane_runs(a);
    const std::vector<std::vector<float>> b_runs = lane_runs(b);
    double total = 0;
    for (size_t run = 0; run < a_runs.size(); run++) {
        float sum = 0;
        for (size_t i = 0; i < a_runs[run].size(); i++) {
            sum = multiply_add(a_runs[run][i], b_runs[run][i], sum);
        }
        total += sum;
    }
    return total / static_cast<double>(a.size());
}

class SimulatedNorm : public PlainNorm {
public:
    using PlainNorm::PlainNorm;

protected:
    Statistics statistics(const std::vector<double> &h) const override {
        const std::vector<float> x(h.begin(), h.end());
        const double count = static_cast<double>(x.size());
        Statistics row;
        bool is_near = true;
        if (problem.op == NF_LAYER_NORM) {
            const float pivot = arithmetic.sums == kRowPivot ? median_of_three(x)
                                                             : static_cast<float>(row_moments(x, 0).sum / count);
            const Moments moments = row_moments(x, pivot);
            const double offset = moments.sum / count;
            row.mean = pivot + offset;
            const double about_mean = moments.squares - moments.sum * offset;
            row.mean_square = about_mean < 0 ? 0 : about_mean / count;  // a NaN stays one
            is_near = arithmetic.sums != kRowPivot || offset * offset <= 16 * row.mean_square;
        } else {
            row.mean_square = row_moments(x, 0).squares / count;
        }
        const double added = problem.epsilon_place == NF_IN_ROOT ? epsilon() : epsilon() * epsilon();
        const bool in_range = row.mean_square < 0x1p126 && row.mean_square + added >= 0x1p-126;
        return in_range && is_near ? row : PlainNorm::statistics(h);
    }

    // In f32, but that the row is brought near 1 where its divisor is far from it.
    double normalised(double h, const Statistics &row, double rstd) const override {
        const int exponent = rstd > 0 && std::isfinite(rstd) ? std::ilogb(rstd) : 0;
        const double power = std::ldexp(1.0, std::abs(exponent) > 60 ? exponent : 0);
        const auto centre = static_cast<float>(row.mean);
        const auto scaled = [&](double value) { return static_cast<float>(value * power); };
        float value = scaled(h);
        if (problem.op == NF_LAYER_NORM) {
            const float error = scaled(row.mean - centre);
            const bool is_lost = std::fabs(error) * static_cast<float>(rstd / power) < 0x1p-26f;
            value = (value - scaled(centre)) - (is_lost ? 0 : error);
        }
        return rounded(problem.normalised, value * static_cast<float>(rstd / power));
    }

    double affine(double normalised, int64_t i) const override {
        const auto value = static_cast<float>(normalised);
        const float v = problem.bias == NF_NONE
                            ? value * static_cast<float>(weight(i))
                            : multiply_add(value, static_cast<float>(weight(i)), static_cast<float>(bias(i)));
        return rounded(problem.unquantised, v);
    }

    void backward_row(int64_t r) override {
        const auto hidden = static_cast<size_t>(problem.hidden);
        dweight_.resize(hidden);
        dbias_.resize(hidden);
        const float row_rstd = arguments_.rstd[r];
        const float centre = problem.op == NF_LAYER_NORM ? arguments_.mean[r] : 0;
        const std::vector<float> ones(hidden, 1);
        std::vector<float> d(hidden), g(hidden), n(hidden);
        for (size_t i = 0; i < hidden; i++) {
            d[i] = static_cast<float>(h(r, i)) - centre;
            g[i] = dy(r, i) * static_cast<float>(weight(i));
            n[i] = d[i] * row_rstd;
        }
        const double shift = problem.op == NF_LAYER_NORM ? lane_mean(d, ones) : 0;
        const double mean = gradient_mean(lane_mean(g, ones));
        double slope = lane_mean(g, n) - shift * row_rstd * mean;
        if (problem.epsilon_place == NF_ON_DEVIATION) {
            const double square = lane_mean(n, n) - shift * row_rstd * (shift * row_rstd);
            slope = square <= 0 ? 0 : slope / std::sqrt(square);
        }
        for (size_t i = 0; i < hidden; i++) {
            const float value = (d[i] - static_cast<float>(shift)) * row_rstd;
            const float inner = multiply_add(-value, static_cast<float>(slope), g[i] - static_cast<float>(mean));
            const auto dsum = static_cast<float>(load(arguments_.dsum, problem.sum, r, i));
            const float dh = multiply_add(row_rstd, inner, dsum);
            // In f32, one row after the other.
            const auto factor = static_cast<float>(rounded(problem.normalised, value));
            dweight_[i] = multiply_add(dy(r, i), factor, static_cast<float>(dweight_[i]));
            dbias_[i] = static_cast<float>(dbias_[i]) + dy(r, i);
            store(arguments_.dx, problem.dtype, r, i, dh);
            store(arguments_.dresidual, problem.residual, r, i, dh);
        }
    }

private:
    float dy(int64_t r, size_t i) const { return static_cast<float>(load(arguments_.dy, problem.output, r, i)); }
};

}  // namespace normforge
