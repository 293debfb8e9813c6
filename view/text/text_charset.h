/* SPDX-License-Identifier: MIT */
/*
 * view/text/text_charset.h - whether text for people may have more characters than ASCII has
 *
 * Way of the data:  environment -> [text_charset] -> text_escape(), name_fold, document_text
 *
 * LC_ALL, else LC_CTYPE, else LANG: "C" and "POSIX" are ASCII, so that a terminal or a tool that knows
 * nothing else can be asked for; any other locale, and none at all, is UTF-8.  JSON and CSV are always UTF-8.
 */
#ifndef VIEW_TEXT_TEXT_CHARSET_H
#define VIEW_TEXT_TEXT_CHARSET_H

#include <stdbool.h>

bool text_charset_is_ascii(void);

/* The mark for omitted text: one character, or two dots. */
const char *text_charset_ellipsis(void);

#endif /* VIEW_TEXT_TEXT_CHARSET_H */
