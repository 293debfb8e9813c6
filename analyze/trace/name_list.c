/* SPDX-License-Identifier: MIT */
#include "analyze/trace/name_list.h"

#include "analyze/trace/handle_word.h"
#include "base/error.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names are compared up to this length; those of a trace have no NUL at their end. */
#define NAME_BYTES_MAX 4095

/* The end of the item: a comma without a backslash before it. */
static const char *find_end(const char *at)
{
        for (; *at && *at != ','; at++)
                if (*at == '\\' && at[1])
                        at++;
        return at;
}

int name_list_init(struct name_list *l, const char *text, struct error *err)
{
        size_t n = 1;

        for (const char *at = text; *at; at++)
                n += *at == ',';
        *l = (struct name_list){ .globs = calloc(n, sizeof(*l->globs)) };
        if (!l->globs)
                return error_set(err, -ENOMEM, "a list of names: out of memory");
        for (const char *at = text;;) {
                const char *end = find_end(at);

                if (end == at)
                        return error_set(err, -EINVAL, "'%s': an empty name", text);
                l->globs[l->n_globs] = strndup(at, (size_t)(end - at));
                if (!l->globs[l->n_globs])
                        return error_set(err, -ENOMEM, "a list of names: out of memory");
                l->n_globs++;
                if (!*end)
                        return 0;
                at = end + 1;
        }
}

void name_list_deinit(struct name_list *l)
{
        for (size_t i = 0; i < l->n_globs; i++)
                free(l->globs[i]);
        free(l->globs);
        free(l->meanings);
        *l = (struct name_list){ .n_globs = 0 };
}

int name_list_read_handles(struct name_list *l, char letter)
{
        l->meanings = calloc(l->n_globs + 1, sizeof(*l->meanings));
        if (!l->meanings)
                return -ENOMEM;
        for (size_t i = 0; i < l->n_globs; i++) {
                struct handle_word word = handle_word_parse(l->globs[i], letter);

                if (word.bare == l->globs[i])
                        continue;
                l->meanings[i] = word.id != 0 ? HANDLE_ONLY : NAME_ONLY;
                memmove(l->globs[i], word.bare, strlen(word.bare) + 1);
        }
        return 0;
}

static bool means(const struct name_list *l, size_t i, enum name_meaning other)
{
        return !l->meanings || l->meanings[i] != other;
}

bool name_list_fits(const struct name_list *l, struct text_view name)
{
        size_t n_bytes = name.n_bytes < NAME_BYTES_MAX ? name.n_bytes : NAME_BYTES_MAX;
        char text[NAME_BYTES_MAX + 1];

        if (name.bytes)
                memcpy(text, name.bytes, n_bytes);
        text[n_bytes] = '\0';
        for (size_t i = 0; i < l->n_globs; i++)
                if (means(l, i, HANDLE_ONLY) &&
                    (strcmp(l->globs[i], text) == 0 || fnmatch(l->globs[i], text, 0) == 0))
                        return true;
        return false;
}

bool name_list_has_number(const struct name_list *l, uint64_t number)
{
        char text[24];

        (void)snprintf(text, sizeof(text), "%" PRIu64, number);
        for (size_t i = 0; i < l->n_globs; i++)
                if (strcmp(l->globs[i], text) == 0)
                        return true;
        return false;
}

bool name_list_has_handle(const struct name_list *l, char letter, uint64_t id)
{
        char text[24];

        (void)snprintf(text, sizeof(text), "%c%" PRIu64, letter, id);
        for (size_t i = 0; i < l->n_globs; i++)
                if (means(l, i, NAME_ONLY) && strcmp(l->globs[i], text) == 0)
                        return true;
        return false;
}

bool name_list_has_names(const struct name_list *l)
{
        for (size_t i = 0; i < l->n_globs; i++)
                if (means(l, i, HANDLE_ONLY) && l->globs[i][strspn(l->globs[i], "0123456789")] != '\0')
                        return true;
        return false;
}
