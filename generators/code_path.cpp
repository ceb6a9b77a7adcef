#include "generators/code_path.h"

#include <algorithm>
#include <compare>
#include <map>

#include "generators/recorded_code.h"
#include "llvm/Support/ErrorHandling.h"

namespace normforge {

namespace {

// How much of the code a way to the end runs. The least is the usual way.
struct Cost {
    int64_t unknown_loops = 0;  // negative, so that none is passed by
    int64_t instructions = 0;

    auto operator<=>(const Cost &) const = default;
    Cost &operator+=(const Cost &other) {
        unknown_loops += other.unknown_loops;
        instructions += other.instructions;
        return *this;
    }
};

// A block, or a loop as a whole.
struct Node {
    bool is_loop;
    size_t index;

    auto operator<=>(const Node &) const = default;
};

// The ways through one trip of a loop, or through the whole function.
class Level {
public:
    Level(const RecordedCode &code, int loop) : code_(code), loop_(loop) {
        begin_ = node_of(loop < 0 ? 0 : code.loops[static_cast<size_t>(loop)].header).value();
        if (!best(begin_)) {
            llvm::reportFatalInternalError("code without a way through");
        }
    }

    Cost cost() const { return ways_.at(begin_)->cost; }

    std::vector<CodePiece> path() const {
        std::vector<CodePiece> pieces;
        for (std::optional<Node> node = begin_; node; node = ways_.at(*node)->next) {
            if (!node->is_loop) {
                pieces.push_back({code_.blocks[node->index].instructions, nullptr});
                continue;
            }
            auto loop = std::make_unique<CodeLoop>();
            loop->trips = code_.loops[node->index].trips;
            loop->body = Level(code_, static_cast<int>(node->index)).path();
            pieces.push_back({{}, std::move(loop)});
        }
        return pieces;
    }

private:
    struct Way {
        Cost cost;
        std::optional<Node> next;  // none at the end
    };

    // What of this level the block belongs to; nothing outside.
    std::optional<Node> node_of(size_t block) const {
        int loop = code_.blocks[block].loop;
        if (loop == loop_) {
            return Node{false, block};
        }
        for (; loop >= 0; loop = code_.loops[static_cast<size_t>(loop)].parent) {
            if (code_.loops[static_cast<size_t>(loop)].parent == loop_) {
                return Node{true, static_cast<size_t>(loop)};
            }
        }
        return std::nullopt;
    }

    std::vector<size_t> exits(const Node &node) const {
        if (!node.is_loop) {
            return code_.blocks[node.index].successors;
        }
        std::vector<size_t> result;
        for (size_t block = 0; block < code_.blocks.size(); block++) {
            if (node_of(block) == node) {
                std::ranges::copy_if(code_.blocks[block].successors, std::back_inserter(result),
                                     [&](size_t successor) { return node_of(successor) != node; });
            }
        }
        return result;
    }

    Cost own_cost(const Node &node) const {
        if (!node.is_loop) {
            return {0, static_cast<int64_t>(code_.blocks[node.index].instructions.size())};
        }
        Cost cost = Level(code_, static_cast<int>(node.index)).cost();
        const std::optional<int64_t> trips = code_.loops[node.index].trips;
        cost.instructions *= trips.value_or(1);
        cost.unknown_loops -= trips ? 0 : 1;
        return cost;
    }

    // The cheapest way from here to the end; none where all ways leave the level before it.
    const std::optional<Way> &best(const Node &node) {
        if (const auto known = ways_.find(node); known != ways_.end()) {
            return known->second;
        }
        const std::vector<size_t> successors = exits(node);
        std::optional<Way> way;
        const auto offer = [&](const Cost &cost, std::optional<Node> next) {
            if (!way || cost < way->cost) {
                way = Way{cost, next};
            }
        };
        if (successors.empty()) {
            offer({}, std::nullopt);
        }
        for (const size_t successor : successors) {
            const std::optional<Node> next = node_of(successor);
            if (loop_ >= 0 && next == begin_) {
                offer({}, std::nullopt);
            } else if (next && best(*next)) {
                offer(best(*next)->cost, next);
            }
        }
        if (way) {
            way->cost += own_cost(node);
        }
        return ways_[node] = way;
    }

    const RecordedCode &code_;
    const int loop_;
    Node begin_{};
    std::map<Node, std::optional<Way>> ways_;
};

}  // namespace

bool CodeLoop::is_innermost() const {
    return std::ranges::none_of(body, [](const CodePiece &piece) { return piece.loop != nullptr; });
}

std::vector<CodePiece> usual_path(llvm::Module &module, const std::string &function) {
    return Level(record_code(module, function), -1).path();
}

}  // namespace normforge
