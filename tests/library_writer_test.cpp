#include "autotune/library/library_writer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "autotune/library/embedded_files.h"
#include "generators/archive.h"
#include "runtime/user_error.h"
#include "tests/library_examples.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

testing::AssertionResult contains(const std::string &text, std::string_view part) {
    return text.find(part) != std::string::npos
               ? testing::AssertionSuccess()
               : testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

std::set<std::string> file_names(const std::filesystem::path &folder) {
    std::set<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
        names.insert(entry.path().filename());
    }
    return names;
}

// The message of the UserError that writing the example must end with.
std::string error_of_writing(const std::string &name, const std::filesystem::path &folder, LibraryKind kind,
                             const std::vector<LibraryKernel> &kernels = example_kernels()) {
    try {
        write_library(name, folder, kind, kernels);
    } catch (const UserError &error) {
        return error.what();
    }
    ADD_FAILURE() << "no UserError";
    return "";
}

// The environment variable CC for a while.
class CompilerChoice {
public:
    explicit CompilerChoice(const char *compiler) {
        if (const char *before = std::getenv("CC")) {
            before_ = before;
        }
        setenv("CC", compiler, 1);
    }
    ~CompilerChoice() { before_ ? setenv("CC", before_->c_str(), 1) : unsetenv("CC"); }
    CompilerChoice(const CompilerChoice &) = delete;
    CompilerChoice &operator=(const CompilerChoice &) = delete;

private:
    std::optional<std::string> before_;
};

// For a while no file can grow beyond this size: the errors of a full disk.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) : handler_before_(signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        signal(SIGXFSZ, handler_before_);
    }
    FileSizeLimit(const FileSizeLimit &) = delete;
    FileSizeLimit &operator=(const FileSizeLimit &) = delete;

private:
    sighandler_t handler_before_;
    rlimit before_{};
};

TEST(LibraryMembers, AreTheKernelsByteForByteAndTheRuntime) {
    const TemporaryFolder folder;
    write_library("norms", folder.path(), LibraryKind::static_library, example_kernels());
    std::map<std::string, std::string> members;
    for (const ArchiveMember &member : archive_members(folder.read("libnorms.a"))) {
        EXPECT_TRUE(members.emplace(member.name, member.bytes).second) << member.name << " is there twice";
    }
    for (const LibraryKernel &kernel : example_kernels()) {
        for (const LibraryVariant &variant : kernel.variants) {
            EXPECT_EQ(members[symbol_of(kernel, variant) + ".o"], variant.object);
        }
    }
    for (const ArchiveMember &member : archive_members(embedded_runtime_archive())) {
        EXPECT_EQ(members[member.name], member.bytes) << member.name;
    }
}

TEST(LibraryHeader, ListsTheKernelsAndHasTheWholeApi) {
    const TemporaryFolder folder;
    write_library("norms", folder.path(), LibraryKind::static_library, example_kernels());
    const std::string header = folder.read("norms.h");
    EXPECT_TRUE(contains(header, embedded_api_header()));
    for (const LibraryKernel &kernel : example_kernels()) {
        EXPECT_TRUE(contains(header, to_text(kernel.problem)));
        EXPECT_TRUE(contains(header, target_name(kernel.target)));
        EXPECT_TRUE(contains(header, to_text(kernel.variants.back().knobs)));
        EXPECT_TRUE(contains(header, kernel.variants.back().source));
    }
}

struct Kind {
    LibraryKind kind;
    const char *file;
};

class EachKind : public testing::TestWithParam<Kind> {
protected:
    TemporaryFolder folder;
};

INSTANTIATE_TEST_SUITE_P(All, EachKind,
                         testing::Values(Kind{LibraryKind::static_library, "libnorms.a"},
                                         Kind{LibraryKind::shared_library, "libnorms.so"}),
                         [](const auto &test) { return std::string(test.param.file + strlen("libnorms.")); });

TEST_P(EachKind, MakesTheFolderAndTwoFilesInIt) {
    write_library("norms", folder / "new/folder", GetParam().kind, example_kernels());
    EXPECT_EQ(file_names(folder / "new/folder"), (std::set<std::string>{GetParam().file, "norms.h"}));
}

TEST_P(EachKind, WritesEqualFilesEachTime) {
    for (const char *where : {"one", "other"}) {
        write_library("norms", folder / where, GetParam().kind, example_kernels());
    }
    for (const std::string file : {GetParam().file, "norms.h"}) {
        EXPECT_FALSE(folder.read("one/" + file).empty());
        EXPECT_TRUE(folder.read("one/" + file) == folder.read("other/" + file)) << file;
    }
}

TEST_P(EachKind, SaysThatAFolderCannotBeMade) {
    folder.write("file", "");
    const std::string error = error_of_writing("norms", folder / "file/x", GetParam().kind);
    EXPECT_TRUE(contains(error, (folder / "file/x").string()));
    EXPECT_TRUE(contains(error, "Not a directory"));
}

TEST_P(EachKind, LeavesNothingWhereTheLibraryCannotHaveItsName) {
    folder.write(GetParam().file + std::string("/file"), "");
    EXPECT_TRUE(contains(error_of_writing("norms", folder.path(), GetParam().kind), "Is a directory"));
    EXPECT_EQ(file_names(folder.path()), std::set<std::string>{GetParam().file});
}

