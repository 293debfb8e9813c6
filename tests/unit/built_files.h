/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/built_files.h - a folder with what compilers and linkers make, for one test
 *
 * Way of the data:  gcc, clang, objcopy, dwz -> [built_files] -> symbolize/index/debug_files and its parts
 */
#ifndef TESTS_BUILT_FILES_H
#define TESTS_BUILT_FILES_H

#include <stdbool.h>

#define BUILT_FILES_PATH_BYTES 512

struct built_files {
        char folder[64];
};

/* Makes the folder. */
void built_files_init(struct built_files *b);
/* Removes it with all that is in it. */
void built_files_deinit(struct built_files *b);

/* A path in the folder; one of eight buffers in turn. */
const char *built_files_path(const struct built_files *b, const char *name);

/* Writes a file into the folder. */
void built_files_write(const struct built_files *b, const char *name, const char *text);

/* Runs @command by sh in the folder, its output thrown away.  Returns true if it succeeds. */
bool built_files_run(const struct built_files *b, const char *command);

/* True if there is a program of this name; says that the test is skipped if not. */
bool built_files_has(const char *program);

#endif /* TESTS_BUILT_FILES_H */
