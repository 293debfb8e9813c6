/* SPDX-License-Identifier: MIT */
/*
 * cli/top/top_head.h - the line above the tables of `hyprof top`
 *
 * Way of the data:  top_input -> [top_head] -> top_screen, standard output
 */
#ifndef CLI_TOP_TOP_HEAD_H
#define CLI_TOP_TOP_HEAD_H

#include <stdbool.h>
#include <stddef.h>

struct answer_part;
struct top_input;
struct view_document;

struct top_head {
        const char *title; /* foreign text: the line is to be escaped */
        bool all, is_paused;
        bool is_python; /* of struct top_text */
};

/* The subject, its time, and whether more comes, for people. */
void top_head_print(const struct top_input *in, const struct top_head *head, char *line, size_t n_bytes);

/* The same as facts, for programs. */
void top_head_fill(const struct top_input *in, const struct top_head *head, struct view_document *d);
extern const struct answer_part top_head_part;

#endif /* CLI_TOP_TOP_HEAD_H */
