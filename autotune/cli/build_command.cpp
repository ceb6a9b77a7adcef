#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "autotune/base/enum_text.h"
#include "autotune/base/units.h"
#include "autotune/cli/commands.h"
#include "autotune/cli/json_forms.h"
#include "autotune/cli/options.h"
#include "autotune/cli/problem_options.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/cli/text_table.h"
#include "autotune/library/cubins.h"
#include "autotune/library/library_writer.h"
#include "autotune/library/pending_file.h"
#include "autotune/search/expected_loss.h"
#include "autotune/search/resolver.h"
#include "schedules/target.h"

namespace normforge {

namespace {

struct BuildOptions {
    explicit BuildOptions(CLI::App &command)
        : problems(command, ProblemOptions::Count::several), targets(command), device(command, kDeviceHelp),
          cubins(
              command, "--cubins", "LIST",
              "Compute capabilities of the devices to have machine code for, beside the PTX of cuda, or none; by "
              "default 8.0, 9.0 and 10.0 as far as a ptxas knows them that is in the PATH or that the environment "
              "variable PTXAS names"),
          db(command) {
        add_value(command, "--name", "NAME", name, "Name of the library and its header: lib<name>.a, <name>.h")
            ->required();
        add_value(command, "--out", "FOLDER", out, "Where to write them; made if it is missing")->required();
        add_flag(command, "--shared", shared, "Write lib<name>.so instead of lib<name>.a; needs a C compiler");
        add_flag(command, "--untuned", untuned, "Use the heuristic's schedules and no database")
            ->excludes(command.get_option("--db"));
        add_flag(command, "--dry-run", dry_run, "Tell where the schedules come from, and write nothing");
        add_value(command, "--depfile", "FILE", depfile,
                  "Where to write what the library depends on, as a rule of make");
        add_flag(command, "--json", json, kJsonHelp);
        add_quiet(command, quiet);
    }

