/* SPDX-License-Identifier: MIT */
/*
 * view/shell_word.h - a name as one word of a command line that can be pasted
 *
 * Way of the data:  names, paths -> [shell_word] -> hints of views and commands
 */
#ifndef VIEW_SHELL_WORD_H
#define VIEW_SHELL_WORD_H

#include <stddef.h>

struct byte_buffer;

/*
 * shell_word_make() - the @n_bytes of @bytes as they are if a shell takes them for one word, else in quotes
 * @storage: keeps the result; what it had is gone.  Returns its text, "" without memory.
 */
const char *shell_word_make(struct byte_buffer *storage, const char *bytes, size_t n_bytes);

#endif /* VIEW_SHELL_WORD_H */
