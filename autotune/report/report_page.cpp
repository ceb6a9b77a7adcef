#include "autotune/report/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

namespace normforge {

namespace {

std::string escaped(const std::string &text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
        case '&':
            result += "&amp;";
            break;
        case '<':
            result += "&lt;";
            break;
        case '>':
            result += "&gt;";
            break;
        case '"':
            result += "&quot;";
            break;
        default:
            result += c;
        }
    }
    return result;
}

// JSON that can stand in a script element: no "</script>" and no "<!--" in it, and bytes that are no UTF-8
// replaced.
std::string script_json(const ReportJson &data) {
    std::string text = data.dump(-1, ' ', true, ReportJson::error_handler_t::replace);
    std::string result;
    for (const char c : text) {
        result += c == '<' ? std::string("\\u003c") : std::string(1, c);
    }
    return result;
}

std::string time_text(double nanoseconds) {
    constexpr std::pair<double, const char *> kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}};
    for (const auto &[size, name] : kUnits) {
        if (nanoseconds >= size) {
            return fmt::format("{:.3g} {}", nanoseconds / size, name);
        }
    }
    return fmt::format("{:.3g} ns", nanoseconds);
}

std::vector<std::string> settings_of(const ReportJson &choice) {
    std::vector<std::string> settings;
    std::istringstream text(choice["knobs"].get<std::string>());
    for (std::string setting; std::getline(text, setting, ',');) {
        settings.push_back(setting);
    }
    return settings;
}

// With places to break a line at.
std::string settings_text(const std::vector<std::string> &settings) {
    return escaped(fmt::format("{}", fmt::join(settings, ", ")));
}

std::string choice_row(const ReportJson &choice, const std::vector<std::string> &common) {
    std::vector<std::string> own;
    std::ranges::copy_if(settings_of(choice), std::back_inserter(own),
                         [&](const std::string &each) { return std::ranges::count(common, each) == 0; });
    return fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.2f}×</td><td>{:.1f}</td>"
                       "<td><code>{}</code></td></tr>\n",
                       choice["rows"].get<int64_t>(), time_text(choice["ns"]), time_text(choice["heuristic_ns"]),
                       choice["gain"].get<double>(), choice["gb_per_s"].get<double>(), settings_text(own));
}

std::string best_rows(const ReportJson &data) {
    std::string rows;
    for (const ReportJson &best : data["best"]) {
        std::vector<std::string> common = settings_of(best["choices"][0]);
        for (const ReportJson &choice : best["choices"]) {
            const std::vector<std::string> settings = settings_of(choice);
            std::erase_if(common,
                          [&](const std::string &each) { return std::ranges::count(settings, each) == 0; });
        }
        rows += fmt::format("<tbody>\n<tr class=\"problem\"><th colspan=\"6\" scope=\"rowgroup\">{}"
                            "<span>{}</span><code>{}</code></th></tr>\n",
                            escaped(best["problem"]), escaped(best["machine"]), settings_text(common));
        for (const ReportJson &choice : best["choices"]) {
            rows += choice_row(choice, common);
        }
        rows += "</tbody>\n";
    }
    return rows;
}

}  // namespace

std::string report_page(std::string_view page, const ReportJson &data) {
    const std::pair<std::string_view, std::string> places[] = {
        {"{{name}}", escaped(data["name"])}, {"{{best}}", best_rows(data)}, {"{{data}}", script_json(data)}};
    std::string result;
    while (true) {
        const size_t begin = std::min(page.find("{{"), page.size());
        result += page.substr(0, begin);
        page.remove_prefix(begin);
        if (page.empty()) {
            return result;
        }
        const auto *place =
            std::ranges::find_if(places, [&](const auto &each) { return page.starts_with(each.first); });
        if (place == std::end(places)) {
            std::fprintf(stderr, "normforge: the report's page has an unknown place\n");
            std::abort();
        }
        result += place->second;
        page.remove_prefix(place->first.size());
    }
}

}  // namespace normforge
