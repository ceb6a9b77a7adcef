// What linkers and programs see of a generated library.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "autotune/library/embedded_files.h"
#include "autotune/library/library_writer.h"
#include "tests/library_examples.h"
#include "tests/symbols_by_nm.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

// The functions that normforge.h declares.
std::set<std::string> api_functions() {
    const std::string header(embedded_api_header());
    const std::regex declaration(R"((nf_\w+)\()");
    std::set<std::string> functions;
    for (std::sregex_iterator found(header.begin(), header.end(), declaration), end; found != end; ++found) {
        functions.insert((*found)[1]);
    }
    return functions;
}

std::set<std::string> kernel_symbols() {
    std::set<std::string> symbols;
    for (const LibraryKernel &kernel : example_kernels()) {
        for (const LibraryVariant &variant : kernel.variants) {
            symbols.insert(symbol_of(kernel, variant));
        }
    }
    return symbols;
}

class Library : public testing::Test {
protected:
    Library() {
        write("norms", LibraryKind::static_library);
        write("norms", LibraryKind::shared_library);
        write("more", LibraryKind::static_library);
    }

    void write(const std::string &name, LibraryKind kind) {
        write_library(name, folder.path(), kind, example_kernels());
    }

    // Runs a shell command in the libraries' folder.
    int run(const std::string &command) {
        return std::system(("cd '" + folder.path().string() + "' && " + command).c_str());
    }

    TemporaryFolder folder;
};

TEST_F(Library, DefinesNoGlobalNamesButItsOwn) {
    std::set<std::string> expected = api_functions();
    expected.merge(kernel_symbols());
    expected.insert("norms_library");
    std::set<std::string> found = symbols_by_nm("--defined-only -g", folder / "libnorms.a");
    std::erase_if(found, [](const std::string &symbol) {
        return symbol.starts_with("_ZN9normforge") || symbol.starts_with("_ZNK9normforge");
    });
    EXPECT_EQ(found, expected);
}

TEST_F(Library, ExportsTheApiAndItsTableAlone) {
    std::set<std::string> expected = api_functions();
    expected.insert("norms_library");
    EXPECT_EQ(symbols_by_nm("--defined-only -D", folder / "libnorms.so"), expected);
}

struct Program {
    const char *name;
    const char *arguments;  // of the C compiler
};

class LibraryUser : public Library, public testing::WithParamInterface<Program> {};

INSTANTIATE_TEST_SUITE_P(All, LibraryUser,
                         testing::Values(Program{"Static", "libnorms.a"},
                                         Program{"TwoLibraries", "-DWITH_MORE libnorms.a libmore.a"},
                                         Program{"NotPositionIndependent", "-no-pie libnorms.a"},
                                         Program{"Shared", "libnorms.so -Wl,-rpath,\\$ORIGIN"}),
                         [](const auto &test) { return std::string(test.param.name); });

TEST_P(LibraryUser, LinksByTheCCompilerAloneAndGetsRightValues) {
    // Hidden by default, as many programs are built: the header must make an exception for its functions.
    const std::string compile =
        NORMFORGE_C_COMPILER " -std=c11 -Wall -Wextra -pedantic -Werror -fvisibility=hidden "
                             "-I. -o user '" NORMFORGE_TESTS "/library_user.c' ";
    ASSERT_EQ(run(compile + GetParam().arguments), 0);
    EXPECT_EQ(run("./user"), 0);
}

class CompiledHeader : public Library, public testing::WithParamInterface<const char *> {};

INSTANTIATE_TEST_SUITE_P(All, CompiledHeader,
                         testing::Values(NORMFORGE_C_COMPILER " -std=c11 -x c",
                                         NORMFORGE_CXX_COMPILER " -std=c++20 -x c++"));

TEST_P(CompiledHeader, StandsBesideAnotherAndTwice) {
    folder.write("includes", "#include \"norms.h\"\n#include \"more.h\"\n#include \"norms.h\"\n");
    EXPECT_EQ(run(GetParam() + std::string(" -Wall -Wextra -pedantic -Werror -fsyntax-only includes")), 0);
}

// The table in a loaded library, read by this program's runtime.
class Table : public Library {
protected:
    Table() : handle(dlopen((folder / "libnorms.so").c_str(), RTLD_NOW | RTLD_LOCAL), dlclose) {}

    void SetUp() override {
        ASSERT_TRUE(handle) << dlerror();
        const auto norms_library = reinterpret_cast<const nf_library *(*)()>(dlsym(handle.get(), "norms_library"));
        ASSERT_TRUE(norms_library) << dlerror();
        table = norms_library();
    }

    // The target of each of the table's kernels for the problem.
    std::vector<std::string> targets(const NormProblem &problem) {
        std::vector<std::string> result;
        for (int64_t index = 0; index < nf_kernel_count(table); index++) {
            nf_description description{};
            EXPECT_EQ(nf_describe(nf_kernel_at(table, index), 1, &description), NF_SUCCESS);
            if (same_problem(description.problem, problem)) {
                result.emplace_back(description.target);
            }
        }
        return result;
    }

    std::unique_ptr<void, int (*)(void *)> handle;
    const nf_library *table = nullptr;
};

TEST_F(Table, HasTheMostDemandingKernelOfAProblemFirst) {
    const LibraryKernel &for_any = example_kernels()[0];
    const LibraryKernel &for_host = example_kernels()[1];
    ASSERT_NE(needed_cpu_features(for_host.target), 0u);
    EXPECT_EQ(targets(for_any.problem),
              (std::vector<std::string>{target_name(for_host.target), target_name(for_any.target)}));
}

TEST_F(Table, DescribesEveryVariantAsItWasGiven) {
    for (const LibraryKernel &given : {example_kernels()[1], example_kernels()[2]}) {
        const nf_kernel *kernel = nullptr;
        ASSERT_EQ(nf_find(table, &given.problem, &kernel), NF_SUCCESS);
        for (const LibraryVariant &variant : given.variants) {
            nf_description description{};
            ASSERT_EQ(nf_describe(kernel, variant.min_rows, &description), NF_SUCCESS);
            EXPECT_TRUE(same_problem(description.problem, given.problem));
            EXPECT_EQ(description.symbol, symbol_of(given, variant));
            EXPECT_EQ(description.target, target_name(given.target));
            EXPECT_EQ(description.knobs, to_text(variant.knobs));
            EXPECT_EQ(description.source, variant.source);
        }
    }
}

}  // namespace
}  // namespace normforge
