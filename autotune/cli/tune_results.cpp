#include "autotune/cli/tune_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "autotune/base/enum_text.h"
#include "autotune/base/units.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/cli/text_table.h"
#include "schedules/target.h"

namespace normforge {

std::string count_text(const std::map<TrialStatus, int> &trials) {
    std::string text;
    for (const auto &[status, count] : trials) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(kTrialStatuses, status));
    }
    return text;
}

void print_choices(const Selection &selection) {
    for (const Choice &choice : selection.choices) {
        print("  rows={:<6} {:>8}, heuristic {:>8}, {:.2f}x  {}\n", choice.rows, time_text(choice.nanoseconds),
              time_text(choice.reference_nanoseconds), 1 / choice.ratio, choice.knobs);
    }
}

namespace {

void print_text(const NormProblem &problem, const TuneReport &report) {
    print("{}\n", to_text(problem));
    print_choices(report.selection);
    for (const auto &[rows, nanoseconds] : report.copy_nanoseconds) {
        print("  rows={:<6} {}, a copy on the device that moves as many bytes\n", rows, time_text(nanoseconds));
    }
    print("  noise {:.1f} %, trials: {}, {}{}\n", report.selection.noise * 100, count_text(report.trials),
          time_text(report.seconds * 1e9), report.cut.empty() ? "" : ", incomplete: " + report.cut);
    flush_output();  // the next problem takes a while
}

Json report_json(const TuneRequest &request, const TuneReport &report) {
    Json json = json_of(request.problem);
    json["target"] = target_name(request.target);
    json["hardware"] = report.hardware;
    for (const auto &[rows, nanoseconds] : report.copy_nanoseconds) {
        json["copies"].push_back({{"rows", rows}, {"ns", nanoseconds}});
    }
    json["seconds"] = report.seconds;
    json["cut"] = report.cut;
    for (const auto &[status, count] : report.trials) {
        json["trials"][name_of(kTrialStatuses, status)] = count;
    }
    json.update(json_of(report.selection));
    return json;
}

}  // namespace

void TuneResults::add(const TuneRequest &request, const TuneReport &report) {
    const auto best = std::ranges::min_element(report.selection.choices, {}, &Choice::ratio);
    lines_.push_back(
        {to_text(request.problem), best == report.selection.choices.end() ? 1 : best->ratio, report.seconds, ""});
    if (as_json_) {
        json_.push_back(report_json(request, report));
    } else {
        print_text(request.problem, report);
    }
}

void TuneResults::add_failure(const NormProblem &problem, const std::string &reason) {
    lines_.push_back({to_text(problem), 1, 0, reason});
    json_.push_back(json_of(problem));
    json_.back()["failure"] = reason;
}

void TuneResults::print() const {
    if (as_json_) {
        print_json(json_);
    } else if (lines_.size() > 1) {
        std::vector<std::vector<std::string>> table = {{"problem", "best gain", "time", "result"}};
        for (const Line &line : lines_) {
            if (line.failure.empty()) {
                table.push_back({line.problem, fmt::format("{:.2f}x", 1 / line.best_ratio),
                                 time_text(line.seconds * 1e9), "tuned"});
            } else {
                table.push_back({line.problem, "-", "-", "failed: " + line.failure});
            }
        }
        write_output("\n" + text_table(table));
    }
    flush_output();
}

void TuneResults::finish() const {
    print();
    const auto failed = std::ranges::count_if(lines_, [](const Line &line) { return !line.failure.empty(); });
    if (failed == 1 && lines_.size() == 1) {
        throw std::runtime_error(lines_.front().failure);
    }
    if (failed > 0) {
        throw std::runtime_error(fmt::format("{} of {} problems failed", failed, lines_.size()));
    }
}

}  // namespace normforge
