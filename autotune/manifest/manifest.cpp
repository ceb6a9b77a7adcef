#include "autotune/manifest/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <type_traits>

#include "autotune/base/nearest_name.h"
#include "autotune/manifest/located_json.h"
#include "autotune/manifest/problem_lists.h"
#include "autotune/manifest/row_counts.h"
#include "runtime/user_error.h"

namespace normforge {

namespace {

using Kind = LocatedJson::Kind;

std::string joined(const std::vector<std::string> &names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

// What "defaults" and every entry of "problems" may have.
std::vector<std::string> entry_names() {
    std::vector<std::string> names;
    const NormProblem any{};
    visit_fields(any, [&](const char *field, const auto &) { names.emplace_back(field); });
    names.emplace_back(kManifestRows);
    return names;
}

bool is_number_field(const std::string &name) {
    bool is_number = false;
    const NormProblem any{};
    visit_fields(any, [&](const std::string &field, const auto &value) {
        is_number |= field == name && std::is_same_v<std::remove_cvref_t<decltype(value)>, int64_t>;
    });
    return is_number;
}

class Parser {
public:
    Parser(const JsonDocument &document, const std::vector<std::string> &usual_rows, int64_t cold_bytes)
        : document_(document), cold_bytes_(cold_bytes) {
        defaults_[kManifestRows] = usual_rows;
    }

    std::vector<ProblemRows> problems() {
        const LocatedJson &root = document_.root();
        check_names(root, {kManifestSchema, kManifestDefaults, kManifestProblems});
        if (const LocatedJson *schema = member(root, kManifestSchema); schema && schema->kind != Kind::text) {
            document_.fail(*schema,
                           fmt::format("{} is {}; allowed: a text", kManifestSchema, document_.written(*schema)));
        }
        if (const LocatedJson *defaults = member(root, kManifestDefaults)) {
            defaults_ = entry(*defaults, defaults_);
        }
        const LocatedJson *list = member(root, kManifestProblems);
        if (list == nullptr) {
            document_.fail(root, fmt::format("'{}' is missing", kManifestProblems));
        }
        if (list->kind != Kind::array || list->elements.empty()) {
            document_.fail(*list,
                           fmt::format("{} is {}; allowed: an array of at least one object", kManifestProblems,
                                       list->kind == Kind::array ? "empty" : document_.written(*list)));
        }
        for (const LocatedJson &each : list->elements) {
            add(each);
        }
        return std::move(problems_);
    }

private:
    static const LocatedJson *member(const LocatedJson &object, const std::string &name) {
        const auto found = std::ranges::find(object.names, name, &LocatedJson::text);
        return found == object.names.end() ? nullptr : &object.elements[found - object.names.begin()];
    }

    void check_names(const LocatedJson &value, const std::vector<std::string> &allowed) const {
        if (value.kind != Kind::object) {
            document_.fail(value, fmt::format("{} is here; allowed: an object with {}", document_.written(value),
                                              joined(allowed)));
        }
        std::set<std::string> seen;
        for (const LocatedJson &name : value.names) {
            if (std::ranges::find(allowed, name.text) == allowed.end()) {
                document_.fail(name, fmt::format("unknown field '{}'{}; allowed: {}", name.text,
                                                 suggestion(name.text, allowed), joined(allowed)));
            }
            if (!seen.insert(name.text).second) {
                document_.fail(name, fmt::format("field '{}' is given twice", name.text));
            }
        }
    }

    // What the object gives, over what is there.
    FieldLists entry(const LocatedJson &object, FieldLists lists) const {
        check_names(object, entry_names());
        for (size_t index = 0; index < object.names.size(); index++) {
            const std::string &name = object.names[index].text;
            lists[name] = texts(name, object.elements[index]);
        }
        return lists;
    }

    // Of one value, or of an array of them.
    std::vector<std::string> texts(const std::string &name, const LocatedJson &value) const {
        if (value.kind != Kind::array) {
            return {checked_text(name, value)};
        }
        if (value.elements.empty()) {
            document_.fail(value, fmt::format("{} is an empty array; allowed: at least one value", name));
        }
        std::vector<std::string> texts;
        for (const LocatedJson &element : value.elements) {
            texts.push_back(checked_text(name, element));
        }
        return texts;
    }

    std::string checked_text(const std::string &name, const LocatedJson &value) const {
        const bool is_rows = name == kManifestRows;
        const bool is_cold = is_rows && value.kind == Kind::text && value.text == kColdRows;
        const bool wants_number = is_rows || is_number_field(name);
        if (!is_cold && value.kind != (wants_number ? Kind::number : Kind::text)) {
            document_.fail(value, fmt::format("{} is {}, which is no {}; allowed: {}", name,
                                              document_.written(value), wants_number ? "number" : "text",
                                              is_rows ? allowed_values("hidden") + ", or the text 'cold'"
                                                      : allowed_values(name)));
        }
        located(value, [&] {
            if (is_rows) {
                row_counts(default_problem(NF_LAYER_NORM, 1), {value.text}, cold_bytes_);
            } else {
                check_field(name, value.text);
            }
        });
        return value.text;
    }

    void add(const LocatedJson &object) {
        FieldLists lists = entry(object, defaults_);
        for (const char *needed : {"op", "hidden"}) {
            if (!lists.contains(needed)) {
                document_.fail(object, fmt::format("'{}' is missing, here and in {}", needed, kManifestDefaults));
            }
        }
        const std::vector<std::string> rows = std::move(lists[kManifestRows]);
        lists.erase(kManifestRows);
        located(object, [&] {
            for (const NormProblem &problem : combinations(lists)) {
                add(problem, row_counts(problem, rows, cold_bytes_));
            }
        });
    }

    void add(const NormProblem &problem, const std::vector<int64_t> &rows) {
        const auto known = std::ranges::find_if(
            problems_, [&](const ProblemRows &each) { return same_problem(each.problem, problem); });
        if (known == problems_.end()) {
            problems_.push_back({problem, rows});
            return;
        }
        std::vector<int64_t> all;
        std::ranges::set_union(known->rows, rows, std::back_inserter(all));
        known->rows = std::move(all);
    }

    // What the action throws is told with the value's place.
    template <typename Action>
    void located(const LocatedJson &value, Action &&action) const {
        try {
            action();
        } catch (const UserError &error) {
            document_.fail(value, error.what());
        }
    }

    const JsonDocument &document_;
    const int64_t cold_bytes_;
    FieldLists defaults_;  // beside fields, the rows
    std::vector<ProblemRows> problems_;
};

}  // namespace

std::vector<ProblemRows> parse_manifest(const std::string &text, const std::string &name,
                                        const std::vector<std::string> &usual_rows, int64_t cold_bytes) {
    const JsonDocument document(text, name);
    return Parser(document, usual_rows, cold_bytes).problems();
}

}  // namespace normforge
