#include "autotune/library/embedded_files.h"

// Of embedded_files.S.
extern "C" {
extern const char kEmbeddedRuntimeArchive[];
extern const char kEmbeddedRuntimeArchiveEnd[];
extern const char kEmbeddedArmRuntimeArchive[];
extern const char kEmbeddedArmRuntimeArchiveEnd[];
extern const char kEmbeddedMeasuringArchive[];
extern const char kEmbeddedMeasuringArchiveEnd[];
extern const char kEmbeddedArmMeasuringArchive[];
extern const char kEmbeddedArmMeasuringArchiveEnd[];
extern const char kEmbeddedApiHeader[];
extern const char kEmbeddedApiHeaderEnd[];
extern const char kEmbeddedShippedDatabase[];
extern const char kEmbeddedShippedDatabaseEnd[];
extern const char kEmbeddedReportPage[];
extern const char kEmbeddedReportPageEnd[];
}

namespace normforge {

std::string_view embedded_runtime_archive() {
    return {kEmbeddedRuntimeArchive, kEmbeddedRuntimeArchiveEnd};
}

std::string_view embedded_arm_runtime_archive() {
    return {kEmbeddedArmRuntimeArchive, kEmbeddedArmRuntimeArchiveEnd};
}

std::string_view embedded_measuring_archive() {
    return {kEmbeddedMeasuringArchive, kEmbeddedMeasuringArchiveEnd};
}

std::string_view embedded_arm_measuring_archive() {
    return {kEmbeddedArmMeasuringArchive, kEmbeddedArmMeasuringArchiveEnd};
}

std::string_view embedded_api_header() {
    return {kEmbeddedApiHeader, kEmbeddedApiHeaderEnd};
}

std::string_view embedded_shipped_database() {
    return {kEmbeddedShippedDatabase, kEmbeddedShippedDatabaseEnd};
}

std::string_view embedded_report_page() {
    return {kEmbeddedReportPage, kEmbeddedReportPageEnd};
}

}  // namespace normforge
