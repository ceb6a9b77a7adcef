#include "autotune/measure/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <system_error>
#include <utility>

#include "autotune/measure/patient_clock.h"

namespace normforge {

namespace {

// A message is its kind, its length and its bytes.
enum class Kind : uint64_t { message, exception };

struct Header {
    Kind kind;
    uint64_t bytes;
};

void write_all(int descriptor, const void *data, size_t bytes) {
    const char *next = static_cast<const char *>(data);
    while (bytes > 0) {
        ssize_t written = write(descriptor, next, bytes);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            _exit(1);  // the parent is gone
        }
        next += written;
        bytes -= static_cast<size_t>(written);
    }
}

void send(int descriptor, Kind kind, const std::string &text) {
    const Header header{kind, text.size()};
    std::string message(reinterpret_cast<const char *>(&header), sizeof header);
    message += text;
    write_all(descriptor, message.data(), message.size());  // at once, so that a short message comes as a whole
}

// Beyond what the parent has: a compile takes 0.3 GB, a kernel nothing.
constexpr rlim_t kMoreMemory = rlim_t{4} << 30;

void limit_memory() {
    rlim_t pages = 0;
    if (std::FILE *sizes = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(sizes, "%lu", &pages) == 1) {
            const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kMoreMemory;
            const rlimit limit{most, most};
            setrlimit(RLIMIT_AS, &limit);
        }
        std::fclose(sizes);
    }
}

[[noreturn]] void run_child(int descriptor, pid_t parent,
                            const std::function<void(const ChildProcess::Send &)> &work,
                            ChildProcess::Memory memory) {
    setpgid(0, 0);  // a terminal's interruption is for the parent, which ends its children
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1);  // it died before
    }
    rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (memory == ChildProcess::Memory::limited) {
        limit_memory();
    }
    for (int caught : {SIGINT, SIGTERM}) {
        signal(caught, SIG_DFL);
    }
    try {
        work([descriptor](const std::string &message) { send(descriptor, Kind::message, message); });
    } catch (const std::exception &error) {
        send(descriptor, Kind::exception, error.what());
        _exit(1);
    }
    _exit(0);  // no destructors or buffers of the parent's run here
}

}  // namespace

ChildProcess::ChildProcess(const std::function<void(const Send &)> &work, Memory memory) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe");
    }
    std::fflush(nullptr);
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) {
        close(ends[0]);
        close(ends[1]);
        throw std::system_error(errno, std::generic_category(), "fork");
    }
    if (pid_ == 0) {
        close(ends[0]);
        run_child(ends[1], parent, work, memory);
    }
    setpgid(pid_, pid_);  // here too, so that it is done before either goes on
    close(ends[1]);
    descriptor_ = ends[0];
}

ChildProcess::ChildProcess(ChildProcess &&other) noexcept
    : pid_(std::exchange(other.pid_, -1)), descriptor_(std::exchange(other.descriptor_, -1)),
      received_(std::move(other.received_)), outcome_(other.outcome_), reason_(std::move(other.reason_)) {}

ChildProcess::~ChildProcess() {
    kill_child();
    if (descriptor_ >= 0) {
        close(descriptor_);
    }
}

void ChildProcess::kill_child() {
    if (pid_ > 0) {
        kill(-pid_, SIGKILL);
        while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
    }
}

void ChildProcess::finish() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    if (WIFSIGNALED(status)) {
        outcome_ = Outcome::crashed;
        const char *name = sigabbrev_np(WTERMSIG(status));
        reason_ = std::string("killed by SIG") + (name ? name : std::to_string(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
        outcome_ = Outcome::crashed;
        if (reason_.empty()) {
            reason_ = "exited with " + std::to_string(WEXITSTATUS(status));
        }
    } else {
        outcome_ = Outcome::finished;
    }
}

std::optional<std::string> ChildProcess::take_received() {
    Header header{};
    if (received_.size() < sizeof header) {
        return std::nullopt;
    }
    memcpy(&header, received_.data(), sizeof header);
    if (received_.size() < sizeof header + header.bytes) {
        return std::nullopt;
    }
    std::string text = received_.substr(sizeof header, header.bytes);
    received_.erase(0, sizeof header + header.bytes);
    if (header.kind == Kind::message) {
        return text;
    }
    reason_ = std::move(text);
    return std::nullopt;
}

std::optional<std::string> ChildProcess::read_sent() {
    if (outcome_ != Outcome::running) {
        return std::nullopt;
    }
    if (std::optional<std::string> message = take_received()) {
        return message;
    }
    char bytes[65536];
    ssize_t got = 0;
    while ((got = ::read(descriptor_, bytes, sizeof bytes)) < 0 && errno == EINTR) {
    }
    if (got == 0) {
        finish();
    } else if (got > 0) {
        received_.append(bytes, static_cast<size_t>(got));
    }
    return take_received();
}

std::optional<std::string> ChildProcess::read(std::chrono::milliseconds limit) {
    PatientClock clock;
    std::optional<std::string> message;
    while (!(message = read_sent()) && outcome_ == Outcome::running) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - clock.now());
        if (left.count() <= 0) {
            give_up(limit);
            break;
        }
        pollfd waiting{descriptor_, POLLIN, 0};
        poll(&waiting, 1, static_cast<int>(std::min(left, PatientClock::kLongestStep).count()));
    }
    return message;
}

void ChildProcess::give_up(std::chrono::milliseconds limit) {
    kill_child();
    outcome_ = Outcome::timed_out;
    reason_ = "no answer within " + std::to_string(limit.count()) + " ms";
}

}  // namespace normforge
