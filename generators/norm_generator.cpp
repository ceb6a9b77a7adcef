// The norms as Halide generators. emit() builds every kernel through them; an application can too, by Halide's own
// add_halide_library: see tests/halide_library.

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "Halide.h"
#include "generators/gpu_launch.h"
#include "generators/gpu_norm.h"
#include "generators/norm_algorithm.h"
#include "generators/plain_parameters.h"
#include "generators/strided_pairs.h"
#include "generators/vector_nan_tests.h"
#include "generators/wide_accesses.h"
#include "runtime/gradient_sums.h"
#include "runtime/operands.h"
#include "runtime/user_error.h"
#include "schedules/gpu_space.h"
#include "schedules/knobs.h"
#include "schedules/schedule_cpu.h"
#include "schedules/schedule_gpu.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {

namespace {

using Halide::Buffer;
using Halide::GeneratorParam;

template <typename Visitor>
constexpr void visit_field_names(Visitor &&visit) {
    NormProblem problem{};
    visit_fields(problem, [&](const char *name, auto &) { visit(std::string_view(name)); });
}

constexpr size_t kFieldCount = [] {
    size_t count = 0;
    visit_field_names([&](std::string_view) { count++; });
    return count;
}();

constexpr std::array<std::string_view, kFieldCount> kFieldNames = [] {
    std::array<std::string_view, kFieldCount> names;
    size_t count = 0;
    visit_field_names([&](std::string_view name) { names[count++] = name; });
    return names;
}();

// The problem's fields but op, then the knobs, as text. An empty text stands for the default of the field or for
// the heuristic's choice of the knob. They live inside the generator, where Halide looks for its parameters.
template <size_t count>
using TextParams = std::array<GeneratorParam<std::string>, count>;

template <size_t... Index>
TextParams<sizeof...(Index)> field_params(std::index_sequence<Index...>) {
    return {GeneratorParam<std::string>(std::string(kFieldNames[Index + 1]), "")...};
}

template <size_t... Index>
TextParams<sizeof...(Index)> knob_params(std::index_sequence<Index...>) {
    return {GeneratorParam<std::string>(knob_table()[Index].name, "")...};
}

// Halide wants inputs named unlike parameters, which are named as the problem's fields.
std::string input_name(const Operand &operand) {
    bool is_field = false;
    visit_field_names([&](std::string_view field) { is_field = is_field || field == operand.name; });
    return is_field ? std::string(operand.name) + "_values" : operand.name;
}

int dimensions(OperandShape shape) {
    return shape == OperandShape::rows ? 2 : 1;
}

template <nf_op op>
class NormGenerator : public Halide::Generator<NormGenerator<op>> {
public:
    TextParams<kFieldCount - 1> fields = field_params(std::make_index_sequence<kFieldCount - 1>());
    TextParams<kKnobCount> knobs = knob_params(std::make_index_sequence<kKnobCount>());

    // The text of all knobs of a GPU schedule, or empty for one of the CPU. Without a GPU in the target its loops
    // are serial.
    GeneratorParam<std::string> gpu{"gpu", ""};

    // What a GPU's threads may rely on: that rows, weight and bias begin at a multiple of a vector, or of a value.
    GeneratorParam<std::string> gpu_alignment{"gpu_alignment", "vector"};

    // The inputs and outputs of the problem, in the order of kOperands; outputs of one shape are one Tuple.
    void configure() {
        problem_ = read_problem();
        for (const Operand &operand : kOperands) {
            const nf_dtype type = operand_type(problem_, operand);
            if (type == NF_NONE || is_written(problem_, operand)) {
                continue;
            }
            if (operand.shape == OperandShape::number) {
                numbers_[operand.id] = this->template add_input<float>(input_name(operand));
            } else {
                buffers_[operand.id] = this->template add_input<Buffer<>>(input_name(operand), stored_type(type),
                                                                          dimensions(operand.shape));
            }
        }
        if (has_slices()) {
            slices_ = this->template add_input<int>(kSlicesInput);
            continues_ = this->template add_input<int>(kContinuesInput);
        }
        // Sums over rows come before the rows, which may lie over what these are made of.
        if (!is_for_gpu()) {
            saved_ = add_outputs("output_row_values", {OperandShape::row_values});
        }
        const bool has_row_values = is_for_gpu() && !has_slices();
        rows_ = add_outputs(
            "output_rows", {OperandShape::rows, has_row_values ? OperandShape::row_values : OperandShape::vector});
    }

