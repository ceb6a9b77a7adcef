#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace normforge {

struct Outcome {
    int status;  // as a shell has it: 128 and the signal's number for a program that a signal ended
    std::string output;
    std::string errors;
};

// Runs the program in a folder of its own, away from the user's database.
class CliTest : public testing::Test {
protected:
    // The words of the line, of which '' is an empty one and {} the folder.
    Outcome run(const std::string &line) { return wait(start(line, streams / "stdout", streams / "stderr")); }

    // What the program prints with --json, which is all that it prints on standard output.
    nlohmann::json run_json(const std::string &line) {
        const Outcome outcome = run(line + " --json");
        EXPECT_EQ(outcome.status, 0) << outcome.errors;
        return nlohmann::json::parse(outcome.output);
    }

    // Standard output and error go to the given files; "" is a closed stream.
    pid_t start(const std::string &line, const std::string &output, const std::string &errors) const {
        std::vector<std::string> words = {NORMFORGE_PROGRAM};
        std::istringstream text(line);
        for (std::string word; text >> word;) {
            words.push_back(word == "''" ? "" : in_folder(word));
        }
        std::vector<std::string> variables;
        for (const auto &[name, value] : environment) {
            variables.push_back(name + "=" + in_folder(value));
        }
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        redirect(actions, STDOUT_FILENO, output);
        redirect(actions, STDERR_FILENO, errors);
        pid_t process = 0;
        const int error = posix_spawn(&process, NORMFORGE_PROGRAM, &actions, nullptr, pointers(words).data(),
                                      pointers(variables).data());
        posix_spawn_file_actions_destroy(&actions);
        if (error != 0) {
            throw std::runtime_error("cannot run " NORMFORGE_PROGRAM);
        }
        return process;
    }

    Outcome wait(pid_t process) const {
        int status = 0;
        waitpid(process, &status, 0);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), streams.read("stdout"),
                streams.read("stderr")};
    }

    std::string in_folder(std::string text) const {
        for (size_t at; (at = text.find("{}")) != std::string::npos;) {
            text.replace(at, 2, folder.path());
        }
        return text;
    }

    const TemporaryFolder folder;
    const TemporaryFolder streams;  // apart, so that the folder holds what the program wrote
    std::map<std::string, std::string> environment = {{"NORMFORGE_DB", "{}/default.db"},
                                                      {"NORMFORGE_LOCK", streams / "lock"},  // of this test alone
                                                      {"PATH", std::getenv("PATH")},
                                                      {"HOME", "{}/home"}};

private:
    static std::vector<char *> pointers(std::vector<std::string> &texts) {
        std::vector<char *> result;
        for (std::string &text : texts) {
            result.push_back(text.data());
        }
        result.push_back(nullptr);
        return result;
    }

    static void redirect(posix_spawn_file_actions_t &actions, int stream, const std::string &file) {
        if (file.empty()) {
            posix_spawn_file_actions_addclose(&actions, stream);
        } else {
            posix_spawn_file_actions_addopen(&actions, stream, file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        }
    }
};

}  // namespace normforge
