// The schedules that the tuner may try compute the right values. It takes a few minutes on two cores.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "autotune/measure/accuracy_gate.h"
#include "autotune/measure/child_process.h"
#include "autotune/measure/loaded_kernel.h"
#include "autotune/search/compile_pool.h"
#include "runtime/cpu_features.h"
#include "schedules/space.h"
#include "schedules/target.h"
#include "tests/f32_calls.h"

namespace normforge {
namespace {

constexpr std::chrono::seconds kGateLimit{30};

// What the accuracy gate says of a kernel, and why it says nothing where the kernel crashes or hangs.
AccuracyGate::Result check_in_child(const AccuracyGate &gate, const KernelSpec &spec, const std::string &object) {
    ChildProcess child([&](const ChildProcess::Send &send) {
        const LoadedKernel kernel(spec.problem, object, kernel_symbol(spec));
        const AccuracyGate::Result result = gate.check(kernel.kernel());
        send(result.failure);
        send(result.output_digest);
    });
    const auto failure = child.read(kGateLimit);
    const auto digest = child.read(kGateLimit);
    return {0, digest.value_or(""), digest ? *failure : child.reason()};
}

// Each kernel must pass the gate, and those of equal arithmetic must give equal bits.
void expect_right(const NormProblem &problem, const Halide::Target &target, const std::vector<Knobs> &schedules) {
    std::vector<KernelSpec> specs;
    for (const Knobs &knobs : schedules) {
        specs.push_back({problem, knobs, target});
    }
    const AccuracyGate gate(problem);
    std::map<std::string, std::pair<std::string, Knobs>> digests;
    size_t passed = 0;
    compile_all(specs, [&](size_t index, const CompiledKernel &compiled) {
        const Knobs &knobs = specs[index].knobs;
        ASSERT_EQ(compiled.status, TrialStatus::ok) << to_text(knobs) << ": " << compiled.message;
        const AccuracyGate::Result result = check_in_child(gate, specs[index], compiled.object);
        ASSERT_EQ(result.failure, "") << to_text(knobs);
        const auto first = digests.try_emplace(arithmetic_text(knobs), result.output_digest, knobs).first;
        EXPECT_EQ(result.output_digest, first->second.first)
            << to_text(knobs) << " gives other bits than " << to_text(first->second.second);
        passed++;
    });
    EXPECT_EQ(passed, specs.size());
}

// Schedules among which each value of a knob meets each value of every other one that it may meet: all of them
// would take an hour.
std::vector<Knobs> pairwise(const std::vector<Knobs> &all) {
    using Setting = std::pair<const Knob *, int>;
    const auto new_pairs = [](const Knobs &knobs, std::set<std::pair<Setting, Setting>> &seen) {
        size_t count = 0;
        for (const Knob &a : knob_table()) {
            for (const Knob &b : knob_table()) {
                count += &a < &b && seen.insert({{&a, knobs.*a.member}, {&b, knobs.*b.member}}).second ? 1 : 0;
            }
        }
        return count;
    };
    std::set<std::pair<Setting, Setting>> seen;
    std::vector<Knobs> chosen;
    // Those that bring many new pairs first.
    for (size_t wanted = kKnobCount * (kKnobCount - 1) / 2; wanted > 0; wanted = wanted * 2 / 3) {
        for (const Knobs &knobs : all) {
            auto tried = seen;
            if (new_pairs(knobs, tried) >= wanted) {
                seen = std::move(tried);
                chosen.push_back(knobs);
            }
        }
    }
    for (const Knobs &knobs : all) {
        EXPECT_EQ(new_pairs(knobs, seen), 0u) << to_text(knobs);
    }
    return chosen;
}

struct Case {
    const char *machine;
    const char *target;
    int64_t hidden;
};

// One value; fewer than a vector; tails of every kind; many steps with a tail; and 16511, where sums over every
// number of lanes are cut into chunks, the last run is longer than the others, and all loops have tails. Only rows
// of whole vectors are streamed.
constexpr Case kCases[] = {
    {"host", "host", 1},
    {"host", "host", 7},
    {"host", "host", 33},
    {"host", "host", 95},
    {"host", "host", 96},
    {"host", "host", 4095},
    {"host", "host", 16511},
    {"sse2", "x86-64-linux", 33},
    {"sse2", "x86-64-linux", 64},
    {"sse41", "x86-64-linux-sse41", 95},
    {"sse41", "x86-64-linux-sse41", 16511},
    {"avx2", "x86-64-linux-avx2-fma-f16c-avx-sse41", 95},
    {"avx2", "x86-64-linux-avx2-fma-f16c-avx-sse41", 4096},
    {"avx2", "x86-64-linux-avx2-fma-f16c-avx-sse41", 16511},
};

class EverySchedule : public testing::TestWithParam<std::tuple<Case, nf_op>> {};

INSTANTIATE_TEST_SUITE_P(All, EverySchedule,
                         testing::Combine(testing::ValuesIn(kCases), testing::Values(NF_LAYER_NORM, NF_RMS_NORM)),
                         [](const auto &test) {
                             const Case &one = std::get<Case>(test.param);
                             return std::string(one.machine) + "_" + field_text(std::get<nf_op>(test.param)) +
                                    "_" + field_text(one.hidden);
                         });

TEST_P(EverySchedule, GivesTheRightValues) {
    const Case &one = std::get<Case>(GetParam());
    const NormProblem problem = default_problem(std::get<nf_op>(GetParam()), one.hidden);
    const Halide::Target target = kernel_target(one.target);
    if (needed_cpu_features(target) & ~cpu_features()) {
        GTEST_SKIP() << "this CPU cannot run " << one.target;
    }
    const std::vector<Knobs> all = enumerate(problem, target);
    expect_right(problem, target, pairwise(all));
}

// Of other problems' schedules every few: types, residual, quantised and saved outputs, gradients.
class SomeSchedules : public testing::TestWithParam<const char *> {};

INSTANTIATE_TEST_SUITE_P(
    All, SomeSchedules,
    testing::Values("op=layer_norm,dtype=bf16,hidden=95", "op=layer_norm,dtype=bf16,hidden=96",
                    "op=rms_norm,dtype=bf16,residual=bf16,sum=bf16,hidden=5120",
                    "op=rms_norm,dtype=bf16,residual=f32,sum=bf16,hidden=96",
                    "op=layer_norm,dtype=f32,output=i8,scale=static,hidden=1024",
                    "op=layer_norm,pass=backward,dtype=bf16,saved_statistics=yes,hidden=96",
                    "op=rms_norm,dtype=f16,hidden=777",
                    "op=rms_norm,dtype=bf16,residual=bf16,sum=bf16,normalised=bf16,hidden=95",
                    "op=layer_norm,dtype=f32,residual=f16,sum=f32,hidden=777",
                    "op=layer_norm,dtype=f32,saved_statistics=yes,hidden=95",
                    "op=rms_norm,dtype=bf16,output=f8e4m3,scale=per_row,hidden=95",
                    "op=layer_norm,dtype=f16,output=i8,scale=static,unquantised=f16,hidden=95",
                    "op=layer_norm,pass=backward,dtype=f32,saved_statistics=yes,hidden=95",
                    "op=rms_norm,pass=backward,dtype=bf16,saved_statistics=yes,epsilon_place=on_deviation,"
                    "residual=bf16,sum=bf16,hidden=777"),
    [](const auto &test) { return symbol_name(parse_problem(test.param)); });

TEST_P(SomeSchedules, GiveTheRightValues) {
    constexpr size_t kSome = 24;
    const NormProblem problem = parse_problem(GetParam());
    const Halide::Target host = kernel_target("host");
    const std::vector<Knobs> all = enumerate(problem, host);
    ASSERT_GE(all.size(), kSome);
    std::vector<Knobs> some;
    for (size_t index = 0; index < kSome; index++) {
        some.push_back(all[(index * all.size() + all.size() / 2) / kSome]);
    }
    expect_right(problem, host, some);
}

// Weight and bias present or absent, for either operation.
TEST(Operands, MayBeAbsent) {
    const Halide::Target host = kernel_target("host");
    for (nf_op op : {NF_LAYER_NORM, NF_RMS_NORM}) {
        for (nf_dtype weight : {NF_NONE, NF_F32}) {
            for (nf_dtype bias : {NF_NONE, NF_F32}) {
                const NormProblem problem = f32_problem(op, weight, bias, 95);
                SCOPED_TRACE(to_text(problem));
                expect_right(problem, host, {heuristic(problem, host)});
            }
        }
    }
}

}  // namespace
}  // namespace normforge
