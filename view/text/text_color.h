/* SPDX-License-Identifier: MIT */
/*
 * view/text/text_color.h - whether text is coloured, and how
 *
 * Way of the data:  command line, environment -> [text_color] -> document_text
 *
 * --color=WHEN wins; then NO_COLOR, if not empty, and TERM=dumb mean never; else it is coloured on a
 * terminal.  Only text for people is: never JSON, CSV or Markdown, and nothing on standard error.
 */
#ifndef VIEW_TEXT_TEXT_COLOR_H
#define VIEW_TEXT_TEXT_COLOR_H

#include <stdbool.h>

enum text_color_when { TEXT_COLOR_AUTO, TEXT_COLOR_ALWAYS, TEXT_COLOR_NEVER };

#define TEXT_COLOR_CHOICES "auto|always|never"

/* The color of one of these words. */
enum text_color_when text_color_find(const char *word);

/* Whether what goes to @fd is coloured. */
bool text_color_is_wanted(enum text_color_when when, int fd);

#define TEXT_COLOR_HOT   "\033[31m"
#define TEXT_COLOR_WARM  "\033[32m"
#define TEXT_COLOR_FAINT "\033[36m"
#define TEXT_COLOR_BOLD  "\033[1m"
#define TEXT_COLOR_NONE  "\033[0m"

#endif /* VIEW_TEXT_TEXT_COLOR_H */
