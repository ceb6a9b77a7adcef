#include "generators/wide_accesses.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace normforge {

using namespace Halide;
using namespace Halide::Internal;

namespace {

constexpr int kWordBits = 32;
constexpr int kMostWords = 4;
constexpr int kBackEndBits = 64;  // which Halide moves at once by itself

// A part of a vector, as what is moved at once: words that begin `first` words behind the vector's.
struct Part {
    int first;
    int words;
};

// What a dense vector is moved by.
struct WideVector {
    Expr first_word;
    ModulusRemainder alignment;
    std::vector<Part> parts;
};

// What is known of an access's place. Halide takes every buffer to begin where the widest access may; those of
// operands begin where their alignment says.
ModulusRemainder known_alignment(const Parameter &operand, const Type &type, const ModulusRemainder &alignment) {
    constexpr int kMostBytes = kMostWords * kWordBits / 8;
    const int bytes = std::min(kMostBytes, type.bytes() * type.lanes());
    return operand.defined() && operand.host_alignment() % bytes != 0 ? ModulusRemainder(1, 0) : alignment;
}

// Empty where the access stays as it is.
std::optional<WideVector> wide_vector(const Type &type, const Expr &index, const Expr &predicate,
                                      const ModulusRemainder &alignment) {
    const Ramp *ramp = index.as<Ramp>();
    const int bits = type.bits() * type.lanes();
    if (!ramp || !is_const_one(ramp->stride) || !is_const_one(predicate) || bits <= kBackEndBits ||
        bits % (kWordBits * 2) != 0 || type.bits() > kWordBits || alignment.modulus % type.lanes() != 0 ||
        alignment.remainder % type.lanes() != 0) {
        return std::nullopt;
    }
    const int words = bits / kWordBits;
    if (type.bits() == kWordBits && words <= kMostWords) {
        return std::nullopt;
    }
    const int values_of_word = kWordBits / type.bits();
    WideVector result{simplify(ramp->base / values_of_word), alignment / values_of_word, {}};
    for (int first = 0; first < words; first += kMostWords) {
        result.parts.push_back({first, std::min(kMostWords, words - first)});
    }
    return result;
}

Type word_type(const Type &type) {
    return type.bits() == kWordBits ? type.element_of() : UInt(kWordBits);
}

Expr index_of(const WideVector &wide, const Part &part) {
    return Ramp::make(wide.first_word + part.first, 1, part.words);
}

}  // namespace

Expr WideAccesses::visit(const Load *op) {
    const ModulusRemainder alignment = known_alignment(op->param, op->type, op->alignment);
    const auto wide = wide_vector(op->type, op->index, op->predicate, alignment);
    if (!wide) {
        return Load::make(op->type, op->name, mutate(op->index), op->image, op->param, mutate(op->predicate),
                          alignment);
    }
    std::vector<Expr> parts;
    for (const Part &part : wide->parts) {
        parts.push_back(Load::make(word_type(op->type).with_lanes(part.words), op->name, index_of(*wide, part),
                                   op->image, op->param, const_true(part.words), wide->alignment + part.first));
    }
    Expr words = parts.size() == 1 ? parts[0] : Shuffle::make_concat(parts);
    return words.type() == op->type ? words : reinterpret(op->type, words);
}

Stmt WideAccesses::visit(const Store *op) {
    const Type type = op->value.type();
    const ModulusRemainder alignment = known_alignment(op->param, type, op->alignment);
    const auto wide = wide_vector(type, op->index, op->predicate, alignment);
    Expr value = mutate(op->value);
    if (!wide) {
        return Store::make(op->name, value, mutate(op->index), op->param, mutate(op->predicate), alignment);
    }
    const Type words = word_type(type).with_lanes(type.bits() * type.lanes() / kWordBits);
    if (words != type) {
        value = reinterpret(words, value);
    }
    // All of it is computed before a part is written, over which it may be read.
    const std::string name = unique_name("vector");
    Expr vector = Variable::make(words, name);
    std::vector<Stmt> stores;
    for (const Part &part : wide->parts) {
        Expr words_of_part =
            wide->parts.size() == 1 ? vector : Shuffle::make_slice(vector, part.first, 1, part.words);
        stores.push_back(Store::make(op->name, words_of_part, index_of(*wide, part), op->param,
                                     const_true(part.words), wide->alignment + part.first));
    }
    return LetStmt::make(name, value, Block::make(stores));
}

}  // namespace normforge
