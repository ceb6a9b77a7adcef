#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "Halide.h"
#include "generators/norm_values.h"
#include "schedules/gpu_knobs.h"
#include "schedules/gpu_stages.h"

namespace normforge {

// A value of a row, and its place there. Of backward also that of dy, and of the weight if there is one.
struct GpuValue {
    Halide::Expr h, dy, weight, place;
};

// Deals a row out to the threads of its warps and merges what they find. What a thread knows does not outlive the
// barrier at a section's end: what is needed later is computed again, from the totals of the warps.
class GpuReduction {
public:
    using Values = std::vector<Halide::Expr>;

    // Defines the row of the stages.
    GpuReduction(const NormProblem &problem, const GpuKnobs &knobs, const NormValues &values, GpuStages &stages);

    // h of value v of the thread's vector in chunk c. In a chunk that is not full, threads without a vector have
    // the last one once more.
    Halide::Expr held(const Halide::Expr &v, const Halide::Expr &c) const;

    // From what the row has of it.
    GpuValue value_of(const Halide::FuncRef &held, const Halide::Expr &place) const;

    // How many values the thread has, an f32; and how many all have, or 0 if not all have as many.
    Halide::Expr count() const;
    int equal_count() const;

    // (l, w, r): Values that a thread computes from what it knows; within a section once for each name.
    Halide::Func known(const std::string &name, const std::function<Values()> &values);

    // (l, w, r): the sums over all values of the thread of what each of them has.
    using Terms = std::function<Values(const GpuValue &value)>;
    Halide::Func sums(const std::string &name, const Terms &terms);

    // A name's total over all threads of the row of what each of them has: of_thread is (l, w, r). merge combines
    // two sides, each of as many threads as it is told; it must give the same with its sides exchanged, so that
    // all threads get the same bits. With several warps the section ends here.
    using Merge = std::function<Values(const Values &a, const Values &b, int threads)>;
    void merge(const std::string &name, const Halide::Func &of_thread, const Merge &merge);
    void merge_sums(const std::string &name, const Halide::Func &of_thread);

    // The largest magnitude of f32 numbers that are made from the values: as an int32, which is in the order of
    // the numbers, with a NaN above all others.
    using Number = std::function<Halide::Expr(const GpuValue &value)>;
    void merge_largest_magnitude(const std::string &name, const Number &number);

    // As a thread of the present section knows it.
    Values total(const std::string &name);

private:
    struct Total {
        Merge merge;
        size_t section;        // whose threads know it
        Halide::Func known;    // (l, w, r)
        Halide::Func of_warp;  // (l, w, r), of several warps: kept for all sections that follow
    };

    using Combine = std::function<Values(const Values &a, const Values &b)>;

    Halide::Expr thread() const;
    Halide::Expr place(const Halide::Expr &v, const Halide::Expr &c) const;
    GpuValue value_of(const Values &held, const Halide::Expr &place) const;
    bool has_weighted_gradients() const;
    Halide::Func over_values(const std::string &name, const Terms &terms, const Combine &combine);
    void update(Halide::Func f, const Terms &terms, const Combine &combine, int first_chunk, int chunks);
    GpuSection &section() { return stages_.sections.back(); }
    Halide::Func add(const std::string &name, const Values &values);
    Halide::Func merge_lanes(const std::string &name, Halide::Func f, const Merge &merge, int lanes, int threads);

    const NormValues &norm_values_;
    GpuStages &stages_;
    const ThreadValues values_;
    const bool reads_vectors_;
    const int warps_;
    std::map<std::string, std::pair<size_t, Halide::Func>> known_;
    std::map<std::string, Total> totals_;
};

}  // namespace normforge
