#include "autotune/search/tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "autotune/base/content_hash.h"
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

void expect_full_record(const TuneRequest &request, const TuneReport &report, const std::vector<Trial> &trials) {
    std::set<std::pair<std::string, int64_t>> expected, tried;
    for (const Knobs &knobs : candidates(request.problem, request.target, request.effort, request.seed)) {
        for (int64_t rows : request.rows) {
            expected.emplace(to_text(knobs), rows);
        }
    }
    std::map<TrialStatus, int> statuses;
    std::map<int64_t, std::set<int>> places;  // in the first block, by rows
    for (const Trial &trial : trials) {
        tried.emplace(trial.knobs, trial.rows);
        statuses[trial.status]++;
        EXPECT_EQ(trial.status, TrialStatus::ok) << trial.knobs << ": " << trial.message;
        EXPECT_GE(trial.samples.size(), 3u) << trial.knobs;
        EXPECT_EQ(trial.object_hash.size(), 32u);
        EXPECT_EQ(trial.output_digest.size(), 32u);
        EXPECT_LE(trial.error_ratio, 1);
        EXPECT_GT(trial.error_ratio, 0);
        EXPECT_GT(trial.code_bytes, 0);
        EXPECT_GT(trial.compile_ms, 0);
        for (size_t block = 0; block < trial.samples.size(); block++) {
            EXPECT_EQ(trial.samples[block].block, static_cast<int>(block));
        }
        places[trial.rows].insert(trial.samples.at(0).position);
    }
    EXPECT_EQ(tried, expected);
    EXPECT_EQ(trials.size(), expected.size());
    EXPECT_EQ(statuses, report.trials);
    for (int64_t rows : request.rows) {
        const std::set<int> &own = places[rows];
        EXPECT_EQ(own.size(), trials.size() / request.rows.size());
        EXPECT_EQ(*own.rbegin() + 1, static_cast<int>(own.size())) << "not a contest of these rows alone";
    }
}

// The heuristic's kernel against itself: the noise floor must not be taken from a few samples.
void expect_reference_in_all_rounds(const std::vector<Trial> &trials) {
    size_t most = 0;
    for (const Trial &trial : trials) {
        most = std::max(most, trial.samples.size());
    }
    for (const Trial &trial : trials) {
        if (trial.knobs == trials.front().knobs) {
            EXPECT_EQ(trial.samples.size(), most);
        }
    }
    EXPECT_LT(std::ranges::min(trials, {}, [](const Trial &t) { return t.samples.size(); }).samples.size(), most)
        << "no round dropped anyone";
}

void expect_usable(const TuneRequest &request, const Selection &selection) {
    ASSERT_EQ(selection.choices.size(), request.rows.size());
    for (size_t i = 0; i < request.rows.size(); i++) {
        EXPECT_EQ(selection.choices[i].rows, request.rows[i]);
        EXPECT_EQ(check(request.problem, parse_knobs(selection.choices[i].knobs), request.target), "");
    }
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
    EXPECT_EQ(session.target, target_name(small.target));
    EXPECT_EQ(session.noise_floor, report.selection.noise);
    const std::vector<Trial> trials = database_.trials(session.id);
    expect_full_record(small, report, trials);
    expect_reference_in_all_rounds(trials);
    expect_usable(small, report.selection);

    const ResolvedKernel kernel = resolve({small.problem}, {small.target}, &database_).at(0);
    EXPECT_TRUE(kernel.tuned) << kernel.source;
    for (const Choice &choice : report.selection.choices) {
        const ResolvedVariant &variant = variant_for(kernel, choice.rows);
        EXPECT_EQ(to_text(variant.spec.knobs), choice.knobs);
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
    for (const CpuFeature &feature : kCpuFeatures) {
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

}  // namespace
}  // namespace normforge
