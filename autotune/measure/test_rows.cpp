#include "autotune/measure/test_rows.h"

#include <limits>
#include <random>

namespace normforge {

std::vector<float> normal_values(size_t count, double mean, double deviation, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> distribution(mean, deviation);
    std::vector<float> values(count);
    for (float &value : values) {
        value = static_cast<float>(distribution(random));
    }
    return values;
}

std::vector<TestRow> test_rows(int64_t hidden, uint64_t seed) {
    const auto count = static_cast<size_t>(hidden);
    std::vector<TestRow> rows;
    auto normal = [&](const char *kind, double mean, double deviation) {
        rows.push_back({kind, normal_values(count, mean, deviation, seed + rows.size())});
    };
    auto replaced = [&](const char *kind, size_t place, float value) {
        rows.push_back({kind, normal_values(count, 0, 1, seed + rows.size())});
        rows.back().x[place] = value;
    };
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();

    normal("normal", 0, 1);
    normal("mean 1e4", 1e4, 1);
    normal("mean 1e4, deviation 1e-2", 1e4, 1e-2);
    rows.push_back({"all 14.1", std::vector<float>(count, 14.1f)});
    rows.push_back({"zeros", std::vector<float>(count, 0.0f)});
    replaced("NaN", count / 2, nan);
    normal("after NaN", 0, 1);
    replaced("first value 1e6", 0, 1e6f);
    replaced("middle value 1e6", count / 2, 1e6f);
    replaced("last value 1e6", count - 1, 1e6f);
    normal("deviation 1e15", 0, 1e15);
    normal("deviation 1e-12", 0, 1e-12);
    replaced("infinity", count / 3, infinity);
    return rows;
}

}  // namespace normforge
