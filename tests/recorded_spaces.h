#pragma once

#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "Halide.h"
#include "schedules/knobs.h"
#include "schedules/target.h"
#include "tests/source_files.h"

namespace normforge {

// All schedules of a problem, as they were measured once: scripts/record_spaces.py.
struct RecordedSpace {
    NormProblem problem;
    Halide::Target target;
    std::map<std::string, std::vector<double>> ratios;  // to the reference, by knobs, for each number of rows
};

namespace recorded {

// "l,a,16,4,4,0,c,1,p": of each knob's value enough letters to tell which it is.
inline Knobs knobs(const std::string &text) {
    std::istringstream words(text);
    Knobs result{};
    for (const Knob &knob : knob_table()) {
        std::string word;
        std::getline(words, word, ',');
        bool known = false;
        for (const KnobValue &value : knob.values) {
            const std::string full = knob_text(knob, value.value);
            const bool is_number = full.find_first_not_of("0123456789") == std::string::npos;
            if (is_number ? full == word : full.starts_with(word)) {
                result.*knob.member = value.value;
                known = true;
            }
        }
        if (!known) {
            throw std::runtime_error("recorded knobs " + text + ": " + knob.name);
        }
    }
    return result;
}

}  // namespace recorded

inline const std::vector<RecordedSpace> &recorded_spaces() {
    static const std::vector<RecordedSpace> spaces = [] {
        std::istringstream lines(read_source("tests/data/recorded_spaces.txt"));
        std::vector<RecordedSpace> result;
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            std::string first, target;
            words >> first;
            if (first == "space") {
                words >> first >> target;
                result.push_back({parse_problem(first), kernel_target(target), {}});
            } else if (!first.empty() && first != "#") {
                std::vector<double> &ratios = result.back().ratios[to_text(recorded::knobs(first))];
                for (double ratio = 0; words >> ratio;) {
                    ratios.push_back(ratio);
                }
            }
        }
        return result;
    }();
    return spaces;
}

}  // namespace normforge
