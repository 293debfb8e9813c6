/* SPDX-License-Identifier: MIT */
#include "view/text/name_short.h"

#include "base/byte_buffer.h"
#include "view/text/name_fold.h"

#include <stdbool.h>
#include <string.h>

/* An argument that is longer stays. */
#define ARGUMENT_BYTES_MAX 1024

static size_t match(const char *text, size_t n_bytes, const char *word)
{
        size_t n = strlen(word);

        return n_bytes >= n && memcmp(text, word, n) == 0 ? n : 0;
}

/* The bytes of an argument of a template up to the "," or ">" behind it, if it begins with @word; else 0. */
static size_t argument_bytes(const char *text, size_t n_bytes, const char *word)
{
        size_t at = match(text, n_bytes, word);
        size_t depth = 1;

        if (at == 0)
                return 0;
        if (n_bytes > ARGUMENT_BYTES_MAX)
                n_bytes = ARGUMENT_BYTES_MAX;
        for (; at < n_bytes && depth != 0; at++)
                depth += (size_t)(text[at] == '<') - (size_t)(text[at] == '>');
        return depth == 0 ? at : 0;
}

/*
 * What can be left out at this place: a default argument, with the space that parts two ">" behind it, or an
 * inline namespace.
 */
static size_t needless_bytes(const char *text, size_t n_bytes)
{
        static const char *const arguments[] = { ", std::allocator<", ", std::char_traits<",
                                                 ", std::__1::allocator<", ", std::__1::char_traits<" };
        static const char *const spaces[] = { "::__cxx11::", "::__1::" };
        size_t n = 0;

        if (text[0] == ',')
                for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]) && n == 0; i++)
                        n = argument_bytes(text, n_bytes, arguments[i]);
        if (n != 0)
                return match(text + n, n_bytes - n, " >") != 0 ? n + 1 : n;
        for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]) && text[0] == ':' && n == 0; i++)
                n = match(text, n_bytes, spaces[i]);
        return n != 0 ? n - strlen("::") : 0;
}

static void drop_needless(struct byte_buffer *out, const char *text, size_t n_bytes)
{
        for (size_t at = 0; at < n_bytes;) {
                size_t n = needless_bytes(text + at, n_bytes - at);

                if (n == 0)
                        byte_buffer_add(out, text + at, 1);
                at += n != 0 ? n : 1;
        }
}

static void use_short_types(struct byte_buffer *out, const char *text, size_t n_bytes)
{
        static const char *const types[][2] = { { "std::basic_string<char>", "std::string" },
                                                { "std::basic_string_view<char>", "std::string_view" } };

        for (size_t at = 0; at < n_bytes;) {
                size_t n = 0;

                for (size_t i = 0; i < sizeof(types) / sizeof(types[0]) && n == 0; i++) {
                        n = match(text + at, n_bytes - at, types[i][0]);
                        if (n != 0)
                                byte_buffer_add(out, types[i][1], strlen(types[i][1]));
                }
                if (n == 0)
                        byte_buffer_add(out, text + at, 1);
                at += n != 0 ? n : 1;
        }
}

void name_short(struct byte_buffer *out, const char *text, size_t n_bytes, uint32_t n_columns)
{
        struct byte_buffer bare = { .data = NULL }, brief = { .data = NULL };

        drop_needless(&bare, text, n_bytes);
        use_short_types(&brief, (const char *)bare.data, bare.used_bytes);
        out->failed = out->failed || bare.failed || brief.failed;
        if (brief.used_bytes != 0)
                name_fold(out, (const char *)brief.data, brief.used_bytes, n_columns);
        byte_buffer_deinit(&bare);
        byte_buffer_deinit(&brief);
}
