#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "autotune/base/hardware.h"
#include "autotune/cli/commands.h"
#include "autotune/cli/json_forms.h"
#include "autotune/cli/options.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/search/resolver.h"
#include "autotune/search/tuner.h"
#include "schedules/target.h"

namespace normforge {

namespace {

struct Finding {
    std::string what;
    std::string state;
    std::string advice;  // empty where all is well
    bool fatal = false;  // nothing can be tuned
};

std::string first_line(const char *path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

Finding governor() {
    const std::string name = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (name.empty()) {
        return {"CPU governor", "not shown by this machine", ""};
    }
    return {"CPU governor", name, name == "performance" ? "" : "set it to performance while tuning"};
}

Finding load(const Hardware &hardware) {
    double average = 0;
    if (getloadavg(&average, 1) != 1) {
        return {"load", "unknown", ""};
    }
    return {"load", fmt::format("{:.2f} on {} usable cores", average, hardware.usable_cores),
            average < 0.5 ? "" : "other work is running; tune when the machine is quiet"};
}

Finding database(const DatabaseOption &option) {
    const std::string path = option.path();
    if (!std::filesystem::exists(path)) {
        return {"database", path + " does not exist yet", ""};
    }
    try {
        const Database opened = Database::open_read_only(path);
        return {"database", fmt::format("{}, {} sessions", path, opened.sessions().size()), ""};
    } catch (const UserError &error) {
        return {"database", error.what(), "name another file with --db or NORMFORGE_DB", true};
    }
}

Finding compiler() {
    try {
        resolve({default_problem(NF_LAYER_NORM, 64)}, {kernel_target("host")}, {});
        return {"code generation", "works", ""};
    } catch (const std::exception &error) {
        return {"code generation", error.what(), "reinstall Halide: its library may not fit this machine", true};
    }
}

void examine(const DatabaseOption &db, bool json) {
    const Hardware hardware = detect_hardware();
    const Toolchain tools = current_toolchain();
    const std::vector<Finding> findings = {
        {"version", fmt::format("normforge {}, Halide {}, LLVM {}", tools.normforge, tools.halide, tools.llvm),
         ""},
        {"machine", fmt::format("{}, {}", hardware.model_name, signature(hardware)), ""},
        {"caches",
         fmt::format("L1 {} KiB, L2 {} KiB, L3 {} KiB", hardware.l1d_bytes >> 10, hardware.l2_bytes >> 10,
                     hardware.l3_bytes >> 10),
         ""},
        {"target", target_name(kernel_target("host")), ""},
        compiler(),
        governor(),
        load(hardware),
        database(db),
    };
    Json all = Json::array();
    std::string faults;
    for (const Finding &finding : findings) {
        all.push_back({{"what", finding.what}, {"state", finding.state}, {"advice", finding.advice}});
        if (!json) {
            print("{:<16} {}\n", finding.what, finding.state);
        }
        if (!json && !finding.advice.empty()) {
            print("{:<16} -> {}\n", "", finding.advice);
        }
        if (finding.fatal) {
            faults += (faults.empty() ? "" : ", ") + finding.what;
        }
    }
    if (json) {
        print_json(all);
    }
    if (!faults.empty()) {
        throw UserError("nothing can be tuned here before this is mended: " + faults);
    }
}

}  // namespace

void add_doctor_command(CLI::App &program, Run &run) {
    CLI::App &command = *program.add_subcommand("doctor", "Tell what on this machine helps or harms tuning");
    command.footer("Exit status 1 where something makes tuning impossible.\n\nExample:\n  normforge doctor");
    auto db = std::make_shared<DatabaseOption>(command);
    auto json = std::make_shared<bool>(false);
    add_flag(command, "--json", *json, kJsonHelp);
    command.callback([db, json, &run] { run = [db, json] { examine(*db, *json); }; });
}

}  // namespace normforge
