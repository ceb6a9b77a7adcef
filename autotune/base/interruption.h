#pragma once

namespace normforge {

// The user, by SIGINT, or the system, by SIGTERM, asked the program to end.
struct Interrupted {
    int signal;
};

// While one of these lives, the first such signal is a request, which long work asks for between its steps; the
// second one ends the process.
class InterruptionRequests {
public:
    InterruptionRequests();
    ~InterruptionRequests();
    InterruptionRequests(const InterruptionRequests &) = delete;
    InterruptionRequests &operator=(const InterruptionRequests &) = delete;
};

bool is_interrupted();

// Throws Interrupted.
void stop_if_interrupted();

}  // namespace normforge
