#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/norm_problem.h"

namespace normforge {

// A problem and the numbers of rows, rising, that it is to be tuned for.
struct ProblemRows {
    NormProblem problem;
    std::vector<int64_t> rows;
};

// The problems of a manifest, a JSON text that lists many: docs/manifest.md tells its form. In their order, each
// once, with the rows of all entries that name it; entries without rows have the usual ones. What is cold is as of
// row_counts. Throws UserError with the manifest's name, line and column for the first mistake.
std::vector<ProblemRows> parse_manifest(const std::string &text, const std::string &name,
                                        const std::vector<std::string> &usual_rows, int64_t cold_bytes);

// The JSON schema of manifests, which knows as much of the above as a schema can.
std::string manifest_schema();

// The names of an object of a manifest, beside those of a problem's fields.
inline constexpr const char *kManifestSchema = "$schema";
inline constexpr const char *kManifestDefaults = "defaults";
inline constexpr const char *kManifestProblems = "problems";
inline constexpr const char *kManifestRows = "rows";

}  // namespace normforge
