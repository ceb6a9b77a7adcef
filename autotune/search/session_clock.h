#pragma once

#include <chrono>
#include <optional>

#include "autotune/base/interruption.h"

namespace normforge {

// When a session has to end: at a deadline, or as soon as the process is asked to.
class SessionClock {
public:
    using Deadline = std::optional<std::chrono::steady_clock::time_point>;

    explicit SessionClock(const Deadline &deadline)
        : deadline_(deadline), search_deadline_(deadline ? Deadline(share_of(*deadline)) : Deadline()) {}

    bool is_over() { return is_past(deadline_); }
    bool is_over_for_search() { return is_past(search_deadline_); }

    // Whether either was ever over for its deadline.
    bool was_late() const { return was_late_; }

private:
    // Of the time to the deadline, what the search may take; the rest is for the last rounds.
    static constexpr double kSearchShare = 0.6;

    static std::chrono::steady_clock::time_point share_of(std::chrono::steady_clock::time_point deadline) {
        const auto now = std::chrono::steady_clock::now();
        return now +
               std::chrono::duration_cast<std::chrono::steady_clock::duration>((deadline - now) * kSearchShare);
    }

    bool is_past(const Deadline &deadline) {
        const bool late = deadline && std::chrono::steady_clock::now() >= *deadline;
        was_late_ = was_late_ || late;
        return late || is_interrupted();
    }

    Deadline deadline_;
    Deadline search_deadline_;
    bool was_late_ = false;
};

}  // namespace normforge
