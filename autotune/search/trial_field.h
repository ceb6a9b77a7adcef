#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autotune/base/progress.h"
#include "autotune/database/database.h"
#include "autotune/measure/contest.h"
#include "autotune/measure/loaded_kernel.h"

namespace normforge {

// The trials of a session that runs, which are stored as they come, and the kernels to time them with.
class TrialField {
public:
    // Begins with what a resumed session has, if it is one.
    TrialField(Database &database, int64_t session);

    // By place, which never changes.
    const std::vector<Trial> &trials() const { return trials_; }

    static constexpr size_t kNone = SIZE_MAX;
    size_t place_of(const std::string &knobs, int64_t rows) const;  // or kNone

    // Stores the trial for those of the numbers of rows for which there is none of these knobs. Whoever has an
    // earlier one's machine code says so.
    void add(Trial trial, const std::vector<int64_t> &rows);

    // The knobs of the trial that came first of those with the same machine code; empty for itself.
    std::string twin(const Trial &trial) const;

    // The kernel of all trials of these knobs.
    void set_kernel(const std::string &knobs, std::unique_ptr<LoadedKernel> kernel);
    bool has_kernel(const std::string &knobs) const { return kernels_.contains(knobs); }

    // Loads the kernels of these trials, and the reference's, at other addresses.
    void move_kernels(const std::vector<size_t> &places, const std::string &reference_knobs);

    // Times those of the places whose trials are ok and of the operands' number of rows until each has so many
    // samples, or until `stop`. All must have kernels.
    void time(const std::vector<size_t> &places, int blocks, const std::string &reference_knobs,
              const TimingOperands &operands, uint64_t seed, const std::function<bool()> &stop,
              Progress &progress);

private:
    void time_together(const std::vector<size_t> &places, const ContestObserver &common, Contest contest,
                       Progress &progress);

    Database &database_;
    const int64_t session_;
    std::vector<int64_t> ids_;
    std::vector<Trial> trials_;
    std::map<std::pair<std::string, int64_t>, size_t> places_;
    std::map<std::string, std::unique_ptr<LoadedKernel>> kernels_;
};

}  // namespace normforge
