#pragma once

#include <chrono>
#include <string>

namespace normforge {

// Tells on standard error how far long work is: one line that is rewritten on a terminal, a plain line now and
// then elsewhere.
class Progress {
public:
    enum class Mode { automatic, silent };

    explicit Progress(Mode mode);
    ~Progress();  // leaves no half line on the terminal
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    // Starts counting something new, such as "compiling", up to `total`.
    void stage(const std::string &what, size_t total);

    // One more is done. `best` is the best result so far, in words; empty for none yet.
    void advance(const std::string &best = "");

    // A line of its own, which stays.
    void say(const std::string &what);

private:
    void show();
    void put(const std::string &line);
    void clear();

    enum class Output { none, terminal, lines } output_;
    std::string what_;
    std::string best_;
    size_t done_ = 0;
    size_t total_ = 0;
    std::chrono::steady_clock::time_point started_;
    std::chrono::steady_clock::time_point shown_;
};

}  // namespace normforge
