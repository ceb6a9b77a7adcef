#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "autotune/base/enum_text.h"
#include "autotune/cli/commands.h"
#include "autotune/cli/json_forms.h"
#include "autotune/cli/options.h"
#include "autotune/cli/problem_options.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/library/library_writer.h"
#include "autotune/search/resolver.h"
#include "schedules/target.h"

namespace normforge {

namespace {

struct BuildOptions {
    explicit BuildOptions(CLI::App &command)
        : problems(command, ProblemOptions::Count::several), targets(command), db(command) {
        add_value(command, "--name", "NAME", name, "Name of the library and its header: lib<name>.a, <name>.h")
            ->required();
        add_value(command, "--out", "FOLDER", out, "Where to write them; made if it is missing")->required();
        add_flag(command, "--shared", shared, "Write lib<name>.so instead of lib<name>.a; needs a C compiler");
        add_flag(command, "--untuned", untuned, "Use the heuristic's schedules and no database")
            ->excludes(command.get_option("--db"));
        add_flag(command, "--json", json, kJsonHelp);
        add_flag(command, "--quiet", quiet, "Print nothing but errors and what --json asks for");
    }

    ProblemOptions problems;
    TargetsOption targets;
    DatabaseOption db;
    std::string name;
    std::string out;
    bool shared = false;
    bool untuned = false;
    bool json = false;
    bool quiet = false;
};

void print_kernels(const std::vector<ResolvedKernel> &kernels) {
    for (const ResolvedKernel &each : kernels) {
        print("{} on {}\n  {}\n", to_text(each.problem), target_name(each.target), each.source);
    }
}

Json kernels_json(const std::vector<ResolvedKernel> &kernels, const std::string &library) {
    Json all = Json::array();
    for (const ResolvedKernel &each : kernels) {
        Json json = json_of(each.problem);
        json.update({{"target", target_name(each.target)},
                     {"step", name_of(kLadderSteps, each.step)},
                     {"source", each.source},
                     {"library", library}});
        all.push_back(json);
    }
    return all;
}

void build(const BuildOptions &options) {
    const std::vector<NormProblem> problems = options.problems.problems();
    const std::vector<Halide::Target> targets = options.targets.targets();
    if (options.out.empty()) {
        throw UsageError("--out: it is empty; allowed: a folder, . for this one");
    }
    const std::optional<Database> database =
        options.untuned ? std::nullopt : options.db.open_read_only(options.quiet);
    const std::vector<ResolvedKernel> resolved =
        resolve(problems, targets, options.untuned ? KnownDatabases() : known_databases(database));
    std::vector<LibraryKernel> kernels;
    for (const ResolvedKernel &each : resolved) {
        LibraryKernel &kernel = kernels.emplace_back(LibraryKernel{each.problem, each.target, {}});
        for (const ResolvedVariant &variant : each.variants) {
            kernel.variants.push_back({variant.spec.knobs, variant.min_rows, each.source, variant.object});
        }
    }
    write_library(options.name, options.out,
                  options.shared ? LibraryKind::shared_library : LibraryKind::static_library, kernels);
    const std::string start = std::filesystem::path(options.out) / "";
    const std::string library = fmt::format("{}lib{}.{}", start, options.name, options.shared ? "so" : "a");
    if (options.json) {
        print_json(kernels_json(resolved, library));
    } else if (!options.quiet) {
        print_kernels(resolved);
        print("wrote {} and {}{}.h\n", library, start, options.name);
    }
}

}  // namespace

void add_build_command(CLI::App &program, Run &run) {
    CLI::App &command = *program.add_subcommand(
        "build", "Write a library of kernels and its header, with the best schedules that the database knows");
    command.footer("A problem that was not tuned for this hardware and target gets the nearest\n"
                   "schedules that are known, else the heuristic's; the output says which, and\n"
                   "'normforge db explain' why.\n\nExamples:\n"
                   "  normforge build --op layer_norm,rms_norm --hidden 1024,4096 --name norms \\\n"
                   "      --out build\n"
                   "  normforge build --op rms_norm --hidden 4096 --untuned --name norms --out . \\\n"
                   "      --target x86-64-linux-avx2-fma-f16c,x86-64-linux");
    auto options = std::make_shared<BuildOptions>(command);
    command.callback([options, &run] { run = [options] { build(*options); }; });
}

}  // namespace normforge
