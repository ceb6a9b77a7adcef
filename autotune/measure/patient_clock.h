#pragma once

#include <algorithm>
#include <chrono>

namespace normforge {

// For the limit of what another process may take: leaves out the time in which this one was stopped, by a terminal
// or by the kernel, as the other one was most likely stopped with it. Between two looks at the clock, no more than
// the longest step passes, so whoever waits by it looks at least that often.
class PatientClock {
public:
    static constexpr std::chrono::milliseconds kLongestStep{1000};

    // Since this was made.
    std::chrono::nanoseconds now() {
        const auto time = std::chrono::steady_clock::now();
        passed_ += std::min<std::chrono::nanoseconds>(time - last_look_, kLongestStep);
        last_look_ = time;
        return passed_;
    }

private:
    std::chrono::steady_clock::time_point last_look_ = std::chrono::steady_clock::now();
    std::chrono::nanoseconds passed_{};
};

}  // namespace normforge
