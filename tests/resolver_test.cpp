#include "autotune/search/resolver.h"

#include <gtest/gtest.h>

#include <span>

#include "autotune/base/code_hash.h"
#include "autotune/base/content_hash.h"
#include "autotune/search/compile_pool.h"
#include "autotune/search/generator_version.h"
#include "autotune/search/tuner.h"
#include "schedules/row_schedules.h"
#include "schedules/space.h"
#include "schedules/target.h"
#include "tests/temporary_folder.h"
#include "tests/timed_trials.h"

namespace normforge {
namespace {

std::string hash_of(const std::string &object) {
    return content_hash(std::as_bytes(std::span(object)));
}

// A database as a tuning session leaves it, with trials made up but for the objects' hashes.
class ResolverTest : public testing::Test {
protected:
    // Another schedule than the heuristic's, and of other code.
    Knobs other_knobs() const {
        Knobs knobs = heuristic(problem_, target_);
        knobs.prefetch = 2;
        return knobs;
    }

    std::string compile(const Knobs &knobs) const {
        std::string object;
        compile_all({{problem_, knobs, target_}}, [&](size_t, const CompiledKernel &compiled) {
            EXPECT_EQ(compiled.status, TrialStatus::ok) << compiled.message;
            object = compiled.object;
        });
        return object;
    }

    // The heuristic's schedule is best at one row, the other one at 64.
    void tuned() {
        database_.emplace(Database::open(file_));
        const int64_t session =
            database_->begin_session({problem_, detect_hardware(), current_toolchain(), current_generator(),
                                      target_name(target_), to_text(heuristic(problem_, target_))},
                                     1, "quick");
        for (const Knobs &knobs : {heuristic(problem_, target_), other_knobs()}) {
            const std::string object = compile(knobs);
            for (int64_t rows : {1, 64}) {
                const double ratio = knobs == other_knobs() && rows == 64 ? 0.5 : 1;
                Trial trial = TimedTrial{.knobs = to_text(knobs), .rows = rows, .ratios = {ratio, ratio}};
                trial.object_hash = hash_of(object);
                trial.code_hash = code_hash(object);
                database_->add_trial(session, trial);
            }
        }
        database_->end_session(session, SessionState::done, 0);
    }

    void edit(const std::string &sql) { SqliteConnection(file_, SqliteConnection::Mode::read_write).execute(sql); }

    ResolvedKernel resolved() {
        return resolve({problem_}, {target_}, {.own = database_ ? &*database_ : nullptr}).at(0);
    }

    void expect_heuristic(const ResolvedKernel &kernel, const std::string &reason) {
        EXPECT_EQ(kernel.step, LadderStep::heuristic);
        EXPECT_TRUE(kernel.source.starts_with("heuristic: ")) << kernel.source;
        EXPECT_PRED_FORMAT2(testing::IsSubstring, reason, kernel.source);
        const std::vector<RowsSchedule> expected = heuristic_for_rows(problem_, target_);
        ASSERT_EQ(kernel.variants.size(), expected.size());
        for (size_t index = 0; index < expected.size(); index++) {
            EXPECT_EQ(kernel.variants[index].min_rows, expected[index].min_rows);
            EXPECT_EQ(knobs_text(kernel.variants[index].spec), to_text(expected[index].knobs));
            EXPECT_EQ(hash_of(kernel.variants[index].object), hash_of(compile(expected[index].knobs)));
        }
    }

