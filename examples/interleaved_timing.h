#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace normforge {

// Does its work `calls` times. The loop is the work's own, so that no indirect call is timed with each.
using RepeatedWork = std::function<void(int64_t calls)>;

// samples[w][b]: ns of one call of works[w] in block b. A block times every work once, each block starting with
// the next of them: what slows the machine for a while slows all works alike, and no work is always the first.
// A sample repeats its work for about sample_ns; finding out how often that is warms it up.
std::vector<std::vector<double>> time_interleaved(const std::vector<RepeatedWork> &works, int blocks,
                                                  double sample_ns);

// The value that `fraction` of the values lie below, interpolated; 0.5 is the median. values is not empty.
double quantile(std::vector<double> values, double fraction);

}  // namespace normforge
