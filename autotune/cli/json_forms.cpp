#include "autotune/cli/json_forms.h"

#include <type_traits>

#include "autotune/cli/standard_streams.h"

namespace normforge {

Json json_of(const NormProblem &problem) {
    Json json;
    visit_fields(problem, [&](const char *name, const auto &field) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, int64_t>) {
            json[name] = field;
        } else {
            json[name] = field_text(field);
        }
    });
    return json;
}

Json json_of(const Selection &selection) {
    Json json;
    json["noise"] = selection.noise;
    json["choices"] = Json::array();
    for (const Choice &choice : selection.choices) {
        json["choices"].push_back({{"rows", choice.rows},
                                   {"knobs", choice.knobs},
                                   {"ns", choice.nanoseconds},
                                   {"heuristic_ns", choice.reference_nanoseconds},
                                   {"ratio", choice.ratio}});
    }
    return json;
}

void print_json(const Json &json) {
    // Messages of compilers and of the system may hold bytes that are no UTF-8.
    write_output(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace normforge
