#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "examples/npz.h"
#include "runtime/float_types.h"
#include "runtime/operand_fields.h"
#include "runtime/operands.h"

namespace normforge {

// A layer of tests/data/known_layers.txt, which scripts/known_layers.py writes. Its arrays are LAYER/OPERAND of
// known_layers.npz, those of rows with the axes group, row and value. An array may have more rows in a group than
// the layer: these lie between the groups and are not its business.
struct KnownLayer {
    std::string name;
    std::string problem_text;
    NormProblem problem;
    int64_t rows;
    int64_t groups;
    float epsilon;
    float scale;
    std::string in_place;  // "y=x,sum=residual": outputs and the inputs whose memory they share
};

inline std::vector<KnownLayer> known_layers() {
    std::ifstream file(NORMFORGE_TEST_DATA "/known_layers.txt");
    std::vector<KnownLayer> layers;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) {
            continue;
        }
        std::istringstream fields(line);
        KnownLayer layer{};
        fields >> layer.name >> layer.problem_text >> layer.rows >> layer.groups >> layer.epsilon >> layer.scale >>
            layer.in_place;
        if (!fields) {
            throw std::runtime_error("known_layers.txt: malformed line: " + line);
        }
        layer.problem = parse_problem(layer.problem_text);
        layers.push_back(layer);
    }
    if (layers.empty()) {
        throw std::runtime_error("known_layers.txt: no layers");
    }
    return layers;
}

inline const NpzArray &layer_array(const KnownLayer &layer, std::string_view operand_name) {
    static const Npz archive(NORMFORGE_TEST_DATA "/known_layers.npz");
    return archive.at(layer.name + "/" + std::string(operand_name));
}

// The operands that the layer's problem reads, or writes.
inline std::vector<Operand> layer_operands(const KnownLayer &layer, bool written) {
    std::vector<Operand> operands;
    for (const Operand &operand : kOperands) {
        if (operand.shape != OperandShape::number && operand_type(layer.problem, operand) != NF_NONE &&
            is_written(layer.problem, operand) == written) {
            operands.push_back(operand);
        }
    }
    return operands;
}

// A layer's inputs in memory, in the problem's types, and room for its outputs.
class KnownCall {
public:
    explicit KnownCall(const KnownLayer &layer) : layer_(layer) {
        arguments_.rows = layer.rows;
        arguments_.groups = layer.groups;
        arguments_.epsilon = layer.epsilon;
        arguments_.scale = layer.scale;
        for (const Operand &input : layer_operands(layer, false)) {
            const NpzArray &array = layer_array(layer, input.name);
            std::vector<std::byte> &bytes = make_memory(input, array);
            for (size_t index = 0; index < array.values.size(); index++) {
                store_value(bytes.data(), type_of(input), static_cast<int64_t>(index), array.values[index]);
            }
        }
        for (const Operand &output : layer_operands(layer, true)) {
            make_memory(output, layer_array(layer, output.name));
        }
    }
    KnownCall(const KnownCall &) = delete;
    KnownCall &operator=(const KnownCall &) = delete;

    nf_arguments &arguments() { return arguments_; }

    // With all the workspace that the kernel asks for.
    nf_status run(const nf_kernel &kernel) {
        const int64_t bytes = nf_workspace_bytes(&kernel, layer_.rows, layer_.groups);
        std::vector<float> workspace(static_cast<size_t>(bytes) / sizeof(float));
        arguments_.workspace = workspace.data();
        return nf_run(&kernel, &arguments_);
    }

    // All of an operand's memory, as its array has it.
    std::vector<double> values(const Operand &operand) const {
        const std::vector<std::byte> &bytes = memory_.at(memory_name(operand));
        std::vector<double> values(bytes.size() / element_size(type_of(operand)));
        for (size_t index = 0; index < values.size(); index++) {
            values[index] = load_value(bytes.data(), type_of(operand), static_cast<int64_t>(index));
        }
        return values;
    }

private:
    nf_dtype type_of(const Operand &operand) const { return operand_type(layer_.problem, operand); }

    // Whose memory an operand uses: its own, or that of an input.
    std::string memory_name(const Operand &operand) const {
        const std::string begin = std::string(operand.name) + "=";
        std::istringstream pairs(layer_.in_place);
        for (std::string pair; std::getline(pairs, pair, ',');) {
            if (pair.starts_with(begin)) {
                return pair.substr(begin.size());
            }
        }
        return operand.name;
    }

    // Bytes that are no number yet in memory of its own.
    std::vector<std::byte> &make_memory(const Operand &operand, const NpzArray &array) {
        const size_t size = array.values.size() * element_size(type_of(operand));
        std::vector<std::byte> &bytes =
            memory_.try_emplace(memory_name(operand), size, std::byte{0xff}).first->second;
        if (operand.shape == OperandShape::rows) {
            const int64_t row_stride = array.shape.at(2);
            store_field(arguments_, operand, nf_output{bytes.data(), row_stride, row_stride * array.shape.at(1)});
        } else {
            store_field(arguments_, operand, static_cast<void *>(bytes.data()));
        }
        return bytes;
    }

    const KnownLayer &layer_;
    nf_arguments arguments_{};
    std::map<std::string, std::vector<std::byte>> memory_;
};

// The first of the values that is further from the layer's own than `units` units in the last place of f32, of the
// largest value of its row; outputs of narrower types must be equal, since known_layers.py has left out rows that
// a right kernel could round in two ways. Empty if there is none.
inline std::string first_difference(const KnownLayer &layer, const Operand &operand,
                                    const std::vector<double> &values, double units) {
    const NpzArray &expected = layer_array(layer, operand.name);
    if (values.size() != expected.values.size()) {
        return std::string(operand.name) + " has another size";
    }
    const bool one_row = operand.shape != OperandShape::row_values;
    const size_t row_size = one_row ? expected.shape.back() : 1;
    for (size_t index = 0; index < values.size(); index++) {
        const size_t row = index / row_size;
        double largest = 0;
        for (size_t in_row = row * row_size; in_row < (row + 1) * row_size; in_row++) {
            largest = std::max(largest, std::fabs(expected.values[in_row]));
        }
        if (std::string_view(operand.name) == "mean") {
            largest += 1 / layer_array(layer, "rstd").values[index];
        }
        const double allowed = operand_type(layer.problem, operand) == NF_F32 ? units * 0x1p-23 * largest : 0;
        if (!(std::fabs(values[index] - expected.values[index]) <= allowed)) {
            std::ostringstream text;
            text.precision(17);
            text << operand.name << "[" << index << "] is " << values[index] << ", the layer's is "
                 << expected.values[index] << ", allowed difference " << allowed;
            return text.str();
        }
    }
    return {};
}

}  // namespace normforge
