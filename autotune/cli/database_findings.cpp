#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "autotune/base/process_identity.h"
#include "autotune/base/units.h"
#include "autotune/cli/findings.h"
#include "autotune/database/file_system.h"
#include "autotune/search/decision.h"
#include "autotune/search/measured_kernel.h"
#include "autotune/search/pruning.h"
#include "runtime/user_error.h"

namespace normforge {

namespace {

Finding file_system(const std::string &path) {
    const int64_t type = file_system_type(path);
    return {"its file system", is_network_file_system(type) ? "of a network" : "local",
            is_network_file_system(type) ? "processes on several machines may share it, but it is slower" : ""};
}

// Whose schedules are none any more, or do not fit.
size_t dead_entries(const Database &database) {
    size_t dead = 0;
    for (const Decision &decision : best_decisions(database)) {
        try {
            measured_kernels(decision);
        } catch (const UserError &) {
            dead++;
        }
    }
    return dead;
}

size_t sessions_of_dead_processes(const Database &database) {
    return static_cast<size_t>(std::ranges::count_if(database.sessions(), [](const StoredSession &session) {
        return session.state == SessionState::running && has_ended(session.process);
    }));
}

Finding counted(const char *what, size_t count, const char *advice) {
    return {what, std::to_string(count), count == 0 ? "" : advice};
}

}  // namespace

std::vector<Finding> database_findings(const std::string &path) {
    if (!std::filesystem::exists(path)) {
        return {{"database", path + " does not exist yet", ""}};
    }
    try {
        const Database database = Database::open_read_only(path);
        return {{"database", fmt::format("{}, {}", path, counted(std::ssize(database.sessions()), "session")), ""},
                file_system(path),
                counted("sessions cut off", sessions_of_dead_processes(database),
                        "their processes have died; tune --resume goes on with them"),
                counted("sessions unused", prunable_sessions(database).size(),
                        "aborted, or superseded by newer ones; db prune removes them"),
                counted("entries dead", dead_entries(database),
                        "their schedules are none any more; tune their problems again")};
    } catch (const UserError &error) {
        return {{"database", error.what(), "name another file with --db or NORMFORGE_DB", true}};
    }
}

}  // namespace normforge
