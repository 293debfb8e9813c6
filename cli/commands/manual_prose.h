/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/manual_prose.h - what manuals say beyond the tables of options: docs/man/NAME.txt, built in
 *
 * Way of the data:  docs/man -> [manual_prose] -> man_page -> hyprof-NAME(1), `hyprof help`, `hyprof guide`
 *
 * Paragraphs end with an empty line; "# WORDS" is a heading; lines that begin with four spaces stay as they are.
 */
#ifndef CLI_COMMANDS_MANUAL_PROSE_H
#define CLI_COMMANDS_MANUAL_PROSE_H

#include <stddef.h>

/* Static text of @ret_n_bytes; NULL = nobody wrote any. */
const char *manual_prose_find(const char *name, size_t *ret_n_bytes);

#endif /* CLI_COMMANDS_MANUAL_PROSE_H */
