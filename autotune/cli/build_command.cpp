#include <fmt/format.h>

#include <memory>

#include "autotune/cli/commands.h"
#include "autotune/cli/options.h"
#include "autotune/library/library_writer.h"
#include "autotune/search/resolver.h"
#include "schedules/target.h"

namespace normforge {

namespace {

struct BuildOptions {
    explicit BuildOptions(CLI::App &command) : problems(command), target(command), db(command) {
        command.add_option("--name", name, "Of the library and its header: lib<name>.a, <name>.h")->required();
        command.add_option("--out", out, "Folder to write to; made if it is missing")->required();
        command.add_flag("--shared", shared, "Write lib<name>.so instead; needs a C compiler");
        command.add_flag("--untuned", untuned, "Use the heuristic's schedules and no database");
    }

    ProblemOptions problems;
    TargetOption target;
    DatabaseOption db;
    std::string name;
    std::string out;
    bool shared = false;
    bool untuned = false;
};

void build(const BuildOptions &options) {
    const std::vector<NormProblem> problems = options.problems.problems();
    const std::vector<Halide::Target> targets = options.target.targets();
    const std::optional<Database> database = options.untuned ? std::nullopt : options.db.open_read_only();
    std::vector<LibraryKernel> kernels;
    for (const ResolvedKernel &resolved : resolve(problems, targets, database ? &*database : nullptr)) {
        LibraryKernel kernel{resolved.problem, resolved.target, {}};
        for (const ResolvedVariant &variant : resolved.variants) {
            kernel.variants.push_back({variant.spec.knobs, variant.min_rows, resolved.source, variant.object});
        }
        kernels.push_back(kernel);
        fmt::print("{} on {}\n  {}\n", to_text(resolved.problem), target_name(resolved.target), resolved.source);
    }
    write_library(options.name, options.out,
                  options.shared ? LibraryKind::shared_library : LibraryKind::static_library, kernels);
    fmt::print("wrote {}/lib{}.{} and {}/{}.h\n", options.out, options.name, options.shared ? "so" : "a",
               options.out, options.name);
}

}  // namespace

void add_build_command(CLI::App &program, Run &run) {
    CLI::App &command = *program.add_subcommand(
        "build", "Write a library of kernels and its header, with the best schedules that the database knows");
    auto options = std::make_shared<BuildOptions>(command);
    command.callback([options, &run] { run = [options] { build(*options); }; });
}

}  // namespace normforge
