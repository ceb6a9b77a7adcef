#pragma once

#include <CLI/CLI.hpp>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "autotune/cli/options.h"
#include "runtime/norm_problem.h"

namespace normforge {

// The options that name problems: --op, --hidden and one for every other field, each a list; the problems are all
// combinations. The methods throw UsageError.
class ProblemOptions {
public:
    enum class Count { one, several };

    ProblemOptions(CLI::App &command, Count count);
    std::vector<NormProblem> problems() const;  // in the order given, without repeats
    NormProblem only_problem() const;           // what Count::one promises

private:
    struct Field {
        template <typename... Arguments>
        explicit Field(std::string field, Arguments &&...arguments)
            : name(std::move(field)), list(std::forward<Arguments>(arguments)...) {}

        std::string name;
        ListOption list;
    };

    std::list<Field> fields_;  // in the order of visit_fields; they must stay where they are
};

}  // namespace normforge