TEST_P(EachKind, KeepsTheFilesBeforeWhenTheDiskIsFull) {
    folder.write(GetParam().file, "library before");
    folder.write("norms.h", "header before");
    const std::vector<LibraryKernel> &kernels =
        example_kernels();  // made before, as the compiler writes files too
    {
        const FileSizeLimit limit(4096);
        EXPECT_TRUE(
            contains(error_of_writing("norms", folder.path(), GetParam().kind, kernels), "File too large"));
    }
    EXPECT_EQ(file_names(folder.path()), (std::set<std::string>{GetParam().file, "norms.h"}));
    EXPECT_EQ(folder.read(GetParam().file), "library before");
    EXPECT_EQ(folder.read("norms.h"), "header before");
}

struct BadCompiler {
    const char *name;
    const char *command;
    const char *message;
};

class SharedLibraryWith : public testing::TestWithParam<BadCompiler> {};

INSTANTIATE_TEST_SUITE_P(BadCompiler, SharedLibraryWith,
                         testing::Values(BadCompiler{"missing", "/none/cc -O2", "'/none/cc': No such file"},
                                         BadCompiler{"failing", "false", "'false' could not link libnorms.so"}),
                         [](const auto &test) { return std::string(test.param.name); });

TEST_P(SharedLibraryWith, IsRefusedAndLeavesNothing) {
    const TemporaryFolder folder;
    const CompilerChoice choice(GetParam().command);
    const std::string error = error_of_writing("norms", folder.path(), LibraryKind::shared_library);
    EXPECT_TRUE(contains(error, GetParam().message));
    EXPECT_TRUE(contains(error, "a static library needs none"));
    EXPECT_EQ(file_names(folder.path()), std::set<std::string>{});
}

class BadName : public testing::TestWithParam<const char *> {};

INSTANTIATE_TEST_SUITE_P(All, BadName,
                         testing::Values("", "7norms", "_norms", "my-norms", "a/b", "n\xc3\xb6rms", "nf"));

TEST_P(BadName, IsRefusedAndLeavesNothing) {
    const TemporaryFolder folder;
    const std::string error = error_of_writing(GetParam(), folder.path(), LibraryKind::static_library);
    EXPECT_TRUE(contains(error, std::string("'") + GetParam() + "'"));
    EXPECT_TRUE(contains(error, "letters, digits and _"));
    EXPECT_EQ(file_names(folder.path()), std::set<std::string>{});
}

TEST(LibraryKernels, AreAtLeastOneAndNeverTwoForTheSame) {
    const TemporaryFolder folder;
    EXPECT_TRUE(contains(error_of_writing("norms", folder.path(), LibraryKind::static_library, {}), "no kernels"));
    const LibraryKernel &kernel = example_kernels().front();
    EXPECT_TRUE(contains(error_of_writing("norms", folder.path(), LibraryKind::static_library, {kernel, kernel}),
                         "two kernels for " + to_text(kernel.problem)));
    EXPECT_EQ(file_names(folder.path()), std::set<std::string>{});
}

LibraryKernel arm_kernel(const char *target_name) {
    const NormProblem problem = default_problem(NF_RMS_NORM, 7);
    const Halide::Target target = kernel_target(target_name);
    return {problem, target, {make_variant(problem, target, heuristic(problem, target), 0, "heuristic")}};
}

// The machine in an ELF file's header.
int elf_machine(const std::string &object) {
    uint16_t machine = 0;
    std::memcpy(&machine, &object.at(18), sizeof machine);
    return machine;
}

TEST(ArmLibrary, HoldsCodeForArmAlone) {
    const TemporaryFolder folder;
    const std::vector<LibraryKernel> kernels = {arm_kernel("arm-64-linux"), arm_kernel("arm-64-linux-sve2-256"),
                                                arm_kernel("arm-64-linux-sve2-512")};
    if (embedded_arm_runtime_archive().empty()) {
        EXPECT_TRUE(contains(error_of_writing("norms", folder.path(), LibraryKind::static_library, kernels),
                             "no runtime for ARM"));
        return;
    }
    constexpr int kAArch64 = 183;
    write_library("norms", folder.path(), LibraryKind::static_library, kernels);
    const std::vector<ArchiveMember> members = archive_members(folder.read("libnorms.a"));
    EXPECT_GT(members.size(), 1 + kernels.size());
    for (const ArchiveMember &member : members) {
        EXPECT_EQ(elf_machine(member.bytes), kAArch64) << member.name;
    }
}

TEST(ArmLibrary, IsNoneForX86Too) {
    const TemporaryFolder folder;
    EXPECT_TRUE(contains(error_of_writing("norms", folder.path(), LibraryKind::static_library,
                                          {example_kernels().front(), arm_kernel("arm-64-linux")}),
                         "cannot hold both x86-64-linux and arm-64-linux"));
    EXPECT_EQ(file_names(folder.path()), std::set<std::string>{});
}

}  // namespace
}  // namespace normforge
