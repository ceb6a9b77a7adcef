#include "autotune/cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "autotune/base/units.h"
#include "autotune/cli/shipped_database.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/database/database_path.h"
#include "autotune/manifest/row_counts.h"
#include "autotune/search/detect_gpu.h"
#include "schedules/gpu_knobs.h"
#include "schedules/target.h"

namespace normforge {

namespace {

constexpr const char *kHost = "host";
constexpr const char *kTargetExample =
    "such as x86-64-linux-avx2-fma-f16c or arm-64-linux-sve2-256; host is this machine, cuda any GPU";

Halide::Target parse_target(const std::string &name) {
    return parse_option("--target", [&] { return kernel_target(name); });
}

}  // namespace

int64_t parse_count(const std::string &option, const std::string &text) {
    int64_t number = 0;
    parse_option(option, [&] { parse_field(option.substr(option.find_first_not_of('-')), text, number); });
    return number;
}

CLI::Option *add_value(CLI::App &command, const std::string &option, const std::string &type, std::string &value,
                       const std::string &help) {
    return command.add_option(option, value, help)
        ->type_name(type)
        ->default_str(value)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CLI::Option *add_flag(CLI::App &command, const std::string &option, bool &value, const std::string &help) {
    return command.add_flag(option, value, help)
        ->disable_flag_override()
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CLI::Option *add_quiet(CLI::App &command, bool &quiet) {
    const bool has_json = command.get_option_no_throw("--json") != nullptr;
    return add_flag(command, "--quiet", quiet,
                    std::string("Print nothing but errors") + (has_json ? " and what --json asks for" : ""));
}

ListOption::ListOption(CLI::App &command, const std::string &option, const std::string &type,
                       const std::string &help, const std::string &default_values)
    : option_(command.add_option(option, texts_, help)) {
    option_->type_name(type)->default_str(default_values)->allow_extra_args(false);
    if (!default_values.empty()) {
        texts_ = {default_values};
    }
}

std::vector<std::string> ListOption::values() const {
    std::vector<std::string> values;
    for (const std::string &text : texts_) {
        size_t begin = 0;
        size_t end = 0;
        do {
            end = std::min(text.find(',', begin), text.size());
            values.push_back(text.substr(begin, end - begin));
            begin = end + 1;
        } while (end < text.size());
    }
    return values;
}

RowsOption::RowsOption(CLI::App &command, const std::string &help)
    : list_(command, "--rows", "LIST",
            help + fmt::format("; {}: as many as take {} times the largest cache, and at least {}", kColdRows,
                               kColdCaches, size_text(kLeastColdBytes)),
            fmt::format("1,512,{}", kColdRows)) {}

std::vector<int64_t> RowsOption::rows(const NormProblem &problem, int64_t cold_bytes) const {
    return parse_option("--rows", [&] { return row_counts(problem, list_.values(), cold_bytes); });
}

TargetOption::TargetOption(CLI::App &command)
    : name_(kHost),
      option_(add_value(command, "--target", "TARGET", name_, std::string("Halide target, ") + kTargetExample)) {}

Halide::Target TargetOption::target() const {
    return parse_target(name_);
}

TargetsOption::TargetsOption(CLI::App &command)
    : list_(command, "--target", "LIST", std::string("Halide targets, ") + kTargetExample, kHost) {}

std::vector<Halide::Target> TargetsOption::targets() const {
    std::vector<Halide::Target> targets;
    for (const std::string &name : list_.values()) {
        const Halide::Target target = parse_target(name);
        // By name: Halide's own comparison leaves the length of registers out.
        if (std::ranges::find(targets, target_name(target), target_name) == targets.end()) {
            targets.push_back(target);
        }
    }
    return targets;
}

DeviceOption::DeviceOption(CLI::App &command, const std::string &help)
    : option_(add_value(command, "--device", "GPU", name_, help + ": " + gpu_names())) {}

const GpuDevice &DeviceOption::device() const {
    return *parse_option("--device", [&] { return &gpu_device(name_); });
}

Machine DeviceOption::machine(const std::vector<Halide::Target> &targets) const {
    if (!is_given()) {
        return std::ranges::any_of(targets, is_cuda) ? this_machine() : Machine();
    }
    if (std::ranges::none_of(targets, is_cuda)) {
        throw UsageError(
            fmt::format("--device: it is for kernels of the --target {}, which is not given", kCudaTarget));
    }
    return {.gpu = hardware_of(device())};
}

DatabaseOption::DatabaseOption(CLI::App &command)
    : option_(
          add_value(command, "--db", "FILE", path_,
                    "Tuning database; by default the file that NORMFORGE_DB names, else normforge/tuning.db in "
                    "XDG_DATA_HOME or ~/.local/share")) {}

std::string DatabaseOption::path() const {
    return option_->count() > 0 ? path_ : default_database_path();
}

std::optional<Database> DatabaseOption::open_read_only(bool quiet) const {
    if (option_->count() == 0 && !std::filesystem::exists(path())) {
        if (!quiet) {
            note(fmt::format(
                "there is no tuning database '{}' yet, so schedules are shipped ones or the heuristic's", path()));
        }
        return std::nullopt;
    }
    return Database::open_read_only(path());
}

DatabaseFileOption::DatabaseFileOption(CLI::App &command)
    : option_(add_value(command, "FILE", "FILE", path_,
                        "The database; by default the one that tune writes where no --db is given")) {}

std::string DatabaseFileOption::path() const {
    return option_->count() > 0 ? path_ : default_database_path();
}

KnownDatabases known_databases(const std::optional<Database> &own) {
    return {.own = own ? &*own : nullptr, .shipped = &shipped_database()};
}

}  // namespace normforge
