#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace normforge {

// A JSON value that knows where in its document it stands.
struct LocatedJson {
    enum class Kind { null, boolean, number, text, array, object };

    Kind kind;
    size_t offset;                      // of its first byte
    std::string text;                   // a text's characters; of numbers and booleans, as they are written
    std::vector<LocatedJson> names;     // of an object's members, in their order; a name may be there twice
    std::vector<LocatedJson> elements;  // the members' values, or an array's elements
};

// A document written by hand, whose mistakes are told by line and column.
class JsonDocument {
public:
    // The name is for messages. Throws UserError where the text is no JSON, or is nested beyond all reason.
    JsonDocument(std::string text, std::string name);

    const LocatedJson &root() const { return root_; }

    // Throws UserError: "norms.json:12:15: " and the message. Columns count characters, from 1.
    [[noreturn]] void fail(const LocatedJson &value, const std::string &message) const;

    // As it is written where it is short: for messages.
    std::string written(const LocatedJson &value) const;

private:
    [[noreturn]] void fail_at(size_t offset, const std::string &message) const;

    std::string text_;
    std::string name_;
    LocatedJson root_;
};

}  // namespace normforge
