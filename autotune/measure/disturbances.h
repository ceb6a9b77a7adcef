#pragma once

namespace normforge {

// What else ran on this thread's CPU since this was made.
class Disturbances {
public:
    Disturbances();

    // Whether the thread was put aside for others, or ran for less than 98 % of this time.
    bool are_felt(double nanoseconds) const;

private:
    struct Usage {
        long involuntary_switches;
        double cpu_nanoseconds;
    };
    static Usage usage();

    const Usage before_;
};

}  // namespace normforge
