#include "autotune/database/database_path.h"

#include <cstdlib>

#include "runtime/user_error.h"

namespace normforge {

namespace {

std::string folder_of_user_data() {
    const auto variable = [](const char *name) {
        const char *value = std::getenv(name);
        return std::string(value ? value : "");
    };
    // A relative XDG_DATA_HOME is to be ignored, says its specification.
    if (const std::string data = variable("XDG_DATA_HOME"); data.starts_with('/')) {
        return data;
    }
    if (const std::string home = variable("HOME"); !home.empty()) {
        return home + "/.local/share";
    }
    throw UserError("no place for the tuning database: set NORMFORGE_DB to a file, or XDG_DATA_HOME or HOME to a "
                    "folder");
}

}  // namespace

std::string default_database_path() {
    if (const char *file = std::getenv("NORMFORGE_DB"); file && *file) {
        return file;
    }
    return folder_of_user_data() + "/normforge/tuning.db";
}

}  // namespace normforge
