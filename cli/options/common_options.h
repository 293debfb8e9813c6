/* SPDX-License-Identifier: MIT */
/*
 * cli/options/common_options.h - the options that mean the same in every command that has them
 *
 * Way of the data:  command line -> [common_options] -> command_frame -> cmd_*
 *
 * A command puts the rows that it understands into its table; command_frame takes them.
 */
#ifndef CLI_OPTIONS_COMMON_OPTIONS_H
#define CLI_OPTIONS_COMMON_OPTIONS_H

#include "cli/options/option_table.h"
#include "view/text/text_color.h"

#include <stdbool.h>
#include <stdint.h>

#define COMMON_OPTION_COLOR 1280
#define COMMON_OPTION_PAGER 1281
#define COMMON_OPTION_FORCE 1282
#define COMMON_OPTION_MODE  1283

#define COMMON_ROW_HELP                              \
        {                                            \
                'h', "help", NULL, "print this help" \
        }
#define COMMON_ROW_INPUT                        \
        {                                       \
                'i', "input", "TRACE", "=TRACE" \
        }
/* Where the result goes; @help says where it goes without this option. */
#define COMMON_ROW_OUTPUT(help)             \
        {                                   \
                'o', "output", "FILE", help \
        }
#define COMMON_ROW_FORCE                                                            \
        {                                                                           \
                COMMON_OPTION_FORCE, "force", NULL, "replace the file if it exists" \
        }
/* For commands that write traces. */
#define COMMON_ROW_MODE                                                                                     \
        {                                                                                                   \
                COMMON_OPTION_MODE, "mode", "MODE",                                                         \
                        "who may read the trace, as of chmod: 640 also its group, 644 all users; default: " \
                        "600, or that of the file that it replaces"                                         \
        }
#define COMMON_ROW_QUIET                                \
        {                                               \
                'q', "quiet", NULL, "print only errors" \
        }
#define COMMON_ROW_LIMIT                                                       \
        {                                                                      \
                'l', "limit", "N", "show at most N rows of each list; 0 = all" \
        }
#define COMMON_ROW_COLOR                                                                         \
        {                                                                                        \
                COMMON_OPTION_COLOR, "color", TEXT_COLOR_CHOICES, "default: auto, on a terminal" \
        }
#define COMMON_ROW_PAGER                                                           \
        {                                                                          \
                COMMON_OPTION_PAGER, "pager", NULL, "show it with $PAGER, or less" \
        }

/* For commands that fold native functions into Python functions.  The command itself takes the option. */
#define NATIVE_OPTION 1316

#define NATIVE_OPTION_ROW                                                                                 \
        {                                                                                                 \
                NATIVE_OPTION, "native", NULL,                                                            \
                        "of Python programs: native functions, not the Python functions that called them" \
        }

#define COMMON_LIMIT_UNSET UINT32_MAX

struct common_options {
        const char *command; /* as it was called: "hyprof csv", "hyprof export csv" */
        const char *trace;   /* of -i; NULL = not given */
        const char *output;  /* of -o; NULL = not given */
        char **operands;     /* end with NULL */
        int n_operands;
        uint32_t limit; /* 0 = all; COMMON_LIMIT_UNSET = not given */
        unsigned mode;  /* of the trace that is written; 0 = not given */
        enum text_color_when color;
        bool quiet, pager, help, force;
};

/* All as if nothing was given. */
void common_options_init(struct common_options *common);

/*
 * common_options_take() - takes an option if it is one of these, by its letter and its name in the table
 * Returns 1 = taken, 0 = it is another, -EINVAL after a complaint.
 */
int common_options_take(struct common_options *common, const struct option_row *row, const char *value);

/* Takes the value of --mode.  Returns 0, or -EINVAL after a complaint. */
int common_options_parse_mode(const char *value, unsigned *ret_mode);

/*
 * common_options_take_trace() - set `trace` to the first operand, which is removed, or to the value of -i, or
 * to the default
 * Returns 0, or -EINVAL after a complaint: both were given, or the name is empty.
 */
int common_options_take_trace(struct common_options *common);

#endif /* CLI_OPTIONS_COMMON_OPTIONS_H */
