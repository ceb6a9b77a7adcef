#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace normforge {

// Each adds one command to the program, its options and its help. Parsing sets `run` to what the command will do.
using Run = std::function<void()>;

void add_tune_command(CLI::App &program, Run &run);
void add_build_command(CLI::App &program, Run &run);
void add_db_command(CLI::App &program, Run &run);
void add_inspect_command(CLI::App &program, Run &run);
void add_bench_command(CLI::App &program, Run &run);
void add_doctor_command(CLI::App &program, Run &run);
void add_report_command(CLI::App &program, Run &run);
void add_completion_command(CLI::App &program, Run &run);
void add_schema_command(CLI::App &program, Run &run);

}  // namespace normforge
