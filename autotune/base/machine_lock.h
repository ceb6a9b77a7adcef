#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace normforge {

// What normforge does on this machine at a moment, whoever runs it: many processes may compute, or one of them
// times kernels and nobody computes. A process that dies in any way gives its lock up.
class MachineLock {
public:
    enum class Use { computing, timing };
    using Tell = std::function<void(const std::string &)>;

    // Waits in the order of arrival: whoever asks again lets those go first that waited meanwhile. `tell` hears at
    // once of a wait, of one in a minute, or that there can be no lock; then the work goes on without.
    explicit MachineLock(Use use, const Tell &tell = {});
    ~MachineLock();
    MachineLock(const MachineLock &) = delete;
    MachineLock &operator=(const MachineLock &) = delete;

    // Whether somebody waits until this is given up.
    bool is_wanted() const;

    // Gives it up and waits for it again.
    void renew();

private:
    void acquire();

    Use use_;
    Tell tell_;
    int queue_;  // descriptors of two files, -1 where there is no lock
    int use_file_;
};

// The files are FILE and FILE.queue: FILE is what NORMFORGE_LOCK names, else normforge.lock in the first of
// /run/lock, /dev/shm and /tmp that everybody may write to.
std::filesystem::path machine_lock_path();

}  // namespace normforge
