#include "autotune/search/tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "autotune/base/content_hash.h"
#include "autotune/search/generator_version.h"
#include "autotune/search/resolver.h"
#include "runtime/cpu_features.h"
#include "schedules/space.h"
#include "schedules/target.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

class TunerTest : public testing::Test {
protected:
    TuneRequest request(nf_op op, const std::string &target = "host") const {
        return {default_problem(op, 64), kernel_target(target), {1, 4}, Effort::quick, 3};
    }

    StoredSession only_session() const {
        const std::vector<StoredSession> sessions = database_.sessions();
        EXPECT_EQ(sessions.size(), 1u);
        return sessions.at(0);
    }

    const TemporaryFolder folder_;
    Database database_ = Database::open(folder_ / "tuning.db");
    Progress progress_{Progress::Mode::silent};
};

bool is_requested(const TuneRequest &request, int64_t rows) {
    return std::ranges::find(request.rows, rows) != request.rows.end();
}

// Of trials of the requested numbers of rows.
void expect_full_record(const TuneRequest &request, const std::vector<Trial> &trials) {
    std::map<std::string, std::set<int64_t>> tried;
    std::map<std::string, std::string> first_of_code;  // knobs
    for (const Trial &trial : trials) {
        EXPECT_TRUE(tried[trial.knobs].insert(trial.rows).second) << trial.knobs << " twice";
        EXPECT_EQ(check(request.problem, parse_knobs(trial.knobs), request.target), "");
        EXPECT_EQ(trial.status, TrialStatus::ok) << trial.knobs << ": " << trial.message;
        EXPECT_EQ(trial.object_hash.size(), 32u);
        EXPECT_EQ(trial.code_hash.size(), 32u);
        ASSERT_GT(trial.output_digest.size(), 32u);
        EXPECT_EQ(trial.output_digest.substr(32), " by " + arithmetic_text(parse_knobs(trial.knobs)));
        EXPECT_LE(trial.error_ratio, 1);
        EXPECT_GT(trial.error_ratio, 0);
        EXPECT_GT(trial.code_bytes, 0);
        EXPECT_GT(trial.compile_ms, 0);
        for (size_t block = 0; block < trial.samples.size(); block++) {
            EXPECT_EQ(trial.samples[block].block, static_cast<int>(block));
        }
        if (trial.message.empty()) {
            EXPECT_GE(trial.samples.size(), 3u) << trial.knobs;
            const auto first = first_of_code.emplace(trial.code_hash, trial.knobs).first;
            EXPECT_EQ(first->second, trial.knobs) << "the same machine code was timed twice";
        } else {
            EXPECT_PRED_FORMAT2(testing::IsSubstring, "whose machine code is the same", trial.message);
            EXPECT_TRUE(trial.samples.empty());
        }
    }
    EXPECT_GE(tried.size(), 24u);
    EXPECT_LE(tried.size(), 56u);
    EXPECT_TRUE(tried.contains(to_text(heuristic(request.problem, request.target))));
    for (const auto &[knobs, rows] : tried) {
        EXPECT_EQ(rows.size(), request.rows.size()) << knobs;
    }
}

// The heuristic's kernel against itself: the noise floor must not be taken from a few samples.
void expect_reference_in_all_rounds(const std::vector<Trial> &trials, const std::string &reference) {
    size_t most = 0;
    for (const Trial &trial : trials) {
        most = std::max(most, trial.samples.size());
    }
    for (const Trial &trial : trials) {
        if (trial.knobs == reference) {
            EXPECT_EQ(trial.samples.size(), most);
        }
    }
    EXPECT_LT(std::ranges::min(trials, {}, [](const Trial &t) { return t.samples.size(); }).samples.size(), most)
        << "no round dropped anyone";
}

// Between two numbers of rows that came out differently, the same two schedules are tried for others: these trials
// alone are not of the request.
void expect_crossovers(const TuneRequest &request, const std::vector<Trial> &between,
                       const std::vector<Trial> &requested) {
    std::map<int64_t, std::set<std::string>> tried;
    for (const Trial &trial : between) {
        EXPECT_GT(trial.rows, request.rows.front());
        EXPECT_LT(trial.rows, request.rows.back());
        EXPECT_FALSE(trial.samples.empty());
        EXPECT_TRUE(std::ranges::any_of(requested, [&](const Trial &t) { return t.knobs == trial.knobs; }));
        tried[trial.rows].insert(trial.knobs);
    }
    for (const auto &[rows, knobs] : tried) {
        EXPECT_EQ(knobs.size(), 2u) << rows << " rows";
    }
    EXPECT_EQ(between.size(), 2 * tried.size());
}

