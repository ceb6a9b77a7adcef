#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace normforge {

// 32 hexadecimal digits (XXH3, 128 bits), the same on every machine and in every version: they are stored.
// Against chance, not against malice.
std::string content_hash(std::span<const std::byte> bytes);

}  // namespace normforge
