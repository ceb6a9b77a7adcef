// The oracle against what layers of known projects make of the same inputs.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernel_table.h"
#include "runtime/reference.h"
#include "tests/known_layers.h"

namespace normforge {
namespace {

// In units of f32's last place: what is left of 53 bits after a row's roundings, and what a kernel may be off by.
constexpr double kReferenceUnits = 0x1p-20;
constexpr double kKernelUnits = 4;

class KnownLayerReference : public testing::TestWithParam<KnownLayer> {};

INSTANTIATE_TEST_SUITE_P(All, KnownLayerReference, testing::ValuesIn(known_layers()),
                         [](const auto &test) { return test.param.name; });

// What the oracle has for an output, rounded as the output is; rows are those of the layer alone.
std::vector<double> reference_values(const KnownLayer &layer, const ReferenceNorm &norm, const Operand &output) {
    const NormProblem &problem = layer.problem;
    const auto finish = [&](std::vector<double> values) {
        const nf_dtype type = operand_type(problem, output);
        for (size_t index = 0; index < values.size(); index++) {
            double &value = values[index];
            if (output.id == OperandId::y && is_quantised(type)) {
                value = problem.unquantised == NF_NONE ? value : round_to(problem.unquantised, value);
                value /= norm.scales.at(index / problem.hidden);
            }
            value = type == NF_F32 ? value : round_to(type, value);
        }
        return values;
    };
    switch (output.id) {
    case OperandId::y:
        return finish(norm.y);
    case OperandId::sum:
        return finish(norm.h);
    case OperandId::mean:
        return norm.mean;
    case OperandId::rstd:
        return norm.rstd;
    case OperandId::scales:
        return norm.scales;
    case OperandId::dx:
    case OperandId::dresidual:
        return finish(norm.dx);
    case OperandId::dweight:
        return finish(norm.dweight);
    case OperandId::dbias:
        return finish(norm.dbias);
    default:
        throw std::logic_error(std::string(output.name) + " is no output");
    }
}

// The array of an output with the layer's own rows replaced by these.
std::vector<double> in_memory(const KnownLayer &layer, const Operand &output, const std::vector<double> &rows) {
    const NpzArray &array = layer_array(layer, output.name);
    if (array.shape.size() != 3) {
        return rows;
    }
    std::vector<double> memory = array.values;
    const int64_t group_values = layer.rows * layer.problem.hidden;
    for (int64_t group = 0; group < layer.groups; group++) {
        std::copy_n(rows.begin() + group * group_values, group_values,
                    memory.begin() + group * array.shape[1] * array.shape[2]);
    }
    return memory;
}

TEST_P(KnownLayerReference, IsTheProjectsOwnLayer) {
    const KnownLayer &layer = GetParam();
    KnownCall call(layer);
    const ReferenceNorm norm = reference_norm(layer.problem, call.arguments());
    for (const Operand &output : layer_operands(layer, true)) {
        const std::vector<double> values = in_memory(layer, output, reference_values(layer, norm, output));
        EXPECT_EQ(first_difference(layer, output, values, kReferenceUnits), "");
    }
}

// What a kernel's entry would compute, from the oracle.
const KnownLayer *running = nullptr;
void reference_entry(const nf_arguments *arguments) {
    nf_arguments one_group = *arguments;
    one_group.groups = 1;
    const ReferenceNorm norm = reference_norm(running->problem, one_group);
    for (const Operand &output : layer_operands(*running, true)) {
        const std::vector<double> values = reference_values(*running, norm, output);
        if (output.shape != OperandShape::rows) {
            std::copy(values.begin(), values.end(), load_field<float *>(*arguments, output));
            continue;
        }
        const auto rows = load_field<RowsField>(*arguments, output);
        for (size_t index = 0; index < values.size(); index++) {
            const auto row = static_cast<int64_t>(index) / running->problem.hidden;
            store_value(rows.data, operand_type(running->problem, output),
                        row * rows.row_stride + static_cast<int64_t>(index) % running->problem.hidden,
                        values[index]);
        }
    }
}

// The layer's strides, groups, shared memory and gradients are ones that nf_run serves.
TEST_P(KnownLayerReference, RunsAsAKernel) {
    running = &GetParam();
    const nf_variant variant{reference_entry, 0, "reference_entry", "", ""};
    const nf_kernel kernel{running->problem, 0, "any", 1, &variant};
    KnownCall call(*running);
    ASSERT_STREQ(nf_status_message(call.run(kernel)), nf_status_message(NF_SUCCESS));
    for (const Operand &output : layer_operands(*running, true)) {
        EXPECT_EQ(first_difference(*running, output, call.values(output), kKernelUnits), "");
    }
}

// What tells the layer from another one with the same operands.
std::string first_difference_from_layer(const KnownLayer &layer, const KnownLayer &other) {
    KnownCall call(layer);
    call.arguments().epsilon = other.epsilon;
    const ReferenceNorm norm = reference_norm(other.problem, call.arguments());
    std::string difference;
    for (const Operand &output : layer_operands(layer, true)) {
        const std::vector<double> values = in_memory(layer, output, reference_values(other, norm, output));
        difference += first_difference(layer, output, values, kKernelUnits);
    }
    return difference;
}

// Otherwise a kernel that took one option for another could pass for the layer.
TEST_P(KnownLayerReference, ShowsEachOfItsOptions) {
    struct Change {
        const char *name;
        bool (*make)(KnownLayer &);  // false where the layer does not have the option
    };
    constexpr Change kChanges[] = {
        {"op",
         [](KnownLayer &layer) {
             layer.problem.op = layer.problem.op == NF_RMS_NORM ? NF_LAYER_NORM : NF_RMS_NORM;
             return true;
         }},
        {"epsilon",
         [](KnownLayer &layer) {
             layer.epsilon = layer.epsilon == 0 ? 1 : 2 * layer.epsilon;
             return layer.problem.pass == NF_FORWARD;  // backward reads rstd
         }},
        {"epsilon_place",
         [](KnownLayer &layer) {
             nf_epsilon_place &place = layer.problem.epsilon_place;
             place = place == NF_IN_ROOT ? NF_ON_DEVIATION : NF_IN_ROOT;
             return layer.epsilon != 0;
         }},
        {"weight_offset",
         [](KnownLayer &layer) {
             nf_weight_offset &offset = layer.problem.weight_offset;
             offset = offset == NF_OFFSET_ZERO ? NF_OFFSET_ONE : NF_OFFSET_ZERO;
             return layer.problem.weight != NF_NONE;
         }},
        {"normalised",
         [](KnownLayer &layer) { return std::exchange(layer.problem.normalised, NF_NONE) != NF_NONE; }},
        {"statistics",
         [](KnownLayer &layer) { return std::exchange(layer.problem.statistics, NF_NONE) != NF_NONE; }},
        {"unquantised",
         [](KnownLayer &layer) { return std::exchange(layer.problem.unquantised, NF_NONE) != NF_NONE; }},
    };
    for (const Change &change : kChanges) {
        KnownLayer other = GetParam();
        if (change.make(other)) {
            EXPECT_NE(first_difference_from_layer(GetParam(), other), "") << change.name;
        }
    }
}

// docs/layers.md has a line for each layer, with its problem as it is tested here but for the hidden size.
TEST(KnownLayers, AreThoseOfTheirPage) {
    std::ifstream file(NORMFORGE_SOURCE "/docs/layers.md");
    std::set<std::string> described;
    std::map<std::string, std::string> lines;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("| `")) {
            const std::string name = line.substr(3, line.find('`', 3) - 3);
            described.insert(name);
            lines[name] = line;
        }
    }
    std::set<std::string> tested;
    for (const KnownLayer &layer : known_layers()) {
        tested.insert(layer.name);
        const std::string text = layer.problem_text.substr(0, layer.problem_text.find(",hidden="));
        EXPECT_NE(lines[layer.name].find("| `" + text + "` |"), std::string::npos)
            << layer.name << " lacks " << text;
    }
    EXPECT_EQ(described, tested);
}

}  // namespace
}  // namespace normforge
