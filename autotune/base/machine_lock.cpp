#include "autotune/base/machine_lock.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "autotune/base/interruption.h"

namespace normforge {

namespace {

constexpr mode_t kForEverybody = 0666;

int open_lock_file(const std::filesystem::path &path) {
    // A lock needs no permission to write. Linux may refuse to open a file of somebody else's in a shared folder
    // for creation, so that comes second.
    constexpr int kSafely = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int file = open(path.c_str(), kSafely);
    if (file < 0 && errno == ENOENT) {
        file = open(path.c_str(), kSafely | O_CREAT | O_EXCL, kForEverybody);
        if (file >= 0) {
            fchmod(file, kForEverybody);  // whatever the umask
        } else if (errno == EEXIST) {
            file = open(path.c_str(), kSafely);
        }
    }
    return file;
}

bool try_lock(int file, int operation) {
    return flock(file, operation | LOCK_NB) == 0;
}

void lock(int file, int operation) {
    while (flock(file, operation) != 0 && errno == EINTR) {
        stop_if_interrupted();
    }
}

// Processes that take turns wait for each other many times: one in a minute is told.
bool is_to_be_told() {
    using Clock = std::chrono::steady_clock;
    static std::mutex mutex;
    static std::optional<Clock::time_point> told;
    const std::lock_guard guard(mutex);
    const Clock::time_point now = Clock::now();
    if (told && now - *told < std::chrono::minutes(1)) {
        return false;
    }
    told = now;
    return true;
}

}  // namespace

std::filesystem::path machine_lock_path() {
    if (const char *named = std::getenv("NORMFORGE_LOCK"); named && *named) {
        return named;
    }
    for (const char *folder : {"/run/lock", "/dev/shm"}) {
        struct stat status {};
        if (stat(folder, &status) == 0 && S_ISDIR(status.st_mode) && (status.st_mode & S_IWOTH)) {
            return std::filesystem::path(folder) / "normforge.lock";
        }
    }
    return "/tmp/normforge.lock";
}

MachineLock::MachineLock(Use use, const Tell &tell) : use_(use), tell_(tell), queue_(-1), use_file_(-1) {
    const std::filesystem::path path = machine_lock_path();
    use_file_ = open_lock_file(path);
    const int error = errno;
    queue_ = use_file_ < 0 ? -1 : open_lock_file(path.string() + ".queue");
    if (queue_ >= 0) {
        acquire();
    } else if (tell_) {
        tell_("no lock by " + path.string() + ", " + strerror(use_file_ < 0 ? error : errno) +
              ": other processes may disturb what is timed");
    }
}

MachineLock::~MachineLock() {
    for (int file : {use_file_, queue_}) {
        if (file >= 0) {
            flock(file, LOCK_UN);  // children that were forked meanwhile have the file open too
            close(file);
        }
    }
}

void MachineLock::acquire() {
    const int operation = use_ == Use::timing ? LOCK_EX : LOCK_SH;
    // Who is first in the queue waits for the use alone, and those who had it last go to the end of the queue.
    if (!try_lock(queue_, LOCK_EX) || !try_lock(use_file_, operation)) {
        if (tell_ && is_to_be_told()) {
            tell_(use_ == Use::timing ? "waiting for other normforge processes to pause"
                                      : "waiting while another normforge process measures");
        }
        lock(queue_, LOCK_EX);
        lock(use_file_, operation);
    }
    flock(queue_, LOCK_UN);
}

bool MachineLock::is_wanted() const {
    if (queue_ < 0 || try_lock(queue_, LOCK_SH)) {
        flock(queue_, LOCK_UN);
        return false;
    }
    return true;
}

void MachineLock::renew() {
    if (queue_ >= 0) {
        flock(use_file_, LOCK_UN);
        acquire();
    }
}

}  // namespace normforge
