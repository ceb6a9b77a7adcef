#include "autotune/base/code_hash.h"

#include <gtest/gtest.h>

#include "generators/emit.h"
#include "schedules/space.h"
#include "schedules/target.h"

namespace normforge {
namespace {

class CodeHash : public testing::Test {
protected:
    std::string emitted(const Knobs &knobs) const { return emit({problem_, knobs, target_}, EmitForm::object); }

    const NormProblem problem_ = default_problem(NF_LAYER_NORM, 64);
    const Halide::Target target_ = kernel_target("host");
    const Knobs knobs_ = heuristic(problem_, target_);
    const std::string object_ = emitted(knobs_);
};

TEST_F(CodeHash, DependsOnTheCode) {
    Knobs other = knobs_;
    other.unroll = knobs_.unroll == 1 ? 2 : 1;
    EXPECT_NE(code_hash(emitted(other)), code_hash(object_));
    EXPECT_EQ(code_hash(object_).size(), 32u);
}

// The symbol stands for another problem or other knobs of the same code.
TEST_F(CodeHash, DoesNotDependOnTheSymbol) {
    std::string renamed = object_;
    const std::string symbol = kernel_symbol({problem_, knobs_, target_});
    for (size_t at = 0; (at = renamed.find(symbol, at)) != std::string::npos; at += symbol.size()) {
        renamed[at + symbol.size() - 1] ^= 1;
    }
    ASSERT_NE(renamed, object_);
    EXPECT_EQ(code_hash(renamed), code_hash(object_));
}

// One bit of any byte of the code, of a constant or of a place where one's address is to be put.
TEST_F(CodeHash, SeesEveryByteOfCodeAndConstants) {
    const std::string assembly = emit({problem_, knobs_, target_}, EmitForm::assembly);
    ASSERT_NE(assembly.find(".LCPI"), std::string::npos) << "choose a kernel with constants";
    constexpr size_t kHeader = 64;  // of an ELF file: sections follow, of which .text is the first
    std::string changed = object_;
    changed[kHeader] ^= 1;
    EXPECT_NE(code_hash(changed), code_hash(object_));
}

}  // namespace
}  // namespace normforge
