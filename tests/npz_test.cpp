#include "examples/npz.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace normforge {
namespace {

TEST(Npz, ReadsTheStoredActivations) {
    const Npz npz(NORMFORGE_TEST_DATA "/norm_activations.npz");
    EXPECT_EQ(npz.arrays().size(), 27u);

    const NpzArray &x = npz.at("minilm/embeddings.LayerNorm/x");
    EXPECT_EQ(x.shape, (std::vector<int64_t>{64, 384}));
    ASSERT_EQ(x.values.size(), 64u * 384u);
    EXPECT_EQ(x.f32().front(), -0.08855708688497543f);
    EXPECT_EQ(x.f32().back(), -0.010845262557268143f);

    const NpzArray &weight = npz.at("smollm2/model.norm/weight");
    EXPECT_EQ(weight.shape, (std::vector<int64_t>{576}));
    EXPECT_EQ(weight.values.front(), 1.7578125);
    EXPECT_EQ(weight.values.back(), 1.984375);

    const NpzArray &epsilon = npz.at("minilm/embeddings.LayerNorm/eps");
    EXPECT_TRUE(epsilon.shape.empty());
    EXPECT_EQ(epsilon.values, std::vector<double>{1e-12});
}

std::string little_endian(uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) {
        text += static_cast<char>(value >> 8 * i);
    }
    return text;
}

const std::string kTwoFloats = little_endian(0x3f800000, 4) + little_endian(0xc0000000, 4);  // 1 and -2

struct Npy {
    std::string type = "'<f4'";
    std::string order = "False";
    std::string shape = "(2,)";
    std::string data = kTwoFloats;
    int version = 1;
    size_t padding = 0;

    std::string bytes() const {
        const std::string header = "{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape +
                                   ", }" + std::string(padding, ' ') + "\n";
        return "\x93NUMPY" + little_endian(version, 1) + little_endian(0, 1) +
               little_endian(header.size(), version == 1 ? 2 : 4) + header + data;
    }
};

// A zip archive of one member a.npy. As with numpy, the header beside the data is without sizes, and has an extra
// field that the directory lacks.
std::string zip_of(const std::string &member, int method = 0) {
    const std::string sizes = little_endian(member.size(), 4) + little_endian(member.size(), 4);
    const std::string local = "PK\x03\x04" + std::string(14, '\0') + std::string(8, '\xff') + little_endian(5, 2) +
                              little_endian(20, 2) + "a.npy" + std::string(20, '\x01') + member;
    const std::string directory = "PK\x01\x02" + std::string(6, '\0') + little_endian(method, 2) +
                                  std::string(8, '\0') + sizes + little_endian(5, 2) + std::string(16, '\0') +
                                  "a.npy";
    return local + directory + "PK\x05\x06" + std::string(4, '\0') + little_endian(1, 2) + little_endian(1, 2) +
           little_endian(directory.size(), 4) + little_endian(local.size(), 4) + little_endian(0, 2);
}

NpzArray read_one(const std::string &zip) {
    const TemporaryFolder folder;
    folder.write("a.npz", zip);
    return Npz(folder / "a.npz").at("a");
}

std::string error_of(const std::string &zip) {
    try {
        read_one(zip);
    } catch (const std::runtime_error &error) {
        return error.what();
    }
    return "no error";
}

TEST(Npz, ReadsBothTypes) {
    const NpzArray f32 = read_one(zip_of(Npy().bytes()));
    EXPECT_EQ(f32.shape, std::vector<int64_t>{2});
    EXPECT_EQ(f32.values, (std::vector<double>{1, -2}));
    const Npy f64_npy{.type = "'<f8'", .shape = "(1, 1)", .data = little_endian(0x3ff8000000000000, 8)};
    const NpzArray f64 = read_one(zip_of(f64_npy.bytes()));
    EXPECT_EQ(f64.shape, (std::vector<int64_t>{1, 1}));
    EXPECT_EQ(f64.values, std::vector<double>{1.5});
}

