// Generated libraries with CUDA kernels, with a stub in the driver's place.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "autotune/library/cubins.h"
#include "autotune/library/cuda_entries.h"
#include "autotune/library/library_writer.h"
#include "autotune/search/any_kernel.h"
#include "runtime/kernel_table.h"
#include "runtime/user_error.h"
#include "schedules/gpu_space.h"
#include "schedules/target.h"
#include "tests/cuda_stub.h"
#include "tests/library_examples.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

// One that has vectors, one whose rows have none, and gradients.
const NormProblem kProblems[] = {
    default_problem(NF_LAYER_NORM, 384), default_problem(NF_RMS_NORM, 7),
    parse_problem("op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=384")};

std::vector<LibraryCudaKernel> cuda_kernels() {
    std::vector<LibraryCudaKernel> kernels;
    for (const NormProblem &problem : kProblems) {
        kernels.push_back({problem, gpu_heuristic(problem), "heuristic"});
    }
    return kernels;
}

// What a session's trials and the ladder know of a kernel is the code that a library has first.
TEST(CudaEntries, BeginWithTheCodeThatWasChosen) {
    for (const TableCudaEntry &entry : cuda_entries(cuda_kernels())) {
        const AnyKernelSpec spec = kernel_spec(entry.problem, entry.knobs, kernel_target(kCudaTarget));
        EXPECT_EQ(kernel_code_hash(spec, entry.codes.front().image), kernel_code_hash(spec, kernel_code(spec)));
    }
}

class CudaLibrary : public testing::Test {
protected:
    CudaLibrary() { cuda_stub() = {}; }

    void write(const std::vector<LibraryKernel> &kernels, const std::vector<int64_t> &cubins = {}) {
        write_library("norms", folder.path(), LibraryKind::shared_library, kernels, cuda_kernels(), cubins);
        handle.reset(dlopen((folder / "libnorms.so").c_str(), RTLD_NOW | RTLD_LOCAL));
        ASSERT_TRUE(handle) << dlerror();
        const auto norms_library = function<const nf_library *()>("norms_library");
        table = norms_library();
    }

    // Of the library, whose runtime is another copy than this program's.
    template <typename Function>
    Function *function(const char *name) {
        return reinterpret_cast<Function *>(dlsym(handle.get(), name));
    }

    TemporaryFolder folder;
    std::unique_ptr<void, std::function<void(void *)>> handle{nullptr, dlclose};
    const nf_library *table = nullptr;
};

TEST_F(CudaLibrary, HoldsKernelsForBoth) {
    write(example_kernels());
    const nf_problem problem = kProblems[0];
    const nf_kernel *kernel = nullptr;
    EXPECT_EQ(nf_find(table, &problem, &kernel), NF_SUCCESS);
    EXPECT_EQ(nf_kernel_count(table), std::ssize(example_kernels()));
    EXPECT_TRUE(cuda_stub().calls.empty());

    nf_cuda *cuda = nullptr;
    ASSERT_EQ(function<decltype(nf_cuda_load)>("nf_cuda_load")(table, &cuda), NF_SUCCESS);
    EXPECT_EQ(cuda_stub().modules, 6);
    function<decltype(nf_cuda_unload)>("nf_cuda_unload")(cuda);
    EXPECT_EQ(cuda_stub().modules, 0);
}

TEST_F(CudaLibrary, HasWhatWasGiven) {
    write({});
    nf_cuda *cuda = nullptr;
    ASSERT_EQ(nf_cuda_load(table, &cuda), NF_SUCCESS);
    ASSERT_EQ(nf_cuda_kernel_count(cuda), std::ssize(kProblems));
    for (const LibraryCudaKernel &expected : cuda_kernels()) {
        const nf_cuda_kernel *kernel = nullptr;
        nf_description description{};
        ASSERT_EQ(nf_cuda_find(cuda, &expected.problem, &kernel), NF_SUCCESS);
        ASSERT_EQ(nf_cuda_describe(kernel, &description), NF_SUCCESS);
        EXPECT_EQ(to_text(description.problem), to_text(expected.problem));
        EXPECT_EQ(description.knobs, to_text(expected.knobs));
        EXPECT_EQ(std::string(description.source), "heuristic");
        EXPECT_EQ(std::string(description.target), "cuda");
    }
    nf_cuda_unload(cuda);
}

// Images are PTX with the symbol, and only those for whole vectors have wide accesses.
TEST_F(CudaLibrary, HasCodeForVectorsAndForAnyAlignment) {
    write({});
    ASSERT_EQ(table->cuda_count, std::ssize(kProblems));
    const nf_cuda_entry &with_vectors = table->cuda_entries[0];
    ASSERT_EQ(with_vectors.code_count, 2);
    EXPECT_EQ(table->cuda_entries[1].code_count, 1);
    for (int64_t code = 0; code < 2; code++) {
        const std::string image = with_vectors.codes[code].image;
        EXPECT_NE(image.find(std::string(".visible .entry ") + with_vectors.codes[code].symbol),
                  std::string::npos);
        EXPECT_EQ(image.find("ld.global.v2.b64") != std::string::npos ||
                      image.find("ld.global.v4") != std::string::npos,
                  code == 0)
            << image;
        EXPECT_EQ(with_vectors.codes[code].alignment, code == 0 ? 4 : 1);
    }
}

