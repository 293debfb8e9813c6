/* SPDX-License-Identifier: MIT */
/*
 * cli/options/option_table.h - the options of one command: parsed and explained from one table
 *
 * Way of the data:  command line -> [option_table] -> cmd_*
 *                   cmd_* -> [option_table] -> --help, man_page, completion
 */
#ifndef CLI_OPTIONS_OPTION_TABLE_H
#define CLI_OPTIONS_OPTION_TABLE_H

#include "cli/options/argument_words.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The @argument of an option also gives the kind of its value, so that a row needs no more members:
 *
 *      NULL             nothing
 *      "FILE"           a word of capitals is a kind, see cli/options/argument_words.h
 *      "att|intel"      words of small letters are choices; any other word is refused before it is taken
 *      "N|all"          both: the command judges
 *      "[=callstacks]"  may be left out, and is given as --name=WORD only
 */
struct option_row {
        int letter; /* the short form; from OPTION_LONG_ONLY on there is no short form */
        const char *name;
        const char *argument;
        /*
         * One paragraph, without line ends: it is wrapped where it is shown.  NULL = hyprof gives the option
         * to itself, and neither help nor completion shows it.  "=--thread" = the option is an alias of this,
         * and the manual alone shows it, in one line with the other aliases.
         */
        const char *help;
};

/*
 * Rows that belong together, where a table has many: help, manual and completion show them in this order.
 * Lists are names of rows with a blank between.
 */
struct option_group {
        const char *title;
        const char *names;
        const char *rare; /* the manual shows these too, --help does not; NULL = none */
};

/* The trace that every command means when none is named. */
#define OPTION_DEFAULT_TRACE "hyprof.hyp"

#define OPTION_LONG_ONLY 256
#define OPTION_ROWS_MAX  80

struct option_table {
        const char *command;  /* "hyprof dump" */
        const char *operands; /* "[TRACE]": kinds and choices as for options */
        const char *about;    /* lines below the usage */
        const struct option_row *rows;
        size_t n_rows;                     /* at most OPTION_ROWS_MAX */
        const struct option_group *groups; /* hold each row that is shown once; NULL = there are no groups */
        size_t n_groups;
        const char *closing;  /* lines below the options */
        int n_operands_max;   /* further operands are refused, unless they are another program's */
        bool ends_at_operand; /* all words after the first operand are another program's */
        /* "folded|chrome": the words that the first operand can be, others are refused; NULL = any */
        const char *choices;
        const char *stray_advice; /* what to try when there are too many operands; NULL = the help */
};

/* The result of a taker that has printed its own "try:" line; for other failures that line names the help. */
#define OPTION_ADVISED (-ECANCELED)

/*
 * Takes one option; @value is NULL for one without argument, or whose argument was left out.
 * Returns 0, or -EINVAL or OPTION_ADVISED after a complaint.
 */
typedef int option_taker(void *context, int letter, const char *value);

/*
 * option_table_parse() - go through the command line
 * @argv:         as main() has it from the command's name on
 * @ret_operand:  index of the first operand in @argv
 * Returns 0, or -EINVAL after a complaint that names the option, what may be meant, and what to try.
 */
int option_table_parse(const struct option_table *table, int argc, char **argv, option_taker *take,
                       void *context, int *ret_operand);

/* The text of --help. */
void option_table_print(const struct option_table *table, FILE *out);

/* A place in the order in which the rows are shown; zeroed at first. */
struct option_cursor {
        const struct option_row *row;
        const struct option_group *group; /* NULL = the table has none */
        bool begins_group;                /* the first of its group */
        bool is_rare;
        size_t n_done; /* rows, or groups */
        struct argument_word word;
};

bool option_row_is_alias(const struct option_row *row);

/* The next row that is shown; aliases are skipped.  Returns 1, or 0 after the last. */
int option_table_next(const struct option_table *table, struct option_cursor *cursor);

/* NULL when absent. */
const struct option_row *option_table_find_letter(const struct option_table *table, int letter);
const struct option_row *option_table_find_name(const struct option_table *table, const char *name,
                                                size_t n_bytes);

/*
 * Finds the option of a word "--name" or "--name=VALUE"; the name may be shortened as getopt_long(3) allows.
 * NULL = no option fits, or several do.
 */
const struct option_row *option_table_find_long(const struct option_table *table, const char *word);

/* The option in @word whose value is the next word; NULL = none is. */
const struct option_row *option_table_find_waiting(const struct option_table *table, const char *word);

/* "-o, --output FILE" */
#define OPTION_FORM_BYTES 96
void option_row_name(const struct option_row *row, char form[OPTION_FORM_BYTES]);

/* A whole decimal number from @min to @max.  Returns 0 or -EINVAL, silently. */
int option_parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value);

/* The same for bytes: "65536", "64K", "4M", "1G", powers of 1024. */
int option_parse_bytes(const char *text, uint64_t min, uint64_t max, uint64_t *ret_bytes);

/*
 * The same for nanoseconds: "500ms", "10s", "1.5s", "17us", "2m", "1h", and "1.234567890 s" as reports
 * print it; a number alone is seconds.  Parts of a nanosecond are dropped.  Every time that a command
 * takes is read by this.
 */
int option_parse_duration(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns);

/* The same for the mode of a trace: three octal digits, "600" to "666", with or without a 0 before them. */
int option_parse_mode(const char *text, unsigned *ret_mode);

/* The same for a part of a whole: "1%", "0.1%"; or "0.01", which is "1%".  Over 0, at most @max. */
int option_parse_share(const char *text, double max, double *ret_share);

#endif /* CLI_OPTIONS_OPTION_TABLE_H */
