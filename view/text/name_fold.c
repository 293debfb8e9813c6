/* SPDX-License-Identifier: MIT */
#include "view/text/name_fold.h"

#include "base/byte_buffer.h"
#include "view/text/text_charset.h"
#include "view/text/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define SEPARATOR              " < "
#define SEPARATOR_BYTES        3
#define LABEL_OPENING_BYTES    2  /* " (" */
#define LABEL_FOLD_COLUMNS_MIN 15 /* with fewer, a name and its label are folded as one text */
#define TAIL_SHARES            3  /* a text cut in the middle keeps two thirds at its end */

enum fold {
        FOLD_PARAMETERS = 1,
        FOLD_TEMPLATES = 2,
        DROP_PARAMETERS = 4, /* and the text before the name */
        DROP_VERSIONS = 8,
};

static void add_words(struct byte_buffer *out, const char *words)
{
        byte_buffer_add(out, words, strlen(words));
}

/* An ellipsis between two words. */
static void add_between(struct byte_buffer *out, const char *before, const char *after)
{
        add_words(out, before);
        add_words(out, text_charset_ellipsis());
        add_words(out, after);
}

static size_t length_at(const char *text, size_t n_bytes, size_t at)
{
        uint32_t character;
        size_t length = utf8_decode(text + at, n_bytes - at, &character);

        return length != 0 ? length : 1;
}

static uint32_t count_columns(const char *text, size_t n_bytes)
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
 * "operator<<", "operator->", "operator()": these signs belong to the name and open no group.  Returns the
 * number of bytes of such a name; 0 = none.
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

/* Returns the byte after the end of the group that opens at @at; @n_bytes if the group does not end. */
static size_t end_of(const char *text, size_t n_bytes, size_t at)
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

/* Adds one group in brackets, folded or whole. */
static size_t add_group(struct byte_buffer *out, const char *text, size_t n_bytes, size_t at, unsigned folds)
{
        size_t end = end_of(text, n_bytes, at);
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
 * The return type of a template instance ends at the last space that is outside of all groups and before
 * the parameters.  A space right before the parenthesis does not end a type: "libz.so (deleted)".
 */
static size_t begin_of_name(const char *text, size_t n_bytes)
{
        size_t begin = 0, at = 0;

        while (at < n_bytes) {
                size_t skip = operator_bytes(text, n_bytes, at);

                if (skip == 0 && stands_at(text, n_bytes, at, "operator"))
                        return begin; /* "operator new", "operator bool" */
                if (skip == 0 && text[at] == '(' && !stands_at(text, n_bytes, at, "(anonymous namespace)"))
                        return begin == at ? 0 : begin;
                if (skip == 0 && (text[at] == '<' || text[at] == '(' || text[at] == '{' || text[at] == '['))
                        skip = end_of(text, n_bytes, at) - at;
                if (skip == 0 && text[at] == ' ')
                        begin = at + 1;
                at += skip != 0 ? skip : 1;
        }
        return 0; /* no parameters: not a C++ function */
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
                        at = add_group(out, text, n_bytes, at, folds);
                } else if ((folds & DROP_VERSIONS) && stands_at(text, n_bytes, at, "std::__cxx11::")) {
                        add_words(out, "std::");
                        at += strlen("std::__cxx11::");
                } else {
                        byte_buffer_add_u8(out, (uint8_t)text[at++]);
                }
        }
}

/* The bytes of a member function without the qualifiers after its parameters. */
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

/* True if more than signs is left of a name: letters, digits, or anything that is not ASCII. */
static bool says_something(const struct byte_buffer *folded)
{
        const char *text = (const char *)folded->data;
        size_t n_ellipsis = strlen(text_charset_ellipsis());

        for (size_t at = 0; at < folded->used_bytes; at++) {
                if (stands_at(text, folded->used_bytes, at, text_charset_ellipsis()))
                        at += n_ellipsis - 1;
                else if (isalnum((unsigned char)text[at]) || (unsigned char)text[at] >= 0x80)
                        return true;
        }
        return false;
}

/* Replaces @out.  A text of which only punctuation would remain stays whole: "(deleted)", "<main>". */
static void fold(struct byte_buffer *out, const char *text, size_t n_bytes, unsigned folds)
{
        byte_buffer_clear(out);
        fold_groups(out, text, folds & DROP_PARAMETERS ? without_qualifiers(text, n_bytes) : n_bytes, folds);
        while ((folds & DROP_PARAMETERS) && out->used_bytes > 0 && out->data[out->used_bytes - 1] == ' ')
                out->used_bytes--;
        if (folds == 0 || out->failed || says_something(out))
                return;
        byte_buffer_clear(out);
        fold_groups(out, text, n_bytes, 0);
}

static size_t bytes_of(const char *text, size_t n_bytes, uint32_t n_columns)
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

        byte_buffer_add(out, ellipsis, bytes_of(ellipsis, strlen(ellipsis), n));
}

