#include "autotune/library/library_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "autotune/library/cuda_entries.h"
#include "autotune/library/embedded_files.h"
#include "autotune/library/pending_file.h"
#include "autotune/library/shared_library.h"
#include "generators/archive.h"
#include "generators/emit.h"
#include "generators/table_object.h"
#include "runtime/user_error.h"
#include "schedules/target.h"

namespace normforge {

namespace {

void check_name(const std::string &name) {
    const auto is_allowed = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
    // nf_library is a type of normforge.h.
    if (name.empty() || !std::isalpha(static_cast<unsigned char>(name.front())) ||
        !std::ranges::all_of(name, is_allowed) || name == "nf") {
        throw UserError("'" + name +
                        "' cannot name a library; allowed are letters, digits and _ after a letter, " +
                        "and not nf, since NAME_library is a C function");
    }
}

// In the order of kernel_table.h: the bits of newer instruction sets are higher, so a set that holds another is
// the greater number.
std::vector<TableKernel> table_kernels(const std::vector<LibraryKernel> &kernels) {
    std::vector<TableKernel> table;
    std::set<std::pair<std::string, uint64_t>> seen;
    for (const LibraryKernel &kernel : kernels) {
        TableKernel entry{kernel.problem, needed_cpu_features(kernel.target), target_name(kernel.target), {}};
        if (!seen.emplace(to_text(entry.problem), entry.cpu_features).second) {
            throw UserError("two kernels for " + to_text(entry.problem) + " on " + entry.target +
                            "; allowed is one for each set of CPU features");
        }
        for (const LibraryVariant &variant : kernel.variants) {
            entry.variants.push_back({kernel_symbol({kernel.problem, variant.knobs, kernel.target}),
                                      variant.min_rows, to_text(variant.knobs), variant.source});
        }
        table.push_back(std::move(entry));
    }
    std::ranges::stable_sort(table, std::greater(), &TableKernel::cpu_features);
    return table;
}

// The runtime for the machines that the kernels are for, which are of one kind.
std::string_view runtime_archive(const std::string &name, const std::vector<LibraryKernel> &kernels) {
    if (kernels.empty()) {
        return embedded_runtime_archive();
    }
    const Halide::Target &first = kernels.front().target;
    for (const LibraryKernel &kernel : kernels) {
        if (kernel.target.arch != first.arch) {
            throw UserError("library " + name + " cannot hold both " + target_name(first) + " and " +
                            target_name(kernel.target) + "; allowed are targets of one architecture");
        }
    }
    if (!is_arm(first)) {
        return embedded_runtime_archive();
    }
    if (embedded_arm_runtime_archive().empty()) {
        throw UserError("this normforge has no runtime for ARM, which library " + name +
                        " needs: it was built where there was no aarch64-linux-gnu-g++");
    }
    return embedded_arm_runtime_archive();
}

// The table, each kernel's code once, and the runtime.
std::vector<ArchiveMember> library_members(const std::string &name, const std::vector<LibraryKernel> &kernels,
                                           const std::vector<TableKernel> &table,
                                           const std::vector<TableCudaEntry> &cuda_table) {
    std::vector<ArchiveMember> runtime = archive_members(runtime_archive(name, kernels));
    std::vector<ArchiveMember> members = {
        {name + "_library.o", table_object(name, table, cuda_table, runtime.front().bytes)}};
    std::map<std::string, const std::string *> stored;
    for (const LibraryKernel &kernel : kernels) {
        for (const LibraryVariant &variant : kernel.variants) {
            const std::string symbol = kernel_symbol({kernel.problem, variant.knobs, kernel.target});
            const auto [same, is_new] = stored.emplace(symbol, &variant.object);
            if (is_new) {
                members.push_back({symbol + ".o", variant.object});
            } else if (*same->second != variant.object) {
                std::fprintf(stderr, "normforge: two different objects of the symbol %s\n", symbol.c_str());
                std::abort();
            }
        }
    }
    std::ranges::move(runtime, std::back_inserter(members));
    return members;
}

// Text of a database, which might end the comment that it is shown in.
std::string comment_text(std::string text) {
    for (size_t end = text.find("*/"); end != std::string::npos; end = text.find("*/", end)) {
        text.insert(end + 1, 1, ' ');
    }
    std::ranges::replace(text, '\n', ' ');
    return text;
}

std::string header_text(const std::string &name, const std::vector<TableKernel> &table,
                        const std::vector<TableCudaEntry> &cuda_table) {
    std::string text =
        fmt::format("/* Kernels made by normforge {}, which {}_library() gives:\n", nf_version(), name);
    for (const TableKernel &kernel : table) {
        text += fmt::format(" *\n * {}\n *     target {}\n", to_text(kernel.problem), kernel.target);
        for (const TableVariant &variant : kernel.variants) {
            text += fmt::format(" *     from {} rows: {} ({})\n", variant.min_rows, variant.knobs,
                                comment_text(variant.source));
        }
    }
    for (const TableCudaEntry &entry : cuda_table) {
        text += fmt::format(" *\n * {}\n *     target {}\n *     {} ({})\n", to_text(entry.problem), entry.target,
                            entry.knobs, comment_text(entry.source));
    }
    text += " */\n";
    text += embedded_api_header();
    // The visibility is as in normforge.h.
    text += fmt::format(R"(
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {{
#endif

/* The library's kernels, for nf_find. */
const nf_library *{}_library(void);

#ifdef __cplusplus
}}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
)",
                        name);
    return text;
}

}  // namespace

LibraryFiles write_library(const std::string &name, const std::filesystem::path &folder, LibraryKind kind,
                           const std::vector<LibraryKernel> &kernels,
                           const std::vector<LibraryCudaKernel> &cuda_kernels,
                           const std::vector<int64_t> &cubin_capabilities) {
    check_name(name);
    if (kernels.empty() && cuda_kernels.empty()) {
        throw UserError("library " + name + " has no kernels; it must have at least one");
    }
    const bool is_shared = kind == LibraryKind::shared_library;
    const LibraryFiles files{folder / ("lib" + name + (is_shared ? ".so" : ".a")), folder / (name + ".h")};
    const std::vector<TableKernel> table = table_kernels(kernels);
    const std::vector<TableCudaEntry> cuda_table = cuda_entries(cuda_kernels, cubin_capabilities);
    const std::string bytes = make_archive(library_members(name, kernels, table, cuda_table));
    PendingFile archive(folder / ("lib" + name + ".a"));
    archive.write(bytes);
    PendingFile header(files.header);
    header.write(header_text(name, table, cuda_table));
    if (is_shared) {
        PendingFile library(files.library);
        link_shared_library(archive.temporary_path(), files.library.filename(), library.temporary_path());
        library.commit();
    } else {
        archive.commit();
    }
    header.commit();
    return files;
}

}  // namespace normforge
