#pragma once

#include <algorithm>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace normforge {

// Assembly as LLVM prints it for x86 and ARM.

using Instructions = std::vector<std::string>;

// Comments, labels and directives left out.
inline Instructions instructions(const std::string &assembly) {
    Instructions result;
    std::istringstream lines(assembly);
    for (std::string line; std::getline(lines, line);) {
        const size_t begin = line.find_first_not_of(" \t");
        if (begin != std::string::npos && begin > 0 && std::string(".#/").find(line[begin]) == std::string::npos) {
            result.push_back(line.substr(begin));
        }
    }
    return result;
}

// The code between a label and the jump back to it, where no other loop is inside.
inline std::vector<Instructions> innermost_loops(const std::string &assembly) {
    const std::regex jump("^\\s+(?:j\\w+|b\\.\\w+|cbn?z\\s+\\w+,|tbn?z\\s+\\w+, #\\d+,)\\s+(\\.LBB\\w+)");
    std::vector<Instructions> loops;
    std::string since_jump;  // that leads backwards
    std::istringstream lines(assembly);
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        since_jump += line + "\n";
        if (!std::regex_search(line, match, jump)) {
            continue;
        }
        const size_t begin = since_jump.find("\n" + match[1].str() + ":");
        if (begin != std::string::npos) {
            loops.push_back(instructions(since_jump.substr(begin)));
            since_jump.clear();
        }
    }
    return loops;
}

inline size_t count_matches(const Instructions &code, const std::string &pattern) {
    const std::regex expression(pattern);
    return static_cast<size_t>(
        std::ranges::count_if(code, [&](const auto &each) { return std::regex_search(each, expression); }));
}

// Matches anywhere in a text.
inline size_t count_of(const std::string &text, const std::string &pattern) {
    const std::regex regex(pattern);
    return static_cast<size_t>(std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {}));
}

}  // namespace normforge
