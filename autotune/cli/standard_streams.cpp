#include "autotune/cli/standard_streams.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "runtime/user_error.h"

namespace normforge {

namespace {

// Only what a signal handler may call.
void clear_line_and_die(int number) {
    constexpr std::string_view kClear = "\r\x1b[K";
    [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, kClear.data(), kClear.size());
    raise(number);
}

void clear_line_at(int number) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) {
        return;  // nohup and background jobs
    }
    struct sigaction action {};
    action.sa_handler = clear_line_and_die;
    action.sa_flags = SA_RESETHAND | SA_NODEFER;  // raise() then ends the program
    sigaction(number, &action, nullptr);
}

[[noreturn]] void fail() {
    throw UserError("cannot write to standard output: " + std::generic_category().message(errno));
}

}  // namespace

void prepare_standard_streams() {
    signal(SIGPIPE, SIG_DFL);
    if (isatty(STDERR_FILENO)) {
        for (int number : {SIGINT, SIGTERM, SIGHUP}) {
            clear_line_at(number);
        }
    }
}

void write_output(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) {
        fail();
    }
}

void flush_output() {
    if (std::fflush(stdout) != 0) {
        fail();
    }
}

void note(std::string_view text) {
    std::string line = fmt::format("normforge: {}\n", text);
    std::replace(line.begin(), line.end() - 1, '\n', ' ');
    std::fputs(line.c_str(), stderr);
}

}  // namespace normforge
