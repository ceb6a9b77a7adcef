#include <nlohmann/json.hpp>
#include <type_traits>

#include "autotune/manifest/manifest.h"
#include "autotune/manifest/row_counts.h"

namespace normforge {

namespace {

using Json = nlohmann::ordered_json;

Json whole_number() {
    return {{"type", "integer"}, {"minimum", 1}, {"maximum", NF_MAX_HIDDEN}};
}

Json one_or_more(const Json &value) {
    const Json list = {{"type", "array"}, {"items", value}, {"minItems", 1}};
    return {{"oneOf", Json::array({value, list})}};
}

template <typename Value>
Json value_schema(const char *field, Value example) {
    if constexpr (std::is_same_v<Value, int64_t>) {
        return whole_number();
    } else {
        Json names = Json::array();
        for (const NamedValue<Value> &each : known_values(example)) {
            if (is_legal_value(field, each.value)) {
                names.push_back(each.name);
            }
        }
        return {{"enum", names}};
    }
}

Json entry_schema() {
    Json members;
    const NormProblem any{};
    visit_fields(any, [&](const char *field, const auto &value) {
        members[field] = one_or_more(value_schema<std::remove_cvref_t<decltype(value)>>(field, value));
    });
    const Json cold = {{"const", kColdRows}};
    members[kManifestRows] = one_or_more({{"oneOf", Json::array({whole_number(), cold})}});
    return {{"type", "object"}, {"additionalProperties", false}, {"properties", members}};
}

}  // namespace

std::string manifest_schema() {
    const Json entry = {{"$ref", "#/$defs/entry"}};
    Json members;
    members[kManifestSchema] = {{"type", "string"}};
    members[kManifestDefaults] = entry;
    members[kManifestProblems] = {{"type", "array"}, {"items", entry}, {"minItems", 1}};
    const Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                         {"title", "normforge manifest"},
                         {"description", "Many norms to tune and to build a library of"},
                         {"type", "object"},
                         {"additionalProperties", false},
                         {"required", Json::array({kManifestProblems})},
                         {"properties", members},
                         {"$defs", {{"entry", entry_schema()}}}};
    return schema.dump(2) + "\n";
}

}  // namespace normforge
