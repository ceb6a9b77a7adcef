#pragma once

#include <string>
#include <vector>

#include "autotune/cli/json_forms.h"
#include "autotune/search/tuner.h"

namespace normforge {

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
