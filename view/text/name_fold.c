/* SPDX-License-Identifier: MIT */
#include "view/text/name_fold.h"

#include "base/byte_buffer.h"
#include "view/text/text_charset.h"
#include "view/text/utf8.h"

#include <stdbool.h>
#include <string.h>

#define SEPARATOR       " < "
#define SEPARATOR_BYTES 3
#define TAIL_SHARES     3 /* of a text that is cut in the middle two thirds are its end */

enum fold {
        FOLD_PARAMETERS = 1,
        FOLD_TEMPLATES = 2,
        DROP_PARAMETERS = 4, /* and the text before the name */
        DROP_VERSIONS = 8,
};

static void name_fold_add_words(struct byte_buffer *out, const char *words)
{
        byte_buffer_add(out, words, strlen(words));
}

/* An ellipsis between two words. */
static void add_between(struct byte_buffer *out, const char *before, const char *after)
{
        name_fold_add_words(out, before);
        name_fold_add_words(out, text_charset_ellipsis());
        name_fold_add_words(out, after);
}

static size_t length_at(const char *text, size_t n_bytes, size_t at)
{
        uint32_t character;
        size_t length = utf8_decode(text + at, n_bytes - at, &character);

        return length != 0 ? length : 1;
}

static uint32_t name_fold_count_columns(const char *text, size_t n_bytes)
{
        uint32_t n = 0;

        for (size_t at = 0; at < n_bytes; at += length_at(text, n_bytes, at))
                n++;
        return n;
}

static bool stands_at(const char *text, size_t n_bytes, size_t at, const char *words)
{
        size_t n = strlen(words);

        return n_bytes - at >= n && memcmp(text + at, words, n) == 0;
}

/*
 * "operator<<", "operator->", "operator()": what follows opens nothing.  Returns how many
 * bytes it takes; 0 = none.
 */
static size_t operator_bytes(const char *text, size_t n_bytes, size_t at)
{
        static const char *const signs[] = { "<<=", ">>=", "<=>", "->*", "<<", ">>",
                                             "<=",  ">=",  "->",  "()",  "<",  ">" };
        const size_t n_word = strlen("operator");

        if (!stands_at(text, n_bytes, at, "operator"))
                return 0;
        for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
                if (stands_at(text, n_bytes, at + n_word, signs[i]))
                        return n_word + strlen(signs[i]);
        return 0;
}

/* Where what opens at @at is closed again, the byte after it; @n_bytes if it is not. */
static size_t name_fold_end_of(const char *text, size_t n_bytes, size_t at)
{
        uint32_t depth = 0;

        while (at < n_bytes) {
                size_t skip = operator_bytes(text, n_bytes, at);

                if (skip != 0) {
                        at += skip;
                        continue;
                }
                if (text[at] == '<' || text[at] == '(' || text[at] == '{' || text[at] == '[')
                        depth++;
                else if ((text[at] == '>' && text[at - 1] != '-') || text[at] == ')' || text[at] == '}' ||
                         text[at] == ']')
                        depth--;
                at++;
                if (depth == 0)
                        return at;
        }
        return n_bytes;
}

/* One thing that opens and closes, folded or whole. */
static size_t name_fold_add_group(struct byte_buffer *out, const char *text, size_t n_bytes, size_t at,
                                  unsigned folds)
{
        size_t end = name_fold_end_of(text, n_bytes, at);
        bool is_name = stands_at(text, n_bytes, at, "(anonymous namespace)");

        if (text[at] == '<' && (folds & FOLD_TEMPLATES) && end - at > 3)
                add_between(out, "<", ">");
        else if (text[at] == '(' && !is_name && (folds & DROP_PARAMETERS))
                (void)0;
        else if (text[at] == '(' && !is_name && (folds & FOLD_PARAMETERS) && end - at > 3)
                add_between(out, "(", ")");
        else
                byte_buffer_add(out, text + at, end - at);
        return end;
}

/*
 * The return type of a template's instance ends where the last space outside of everything is,
 * before its parameters.
 */
