// Tuning through a launcher: of ARM by qemu, which gives no times, and of this machine as if it were another one.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "autotune/database/database.h"
#include "tests/cli_runner.h"

namespace normforge {
namespace {

class LauncherTest : public CliTest {
protected:
    struct Tuned {
        std::string output;
        StoredSession session;
        std::vector<Trial> trials;
    };

    // The words of the launcher, which is one of the program's, are parted by what a shell parts words by.
    Tuned tuned(const std::string &options, std::string launcher) {
        for (size_t space; (space = launcher.find(' ')) != std::string::npos;) {
            launcher.replace(space, 1, "${IFS}");
        }
        std::filesystem::remove(folder / "tuning.db");
        const Outcome outcome = run("tune --op rms_norm --hidden 64 --rows 1,8 --quiet --db {}/tuning.db " +
                                    options + " --launcher " + launcher);
        EXPECT_EQ(outcome.status, 0) << outcome.errors;
        const Database database = Database::open_read_only(folder / "tuning.db");
        const StoredSession session = database.sessions().at(0);
        return {outcome.output, session, database.trials(session.id)};
    }
};

#if NORMFORGE_HAS_EMULATOR
TEST_F(LauncherTest, TakesNoTimesUnderAnEmulator) {
    const Tuned result =
        tuned("--target arm-64-linux-sve2-256", "qemu-aarch64 -cpu max,sve-max-vq=4 {exe} {args}");
    EXPECT_NE(result.output.find("no times, since it is emulated: "), std::string::npos) << result.output;
    EXPECT_EQ(result.session.state, SessionState::done);
    EXPECT_EQ(result.session.hardware.arch, "arm");
    EXPECT_GE(result.trials.size(), 2u);
    for (const Trial &trial : result.trials) {
        EXPECT_EQ(trial.status, TrialStatus::ok) << trial.message;
        EXPECT_GT(trial.error_ratio, 0);
        EXPECT_EQ(trial.samples.size(), 0u);
    }
    EXPECT_EQ(run_json("db best {}/tuning.db").size(), 0u);
}
#endif

#if NORMFORGE_CAN_LINK_STATICALLY
TEST_F(LauncherTest, MeasuresWhereTheProgramRuns) {
    const Tuned result = tuned("", "env LC_ALL=C {exe} {args}");
    EXPECT_EQ(result.session.hardware_signature, signature(detect_hardware()));
    EXPECT_EQ(result.session.source, TimeSource::measured);
    for (const Trial &trial : result.trials) {
        EXPECT_EQ(trial.status, TrialStatus::ok) << trial.message;
        EXPECT_EQ(trial.samples.size(), 15u);
    }
    EXPECT_EQ(run_json("db best {}/tuning.db").size(), 1u);
}

TEST_F(LauncherTest, FailsWithItsLauncher) {
    const Outcome outcome = run(
        "tune --op rms_norm --hidden 64 --rows 1 --quiet --db {}/e.db --launcher false${IFS}{exe}${IFS}{args}");
    EXPECT_NE(outcome.status, 0);
    EXPECT_NE(outcome.errors.find("the launcher failed with status"), std::string::npos) << outcome.errors;
}
#endif

TEST_F(LauncherTest, SaysWhatIsWrong) {
    const auto errors = [&](const std::string &options) {
        const Outcome outcome = run("tune --op rms_norm --hidden 64 --rows 1 --quiet --db {}/e.db " + options);
        EXPECT_NE(outcome.status, 0) << options;
        return outcome.errors;
    };
    EXPECT_NE(errors("--launcher {exe}").find("needs {exe} and {args}"), std::string::npos);
    EXPECT_NE(errors("--launcher {exe},{args} --static").find("--launcher excludes --static"), std::string::npos);
}

}  // namespace
}  // namespace normforge
