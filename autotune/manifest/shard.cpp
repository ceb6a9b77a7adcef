#include "autotune/manifest/shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <span>

#include "autotune/base/content_hash.h"
#include "runtime/user_error.h"

namespace normforge {

namespace {

bool parse_number(const char *begin, const char *end, int64_t &number) {
    const auto [stop, error] = std::from_chars(begin, end, number);
    return error == std::errc() && stop == end && number >= 1;
}

std::string hash_of(const NormProblem &problem) {
    const std::string text = to_text(problem);
    return content_hash(std::as_bytes(std::span(text)));
}

}  // namespace

Shard parse_shard(const std::string &text) {
    const size_t slash = std::min(text.find('/'), text.size());
    const char *end = text.data() + text.size();
    Shard shard;
    if (slash == text.size() || !parse_number(text.data(), text.data() + slash, shard.index) ||
        !parse_number(text.data() + slash + 1, end, shard.count) || shard.index > shard.count) {
        throw UserError(fmt::format("shard is '{}'; allowed: i/n, the i-th of n, from 1/n to n/n", text));
    }
    return shard;
}

std::vector<ProblemRows> problems_in(const Shard &shard, const std::vector<ProblemRows> &problems) {
    std::map<std::string, size_t> places;  // by hash
    for (size_t place = 0; place < problems.size(); place++) {
        places[hash_of(problems[place].problem)] = place;
    }
    std::vector<size_t> dealt;
    int64_t turn = 0;
    for (const auto &[hash, place] : places) {
        if (turn++ % shard.count == shard.index - 1) {
            dealt.push_back(place);
        }
    }
    std::ranges::sort(dealt);
    std::vector<ProblemRows> result;
    for (const size_t place : dealt) {
        result.push_back(problems[place]);
    }
    return result;
}

}  // namespace normforge