static size_t begin_of_name(const char *text, size_t n_bytes)
{
        size_t begin = 0, at = 0;

        while (at < n_bytes) {
                size_t skip = operator_bytes(text, n_bytes, at);

                if (skip == 0 && stands_at(text, n_bytes, at, "operator"))
                        return begin; /* "operator new", "operator bool" */
                if (skip == 0 && text[at] == '(' && !stands_at(text, n_bytes, at, "(anonymous namespace)"))
                        return begin;
                if (skip == 0 && (text[at] == '<' || text[at] == '(' || text[at] == '{'))
                        skip = name_fold_end_of(text, n_bytes, at) - at;
                if (skip == 0 && text[at] == ' ')
                        begin = at + 1;
                at += skip != 0 ? skip : 1;
        }
        return 0; /* no parameters: whatever it is, it is no function of C++ */
}

static void fold_groups(struct byte_buffer *out, const char *text, size_t n_bytes, unsigned folds)
{
        size_t at = folds & DROP_PARAMETERS ? begin_of_name(text, n_bytes) : 0;

        while (at < n_bytes) {
                size_t skip = operator_bytes(text, n_bytes, at);

                if (skip != 0) {
                        byte_buffer_add(out, text + at, skip);
                        at += skip;
                } else if (text[at] == '<' || text[at] == '(') {
                        at = name_fold_add_group(out, text, n_bytes, at, folds);
                } else if ((folds & DROP_VERSIONS) && stands_at(text, n_bytes, at, "std::__cxx11::")) {
                        name_fold_add_words(out, "std::");
                        at += strlen("std::__cxx11::");
                } else {
                        byte_buffer_add_u8(out, (uint8_t)text[at++]);
                }
        }
}

/* Without the text after the parameters of a member function. */
static size_t without_qualifiers(const char *text, size_t n_bytes)
{
        static const char *const qualifiers[] = { " const", " volatile", " &", " &&", " noexcept" };

        for (size_t i = 0; i < sizeof(qualifiers) / sizeof(qualifiers[0]); i++) {
                size_t n = strlen(qualifiers[i]);

                if (n_bytes > n + 1 && text[n_bytes - n - 1] == ')' &&
                    stands_at(text, n_bytes, n_bytes - n, qualifiers[i]))
                        return n_bytes - n;
        }
        return n_bytes;
}

static void fold(struct byte_buffer *out, const char *text, size_t n_bytes, unsigned folds)
{
        if (folds & DROP_PARAMETERS)
                n_bytes = without_qualifiers(text, n_bytes);
        fold_groups(out, text, n_bytes, folds);
}

static size_t name_fold_bytes_of(const char *text, size_t n_bytes, uint32_t n_columns)
{
        size_t at = 0;

        for (; at < n_bytes && n_columns > 0; n_columns--)
                at += length_at(text, n_bytes, at);
        return at;
}

static uint32_t ellipsis_columns(void)
{
        return text_charset_is_ascii() ? 2 : 1;
}

/* An ellipsis, or as much of it as there is room for. */
static void add_ellipsis(struct byte_buffer *out, uint32_t n_columns)
{
        const char *ellipsis = text_charset_ellipsis();
        uint32_t n = ellipsis_columns() < n_columns ? ellipsis_columns() : n_columns;

        byte_buffer_add(out, ellipsis, name_fold_bytes_of(ellipsis, strlen(ellipsis), n));
}

/* A name has no spaces, and its end says more than its middle; words are read from their begin. */
static void name_fold_cut(struct byte_buffer *out, const char *text, size_t n_bytes, uint32_t n_columns)
{
        uint32_t room = n_columns > ellipsis_columns() ? n_columns - ellipsis_columns() : 0;
        uint32_t all = name_fold_count_columns(text, n_bytes), head = room, tail = 0;
        size_t head_bytes;

        if (n_columns >= 2 * TAIL_SHARES && !memchr(text, ' ', n_bytes)) {
                tail = room * (TAIL_SHARES - 1) / TAIL_SHARES;
                head = room - tail;
        }
        head_bytes = name_fold_bytes_of(text, n_bytes, head);
        byte_buffer_add(out, text, head_bytes);
        add_ellipsis(out, n_columns);
        if (tail != 0) {
                size_t tail_at = head_bytes + name_fold_bytes_of(text + head_bytes, n_bytes - head_bytes,
                                                                 all - head - tail);

                byte_buffer_add(out, text + tail_at, n_bytes - tail_at);
        }
}

