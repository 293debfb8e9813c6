/* SPDX-License-Identifier: MIT */
/*
 * cli/options/host_options.h - the options of `hyprof record` that are about another machine
 *
 * Way of the data:  command line -> [host_options] -> record_options -> host_record
 */
#ifndef CLI_OPTIONS_HOST_OPTIONS_H
#define CLI_OPTIONS_HOST_OPTIONS_H

#include "cli/options/search_options.h"

#include <stdbool.h>
#include <stddef.h>

struct option_row;

#define HOST_OPTIONS_DEPLOY_MAX    32
#define HOST_OPTIONS_DIRS_MAX      32
#define HOST_OPTIONS_FORWARDED_MAX 256

/* Words are borrowed from the command line, but for `forwarded`. */
struct host_options {
        const char *on; /* the host to record on; NULL = this machine */
        const char *deploy[HOST_OPTIONS_DEPLOY_MAX];
        size_t n_deploy;
        const char *debug_dirs[HOST_OPTIONS_DIRS_MAX];
        size_t n_debug_dirs;
        const char *sysroot;
        char *forwarded[HOST_OPTIONS_FORWARDED_MAX]; /* heap: the options for the recorder on the host */
        size_t n_forwarded;
        bool uses_sudo; /* that recorder is root's */
};

/* Rows for the command's option_table; its letters must be these, and those of search_options.h. */
#define HOST_OPTION_ON     1030
#define HOST_OPTION_DEPLOY 1031
#define HOST_OPTION_SUDO   1032

#define HOST_OPTION_ROWS                                                                                          \
        { HOST_OPTION_ON, "on", "HOST",                                                                           \
          "run and record COMMAND on another machine, and take the trace here while it runs: HOST as ssh "        \
          "has it, or adb:, adb:SERIAL; hyprof, and COMMAND if it has a / and is here, are sent" },               \
                { HOST_OPTION_DEPLOY, "deploy", "FILE",                                                           \
                  "with --on: send this file or folder, too, into the folder where COMMAND starts; may be given " \
                  "again" },                                                                                      \
                { HOST_OPTION_SUDO, "sudo", NULL,                                                                 \
                  "with --on: record there by sudo -n; COMMAND still runs as you" },                              \
                { SEARCH_OPTION_DEBUG_DIR, "debug-dir", "DIR",                                                    \
                  "with --on: files of code and of debug information are here, as of 'hyprof symbolize'; may be " \
                  "given again" },                                                                                \
        {                                                                                                         \
                SEARCH_OPTION_SYSROOT, "sysroot", "DIR",                                                          \
                        "with --on: the root folder of that machine, as it is here"                               \
        }

/* Returns 1 if it is one of these options; 0 if it is another one; -EINVAL after a complaint. */
int host_options_take(struct host_options *h, int letter, const char *value);

/* Keeps another option, in case there is a host for it.  Returns 0, or -EINVAL after a complaint. */
int host_options_forward(struct host_options *h, const struct option_row *row, const char *value);

/* Names options that need a host and have none; NULL = there are none. */
const char *host_options_find_stray(const struct host_options *h);
void host_options_deinit(struct host_options *h);

#endif /* CLI_OPTIONS_HOST_OPTIONS_H */
