#pragma once

#include "autotune/cli/commands.h"

namespace normforge {

// Each adds commands below db.
void add_db_explain_command(CLI::App &db, Run &run);
void add_db_verify_command(CLI::App &db, Run &run);
void add_db_transfer_commands(CLI::App &db, Run &run);
void add_db_merge_command(CLI::App &db, Run &run);
void add_db_prune_command(CLI::App &db, Run &run);

}  // namespace normforge
