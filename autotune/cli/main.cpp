// normforge: tunes, builds and inspects norm kernels. Exit status 0: done; 1: failed, with the reason on standard
// error; 2: a mistake on the command line.

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>

#include "autotune/cli/commands.h"
#include "autotune/cli/options.h"
#include "runtime/normforge.h"

int main(int argc, char **argv) {
    using namespace normforge;
    std::signal(SIGPIPE, SIG_DFL);
    CLI::App program("Kernel compiler and autotuner for LayerNorm and RMSNorm", "normforge");
    program.set_version_flag("--version", std::string("normforge ") + nf_version());
    program.require_subcommand(1);
    program.option_defaults()->ignore_case(false);
    Run run;
    add_tune_command(program, run);
    add_build_command(program, run);
    add_db_command(program, run);
    add_inspect_command(program, run);
    add_bench_command(program, run);
    add_doctor_command(program, run);
    try {
        program.parse(argc, argv);
    } catch (const CLI::Success &help_or_version) {
        return program.exit(help_or_version);
    } catch (const CLI::ParseError &error) {
        warn(error.what());
        return 2;
    }
    try {
        run();
    } catch (const UsageError &error) {
        warn(error.what());
        return 2;
    } catch (const std::exception &error) {
        warn(error.what());
        return 1;
    }
    return 0;
}
