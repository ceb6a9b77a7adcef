#include "autotune/cli/commands.h"
#include "autotune/cli/standard_streams.h"
#include "autotune/manifest/manifest.h"

namespace normforge {

void add_schema_command(CLI::App &program, Run &run) {
    CLI::App &command = *program.add_subcommand(
        "schema", "Print the JSON schema of manifests, for editors that check files by one");
    command.footer("Example:\n  normforge schema > manifest.schema.json");
    command.callback([&run] { run = [] { write_output(manifest_schema()); }; });
}

}  // namespace normforge
