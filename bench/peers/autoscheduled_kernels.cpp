// Writes what Halide's own autoscheduler, Adams2019, makes of the plain two-pass formula in f32 for one core: an
// object for each op, hidden size and number of rows that it was told to expect, and a table of them. Not our one
// pass about pivots, whose rare rows it cannot schedule.
// Arguments: the autoscheduler's library, a folder, the hidden sizes.

#include <Halide.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

using Halide::Expr;
using Halide::Func;
using Halide::ImageParam;
using Halide::Var;

constexpr int kExpectedRows[] = {1, 8, 64, 512};

struct Kernel {
    std::string op;
    int hidden;
    bool has_residual;
    int expected_rows;

    std::string name() const {
        return op + "_" + std::to_string(hidden) + (has_residual ? "_residual_" : "_") +
               std::to_string(expected_rows);
    }
};

void write_object(const Kernel &kernel, const Halide::Target &target, const std::string &file) {
    const Var i("i"), row("row");
    const Halide::RDom k(0, kernel.hidden, "k");
    ImageParam x(Halide::Float(32), 2, "x"), residual(Halide::Float(32), 2, "residual");
    ImageParam weight(Halide::Float(32), 1, "weight"), bias(Halide::Float(32), 1, "bias");
    Halide::Param<float> epsilon("epsilon");
    const bool is_layer_norm = kernel.op == "layer_norm";
    const float count = static_cast<float>(kernel.hidden);

    Func h("sum"), mean("mean"), centred("centred"), variance("variance"), y("y");
    h(i, row) = kernel.has_residual ? x(i, row) + residual(i, row) : Expr(x(i, row));
    if (is_layer_norm) {
        mean(row) += h(k, row) / count;
        centred(i, row) = h(i, row) - mean(row);
    } else {
        centred(i, row) = h(i, row);
    }
    variance(row) += centred(k, row) * centred(k, row) / count;
    const Expr scaled = centred(i, row) / Halide::sqrt(variance(row) + epsilon) * weight(i);
    y(i, row) = is_layer_norm ? scaled + bias(i) : scaled;

    const Halide::Range values(0, kernel.hidden), rows(0, kernel.expected_rows);
    std::vector<Halide::Argument> arguments{x};
    x.set_estimates({values, rows});
    if (kernel.has_residual) {
        residual.set_estimates({values, rows});
        arguments.push_back(residual);
    }
    weight.set_estimates({values});
    arguments.push_back(weight);
    if (is_layer_norm) {
        bias.set_estimates({values});
        arguments.push_back(bias);
    }
    arguments.push_back(epsilon);
    epsilon.set_estimate(1e-5f);
    y.set_estimates({values, rows});
    std::vector<Func> outputs{y};
    if (kernel.has_residual) {
        h.set_estimates({values, rows});
        outputs.push_back(h);
    }
    x.dim(0).set_bounds(0, kernel.hidden);
    y.output_buffer().dim(0).set_bounds(0, kernel.hidden);
    Halide::Pipeline pipeline(outputs);
    pipeline.apply_autoscheduler(target, {"Adams2019", {{"parallelism", "1"}}});
    pipeline.compile_to_object(file, arguments, kernel.name(), target);
}

void write_table(const std::vector<Kernel> &kernels, const std::string &file) {
    std::ofstream table(file);
    table << "#include \"bench/peers/autoscheduled_table.h\"\n\n";
    for (const Kernel &kernel : kernels) {
        table << "extern \"C\" int " << kernel.name() << "_argv(void **);\n";
    }
    table << "\nconst normforge::AutoscheduledKernel normforge::kAutoscheduledKernels[] = {\n";
    for (const Kernel &kernel : kernels) {
        table << "    {" << (kernel.op == "layer_norm" ? "NF_LAYER_NORM" : "NF_RMS_NORM") << ", " << kernel.hidden
              << ", " << kernel.has_residual << ", " << kernel.expected_rows << ", " << kernel.name()
              << "_argv},\n";
    }
    table << "};\nconst size_t normforge::kAutoscheduledCount = " << kernels.size() << ";\n";
}

}  // namespace

int main(int argc, char **argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: %s LIBRARY FOLDER HIDDEN...\n", argv[0]);
        return 2;
    }
    const std::string folder = argv[2];
    Halide::load_plugin(argv[1]);
    const Halide::Target target = Halide::get_host_target()
                                      .with_feature(Halide::Target::NoAsserts)
                                      .with_feature(Halide::Target::NoBoundsQuery);
    std::vector<Kernel> kernels;
    for (const char *op : {"layer_norm", "rms_norm"}) {
        for (int argument = 3; argument < argc; ++argument) {
            for (const bool has_residual : {false, true}) {
                for (const int expected_rows : kExpectedRows) {
                    kernels.push_back({op, std::atoi(argv[argument]), has_residual, expected_rows});
                }
            }
        }
    }
    for (const Kernel &kernel : kernels) {
        write_object(kernel, target.with_feature(Halide::Target::NoRuntime), folder + "/" + kernel.name() + ".o");
    }
    Halide::compile_standalone_runtime(folder + "/halide_runtime.o", target);
    write_table(kernels, folder + "/autoscheduled_table.cpp");
    return 0;
}