TEST_F(CudaLibrary, RunsByLaunches) {
    write({});
    nf_cuda *cuda = nullptr;
    ASSERT_EQ(nf_cuda_load(table, &cuda), NF_SUCCESS);
    const nf_cuda_kernel *kernel = nullptr;
    ASSERT_EQ(nf_cuda_find(cuda, &kProblems[0], &kernel), NF_SUCCESS);
    alignas(16) float values[2 * 2 * 384];
    alignas(16) float weight[384], bias[384];
    nf_arguments arguments{};
    arguments.rows = 2;
    arguments.x = {values, 384, 0};
    arguments.y = {values + 2 * 384, 384, 0};
    arguments.weight = weight;
    arguments.bias = bias;
    ASSERT_EQ(nf_cuda_run(kernel, &arguments, nullptr), NF_SUCCESS);
    ASSERT_EQ(cuda_stub().launches.size(), 1u);
    EXPECT_EQ(cuda_stub().launches[0].symbol, table->cuda_entries[0].codes[0].symbol);
    EXPECT_EQ(cuda_stub().launches[0].blocks, 1u);  // of 4 rows
    nf_cuda_unload(cuda);
}

TEST_F(CudaLibrary, RunsGradientsByTwoLaunches) {
    write({});
    nf_cuda *cuda = nullptr;
    ASSERT_EQ(nf_cuda_load(table, &cuda), NF_SUCCESS);
    const nf_cuda_kernel *kernel = nullptr;
    ASSERT_EQ(nf_cuda_find(cuda, &kProblems[2], &kernel), NF_SUCCESS);
    alignas(16) float values[3 * 8 * 384];
    alignas(16) float vectors[3 * 384];
    alignas(16) float statistics[2 * 8];
    std::vector<float> workspace(nf_cuda_workspace_bytes(kernel, 8, 1) / sizeof(float));
    nf_arguments arguments{};
    arguments.rows = 8;
    arguments.x = {values, 384, 0};
    arguments.dy = {values + 8 * 384, 384, 0};
    arguments.dx = {values + 16 * 384, 384, 0};
    arguments.mean = statistics;
    arguments.rstd = statistics + 8;
    arguments.weight = vectors;
    arguments.dweight = vectors + 384;
    arguments.dbias = vectors + 2 * 384;
    arguments.workspace = workspace.data();
    ASSERT_EQ(nf_cuda_run(kernel, &arguments, nullptr), NF_SUCCESS);
    ASSERT_EQ(cuda_stub().launches.size(), 2u);
    EXPECT_EQ(cuda_stub().launches[1].symbol, table->cuda_entries[2].sums->symbol);
    EXPECT_EQ(cuda_stub().launches[1].blocks, 12u);
    EXPECT_EQ(cuda_stub().launches[1].threads_x * cuda_stub().launches[1].threads_y, 1024u);
    nf_cuda_unload(cuda);
}

// All codes have it, by an assembler or by what stands in its place.
TEST_F(CudaLibrary, HasMachineCodeForDevices) {
    folder.write("ptxas", "#!/bin/sh\n(echo machine code of $1; cat \"$4\") >\"$3\"\n");
    std::filesystem::permissions(folder / "ptxas", std::filesystem::perms::owner_all);
    setenv("PTXAS", (folder / "ptxas").c_str(), 1);
    write({}, {80, 90});
    unsetenv("PTXAS");
    for (int64_t index = 0; index < table->cuda_count; index++) {
        const nf_cuda_entry &entry = table->cuda_entries[index];
        std::vector<nf_cuda_code> codes(entry.codes, entry.codes + entry.code_count);
        codes.insert(codes.end(), entry.sums, entry.sums + (entry.sums ? 1 : 0));
        for (const nf_cuda_code &code : codes) {
            ASSERT_EQ(code.cubin_count, 2);
            const std::string start = "machine code of -arch=sm_90\n" + std::string(code.image).substr(0, 100);
            EXPECT_EQ(std::string(code.cubins[1].image, start.size()), start);
        }
    }
    nf_cuda *cuda = nullptr;
    cuda_stub().compute_capability = 8;
    ASSERT_EQ(nf_cuda_load(table, &cuda), NF_SUCCESS);
    for (const char *image : cuda_stub().images) {
        EXPECT_EQ(std::string(image, 27), "machine code of -arch=sm_80");
    }
    nf_cuda_unload(cuda);
}

TEST_F(CudaLibrary, HasElfFilesOfTheAssembler) {
    const std::vector<int64_t> devices = usual_cubins();
    if (devices.empty()) {
        GTEST_SKIP() << "ptxas is not installed";
    }
    write({}, devices);
    for (const int64_t code : {0, 1}) {
        const nf_cuda_code &with_cubins = table->cuda_entries[2].codes[code];
        ASSERT_EQ(with_cubins.cubin_count, std::ssize(devices));
        for (int64_t cubin = 0; cubin < with_cubins.cubin_count; cubin++) {
            EXPECT_EQ(with_cubins.cubins[cubin].capability, devices[cubin]);
            EXPECT_EQ(std::string(with_cubins.cubins[cubin].image, 4), "\x7f"
                                                                       "ELF");
        }
    }
}

TEST_F(CudaLibrary, NeedsAnAssemblerForMachineCode) {
    setenv("PTXAS", (folder / "missing").c_str(), 1);
    EXPECT_TRUE(usual_cubins().empty());
    EXPECT_THROW(write({}, {90}), UserError);
    unsetenv("PTXAS");
}

TEST_F(CudaLibrary, HasOneKernelForAProblem) {
    std::vector<LibraryCudaKernel> twice = cuda_kernels();
    twice.push_back(twice[0]);
    EXPECT_THROW(write_library("norms", folder.path(), LibraryKind::static_library, {}, twice), UserError);
}

}  // namespace
}  // namespace normforge
