/* SPDX-License-Identifier: MIT */
#include "analyze/trace/name_list.h"

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
static const char *name_list_find_end(const char *at)
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
                const char *end = name_list_find_end(at);

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
        *l = (struct name_list){ .n_globs = 0 };
}

bool name_list_fits(const struct name_list *l, struct text_view name)
{
        size_t n_bytes = name.n_bytes < NAME_BYTES_MAX ? name.n_bytes : NAME_BYTES_MAX;
        char text[NAME_BYTES_MAX + 1];

        if (name.bytes)
                memcpy(text, name.bytes, n_bytes);
        text[n_bytes] = '\0';
        for (size_t i = 0; i < l->n_globs; i++)
                if (strcmp(l->globs[i], text) == 0 || fnmatch(l->globs[i], text, 0) == 0)
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
                if (strcmp(l->globs[i], text) == 0)
                        return true;
        return false;
}

bool name_list_has_names(const struct name_list *l)
{
        for (size_t i = 0; i < l->n_globs; i++) {
                const char *glob = l->globs[i];
                size_t n_letters = *glob >= 'a' && *glob <= 'z' ? 1 : 0;

                if (glob[n_letters] == '\0' ||
                    strspn(glob + n_letters, "0123456789") != strlen(glob + n_letters))
                        return true;
        }
        return false;
}
