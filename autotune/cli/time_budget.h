#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace normforge {

// A time for all problems of a call, which share what is left of it evenly.
class TimeBudget {
public:
    using Clock = std::chrono::steady_clock;

    // "90", "90s", "5m" or "2h"; empty for no limit. It begins to run now. Throws UserError for other texts.
    explicit TimeBudget(const std::string &text, Clock::time_point now = Clock::now());

    bool is_used_up(Clock::time_point now = Clock::now()) const { return end_ && now >= *end_; }

    // Until when the next of so many problems may take.
    std::optional<Clock::time_point> deadline(size_t problems_left, Clock::time_point now = Clock::now()) const;

private:
    std::optional<Clock::time_point> end_;
};

}  // namespace normforge
