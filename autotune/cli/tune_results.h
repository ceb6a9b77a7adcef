#pragma once

#include <string>
#include <vector>

#include "autotune/cli/json_forms.h"
#include "autotune/cli/options.h"
#include "autotune/manifest/manifest.h"
#include "autotune/search/tuner.h"

namespace normforge {

// A tune command, whichever way it is to be carried out.
struct TuneCommand {
    const std::vector<ProblemRows> &problems;
    const TargetOption &target;
    const std::string &database;
    Effort effort;
    uint64_t seed;
    bool json;
    bool quiet;
};

inline Progress::Mode progress_mode(bool quiet) {
    return quiet ? Progress::Mode::silent : Progress::Mode::automatic;
}

// "120 ok, 3 crash".
std::string count_text(const std::map<TrialStatus, int> &trials);

// A line for each number of rows.
void print_choices(const Selection &selection);

// What came of each problem of a tune command.
class TuneResults {
public:
    explicit TuneResults(bool as_json) : as_json_(as_json) {}

    // Printed at once, but as JSON.
    void add(const TuneRequest &request, const TuneReport &report);
    void add_failure(const NormProblem &problem, const std::string &reason);

    // The JSON, or a table where there are several.
    void print() const;

    // Prints. Throws std::runtime_error where a problem failed.
    void finish() const;

private:
    struct Line {
        std::string problem;
        double best_ratio;
        double seconds;
        std::string failure;
    };

    bool as_json_;
    Json json_ = Json::array();
    std::vector<Line> lines_;
};

}  // namespace normforge
