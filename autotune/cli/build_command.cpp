#include <filesystem>
#include <memory>

#include "autotune/cli/commands.h"
#include "autotune/cli/options.h"
#include "autotune/cli/problem_options.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/library/library_writer.h"
#include "autotune/search/resolver.h"
#include "schedules/gpu_space.h"
#include "schedules/target.h"

namespace normforge {

namespace {

struct BuildOptions {
    explicit BuildOptions(CLI::App &command)
        : problems(command, ProblemOptions::Count::several), targets(command, TargetsOption::Cuda::allowed),
          db(command) {
        add_value(command, "--name", "NAME", name, "Name of the library and its header: lib<name>.a, <name>.h")
            ->required();
        add_value(command, "--out", "FOLDER", out, "Where to write them; made if it is missing")->required();
        add_flag(command, "--shared", shared, "Write lib<name>.so instead of lib<name>.a; needs a C compiler");
        add_flag(command, "--untuned", untuned, "Use the heuristic's schedules and no database")
            ->excludes(command.get_option("--db"));
    }

    ProblemOptions problems;
    TargetsOption targets;
    DatabaseOption db;
    std::string name;
    std::string out;
    bool shared = false;
    bool untuned = false;
};

void build(const BuildOptions &options) {
    const std::vector<NormProblem> problems = options.problems.problems();
    const std::vector<Halide::Target> targets = options.targets.targets();
    if (options.out.empty()) {
        throw UsageError("--out: it is empty; allowed: a folder, . for this one");
    }
    std::vector<LibraryCudaKernel> cuda_kernels;
    if (options.targets.has_cuda()) {
        for (const NormProblem &problem : problems) {
            cuda_kernels.push_back({problem, gpu_heuristic(problem), "heuristic"});
        }
    }
    const std::optional<Database> database =
        options.untuned || targets.empty() ? std::nullopt : options.db.open_read_only();
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
                  options.shared ? LibraryKind::shared_library : LibraryKind::static_library, kernels,
                  cuda_kernels);
    for (const ResolvedKernel &each : resolved) {
        print("{} on {}\n  {}\n", to_text(each.problem), target_name(each.target), each.source);
    }
    for (const LibraryCudaKernel &each : cuda_kernels) {
        print("{} on {}\n  {}\n", to_text(each.problem), kCudaTarget, each.source);
    }
    const std::string start = std::filesystem::path(options.out) / "";
    print("wrote {0}lib{1}.{2} and {0}{1}.h\n", start, options.name, options.shared ? "so" : "a");
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
                   "      --target x86-64-linux-avx2-fma-f16c,x86-64-linux\n"
                   "  normforge build --op rms_norm --hidden 4096 --dtype bf16 --name norms --out . \\\n"
                   "      --target host,cuda");
    auto options = std::make_shared<BuildOptions>(command);
    command.callback([options, &run] { run = [options] { build(*options); }; });
}

}  // namespace normforge