    void generate() {
        const Halide::Target &machine = this->get_target();
        if (!machine.has_feature(Halide::Target::StrictFloat)) {
            throw UserError(
                "the norm generators need the target feature strict_float: without it Halide may rewrite "
                "the sums and lose what the pivots save");
        }
        if (machine.has_feature(Halide::Target::SVE) || machine.has_feature(Halide::Target::SVE2)) {
            throw UserError(
                "the norm generators make no code for SVE by Halide alone, whose code for parts of its "
                "registers is wrong; allowed is normforge itself, or NEON");
        }
        const NormInputs inputs = bind_inputs();
        if (is_for_gpu()) {
            return generate_for_gpu(inputs, machine);
        }
        const Knobs chosen = read_knobs(machine);
        NormStages stages = define_norm(problem_, chosen, value_pairs(problem_, chosen, machine), inputs,
                                        ValueConversion(converts_f16(machine)));
        bind_outputs(stages, inputs.rows);
        std::vector<Halide::ImageParam> streams;
        for (const auto &[id, buffer] : buffers_) {
            if (operand(id).shape == OperandShape::rows) {
                streams.push_back(*buffer);
            }
        }
        schedule_cpu(stages, problem_, chosen, streams);
        if (stages.pairs.summed || stages.pairs.written) {
            this->get_pipeline().add_custom_lowering_pass(new StridedPairs);  // which the pipeline deletes
        }
    }

private:
    using OutputFunc = Halide::GeneratorOutput<Halide::Func>;

    bool is_for_gpu() const { return !std::string(gpu).empty(); }
    bool has_slices() const { return is_for_gpu() && problem_.pass == NF_BACKWARD; }

    void generate_for_gpu(const NormInputs &inputs, const Halide::Target &machine) {
        const GpuKnobs chosen = parse_gpu_knobs(std::string(gpu));
        require_fit(to_text(chosen), to_text(problem_), check(problem_, chosen));
        GpuStages gpu_stages;
        NormStages stages =
            define_gpu_norm(problem_, chosen, inputs, ValueConversion(converts_f16(machine)), gpu_stages);
        if (has_slices()) {
            bind_slices(stages, gpu_stages.slices, inputs);
        } else {
            bind_outputs(stages, inputs.rows);
        }
        const bool on_device = machine.has_gpu_feature();
        const bool has_vectors = on_device && std::string(gpu_alignment) == "vector";
        align_for_gpu(stages, has_vectors ? thread_values(problem_, chosen).vector : 1);
        schedule_gpu(stages, gpu_stages, problem_, chosen, gpu_form(machine));
        if (on_device) {
            add_passes(gpu_form(machine));
        }
    }

    // Which the pipeline deletes.
    void add_passes(GpuForm form) {
        Halide::Pipeline norm = this->get_pipeline();
        if (form == GpuForm::barriers) {
            norm.add_custom_lowering_pass(new VectorNanTests);
        } else {
            norm.add_custom_lowering_pass(new WideAccesses);
            norm.add_custom_lowering_pass(new PlainParameters);
        }
    }

    // Vectors of that many values begin at a multiple of their size.
    void align_for_gpu(NormStages &stages, int vector) {
        const auto align = [&](const Operand &operand, auto buffer) {
            buffer.set_host_alignment(vector * static_cast<int>(element_size(operand_type(problem_, operand))));
            if (operand.shape == OperandShape::rows) {
                buffer.dim(1).set_stride(buffer.dim(1).stride() / vector * vector);
            }
        };
        for (auto &[id, buffer] : buffers_) {
            align(operand(id), Halide::ImageParam(*buffer));
        }
        size_t index = 0;
        for (const Operand &operand : kOperands) {
            if (operand_type(problem_, operand) == NF_NONE || !is_written(problem_, operand)) {
                continue;
            }
            auto buffer = stages.rows.output_buffers()[index++];
            if (has_slices()) {
                align_slices(operand, buffer, vector);
            } else if (operand.shape == OperandShape::rows) {
                align(operand, buffer);
            } else {
                buffer.dim(0).set_stride(0);
                buffer.dim(1).set_stride(1);
            }
        }
    }

    // Of (i, row of a slice, slice): the rows of a slice have one sum.
    void align_slices(const Operand &operand, Halide::OutputImageParam buffer, int vector) {
        const bool is_sum = operand.shape == OperandShape::vector;
        const size_t value_bytes = is_sum ? sizeof(float) : element_size(operand_type(problem_, operand));
        buffer.set_host_alignment(vector * static_cast<int>(value_bytes));
        if (is_sum) {
            buffer.dim(1).set_stride(0);
            buffer.dim(2).set_stride(static_cast<int>(gradient_values(problem_)));
        } else {
            for (const int dimension : {1, 2}) {
                buffer.dim(dimension).set_stride(buffer.dim(dimension).stride() / vector * vector);
            }
        }
    }

