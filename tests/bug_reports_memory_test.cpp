// Reports of reads and writes in wrong places, against the heuristic's kernels. tests/numerics_test.cpp has f32
// rows with any tail and many rows; the accuracy gate calls every kernel in place and behind unreadable pages.

#include <gtest/gtest.h>

#include <cstddef>

#include "autotune/measure/operand_layout.h"
#include "tests/kernel_test.h"

namespace normforge {
namespace {

std::string name_of_type(const testing::TestParamInfo<std::tuple<Machine, nf_dtype>> &test) {
    return field_text(std::get<1>(test.param)) + "_" + std::get<0>(test.param).name;
}

// 1, -2, 3, -1, 2, -3 and so on in each row.
std::vector<float> signed_steps(int64_t rows, int64_t hidden) {
    std::vector<float> values;
    for (int64_t index = 0; index < rows * hidden; index++) {
        const int64_t i = index % hidden;
        values.push_back(static_cast<float>((1 + i % 3) * (i % 2 == 0 ? 1 : -1)));
    }
    return values;
}

class TypeReports : public KernelTest<nf_dtype> {
protected:
    // With all that a forward pass can read and write of one type.
    NormProblem problem_with_all(nf_op op, int64_t hidden) const {
        NormProblem problem = default_problem(op, hidden, parameter());
        problem.bias = problem.residual = problem.sum = parameter();
        problem.saved_statistics = NF_YES;
        return problem;
    }
};

// ROCm/aiter#5044, ROCm/aiter#5290, tile-ai/tilelang-ascend#890: the last vector of a row went on in the next one.
// halide/Halide#3036, #1246, #8844, #1895, #7768: vectors read past the end, or rows shorter than one did not
// work. All operands end at an unreadable page, and what lies between rows is looked at.
TEST_P(TypeReports, RowsOfAnyLengthKeepToTheirMemory) {
    for (int64_t hidden : {1, 7, 17, 31, 33, 769}) {
        SCOPED_TRACE(hidden);
        const NormProblem problem = problem_with_all(NF_RMS_NORM, hidden);
        OperandValues values;
        of(values, OperandId::x) = signed_steps(7, hidden);
        of(values, OperandId::residual).assign(static_cast<size_t>(7 * hidden), 0);
        of(values, OperandId::weight).assign(static_cast<size_t>(hidden), 1);
        of(values, OperandId::bias).assign(static_cast<size_t>(hidden), 0);
        of(values, OperandId::epsilon) = {1e-6f};
        double mean_square = 0;
        for (int64_t i = 0; i < hidden; i++) {
            const double value = of(values, OperandId::x)[static_cast<size_t>(i)];
            mean_square += value * value / static_cast<double>(hidden);
        }
        const OperandValues written = run(problem, values);
        ASSERT_EQ(of(written, OperandId::sum), of(values, OperandId::x));
        for (size_t index = 0; index < of(written, OperandId::y).size(); index++) {
            const double expected = of(values, OperandId::x)[index] / std::sqrt(mean_square + 1e-6);
            const double rounding = parameter() == NF_F32 ? 0 : last_place(parameter(), expected) / 2;
            ASSERT_NEAR(of(written, OperandId::y)[index], expected, rounding + 5e-7) << "at " << index;
        }
    }
}

// NVIDIA/TransformerEngine#886, pytorch/pytorch#186235, flashinfer-ai/flashinfer#634, #636,
// vllm-project/vllm#45466: memory that is aligned to a value alone was refused, or broke vector instructions.
TEST_P(TypeReports, EachOperandMayBeAlignedToItsValuesAlone) {
    constexpr int64_t kRows = 3;
    for (int64_t hidden : {46, 3584}) {
        SCOPED_TRACE(hidden);
        const NormProblem problem = problem_with_all(NF_LAYER_NORM, hidden);
        OperandValues values;
        of(values, OperandId::epsilon) = {1e-5f};
        for (OperandId id : {OperandId::x, OperandId::residual, OperandId::weight, OperandId::bias}) {
            of(values, id) = rounded_to(
                parameter(), normal_values(static_cast<size_t>(kRows * hidden), 0, 1, static_cast<uint64_t>(id)));
        }
        // Calls with one operand a value further; none with kOperandCount.
        const auto run_shifted = [&](size_t shifted) {
            nf_arguments arguments{};
            arguments.rows = kRows;
            arguments.epsilon = 1e-5f;
            std::vector<std::vector<std::max_align_t>> memory(kOperandCount);
            for (const Operand &operand : kOperands) {
                const nf_dtype type = operand_type(problem, operand);
                const auto id = static_cast<size_t>(operand.id);
                const int64_t count = value_count(problem, operand, kRows);
                const auto bytes = static_cast<size_t>(count + 1) * element_size(type);
                if (type == NF_NONE || operand.shape == OperandShape::number) {
                    continue;
                }
                memory[id].resize(bytes / sizeof(std::max_align_t) + 1);
                char *data = reinterpret_cast<char *>(memory[id].data()) + (id == shifted) * element_size(type);
                for (int64_t i = 0; i < count && !is_written(problem, operand); i++) {
                    store_value(data, type, i, values[id].at(static_cast<size_t>(i)));
                }
                if (operand.shape == OperandShape::rows) {
                    store_field(arguments, operand, RowsField{data, hidden, 0});
                } else {
                    store_field(arguments, operand, data);
                }
            }
            EXPECT_EQ(nf_run(&kernel(problem), &arguments), NF_SUCCESS);
            return written_values(problem, arguments);
        };
        const OperandValues aligned = run_shifted(kOperandCount);
        for (const Operand &operand : kOperands) {
            ASSERT_EQ(run_shifted(static_cast<size_t>(operand.id)), aligned) << operand.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, TypeReports,
                         testing::Combine(testing::ValuesIn(kMachines), testing::Values(NF_F32, NF_F16, NF_BF16)),
                         name_of_type);

}  // namespace
}  // namespace normforge
