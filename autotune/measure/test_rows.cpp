#include "autotune/measure/test_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "runtime/float_types.h"

namespace normforge {

namespace {

// The smallest value above 0.
float smallest_value(nf_dtype type) {
    return static_cast<float>(decode_float(float_format(type), 1));
}

class RowMaker {
public:
    RowMaker(const NormProblem &problem, uint64_t seed)
        : problem_(problem), seed_(seed), count_(static_cast<size_t>(problem.hidden)),
          largest_(static_cast<float>(largest_value(problem.dtype))) {}

    std::vector<TestRow> make() {
        add_ordinary();
        add_outliers();
        add_patterns();
        add_extremes();
        add_not_finite();
        return std::move(rows_);
    }

private:
    std::vector<float> normal(double mean, double deviation) {
        return normal_values(count_, mean, deviation, seed_ + 3 * rows_.size());
    }

    template <typename Value>
    std::vector<float> each(Value &&value) const {
        std::vector<float> x(count_);
        for (size_t i = 0; i < count_; i++) {
            x[i] = static_cast<float>(value(i));
        }
        return x;
    }

    // Nothing where the type of x cannot hold the row: finite values became infinite, or all of them zero.
    TestRow *add(const char *kind, const std::vector<float> &x) {
        TestRow row;
        row.kind = kind;
        row.x = rounded_to(problem_.dtype, x);
        const auto finite = [](float value) { return std::isfinite(value); };
        const auto zero = [](float value) { return value == 0; };
        if (std::ranges::count_if(row.x, finite) != std::ranges::count_if(x, finite) ||
            (std::ranges::all_of(row.x, zero) && !std::ranges::all_of(x, zero))) {
            return nullptr;
        }
        if (problem_.residual != NF_NONE) {
            // Of the size of x, so that h is of its kind too.
            const auto most = static_cast<float>(largest_value(problem_.residual) / 4);
            row.residual =
                rounded_to(problem_.residual,
                           each([&](size_t i) { return std::clamp(row.x[(i + 1) % count_] / 4, -most, most); }));
        }
        row.finite = std::ranges::all_of(h(row), finite);
        if (problem_.pass == NF_BACKWARD) {
            row.dy = rounded_to(problem_.output, normal_values(count_, 0, 1, seed_ + 3 * rows_.size() + 1));
        }
        rows_.push_back(std::move(row));
        return &rows_.back();
    }

    // What is normalised.
    std::vector<float> h(const TestRow &row) const {
        std::vector<float> h = row.x;
        for (size_t i = 0; i < row.residual.size(); i++) {
            h[i] += row.residual[i];
        }
        for (nf_dtype type : {problem_.statistics, problem_.pass == NF_BACKWARD ? problem_.sum : NF_NONE}) {
            h = type == NF_NONE ? h : rounded_to(type, h);
        }
        return h;
    }

    void add_ordinary() {
        add("normal", normal(0, 1));
        if (problem_.residual != NF_NONE) {
            rows_.back().residual = rounded_to(problem_.residual, normal_values(count_, 0, 1, seed_ + 2));
            TestRow &cancelled = *add("residual cancels x", normal(0, 100));
            const std::vector<float> rest = normal(0, 1e-3);
            cancelled.residual =
                rounded_to(problem_.residual, each([&](size_t i) { return rest[i] - cancelled.x[i]; }));
        }
        if (problem_.pass == NF_BACKWARD) {
            add("equal gradients", normal(0, 1))->dy.assign(count_, 1);
        }
        add("mean 1e4", normal(1e4, 1));
        add("mean 1e4, deviation 1e-2", normal(1e4, 1e-2));
        add("all 14.1", std::vector<float>(count_, 14.1f));
        add("all as large as can be", std::vector<float>(count_, 0.625f * largest_));
        add("zeros", std::vector<float>(count_, 0.0f));
    }

