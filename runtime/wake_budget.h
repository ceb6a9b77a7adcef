#pragma once

#include <algorithm>
#include <cstdint>

namespace normforge {

// When to wake threads that sleep. It takes the calling thread as long as 0.5 MB of rows in cache take it (8 us on
// a Zen 4 under KVM), and as long again until they run; where they find no free core, they even get in its way. So
// they are left asleep until what they could have helped with comes to more than that, in one call or in several.
// Where that was in vain, as calls are too far apart or other programs keep the cores busy, they are woken half as
// often.
class WakeBudget {
public:
    // Of a call of so many bytes that threads sleep through so far: whether to wake them for it.
    bool is_worth_waking(int64_t bytes) {
        missed_bytes_ += bytes;
        if (missed_bytes_ < limit_) {
            return false;
        }
        limit_ = shared_bytes_ >= kCost ? kLeastLimit : std::min(2 * limit_, kMostLimit);
        missed_bytes_ = 0;
        shared_bytes_ = 0;
        return true;
    }

    // What threads did, as long as they were awake.
    void count_shared(int64_t bytes) { shared_bytes_ += bytes; }

    static constexpr int64_t kCost = 512 << 10;
    static constexpr int64_t kLeastLimit = 4 * kCost;
    static constexpr int64_t kMostLimit = 64 * kLeastLimit;

private:
    int64_t limit_ = kLeastLimit;
    int64_t missed_bytes_ = 0;
    int64_t shared_bytes_ = kCost;
};

}  // namespace normforge
