// normforge: tunes, builds and inspects norm kernels. Exit status 0: done; 1: failed, with the reason on standard
// error; 2: a mistake on the command line; 130 or 143: interrupted by SIGINT or SIGTERM.

#include <exception>
#include <new>

#include "autotune/base/interruption.h"
#include "autotune/cli/command_line.h"
#include "autotune/cli/options.h"
#include "autotune/cli/standard_streams.h"

int main(int argc, char **argv) {
    using namespace normforge;
    prepare_standard_streams();
    try {
        parse_command_line(argc, argv)();
        flush_output();
    } catch (const Interrupted &interrupted) {
        return 128 + interrupted.signal;  // as a shell has it
    } catch (const UsageError &error) {
        note(error.what());
        return 2;
    } catch (const std::bad_alloc &) {
        note("not enough memory");
        return 1;
    } catch (const std::exception &error) {
        note(error.what());
        return 1;
    }
    return 0;
}
