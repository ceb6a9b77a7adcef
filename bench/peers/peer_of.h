#pragma once

#include <memory>
#include <string>

#include "bench/peers/peer.h"

// NORMFORGE_PEER_OF(Contender): the functions of peer.h by a class with
//     static std::unique_ptr<Contender> prepare(const nf_problem &, const nf_arguments &, const peer_vectors &,
//                                               int threads);
//     static const char *version();
//     int64_t calls_of_unit() const;
//     void run_unit();
//     void begin(), end();  // around many units
//     std::string implementation;
#define NORMFORGE_PEER_OF(Contender)                                                                              \
    void *peer_prepare(const nf_problem *problem, const nf_arguments *arguments, const peer_vectors *vectors,     \
                       int threads) {                                                                             \
        return Contender::prepare(*problem, *arguments, *vectors, threads).release();                             \
    }                                                                                                             \
    int64_t peer_calls_of_unit(const void *prepared) {                                                            \
        return static_cast<const Contender *>(prepared)->calls_of_unit();                                         \
    }                                                                                                             \
    void peer_run(void *prepared, int64_t units) {                                                                \
        Contender &contender = *static_cast<Contender *>(prepared);                                               \
        contender.begin();                                                                                        \
        for (int64_t unit = 0; unit < units; ++unit) {                                                            \
            contender.run_unit();                                                                                 \
        }                                                                                                         \
        contender.end();                                                                                          \
    }                                                                                                             \
    void peer_release(void *prepared) {                                                                           \
        delete static_cast<Contender *>(prepared);                                                                \
    }                                                                                                             \
    const char *peer_version() {                                                                                  \
        return Contender::version();                                                                              \
    }                                                                                                             \
    const char *peer_implementation(const void *prepared) {                                                       \
        return static_cast<const Contender *>(prepared)->implementation.c_str();                                  \
    }                                                                                                             \
    static_assert(true)

namespace normforge {

// What a contender has that spreads nothing and needs nothing around its units.
struct SimplePeer {
    std::string implementation;
    int64_t calls_of_unit() const { return 1; }
    void begin() {}
    void end() {}
};

// The rows of an operand follow one another, so its values are one array.
inline size_t value_count(const nf_problem &problem, const nf_arguments &arguments) {
    return static_cast<size_t>(problem.hidden) * static_cast<size_t>(arguments.rows);
}

}  // namespace normforge
