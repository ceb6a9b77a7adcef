// Checks and times a bundle's CUDA kernels on this machine's first device: writes FOLDER/gpu_check.json and prints
// what it says. It needs the driver alone. scripts/gpu_check.sh runs it.

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>

#include "bench/gpu/check_kernels.h"
#include "bench/gpu/time_kernels.h"
#include "runtime/normforge.h"

namespace normforge {
namespace {

using nlohmann::json;

json read_bundle(const std::string &path) {
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("cannot read " + path);
    }
    json bundle = json::parse(file);
    if (bundle.at("version") != nf_version()) {
        throw std::runtime_error(path + " is from another version");
    }
    return bundle;
}

// As far as it goes, after every step: what has been measured is kept whatever comes next.
void write(const std::string &path, const json &results) {
    std::ofstream file(path);
    file << results.dump(2) << "\n";
    if (!file.flush()) {
        throw std::runtime_error("cannot write " + path);
    }
}

int print_checked(const json &checked) {
    int failures = 0;
    for (const json &kernel : checked) {
        const auto failure = kernel.at("failure").get<std::string>();
        failures += !failure.empty();
        fmt::print("{} {} {}\n", failure.empty() ? "ok    " : "FAILED", kernel.at("problem").get<std::string>(),
                   failure);
    }
    fmt::print("{} of {} kernels are accurate on the device\n\n", checked.size() - static_cast<size_t>(failures),
               checked.size());
    return failures;
}

void print_timed(const json &timed) {
    const json &best = timed.at("schedules").front();
    fmt::print("{:.3f} of a copy, {:6.0f} GB/s: {} {} ({})\n", best.at("copy_ratio").get<double>(),
               timed.at("bytes").get<double>() / best.at("seconds").get<double>() * 1e-9,
               timed.at("problem").get<std::string>(), best.at("knobs").get<std::string>(),
               best.at("source").get<std::string>());
    std::fflush(stdout);
}

int run(const std::string &bundle_path, const std::string &folder) {
    const json bundle = read_bundle(bundle_path);
    const CudaDevice device;
    const std::string path = folder + "/gpu_check.json";
    json results = {{"version", nf_version()},
                    {"device", device.name()},
                    {"driver", device.driver_version()},
                    {"timed", json::array()}};
    fmt::print("{}, driver {}\n", device.name(), device.driver_version());
    results["checked"] = check_kernels(device, bundle.at("checked"));
    write(path, results);
    int failures = print_checked(results["checked"]);
    for (const json &kernels : bundle.at("timed")) {
        try {
            results["timed"].push_back(time_kernels(device, kernels));
            print_timed(results["timed"].back());
        } catch (const std::exception &error) {
            failures++;
            fmt::print("FAILED to time {}: {}\n", kernels.front().at("problem").get<std::string>(), error.what());
        }
        write(path, results);
    }
    return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace normforge

int main(int count, char **arguments) {
    if (count != 3) {
        std::fprintf(stderr, "usage: gpu_check BUNDLE FOLDER\n");
        return 2;
    }
    try {
        return normforge::run(arguments[1], arguments[2]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "gpu_check: %s\n", error.what());
        return 1;
    }
}
