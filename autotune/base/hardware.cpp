#include "autotune/base/hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <span>

#include "autotune/base/content_hash.h"
#include "autotune/base/text_file.h"
#include "runtime/cpu_features.h"
#include "runtime/usable_cores.h"

namespace normforge {

namespace {

#if defined(__x86_64__)
constexpr const char *kArch = "x86";
#elif defined(__aarch64__)
constexpr const char *kArch = "arm";
#else
#error "normforge tunes on x86-64 and AArch64"
#endif

std::string_view trimmed(std::string_view text) {
    constexpr const char *kBlank = " \t\n";
    const size_t begin = std::min(text.find_first_not_of(kBlank), text.size());
    return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

// Decimal, or hexadecimal after 0x; 0 where the text does not start with a number.
int64_t leading_number(std::string_view text) {
    int64_t number = 0;
    const bool is_hexadecimal = text.starts_with("0x");
    text.remove_prefix(is_hexadecimal ? 2 : 0);
    std::from_chars(text.data(), text.data() + text.size(), number, is_hexadecimal ? 16 : 10);
    return number;
}

// The fields of /proc/cpuinfo for the first CPU: "name : value" up to an empty line.
std::map<std::string, std::string> first_cpu(const std::filesystem::path &cpuinfo) {
    std::map<std::string, std::string> fields;
    std::ifstream file(cpuinfo);
    for (std::string line; std::getline(file, line) && !line.empty();) {
        const size_t colon = std::min(line.find(':'), line.size() - 1);
        const std::string_view text = line;
        fields[std::string(trimmed(text.substr(0, colon)))] = trimmed(text.substr(colon + 1));
    }
    return fields;
}

std::string vendor_name(const std::string &vendor_id) {
    if (vendor_id == "AuthenticAMD") {
        return "amd";
    }
    if (vendor_id == "GenuineIntel") {
        return "intel";
    }
    return vendor_id.empty() ? "unknown" : vendor_id;
}

// Who designed an ARM core, by Arm's numbers of them.
std::string designer_name(int64_t implementer) {
    switch (implementer) {
    case 0x41:
        return "arm";
    case 0x46:
        return "fujitsu";
    case 0x48:
        return "hisilicon";
    case 0x4e:
        return "nvidia";
    case 0x51:
        return "qualcomm";
    case 0x61:
        return "apple";
    case 0xc0:
        return "ampere";
    default:
        return fmt::format("{:#x}", implementer);
    }
}

void read_cpu(std::map<std::string, std::string> cpu, Hardware &hardware) {
    const auto number = [&](const char *field) { return leading_number(cpu[field]); };
    if (cpu.contains("CPU implementer")) {
        hardware.vendor = designer_name(number("CPU implementer"));
        hardware.family = number("CPU part");
        hardware.model = number("CPU variant");
        hardware.stepping = number("CPU revision");
    } else {
        hardware.vendor = vendor_name(cpu["vendor_id"]);
        hardware.family = number("cpu family");
        hardware.model = number("model");
        hardware.stepping = number("stepping");
    }
    hardware.model_name = cpu["model name"].empty() ? "unknown" : cpu["model name"];
}

// "32K" as the kernel writes cache sizes.
int64_t size_in_bytes(std::string_view text) {
    const int64_t unit = text.ends_with('M') ? 1 << 20 : text.ends_with('K') ? 1 << 10 : 1;
    return leading_number(text) * unit;
}

void read_caches(const std::filesystem::path &folder, Hardware &hardware) {
    for (int index = 0;; ++index) {
        const std::filesystem::path cache = folder / fmt::format("index{}", index);
        const std::string level = first_line(cache / "level");
        if (level.empty()) {
            return;
        }
        if (first_line(cache / "type") == "Instruction") {
            continue;
        }
        const int64_t bytes = size_in_bytes(first_line(cache / "size"));
        if (level == "1") {
            hardware.l1d_bytes = bytes;
            hardware.line_bytes = leading_number(first_line(cache / "coherency_line_size"));
        } else if (level == "2") {
            hardware.l2_bytes = bytes;
        } else if (level == "3") {
            hardware.l3_bytes = bytes;
        }
    }
}

}  // namespace

Hardware detect_hardware(const std::filesystem::path &root) {
    Hardware hardware{};
    hardware.arch = kArch;
    read_cpu(first_cpu(root / "proc/cpuinfo"), hardware);
    hardware.features = cpu_features();
    read_caches(root / "sys/devices/system/cpu/cpu0/cache", hardware);
    hardware.usable_cores = usable_cores(root.c_str());
    return hardware;
}

std::string feature_names(uint64_t features) {
    std::string names;
    visit_cpu_features([&](const CpuFeature &feature) {
        if (features & feature.bit) {
            names += names.empty() ? "" : ",";
            names += feature.name;
        }
    });
    return names;
}

uint64_t known_features(const std::string &names) {
    uint64_t features = 0;
    visit_cpu_features([&](const CpuFeature &feature) {
        if (("," + names + ",").find(fmt::format(",{},", feature.name)) != std::string::npos) {
            features |= feature.bit;
        }
    });
    return features;
}

std::string signature(const Hardware &hardware) {
    const std::string features = feature_names(hardware.features);
    std::string identity =
        fmt::format("arch={},vendor={},family={},model={},features=[{}],l1d={},l2={},l3={},line={}", hardware.arch,
                    hardware.vendor, hardware.family, hardware.model, features, hardware.l1d_bytes,
                    hardware.l2_bytes, hardware.l3_bytes, hardware.line_bytes);
    if (hardware.arch == kGpuArch) {
        identity += fmt::format(",name={},processors={}", hardware.model_name, hardware.usable_cores);
    }
    const std::string last_feature = features.empty() ? "base" : features.substr(features.rfind(',') + 1);
    return fmt::format("{}-{}-{}-{}-{}-{:.8}", hardware.arch, hardware.vendor, hardware.family, hardware.model,
                       last_feature, content_hash(std::as_bytes(std::span(identity))));
}

}  // namespace normforge
