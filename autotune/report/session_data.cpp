#include "autotune/report/session_data.h"

#include <algorithm>
#include <map>
#include <set>

#include "autotune/base/enum_text.h"
#include "autotune/search/selection.h"

namespace normforge {

namespace {

// Those of a crossover are of two candidates, which says nothing about a search.
constexpr size_t kFewestCandidates = 3;

class Candidates {
public:
    explicit Candidates(const std::vector<Trial> &trials) {
        for (const Trial &trial : trials) {
            if (places_.emplace(trial.knobs, texts_.size()).second) {
                texts_.push_back(trial.knobs);
            }
        }
    }

    size_t place(const std::string &knobs) const { return places_.at(knobs); }
    const std::vector<std::string> &texts() const { return texts_; }

private:
    std::map<std::string, size_t> places_;
    std::vector<std::string> texts_;
};

ReportJson noise_of(const std::vector<const Trial *> &trials, const std::string &reference) {
    ReportJson noise = ReportJson::array();
    for (const Trial *trial : trials) {
        if (trial->knobs == reference) {
            for (const Sample &sample : trial->samples) {
                noise.push_back({sample.block, sample.ns / sample.reference_ns, sample.ns});
            }
        }
    }
    return noise;
}

// Of one number of rows.
ReportJson rows_data(const StoredSession &session, int64_t rows, const std::vector<const Trial *> &trials,
                     size_t most, const Candidates &candidates) {
    ReportJson timed = ReportJson::array();
    for (const Trial *trial : trials) {
        timed.push_back({candidates.place(trial->knobs), 1 / median_ratio(*trial), trial->samples.size()});
    }
    const auto reference = std::ranges::find(trials, session.reference, [](const Trial *t) { return t->knobs; });
    ReportJson data;
    data["rows"] = rows;
    data["bytes"] = row_bytes(session.problem) * rows;
    data["full_samples"] = most;
    data["heuristic_ns"] =
        reference == trials.end() ? ReportJson() : ReportJson(median_of(**reference, &Sample::reference_ns));
    data["trials"] = timed;
    data["noise"] = noise_of(trials, session.reference);
    return data;
}

ReportJson failures(const std::vector<Trial> &trials) {
    ReportJson failed = ReportJson::array();
    std::set<std::string> seen;
    for (const Trial &trial : trials) {
        if (trial.status != TrialStatus::ok && seen.insert(trial.knobs).second) {
            failed.push_back({{"knobs", trial.knobs},
                              {"status", name_of(kTrialStatuses, trial.status)},
                              {"message", trial.message}});
        }
    }
    return failed;
}

}  // namespace

ReportJson session_data(const StoredSession &session, const std::vector<Trial> &trials) {
    const Candidates candidates(trials);
    std::map<int64_t, std::vector<const Trial *>> timed;  // by rows
    for (const Trial &trial : trials) {
        if (trial.status == TrialStatus::ok && !trial.samples.empty()) {
            timed[trial.rows].push_back(&trial);
        }
    }
    ReportJson data;
    data["problem"] = to_text(session.problem);
    data["machine"] = session.hardware.model_name;
    data["signature"] = session.hardware_signature;
    data["target"] = session.target;
    data["tools"] = "normforge " + session.toolchain.normforge + ", Halide " + session.toolchain.halide +
                    ", LLVM " + session.toolchain.llvm;
    data["effort"] = session.effort;
    data["state"] = name_of(kSessionStates, session.state);
    data["started"] = session.started;
    data["ended"] = session.ended;
    data["noise"] = session.noise_floor ? ReportJson(*session.noise_floor) : ReportJson();
    data["reference"] = session.reference;
    data["candidates"] = candidates.texts();
    data["rows"] = ReportJson::array();
    for (const auto &[rows, of_rows] : timed) {
        if (of_rows.size() >= kFewestCandidates) {
            data["rows"].push_back(rows_data(session, rows, of_rows, most_samples(trials, rows), candidates));
        }
    }
    data["failed"] = failures(trials);
    return data;
}

}  // namespace normforge