    // Null where the problem writes none of those shapes, or of rows that are written one value each.
    OutputFunc *add_outputs(const std::string &name, std::initializer_list<OperandShape> shapes) {
        std::vector<Halide::Type> types;
        for (const Operand &operand : kOperands) {
            const nf_dtype type = operand_type(problem_, operand);
            const bool fits = std::ranges::find(shapes, operand.shape) != shapes.end();
            if (fits && type != NF_NONE && is_written(problem_, operand)) {
                // Sums over rows are partial ones here.
                types.push_back(stored_type(operand.shape == OperandShape::vector ? NF_F32 : type));
            }
        }
        const int dimension_count = has_slices() ? 3 : dimensions(*shapes.begin());
        return types.empty() ? nullptr : this->template add_output<Halide::Func>(name, types, dimension_count);
    }

    NormInputs bind_inputs() {
        NormInputs inputs;
        const int hidden = static_cast<int>(problem_.hidden);
        for (auto &[id, buffer] : buffers_) {
            inputs.funcs[id] = *buffer;
            const OperandShape shape = operand(id).shape;
            buffer->dim(0).set_min(0);
            if (shape != OperandShape::row_values) {
                buffer->dim(0).set_extent(hidden);
            }
            if (shape == OperandShape::rows) {
                buffer->dim(1).set_min(0);
                if (!inputs.rows.defined()) {
                    inputs.rows = buffer->dim(1).extent();
                }
            }
        }
        for (auto &[id, number] : numbers_) {
            inputs.numbers[id] = *number;
        }
        if (has_slices()) {
            inputs.slices = *slices_;
            inputs.continues = *continues_;
        }
        return inputs;
    }

    void bind_slices(NormStages &stages, const GpuSlices &slices, const NormInputs &inputs) {
        Halide::Expr rows_of_slice = (inputs.rows - 1) / inputs.slices + 1;
        Halide::OutputImageParam first = stages.rows.output_buffers()[0];
        first.dim(0).set_bounds(0, static_cast<int>(problem_.hidden));
        first.dim(1).set_bounds(0, rows_of_slice);
        first.dim(2).set_bounds(0, inputs.slices);
        stages.rows.bound(slices.row, 0, rows_of_slice).bound(slices.slice, 0, inputs.slices);
        *rows_ = stages.rows;
    }

    // All outputs have the rows of the inputs. Said in these words, Halide fuses their loops without a remainder.
    void bind_outputs(NormStages &stages, const Halide::Expr &rows) {
        const Halide::Expr hidden = static_cast<int>(problem_.hidden);
        stages.rows.output_buffers()[0].dim(0).set_bounds(0, hidden);
        stages.rows.output_buffers()[0].dim(1).set_bounds(0, rows);
        stages.rows.bound(stages.vars.r, 0, rows);
        *rows_ = stages.rows;
        if (saved_) {
            stages.saved.output_buffers()[0].dim(0).set_bounds(0, rows);
            stages.saved.bound(stages.vars.r, 0, rows);
            *saved_ = stages.saved;
        }
        if (problem_.pass == NF_BACKWARD) {
            const int sums = (problem_.weight != NF_NONE) + (problem_.bias != NF_NONE);
            for (int index = 0; index < sums; index++) {
                stages.rows.output_buffers()[index].dim(1).set_stride(0);
            }
        }
    }

    // The given fields, by the text that a problem has everywhere else.
    NormProblem read_problem() const {
        const NormProblem usual = default_problem(op, 4096);
        std::string text = "op=" + field_text(op);
        size_t index = 0;
        visit_fields(usual, [&](const std::string &name, const auto &field) {
            std::string value = index == 0 ? "" : std::string(fields[index - 1]);
            if (value.empty() && (name == "dtype" || name == "hidden")) {
                value = field_text(field);
            }
            text += value.empty() ? "" : "," + name + "=" + value;
            index++;
        });
        return parse_problem(text);
    }

    Knobs read_knobs(const Halide::Target &machine) const {
        Knobs result = heuristic(problem_, machine);
        for (size_t index = 0; index < kKnobCount; index++) {
            std::string text = knobs[index];
            if (!text.empty()) {
                result.*knob_table()[index].member = knob_value(knob_table()[index], text);
            }
        }
        require_fit(problem_, result, machine);
        return result;
    }

    NormProblem problem_{};
    std::map<OperandId, Halide::GeneratorInput<Buffer<>> *> buffers_;
    std::map<OperandId, Halide::GeneratorInput<float> *> numbers_;
    Halide::GeneratorInput<int> *slices_ = nullptr;
    Halide::GeneratorInput<int> *continues_ = nullptr;
    OutputFunc *saved_ = nullptr;
    OutputFunc *rows_ = nullptr;
};

}  // namespace

}  // namespace normforge

HALIDE_REGISTER_GENERATOR(normforge::NormGenerator<NF_LAYER_NORM>, layer_norm)
HALIDE_REGISTER_GENERATOR(normforge::NormGenerator<NF_RMS_NORM>, rms_norm)
