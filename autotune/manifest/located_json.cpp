#include "autotune/manifest/located_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/user_error.h"

namespace normforge {

namespace {

using Kind = LocatedJson::Kind;

constexpr size_t kDeepest = 16;  // destructors of values are recursive

struct SyntaxError {
    size_t offset;
    std::string message;
};

// Called by the parser for one token after another. What it has read of the stream ends with the token, but for
// numbers, which only the character behind them ends: that may be another token's, but none that is a value or a
// name.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
    TreeBuilder(const std::string &text, std::istream &stream) : text_(text), stream_(stream) {}

    LocatedJson take() { return std::move(root_); }

    bool null() override { return add(Kind::null); }
    bool boolean(bool value) override { return add(Kind::boolean, value ? "true" : "false"); }
    bool number_integer(number_integer_t) override { return add_number(); }
    bool number_unsigned(number_unsigned_t) override { return add_number(); }
    bool number_float(number_float_t, const string_t &) override { return add_number(); }
    bool string(string_t &value) override { return add(Kind::text, value); }
    bool binary(binary_t &) override { return false; }  // JSON has none

    bool start_object(std::size_t) override { return open(Kind::object); }
    bool start_array(std::size_t) override { return open(Kind::array); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t &name) override {
        open_.back()->names.push_back(next(Kind::text, name));
        return true;
    }

    bool parse_error(std::size_t, const std::string &, const nlohmann::json::exception &error) override {
        // "[json.exception...] parse error at line 3, column 4: syntax error while ..."
        const std::string message = error.what();
        const size_t column = std::min(message.find("column "), message.size());
        const size_t text = message.find(": ", column);
        const size_t start = start_of_next();
        // A comma or colon too many is the mistake itself, and is one character.
        throw SyntaxError{start == text_.size() ? start : std::min(start, position() - 1),
                          text == std::string::npos ? message : message.substr(text + 2)};
    }

private:
    size_t position() { return static_cast<size_t>(stream_.rdbuf()->pubseekoff(0, std::ios::cur, std::ios::in)); }

    // Of what stands behind the last token.
    size_t start_of_next() const { return std::min(text_.find_first_not_of(" \t\r\n,:", end_), text_.size()); }

    LocatedJson next(Kind kind, const std::string &text = "") {
        const size_t offset = start_of_next();
        end_ = position();
        return {kind, offset, text, {}, {}};
    }

    LocatedJson &place(LocatedJson value) {
        if (open_.empty()) {
            return root_ = std::move(value);
        }
        return open_.back()->elements.emplace_back(std::move(value));
    }

    bool add(Kind kind, const std::string &text = "") {
        place(next(kind, text));
        return true;
    }

    bool add_number() {
        LocatedJson number = next(Kind::number);
        const size_t end = std::min(text_.find_first_not_of("+-.0123456789Ee", number.offset), text_.size());
        number.text = text_.substr(number.offset, end - number.offset);
        place(std::move(number));
        return true;
    }

    bool open(Kind kind) {
        LocatedJson value = next(kind);
        if (open_.size() == kDeepest) {
            throw SyntaxError{value.offset, fmt::format("nested deeper than {} levels", kDeepest)};
        }
        open_.push_back(&place(std::move(value)));
        return true;
    }

    bool close() {
        open_.pop_back();
        end_ = position();
        return true;
    }

    const std::string &text_;
    std::istream &stream_;
    size_t end_ = 0;  // of the last token
    LocatedJson root_{};
    std::vector<LocatedJson *> open_;  // those that surround the next value; only the last one grows
};

}  // namespace

JsonDocument::JsonDocument(std::string text, std::string name) : text_(std::move(text)), name_(std::move(name)) {
    std::istringstream stream(text_);
    TreeBuilder builder(text_, stream);
    try {
        nlohmann::json::sax_parse(stream, &builder);
    } catch (const SyntaxError &error) {
        fail_at(error.offset, error.message);
    }
    root_ = builder.take();
}

void JsonDocument::fail(const LocatedJson &value, const std::string &message) const {
    fail_at(value.offset, message);
}

void JsonDocument::fail_at(size_t offset, const std::string &message) const {
    const std::string before = text_.substr(0, offset);
    const auto line = std::ranges::count(before, '\n') + 1;
    const size_t start = before.find_last_of('\n') + 1;  // 0 where there is none
    const auto column = std::count_if(before.begin() + static_cast<std::ptrdiff_t>(start), before.end(),
                                      [](char c) { return (c & 0xC0) != 0x80; }) +
                        1;
    throw UserError(fmt::format("{}:{}:{}: {}", name_, line, column, message));
}

std::string JsonDocument::written(const LocatedJson &value) const {
    switch (value.kind) {
    case Kind::null:
        return "null";
    case Kind::array:
        return "an array";
    case Kind::object:
        return "an object";
    case Kind::text:
        return "the text '" + value.text + "'";
    default:
        return value.text;
    }
}

}  // namespace normforge
