#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "autotune/database/database.h"

namespace normforge {

// What the page shows, as numbers: its script draws them.
using ReportJson = nlohmann::ordered_json;

// GB/s, read and written together, that a copy of the problem's rows reaches; nothing where that is not known.
using CopySpeed = std::function<std::optional<double>(const StoredSession &, int64_t rows)>;

// "best": for each problem, hardware and target the schedules that are best, with times and bytes moved.
// "sessions": each one's candidates, what became of them, and the samples that tell the noise.
ReportJson report_data(const Database &database, const std::string &name, const CopySpeed &copy_speed);

}  // namespace normforge
