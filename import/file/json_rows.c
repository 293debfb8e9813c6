/* SPDX-License-Identifier: MIT */
#include "import/file/json_rows.h"

#include "base/error.h"
#include "import/file/import_source.h"
#include "import/file/wide_scan.h"

#include <errno.h>
#include <string.h>

#define WORD_BYTES_MAX ((size_t)256 << 10) /* a longer one is passed over */

void json_rows_init(struct json_rows *rows, struct import_source *source)
{
        *rows = (struct json_rows){ .source = source };
}

void json_rows_deinit(struct json_rows *rows)
{
        byte_buffer_deinit(&rows->member);
}

/* ------------------------------------------------------------------ the window */

uint64_t json_rows_line(struct json_rows *rows)
{
        const char *bytes = rows->window.bytes;

        /* Few rows are asked for; those one after the other are each counted from the last. */
        if (!rows->has_counted || rows->counted > rows->row) {
                rows->n_lines = import_source_line(rows->source);
                rows->counted = 0;
                rows->has_counted = true;
        }
        if (bytes)
                rows->n_lines += wide_scan_count(bytes + rows->counted, bytes + rows->row, '\n');
        rows->counted = rows->row;
        return rows->n_lines + 1;
}

/* Forgets what is before @from, which becomes the beginning of the window. */
static void forget(struct json_rows *rows, size_t from)
{
        import_source_skip(rows->source, from);
        rows->window.bytes = from > 0 ? rows->window.bytes + from : rows->window.bytes;
        rows->window.n_bytes -= from;
        rows->at -= from;
        rows->row = rows->row > from ? rows->row - from : 0;
        rows->has_counted = false;
}

/* Reads more into the window.  Returns 1, 0 at the end of the file, or -errno with words. */
static int read_more(struct json_rows *rows, struct error *err)
{
        int r;

        if (rows->at_end)
                return 0;
        r = import_source_look(rows->source, rows->window.n_bytes, &rows->window, err);
        rows->at_end = r == 0;
        return r;
}

/* The byte at `at`, after white space and @also.  Returns 1, 0 at the end, or -errno. */
static int peek(struct json_rows *rows, char also, char *ret_byte, struct error *err)
{
        int r = 1;

        do {
                for (; rows->at < rows->window.n_bytes; rows->at++) {
                        char c = rows->window.bytes[rows->at];

                        if (c != ' ' && c != '\n' && c != '\r' && c != '\t' && c != also) {
                                *ret_byte = c;
                                return 1;
                        }
                }
                forget(rows, rows->at);
                r = read_more(rows, err);
        } while (r == 1);
        return r;
}

/* ------------------------------------------------------------------ values */

static const char too_long[] = "longer than 64 MiB";
static const char long_word[] = "a word longer than 256 KiB";
static const char no_value[] = "no JSON";

/*
 * Takes a string or a container at `at`.  Returns 1 with its text, 2 if it was too long and is skipped, 0 if
 * the file ends in it, or -errno.
 */
static int take_scanned(struct json_rows *rows, struct text_view *ret_text, struct error *err)
{
        struct json_scan scan = { .depth = 0 };
        size_t scanned = rows->at;
        bool is_long = false;

        for (;;) {
                const char *bytes = rows->window.bytes;
                const char *end = json_scan_piece(&scan, bytes + scanned, bytes + rows->window.n_bytes);
                int r;

                if (end) {
                        size_t begin = rows->at;

                        rows->at = (size_t)(end - bytes);
                        *ret_text = (struct text_view){ bytes + begin, rows->at - begin };
                        return is_long ? 2 : 1;
                }
                if (rows->window.n_bytes - rows->at > IMPORT_LINE_BYTES_MAX) {
                        is_long = true;
                        rows->at = rows->window.n_bytes;
                }
                forget(rows, rows->at);
                scanned = rows->window.n_bytes;
                r = read_more(rows, err);
                if (r <= 0)
                        return r;
        }
}

static bool ends_word(char c)
{
        return c != '\0' && strchr(" \t\r\n,:[]{}\"", c);
}

/* Takes a number or a word, at least a byte of it.  Returns as take_scanned(). */
static int take_word(struct json_rows *rows, struct text_view *ret_text, struct error *err)
{
        bool is_long = false;
        size_t n = 1;

        for (;;) {
                int r;

                for (; rows->at + n < rows->window.n_bytes; n++) {
                        const char *word = rows->window.bytes + rows->at;

                        if (!ends_word(word[n]))
                                continue;
                        *ret_text = (struct text_view){ word, n };
                        rows->at += n;
                        return is_long ? 2 : 1;
                }
                if (n > WORD_BYTES_MAX) {
                        is_long = true;
                        rows->at += n;
                        n = 0;
                }
                forget(rows, rows->at);
                r = read_more(rows, err);
                if (r < 0 || (r == 0 && !is_long))
                        return r;
                if (r == 0) {
                        rows->at = rows->window.n_bytes;
                        rows->is_cut = true;
                        return 2;
                }
        }
}

static bool is_whole(struct text_view text, char first)
{
        char last = text.bytes[text.n_bytes - 1];

        return last == (first == '{' ? '}' : first == '[' ? ']' : '"');
}