    void add_outliers() {
        const float outlier = std::min(1e6f, largest_ / 2);
        const auto replaced = [&](const char *kind, size_t place) {
            std::vector<float> x = normal(0, 1);
            x[std::min(place, count_ - 1)] = outlier;
            add(kind, x);
        };
        replaced("outlier in the first value", 0);
        replaced("outlier in the second value", 1);
        replaced("outlier in the middle", count_ / 2);
        replaced("outlier in the last value", count_ - 1);
        // All that a row's pivot is taken from, at both sides of how far it may be from the mean.
        for (const auto &[kind, first] :
             {std::pair("three values of 3 first", 3.0f), {"three of 5", 5.0f}, {"three of 1e4", 1e4f}}) {
            std::vector<float> x = normal(0, 1);
            std::fill_n(x.begin(), std::min<size_t>(3, count_), first);
            add(kind, x);
        }
        // Where vectors end and single values follow.
        replaced("outlier in the last 16 values", count_ / 16 * 16);
        replaced("outlier in the last 64th", count_ - count_ / 64);
        std::vector<float> x = normal(0, 1);
        for (size_t i = 0; i < count_; i += 17) {
            x[i] *= 1000;
        }
        add("outliers in every 17th value", x);
    }

    void add_patterns() {
        add("one value differs", each([&](size_t i) { return i + 1 == count_ ? 332 : 333; }));
        add("alternating signs", each([](size_t i) { return i % 2 == 0 ? 300 : -300; }));
        add("alternating sizes", each([](size_t i) { return i % 2 == 0 ? 1000.1 : -1e-3; }));
        add("two levels", each([&](size_t i) { return i < count_ / 2 ? -7.7 : 1e4; }));
        add("ramp", each([](size_t i) { return static_cast<double>(i) - 0.3; }));
    }

    void add_extremes() {
        const auto extreme = [&](const char *kind, const std::vector<float> &x) {
            if (TestRow *row = add(kind, x)) {
                row->scale_free = true;
            }
        };
        extreme("deviation 1e15", normal(0, 1e15));
        extreme("deviation 1e25", normal(0, 1e25));
        extreme("deviation 1e-12", normal(0, 1e-12));
        extreme("deviation 1e-19", normal(0, 1e-19));
        extreme("deviation 1e-30", normal(0, 1e-30));
        extreme("largest values, both signs",
                each([&](size_t i) { return (i % 3 == 0 ? 0.75 : -0.75) * largest_; }));
        std::mt19937_64 random(seed_);
        extreme("large values, one sign",
                each([&](size_t) { return (0.5 + static_cast<double>(random() % 251) / 1000) * largest_; }));
        extreme("subnormal values", each([&](size_t i) {
                    return static_cast<double>(smallest_value(problem_.dtype)) * (i % 2 == 0 ? 1 : -1) *
                           static_cast<double>(1 + i * 7 % 61);
                }));
    }

    void add_not_finite() {
        const float infinity = std::numeric_limits<float>::infinity();
        const auto replaced = [&](const char *kind, size_t place, float value) {
            std::vector<float> x = normal(0, 1);
            x[place] = value;
            add(kind, x);
        };
        replaced("NaN", count_ / 2, std::numeric_limits<float>::quiet_NaN());
        add("after NaN", normal(0, 1));
        replaced("infinity", count_ / 3, infinity);
        add("after infinity", normal(0, 1));
        replaced("minus infinity", count_ - 1, -infinity);
    }

    const NormProblem &problem_;
    const uint64_t seed_;
    const size_t count_;
    const float largest_;
    std::vector<TestRow> rows_;
};

}  // namespace

std::vector<float> normal_values(size_t count, double mean, double deviation, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> distribution(mean, deviation);
    std::vector<float> values(count);
    for (float &value : values) {
        value = static_cast<float>(distribution(random));
    }
    return values;
}

std::vector<float> rounded_to(nf_dtype type, std::vector<float> values) {
    for (float &value : values) {
        value = static_cast<float>(round_to(type, value));
    }
    return values;
}

std::vector<TestRow> test_rows(const NormProblem &problem, uint64_t seed) {
    return RowMaker(problem, seed).make();
}

}  // namespace normforge
