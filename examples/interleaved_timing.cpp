#include "examples/interleaved_timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>

namespace normforge {

namespace {

double total_ns(const RepeatedWork &work, int64_t calls) {
    const auto start = std::chrono::steady_clock::now();
    work(calls);
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

// Of three tries, so that one that was interrupted does not pass for long work.
double shortest_ns(const RepeatedWork &work, int64_t calls) {
    return std::min({total_ns(work, calls), total_ns(work, calls), total_ns(work, calls)});
}

int64_t calls_for(const RepeatedWork &work, double sample_ns) {
    int64_t calls = 1;
    double ns = shortest_ns(work, calls);
    while (ns < sample_ns / 2) {
        calls *= 2;
        ns = shortest_ns(work, calls);
    }
    return std::max<int64_t>(1, std::llround(static_cast<double>(calls) * sample_ns / ns));
}

}  // namespace

std::vector<std::vector<double>> time_interleaved(const std::vector<RepeatedWork> &works, int blocks,
                                                  double sample_ns) {
    std::vector<int64_t> calls;
    for (const RepeatedWork &work : works) {
        calls.push_back(calls_for(work, sample_ns));
    }
    std::vector<std::vector<double>> samples(works.size());
    for (int block = 0; block < blocks; ++block) {
        for (size_t i = 0; i < works.size(); ++i) {
            const size_t w = (static_cast<size_t>(block) + i) % works.size();
            samples[w].push_back(total_ns(works[w], calls[w]) / static_cast<double>(calls[w]));
        }
    }
    return samples;
}

double quantile(std::vector<double> values, double fraction) {
    std::sort(values.begin(), values.end());
    const double position = fraction * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(position);
    const size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], position - static_cast<double>(below));
}

}  // namespace normforge
