/* SPDX-License-Identifier: MIT */
/*
 * cli/manual/man_page.h - the manual of a command, from its option_table and its prose
 *
 * Way of the data:  command_table, option_table, manual_prose -> [man_page] -> hyprof-NAME(1), terminal
 */
#ifndef CLI_MANUAL_MAN_PAGE_H
#define CLI_MANUAL_MAN_PAGE_H

#include <stdio.h>

/* `hyprof __man` lists the pages, `hyprof __man PAGE` prints one for man(1): for the Makefile. */
#define MAN_PAGE_COMMAND "__man"

/* The page of hyprof itself. */
#define MAN_PAGE_OWN "hyprof"

enum man_page_form {
        MAN_PAGE_ROFF, /* for man(1) */
        MAN_PAGE_TEXT,
};

/*
 * man_page_print() - a whole page
 * @name:  of a command, or MAN_PAGE_OWN
 * Returns 0, or -ENOENT: there is no such page.
 */
int man_page_print(const char *name, enum man_page_form form, FILE *out);

/* The prose of a page alone. */
void man_page_print_prose(const char *name, FILE *out);

/* @argv: the words after MAN_PAGE_COMMAND.  Returns an exit status. */
int man_page_run(int argc, char **argv);

#endif /* CLI_MANUAL_MAN_PAGE_H */
