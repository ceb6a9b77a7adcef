#include "autotune/cli/time_budget.h"

#include <fmt/format.h>

#include <charconv>

#include "runtime/user_error.h"

namespace normforge {

namespace {

constexpr double kMostSeconds = 1e6;

double parse_seconds(const std::string &text) {
    double number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string unit(stop, text.data() + text.size());
    const double seconds = number * (unit == "h" ? 3600 : unit == "m" ? 60 : 1);
    if (error != std::errc() || (unit != "" && unit != "s" && unit != "m" && unit != "h") ||
        !(seconds > 0 && seconds <= kMostSeconds)) {
        throw UserError(
            fmt::format("budget is '{}'; allowed: a time of more than 0 and at most {} s, such as 90s, 5m or 2h",
                        text, kMostSeconds));
    }
    return seconds;
}

}  // namespace

TimeBudget::TimeBudget(const std::string &text, Clock::time_point now) {
    if (!text.empty()) {
        end_ =
            now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(parse_seconds(text)));
    }
}

std::optional<TimeBudget::Clock::time_point> TimeBudget::deadline(size_t problems_left,
                                                                  Clock::time_point now) const {
    return end_ ? std::optional(now + (*end_ - now) / static_cast<Clock::duration::rep>(problems_left))
                : std::nullopt;
}

}  // namespace normforge