    ProblemOptions problems;
    TargetsOption targets;
    DeviceOption device;
    ListOption cubins;
    DatabaseOption db;
    std::string name;
    std::string out;
    bool shared = false;
    bool untuned = false;
    bool dry_run = false;
    std::string depfile;
    bool json = false;
    bool quiet = false;
};

// The compute capabilities that CUDA kernels get machine code for.
std::vector<int64_t> cubin_capabilities(BuildOptions &options, const std::vector<Halide::Target> &targets) {
    const bool is_given = options.cubins.option().count() > 0;
    if (std::ranges::none_of(targets, is_cuda)) {
        if (is_given) {
            throw UsageError("--cubins is for --target cuda");
        }
        return {};
    }
    if (!is_given) {
        return usual_cubins();
    }
    const std::vector<std::string> texts = options.cubins.values();
    std::vector<int64_t> capabilities;
    for (const std::string &text : texts) {
        if (text != "none" || texts.size() > 1) {
            capabilities.push_back(parse_option("--cubins", [&] { return parse_capability(text); }));
        }
    }
    std::ranges::sort(capabilities);
    const auto repeated = std::ranges::unique(capabilities);
    capabilities.erase(repeated.begin(), repeated.end());
    return capabilities;
}

std::string cubins_text(const std::vector<int64_t> &capabilities) {
    std::string text;
    for (const int64_t capability : capabilities) {
        text += (text.empty() ? "" : ", ") + capability_text(capability);
    }
    return text.empty() ? "as PTX alone" : "as PTX, and as machine code for compute capability " + text;
}

using Losses = std::vector<std::optional<ExpectedLoss>>;  // of each kernel

// A dash where nothing is known, and nothing for what was measured.
std::string loss_text(const ResolvedKernel &kernel, const std::optional<ExpectedLoss> &loss) {
    if (!loss) {
        const bool is_of_problem = kernel.step == LadderStep::tuned || kernel.step == LadderStep::nearest_rows;
        return is_of_problem && kernel.is_measured ? "" : "-";
    }
    // What is below 1 is noise.
    const auto percent = [](double ratio) { return std::max(0L, std::lround((ratio - 1) * 100)); };
    return fmt::format("{} %, at worst {} % ({}{})", percent(loss->ratio), percent(loss->worst_ratio),
                       counted(loss->problems, "problem"), loss->is_elsewhere ? " elsewhere" : "");
}

// Of each target.
void print_tables(const std::vector<ResolvedKernel> &kernels, const Losses &losses,
                  const std::vector<int64_t> &cubins) {
    std::map<std::string, std::vector<std::vector<std::string>>> tables;
    for (size_t index = 0; index < kernels.size(); index++) {
        const ResolvedKernel &kernel = kernels[index];
        auto &table = tables[target_name(kernel.target)];
        if (table.empty()) {
            table.push_back({"problem", "expected loss", "schedules"});
        }
        table.push_back({to_text(kernel.problem), loss_text(kernel, losses[index]), kernel.source});
    }
    for (const auto &[target, table] : tables) {
        print("for {}{}:\n", target, target == kCudaTarget ? ", " + cubins_text(cubins) : "");
        write_output(text_table(table, "  "));
    }
}

Json loss_json(const std::optional<ExpectedLoss> &loss) {
    return !loss ? Json()
                 : Json{{"ratio", loss->ratio},
                        {"worst_ratio", loss->worst_ratio},
                        {"problems", loss->problems},
                        {"elsewhere", loss->is_elsewhere}};
}

// The files are null where none were written.
void print_kernels(const BuildOptions &options, const std::vector<ResolvedKernel> &kernels,
                   const KnownDatabases &databases, const Machine &machine, const std::vector<int64_t> &cubins,
                   const LibraryFiles *files) {
    if (options.quiet && !options.json) {
        return;
    }
    const Losses losses = expected_losses(kernels, databases, machine);
    if (options.json) {
        Json all = Json::array();
        for (size_t index = 0; index < kernels.size(); index++) {
            const ResolvedKernel &each = kernels[index];
            Json json = json_of(each.problem);
            json.update({{"target", target_name(each.target)},
                         {"step", name_of(kLadderSteps, each.step)},
                         {"source", each.source},
                         {"expected_loss", loss_json(losses[index])}});
            if (is_cuda(each.target)) {
                json["cubins"] = Json::array();
                for (const int64_t capability : cubins) {
                    json["cubins"].push_back(capability_text(capability));
                }
            }
            if (files) {
                json["library"] = files->library.string();
            }
            all.push_back(json);
        }
        print_json(all);
    } else {
        print_tables(kernels, losses, cubins);
        if (files) {
            print("wrote {} and {}\n", files->library.string(), files->header.string());
        }
    }
}

// A name in a rule of make.
std::string make_text(const std::filesystem::path &path) {
    std::string text;
    for (char c : std::filesystem::absolute(path).string()) {
        text += c == ' ' || c == '#' || c == '\\' ? std::string{'\\', c} : c == '$' ? "$$" : std::string{c};
    }
    return text;
}

void write_depfile(const BuildOptions &options, const std::filesystem::path &library, bool has_database) {
    std::string rule = make_text(library) + ":";
    if (has_database) {
        rule += " " + make_text(options.db.path());
    }
    if (!options.problems.manifest().empty()) {
        rule += " " + make_text(options.problems.manifest());
    }
    PendingFile file(options.depfile);
    file.write(rule + "\n");
    file.commit();
}

void build(BuildOptions &options) {
    const std::vector<NormProblem> problems = options.problems.problems();
    const std::vector<Halide::Target> targets = options.targets.targets();
    if (options.out.empty()) {
        throw UsageError("--out: it is empty; allowed: a folder, . for this one");
    }
    const Machine machine = options.device.machine(targets);
    const std::vector<int64_t> cubins = cubin_capabilities(options, targets);
    const std::optional<Database> database =
        options.untuned ? std::nullopt : options.db.open_read_only(options.quiet);
    const KnownDatabases databases = options.untuned ? KnownDatabases() : known_databases(database);
    const std::vector<ResolvedKernel> resolved =
        resolve(problems, targets, databases, Steps::up_to_the_taken, machine);
    if (options.dry_run) {
        print_kernels(options, resolved, databases, machine, cubins, nullptr);
        return;
    }
    std::vector<LibraryKernel> kernels;
    std::vector<LibraryCudaKernel> cuda_kernels;
    for (const ResolvedKernel &each : resolved) {
        if (is_cuda(each.target)) {
            cuda_kernels.push_back(
                {each.problem, std::get<GpuKernelSpec>(each.variants.front().spec).knobs, each.source});
            continue;
        }
        LibraryKernel &kernel = kernels.emplace_back(LibraryKernel{each.problem, each.target, {}});
        for (const ResolvedVariant &variant : each.variants) {
            const Knobs &knobs = std::get<KernelSpec>(variant.spec).knobs;
            kernel.variants.push_back({knobs, variant.min_rows, each.source, variant.object});
        }
    }
    const LibraryFiles files = write_library(
        options.name, options.out, options.shared ? LibraryKind::shared_library : LibraryKind::static_library,
        kernels, cuda_kernels, cubins);
    if (!options.depfile.empty()) {
        write_depfile(options, files.library, database.has_value());
    }
    print_kernels(options, resolved, databases, machine, cubins, &files);
}

}  // namespace

void add_build_command(CLI::App &program, Run &run) {
    CLI::App &command = *program.add_subcommand(
        "build", "Write a library of kernels and its header, with the best schedules that the database knows");
    command.footer("A problem that was not tuned for this hardware and target gets the nearest\n"
                   "schedules that are known, else the heuristic's; the output says which, and\n"
                   "'normforge db explain' why. The expected loss is how much longer than the best\n"
                   "such schedules took on problems that were tuned, and on how many; a dash is\n"
                   "where none was.\n\nExamples:\n"
                   "  normforge build --op layer_norm,rms_norm --hidden 1024,4096 --name norms \\\n"
                   "      --out build\n"
                   "  normforge build --op rms_norm --hidden 4096 --untuned --name norms --out . \\\n"
                   "      --target x86-64-linux-avx2-fma-f16c,x86-64-linux\n"
                   "  normforge build --op rms_norm --hidden 4096 --dtype bf16 --name norms \\\n"
                   "      --out . --target host,cuda");
    auto options = std::make_shared<BuildOptions>(command);
    command.callback([options, &run] { run = [options] { build(*options); }; });
}

}  // namespace normforge
