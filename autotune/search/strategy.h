#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "autotune/search/searcher.h"
#include "generators/emit.h"

namespace normforge {

// Decides which schedules to try next from what became of the earlier ones. It neither compiles nor times nor asks
// for the time, so recorded measurements can stand in for a machine.
//
// It begins with the heuristic's schedules, known good ones and a sample of the space, the start of candidates(),
// and goes on with what differs in a knob or two from the best so far, and a few others, until it has tried as
// many as the effort allows or the best has not become better for a while. Exhaustive takes candidates() as they
// are.
class Strategy {
public:
    // `order` is candidates().
    Strategy(std::vector<Knobs> order, Effort effort, uint64_t seed);

    // What to try next, to be told of each; nothing when the search is over.
    std::vector<Knobs> propose();

    // The ratio to the reference for each number of rows, or none where the schedule failed. The rows are the same
    // ones for all schedules.
    void tell(const Knobs &knobs, const std::optional<std::vector<double>> &ratios);

private:
    struct Told {
        Knobs knobs;
        std::vector<double> ratios;
    };

    static double score(const std::vector<Told> &told);
    std::vector<Knobs> near();
    std::vector<Knobs> predicted(size_t count) const;
    void note_progress();

    // So many of these that are legal and were not proposed before.
    void append_new(std::vector<Knobs> &batch, const std::vector<Knobs> &from, size_t count);

    std::vector<Knobs> order_;
    std::vector<bool> proposed_;  // of order_
    const Effort effort_;
    std::mt19937_64 random_;
    size_t tried_ = 0;
    std::map<std::string, std::vector<Told>> told_;  // by arithmetic: all numbers of rows get schedules of one
    double best_score_ = std::numeric_limits<double>::infinity();
    int batches_without_gain_ = -1;  // the first batch is no gain
};

// How many schedules are tried at most.
size_t most_candidates(Effort effort);

// As many as the effort allows of candidates(), for where all of them are tried at once.
std::vector<KernelSpec> first_candidates(const NormProblem &problem, const Halide::Target &target, Effort effort,
                                         uint64_t seed, const std::vector<Knobs> &known);

}  // namespace normforge