void expect_usable(const TuneRequest &request, const Selection &selection) {
    std::vector<int64_t> chosen_for;
    for (const Choice &choice : selection.choices) {
        chosen_for.push_back(choice.rows);
        EXPECT_EQ(check(request.problem, parse_knobs(choice.knobs), request.target), "");
    }
    EXPECT_TRUE(std::ranges::includes(chosen_for, request.rows));
}

class TuneTest : public TunerTest, public testing::WithParamInterface<nf_op> {};

// A database to generate from, and the first invariant: what is generated is byte for byte what was measured.
TEST_P(TuneTest, LeavesWhatResolveNeeds) {
    const TuneRequest small = request(GetParam());
    const TuneReport report = tune(small, database_, progress_);
    const StoredSession session = only_session();
    EXPECT_EQ(session.state, SessionState::done);
    EXPECT_EQ(session.effort, "quick");
    EXPECT_EQ(session.seed, 3);
    EXPECT_EQ(session.toolchain, current_toolchain());
    EXPECT_EQ(session.generator, current_generator());
    EXPECT_EQ(session.reference, to_text(heuristic(small.problem, small.target)));
    EXPECT_EQ(session.target, target_name(small.target));
    EXPECT_EQ(session.noise_floor, report.selection.noise);
    const std::vector<Trial> trials = database_.trials(session.id);
    std::map<TrialStatus, int> statuses;
    std::vector<Trial> requested, between;
    for (const Trial &trial : trials) {
        statuses[trial.status]++;
        (is_requested(small, trial.rows) ? requested : between).push_back(trial);
    }
    EXPECT_EQ(statuses, report.trials);
    expect_full_record(small, requested);
    expect_reference_in_all_rounds(requested, session.reference);
    expect_crossovers(small, between, requested);
    expect_usable(small, report.selection);

    const ResolvedKernel kernel = resolve({small.problem}, {small.target}, {.own = &database_}).at(0);
    EXPECT_EQ(kernel.step, LadderStep::tuned) << kernel.source;
    for (const Choice &choice : report.selection.choices) {
        const ResolvedVariant &variant = variant_for(kernel, choice.rows);
        EXPECT_EQ(knobs_text(variant.spec), choice.knobs);
        const auto trial = std::ranges::find_if(
            trials, [&](const Trial &t) { return t.knobs == choice.knobs && t.rows == choice.rows; });
        ASSERT_NE(trial, trials.end());
        EXPECT_EQ(content_hash(std::as_bytes(std::span(variant.object))), trial->object_hash);
        EXPECT_EQ(trial->output_digest, report.selection.output_digest);
    }
}

INSTANTIATE_TEST_SUITE_P(Op, TuneTest, testing::Values(NF_LAYER_NORM, NF_RMS_NORM),
                         [](const auto &op) { return field_text(op.param); });

TEST_F(TunerTest, RefusesATargetThatThisCpuCannotRun) {
    for (const CpuFeature &feature : kX86Features) {
        if (cpu_features() & feature.bit) {
            continue;
        }
        try {
            tune(request(NF_RMS_NORM, std::string("x86-64-linux-") + feature.name), database_, progress_);
            FAIL() << "tuned for " << feature.name;
        } catch (const UserError &error) {
            EXPECT_PRED_FORMAT2(testing::IsSubstring, "this CPU lacks", error.what());
            EXPECT_PRED_FORMAT2(testing::IsSubstring, feature.name, error.what());
        }
        EXPECT_TRUE(database_.sessions().empty());
        return;
    }
    GTEST_SKIP() << "this CPU has every feature that a target can name";
}

#if defined(__x86_64__)
TEST_F(TunerTest, RefusesAnotherArchitecture) {
    try {
        tune(request(NF_RMS_NORM, "arm-64-linux"), database_, progress_);
        FAIL() << "tuned for ARM";
    } catch (const UserError &error) {
        EXPECT_PRED_FORMAT2(testing::IsSubstring, "this CPU lacks neon", error.what());
    }
    EXPECT_TRUE(database_.sessions().empty());
}
#endif

}  // namespace
}  // namespace normforge
