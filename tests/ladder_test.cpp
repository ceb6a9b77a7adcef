#include "autotune/search/ladder.h"

#include <gtest/gtest.h>

#include <span>

#include "autotune/base/code_hash.h"
#include "autotune/base/content_hash.h"
#include "autotune/search/compile_cache.h"
#include "autotune/search/generator_version.h"
#include "autotune/search/resolver.h"
#include "autotune/search/seeds.h"
#include "autotune/search/tuner.h"
#include "schedules/space.h"
#include "schedules/target.h"
#include "tests/temporary_folder.h"
#include "tests/timed_trials.h"

namespace normforge {
namespace {

constexpr const char *kTarget = "x86-64-linux-avx2-f16c-fma";

struct Entry {
    NormProblem problem = default_problem(NF_RMS_NORM, 64);
    Hardware hardware = detect_hardware();
    std::string target = kTarget;
    std::vector<std::string> changes = {"unroll=1", "unroll=1"};  // of the heuristic's knobs, for 1 and 64 rows
    TrialStatus status_of_64_rows = TrialStatus::ok;
    TimeSource source = TimeSource::measured;
};

// One that is found at that step.
Entry entry_of(LadderStep step) {
    Entry entry;
    switch (step) {
    case LadderStep::nearest_rows:
        entry.status_of_64_rows = TrialStatus::crash;
        break;
    case LadderStep::nearest_hidden:
        entry.problem.hidden = 128;
        break;
    case LadderStep::hardware_family:
        entry.hardware.model++;
        entry.hardware.model_name = "a cousin";
        break;
    case LadderStep::instruction_set:
        entry.hardware.vendor = "other";
        entry.hardware.model_name = "a stranger";
        break;
    case LadderStep::shipped_default:
        entry.target = "x86-64-linux";
        break;
    default:
        break;
    }
    return entry;
}

class LadderTest : public testing::Test {
protected:
    static Knobs changed(Knobs knobs, const std::string &change) {
        const std::string name = change.substr(0, change.find('='));
        for (const Knob &knob : knob_table()) {
            if (name == knob.name) {
                knobs.*knob.member = knob_value(knob, change.substr(name.size() + 1));
            }
        }
        return knobs;
    }

    // A session in which the changed schedules took 0.5 of the reference's time.
    void store(Database &database, const Entry &entry) {
        const Halide::Target target = kernel_target(entry.target);
        const Knobs reference = heuristic(entry.problem, target);
        const int64_t session =
            database.begin_session({entry.problem, entry.hardware, current_toolchain(), current_generator(),
                                    entry.target, to_text(reference), entry.source},
                                   1, "quick");
        const std::vector<int64_t> rows = {1, 64};
        for (size_t index = 0; index < rows.size(); index++) {
            for (const Knobs &knobs : {reference, changed(reference, entry.changes[index])}) {
                compiled_.compile({KernelSpec{entry.problem, knobs, target}});
                const std::string &object = compiled_[KernelSpec{entry.problem, knobs, target}].object;
                const double ratio = knobs == reference ? 1 : 0.5;
                Trial trial = TimedTrial{.knobs = to_text(knobs), .rows = rows[index], .ratios = {ratio, ratio}};
                trial.object_hash = content_hash(std::as_bytes(std::span(object)));
                trial.code_hash = code_hash(object);
                trial.status = rows[index] == 64 ? entry.status_of_64_rows : TrialStatus::ok;
                database.add_trial(session, trial);
            }
        }
        database.end_session(session, SessionState::done, 0);
    }

    ResolvedKernel resolved(Steps steps = Steps::up_to_the_taken) {
        return resolve({problem_}, {kernel_target(kTarget)}, {&own_, &shipped_}, steps).at(0);
    }

