#include "autotune/base/process_identity.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <span>
#include <sstream>
#include <vector>

#include "autotune/base/content_hash.h"
#include "autotune/base/text_file.h"

namespace normforge {

namespace {

// Names of the machine and of its boot are nobody's business.
std::string hash(const std::string &text) {
    return content_hash(std::as_bytes(std::span(text))).substr(0, 16);
}

// The time of its start since the boot, by which processes of one number differ; empty where there is none.
std::string start_of(const std::string &pid) {
    std::string line = first_line("/proc/" + pid + "/stat");
    std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
    constexpr int kStartField = 20;  // after the name, which may hold anything
    std::string field;
    for (int i = 0; i < kStartField && fields >> field; i++) {
    }
    return fields ? field : "";
}

std::string machine() {
    return hash(first_line("/etc/machine-id"));
}

std::string boot() {
    return hash(first_line("/proc/sys/kernel/random/boot_id"));
}

// In which process numbers are counted.
std::string number_space() {
    std::error_code error;
    return hash(std::filesystem::read_symlink("/proc/self/ns/pid", error));
}

}  // namespace

std::string process_identity() {
    const std::string pid = std::to_string(getpid());
    return fmt::format("{} {} {} {} {}", machine(), boot(), number_space(), pid, start_of(pid));
}

bool has_ended(const std::string &identity) {
    std::istringstream words(identity);
    std::string own_machine, own_boot, own_space, pid, start;
    words >> own_machine >> own_boot >> own_space >> pid >> start;
    if (!words || own_machine != machine()) {
        return false;
    }
    if (own_boot != boot()) {
        // Without a machine's identity another boot may be another machine's.
        return !first_line("/etc/machine-id").empty();
    }
    return own_space == number_space() && start_of(pid) != start;
}

}  // namespace normforge
