#include "generators/row_reduction.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace normforge {

using namespace Halide;

namespace {

// What a has beyond b's stays.
Tuple combined(const Reduction &reduction, std::vector<Expr> a, const std::vector<Expr> &b) {
    for (size_t m = 0; m < b.size(); m++) {
        a[m] = reduction.combine == Reduction::maximum ? max(a[m], b[m]) : a[m] + b[m];
    }
    return Tuple(a);
}

LaneRun define_run(const NormVars &vars, const RowLanes &row, const Reduction &reduction, const std::string &part,
                   int chunk_steps, int steps, int tail_lanes) {
    const Var &r = vars.r;
    const Var &l = vars.l;
    const Var &c = vars.c;
    const std::string name = reduction.name + "_" + part;
    const int width = row.values_of_l();
    const auto place = [&](const Expr &at, int value, const Expr &step) {
        return (c * chunk_steps + step) * row.lanes + (at * width + value);
    };
    LaneRun run;
    run.extent = row.lanes / width;
    // Of all values of an l, one after the other.
    const auto terms = [&](const Expr &at, const Expr &step) {
        Reduction::Terms all;
        for (int value = 0; value < width; value++) {
            const Reduction::Terms own = reduction.terms(place(at, value, step), r);
            all.insert(all.end(), own.begin(), own.end());
        }
        return all;
    };
    run.lanes = Func(name + "_lanes");
    // Zero is below every magnitude, so it is where a maximum of them starts too.
    Reduction::Terms zeros = terms(l, 0);
    for (Expr &zero : zeros) {
        zero = cast(zero.type(), 0);
    }
    run.lanes(l, c, r) = Tuple(zeros);
    RDom step(0, steps, name + "_step");
    run.step = step.x;
    run.lanes(l, c, r) = combined(reduction, elements(run.lanes(l, c, r)), terms(l, step.x));
    run.tail_extent = tail_lanes / width;
    if (tail_lanes > 0) {
        RDom tail(0, run.tail_extent, name + "_tail");
        run.tail = tail.x;
        run.lanes(tail.x, c, r) = combined(reduction, elements(run.lanes(tail.x, c, r)), terms(tail.x, steps));
    }
    return run;
}

// The lanes' totals, sums of them in f64, combined in a tree.
void define_tree(const NormVars &vars, const RowLanes &row, const Reduction &reduction, const std::string &part,
                 LaneRun &run) {
    const Var &r = vars.r;
    const Var &l = vars.l;
    const Var &c = vars.c;
    std::vector<Expr> merged = elements(run.lanes(l, c, r));
    if (reduction.combine == Reduction::sum) {
        for (Expr &sum : merged) {
            sum = cast<double>(sum);
        }
    }
    const auto push_level = [&](int width) {
        Func level(reduction.name + "_" + part + "_" + std::to_string(width));
        level(l, c, r) = Tuple(merged);
        run.tree.push_back(level);
    };
    for (int width = run.extent; width >= 1; width /= 2) {
        push_level(width);
        const Func &level = run.tree.back();
        merged = combined(reduction, elements(level(l, c, r)), elements(level(l + width / 2, c, r))).as_vector();
    }
    if (row.in_pairs) {
        // Without pairs that is the last step too.
        const std::vector<Expr> both = elements(run.tree.back()(l, c, r));
        const auto half = both.begin() + static_cast<std::ptrdiff_t>(both.size() / 2);
        merged = combined(reduction, {both.begin(), half}, {half, both.end()}).as_vector();
        push_level(0);
    }
}

}  // namespace

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

Expr median_of_three(const Expr &a, const Expr &b, const Expr &c) {
    return max(min(a, b), min(max(a, b), c));
}

RowPass reduce_row(const NormVars &vars, const RowLanes &row, const Reduction &reduction) {
    const Var &r = vars.r;
    const std::string &name = reduction.name;
    int steps = row.hidden / row.lanes;
    // The last run takes the steps beyond the last full chunk as well. A row of no more than that is one run. Else
    // there are two chunks or more: LLVM would melt a loop over one into the code around it, keep the sums of both
    // runs and spill (AVX2, 5120 values over 32 lanes: 1.05 us instead of 0.87 on Zen 4). A maximum has no
    // rounding error that a chunk would bound.
    const bool one_run = row.hidden <= 2 * reduction.run * row.lanes || reduction.combine == Reduction::maximum;
    const int chunk_steps = std::min(reduction.run, std::max(steps / 3, 1));
    const int chunks = one_run ? 0 : steps / chunk_steps - 1;
    const int last_steps = steps - chunks * chunk_steps;

    RowPass pass;
    pass.last = define_run(vars, row, reduction, "last", chunk_steps, last_steps, row.hidden % row.lanes);
    define_tree(vars, row, reduction, "last", pass.last);
    const std::vector<Expr> last = elements(pass.last.tree.back()(0, chunks, r));
    std::vector<Expr> sums = last;
    if (chunks > 0) {
        for (Expr &sum : sums) {
            sum = cast(sum.type(), 0);
        }
    }
    pass.sums = Func(name + "_sums");
    pass.sums(r) = Tuple(sums);
    if (chunks > 0) {
        // In the order of the row, in which memory comes: with the last run first, rms_norm took 1.18 of the time
        // for 64 rows of 4096 f32 values and 1.13 for rows of 8192 from memory, in blocks (Zen 4).
        pass.chunk = define_run(vars, row, reduction, "chunk", chunk_steps, chunk_steps, 0);
        define_tree(vars, row, reduction, "chunk", pass.chunk);
        RDom chunk(0, chunks, name + "_chunk");
        pass.chunk_index = chunk.x;
        pass.sums(r) =
            combined(reduction, elements(pass.sums(r)), elements(pass.chunk.tree.back()(0, chunk.x, r)));
        pass.sums(r) = combined(reduction, elements(pass.sums(r)), last);
    }
    pass.total = Func(name + "_total");
    pass.total(r) = Tuple(elements(pass.sums(r)));
    return pass;
}

RowPass moments_about_row_pivot(const NormVars &vars, const RowLanes &row, const Func &x) {
    const Var &r = vars.r;
    const auto value = [&](int place) { return x(std::min(place, row.hidden - 1), r); };
    Func pivot("row_pivot");
    pivot(r) = median_of_three(value(0), value(1), value(2));
    RowPass pass = reduce_row(vars, row, {"moments", [&](const Expr &i, const Expr &at) {
                                              Expr d = x(i, at) - pivot(at);
                                              return Reduction::Terms{d, d * d};
                                          }});
    pass.pivot = pivot;
    std::vector<Expr> moments = elements(pass.sums(r));
    moments.push_back(cast<double>(pivot(r)));
    pass.total = Func("moments_about_pivot");
    pass.total(r) = Tuple(moments);
    return pass;
}

}  // namespace normforge
