// The page about a database, without a browser: its numbers, and that it is whole. scripts/test_report.sh looks at
// it in one.

#include <gtest/gtest.h>

#include <regex>

#include "autotune/library/embedded_files.h"
#include "autotune/report/report_page.h"
#include "tests/database_examples.h"
#include "tests/temporary_folder.h"
#include "tests/timed_trials.h"

namespace normforge {
namespace {

constexpr const char *kMarkup = "</script><!--<img src=x onerror=alert(1)>&\"";

std::optional<double> no_copy(const StoredSession &, int64_t) {
    return std::nullopt;
}

class ReportTest : public testing::Test {
protected:
    void add_session(const SessionKey &key, const std::vector<Trial> &trials) {
        const int64_t session = database.begin_session(key, 1, "quick");
        for (const Trial &trial : trials) {
            database.add_trial(session, trial);
        }
        database.end_session(session, SessionState::done, 0.02);
    }

    const TemporaryFolder folder;
    Database database = Database::open(folder / "t.db");
};

TEST_F(ReportTest, TellsWhatIsBestAndHowFast) {
    SessionKey key = example_key();
    key.reference = "vector=8,unroll=1";
    add_session(key, {TimedTrial{.knobs = "vector=8,unroll=1", .rows = 3, .ratios = {1, 1, 1}},
                      TimedTrial{.knobs = "vector=16,unroll=1", .rows = 3, .ratios = {0.5, 0.5, 0.5}}});
    const ReportJson data = report_data(database, "t.db", [](const StoredSession &session, int64_t rows) {
        EXPECT_EQ(session.problem.hidden, 4096);
        EXPECT_EQ(rows, 3);
        return 42.0;
    });
    ASSERT_EQ(data["best"].size(), 1u);
    const ReportJson &best = data["best"][0];
    EXPECT_EQ(best["problem"], "op=layer_norm,dtype=f32,hidden=4096");
    EXPECT_EQ(best["family"], "op=layer_norm,dtype=f32");
    EXPECT_EQ(best["hidden"], 4096);
    ASSERT_EQ(best["choices"].size(), 1u);
    const ReportJson &choice = best["choices"][0];
    EXPECT_EQ(choice["knobs"], "vector=16,unroll=1");
    EXPECT_EQ(choice["ns"], 50);
    EXPECT_EQ(choice["gain"], 2);
    EXPECT_EQ(choice["gb_per_s"], 3 * 8.0 * 4096 / 50);
    EXPECT_EQ(choice["heuristic_gb_per_s"], 3 * 8.0 * 4096 / 100);
    EXPECT_EQ(choice["copy_gb_per_s"], 42);
}

TEST_F(ReportTest, TellsOfEverySessionsCandidates) {
    SessionKey key = example_key();
    key.reference = "v=0";
    add_session(key, {TimedTrial{.knobs = "v=0", .rows = 1, .ratios = {1, 1.25}},
                      TimedTrial{.knobs = "v=1", .rows = 1, .ratios = {0.5, 0.5}},
                      TimedTrial{.knobs = "v=2", .rows = 1, .ratios = {2}},
                      TimedTrial{.knobs = "v=3", .rows = 1, .status = TrialStatus::crash},
                      TimedTrial{.knobs = "v=0", .rows = 9, .ratios = {1, 1}},  // a crossover: too few to show
                      TimedTrial{.knobs = "v=1", .rows = 9, .ratios = {1, 1}}});
    const ReportJson data = report_data(database, "t.db", no_copy);
    ASSERT_EQ(data["sessions"].size(), 1u);
    const ReportJson &session = data["sessions"][0];
    EXPECT_EQ(session["candidates"], ReportJson({"v=0", "v=1", "v=2", "v=3"}));
    EXPECT_EQ(session["noise"], 0.02);
    ASSERT_EQ(session["rows"].size(), 1u);
    const ReportJson &rows = session["rows"][0];
    EXPECT_EQ(rows["rows"], 1);
    EXPECT_EQ(rows["full_samples"], 2);
    EXPECT_EQ(rows["heuristic_ns"], 100);
    EXPECT_EQ(rows["trials"], ReportJson::parse("[[0, 0.8888888888888888, 2], [1, 2.0, 2], [2, 0.5, 1]]"));
    EXPECT_EQ(rows["noise"], ReportJson::parse("[[0, 1.0, 100.0], [1, 1.25, 125.0]]"));
    EXPECT_EQ(session["failed"], ReportJson::parse(R"([{"knobs": "v=3", "status": "crash", "message": ""}])"));
    EXPECT_TRUE(data["best"][0]["choices"][0]["copy_gb_per_s"].is_null());
}

TEST_F(ReportTest, LeavesOutWhatWasSimulated) {
    SessionKey key = example_key();
    key.source = TimeSource::simulated;
    add_session(key, {TimedTrial{.knobs = key.reference, .ratios = {1}}});
    const ReportJson data = report_data(database, "t.db", no_copy);
    EXPECT_TRUE(data["best"].empty());
    EXPECT_TRUE(data["sessions"].empty());
}

class ReportPageTest : public ReportTest {
protected:
    ReportPageTest() {
        SessionKey key = example_key();
        key.hardware.model_name = kMarkup;
        key.reference = kMarkup;
        Trial failed = TimedTrial{.knobs = "\xff", .status = TrialStatus::wrong};
        failed.message = kMarkup;
        add_session(key, {TimedTrial{.knobs = kMarkup, .ratios = {1, 1}}, failed});
        data = report_data(database, kMarkup, no_copy);
        page = report_page(embedded_report_page(), data);
    }

