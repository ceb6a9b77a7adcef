#include "autotune/base/units.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <span>

namespace normforge {

namespace {

constexpr const char *kTimeUnits[] = {"ns", "us", "ms", "s"};
constexpr const char *kSizeUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};

// Four digits, or all before the point.
std::string digits(double value) {
    return std::abs(value) < 1000 ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
}

std::string in_units(double value, double step, std::span<const char *const> units) {
    size_t unit = 0;
    // Also what rounds to a step.
    while (unit + 1 < units.size() && std::stod(digits(value)) >= step) {
        value /= step;
        unit++;
    }
    return digits(value) + " " + units[unit];
}

}  // namespace

std::string time_text(double nanoseconds) {
    return in_units(nanoseconds, 1000, kTimeUnits);
}

std::string size_text(int64_t bytes) {
    return in_units(static_cast<double>(bytes), 1024, kSizeUnits);
}

std::string counted(int64_t count, const std::string &noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace normforge
