#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <string>

namespace normforge {

// The symbols that nm shows of a file with these options. The build defines NORMFORGE_NM.
inline std::set<std::string> symbols_by_nm(const std::string &options, const std::filesystem::path &file) {
    const std::string command = NORMFORGE_NM " -P " + options + " '" + file.string() + "'";
    const std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command.c_str(), "r"), pclose);
    std::set<std::string> symbols;
    char line[4096];
    while (std::fgets(line, sizeof line, pipe.get())) {
        std::istringstream words(line);
        std::string symbol;
        std::string kind;
        if (words >> symbol >> kind) {  // not a member's name
            symbols.insert(symbol);
        }
    }
    return symbols;
}

}  // namespace normforge
