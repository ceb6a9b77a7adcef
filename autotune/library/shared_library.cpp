#include "autotune/library/shared_library.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <system_error>
#include <vector>

#include "runtime/user_error.h"

namespace normforge {

namespace {

// Runs the compiler to its end and gives waitpid's status, or an error's number below 0. Its standard output goes
// to standard error, since ours may be read by a program.
int run(const std::vector<std::string> &command) {
    std::vector<char *> arguments;
    for (const std::string &word : command) {
        arguments.push_back(const_cast<char *>(word.c_str()));
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    pid_t process = 0;
    const int error = posix_spawnp(&process, arguments.front(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        return -error;
    }
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(process, &status, 0)) < 0 && errno == EINTR) {
    }
    return ended < 0 ? -errno : status;
}

}  // namespace

std::vector<std::string> compiler_words(const char *variable, const std::string &usual) {
    const char *chosen = std::getenv(variable);
    if (chosen && access(chosen, X_OK) == 0) {
        return {chosen};  // a path, which may have spaces
    }
    std::istringstream text(chosen ? chosen : "");
    std::vector<std::string> words;
    for (std::string word; text >> word;) {
        words.push_back(word);
    }
    return words.empty() ? std::vector<std::string>{usual} : words;
}

void run_linker(const std::vector<std::string> &command, const std::string &product, const std::string &needs) {
    const int status = run(command);
    if (status < 0) {
        throw UserError("cannot run '" + command.front() + "': " + std::generic_category().message(-status) +
                        "; " + needs);
    }
    if (status != 0) {
        throw UserError("'" + command.front() + "' could not link " + product + "; " + needs);
    }
}

void link_shared_library(const std::filesystem::path &archive, const std::string &soname,
                         const std::filesystem::path &output) {
    std::vector<std::string> command = compiler_words("CC", "cc");
    // Were anything missing beyond the C library, -z defs would make it an error here rather than in a program.
    for (const std::string &option :
         {std::string("-shared"), "-Wl,-soname," + soname, std::string("-Wl,-z,defs"),
          std::string("-nodefaultlibs"), std::string("-Wl,--whole-archive"), archive.string(),
          std::string("-Wl,--no-whole-archive"), std::string("-lc"), std::string("-o"), output.string()}) {
        command.push_back(option);
    }
    run_linker(command, soname,
               "a shared library needs a C compiler, cc or the one that the environment variable CC names; "
               "a static library needs none");
}

}  // namespace normforge
