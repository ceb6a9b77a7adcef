// Halide's own schedules, which autoscheduled_kernels.cpp wrote, on one thread.

#include <HalideRuntime.h>

#include <array>
#include <vector>

#include "bench/peers/autoscheduled_table.h"
#include "bench/peers/peer_of.h"

namespace normforge {
namespace {

// The kernel whose expected number of rows is nearest from below: one for more rows may write more than there are.
const AutoscheduledKernel *find_kernel(const nf_problem &problem, int64_t rows) {
    const AutoscheduledKernel *found = nullptr;
    for (size_t index = 0; index < kAutoscheduledCount; ++index) {
        const AutoscheduledKernel &kernel = kAutoscheduledKernels[index];
        const bool fits = kernel.op == problem.op && kernel.hidden == problem.hidden &&
                          kernel.has_residual == (problem.residual != NF_NONE) && kernel.expected_rows <= rows;
        if (fits && (!found || kernel.expected_rows > found->expected_rows)) {
            found = &kernel;
        }
    }
    return found;
}

class Autoscheduled : public SimplePeer {
public:
    static std::unique_ptr<Autoscheduled> prepare(const nf_problem &problem, const nf_arguments &arguments,
                                                  const peer_vectors &, int threads) {
        const AutoscheduledKernel *kernel = find_kernel(problem, arguments.rows);
        if (problem.pass != NF_FORWARD || problem.dtype != NF_F32 || threads != 1 || !kernel) {
            return nullptr;
        }
        return std::make_unique<Autoscheduled>(*kernel, problem, arguments);
    }

    Autoscheduled(const AutoscheduledKernel &kernel, const nf_problem &problem, const nf_arguments &arguments)
        : run_(kernel.run), epsilon_(arguments.epsilon) {
        halide_set_num_threads(1);
        dimensions_ = {
            halide_dimension_t(0, static_cast<int32_t>(problem.hidden), 1),
            halide_dimension_t(0, static_cast<int32_t>(arguments.rows), static_cast<int32_t>(problem.hidden))};
        buffers_.reserve(6);  // the addresses in arguments_ stay
        add_buffer(arguments.x.data, 2);
        if (kernel.has_residual) {
            add_buffer(arguments.residual.data, 2);
        }
        add_buffer(arguments.weight, 1);
        if (arguments.bias) {
            add_buffer(arguments.bias, 1);
        }
        arguments_.push_back(&epsilon_);
        add_buffer(arguments.y.data, 2);
        if (kernel.has_residual) {
            add_buffer(arguments.sum.data, 2);
        }
        implementation = "Adams2019 for " + std::to_string(kernel.expected_rows) + " rows";
    }

    static const char *version() { return NORMFORGE_HALIDE_VERSION; }
    void run_unit() { run_(arguments_.data()); }

private:
    void add_buffer(const void *values, int dimensions) {
        halide_buffer_t &buffer = buffers_.emplace_back();
        buffer.host = static_cast<uint8_t *>(const_cast<void *>(values));
        buffer.type = halide_type_t(halide_type_float, 32);
        buffer.dimensions = dimensions;
        buffer.dim = dimensions_.data();
        arguments_.push_back(&buffer);
    }

    int (*run_)(void **);
    float epsilon_;
    std::array<halide_dimension_t, 2> dimensions_;
    std::vector<halide_buffer_t> buffers_;
    std::vector<void *> arguments_;
};

}  // namespace
}  // namespace normforge

NORMFORGE_PEER_OF(normforge::Autoscheduled);