void name_fold(struct byte_buffer *out, const char *text, size_t n_bytes, uint32_t n_columns)
{
        static const unsigned steps[] = {
                0,
                FOLD_PARAMETERS,
                FOLD_PARAMETERS | FOLD_TEMPLATES,
                FOLD_PARAMETERS | FOLD_TEMPLATES | DROP_VERSIONS,
                FOLD_TEMPLATES | DROP_VERSIONS | DROP_PARAMETERS,
        };
        struct byte_buffer folded = { .data = NULL };

        for (; n_bytes > 0 && n_columns > 1 && *text == ' '; text++, n_bytes--, n_columns--)
                byte_buffer_add_u8(out, ' ');
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
                byte_buffer_clear(&folded);
                fold(&folded, text, n_bytes, steps[i]);
                if (folded.failed ||
                    name_fold_count_columns((const char *)folded.data, folded.used_bytes) <= n_columns)
                        break;
        }
        if (folded.failed)
                out->failed = true;
        else if (name_fold_count_columns((const char *)folded.data, folded.used_bytes) > n_columns)
                name_fold_cut(out, (const char *)folded.data, folded.used_bytes, n_columns);
        else if (folded.used_bytes != 0)
                byte_buffer_add(out, folded.data, folded.used_bytes);
        byte_buffer_deinit(&folded);
}

/* ---- call stacks --------------------------------------------------------------------------------------- */

/* The bytes of the first frame; all of them if it is the last one. */
static size_t frame_bytes(const char *text, size_t n_bytes)
{
        const char *end = n_bytes != 0 ? memmem(text, n_bytes, SEPARATOR, SEPARATOR_BYTES) : NULL;

        return end ? (size_t)(end - text) : n_bytes;
}

/* Steps over a frame, and what parts it from the next. */
static void next_frame(const char **text, size_t *n_bytes)
{
        size_t n = frame_bytes(*text, *n_bytes);

        if (n < *n_bytes)
                n += SEPARATOR_BYTES;
        *text += n;
        *n_bytes -= n;
}

uint32_t name_fold_count_same(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
        uint32_t n = 0;

        if (frame_bytes(a, a_bytes) == a_bytes || frame_bytes(b, b_bytes) == b_bytes)
                return 0;
        while (a_bytes != 0 && b_bytes != 0) {
                size_t n_bytes = frame_bytes(a, a_bytes);

                if (n_bytes != frame_bytes(b, b_bytes) || memcmp(a, b, n_bytes) != 0)
                        break;
                next_frame(&a, &a_bytes);
                next_frame(&b, &b_bytes);
                n++;
        }
        return n;
}

/* As much of it as there is room for. */
static void add_begin(struct byte_buffer *out, const char *text, size_t n_bytes, uint32_t n_columns)
{
        uint32_t room = n_columns > ellipsis_columns() ? n_columns - ellipsis_columns() : 0;
        bool fits = name_fold_count_columns(text, n_bytes) <= n_columns;

        byte_buffer_add(out, text, fits ? n_bytes : name_fold_bytes_of(text, n_bytes, room));
        if (!fits)
                add_ellipsis(out, n_columns);
}

void name_fold_chain(struct byte_buffer *out, const char *text, size_t n_bytes, uint32_t n_same,
                     uint32_t n_columns)
{
        const char *rest = text;
        size_t rest_bytes = n_bytes, first = frame_bytes(text, n_bytes);
        uint32_t n_first = name_fold_count_columns(text, first), used;

        for (uint32_t i = 0; i < n_same; i++)
                next_frame(&rest, &rest_bytes);
        if (n_same < 2 || rest_bytes == 0 || name_fold_count_columns(text, n_bytes) <= n_columns) {
                add_begin(out, text, n_bytes, n_columns);
                return;
        }
        if (n_first > n_columns / 3)
                n_first = n_columns / 3 + 1;
        name_fold(out, text, first, n_first);
        used = n_first + 2 * SEPARATOR_BYTES + ellipsis_columns();
        if (used + 1 >= n_columns)
                return;
        add_between(out, SEPARATOR, SEPARATOR);
        add_begin(out, rest, rest_bytes, n_columns - used);
}
