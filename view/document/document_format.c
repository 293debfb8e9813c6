/* SPDX-License-Identifier: MIT */
#include "view/document/document_format.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "view/document/view_document.h"

#include <errno.h>
#include <string.h>

static void add_key(struct byte_buffer *keys, const char *key)
{
        byte_buffer_add(keys, ", ", keys->used_bytes != 0 ? 2 : 0);
        byte_buffer_add(keys, key, strlen(key));
}

static int complain_of_section(const struct view_document *d, const char *section, struct error *err)
{
        struct byte_buffer keys = { .data = NULL };
        int r;

        for (size_t i = 0; i < d->n_tables; i++)
                if (d->tables[i]->key)
                        add_key(&keys, d->tables[i]->key);
        add_key(&keys, DOCUMENT_SECTION_FACTS);
        add_key(&keys, DOCUMENT_SECTION_WARNINGS);
        if (keys.failed)
                r = error_set(err, -ENOMEM, "out of memory");
        else
                r = error_set(err, -ENOENT, "no section '%s'; expected one of %.*s", section,
                              (int)keys.used_bytes, (const char *)keys.data);
        byte_buffer_deinit(&keys);
        return r;
}

static bool has_section(const struct view_document *d, const char *section)
{
        for (size_t i = 0; i < d->n_tables; i++)
                if (d->tables[i]->key && strcmp(d->tables[i]->key, section) == 0)
                        return true;
        return strcmp(section, DOCUMENT_SECTION_FACTS) == 0 ||
               strcmp(section, DOCUMENT_SECTION_WARNINGS) == 0;
}

int document_print(const struct view_document *d, const struct document_options *options, FILE *out,
                   struct error *err)
{
        int r = -EINVAL;

        if (options->section && !d->failed && !has_section(d, options->section))
                return complain_of_section(d, options->section, err);
        switch (options->format) {
        case DOCUMENT_TEXT:
                r = document_print_text(d, options, out);
                break;
        case DOCUMENT_MARKDOWN:
                r = document_print_markdown(d, out);
                break;
        case DOCUMENT_JSON:
                r = document_print_json(d, options, out);
                break;
        case DOCUMENT_CSV:
                return document_print_csv(d, options, out, err);
        }
        if (r == -ENOMEM)
                return error_set(err, r, "out of memory");
        return r;
}
