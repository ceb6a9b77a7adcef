#include "autotune/library/cubins.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "autotune/library/tool.h"
#include "runtime/user_error.h"

namespace normforge {

namespace {

constexpr int64_t kUsualCubins[] = {80, 90, 100};
constexpr int64_t kOldest = 80;

// A folder for what ptxas reads and writes, while this lives.
class Workplace {
public:
    Workplace() {
        std::string name = (std::filesystem::temp_directory_path() / "normforge-XXXXXX").string();
        if (!mkdtemp(name.data())) {
            throw UserError("cannot make a folder " + name + ": " + std::generic_category().message(errno));
        }
        path_ = name;
    }
    ~Workplace() {
        std::error_code error;
        std::filesystem::remove_all(path_, error);
    }
    Workplace(const Workplace &) = delete;
    Workplace &operator=(const Workplace &) = delete;

    // What assembles the text.
    std::vector<std::string> command(const std::string &ptx, int64_t capability) const {
        std::ofstream(path_ / "kernel.ptx") << ptx;
        std::vector<std::string> words = tool_words("PTXAS", "ptxas");
        words.insert(words.end(), {fmt::format("-arch=sm_{}", capability), "-o", (path_ / "kernel.cubin").string(),
                                   (path_ / "kernel.ptx").string()});
        return words;
    }

    std::string result() const {
        std::ifstream file(path_ / "kernel.cubin", std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

private:
    std::filesystem::path path_;
};

}  // namespace

std::string capability_text(int64_t capability) {
    return fmt::format("{}.{}", capability / 10, capability % 10);
}

int64_t parse_capability(std::string_view text) {
    const size_t point = text.find('.');
    int64_t major = 0;
    const char *begin = text.data();
    const auto parsed = std::from_chars(begin, begin + std::min(point, text.size()), major);
    const bool is_capability = point != std::string_view::npos && point + 2 == text.size() && text.back() >= '0' &&
                               text.back() <= '9' && parsed.ec == std::errc() && parsed.ptr == begin + point &&
                               major < 1000;
    const int64_t capability = is_capability ? 10 * major + (text.back() - '0') : 0;
    if (capability < kOldest) {
        throw UserError(fmt::format("'{}' is no compute capability; allowed are {} and newer ones, such as 9.0",
                                    text, capability_text(kOldest)));
    }
    return capability;
}

std::vector<int64_t> usual_cubins() {
    const Workplace workplace;
    std::vector<int64_t> result;
    for (const int64_t capability : kUsualCubins) {
        if (tool_succeeds(workplace.command(".version 7.0\n.target sm_80\n.address_size 64\n", capability))) {
            result.push_back(capability);
        }
    }
    return result;
}

std::string cubin(const std::string &ptx, int64_t capability) {
    const Workplace workplace;
    run_tool(
        workplace.command(ptx, capability), "assemble for compute capability " + capability_text(capability),
        "machine code for CUDA devices needs ptxas, in the PATH or as the environment variable PTXAS names it; "
        "PTX alone needs none");
    return workplace.result();
}

}  // namespace normforge
