#pragma once

#include <CLI/CLI.hpp>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "autotune/base/hardware.h"
#include "autotune/cli/options.h"
#include "autotune/manifest/manifest.h"
#include "runtime/norm_problem.h"

namespace normforge {

// The options that name problems: --op, --hidden and one for every other field, each a list, of which the problems
// are all combinations; where there may be several, --manifest is a file of them instead. The methods throw
// UsageError for the line and UserError for the manifest.
class ProblemOptions {
public:
    enum class Count { one, several };

    ProblemOptions(CLI::App &command, Count count);
    std::vector<NormProblem> problems() const;                 // in the order given, without repeats
    NormProblem only_problem() const;                          // what Count::one promises
    const std::string &manifest() const { return manifest_; }  // its path, empty where there is none

    // With the rows that they are to be tuned for on a machine: the manifest's, else the option's.
    std::vector<ProblemRows> problems_with_rows(const RowsOption &rows, const Hardware &machine) const;

private:
    struct Field {
        template <typename... Arguments>
        explicit Field(std::string field, Arguments &&...arguments)
            : name(std::move(field)), list(std::forward<Arguments>(arguments)...) {}

        std::string name;
        ListOption list;
    };

    void add_manifest(CLI::App &command);
    bool has_manifest() const { return manifest_option_ != nullptr && manifest_option_->count() > 0; }
    std::vector<ProblemRows> read_manifest(const std::vector<std::string> &usual_rows, int64_t cold_bytes) const;

    std::list<Field> fields_;  // in the order of visit_fields; they must stay where they are
    std::string manifest_;     // a path
    CLI::Option *manifest_option_ = nullptr;
};

}  // namespace normforge
