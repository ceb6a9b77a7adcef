// Links two generated libraries, one tuned for this machine and one with untuned schedules, and shows what they do
// with the inputs of real norm layers: the error against f64, and the time beside a memcpy of the same bytes.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/accuracy.h"
#include "examples/aligned_floats.h"
#include "examples/interleaved_timing.h"
#include "examples/npz.h"
#include "examples/real_layers.h"
#include "norms.h"
#include "norms_untuned.h"

namespace {

using normforge::Accuracy;
using normforge::AlignedFloats;
using normforge::RealLayer;

constexpr int64_t kHidden[] = {384, 576, 4096};
constexpr int64_t kFewRows = 1;
constexpr int64_t kManyRows = 512;
// Samples shorter than a time slice of the scheduler: on a busy machine most of them then run undisturbed, and
// their median shows none of the rest. 12 lines of 51 blocks of 3 samples take about 2 s in all.
constexpr int kBlocks = 51;
constexpr double kSampleNs = 5e5;

struct Operation {
    const char *name;
    const char *model;   // whose layers are its input
    nf_problem problem;  // for any hidden
};

constexpr nf_problem f32_problem(nf_op op, nf_dtype bias) {
    nf_problem problem{};
    problem.op = op;
    problem.dtype = problem.output = problem.weight = NF_F32;
    problem.bias = bias;
    return problem;
}

constexpr Operation kOperations[] = {{"layer_norm", "minilm", f32_problem(NF_LAYER_NORM, NF_F32)},
                                     {"rms_norm", "smollm2", f32_problem(NF_RMS_NORM, NF_NONE)}};

void check(nf_status status, const std::string &what) {
    if (status != NF_SUCCESS) {
        throw std::runtime_error(what + ": " + nf_status_message(status));
    }
}

// One line of both tables.
struct Case {
    std::string name;
    nf_problem problem;
    const nf_kernel *tuned;
    const nf_kernel *untuned;
    std::string data;
    std::vector<RealLayer> layers;
};

Case make_case(const Operation &operation, int64_t hidden, const normforge::Npz &archive) {
    Case result;
    result.name = std::string(operation.name) + " " + std::to_string(hidden);
    result.problem = operation.problem;
    result.problem.hidden = hidden;
    check(nf_find(norms_library(), &result.problem, &result.tuned), result.name + " in libnorms.a");
    check(nf_find(norms_untuned_library(), &result.problem, &result.untuned),
          result.name + " in libnorms_untuned.a");
    result.layers = normforge::load_real_layers(archive, operation.model, kManyRows, hidden);
    const int64_t model_hidden = result.layers.front().model_hidden;
    result.data = operation.model;
    result.data += hidden == model_hidden  ? ", as they are"
                   : hidden > model_hidden ? ", end to end"
                                           : ", cut short";
    return result;
}

std::vector<Case> make_cases(const normforge::Npz &archive) {
    std::vector<Case> cases;
    for (const Operation &operation : kOperations) {
        for (const int64_t hidden : kHidden) {
            cases.push_back(make_case(operation, hidden, archive));
        }
    }
    return cases;
}

Accuracy measure_accuracy(const nf_problem &problem, const nf_kernel *kernel,
                          const std::vector<RealLayer> &layers) {
    Accuracy accuracy;
    for (const RealLayer &layer : layers) {
        AlignedFloats y(layer.model_rows * layer.hidden, NAN);  // a value left unwritten is then an error
        const nf_arguments arguments = layer.arguments(layer.model_rows, y.data());
        check(nf_run(kernel, &arguments), "nf_run");
        normforge::compare_with_f64(problem, arguments, accuracy);
    }
    return accuracy;
}

bool report_accuracy(const Case &one) {
    const Accuracy tuned = measure_accuracy(one.problem, one.tuned, one.layers);
    const Accuracy untuned = measure_accuracy(one.problem, one.untuned, one.layers);
    std::printf("%-16s  %-20s  %4d  %9.1e  %9.1e  %7.0f%%  %11.1f\n", one.name.c_str(), one.data.c_str(),
                static_cast<int>(tuned.rows), tuned.largest_error, untuned.largest_error,
                100 * std::max(tuned.largest_ratio, untuned.largest_ratio), tuned.largest_output);
    return tuned.within_bound() && untuned.within_bound();
}

normforge::RepeatedWork repeat_run(const nf_kernel *kernel, const nf_arguments &arguments) {
    return [kernel, &arguments](int64_t calls) {
        for (int64_t call = 0; call < calls; ++call) {
            nf_run(kernel, &arguments);
        }
    };
}

normforge::RepeatedWork repeat_copy(AlignedFloats &to, const AlignedFloats &from, size_t bytes) {
    return [&to, &from, bytes](int64_t calls) {
        for (int64_t call = 0; call < calls; ++call) {
            std::memcpy(to.data(), from.data(), bytes);
            asm volatile("" ::: "memory");  // or the compiler may leave out all copies but one
        }
    };
}

void report_time(const Case &one, int64_t rows) {
    const RealLayer &layer = one.layers.front();
    const size_t bytes = rows * layer.hidden * sizeof(float);
    AlignedFloats y(rows * layer.hidden);
    const nf_arguments arguments = layer.arguments(rows, y.data());
    const auto samples = normforge::time_interleaved(
        {repeat_run(one.tuned, arguments), repeat_run(one.untuned, arguments), repeat_copy(y, layer.x, bytes)},
        kBlocks, kSampleNs);
    const auto ns = [&](int work) { return normforge::quantile(samples[work], 0.5); };
    const double moved = 2 * static_cast<double>(bytes);  // bytes per ns are GB/s
    std::printf("%-16s  %4d  %9.1f %6.1f  %9.1f %6.1f  %6.1f\n", one.name.c_str(), static_cast<int>(rows),
                ns(0) / static_cast<double>(rows), moved / ns(0), ns(1) / static_cast<double>(rows), moved / ns(1),
                moved / ns(2));
}

// False if an error is beyond its bound.
bool report_accuracies(const std::vector<Case> &cases) {
    std::printf(
        "Largest error against f64, on rows of real models: as they are, several end to end, or cut short.\n"
        "%-16s  %-20s  %4s  %9s  %9s  %8s  %11s\n",
        "kernel", "rows of", "rows", "tuned", "untuned", "of bound", "largest |y|");
    bool passed = true;
    for (const Case &one : cases) {
        passed = report_accuracy(one) && passed;
    }
    return passed;
}

void report_times(const std::vector<Case> &cases) {
    std::printf("\nOne core, median of %d interleaved samples. GB/s counts x read once and y written once.\n"
                "%-16s  %4s  %16s  %16s  %6s\n"
                "%-16s  %4s  %9s %6s  %9s %6s  %6s\n",
                kBlocks, "", "", "tuned", "untuned", "memcpy", "kernel", "rows", "ns/row", "GB/s", "ns/row",
                "GB/s", "GB/s");
    for (const int64_t rows : {kFewRows, kManyRows}) {
        for (const Case &one : cases) {
            report_time(one, rows);
        }
    }
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s norm_activations.npz\n", argv[0]);
        return 2;
    }
    try {
        const std::vector<Case> cases = make_cases(normforge::Npz(argv[1]));
        const bool passed = report_accuracies(cases);
        report_times(cases);
        if (!passed) {
            std::fprintf(stderr, "error: a result is further from f64 than examples/accuracy.h allows\n");
            return 1;
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 1;
    }
    return 0;
}
