#pragma once

#include <cfloat>
#include <cmath>
#include <vector>

#include "tests/plain_kernels.h"

namespace normforge {

// PlainNorm with one step changed.

struct OffByAHundredth : PlainNorm {
    using PlainNorm::PlainNorm;
    double output(double value, float scale) const override { return 1.01 * PlainNorm::output(value, scale); }
};

struct SquareOfTheMeanTakenOff : PlainNorm {
    using PlainNorm::PlainNorm;
    Statistics statistics(const std::vector<double> &h) const override {
        float sum = 0;
        float squares = 0;
        for (double value : h) {
            sum += static_cast<float>(value);
            squares += static_cast<float>(value * value);
        }
        const auto hidden = static_cast<float>(problem.hidden);
        return {sum / hidden, squares / hidden - sum / hidden * (sum / hidden)};
    }
};

struct NoEpsilon : PlainNorm {
    using PlainNorm::PlainNorm;
    double epsilon() const override { return 0; }
};

struct UnbiasedVariance : PlainNorm {
    using PlainNorm::PlainNorm;
    Statistics statistics(const std::vector<double> &h) const override {
        Statistics row = PlainNorm::statistics(h);
        row.mean_square *= static_cast<double>(problem.hidden) / static_cast<double>(problem.hidden - 1);
        return row;
    }
};

struct SquaresInF32 : PlainNorm {
    using PlainNorm::PlainNorm;
    Statistics statistics(const std::vector<double> &h) const override {
        Statistics row = PlainNorm::statistics(h);
        row.mean_square = static_cast<float>(row.mean_square);
        return row;
    }
};

struct NoWeight : PlainNorm {
    using PlainNorm::PlainNorm;
    double weight(int64_t) const override { return 1; }
};

struct NoBias : PlainNorm {
    using PlainNorm::PlainNorm;
    double bias(int64_t) const override { return 0; }
};

struct OffsetAddedIn16Bits : PlainNorm {
    using PlainNorm::PlainNorm;
    double weight(int64_t i) const override { return round_to(problem.weight, PlainNorm::weight(i)); }
};

struct NormalisedNotRounded : PlainNorm {
    using PlainNorm::PlainNorm;
    double normalised(double h, const Statistics &row, double rstd) const override {
        return static_cast<float>((h - row.mean) * rstd);
    }
};

struct UnquantisedNotRounded : PlainNorm {
    using PlainNorm::PlainNorm;
    double affine(double normalised, int64_t i) const override {
        return static_cast<float>(normalised * weight(i) + bias(i));
    }
};

struct StatisticsNotRounded : PlainNorm {
    using PlainNorm::PlainNorm;
    double h(int64_t r, int64_t i) const override {
        return static_cast<float>(load(arguments_.x, problem.dtype, r, i)) +
               static_cast<float>(load(arguments_.residual, problem.residual, r, i));
    }
};

struct NoResidual : PlainNorm {
    using PlainNorm::PlainNorm;
    double h(int64_t r, int64_t i) const override { return load(arguments_.x, problem.dtype, r, i); }
};

struct SavesNothing : PlainNorm {
    using PlainNorm::PlainNorm;
    void save_statistics(int64_t, const Statistics &, double) override {}
};

struct SavesVariance : PlainNorm {
    using PlainNorm::PlainNorm;
    void save_statistics(int64_t r, const Statistics &row, double) override {
        PlainNorm::save_statistics(r, row, row.mean_square);
    }
};

struct ScaleOfTheFirstValue : PlainNorm {
    using PlainNorm::PlainNorm;
    float scale(const std::vector<double> &values) const override { return PlainNorm::scale({values[0]}); }
};

struct ScaleNotUsed : PlainNorm {
    using PlainNorm::PlainNorm;
    double output(double value, float) const override { return value; }
};

struct ScaleOfZerosIsZero : PlainNorm {
    using PlainNorm::PlainNorm;
    float scale(const std::vector<double> &values) const override {
        const float scale = PlainNorm::scale(values);
        return scale == FLT_MIN ? 0 : scale;
    }
};

struct WrapsAround : PlainNorm {
    using PlainNorm::PlainNorm;
    double output(double value, float scale) const override {
        const double quotient = std::nearbyint(PlainNorm::output(value, scale));
        return quotient > 127 ? quotient - 256 : quotient < -128 ? quotient + 256 : quotient;
    }
};

struct Truncates : PlainNorm {
    using PlainNorm::PlainNorm;
    double output(double value, float scale) const override { return std::trunc(PlainNorm::output(value, scale)); }
};

struct WritesPastTheRow : PlainNorm {
    using PlainNorm::PlainNorm;
    void write(int64_t r, const std::vector<double> &values) override {
        PlainNorm::write(r, values);
        store(arguments_.y, problem.output, r, problem.hidden, 0);
    }
};

struct WritesPastEachRowButTheLast : PlainNorm {
    using PlainNorm::PlainNorm;
    void write(int64_t r, const std::vector<double> &values) override {
        PlainNorm::write(r, values);
        if (r + 1 < arguments_.rows) {
            store(arguments_.y, problem.output, r, problem.hidden, 0);
        }
    }
};

struct ReadsPastTheRow : PlainNorm {
    using PlainNorm::PlainNorm;
    Statistics statistics(const std::vector<double> &h) const override {
        volatile double behind = load(arguments_.x, problem.dtype, arguments_.rows - 1, problem.hidden);
        static_cast<void>(behind);
        return PlainNorm::statistics(h);
    }
};

struct ReadsPastTheWeight : PlainNorm {
    using PlainNorm::PlainNorm;
    double weight(int64_t i) const override { return PlainNorm::weight(i + 1); }
};

struct UsesTheGap : PlainNorm {
    using PlainNorm::PlainNorm;
    double h(int64_t r, int64_t i) const override {
        const double gap = r + 1 < arguments_.rows ? load(arguments_.x, problem.dtype, r, problem.hidden) : 0;
        return PlainNorm::h(r, i) + 0 * gap;
    }
};

struct NanStays : PlainNorm {
    using PlainNorm::PlainNorm;
    void forward_row(int64_t r) override {
        kept_ = r == 0 ? 0 : kept_;  // a sum that is scaled by 0 instead of set to it
        PlainNorm::forward_row(r);
    }
    Statistics statistics(const std::vector<double> &h) const override {
        Statistics row = PlainNorm::statistics(h);
        kept_ = 0 * kept_ + row.mean_square;
        return {row.mean, kept_};
    }
    mutable double kept_ = 0;
};

struct ChangesTheSecondRow : PlainNorm {
    using PlainNorm::PlainNorm;
    void write(int64_t r, const std::vector<double> &values) override {
        std::vector<double> changed = values;
        if (r == 1 && std::isfinite(changed[0])) {
            changed[0] = std::nextafter(static_cast<float>(changed[0]), 100.0f);
        }
        PlainNorm::write(r, changed);
    }
};

struct WritesBeforeItHasRead : PlainNorm {
    using PlainNorm::PlainNorm;
    void forward_row(int64_t r) override {
        write(r, std::vector<double>(static_cast<size_t>(problem.hidden)));
        PlainNorm::forward_row(r);
    }
};

struct NoMeanOfGradients : PlainNorm {
    using PlainNorm::PlainNorm;
    double gradient_mean(double) const override { return 0; }
};

struct NoSlope : PlainNorm {
    using PlainNorm::PlainNorm;
    double slope_factor(const Statistics &, double) const override { return 0; }
};

struct SlopeOfEpsilonInRoot : PlainNorm {
    using PlainNorm::PlainNorm;
    double slope_factor(const Statistics &, double) const override { return 1; }
};

struct SumsInBf16 : PlainNorm {
    using PlainNorm::PlainNorm;
    void add(double &sum, double term) const override { sum = round_to(NF_BF16, sum + term); }
};

// Bits that differ from call to call, well within the range.
struct CountsItsCalls : PlainNorm {
    explicit CountsItsCalls(const nf_arguments &arguments) : PlainNorm(arguments) { calls = (calls + 1) % 11; }
    void add(double &sum, double term) const override { sum += term * (1 + 2e-8 * calls); }
    static inline int calls = 0;
};

}  // namespace normforge
