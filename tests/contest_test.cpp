#include "autotune/measure/contest.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>

#include "autotune/measure/single_kernel.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

using Entry = SingleKernel::Entry;

constexpr int kBlocks = 4;
constexpr int64_t kLongRow = 1 << 18;

void quick(const nf_arguments *) {}

[[noreturn]] void hang() {
    for (;;) {
        pause();
    }
}

// As the system does it: a sanitizer has handlers of its own.
[[noreturn]] void crash() {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    _exit(1);
}

// A sample here: two that warm up and a timed one.
constexpr int kSampleCalls = 3;

// Each child starts from the parent's count, 0.
template <int call, void (*end)()>
void ends_at(const nf_arguments *) {
    static int calls = 0;
    if (++calls == call) {
        end();
    }
}

struct Out {
    size_t contender;
    TrialStatus status;
    std::string reason;
};

struct Outcome {
    std::map<size_t, std::vector<Sample>> samples;
    std::vector<Out> out;
};

class ContestTest : public testing::Test {
protected:
    // Apart from other processes, which would make it pause.
    ContestTest() { setenv("NORMFORGE_LOCK", (folder_ / "lock").c_str(), 1); }
    ~ContestTest() override { unsetenv("NORMFORGE_LOCK"); }

    const nf_kernel *kernel(Entry entry) {
        return &kernels_.emplace_back(default_problem(NF_LAYER_NORM, 64), entry).kernel();
    }

    Contest contest(const std::vector<Entry> &entries, uint64_t seed = 1) {
        std::vector<const nf_kernel *> contenders;
        for (Entry entry : entries) {
            contenders.push_back(kernel(entry));
        }
        return {.reference = kernel(quick),
                .contenders = contenders,
                .operands = &operands_,
                .first_block = 10,
                .blocks = kBlocks,
                .sample_nanoseconds = 1,
                .seed = seed,
                .sample_limit = std::chrono::milliseconds(1000),
                .retakes = 0};
    }

    static Outcome run(const Contest &contest) {
        Outcome outcome;
        run_contest(contest,
                    {.sample = [&](size_t contender,
                                   const Sample &sample) { outcome.samples[contender].push_back(sample); },
                     .out =
                         [&](size_t contender, TrialStatus status, const std::string &reason) {
                             outcome.out.push_back({contender, status, reason});
                         }});
        return outcome;
    }

    // One of every block, in their order.
    static void expect_blocks(const std::vector<Sample> &samples, int count) {
        std::vector<int> blocks, expected;
        for (const Sample &sample : samples) {
            blocks.push_back(sample.block);
            EXPECT_GE(sample.calls, 1);
            EXPECT_GT(sample.ns, 0);
            EXPECT_GT(sample.reference_ns, 0);
        }
        for (int block = 0; block < count; block++) {
            expected.push_back(10 + block);
        }
        EXPECT_EQ(blocks, expected);
    }

    const TemporaryFolder folder_;

private:
    std::deque<SingleKernel> kernels_;
    const TimingOperands operands_{default_problem(NF_LAYER_NORM, 64), 2};
};

TEST_F(ContestTest, EveryBlockHasASampleOfEachContender) {
    const Outcome outcome = run(contest({quick, quick, quick}));
    EXPECT_TRUE(outcome.out.empty());
    ASSERT_EQ(outcome.samples.size(), 3u);
    std::set<std::pair<int, int>> positions;
    for (const auto &[contender, samples] : outcome.samples) {
        expect_blocks(samples, kBlocks);
        for (const Sample &sample : samples) {
            EXPECT_TRUE(sample.position >= 0 && sample.position < 3) << sample.position;
            positions.emplace(sample.block, sample.position);
        }
    }
    EXPECT_EQ(positions.size(), 3u * kBlocks) << "two contenders in one place";
}

TEST_F(ContestTest, OfNobodyOrNoBlocksIsNothing) {
    EXPECT_TRUE(run(contest({})).samples.empty());
    Contest none = contest({quick});
    none.blocks = 0;
    EXPECT_TRUE(run(none).samples.empty());
}

// Two contenders have the reference between them.
TEST_F(ContestTest, NeighboursShareTheReference) {
    std::map<std::pair<int, int>, double> reference_ns;
    for (const auto &[contender, samples] : run(contest({quick, quick, quick})).samples) {
        for (const Sample &sample : samples) {
            reference_ns[{sample.block, sample.position}] = sample.reference_ns;
        }
    }
    for (int block = 10; block < 10 + kBlocks; block++) {
        EXPECT_EQ((reference_ns[{block, 0}]), (reference_ns[{block, 1}]));
    }
}

