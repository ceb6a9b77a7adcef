#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace normforge {

// A part of "name=value,name=value": the form of a problem's text and of a schedule's. It refers to that text.
struct NamedText {
    std::string_view name;
    std::string_view value;
};

inline const NamedText *find_named(const std::vector<NamedText> &parts, std::string_view name) {
    const auto found = std::ranges::find(parts, name, &NamedText::name);
    return found == parts.end() ? nullptr : &*found;
}

// The parts in their order. Calls refuse(reason), which must throw, for a part that is of no such form, and for a
// name that is there twice.
template <typename Refuse>
std::vector<NamedText> split_named_texts(std::string_view text, Refuse &&refuse) {
    std::vector<NamedText> parts;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view part = text.substr(begin, end - begin);
        begin = end + 1;
        const size_t equals = part.find('=');
        if (equals == std::string_view::npos) {
            refuse("'" + std::string(part) + "' is not of the form name=value");
        }
        const std::string_view name = part.substr(0, equals);
        if (find_named(parts, name)) {
            refuse(std::string(name) + " is given twice");
        }
        parts.push_back({name, part.substr(equals + 1)});
    }
    return parts;
}

}  // namespace normforge
