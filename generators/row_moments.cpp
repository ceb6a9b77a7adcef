#include "generators/row_moments.h"

#include <algorithm>
#include <string>

namespace normforge {

using namespace Halide;

namespace {

// Values a lane takes before it starts anew. Its rounding error grows with their number, at worst to 64 half ulps
// of the sum.
constexpr int kChunkSteps = 64;

// What is summed of d = x - pivot: d, d^2 or both, in this order.
struct Moments {
    std::string name;
    bool sum;
    bool squares;
    bool lane_pivots;
    Func row_pivot;  // (r); undefined for none

    std::vector<Expr> of(const Expr &d) const {
        std::vector<Expr> powers;
        if (sum) {
            powers.push_back(d);
        }
        if (squares) {
            powers.push_back(d * d);
        }
        return powers;
    }
};

std::vector<Expr> elements(const FuncRef &f) {
    if (f.size() == 1) {
        return {f};
    }
    std::vector<Expr> result;
    for (int m = 0; m < static_cast<int>(f.size()); m++) {
        result.push_back(f[m]);
    }
    return result;
}

Tuple add(std::vector<Expr> a, const std::vector<Expr> &b) {
    for (size_t m = 0; m < a.size(); m++) {
        a[m] += b[m];
    }
    return Tuple(a);
}

Expr median_of_three(const Expr &a, const Expr &b, const Expr &c) {
    return max(min(a, b), min(max(a, b), c));
}

LaneRun define_run(const NormVars &vars, const RowReading &reading, const Moments &moments,
                   const std::string &part, int chunk_steps, int steps, int tail_lanes) {
    const Var &r = vars.r;
    const Var &l = vars.l;
    const Var &c = vars.c;
    std::string name = moments.name + "_" + part;
    auto value = [&](const Expr &lane, const Expr &step) {
        return reading.x((c * chunk_steps + step) * reading.lanes + lane, r);
    };
    LaneRun run;
    if (moments.lane_pivots) {
        run.pivot = Func(name + "_pivot");
        run.pivot(l, c, r) = median_of_three(value(l, 0), value(l, 1), value(l, 2));
    }
    auto powers = [&](const Expr &lane, const Expr &step) {
        Expr d = value(lane, step);
        if (moments.lane_pivots) {
            d -= run.pivot(lane, c, r);
        } else if (moments.row_pivot.defined()) {
            d -= moments.row_pivot(r);
        }
        return moments.of(d);
    };
    run.lanes = Func(name + "_lanes");
    run.lanes(l, c, r) = Tuple(std::vector<Expr>(moments.sum + moments.squares, 0.0f));
    RDom step(0, steps, name + "_step");
    run.step = step.x;
    run.lanes(l, c, r) = add(elements(run.lanes(l, c, r)), powers(l, step.x));
    run.tail_lanes = tail_lanes;
    if (tail_lanes > 0) {
        RDom tail(0, tail_lanes, name + "_tail");
        run.tail = tail.x;
        run.lanes(tail.x, c, r) = add(elements(run.lanes(tail.x, c, r)), powers(tail.x, steps));
    }
    return run;
}

// The lanes' moments about `reference`, in f64, added in a tree. reference is undefined where all lanes share a
// pivot.
void define_tree(const NormVars &vars, const RowReading &reading, const Moments &moments, const std::string &part,
                 int steps, const Expr &reference, LaneRun &run) {
    const Var &r = vars.r;
    const Var &l = vars.l;
    const Var &c = vars.c;
    std::vector<Expr> merged = elements(run.lanes(l, c, r));
    for (Expr &moment : merged) {
        moment = cast<double>(moment);
    }
    if (reference.defined()) {
        Expr shift = cast<double>(run.pivot(l, c, r)) - reference;
        Expr count = cast<double>(steps);
        if (run.tail_lanes > 0) {
            count = select(l < run.tail_lanes, cast<double>(steps + 1), count);
        }
        // With n values x about p, and s = p - reference:
        // sum of (x-p+s) = S + n*s, sum of (x-p+s)^2 = Q + s*(2*S + n*s).
        merged[1] += shift * (merged[0] + merged[0] + count * shift);
        merged[0] += count * shift;
    }
    for (int width = reading.lanes; width >= 1; width /= 2) {
        Func level(moments.name + "_" + part + "_" + std::to_string(width));
        level(l, c, r) = Tuple(merged);
        run.tree.push_back(level);
        merged.clear();
        Tuple halves = add(elements(level(l, c, r)), elements(level(l + width / 2, c, r)));
        merged = halves.as_vector();
    }
}

RowPass define_pass(const NormVars &vars, const RowReading &reading, const Moments &moments) {
    const Var &r = vars.r;
    int steps = reading.hidden / reading.lanes;
    // The last run takes the steps beyond the last full chunk as well, so it is never too short for a pivot. A row
    // of no more than that is one run. Else there are two chunks or more: LLVM would melt a loop over one into the
    // code around it, keep the sums of both runs and spill (AVX2, 5120 values over 32 lanes: 1.05 us instead of
    // 0.87 on Zen 4).
    const bool one_run = reading.hidden <= 2 * kChunkSteps * reading.lanes;
    const int chunk_steps = std::min(kChunkSteps, steps / 3);
    const int chunks = one_run ? 0 : steps / chunk_steps - 1;
    const int last_steps = steps - chunks * chunk_steps;

    RowPass pass;
    Expr reference;
    if (moments.lane_pivots) {
        // Lane 0's in the first chunk, so near to all the others that moving to it costs no digits.
        pass.reference = Func(moments.name + "_reference");
        pass.reference(r) =
            median_of_three(reading.x(0, r), reading.x(reading.lanes, r), reading.x(2 * reading.lanes, r));
        reference = cast<double>(pass.reference(r));
    }
    pass.last =
        define_run(vars, reading, moments, "last", chunk_steps, last_steps, reading.hidden % reading.lanes);
    if (chunks > 0) {
        pass.chunk = define_run(vars, reading, moments, "chunk", chunk_steps, chunk_steps, 0);
    }
    define_tree(vars, reading, moments, "last", last_steps, reference, pass.last);
    pass.total = Func(moments.name + "_total");
    pass.total(r) = Tuple(elements(pass.last.tree.back()(0, chunks, r)));
    if (chunks > 0) {
        define_tree(vars, reading, moments, "chunk", chunk_steps, reference, pass.chunk);
        RDom chunk(0, chunks, moments.name + "_chunk");
        pass.chunk_index = chunk.x;
        pass.total(r) = add(elements(pass.total(r)), elements(pass.chunk.tree.back()(0, chunk.x, r)));
    }
    return pass;
}

}  // namespace

RowPass sum_of_values(const NormVars &vars, const RowReading &reading) {
    return define_pass(vars, reading, {"values", true, false, false, Func()});
}

RowPass sum_of_squares(const NormVars &vars, const RowReading &reading) {
    return define_pass(vars, reading, {"squares", false, true, false, Func()});
}

RowPass moments_about_row_pivot(const NormVars &vars, const RowReading &reading, const Func &row_pivot) {
    return define_pass(vars, reading, {"moments", true, true, false, row_pivot});
}

RowPass moments_about_lane_pivots(const NormVars &vars, const RowReading &reading) {
    return define_pass(vars, reading, {"moments", true, true, true, Func()});
}

}  // namespace normforge