/* Takes the value at `at`, whose first byte is @first. */
static int take_value(struct json_rows *rows, char first, struct json_row *ret_row, struct error *err)
{
        bool is_scanned = first == '"' || first == '{' || first == '[';
        struct json_value *value = &ret_row->value;
        struct text_view text = { NULL, 0 };
        struct json_pull p;
        int r;

        rows->row = rows->at;
        r = is_scanned ? take_scanned(rows, &text, err) : take_word(rows, &text, err);
        if (r <= 0)
                return r;
        p = json_pull_text(text);
        if (r == 2)
                ret_row->bad = is_scanned ? too_long : long_word;
        else if (first == '{' || first == '[')
                *value = (struct json_value){ first == '{' ? JSON_OBJECT : JSON_ARRAY, text };
        else if (json_pull_next(&p, value) != 1)
                ret_row->bad = no_value;
        if (r == 1 && is_scanned && !is_whole(text, first))
                ret_row->bad = no_value;
        return 1;
}

/* ------------------------------------------------------------------ members and elements */

/* At the quote of a key.  Returns 1 at the member's value, whose first byte is @ret_first; 0 or -errno. */
static int take_key(struct json_rows *rows, char *ret_first, struct error *err)
{
        struct text_view key;
        int r;

        rows->row = rows->at;
        r = take_scanned(rows, &key, err);
        if (r <= 0)
                return r;
        byte_buffer_clear(&rows->member);
        if (r == 1)
                byte_buffer_add(&rows->member, key.bytes + 1, key.n_bytes - 2);
        if (rows->member.failed)
                return error_set(err, -ENOMEM, "%s: no memory for a key", import_source_path(rows->source));
        return peek(rows, ':', ret_first, err);
}

/* An object whose end is in the window, most often. */
static bool take_open(struct json_rows *rows, struct json_row *ret_row)
{
        const char *begin = rows->window.bytes + rows->at;
        struct json_pull p = { begin + 1, rows->window.bytes + rows->window.n_bytes };

        if (rows->read_open(rows->of, &p) != 0)
                return false;
        rows->row = rows->at;
        rows->at += (size_t)(p.at - begin);
        *ret_row = (struct json_row){
                .member = { (const char *)rows->member.data, rows->member.used_bytes },
                .value = { JSON_OBJECT, { begin, (size_t)(p.at - begin) } },
                .is_element = true,
                .is_read = true,
        };
        return true;
}

/* Returns 1 with a row, 2 if something else was read, 0 if the file ends in it, or -errno. */
static int step_in_array(struct json_rows *rows, char first, struct json_row *ret_row, struct error *err)
{
        if (first == ']') {
                rows->at++;
                rows->in_array = false;
                if (!rows->in_object)
                        byte_buffer_clear(&rows->member);
                return 2;
        }
        ret_row->is_element = true;
        if (first == '{' && rows->read_open && take_open(rows, ret_row))
                return 1;
        return take_value(rows, first, ret_row, err);
}

static int step_in_object(struct json_rows *rows, char first, struct json_row *ret_row, struct error *err)
{
        int r;

        if (first == '}') {
                rows->at++;
                rows->in_object = false;
                byte_buffer_clear(&rows->member);
                return 2;
        }
        if (first != '"') {
                byte_buffer_clear(&rows->member);
                r = take_value(rows, first, ret_row, err);
                ret_row->bad = "no key";
                return r;
        }
        r = take_key(rows, &first, err);
        if (r <= 0)
                return r;
        if (first == '[') {
                rows->at++;
                rows->in_array = true;
                return 2;
        }
        return take_value(rows, first, ret_row, err);
}

static int step_outside(struct json_rows *rows, char first, struct json_row *ret_row, struct error *err)
{
        if (first != '[' && first != '{')
                return take_value(rows, first, ret_row, err);
        rows->at++;
        rows->in_array = first == '[';
        rows->in_object = first == '{';
        return 2;
}

static void skip_byte_order_mark(struct json_rows *rows)
{
        if (rows->window.n_bytes >= 3 && memcmp(rows->window.bytes, "\xef\xbb\xbf", 3) == 0)
                rows->at = 3;
}

/* The most usual row: an object that is an element, all of it in the window. */
static bool take_usual(struct json_rows *rows, struct json_row *ret_row)
{
        const char *bytes = rows->window.bytes;
        size_t at = rows->at, n = rows->window.n_bytes;

        while (at < n && (bytes[at] == ',' || bytes[at] == '\n' || bytes[at] == ' '))
                at++;
        if (at == n || bytes[at] != '{')
                return false;
        rows->at = at;
        return take_open(rows, ret_row);
}

int json_rows_next(struct json_rows *rows, struct json_row *ret_row, struct error *err)
{
        int r;

        if (rows->in_array && rows->read_open && take_usual(rows, ret_row))
                return 1;
        *ret_row = (struct json_row){ .bad = NULL };
        if (!rows->at_end && !rows->window.bytes) {
                r = read_more(rows, err);
                if (r <= 0)
                        return r;
                skip_byte_order_mark(rows);
        }
        do {
                char first = 0;

                r = peek(rows, ',', &first, err);
                if (r < 0)
                        return r;
                if (r == 0) {
                        rows->is_cut |= rows->in_object;
                        return 0;
                }
                if (rows->in_array)
                        r = step_in_array(rows, first, ret_row, err);
                else if (rows->in_object)
                        r = step_in_object(rows, first, ret_row, err);
                else
                        r = step_outside(rows, first, ret_row, err);
                rows->is_cut |= r == 0;
        } while (r == 2);
        ret_row->member = (struct text_view){ (const char *)rows->member.data, rows->member.used_bytes };
        return r;
}
