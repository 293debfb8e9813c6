/* SPDX-License-Identifier: MIT */
#include "import/rows/import_key_spaces.h"

#include "base/byte_buffer.h"
#include "import/rows/import_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void import_key_spaces_init(struct import_key_spaces *s)
{
        *s = (struct import_key_spaces){ .spaces = NULL };
        intern_init(&s->uses, sizeof(struct import_key_use), 0);
}

void import_key_spaces_deinit(struct import_key_spaces *s)
{
        intern_deinit(&s->uses);
        free(s->spaces);
        s->spaces = NULL;
}

/* Most keys in a row are of one kind. */
static bool is_last(const struct import_key_spaces *s, struct import_key_use use)
{
        return s->last_id != 0 && s->last.set == use.set && s->last.kind == use.kind;
}

int import_key_spaces_note(struct import_key_spaces *s, uint32_t set, uint32_t kind, bool is_of_device)
{
        const struct import_key_use use = { set, kind };
        struct import_key_space *space;

        if (!is_last(s, use)) {
                uint32_t id;
                int r = intern_add_row(&s->uses, &use, &s->spaces, &s->capacity, sizeof(*s->spaces), &id);

                if (r < 0)
                        return r;
                s->last = use;
                s->last_id = id;
        }
        space = &s->spaces[s->last_id - 1];
        space->space = kind;
        space->on_devices = space->on_devices || is_of_device;
        space->on_threads = space->on_threads || !is_of_device;
        return 0;
}

uint32_t import_key_spaces_find(struct import_key_spaces *s, uint32_t set, uint32_t kind)
{
        const struct import_key_use use = { set, kind };

        if (!is_last(s, use)) {
                s->last = use;
                s->last_id = intern_find(&s->uses, &use, sizeof(use));
        }
        return s->last_id != 0 ? s->spaces[s->last_id - 1].space : kind;
}

/* Another set has the kind, or the trace had it from an import before this one. */
static bool is_shared(const struct import_rows *rows, const struct import_key_use *use)
{
        const struct import_key_spaces *s = &rows->key_spaces;

        if (rows->n_imports_before != 0 && use->kind <= rows->n_strings_before)
                return true;
        for (uint32_t set = 1; set <= rows->n_files; set++) {
                const struct import_key_use other = { set, use->kind };

                if (set != use->set && intern_find(&s->uses, &other, sizeof(other)) != 0)
                        return true;
        }
        return false;
}

/* "correlation (rank1.json)", or with a number if that is a kind already. */
static int name_space(struct import_rows *rows, const struct import_key_use *use, uint32_t *ret_space)
{
        const char *path = rows->files[use->set - 1].path, *slash = strrchr(path, '/');
        uint32_t n_before = trace_dictionary_count(rows->dictionary, TRACE_TABLE_STRINGS);
        int r = 0;

        path = slash && slash[1] != '\0' ? slash + 1 : path;
        for (unsigned n = 1;
             r == 0 && trace_dictionary_count(rows->dictionary, TRACE_TABLE_STRINGS) == n_before; n++) {
                struct text_view kind = trace_dictionary_text(rows->dictionary, use->kind);
                struct byte_buffer name = { .data = NULL };

                byte_buffer_add(&name, kind.bytes, kind.n_bytes);
                byte_buffer_add_format(&name, n == 1 ? " (%s)" : " (%s #%u)", path, n);
                r = name.failed ? -ENOMEM
                                : trace_dictionary_add_string(rows->dictionary, name.data, name.used_bytes,
                                                              ret_space);
                byte_buffer_deinit(&name);
        }
        return r;
}

int import_key_spaces_name(struct import_rows *rows)
{
        struct import_key_spaces *s = &rows->key_spaces;
        int r = 0;

        for (uint32_t id = 1; id <= s->uses.n_items && r == 0; id++) {
                const struct import_key_use *use = intern_get(&s->uses, id, NULL);
                struct import_key_space *space = &s->spaces[id - 1];

                if (space->on_threads && space->on_devices && is_shared(rows, use))
                        r = name_space(rows, use, &space->space);
        }
        return r;
}