/* A name, without spaces, is cut in the middle, because its end says more; words are cut at their end. */
static void cut(struct byte_buffer *out, const char *text, size_t n_bytes, uint32_t n_columns)
{
        uint32_t room = n_columns > ellipsis_columns() ? n_columns - ellipsis_columns() : 0;
        uint32_t all = count_columns(text, n_bytes), head = room, tail = 0;
        size_t head_bytes;

        if (n_columns >= 2 * TAIL_SHARES && !memchr(text, ' ', n_bytes)) {
                tail = room * (TAIL_SHARES - 1) / TAIL_SHARES;
                head = room - tail;
        }
        head_bytes = bytes_of(text, n_bytes, head);
        byte_buffer_add(out, text, head_bytes);
        add_ellipsis(out, n_columns);
        if (tail != 0) {
                size_t tail_at = head_bytes +
                                 bytes_of(text + head_bytes, n_bytes - head_bytes, all - head - tail);

                byte_buffer_add(out, text + tail_at, n_bytes - tail_at);
        }
}

static void fold_name(struct byte_buffer *out, const char *text, size_t n_bytes, uint32_t n_columns)
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
                fold(&folded, text, n_bytes, steps[i]);
                if (folded.failed || count_columns((const char *)folded.data, folded.used_bytes) <= n_columns)
                        break;
        }
        if (folded.failed)
                out->failed = true;
        else if (count_columns((const char *)folded.data, folded.used_bytes) > n_columns)
                cut(out, (const char *)folded.data, folded.used_bytes, n_columns);
        else if (folded.used_bytes != 0)
                byte_buffer_add(out, folded.data, folded.used_bytes);
        byte_buffer_deinit(&folded);
}

/*
 * Whether a text is a place ("a.c", "main.cpp:12", "0x1160") and not the end of a foreign name
 * ("(deleted)", "(.llvm.123)").
 */
static bool is_place(const char *text, size_t n_bytes)
{
        return (memchr(text, '.', n_bytes) || stands_at(text, n_bytes, 0, "0x")) && text[0] != '.' &&
               !memchr(text, ' ', n_bytes);
}

/*
 * "step (a.c)": the number of bytes of the label that tells functions of the same name apart, with the
 * space before it; 0 = no label.
 */
static size_t label_bytes(const char *text, size_t n_bytes)
{
        const char *open = n_bytes > 0 && text[n_bytes - 1] == ')' ? memrchr(text, '(', n_bytes) : NULL;

        if (!open || open <= text + 1 || open[-1] != ' ' ||
            !is_place(open + 1, n_bytes - (size_t)(open + 2 - text)))
                return 0;
        return n_bytes - (size_t)(open - 1 - text);
}

/* In at most @n_columns: its end says more, "(…pp:12)". */
static void add_label(struct byte_buffer *out, const char *label, size_t n_bytes, uint32_t n_columns)
{
        uint32_t all = count_columns(label, n_bytes);
        size_t at;

        if (all <= n_columns) {
                byte_buffer_add(out, label, n_bytes);
                return;
        }
        at = bytes_of(label, n_bytes, all - (n_columns - LABEL_OPENING_BYTES - ellipsis_columns()));
        byte_buffer_add(out, label, LABEL_OPENING_BYTES);
        add_words(out, text_charset_ellipsis());
        byte_buffer_add(out, label + at, n_bytes - at);
}

void name_fold(struct byte_buffer *out, const char *text, size_t n_bytes, uint32_t n_columns)
{
        size_t label = label_bytes(text, n_bytes);
        uint32_t label_columns = count_columns(text + n_bytes - label, label);
        uint32_t label_columns_max = n_columns - n_columns / TAIL_SHARES;

        if (label == 0 || n_columns < LABEL_FOLD_COLUMNS_MIN) {
                fold_name(out, text, n_bytes, n_columns);
                return;
        }
        if (label_columns > label_columns_max)
                label_columns = label_columns_max;
        fold_name(out, text, n_bytes - label, n_columns - label_columns);
        add_label(out, text + n_bytes - label, label, label_columns);
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

/* Adds as much of the beginning of a text as fits. */
static void add_begin(struct byte_buffer *out, const char *text, size_t n_bytes, uint32_t n_columns)
{
        uint32_t room = n_columns > ellipsis_columns() ? n_columns - ellipsis_columns() : 0;
        bool fits = count_columns(text, n_bytes) <= n_columns;

        byte_buffer_add(out, text, fits ? n_bytes : bytes_of(text, n_bytes, room));
        if (!fits)
                add_ellipsis(out, n_columns);
}

void name_fold_chain(struct byte_buffer *out, const char *text, size_t n_bytes, uint32_t n_same,
                     uint32_t n_columns)
{
        const char *rest = text;
        size_t rest_bytes = n_bytes, first = frame_bytes(text, n_bytes);
        uint32_t n_first = count_columns(text, first), used;

        for (uint32_t i = 0; i < n_same; i++)
                next_frame(&rest, &rest_bytes);
        if (n_same < 2 || rest_bytes == 0 || count_columns(text, n_bytes) <= n_columns) {
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
