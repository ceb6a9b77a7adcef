#include "autotune/database/database_path.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>

#include "runtime/user_error.h"

namespace normforge {
namespace {

struct Environment {
    const char *normforge_db;
    const char *xdg_data_home;
    const char *home;
    const char *expected;
};

void PrintTo(const Environment &environment, std::ostream *out) {
    *out << environment.expected;
}

class DefaultPathTest : public testing::TestWithParam<Environment> {
protected:
    static void set(const char *name, const char *value) {
        if (value) {
            setenv(name, value, 1);
        } else {
            unsetenv(name);
        }
    }
};

TEST_P(DefaultPathTest, FollowsTheEnvironment) {
    set("NORMFORGE_DB", GetParam().normforge_db);
    set("XDG_DATA_HOME", GetParam().xdg_data_home);
    set("HOME", GetParam().home);
    try {
        EXPECT_EQ(default_database_path(), GetParam().expected);
    } catch (const UserError &error) {
        EXPECT_STREQ(error.what(), GetParam().expected);
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, DefaultPathTest,
    testing::Values(Environment{"here.db", "/data", "/home/a", "here.db"},
                    Environment{nullptr, "/data", "/home/a", "/data/normforge/tuning.db"},
                    Environment{"", "", "/home/a", "/home/a/.local/share/normforge/tuning.db"},
                    Environment{nullptr, "relative", "/home/a", "/home/a/.local/share/normforge/tuning.db"},
                    Environment{
                        nullptr, nullptr, "",
                        "no place for the tuning database: set NORMFORGE_DB to a file, or XDG_DATA_HOME or "
                        "HOME to a folder"}));

}  // namespace
}  // namespace normforge
