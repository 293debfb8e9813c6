/* SPDX-License-Identifier: MIT */
/*
 * view/text/name_fold.h - a name that is too long for its column -> what tells it from others
 *
 * Way of the data:  text_table -> [name_fold] -> text_table
 *
 * "std::_Rb_tree<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >,
 * ...>::find(int)" differs from its neighbours at its end.  As much as is needed is folded, in this order:
 * the parameters, "(…)"; arguments of templates, "<…>"; parameters and return type are left out;
 * "std::__cxx11::" is "std::".  A name that is still too long is cut in its middle, other text at its end.
 * Parentheses at the end, after a space, tell functions of one name apart, "step (a.c)": up to two thirds of
 * the room are theirs.
 */
#ifndef VIEW_TEXT_NAME_FOLD_H
#define VIEW_TEXT_NAME_FOLD_H

#include <stddef.h>
#include <stdint.h>

struct byte_buffer;

/*
 * name_fold() - append a name to @out in at most @n_columns columns
 * @text:       escaped already, each character a column; spaces in front are kept
 * @n_columns:  at least 1
 * A name that fits stays as it is.  Linear in @n_bytes.  @out tells whether memory ran out.
 */
void name_fold(struct byte_buffer *out, const char *text, size_t n_bytes, uint32_t n_columns);

/*
 * name_fold_chain() - the same of a call stack, "alloc < build < run < main"
 * @n_same:  this many frames at its beginning are the same in other rows: all of these but the first may be
 *           left out
 */
void name_fold_chain(struct byte_buffer *out, const char *text, size_t n_bytes, uint32_t n_same,
                     uint32_t n_columns);

/* How many frames are the same at the beginnings of two chains; 0 if a chain has no " < ". */
uint32_t name_fold_count_same(const char *a, size_t a_bytes, const char *b, size_t b_bytes);

#endif /* VIEW_TEXT_NAME_FOLD_H */
