#include "autotune/base/hardware.h"

#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <span>

#include "autotune/base/content_hash.h"
#include "autotune/base/usable_cpus.h"
#include "runtime/cpu_features.h"
#include "runtime/usable_cores.h"
#include "tests/database_examples.h"
#include "tests/temporary_folder.h"

namespace normforge {
namespace {

TEST(Hardware, IsReadFromTheSystemsFiles) {
    const TemporaryFolder root;
    root.write("proc/cpuinfo", "processor\t: 0\n"
                               "vendor_id\t: GenuineIntel\n"
                               "cpu family\t: 6\n"
                               "model\t\t: 143\n"
                               "model name\t: Intel(R) Xeon(R) Platinum 8480+\n"
                               "stepping\t: 8\n"
                               "flags\t\t:\n"
                               "\n"
                               "processor\t: 1\n"
                               "model\t\t: 999\n");
    const std::string caches = "sys/devices/system/cpu/cpu0/cache/";
    const auto write_cache = [&](int index, const char *level, const char *type, const char *size) {
        const std::string folder = caches + "index" + std::to_string(index);
        root.write(folder + "/level", level);
        root.write(folder + "/type", type);
        root.write(folder + "/size", size);
        root.write(folder + "/coherency_line_size", "64\n");
    };
    write_cache(0, "1\n", "Data\n", "48K\n");
    write_cache(1, "1\n", "Instruction\n", "32K\n");
    write_cache(2, "2\n", "Unified\n", "2M\n");
    write_cache(3, "3\n", "Unified\n", "107520K\n");

    const Hardware expected = {.arch = detect_hardware().arch,
                               .vendor = "intel",
                               .model_name = "Intel(R) Xeon(R) Platinum 8480+",
                               .family = 6,
                               .model = 143,
                               .stepping = 8,
                               .features = cpu_features(),
                               .l1d_bytes = 48 << 10,
                               .l2_bytes = 2 << 20,
                               .l3_bytes = 105 << 20,
                               .line_bytes = 64,
                               .usable_cores = static_cast<int64_t>(usable_cpus().size())};
    EXPECT_EQ(detect_hardware(root.path()), expected);
}

TEST(Hardware, WhatTheSystemDoesNotTellIsUnknown) {
    const Hardware hardware = detect_hardware("/nonexistent");
    EXPECT_EQ(hardware.vendor, "unknown");
    EXPECT_EQ(hardware.model_name, "unknown");
    EXPECT_EQ(hardware.family, 0);
    EXPECT_EQ(hardware.l1d_bytes, 0);
    EXPECT_GE(hardware.usable_cores, 1);
}

// A Neoverse V1 as Linux shows it: no names, numbers of Arm's.
TEST(Hardware, OfArmIsTheDesignOfTheFirstCore) {
    const TemporaryFolder root;
    root.write("proc/cpuinfo", "processor\t: 0\n"
                               "BogoMIPS\t: 2100.00\n"
                               "CPU implementer\t: 0x41\n"
                               "CPU architecture: 8\n"
                               "CPU variant\t: 0x1\n"
                               "CPU part\t: 0xd40\n"
                               "CPU revision\t: 1\n"
                               "\n"
                               "processor\t: 1\n"
                               "CPU part\t: 0xd41\n");
    const Hardware hardware = detect_hardware(root.path());
    EXPECT_EQ(hardware.vendor, "arm");
    EXPECT_EQ(hardware.family, 0xd40);
    EXPECT_EQ(hardware.model, 1);
    EXPECT_EQ(hardware.stepping, 1);
    EXPECT_EQ(hardware.model_name, "unknown");
}

TEST(Hardware, OfThisMachineIsTheSameTwice) {
    EXPECT_EQ(detect_hardware(), detect_hardware());
    EXPECT_EQ(signature(detect_hardware()), signature(detect_hardware()));
}

// It is stored, so a change of it would orphan every result there is.
TEST(Signature, NeverChanges) {
    EXPECT_EQ(signature(example_hardware()), "x86-amd-25-17-avx512_zen4-39d352d5");
}

TEST(Signature, NamesABaseWithoutFeatures) {
    Hardware hardware = example_hardware();
    hardware.features = 0;
    EXPECT_TRUE(signature(hardware).starts_with("x86-amd-25-17-base-")) << signature(hardware);
}

struct Change {
    const char *name;
    bool counts;
    void (*make)(Hardware &hardware);
};

void PrintTo(const Change &change, std::ostream *out) {
    *out << change.name;
}

class SignatureTest : public testing::TestWithParam<Change> {};

TEST_P(SignatureTest, TellsMachinesApartByWhatKernelsFeel) {
    Hardware changed = example_hardware();
    GetParam().make(changed);
    EXPECT_NE(changed, example_hardware());
    EXPECT_EQ(signature(changed) != signature(example_hardware()), GetParam().counts);
}

INSTANTIATE_TEST_SUITE_P(
    All, SignatureTest,
    testing::Values(Change{"arch", true, [](Hardware &hardware) { hardware.arch = "arm"; }},
                    Change{"vendor", true, [](Hardware &hardware) { hardware.vendor = "intel"; }},
                    Change{"family", true, [](Hardware &hardware) { ++hardware.family; }},
                    Change{"model", true, [](Hardware &hardware) { ++hardware.model; }},
                    Change{"lowest_feature", true, [](Hardware &hardware) { hardware.features -= 1; }},
                    Change{"l1d", true, [](Hardware &hardware) { hardware.l1d_bytes *= 2; }},
                    Change{"l2", true, [](Hardware &hardware) { hardware.l2_bytes *= 2; }},
                    Change{"l3", true, [](Hardware &hardware) { hardware.l3_bytes *= 2; }},
                    Change{"line", true, [](Hardware &hardware) { hardware.line_bytes *= 2; }},
                    Change{"model_name", false, [](Hardware &hardware) { hardware.model_name = "other"; }},
                    Change{"stepping", false, [](Hardware &hardware) { ++hardware.stepping; }},
                    Change{"usable_cores", false, [](Hardware &hardware) { ++hardware.usable_cores; }}),
    [](const auto &change) { return std::string(change.param.name); });

struct Quota {
    const char *name;
    std::vector<std::array<std::string, 2>> files;
    bool limits;  // to one core
};

void PrintTo(const Quota &quota, std::ostream *out) {
    *out << quota.name;
}

class QuotaTest : public testing::TestWithParam<Quota> {};

TEST_P(QuotaTest, LimitsTheUsableCores) {
    const TemporaryFolder root;
    for (const auto &[name, bytes] : GetParam().files) {
        root.write(name, bytes);
    }
    EXPECT_EQ(usable_cores(root.path().c_str()),
              GetParam().limits ? 1 : static_cast<int64_t>(usable_cpus().size()));
}

INSTANTIATE_TEST_SUITE_P(
    All, QuotaTest,
    testing::Values(Quota{"none", {}, false},
                    Quota{"version_2",
                          {{"proc/self/cgroup", "0::/job\n"}, {"sys/fs/cgroup/job/cpu.max", "150000 100000\n"}},
                          true},
                    Quota{"version_2_less_than_one",
                          {{"proc/self/cgroup", "0::/job\n"}, {"sys/fs/cgroup/job/cpu.max", "50000 100000\n"}},
                          true},
                    Quota{"version_2_unlimited",
                          {{"proc/self/cgroup", "0::/job\n"}, {"sys/fs/cgroup/job/cpu.max", "max 100000\n"}},
                          false},
                    Quota{"version_2_around",
                          {{"proc/self/cgroup", "0::/user/job\n"},
                           {"sys/fs/cgroup/user/job/cpu.max", "max 100000\n"},
                           {"sys/fs/cgroup/user/cpu.max", "100000 100000\n"}},
                          true},
                    Quota{"version_1",
                          {{"proc/self/cgroup", "4:memory:/job\n3:cpu,cpuacct:/job\n"},
                           {"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "100000\n"},
                           {"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n"}},
                          true},
                    Quota{"version_1_unlimited",
                          {{"proc/self/cgroup", "3:cpu:/\n"},
                           {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
                           {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
                          false},
                    Quota{"of_others",
                          {{"proc/self/cgroup", "0::/job\n"}, {"sys/fs/cgroup/other/cpu.max", "100000 100000\n"}},
                          false}),
    [](const auto &quota) { return std::string(quota.param.name); });

// As xxhsum -H2 prints them.
TEST(ContentHash, IsXxh3Of128Bits) {
    EXPECT_EQ(content_hash({}), "99aa06d3014798d86001c324468d497f");
    EXPECT_EQ(content_hash(std::as_bytes(std::span("normforge", 9))), "58de3655fec0bdca4f694c9d73d16649");
    std::array<uint8_t, 1000> bytes;
    for (size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<uint8_t>(i % 251);
    }
    EXPECT_EQ(content_hash(std::as_bytes(std::span(bytes))), "18bf41bc8229e27733ef703fb2b20ed1");
}

}  // namespace
}  // namespace normforge
