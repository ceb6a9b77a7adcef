#include "autotune/measure/machine_report.h"

#include <fmt/format.h>

#include <sstream>
#include <stdexcept>

#include "autotune/base/enum_text.h"

namespace normforge {

namespace {

constexpr const char *kMark = "normforge:";

// One word; no text is none.
std::string word(const std::string &text) {
    std::string result = "'";
    for (const char c : text) {
        result +=
            c == ' ' || c == '\n' || c == '%' ? fmt::format("%{:02x}", static_cast<int>(c)) : std::string(1, c);
    }
    return result;
}

std::string line(const std::string &words) {
    return fmt::format("{} {}\n", kMark, words);
}

class Words {
public:
    explicit Words(const std::string &line) : stream_(line), line_(line) {}

    std::string text() {
        const std::string coded = next<std::string>();
        std::string result;
        for (size_t i = 1; i < coded.size(); i++) {
            if (coded[i] == '%') {
                result += static_cast<char>(std::stoi(coded.substr(i + 1, 2), nullptr, 16));
                i += 2;
            } else {
                result += coded[i];
            }
        }
        return result;
    }

    double real() { return std::stod(next<std::string>()); }  // streams read no "nan"

    template <typename Value>
    Value next() {
        Value value{};
        if (!(stream_ >> value)) {
            throw std::runtime_error("a broken line of a report: " + line_);
        }
        return value;
    }

private:
    std::istringstream stream_;
    const std::string line_;
};

Hardware parse_hardware(Words &words) {
    Hardware hardware{};
    hardware.arch = words.text();
    hardware.vendor = words.text();
    hardware.model_name = words.text();
    hardware.features = known_features(words.text());
    for (int64_t Hardware::*number :
         {&Hardware::family, &Hardware::model, &Hardware::stepping, &Hardware::l1d_bytes, &Hardware::l2_bytes,
          &Hardware::l3_bytes, &Hardware::line_bytes, &Hardware::usable_cores}) {
        hardware.*number = words.next<int64_t>();
    }
    return hardware;
}

ReportedKernel &kernel_at(MachineReport &report, Words &words) {
    const auto place = words.next<size_t>();
    if (place >= report.kernels.size()) {
        throw std::runtime_error(fmt::format("a report of kernel {}, of {}", place, report.kernels.size()));
    }
    return report.kernels[place];
}

}  // namespace

std::string hardware_line(const Hardware &hardware) {
    return line(fmt::format("hardware {} {} {} {} {} {} {} {} {} {} {} {}", word(hardware.arch),
                            word(hardware.vendor), word(hardware.model_name),
                            word(feature_names(hardware.features)), hardware.family, hardware.model,
                            hardware.stepping, hardware.l1d_bytes, hardware.l2_bytes, hardware.l3_bytes,
                            hardware.line_bytes, hardware.usable_cores));
}

std::string emulation_line(const std::string &sign) {
    return line("emulation " + word(sign));
}

std::string kernel_line(size_t place, const ReportedKernel &kernel) {
    return line(fmt::format("kernel {} {} {} {} {}", place, name_of(kTrialStatuses, kernel.status),
                            word(kernel.message), word(kernel.output_digest), kernel.error_ratio));
}

std::string sample_line(size_t place, const ReportedSample &reported) {
    const Sample &sample = reported.sample;
    return line(fmt::format("sample {} {} {} {} {} {} {}", place, reported.rows, sample.block, sample.position,
                            sample.calls, sample.ns, sample.reference_ns));
}

std::string end_line() {
    return line("end");
}

MachineReport parse_report(const std::string &text, size_t kernels) {
    MachineReport report{};
    report.kernels.resize(kernels, {TrialStatus::crash, "the report does not tell of it", "", 0, {}});
    std::istringstream lines(text);
    for (std::string each; std::getline(lines, each);) {
        if (!each.starts_with(kMark)) {
            continue;
        }
        Words words(each);
        words.next<std::string>();  // the mark
        const auto kind = words.next<std::string>();
        if (kind == "hardware") {
            report.hardware = parse_hardware(words);
        } else if (kind == "emulation") {
            report.emulation = words.text();
        } else if (kind == "kernel") {
            ReportedKernel &kernel = kernel_at(report, words);
            kernel.status = value_named(kTrialStatuses, words.next<std::string>());
            kernel.message = words.text();
            kernel.output_digest = words.text();
            kernel.error_ratio = words.real();
        } else if (kind == "sample") {
            ReportedKernel &kernel = kernel_at(report, words);
            ReportedSample sample{};
            sample.rows = words.next<int64_t>();
            sample.sample.block = words.next<int>();
            sample.sample.position = words.next<int>();
            sample.sample.calls = words.next<int64_t>();
            sample.sample.ns = words.real();
            sample.sample.reference_ns = words.real();
            kernel.samples.push_back(sample);
        } else if (kind == "end") {
            return report;
        }
    }
    throw std::runtime_error("the measuring program's report does not reach its end");
}

}  // namespace normforge
