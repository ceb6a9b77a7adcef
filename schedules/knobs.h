#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "schedules/knob_table.h"

namespace normforge {

// How the sums of a row are taken. See docs/numerics.md.
enum Sums : int {
    kPlain,      // rms_norm: squares of the values themselves
    kRowPivot,   // layer_norm in one pass: about the median of the row's first three values
    kLanePivot,  // the same on a GPU: each thread about the median of its own first three values
    kTwoPass,    // layer_norm in two: about the row's mean, which the first pass found
};

// Which way a row's values are written. Its sums go from the start to the end; where a row does not fit the first
// cache together with its weight, bias and output, its end is still there when writing begins at the end. Rows
// that come from memory one after the other are better written the way they lie there.
enum Writing : int { kAscending, kDescending };

// Where the written rows go: into the caches, or past them to memory, which then need not be read for what is
// overwritten whole. Streaming is for rows that would not stay in a cache until they are read again, and needs
// rows that begin at a multiple of a vector.
enum Stores : int { kCached, kStreaming };

// Whether each row of a block loads weight and bias, or all rows share a load.
enum Weights : int { kPerRow, kShared };

// A schedule, and the arithmetic that goes with it. Every knob is declared in knob_table(): its text form, parser,
// legal values, help, generator parameter and database text are derived from there.
struct Knobs {
    int sums;
    int writing;
    int vector;
    int accumulators;
    int unroll;
    int prefetch;
    int stores;
    int block;
    int weights;

    bool operator==(const Knobs &) const = default;

    // Independent partial sums of a row.
    int lanes() const { return vector * accumulators; }
};

using Knob = KnobOf<Knobs>;

inline constexpr size_t kKnobCount = 9;
std::span<const Knob, kKnobCount> knob_table();

// What a kernel's bits depend on, "lane_pivot over 64 lanes": all other knobs only say in which order and how wide
// the work is done.
std::string arithmetic_text(const Knobs &knobs);

std::string to_text(const Knobs &knobs);
Knobs parse_knobs(std::string_view text);

}  // namespace normforge