// Version 2 is for headers of 64 KiB and more.
TEST(Npz, ReadsVersion2) {
    EXPECT_EQ(read_one(zip_of(Npy{.version = 2, .padding = 70000}.bytes())).values, (std::vector<double>{1, -2}));
}

TEST(Npz, AcceptsACommentAfterTheArchive) {
    EXPECT_EQ(read_one(zip_of(Npy().bytes()) + "comment").values, (std::vector<double>{1, -2}));
}

TEST(Npz, NamesTheFileThatCannotBeOpened) {
    try {
        const Npz npz("no_such_folder/none.npz");
        FAIL() << "no error";
    } catch (const std::runtime_error &error) {
        EXPECT_STREQ(error.what(), "no_such_folder/none.npz: cannot be opened");
    }
}

TEST(Npz, NamesAMissingKey) {
    const TemporaryFolder folder;
    folder.write("a.npz", zip_of(Npy().bytes()));
    const Npz npz(folder / "a.npz");
    try {
        npz.at("b");
        FAIL() << "no error";
    } catch (const std::runtime_error &error) {
        EXPECT_EQ(error.what(), (folder / "a.npz").string() + ": no array b");
    }
}

// Whatever is cut off, the error says so, and nothing outside the file is read (the sanitizers would tell).
TEST(Npz, FindsEveryTruncation) {
    const std::string whole = zip_of(Npy().bytes());
    for (size_t size = 2; size < whole.size() - 2; ++size) {
        EXPECT_NE(error_of(whole.substr(0, size)).find("truncated"), std::string::npos) << size << " bytes";
    }
}

struct BrokenFile {
    const char *name;
    std::string bytes;
    std::string message;
};

std::ostream &operator<<(std::ostream &stream, const BrokenFile &broken) {
    return stream << broken.name;
}

class NpzBroken : public testing::TestWithParam<BrokenFile> {};

TEST_P(NpzBroken, IsNamed) {
    EXPECT_NE(error_of(GetParam().bytes).find(": " + GetParam().message), std::string::npos)
        << error_of(GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Files, NpzBroken,
    testing::Values(
        BrokenFile{"empty", "", "not a zip archive"}, BrokenFile{"text", "hello", "not a zip archive"},
        BrokenFile{"compressed", zip_of(Npy().bytes(), 8), "array a: compressed; write it with numpy.savez"},
        BrokenFile{"not_npy", zip_of("a text of some length"), "array a: not a .npy array"},
        BrokenFile{"version_3", zip_of(Npy{.version = 3}.bytes()), "array a: .npy version 3; 1 and 2 are read"},
        BrokenFile{"f16", zip_of(Npy{.type = "'<f2'"}.bytes()),
                   "array a: of type '<f2'; '<f4' and '<f8' are read"},
        BrokenFile{"big_endian", zip_of(Npy{.type = "'>f4'"}.bytes()),
                   "array a: of type '>f4'; '<f4' and '<f8' are read"},
        BrokenFile{"fortran_order", zip_of(Npy{.order = "True"}.bytes()),
                   "array a: in Fortran order; C order is read"},
        BrokenFile{"negative_shape", zip_of(Npy{.shape = "(-2,)"}.bytes()),
                   "array a: the .npy header has a malformed shape"},
        BrokenFile{"open_shape", zip_of(Npy{.shape = "(2,"}.bytes()),
                   "array a: the .npy header has a malformed shape"},
        BrokenFile{"short_data", zip_of(Npy{.shape = "(3,)"}.bytes()), "array a: truncated"},
        BrokenFile{"shape_that_overflows", zip_of(Npy{.shape = "(4294967296, 4294967296)"}.bytes()),
                   "array a: truncated"}),
    [](const testing::TestParamInfo<BrokenFile> &broken) { return broken.param.name; });

}  // namespace
}  // namespace normforge
