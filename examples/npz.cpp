#include "examples/npz.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace normforge {

namespace {

static_assert(std::endian::native == std::endian::little, "values are copied from the file as they are");

void require(bool condition, const std::string &message) {
    if (!condition) {
        throw std::runtime_error(message);
    }
}

std::string_view slice(std::string_view bytes, size_t offset, size_t size) {
    require(offset <= bytes.size() && size <= bytes.size() - offset, "truncated");
    return bytes.substr(offset, size);
}

template <typename Value>
Value load(std::string_view bytes, size_t offset) {
    Value value;
    std::memcpy(&value, slice(bytes, offset, sizeof(Value)).data(), sizeof(Value));
    return value;
}

// What follows 'key': in the header's Python dictionary, up to the end of the header.
std::string_view entry(std::string_view header, std::string_view key) {
    const size_t at = header.find(key);
    require(at != std::string_view::npos, "the .npy header has no " + std::string(key));
    header.remove_prefix(at + key.size());
    header.remove_prefix(std::min(header.find_first_not_of(" :"), header.size()));
    return header;
}

// "(64, 384)", "(384,)" or "()".
std::vector<int64_t> parse_shape(std::string_view text) {
    const size_t end = text.find(')');
    require(text.starts_with('(') && end != std::string_view::npos, "the .npy header has a malformed shape");
    text = text.substr(1, end - 1);
    std::vector<int64_t> shape;
    while (true) {
        text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
        if (text.empty()) {
            return shape;
        }
        int64_t extent = -1;
        const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
        require(error == std::errc() && extent >= 0, "the .npy header has a malformed shape");
        text.remove_prefix(static_cast<size_t>(rest - text.data()));
        shape.push_back(extent);
    }
}

template <typename Value>
std::vector<double> load_values(std::string_view data, const std::vector<int64_t> &shape) {
    // Divides instead of multiplying, so that no shape can overflow.
    uint64_t count = 1;
    for (const int64_t extent : shape) {
        require(extent == 0 || count <= data.size() / static_cast<uint64_t>(extent), "truncated");
        count *= static_cast<uint64_t>(extent);
    }
    std::vector<double> values(count);
    for (size_t i = 0; i < count; ++i) {
        values[i] = static_cast<double>(load<Value>(data, i * sizeof(Value)));
    }
    return values;
}

// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
NpzArray parse_npy(std::string_view npy) {
    require(slice(npy, 0, 6) == "\x93NUMPY", "not a .npy array");
    const auto version = load<uint8_t>(npy, 6);
    require(version == 1 || version == 2, ".npy version " + std::to_string(version) + "; 1 and 2 are read");
    const size_t header_offset = version == 1 ? 10 : 12;
    const size_t header_size = version == 1 ? load<uint16_t>(npy, 8) : load<uint32_t>(npy, 8);
    const std::string_view header = slice(npy, header_offset, header_size);
    const std::string_view data = npy.substr(header_offset + header_size);

    require(entry(header, "'fortran_order'").starts_with("False"), "in Fortran order; C order is read");
    NpzArray array;
    array.shape = parse_shape(entry(header, "'shape'"));
    const std::string_view type = entry(header, "'descr'");
    if (type.starts_with("'<f4'")) {
        array.values = load_values<float>(data, array.shape);
    } else if (type.starts_with("'<f8'")) {
        array.values = load_values<double>(data, array.shape);
    } else {
        const std::string found(type.substr(0, type.find(',')));
        throw std::runtime_error("of type " + found + "; '<f4' and '<f8' are read");
    }
    return array;
}

// The last record of a zip archive. It is searched for from the end, because a comment may follow it.
std::string_view end_of_directory(std::string_view zip) {
    require(zip.starts_with("PK"), "not a zip archive");
    const size_t at = zip.rfind("PK\x05\x06");
    require(at != std::string_view::npos, "truncated");
    return zip.substr(at);
}

// Offsets are those of APPNOTE.TXT 4.3 by PKWARE. Sizes come from the central directory, since numpy leaves
// them out of the headers beside the data. An archive of 4 GiB or more has none there and reads as truncated.
std::map<std::string, NpzArray> parse_zip(std::string_view zip) {
    std::map<std::string, NpzArray> arrays;
    const std::string_view end = end_of_directory(zip);
    size_t at = load<uint32_t>(end, 16);
    for (uint16_t left = load<uint16_t>(end, 10); left > 0; --left) {
        const std::string_view member = slice(zip, at, 46);
        require(member.starts_with("PK\x01\x02"), "its directory is damaged");
        const auto name_size = load<uint16_t>(member, 28);
        std::string name(slice(zip, at + 46, name_size));
        at += 46 + name_size + load<uint16_t>(member, 30) + load<uint16_t>(member, 32);
        if (name.ends_with(".npy")) {
            name.resize(name.size() - 4);
        }
        try {
            require(load<uint16_t>(member, 10) == 0, "compressed; write it with numpy.savez");
            const auto local = load<uint32_t>(member, 42);
            const size_t skip =
                size_t{30} + load<uint16_t>(zip, local + size_t{26}) + load<uint16_t>(zip, local + size_t{28});
            arrays[name] = parse_npy(slice(zip, local + skip, load<uint32_t>(member, 20)));
        } catch (const std::runtime_error &error) {
            throw std::runtime_error("array " + name + ": " + error.what());
        }
    }
    return arrays;
}

}  // namespace

Npz::Npz(const std::filesystem::path &file) : file_(file.string()) {
    std::ifstream stream(file, std::ios::binary);
    require(stream.is_open(), file_ + ": cannot be opened");
    const std::string zip((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    try {
        arrays_ = parse_zip(zip);
    } catch (const std::runtime_error &error) {
        throw std::runtime_error(file_ + ": " + error.what());
    }
}

const NpzArray &Npz::at(const std::string &key) const {
    const auto found = arrays_.find(key);
    require(found != arrays_.end(), file_ + ": no array " + key);
    return found->second;
}

}  // namespace normforge
