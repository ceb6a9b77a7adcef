// Reports of rows whose place leaves 32 bits, against the heuristic's kernels: pytorch/pytorch#181555,
// vllm-project/vllm#42862, PaddlePaddle/Paddle#79528, flashinfer-ai/flashinfer#3007, halide/Halide#4460, #5791.

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <list>
#include <new>

#include "autotune/measure/operand_layout.h"
#include "tests/kernel_test.h"

namespace normforge {
namespace {

// Zeros, of which only the touched pages are there.
class SparseMemory {
public:
    explicit SparseMemory(int64_t bytes)
        : bytes_(static_cast<size_t>(bytes)), data_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
        if (data_ == MAP_FAILED) {
            throw std::bad_alloc();
        }
    }
    ~SparseMemory() { munmap(data_, bytes_); }
    SparseMemory(const SparseMemory &) = delete;
    SparseMemory &operator=(const SparseMemory &) = delete;

    char *data() const { return static_cast<char *>(data_); }

private:
    size_t bytes_;
    void *data_;
};

struct Spacing {
    int64_t rows;
    int64_t row_stride;
};

// A call of one group, whose operands' rows all lie that far apart.
class DistantCall {
public:
    DistantCall(const nf_kernel &kernel, const Spacing &spacing, const OperandValues &values)
        : spacing_(spacing), values_(values) {
        arguments_.rows = spacing.rows;
        for (const Operand &operand : kOperands) {
            const nf_dtype type = operand_type(kernel.problem, operand);
            if (type != NF_NONE && operand.shape == OperandShape::number) {
                store_field(arguments_, operand, of(values, operand.id).at(0));
            } else if (type != NF_NONE) {
                add(kernel.problem, operand, type);
            }
        }
        arguments_.workspace = memory_.emplace_back(nf_workspace_bytes(&kernel, spacing.rows, 1) + 1).data();
    }

    nf_arguments &arguments() { return arguments_; }

private:
    void add(const NormProblem &problem, const Operand &operand, nf_dtype type) {
        const int64_t count = value_count(problem, operand, spacing_.rows);
        const bool rows = operand.shape == OperandShape::rows;
        const int64_t reach = rows ? (spacing_.rows - 1) * spacing_.row_stride + problem.hidden : count;
        char *data = memory_.emplace_back(reach * static_cast<int64_t>(element_size(type))).data();
        const RowsField field{data, spacing_.row_stride, 0};
        if (rows) {
            store_field(arguments_, operand, field);
        } else {
            store_field(arguments_, operand, data);
        }
        for (int64_t index = 0; index < count && !is_written(problem, operand); index++) {
            const int64_t place =
                rows ? index / problem.hidden * spacing_.row_stride + index % problem.hidden : index;
            store_value(data, type, place, of(values_, operand.id).at(static_cast<size_t>(index)));
        }
    }

    const Spacing spacing_;
    const OperandValues &values_;
    nf_arguments arguments_{};
    std::list<SparseMemory> memory_;
};

// Small whole numbers and a weight of ones; saved statistics that keep all sums whole.
OperandValues whole_values(const NormProblem &problem, int64_t rows) {
    OperandValues values = ordinary_values(problem, rows);
    for (size_t index = 0; index < of(values, OperandId::x).size(); index++) {
        of(values, OperandId::x)[index] = static_cast<float>(index * index * 5 % 17) - 8;
    }
    for (size_t index = 0; index < of(values, OperandId::dy).size(); index++) {
        of(values, OperandId::dy)[index] = static_cast<float>(index * index * 3 % 13) - 6;
    }
    for (OperandId id : {OperandId::weight, OperandId::rstd}) {
        std::ranges::fill(of(values, id), 1.0f);
    }
    std::ranges::fill(of(values, OperandId::mean), 0.0f);
    return values;
}

class DistantRows : public KernelTest<Spacing> {
public:
    static std::string name_of(const testing::TestParamInfo<ParamType> &test) {
        const auto &[machine, spacing] = test.param;
        return std::to_string(spacing.rows) + "_rows_by_" + std::to_string(spacing.row_stride) + "_" +
               machine.name;
    }
};

// As near ones. With large strides sums over rows may be of another order, but these are exact in any.
TEST_P(DistantRows, AreFound) {
    for (const char *fields : {"op=layer_norm,dtype=f32", "op=rms_norm,dtype=f16",
                               "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes"}) {
        SCOPED_TRACE(fields);
        const NormProblem problem = parse_problem(std::string(fields) + ",hidden=4");
        const OperandValues values = whole_values(problem, parameter().rows);
        DistantCall call(kernel(problem), parameter(), values);
        ASSERT_EQ(nf_run(&kernel(problem), &call.arguments()), NF_SUCCESS);
        EXPECT_EQ(written_values(problem, call.arguments()), run(problem, values));
    }
}

TEST_P(DistantRows, AreWrittenFromOneThatIsReadAgainAndAgain) {
    const NormProblem problem = parse_problem("op=layer_norm,dtype=f32,hidden=4");
    OperandValues values = whole_values(problem, parameter().rows);
    DistantCall call(kernel(problem), parameter(), values);
    call.arguments().x.row_stride = 0;
    ASSERT_EQ(nf_run(&kernel(problem), &call.arguments()), NF_SUCCESS);
    std::vector<float> &x = of(values, OperandId::x);
    for (size_t index = 4; index < x.size(); index++) {
        x[index] = x[index - 4];
    }
    EXPECT_EQ(written_values(problem, call.arguments()), run(problem, values));
}

// A stride that leaves 31 bits; strides within them and places beyond; many rows.
INSTANTIATE_TEST_SUITE_P(All, DistantRows,
                         testing::Combine(testing::ValuesIn(kMachines),
                                          testing::Values(Spacing{3, (int64_t{1} << 31) + 16},
                                                          Spacing{5, (int64_t{1} << 30) + 16},
                                                          Spacing{300, (int64_t{1} << 24) + 16})),
                         DistantRows::name_of);

}  // namespace
}  // namespace normforge