    const TemporaryFolder folder_;
    const std::string file_ = folder_ / "tuning.db";
    std::optional<Database> database_;
    NormProblem problem_ = default_problem(NF_RMS_NORM, 64);
    Halide::Target target_ = kernel_target("host");
};

TEST_F(ResolverTest, TunedKernelsAreByteForByteWhatWasMeasured) {
    tuned();
    const ResolvedKernel kernel = resolved();
    EXPECT_EQ(kernel.step, LadderStep::tuned);
    EXPECT_EQ(kernel.source, "tuned: the heuristic's own at 1 row, 2.00x the heuristic at 64 rows");
    ASSERT_EQ(kernel.variants.size(), 2u);
    EXPECT_EQ(knobs_text(kernel.variants[0].spec), to_text(heuristic(problem_, target_)));
    EXPECT_EQ(knobs_text(kernel.variants[1].spec), to_text(other_knobs()));
    EXPECT_EQ(kernel.variants[0].object, compile(heuristic(problem_, target_)));
    EXPECT_EQ(kernel.variants[1].object, compile(other_knobs()));
    EXPECT_EQ(kernel.variants[0].min_rows, 0);
    EXPECT_EQ(kernel.variants[1].min_rows, 8) << "halfway, in ratio, from 1 to 64";
}

TEST_F(ResolverTest, VariantServesFromItsLeastNumberOfRows) {
    ResolvedKernel kernel;
    for (int64_t min_rows : {0, 8, 100}) {
        kernel.variants.push_back({{}, min_rows, ""});
    }
    for (const auto &[rows, min_rows] : {std::pair(1, 0), {7, 0}, {8, 8}, {99, 8}, {100, 100}, {1 << 30, 100}}) {
        EXPECT_EQ(variant_for(kernel, rows).min_rows, min_rows) << rows << " rows";
    }
}

TEST_F(ResolverTest, WithoutADatabaseItIsTheHeuristic) {
    expect_heuristic(resolved(), "no database is used");
}

struct Edit {
    const char *name;
    const char *sql;
    const char *reason;
};

class EditedDatabaseTest : public ResolverTest, public testing::WithParamInterface<Edit> {};

// The second invariant: what an older version left is understood or called stale, never silently taken for
// something else.
TEST_P(EditedDatabaseTest, FallsBackToTheHeuristic) {
    tuned();
    edit(GetParam().sql);
    expect_heuristic(resolved(), GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    All, EditedDatabaseTest,
    testing::Values(
        Edit{"unknown_knob", "UPDATE candidate SET knobs = knobs || ',warp=32'", "stale: unknown knob 'warp'"},
        Edit{"missing_knob", "UPDATE candidate SET knobs = replace(knobs, ',prefetch=2', '')",
             "stale: knob prefetch is missing"},
        Edit{"illegal_value", "UPDATE candidate SET knobs = replace(knobs, 'prefetch=2', 'prefetch=3')",
             "stale: knob prefetch: '3' is none of"},
        Edit{"unfit_knobs", "UPDATE candidate SET knobs = replace(knobs, 'sums=plain', 'sums=two_pass')",
             "stale: sums=row_pivot and two_pass are for the forward pass of layer_norm"},
        Edit{"other_code", "UPDATE artifact SET object_hash = '', code_hash = '00000000000000000000000000000000'",
             "stale: its schedule now compiles to other code"},
        Edit{"other_code_of_one",
             "UPDATE artifact SET object_hash = '', code_hash = '' WHERE candidate IN (SELECT id FROM candidate "
             "WHERE knobs "
             "LIKE '%prefetch=2%')",
             "stale: its schedule now compiles to other code"},
        Edit{"nothing_passed", "UPDATE trial SET status = 'wrong'", "no schedule passed tuning"},
        Edit{"bits_of_no_schedule_for_all_rows", "UPDATE trial SET output_digest = rows",
             "no schedule passed tuning for all numbers of rows"},
        Edit{"not_done", "UPDATE session SET state = 'aborted'", "not tuned for this hardware and target"},
        Edit{"other_hardware",
             "UPDATE hardware SET signature = 'x86-other'; UPDATE session SET target = 'arm-64-linux'",
             "not tuned for this hardware and target"},
        Edit{"other_target", "UPDATE session SET target = 'x86-64-linux-sse2'",
             "not tuned for this hardware and target"},
        Edit{"other_problem", "UPDATE problem SET hidden = 65", "not tuned for this hardware and target"}),
    [](const auto &edit) { return std::string(edit.param.name); });

// As after a change that renames a symbol or the compiler's notes alone.
TEST_F(ResolverTest, EqualCodeUnderAnotherNameIsAsMeasured) {
    tuned();
    edit("UPDATE artifact SET object_hash = ''");
    EXPECT_EQ(resolved().step, LadderStep::tuned);
}

TEST_F(ResolverTest, EveryProblemAndTargetHasItsOwnSource) {
    tuned();
    const std::vector<NormProblem> problems = {default_problem(NF_LAYER_NORM, 7), problem_};
    const std::vector<Halide::Target> targets = {target_, kernel_target("x86-64-linux")};
    const std::vector<ResolvedKernel> kernels = resolve(problems, targets, {.own = &*database_});
    ASSERT_EQ(kernels.size(), 4u);
    for (size_t i = 0; i < kernels.size(); i++) {
        EXPECT_TRUE(same_problem(kernels[i].problem, problems[i / 2]));
        EXPECT_EQ(kernels[i].target, targets[i % 2]);
        EXPECT_EQ(kernels[i].step == LadderStep::tuned, i == 2) << kernels[i].source;
        for (const ResolvedVariant &variant : kernels[i].variants) {
            EXPECT_FALSE(variant.object.empty());
        }
    }
}

}  // namespace
}  // namespace normforge
