#include "autotune/base/process_identity.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace normforge {
namespace {

TEST(ProcessIdentity, OfThisProcessIsTheSameAndAlive) {
    EXPECT_EQ(process_identity(), process_identity());
    EXPECT_FALSE(has_ended(process_identity()));
}

TEST(ProcessIdentity, OfADeadProcessHasEnded) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        const std::string identity = process_identity();
        _exit(write(ends[1], identity.data(), identity.size()) < 0);
    }
    char text[200] = {};
    ASSERT_GT(read(ends[0], text, sizeof text - 1), 0);
    waitpid(child, nullptr, 0);
    EXPECT_NE(std::string(text), process_identity());
    EXPECT_TRUE(has_ended(text));
}

// Its words are machine, boot, number space, number and start.
TEST(ProcessIdentity, WhatCannotBeKnownHasNotEnded) {
    std::string other_machine = process_identity();
    other_machine[0] = other_machine[0] == '0' ? '1' : '0';
    EXPECT_FALSE(has_ended(other_machine));
    EXPECT_FALSE(has_ended(""));
    EXPECT_FALSE(has_ended("of an older file"));
}

TEST(ProcessIdentity, OfAnotherStartUnderTheSameNumberHasEnded) {
    EXPECT_TRUE(has_ended(process_identity() + "1"));
}

}  // namespace
}  // namespace normforge
