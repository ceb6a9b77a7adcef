// content_hash() where LLVM is not at hand: FNV-1a of 64 bits.

#include <fmt/format.h>

#include "autotune/base/content_hash.h"

namespace normforge {

std::string content_hash(std::span<const std::byte> bytes) {
    uint64_t hash = 0xcbf29ce484222325;
    for (const std::byte byte : bytes) {
        hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
    }
    return fmt::format("{:016x}", hash);
}

}  // namespace normforge
