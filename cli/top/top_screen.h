/* SPDX-License-Identifier: MIT */
/*
 * cli/top/top_screen.h - `hyprof top` on a terminal: tables that are drawn anew, and keys
 *
 * Way of the data:  top_input -> top_view -> [top_screen] (ncurses) -> terminal
 *
 * With HYPROF_NO_NCURSES=1 it is built without ncurses: then no terminal is good enough.
 */
#ifndef CLI_TOP_TOP_SCREEN_H
#define CLI_TOP_TOP_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct top_input;
struct top_view;

struct top_screen_options {
        const char *title;    /* the trace, or the command */
        uint64_t interval_ns; /* between drawings */
        uint64_t n_updates;   /* ends after so many; 0 = does not */
        bool wants_color;
        bool shows_native; /* of Python programs */
        bool all;          /* begin with all that has arrived, not with the last seconds */
        int stop_fd;       /* readable = end; -1 = never */
};

/* Whether the terminal can be drawn on: it is one for input and output, and its cursor can be moved. */
bool top_screen_can_draw(void);

/*
 * top_screen_run() - until q, a signal, or the number of updates
 * The terminal is as before when it returns.  Returns 0, or -errno of top_input_step().
 */
int top_screen_run(struct top_input *in, struct top_view *view, const struct top_screen_options *options,
                   struct error *err);

#endif /* CLI_TOP_TOP_SCREEN_H */
