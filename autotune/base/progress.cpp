#include "autotune/base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace normforge {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kTerminalPause{100};
constexpr milliseconds kLinePause{5000};

}  // namespace

Progress::Progress(Mode mode)
    : output_(mode == Mode::silent    ? Output::none
              : isatty(STDERR_FILENO) ? Output::terminal
                                      : Output::lines) {}

Progress::~Progress() {
    clear();
}

void Progress::clear() {
    if (output_ == Output::terminal) {
        std::fputs("\r\x1b[K", stderr);
    }
}

void Progress::stage(const std::string &what, size_t total) {
    what_ = what;
    best_.clear();
    done_ = 0;
    total_ = total;
    started_ = shown_ = Clock::now();
    show();
}

void Progress::advance(const std::string &best) {
    done_++;
    best_ = best;
    const milliseconds pause = output_ == Output::terminal ? kTerminalPause : kLinePause;
    if (Clock::now() - shown_ >= pause) {
        shown_ = Clock::now();
        show();
    }
}

void Progress::show() {
    if (output_ == Output::none) {
        return;
    }
    std::string line = fmt::format("{}: {}/{}", what_, done_, total_);
    if (!best_.empty()) {
        line += ", best so far " + best_;
    }
    if (done_ > 0) {
        const double elapsed = std::chrono::duration<double>(Clock::now() - started_).count();
        line += fmt::format(", {:.0f} s left",
                            elapsed / static_cast<double>(done_) * static_cast<double>(total_ - done_));
    }
    put(line + (output_ == Output::terminal ? "" : "\n"));
}

void Progress::say(const std::string &what) {
    if (output_ != Output::none) {
        put(what + "\n");
    }
}

void Progress::put(const std::string &line) {
    clear();
    // Not fmt::print, which throws where standard error cannot be written: the work goes on without an audience.
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
}

}  // namespace normforge
