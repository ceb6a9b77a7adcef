#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "autotune/base/trial.h"

namespace normforge {

// Runs work in a forked child, so that code which crashes, hangs, aborts or wants all memory is an outcome here
// and no more. The child sends messages of bytes; the parent reads them in order. It is a process group of its
// own, which is killed as one, and may have 4 GiB more memory than the parent has, unless it is to open a GPU's
// driver, which takes addresses for the memory of the machine and of all GPUs.
class ChildProcess {
public:
    using Send = std::function<void(const std::string &message)>;

    enum class Memory { limited, unlimited };

    // The child calls work and exits; an exception that leaves it counts as a crash, with its text as the reason.
    explicit ChildProcess(const std::function<void(const Send &)> &work, Memory memory = Memory::limited);
    ~ChildProcess();  // kills a child that still runs
    ChildProcess(const ChildProcess &) = delete;
    ChildProcess &operator=(const ChildProcess &) = delete;
    ChildProcess(ChildProcess &&other) noexcept;
    ChildProcess &operator=(ChildProcess &&other) = delete;

    // The next message, or nothing when the child ended or sent none within the limit; outcome() then says which.
    // A child past its limit, by a PatientClock, is killed.
    std::optional<std::string> read(std::chrono::milliseconds limit);

    // As read, without waiting: nothing also where the child runs and its next message has not come as a whole.
    std::optional<std::string> read_sent();

    // Kills a child that sent no message within the limit.
    void give_up(std::chrono::milliseconds limit);

    enum class Outcome { running, finished, crashed, timed_out };
    Outcome outcome() const { return outcome_; }

    // Why the child crashed or was killed: "killed by SIGSEGV", an exception's text, "no answer within 2000 ms".
    const std::string &reason() const { return reason_; }

    // What a trial is whose child did not come to its end.
    static TrialStatus failure(Outcome outcome) {
        return outcome == Outcome::timed_out ? TrialStatus::timeout : TrialStatus::crash;
    }

    // Readable when the child has sent something or has ended; for waiting on several children.
    int descriptor() const { return descriptor_; }

private:
    void finish();
    void kill_child();
    std::optional<std::string> take_received();

    pid_t pid_ = -1;
    int descriptor_ = -1;
    std::string received_;
    Outcome outcome_ = Outcome::running;
    std::string reason_;
};

}  // namespace normforge
