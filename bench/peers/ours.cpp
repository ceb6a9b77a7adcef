// normforge: nf_run_on of the kernels that bench_peers.sh had generated, one library for each element of
// peer_norms.h's table.

#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "bench/peers/peer_of.h"
#include "peer_norms.h"

namespace normforge {
namespace {

constexpr int64_t kPage = 4096;

struct Free {
    void operator()(void *memory) const { std::free(memory); }
};

class Ours : public SimplePeer {
public:
    static std::unique_ptr<Ours> prepare(const nf_problem &problem, const nf_arguments &arguments,
                                         const peer_vectors &, int threads) {
        for (const nf_library *library : peer_norms_libraries()) {
            const nf_kernel *kernel = nullptr;
            if (nf_find(library, &problem, &kernel) == NF_SUCCESS) {
                return std::make_unique<Ours>(kernel, arguments, threads);
            }
        }
        return nullptr;
    }

    Ours(const nf_kernel *kernel, const nf_arguments &arguments, int threads)
        : kernel_(kernel), arguments_(arguments), threads_(nf_pool_threads(pool_of(threads))) {
        nf_description description;
        if (nf_describe(kernel, arguments.rows, &description) == NF_SUCCESS) {
            implementation = std::string(description.target) + "; " + description.source;
        }
        // At a page, as all other operands.
        const int64_t bytes = nf_workspace_bytes_on(kernel, arguments.rows, arguments.groups, threads);
        workspace_.reset(std::aligned_alloc(kPage, (bytes / kPage + 1) * kPage));
        arguments_.workspace = workspace_.get();
    }

    static const char *version() { return nf_version(); }
    void run_unit() { nf_run_on(kernel_, &arguments_, threads_); }

private:
    // One for all cells, which are of one number of threads.
    static const nf_pool *pool_of(int threads) {
        static nf_pool *pool = nullptr;
        if (!pool && threads > 1 && nf_pool_create(threads, &pool) != NF_SUCCESS) {
            throw std::runtime_error("no pool of threads");
        }
        return pool;
    }

    const nf_kernel *kernel_;
    nf_arguments arguments_;
    const nf_threads *threads_;
    std::unique_ptr<void, Free> workspace_;
};

}  // namespace
}  // namespace normforge

NORMFORGE_PEER_OF(normforge::Ours);
