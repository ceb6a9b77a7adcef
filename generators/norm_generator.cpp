// The norms as Halide generators. emit() builds every kernel through them; an application can too, by Halide's own
// add_halide_library: see tests/halide_library.

#include <array>
#include <string_view>
#include <utility>

#include "Halide.h"
#include "generators/norm_algorithm.h"
#include "runtime/norm_problem.h"
#include "runtime/user_error.h"
#include "schedules/knobs.h"
#include "schedules/schedule_cpu.h"
#include "schedules/space.h"

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

Halide::Type halide_type(nf_dtype dtype) {
    switch (dtype) {
    case NF_F32:
        return Halide::Float(32);
    case NF_NONE:
        break;
    }
    throw UserError("type '" + field_text(dtype) + "' has no values; allowed here is f32");
}

template <nf_op op>
class NormGenerator : public Halide::Generator<NormGenerator<op>> {
public:
    TextParams<kFieldCount - 1> fields = field_params(std::make_index_sequence<kFieldCount - 1>());
    TextParams<kKnobCount> knobs = knob_params(std::make_index_sequence<kKnobCount>());

    void configure() {
        problem_ = read_problem();
        // Halide wants inputs named unlike parameters, so weight and bias, which name a type there, are plural
        // here.
        x_ = this->template add_input<Buffer<>>("x", halide_type(problem_.dtype), 2);
        if (problem_.weight != NF_NONE) {
            weight_ = this->template add_input<Buffer<>>("weights", halide_type(problem_.weight), 1);
        }
        if (problem_.bias != NF_NONE) {
            bias_ = this->template add_input<Buffer<>>("biases", halide_type(problem_.bias), 1);
        }
        epsilon_ = this->template add_input<float>("epsilon");
        y_ = this->template add_output<Buffer<>>("y", halide_type(problem_.dtype), 2);
    }

    void generate() {
        const Halide::Target &machine = this->get_target();
        if (!machine.has_feature(Halide::Target::StrictFloat)) {
            throw UserError(
                "the norm generators need the target feature strict_float: without it Halide may rewrite "
                "the sums and lose what the pivots save");
        }
        Knobs chosen = read_knobs(machine);
        NormInputs inputs{*x_, {}, {}, *epsilon_};
        int hidden = static_cast<int>(problem_.hidden);
        if (weight_) {
            inputs.weight = *weight_;
            weight_->dim(0).set_bounds(0, hidden);
        }
        if (bias_) {
            inputs.bias = *bias_;
            bias_->dim(0).set_bounds(0, hidden);
        }
        NormStages stages = define_norm(problem_, chosen, inputs);
        *y_ = stages.y;
        x_->dim(0).set_bounds(0, hidden);
        x_->dim(1).set_min(0);
        y_->dim(0).set_bounds(0, hidden);
        y_->dim(1).set_min(0);
        schedule_cpu(stages, problem_, chosen, *x_);
    }

private:
    NormProblem read_problem() const {
        NormProblem problem = default_problem(op, 4096);
        size_t index = 0;
        visit_fields(problem, [&](std::string_view name, auto &field) {
            if (index > 0 && !std::string(fields[index - 1]).empty()) {
                parse_field(name, std::string(fields[index - 1]), field);
            }
            index++;
        });
        if (nf_status status = check_problem(problem)) {
            throw UserError(nf_status_message(status));
        }
        return problem;
    }

    Knobs read_knobs(const Halide::Target &machine) const {
        Knobs result = heuristic(problem_, machine);
        for (size_t index = 0; index < kKnobCount; index++) {
            std::string text = knobs[index];
            if (!text.empty()) {
                result.*knob_table()[index].member = knob_value(knob_table()[index], text);
            }
        }
        if (std::string reason = check(problem_, result, machine); !reason.empty()) {
            throw UserError("knobs " + to_text(result) + " do not fit " + to_text(problem_) + ": " + reason);
        }
        return result;
    }

    NormProblem problem_{};
    Halide::GeneratorInput<Buffer<>> *x_ = nullptr;
    Halide::GeneratorInput<Buffer<>> *weight_ = nullptr;
    Halide::GeneratorInput<Buffer<>> *bias_ = nullptr;
    Halide::GeneratorInput<float> *epsilon_ = nullptr;
    Halide::GeneratorOutput<Buffer<>> *y_ = nullptr;
};

}  // namespace

}  // namespace normforge

HALIDE_REGISTER_GENERATOR(normforge::NormGenerator<NF_LAYER_NORM>, layer_norm)
HALIDE_REGISTER_GENERATOR(normforge::NormGenerator<NF_RMS_NORM>, rms_norm)
