/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/command_frame.h - what every command does before and after its work: options, help, pager
 *
 * Way of the data:  command line -> [command_frame] (option_table, common_options) -> the command's run()
 */
#ifndef CLI_COMMANDS_COMMAND_FRAME_H
#define CLI_COMMANDS_COMMAND_FRAME_H

#include "cli/options/common_options.h"
#include "cli/options/option_table.h"

#include <stdbool.h>

/* How a command uses foreign files: it gives up the other rights before run(). */
enum command_reading {
        COMMAND_READS_ELSEWHERE = 0, /* nothing; or it gives up rights itself, or has processes for it */
        COMMAND_PRINTS,              /* reads files, and prints */
        COMMAND_WRITES_OUTPUT,       /* the same, or writes common->output */
        COMMAND_WRITES_BESIDE,       /* writes common->output, or else beside what it reads */
};

struct command_frame {
        const struct option_table *table;
        option_taker *take; /* the command's own options; NULL = it has none */
        void *context;      /* of take() and run() */
        bool takes_trace;   /* the first operand, or -i, or the default is the trace: common->trace is set */
        enum command_reading reading;
        int (*run)(void *context, struct common_options *common); /* returns an exit status */
};

/*
 * command_frame_confine() - for commands whose options say what they write: before they read anything
 * @result:  a file or folder that is written beside what @reading says; NULL = none
 * Returns 0, or -errno after a complaint.
 */
int command_frame_confine(enum command_reading reading, const struct common_options *common,
                          const char *result);

/*
 * @argv: from the command's name on; a name of two words, such as "export csv", stands in help and messages
 * instead of the table's.  Returns the exit status of run(), or that of the help or a usage error.
 */
int command_frame_run(const struct command_frame *frame, int argc, char **argv);

#endif /* CLI_COMMANDS_COMMAND_FRAME_H */
