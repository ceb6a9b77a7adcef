#include "autotune/base/interruption.h"

#include <signal.h>

#include <cstddef>

namespace normforge {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

volatile sig_atomic_t requested = 0;
struct sigaction before[2] = {};

void restore() {
    for (size_t i = 0; i < 2; i++) {
        sigaction(kSignals[i], &before[i], nullptr);
    }
}

void request(int number) {
    requested = number;
    restore();
}

}  // namespace

InterruptionRequests::InterruptionRequests() {
    requested = 0;
    struct sigaction action {};
    action.sa_handler = request;  // without SA_RESTART: system calls that wait return
    for (size_t i = 0; i < 2; i++) {
        sigaction(kSignals[i], nullptr, &before[i]);
        if (before[i].sa_handler != SIG_IGN) {  // nohup and background jobs
            sigaction(kSignals[i], &action, nullptr);
        }
    }
}

InterruptionRequests::~InterruptionRequests() {
    restore();
}

bool is_interrupted() {
    return requested != 0;
}

void stop_if_interrupted() {
    if (requested != 0) {
        throw Interrupted{static_cast<int>(requested)};
    }
}

}  // namespace normforge
