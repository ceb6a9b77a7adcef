#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "autotune/base/hardware.h"
#include "autotune/base/units.h"
#include "autotune/cli/commands.h"
#include "autotune/cli/findings.h"
#include "autotune/cli/json_forms.h"
#include "autotune/cli/options.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/search/resolver.h"
#include "autotune/search/tuner.h"
#include "schedules/target.h"

namespace normforge {

namespace {

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
    std::vector<Finding> findings = {
        {"version", fmt::format("normforge {}, Halide {}, LLVM {}", tools.normforge, tools.halide, tools.llvm),
         ""},
        {"machine", fmt::format("{}, {}", hardware.model_name, signature(hardware)), ""},
        {"caches",
         fmt::format("L1 {}, L2 {}, L3 {}", size_text(hardware.l1d_bytes), size_text(hardware.l2_bytes),
                     size_text(hardware.l3_bytes)),
         ""},
        {"target", target_name(kernel_target("host")), ""},
        compiler(),
    };
    if (!findings.back().fatal) {  // what is measured needs a kernel
        std::ranges::move(machine_findings(hardware), std::back_inserter(findings));
    }
    std::ranges::move(database_findings(db.path()), std::back_inserter(findings));
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