    const TemporaryFolder folder_;
    Database own_ = Database::open(folder_ / "own.db");
    Database shipped_ = Database::open(folder_ / "shipped.db");
    NormProblem problem_ = default_problem(NF_RMS_NORM, 64);
    CompileCache compiled_;
};

class StepTest : public LadderTest, public testing::WithParamInterface<NamedValue<LadderStep>> {};

INSTANTIATE_TEST_SUITE_P(Of, StepTest, testing::ValuesIn(kLadderSteps, std::end(kLadderSteps) - 1),
                         [](const auto &step) {
                             std::string name = step.param.name;
                             std::ranges::replace(name, ' ', '_');
                             return name;
                         });

TEST_P(StepTest, IsTakenBeforeThoseBelow) {
    const LadderStep step = GetParam().value;
    for (const NamedValue<LadderStep> &other : kLadderSteps) {
        if (other.value >= step && other.value != LadderStep::heuristic) {
            store(other.value == LadderStep::shipped_default ? shipped_ : own_, entry_of(other.value));
        }
    }
    const ResolvedKernel kernel = resolved();
    EXPECT_EQ(kernel.step, step) << kernel.source;
    EXPECT_TRUE(kernel.source.starts_with(std::string(GetParam().name) + ": 2.00x the heuristic at 1 row"))
        << kernel.source;
    EXPECT_EQ(kernel.outcomes.size(), static_cast<size_t>(step) + 1);
    EXPECT_TRUE(kernel.outcomes.back().can_serve);
    for (const ResolvedVariant &variant : kernel.variants) {
        EXPECT_TRUE(same_problem(problem_of(variant.spec), problem_));
        EXPECT_EQ(target_text(variant.spec), kTarget);
        EXPECT_EQ(std::get<KernelSpec>(variant.spec).knobs.unroll, 1);
        EXPECT_FALSE(variant.object.empty());
    }
}

TEST_F(LadderTest, TellsWhatEveryStepHas) {
    store(own_, entry_of(LadderStep::nearest_hidden));
    store(own_, entry_of(LadderStep::hardware_family));
    const ResolvedKernel kernel = resolved(Steps::all);
    EXPECT_EQ(kernel.step, LadderStep::nearest_hidden);
    EXPECT_EQ(kernel.source,
              "nearest hidden size: 2.00x the heuristic at 1 row, 2.00x the heuristic at 64 rows of "
              "128 values; not tuned for this hardware and target");
    const std::vector<std::string> expected = {"not tuned for this hardware and target",
                                               "not tuned for this hardware and target",
                                               " of 128 values",
                                               " on a cousin (",
                                               "2.00x the heuristic at 1 row",  // the cousin's instruction set too
                                               "nothing was tuned there",
                                               "not measured"};
    ASSERT_EQ(kernel.outcomes.size(), expected.size());
    for (size_t index = 0; index < expected.size(); index++) {
        EXPECT_EQ(static_cast<size_t>(kernel.outcomes[index].step), index);
        EXPECT_PRED_FORMAT2(testing::IsSubstring, expected[index], kernel.outcomes[index].outcome);
    }
}

TEST_F(LadderTest, LooksIntoTheUsersDatabaseFirstAtEachStep) {
    store(shipped_, entry_of(LadderStep::hardware_family));
    store(own_, entry_of(LadderStep::instruction_set));
    EXPECT_TRUE(resolved().source.starts_with("hardware family, shipped: ")) << resolved().source;
    Entry cousin = entry_of(LadderStep::hardware_family);
    cousin.changes = {"prefetch=2", "prefetch=2"};
    store(own_, cousin);
    EXPECT_TRUE(resolved().source.starts_with("hardware family: ")) << resolved().source;
    EXPECT_EQ(std::get<KernelSpec>(resolved().variants.front().spec).knobs.prefetch, 2);
    store(shipped_, entry_of(LadderStep::tuned));
    EXPECT_EQ(resolved().source, "tuned, shipped: 2.00x the heuristic at 1 row, 2.00x the heuristic at 64 rows");
}

TEST_F(LadderTest, TakesWhatWasMeasuredBeforeWhatWasSimulated) {
    Entry simulated = entry_of(LadderStep::hardware_family);
    simulated.source = TimeSource::simulated;
    simulated.changes = {"prefetch=2", "prefetch=2"};
    store(own_, simulated);
    EXPECT_EQ(resolved().step, LadderStep::hardware_family);
    EXPECT_FALSE(resolved().is_measured);
    EXPECT_NE(resolved().source.find("simulated, not measured"), std::string::npos) << resolved().source;
    Entry other = entry_of(LadderStep::hardware_family);
    other.hardware.model++;
    store(shipped_, other);
    EXPECT_TRUE(resolved().is_measured) << resolved().source;
}

TEST_F(LadderTest, ShipsNoDefaultForAnotherArchitecture) {
    Entry entry = entry_of(LadderStep::shipped_default);
    entry.target = "arm-64-linux";
    entry.hardware.arch = "arm";
    store(shipped_, entry);
    EXPECT_EQ(resolved().step, LadderStep::heuristic) << resolved().source;
}

struct Misfit {
    const char *name;
    void (*make)(Entry &entry);
    LadderStep examined;
    const char *outcome;
    LadderStep taken;
    int64_t hidden = 64;  // of what is asked for
};

class MisfitTest : public LadderTest, public testing::WithParamInterface<Misfit> {};

INSTANTIATE_TEST_SUITE_P(
    All, MisfitTest,
    testing::Values(Misfit{"HiddenOfAnotherDivisibility", [](Entry &entry) { entry.problem.hidden = 96; },
                           LadderStep::nearest_hidden, "nothing was tuned there", LadderStep::heuristic},
                    Misfit{"HiddenFarAway", [](Entry &entry) { entry.problem.hidden = 256; },
                           LadderStep::nearest_hidden, "nothing was tuned there", LadderStep::heuristic},
                    Misfit{"HiddenOfAnotherProblem",
                           [](Entry &entry) {
                               entry.problem.hidden = 128;
                               entry.problem.output = NF_F16;
                           },
                           LadderStep::nearest_hidden, "nothing was tuned there", LadderStep::heuristic},
                    Misfit{"KnobsThatDoNotFit",
                           [](Entry &entry) {
                               entry.problem.hidden = 36;
                               entry.changes = {"accumulators=8", "accumulators=8"};
                           },
                           LadderStep::nearest_hidden, "wider than the row", LadderStep::heuristic, 28},
                    Misfit{"SeveralOrdersOfSums",
                           [](Entry &entry) {
                               entry.problem.hidden = 128;
                               entry.changes = {"unroll=1", "accumulators=4"};
                           },
                           LadderStep::nearest_hidden, "its schedules sum in several orders",
                           LadderStep::heuristic},
                    Misfit{"OtherCaches",
                           [](Entry &entry) {
                               entry.hardware.model++;
                               entry.hardware.l2_bytes *= 2;
                           },
                           LadderStep::hardware_family, "nothing was tuned there", LadderStep::instruction_set},
                    Misfit{"OtherInstructionSet", [](Entry &entry) { entry.target = "x86-64-linux-avx"; },
                           LadderStep::instruction_set, "nothing was tuned there", LadderStep::heuristic}),
    [](const auto &test) { return std::string(test.param.name); });

TEST_P(MisfitTest, DoesNotServe) {
    Entry entry;
    GetParam().make(entry);
    problem_ = entry.problem;
    problem_.hidden = GetParam().hidden;
    problem_.output = NF_F32;
    store(own_, entry);
    const ResolvedKernel kernel = resolved(Steps::all);
    EXPECT_EQ(kernel.step, GetParam().taken) << kernel.source;
    const StepOutcome &outcome = kernel.outcomes.at(static_cast<size_t>(GetParam().examined));
    EXPECT_EQ(outcome.step, GetParam().examined);
    EXPECT_FALSE(outcome.can_serve);
    EXPECT_PRED_FORMAT2(testing::IsSubstring, GetParam().outcome, outcome.outcome);
}

// What was measured is other code than would be made now, wherever it was.
TEST_P(StepTest, StaleEntryIsPassedOver) {
    const LadderStep step = GetParam().value;
    const bool is_shipped = step == LadderStep::shipped_default;
    store(is_shipped ? shipped_ : own_, entry_of(step));
    SqliteConnection(folder_ / (is_shipped ? "shipped.db" : "own.db"), SqliteConnection::Mode::read_write)
        .execute("UPDATE artifact SET object_hash = '', code_hash = 'other'");
    const ResolvedKernel kernel = resolved();
    EXPECT_EQ(kernel.step, LadderStep::heuristic) << kernel.source;
    const StepOutcome &outcome = kernel.outcomes.at(static_cast<size_t>(step));
    EXPECT_EQ(outcome.step, step);
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "stale: its schedule now compiles to other code", outcome.outcome);
}

// Stale ones too, which are good for nothing else; dead ones are not legal.
TEST_F(LadderTest, EntriesSeedTuning) {
    Entry entry;
    entry.changes = {"unroll=1", "prefetch=2"};
    store(own_, entry);
    entry = entry_of(LadderStep::nearest_hidden);
    entry.changes = {"prefetch=1", "unroll=1"};
    store(shipped_, entry);
    SqliteConnection(folder_ / "own.db", SqliteConnection::Mode::read_write)
        .execute("UPDATE artifact SET object_hash = '', code_hash = 'other'");
    const Halide::Target target = kernel_target(kTarget);
    const Knobs reference = heuristic(problem_, target);
    const auto seeds = [&] { return tuning_seeds({&own_, &shipped_}, problem_, target); };
    const Knobs longer = heuristic(entry.problem, target);
    EXPECT_EQ(seeds(), std::vector<Knobs>({changed(reference, "unroll=1"), changed(reference, "prefetch=2"),
                                           changed(longer, "prefetch=1"), changed(longer, "unroll=1")}));
    SqliteConnection(folder_ / "own.db", SqliteConnection::Mode::read_write)
        .execute("UPDATE candidate SET knobs = replace(knobs, 'unroll=1', 'unroll=3')");
    EXPECT_EQ(seeds().front(), changed(reference, "prefetch=2"));
}

// As many bytes are at work from half as many rows of twice the size on.
TEST_F(LadderTest, NumbersOfRowsFollowTheHiddenSize) {
    Entry entry = entry_of(LadderStep::nearest_hidden);
    entry.changes = {"unroll=1", "prefetch=2"};
    store(own_, entry);
    const ResolvedKernel kernel = resolved();
    ASSERT_EQ(kernel.variants.size(), 2u) << kernel.source;
    EXPECT_EQ(kernel.variants[0].min_rows, 0);
    EXPECT_EQ(kernel.variants[1].min_rows, 16) << "8 of 128 values";
}

}  // namespace
}  // namespace normforge