    ptrdiff_t count(const std::string &pattern) const {
        const std::regex regex(pattern);
        return std::distance(std::sregex_iterator(page.begin(), page.end(), regex), std::sregex_iterator());
    }

    ReportJson data;
    std::string page;
};

TEST_F(ReportPageTest, TextsCannotBecomeMarkup) {
    EXPECT_EQ(count("<img"), 0);
    EXPECT_EQ(count("<!--"), 0);
    EXPECT_EQ(count("<script"), 3);
    EXPECT_EQ(count("</script>"), 3);
    EXPECT_EQ(count("&lt;/script&gt;&lt;!--&lt;img src=x onerror=alert\\(1\\)&gt;&amp;&quot;"), 4);
}

TEST_F(ReportPageTest, HoldsTheDataForItsScript) {
    std::smatch match;
    ASSERT_TRUE(
        std::regex_search(page, match, std::regex("<script type=\"application/json\" id=\"data\">(.*)</script>")));
    const ReportJson held = ReportJson::parse(match[1].str());
    EXPECT_EQ(held["name"], kMarkup);
    EXPECT_EQ(held["sessions"][0]["reference"], kMarkup);
    EXPECT_EQ(held["sessions"][0]["failed"][0]["knobs"], "\xef\xbf\xbd");
    EXPECT_EQ(held["best"], data["best"]);
}

TEST_F(ReportPageTest, NeedsNothingBesideIt) {
    EXPECT_EQ(count("\\{\\{"), 0);
    EXPECT_EQ(count("https?:"), count("http://www\\.w3\\.org/2000/svg"));
    EXPECT_EQ(count("<link|<iframe|@import|url\\(|fetch\\(|XMLHttpRequest|import\\("), 0);
    EXPECT_EQ(count("<[a-z]+[^>]* (src|href)="), 0);
}

TEST_F(ReportPageTest, HasItsPartsOnce) {
    for (const char *part : {"<!doctype html>", "<style>", "<table>", "id=\"speed\"", "id=\"sessions\"",
                             "name=\"viewport\"", "prefers-color-scheme: dark", "@media print"}) {
        EXPECT_EQ(count(part), 1) << part;
    }
    EXPECT_EQ(count("<tr class=\"problem\">"), 1);
}

TEST_F(ReportTest, OfAnEmptyDatabaseIsAPageToo) {
    const ReportJson data = report_data(database, "t.db", no_copy);
    EXPECT_EQ(data["best"], ReportJson::array());
    const std::string page = report_page(embedded_report_page(), data);
    EXPECT_NE(page.find("</html>"), std::string::npos);
}

}  // namespace
}  // namespace normforge