// By whom each call was, in all children.
struct CallLog {
    static constexpr size_t kMost = 1000;
    size_t count;
    char who[kMost];
};
CallLog *call_log = nullptr;

template <char who>
void write_down(const nf_arguments *) {
    if (call_log->count < CallLog::kMost) {
        call_log->who[call_log->count++] = who;
    }
}

// A kernel, and the reference as well, finds caches as its own calls leave them.
TEST_F(ContestTest, WarmsUpWhateverItTimes) {
    void *shared = mmap(nullptr, sizeof(CallLog), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    call_log = static_cast<CallLog *>(shared);
    Contest logged = contest({write_down<'a'>, write_down<'b'>, write_down<'c'>});
    logged.reference = kernel(write_down<'r'>);
    run(logged);
    const std::string calls(call_log->who, call_log->count);
    munmap(shared, sizeof(CallLog));
    EXPECT_TRUE(std::regex_match(calls, std::regex("r*(aaa|bbb|ccc|rrr){20}"))) << calls;
}

TEST_F(ContestTest, StopsAfterAWholeBlock) {
    int samples = 0;
    run_contest(
        contest({quick, quick, quick}),
        {.sample = [&](size_t, const Sample &) { samples++; }, .out = {}, .stop = [&] { return samples >= 4; }});
    EXPECT_EQ(samples, 6);
}

// Who waits for the machine gets it between two blocks, and nothing is lost.
TEST_F(ContestTest, LetsOthersGoFirst) {
    Contest long_contest = contest({quick, quick});
    long_contest.blocks = 1000;
    long_contest.sample_nanoseconds = 1e5;
    const pid_t other = fork();
    if (other == 0) {
        usleep(50000);  // for the contest to begin
        { const MachineLock lock(MachineLock::Use::computing); }
        _exit(0);
    }
    std::map<size_t, int> next;
    bool other_has_gone = false;
    run_contest(long_contest, {.sample =
                                   [&](size_t contender, const Sample &sample) {
                                       EXPECT_EQ(sample.block, 10 + next[contender]++);
                                       other_has_gone =
                                           other_has_gone || waitpid(other, nullptr, WNOHANG) == other;
                                   },
                               .out = {}});
    EXPECT_EQ(next[0], 1000);
    EXPECT_EQ(next[1], 1000);
    EXPECT_TRUE(other_has_gone);
}

TEST_F(ContestTest, SeedMakesTheOrder) {
    const auto positions = [&](uint64_t seed) {
        std::vector<std::vector<int>> result;
        for (const auto &[contender, samples] :
             run(contest({quick, quick, quick, quick, quick, quick}, seed)).samples) {
            result.emplace_back();
            for (const Sample &sample : samples) {
                result.back().push_back(sample.position);
            }
        }
        return result;
    };
    const auto first = positions(1);
    EXPECT_EQ(positions(1), first);
    EXPECT_NE(positions(2), first);
    for (const std::vector<int> &contender : first) {
        EXPECT_GT(std::set(contender.begin(), contender.end()).size(), 1u) << "the same place in every block";
    }
}

TEST_F(ContestTest, SamplesAreOfAboutTheWantedTime) {
    Contest longer = contest({quick});
    longer.blocks = 1;
    longer.sample_nanoseconds = 1e8;  // which one call of nothing does not take
    longer.sample_limit = std::chrono::seconds(60);
    EXPECT_GT(run(longer).samples.at(0).at(0).calls, 1);
}

struct Failing {
    const char *name;
    Entry entry;
    int samples;  // that it gets before it fails
    TrialStatus status;
    const char *reason;
};

class FailingContenderTest : public ContestTest,
                             public testing::WithParamInterface<std::tuple<Failing, uint64_t>> {};

// Several seeds, so that it fails before, between and after the others of its block.
TEST_P(FailingContenderTest, IsOutAndTheOthersLoseNoSample) {
    const auto &[failing, seed] = GetParam();
    const Outcome outcome = run(contest({quick, failing.entry, quick, quick}, seed));
    ASSERT_EQ(outcome.out.size(), 1u);
    EXPECT_EQ(outcome.out[0].contender, 1u);
    EXPECT_EQ(outcome.out[0].status, failing.status);
    EXPECT_EQ(outcome.out[0].reason, failing.reason);
    for (size_t contender : {0, 2, 3}) {
        expect_blocks(outcome.samples.at(contender), kBlocks);
    }
    const auto own = outcome.samples.find(1);
    expect_blocks(own == outcome.samples.end() ? std::vector<Sample>() : own->second, failing.samples);
}

INSTANTIATE_TEST_SUITE_P(
    KindAndSeed, FailingContenderTest,
    testing::Combine(testing::Values(Failing{"crash_at_once", ends_at<1, crash>, 0, TrialStatus::crash,
                                             "killed by SIGSEGV"},
                                     Failing{"crash_while_timed", ends_at<kSampleCalls, crash>, 0,
                                             TrialStatus::crash, "killed by SIGSEGV"},
                                     Failing{"crash_in_the_second_block", ends_at<kSampleCalls + 1, crash>, 1,
                                             TrialStatus::crash, "killed by SIGSEGV"},
                                     Failing{"crash_in_the_last_block", ends_at<4 * kSampleCalls, crash>, 3,
                                             TrialStatus::crash, "killed by SIGSEGV"},
                                     Failing{"hang_in_the_third_block", ends_at<2 * kSampleCalls + 1, hang>, 2,
                                             TrialStatus::timeout, "no answer within 1000 ms"}),
                     testing::Range<uint64_t>(1, 6)),
    [](const auto &failing) {
        return std::string(std::get<0>(failing.param).name) + "_seed_" +
               std::to_string(std::get<1>(failing.param));
    });

TEST_F(ContestTest, MayLoseAllContenders) {
    const Outcome outcome = run(contest({ends_at<1, crash>, ends_at<kSampleCalls + 1, crash>, ends_at<1, hang>}));
    EXPECT_EQ(outcome.out.size(), 3u);
    EXPECT_EQ(outcome.samples.count(0) + outcome.samples.count(2), 0u);
}

struct FailingReference {
    const char *name;
    Entry entry;
    const char *reason;
};

class FailingReferenceTest : public ContestTest, public testing::WithParamInterface<FailingReference> {};

TEST_P(FailingReferenceTest, EndsTheContest) {
    Contest broken = contest({quick, quick});
    broken.reference = kernel(GetParam().entry);
    try {
        run(broken);
        FAIL() << "no exception";
    } catch (const std::runtime_error &error) {
        EXPECT_PRED_FORMAT2(testing::IsSubstring, "the heuristic's kernel failed", error.what());
        EXPECT_PRED_FORMAT2(testing::IsSubstring, GetParam().reason, error.what());
    }
}

INSTANTIATE_TEST_SUITE_P(Kind, FailingReferenceTest,
                         testing::Values(FailingReference{"crash", ends_at<1, crash>, "killed by SIGSEGV"},
                                         FailingReference{"hang", ends_at<1, hang>, "no answer within 1000 ms"}),
                         [](const auto &failing) { return std::string(failing.param.name); });

// A row of 1 MiB, of which `quick` does nothing.
class ImpossibleTimeTest : public ContestTest {
protected:
    static void copy(const nf_arguments *arguments) {
        std::memcpy(arguments->y.data, arguments->x.data, kLongRow * sizeof(float));
    }

    Contest long_contest(Entry reference, const std::vector<Entry> &entries) {
        Contest result = contest({});
        result.reference = long_kernel(reference);
        for (Entry entry : entries) {
            result.contenders.push_back(long_kernel(entry));
        }
        result.operands = &operands_;
        return result;
    }

private:
    const nf_kernel *long_kernel(Entry entry) { return &kernels_.emplace_back(problem_, entry).kernel(); }

    const NormProblem problem_ = default_problem(NF_LAYER_NORM, kLongRow);
    std::deque<SingleKernel> kernels_;
    const TimingOperands operands_{problem_, 1};
};

TEST_F(ImpossibleTimeTest, PutsTheContenderOut) {
    const Outcome outcome = run(long_contest(copy, {copy, quick, copy}));
    ASSERT_EQ(outcome.out.size(), 1u);
    EXPECT_EQ(outcome.out[0].contender, 1u);
    EXPECT_EQ(outcome.out[0].status, TrialStatus::wrong);
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "in two processes", outcome.out[0].reason);
    EXPECT_EQ(outcome.samples.count(1), 0u);
    expect_blocks(outcome.samples.at(0), kBlocks);
    expect_blocks(outcome.samples.at(2), kBlocks);
}

TEST_F(ImpossibleTimeTest, OfTheReferenceEndsTheContest) {
    EXPECT_THROW(run(long_contest(quick, {copy})), std::runtime_error);
}

TEST_F(ImpossibleTimeTest, IsNoneOfWhatNeedNotMoveItsRows) {
    Contest contest = long_contest(copy, {quick});
    contest.moves_all_rows = false;
    EXPECT_TRUE(run(contest).out.empty());
}

}  // namespace
}  // namespace normforge
