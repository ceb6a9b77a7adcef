#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <list>
#include <string>
#include <vector>

#include "runtime/float_types.h"
#include "runtime/operands.h"
#include "runtime/reference.h"

namespace normforge {

// How rows lie in memory. What is between them is no number.
struct RowLayout {
    int64_t gap = 0;             // values behind each row
    bool groups_inside = false;  // row r of all groups, then row r + 1; otherwise group after group
};

// What the oracle is asked, in numbers. Rows are those of all groups, group after group; what the problem does not
// read may be empty.
struct ReferenceCall {
    std::string problem = {};  // as parse_problem takes it
    int64_t rows = 1;
    int64_t groups = 1;
    float epsilon = 0;
    float scale = 0;
    std::vector<double> x = {};
    std::vector<double> residual = {};
    std::vector<double> weight = {};
    std::vector<double> bias = {};
    std::vector<double> sum = {};
    std::vector<double> rstd = {};
    std::vector<double> dy = {};
    std::vector<double> dsum = {};
    RowLayout layout = {};
};

// The arguments of such a call, each operand stored in its problem's type.
class StoredCall {
public:
    explicit StoredCall(const ReferenceCall &call) : call_(call), problem_(parse_problem(call.problem)) {
        arguments_.rows = call.rows;
        arguments_.groups = call.groups;
        arguments_.epsilon = call.epsilon;
        arguments_.scale = call.scale;
        store(OperandId::x, call.x);
        store(OperandId::residual, call.residual);
        store(OperandId::weight, call.weight);
        store(OperandId::bias, call.bias);
        store(OperandId::dy, call.dy);
        store(OperandId::dsum, call.dsum);
        if (problem_.pass == NF_BACKWARD) {
            store(OperandId::sum, call.sum);
            store(OperandId::rstd, call.rstd);
        }
    }

    ReferenceNorm evaluate() const { return reference_norm(problem_, arguments_); }

private:
    void store(OperandId id, const std::vector<double> &values) {
        const nf_dtype type = operand_type(problem_, operand(id));
        if (type == NF_NONE) {
            return;
        }
        if (operand(id).shape != OperandShape::rows) {
            const auto count = static_cast<int64_t>(values.size());
            set_argument(id, store_values(type, values, count, [](int64_t index) { return index; }));
            return;
        }
        // Each operand with a gap of its own, so that none can be read with another's strides.
        const auto &[gap, groups_inside] = call_.layout;
        const int64_t hidden = problem_.hidden;
        const int64_t groups = std::max<int64_t>(1, call_.groups);
        const int64_t width = hidden + (gap ? gap + static_cast<int64_t>(id) : 0);
        const int64_t row_stride = groups_inside ? width * groups : width;
        const int64_t group_stride = groups_inside ? width : width * call_.rows;
        const auto place = [&](int64_t index) {
            const int64_t row = index / hidden;
            return row / call_.rows * group_stride + row % call_.rows * row_stride + index % hidden;
        };
        void *data = store_values(type, values, width * call_.rows * groups, place);
        set_argument(id, nf_output{data, row_stride, group_stride});
    }

    template <typename Place>
    void *store_values(nf_dtype type, const std::vector<double> &values, int64_t size, Place &&place) {
        std::vector<std::byte> &bytes = bytes_.emplace_back(size * element_size(type), std::byte{0xff});
        for (int64_t index = 0; index < static_cast<int64_t>(values.size()); index++) {
            store_value(bytes.data(), type, place(index), values[index]);
        }
        return bytes.data();
    }

    template <typename Argument>
    void set_argument(OperandId id, const Argument &argument) {
        std::memcpy(reinterpret_cast<std::byte *>(&arguments_) + operand(id).offset, &argument, sizeof(argument));
    }

    const ReferenceCall &call_;
    const NormProblem problem_;
    nf_arguments arguments_{};
    std::list<std::vector<std::byte>> bytes_;
};

inline ReferenceNorm evaluate(const ReferenceCall &call) {
    return StoredCall(call).evaluate();
}

}  // namespace normforge
