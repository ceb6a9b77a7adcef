#include "generators/cycle_model.h"

#include <algorithm>
#include <map>

#include "generators/code_path.h"
#include "generators/pipeline_simulator.h"

namespace normforge {

namespace {

// A loop's trips beyond these many instructions, more than a CPU has in flight, take what the last ones took.
constexpr size_t kInstructionsInFlight = 640;
constexpr int64_t kLeastTrips = 4;

int64_t simulated_trips(const CodeLoop &loop) {
    size_t instructions = 1;
    for (const CodePiece &piece : loop.body) {
        instructions += piece.instructions.size();
    }
    return std::max<int64_t>(kLeastTrips, static_cast<int64_t>(kInstructionsInFlight / instructions));
}

// What runs, one instruction after the other, but for the trips that are left out.
struct Sequence {
    std::vector<const llvm::MCInst *> instructions;
    double left_out = 0;  // cycles
};

class Simulation {
public:
    Simulation(const PipelineSimulator &simulator, int64_t rows_of_pass)
        : simulator_(simulator), rows_of_pass_(rows_of_pass) {}

    double cycles(const std::vector<CodePiece> &pieces, int64_t passes) {
        Sequence sequence;
        append(sequence, pieces, passes, true);
        return simulator_.cycles(sequence.instructions) + sequence.left_out;
    }

    // Of the innermost loops that a pass runs.
    void list_loops(const std::vector<CodePiece> &pieces, int64_t times, std::vector<LoopCycles> &loops) {
        for (const CodePiece &piece : pieces) {
            if (piece.loop && piece.loop->is_innermost()) {
                int64_t instructions = 0;
                for (const CodePiece &inner : piece.loop->body) {
                    instructions += static_cast<int64_t>(inner.instructions.size());
                }
                loops.push_back({times * trips_of(*piece.loop), instructions, steady_cycles(*piece.loop)});
            } else if (piece.loop) {
                list_loops(piece.loop->body, times * trips_of(*piece.loop), loops);
            }
        }
    }

private:
    int64_t trips_of(const CodeLoop &loop) const { return loop.trips.value_or(rows_of_pass_); }

    void append(Sequence &sequence, const std::vector<CodePiece> &pieces, int64_t passes, bool is_outermost) {
        for (const CodePiece &piece : pieces) {
            for (const llvm::MCInst &instruction : piece.instructions) {
                sequence.instructions.push_back(&instruction);
            }
            if (piece.loop) {
                const bool is_over_rows = is_outermost && !piece.loop->trips;
                append_loop(sequence, *piece.loop, is_over_rows ? passes : trips_of(*piece.loop));
            }
        }
    }

    void append_loop(Sequence &sequence, const CodeLoop &loop, int64_t trips) {
        int64_t simulated = trips;
        if (loop.is_innermost() && trips > simulated_trips(loop)) {
            simulated = simulated_trips(loop);
            sequence.left_out += steady_cycles(loop) * static_cast<double>(trips - simulated);
        }
        for (int64_t trip = 0; trip < simulated; trip++) {
            append(sequence, loop.body, 0, false);
        }
    }

    double steady_cycles(const CodeLoop &loop) {
        if (const auto known = steady_.find(&loop); known != steady_.end()) {
            return known->second;
        }
        const int64_t trips = simulated_trips(loop);
        const auto run = [&](int64_t count) {
            Sequence sequence;
            for (int64_t trip = 0; trip < count; trip++) {
                append(sequence, loop.body, 0, false);
            }
            return simulator_.cycles(sequence.instructions);
        };
        return steady_[&loop] = (run(2 * trips) - run(trips)) / static_cast<double>(trips);
    }

    const PipelineSimulator &simulator_;
    const int64_t rows_of_pass_;
    std::map<const CodeLoop *, double> steady_;
};

KernelCycles cycles_of(const std::vector<CodePiece> &path, const PipelineSimulator &simulator,
                       int64_t rows_of_pass) {
    Simulation simulation(simulator, rows_of_pass);
    KernelCycles result{};
    result.first_pass = simulation.cycles(path, 1);
    constexpr int64_t kPasses = 3;
    result.next_pass = (simulation.cycles(path, kPasses) - result.first_pass) / static_cast<double>(kPasses - 1);
    for (const CodePiece &piece : path) {
        if (piece.loop && !piece.loop->trips) {
            simulation.list_loops(piece.loop->body, 1, result.loops);
        }
    }
    return result;
}

}  // namespace

std::vector<KernelCycles> simulate_entry(llvm::Module &module, const std::string &symbol, const CpuPipeline &cpu,
                                         const std::vector<int64_t> &rows_of_pass) {
    const std::vector<CodePiece> path = usual_path(module, symbol);
    const PipelineSimulator simulator(module.getTargetTriple(), cpu);
    std::vector<KernelCycles> result;
    for (const int64_t rows : rows_of_pass) {
        result.push_back(cycles_of(path, simulator, rows));
    }
    return result;
}

}  // namespace normforge
