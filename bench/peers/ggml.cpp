// ggml's CPU backend, f32: a graph of norms one after the other, so that the cost of starting a graph is spread.
// Its multiplication by the weight and addition of the bias are operations of their own.

#include <ggml-cpu.h>
#include <ggml.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/peers/peer_of.h"

namespace normforge {
namespace {

// Graphs of about a quarter of a millisecond where norms are short.
constexpr size_t kValuesOfGraph = 1 << 18;
constexpr size_t kMostNorms = 64;

class Ggml : public SimplePeer {
public:
    static std::unique_ptr<Ggml> prepare(const nf_problem &problem, const nf_arguments &arguments,
                                         const peer_vectors &, int threads) {
        if (problem.dtype != NF_F32 || problem.pass != NF_FORWARD) {
            return nullptr;  // its norms take f32 alone, and none has a gradient of the weight
        }
        return std::make_unique<Ggml>(problem, arguments, threads);
    }

    Ggml(const nf_problem &problem, const nf_arguments &arguments, int threads)
        : norms_(std::clamp<size_t>(kValuesOfGraph / value_count(problem, arguments), 1, kMostNorms)),
          has_workers_(threads > 1) {
        ggml_cpu_init();
        const size_t nodes = norms_ * 4 + 8;
        context_ = ggml_init({nodes * ggml_tensor_overhead() + ggml_graph_overhead_custom(nodes, false), nullptr,
                              /*no_alloc=*/true});
        graph_ = ggml_new_graph_custom(context_, nodes, false);
        rows_ = arguments.rows;
        hidden_ = problem.hidden;
        ggml_tensor *weight = vector_at(arguments.weight);
        ggml_tensor *bias = arguments.bias ? vector_at(arguments.bias) : nullptr;
        ggml_tensor *x = rows_at(arguments.x.data);
        ggml_tensor *residual = problem.residual != NF_NONE ? rows_at(arguments.residual.data) : nullptr;
        for (size_t norm = 0; norm < norms_; ++norm) {
            ggml_tensor *h = residual ? at(arguments.sum.data, ggml_add(context_, x, residual)) : x;
            ggml_tensor *y = problem.op == NF_LAYER_NORM ? ggml_norm(context_, h, arguments.epsilon)
                                                         : ggml_rms_norm(context_, h, arguments.epsilon);
            y = at(arguments.y.data, ggml_mul(context_, at(arguments.y.data, y), weight));
            if (bias) {
                y = at(arguments.y.data, ggml_add(context_, y, bias));
            }
            ggml_build_forward_expand(graph_, y);
        }
        ggml_threadpool_params parameters = ggml_threadpool_params_default(threads);
        pool_ = ggml_threadpool_new(&parameters);
        plan_ = ggml_graph_plan(graph_, threads, pool_);
        work_.resize(plan_.work_size);
        plan_.work_data = work_.data();
        implementation = ggml_cpu_has_avx512() ? "AVX-512" : ggml_cpu_has_avx2() ? "AVX2" : "";
        end();
    }

    Ggml(const Ggml &) = delete;
    Ggml &operator=(const Ggml &) = delete;

    ~Ggml() {
        begin();
        ggml_threadpool_free(pool_);
        ggml_free(context_);
    }

    static const char *version() { return ggml_version(); }
    int64_t calls_of_unit() const { return static_cast<int64_t>(norms_); }

    // Its workers wait actively: they must not while others are timed.
    void begin() {
        if (has_workers_) {
            ggml_threadpool_resume(pool_);
        }
    }
    void end() {
        if (has_workers_) {
            ggml_threadpool_pause(pool_);
        }
    }

    void run_unit() {
        if (ggml_graph_compute(graph_, &plan_) != GGML_STATUS_SUCCESS) {
            std::fputs("error: ggml failed\n", stderr);
            std::abort();
        }
    }

private:
    static ggml_tensor *at(const void *values, ggml_tensor *tensor) {
        tensor->data = const_cast<void *>(values);
        return tensor;
    }
    ggml_tensor *vector_at(const void *values) {
        return at(values, ggml_new_tensor_1d(context_, GGML_TYPE_F32, hidden_));
    }
    ggml_tensor *rows_at(const void *values) {
        return at(values, ggml_new_tensor_2d(context_, GGML_TYPE_F32, hidden_, rows_));
    }

    size_t norms_;
    bool has_workers_;
    int64_t rows_ = 0, hidden_ = 0;
    ggml_context *context_ = nullptr;
    ggml_cgraph *graph_ = nullptr;
    ggml_threadpool *pool_ = nullptr;
    ggml_cplan plan_{};
    std::vector<uint8_t> work_;
};

}  // namespace
}  // namespace normforge

NORMFORGE_PEER_OF(normforge::Ggml);
