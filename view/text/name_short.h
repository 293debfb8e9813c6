/* SPDX-License-Identifier: MIT */
/*
 * view/text/name_short.h - a function's name -> as it stands in a sentence
 *
 * Way of the data:  trace_dictionary -> [name_short] -> answer_words, why_words
 *
 * Template arguments that are what the standard says anyway are left out, and so are inline namespaces:
 * "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >" is "std::string".  What
 * is then still too long is folded as in a table.
 */
#ifndef VIEW_TEXT_NAME_SHORT_H
#define VIEW_TEXT_NAME_SHORT_H

#include <stddef.h>
#include <stdint.h>

struct byte_buffer;

/*
 * name_short() - append a name to @out in at most @n_columns columns
 * Linear in @n_bytes.  @out tells whether memory ran out.
 */
void name_short(struct byte_buffer *out, const char *text, size_t n_bytes, uint32_t n_columns);

#endif /* VIEW_TEXT_NAME_SHORT_H */
