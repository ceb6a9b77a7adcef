// normforge: nf_run of the kernels that bench_peers.sh had generated, one library for each element of
// peer_norms.h's table.

#include "bench/peers/peer_of.h"
#include "peer_norms.h"

namespace normforge {
namespace {

class Ours : public SimplePeer {
public:
    static std::unique_ptr<Ours> prepare(const nf_problem &problem, const nf_arguments &arguments, const float *,
                                         const float *, int threads) {
        if (threads > 1) {
            return nullptr;  // the place for a run on threads
        }
        for (const nf_library *library : peer_norms_libraries()) {
            const nf_kernel *kernel = nullptr;
            if (nf_find(library, &problem, &kernel) == NF_SUCCESS) {
                return std::make_unique<Ours>(kernel, arguments);
            }
        }
        return nullptr;
    }

    Ours(const nf_kernel *kernel, const nf_arguments &arguments) : kernel_(kernel), arguments_(arguments) {
        nf_description description;
        if (nf_describe(kernel, arguments.rows, &description) == NF_SUCCESS) {
            implementation = std::string(description.target) + "; " + description.source;
        }
    }

    static const char *version() { return nf_version(); }
    void run_unit() { nf_run(kernel_, &arguments_); }

private:
    const nf_kernel *kernel_;
    nf_arguments arguments_;
};

}  // namespace
}  // namespace normforge

NORMFORGE_PEER_OF(normforge::Ours);
