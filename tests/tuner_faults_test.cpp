// Kernels that fail, planted among those that the tuner compiles: each is left out with its reason, and the best
// of the rest is found.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "autotune/search/tuner.h"
#include "schedules/row_schedules.h"
#include "schedules/target.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

// rms_norm of f32 with a weight, right but for what a macro adds.
constexpr const char *kSource = R"c(
#include <stdlib.h>
#include "runtime/normforge.h"
#ifndef AT_START
#define AT_START
#endif
#ifndef AT_END
#define AT_END
#endif
#ifndef FACTOR
#define FACTOR 1.0
#endif
void SYMBOL(const nf_arguments *a) {
    static long calls = 0;
    calls++;
    AT_START;
    for (int64_t r = 0; r < a->rows; r++) {
        const float *x = (const float *)a->x.data + r * a->x.row_stride;
        float *y = (float *)a->y.data + r * a->y.row_stride;
        double squares = 0;
        for (int i = 0; i < HIDDEN; i++) {
            squares += (double)x[i] * x[i];
        }
        double rstd = 1 / __builtin_sqrt(squares / HIDDEN + a->epsilon);
        for (int i = 0; i < HIDDEN; i++) {
            y[i] = (float)(x[i] * rstd * ((const float *)a->weight)[i] * FACTOR);
        }
        AT_END;
    }
}
)c";

struct Fault {
    const char *name;
    const char *flags;
    TrialStatus status;
    const char *reason;  // a part of it
};

// The gate calls a kernel some hundred times; all samples of so short a one are thousands of calls, also
// on a busy machine.
const Fault kFaults[] = {
    {"crash", "-DAT_START='*(volatile int *)8 = 0'", TrialStatus::crash,
     "in the accuracy gate: killed by SIGSEGV"},
    {"abort", "-DAT_START='abort()'", TrialStatus::crash, "in the accuracy gate: killed by SIGABRT"},
    {"endless_loop", "-DAT_START='for (;;) { __asm__ volatile(\"\"); }'", TrialStatus::timeout,
     "in the accuracy gate: no answer within"},
    {"wrong_by_a_hundredth", "-DFACTOR=1.01", TrialStatus::wrong, "expected"},
    {"writes_past_the_row", "-DAT_END='if (r + 1 < a->rows) { y[HIDDEN] = 0; }'", TrialStatus::wrong,
     "wrote beside the rows of y"},
    {"writes_past_the_last_row", "-DAT_END='y[HIDDEN] = 0'", TrialStatus::crash,
     "in the accuracy gate: killed by SIGSEGV"},
    {"wants_all_memory", "-DAT_START='for (;;) { *(volatile char *)malloc(1 << 30) = 0; }'", TrialStatus::crash,
     "in the accuracy gate: killed by SIGSEGV"},
    {"crash_while_timed", "-DAT_START='if (calls > 1000) { *(volatile int *)8 = 0; }'", TrialStatus::crash,
     "while it was timed: killed by SIGSEGV"},
    {"hangs_while_timed", "-DAT_START='while (calls > 1000) { __asm__ volatile(\"\"); }'", TrialStatus::timeout,
     "while it was timed: no answer within"},
};

constexpr int64_t kHidden = 8;

class TunerFaultsTest : public testing::Test {
protected:
    // A planted kernel's object file, under the name of the one it replaces.
    std::string planted(const Fault &fault, const std::string &symbol) const {
        folder_.write("kernel.c", kSource);
        const std::string object = folder_ / "kernel.o";
        const std::string command = std::string(NORMFORGE_C_COMPILER) + " -O1 -fno-pic -mcmodel=large -I" +
                                    NORMFORGE_SOURCE + " -DHIDDEN=" + std::to_string(kHidden) +
                                    " -DSYMBOL=" + symbol + " " + fault.flags + " -c " +
                                    (folder_ / "kernel.c").string() + " -o " + object;
        EXPECT_EQ(std::system(command.c_str()), 0) << command;
        return folder_.read("kernel.o");
    }

    const TemporaryFolder folder_;
    Database database_ = Database::open(folder_ / "tuning.db");
    Progress progress_{Progress::Mode::silent};
};

TEST_F(TunerFaultsTest, EachIsLeftOutWithItsReasonAndTheBestOfTheRestIsKept) {
    TuneRequest request{default_problem(NF_RMS_NORM, kHidden), kernel_target("host"), {1, 3}, Effort::quick, 3};
    const std::vector<Knobs> order = candidates(request.problem, request.target, request.seed);
    const size_t first = heuristic_for_rows(request.problem, request.target).size();
    std::map<std::string, std::string> objects;
    std::map<std::string, const Fault *> faults;
    for (size_t i = 0; i < std::size(kFaults); i++) {
        const KernelSpec spec{request.problem, order.at(first + 2 * i), request.target};
        objects[to_text(spec.knobs)] = planted(kFaults[i], kernel_symbol(spec));
        faults[to_text(spec.knobs)] = &kFaults[i];
    }
    request.emit = [&](const KernelSpec &spec) {
        const auto object = objects.find(to_text(spec.knobs));
        return object == objects.end() ? emit(spec, EmitForm::object) : object->second;
    };
    const TuneReport report = tune(request, database_, progress_);
    std::map<std::string, int> seen;
    for (const Trial &trial : database_.trials(database_.sessions().at(0).id)) {
        const auto fault = faults.find(trial.knobs);
        if (fault == faults.end()) {
            EXPECT_EQ(trial.status, TrialStatus::ok) << trial.message;
            continue;
        }
        seen[fault->second->name]++;
        EXPECT_EQ(trial.status, fault->second->status) << fault->second->name << ": " << trial.message;
        EXPECT_PRED_FORMAT2(testing::IsSubstring, fault->second->reason, trial.message) << fault->second->name;
    }
    EXPECT_EQ(seen.size(), std::size(kFaults));
    ASSERT_TRUE(report.selection.complete());
    for (const Choice &choice : report.selection.choices) {
        EXPECT_FALSE(faults.contains(choice.knobs)) << faults[choice.knobs]->name << " was chosen";
    }
}

}  // namespace
}  // namespace normforge
