/* SPDX-License-Identifier: MIT */
/*
 * view/text/shell_word.h - a path or a name as it has to be typed for a shell
 *
 * Way of the data:  paths -> [shell_word] -> commands that are proposed: hints, "try:", "next:"
 */
#ifndef VIEW_TEXT_SHELL_WORD_H
#define VIEW_TEXT_SHELL_WORD_H

#include "base/text_view.h"

#define SHELL_WORD_BYTES_MAX 2048 /* a longer one is cut: people do not type it */

struct shell_word {
        char text[SHELL_WORD_BYTES_MAX];
};

/*
 * @path itself if nothing in it has a meaning, else in quotes; after "-- " if it would be taken
 * for an option.
 */
struct shell_word shell_word_of(const char *path);

/* The same for a name, as the value of an option: never after "-- ". */
struct shell_word shell_word_of_name(struct text_view name);

#endif /* VIEW_TEXT_SHELL_WORD_H */
