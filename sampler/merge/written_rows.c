/* SPDX-License-Identifier: MIT */
#include "sampler/merge/written_rows.h"

#include "base/number_map.h"
#include "format/trace_dictionary.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"

#include <stdbool.h>

#define FEW_MAPPINGS 4096 /* in memory: not worth a look */

/* A mapping as it matters for names. */
struct place {
        uint64_t file_offset_bytes, length_bytes;
        uint64_t module;
};

struct choice {
        const struct process_table *processes;
        struct number_bitmap with_images; /* processes */
        struct intern places;             /* that have a mapping already */
        bool failed;                      /* without memory all are kept */
};

static bool keeps(void *context, const void *bytes)
{
        struct choice *c = context;
        const struct trace_mapping *row = bytes;
        const struct place place = { row->file_offset_bytes, row->length_bytes, row->module };
        uint32_t id;
        int r = intern_add(&c->places, &place, sizeof(place), &id);

        return r != 0 || c->failed || number_bitmap_has(&c->with_images, row->process) ||
               process_table_find_id(c->processes, row->process) != NULL;
}

static void find_images(struct choice *c, const struct trace_dictionary *d)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_MAPPINGS); i++) {
                const struct trace_mapping *row = trace_dictionary_row(d, TRACE_TABLE_MAPPINGS, i);
                const struct trace_module *module =
                        row->module ? trace_dictionary_row(d, TRACE_TABLE_MODULES, row->module) : NULL;

                if (module && module->kind == TRACE_MODULE_IMAGE)
                        c->failed |= number_bitmap_add(&c->with_images, row->process) < 0;
        }
}

static void forget_mappings(struct written_rows *w, const struct recording *recording)
{
        struct choice c = { .processes = recording->processes };

        if (trace_dictionary_count(recording->dictionary, TRACE_TABLE_MAPPINGS) <
            2 * w->n_mappings + FEW_MAPPINGS)
                return;
        number_bitmap_init(&c.with_images);
        intern_init(&c.places, sizeof(struct place), 0);
        find_images(&c, recording->dictionary);
        w->n_mappings = trace_dictionary_drop(recording->dictionary, TRACE_TABLE_MAPPINGS, keeps, &c);
        intern_deinit(&c.places);
        number_bitmap_deinit(&c.with_images);
}

void written_rows_forget(struct written_rows *w, const struct recording *recording)
{
        if (recording->syscall_event == 0) {
                trace_dictionary_forget(recording->dictionary, TRACE_TABLE_PROCESSES);
                trace_dictionary_forget(recording->dictionary, TRACE_TABLE_THREADS);
        }
        forget_mappings(w, recording);
}
