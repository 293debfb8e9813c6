/* SPDX-License-Identifier: MIT */
/*
 * The mappings of a process at one address follow each other in time.  Frames of an anonymous module were
 * made between one of its mappings and the next mapping at that address, of any module.  So each mapping of
 * the module that lasted for some time must be followed by the same place of the same image.  Another
 * anonymous mapping that follows may have held code that was never observed.  It is accepted only if it is
 * larger than the one before and the image was announced by a JIT: while a JIT makes more and more memory
 * executable, and its list is not read yet, the kernel reports ever larger mappings.
 */
#include "symbolize/images/late_images.h"

#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>

#define STEPS_MAX (UINT64_C(1) << 28) /* mappings that are looked at, of all calls: less than a second */

struct late_mapping {
        uint64_t start_avma, end_avma;
        uint64_t file_off;
        uint64_t time_ns;
        uint32_t process;
        uint32_t module;
        uint32_t id;
        bool is_image, is_told; /* is_told: by a JIT */
};

/* The later image at an address. */
struct late_place {
        uint32_t module; /* 0 = nothing is known of it */
        uint64_t file_off;
        bool has_unseen; /* memory that is no image came there as well, ... */
        bool has_anew;   /* ... which was no larger than the previous one */
        bool is_untold;  /* not by a JIT */
};

struct late_images {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct late_mapping *mappings;             /* heap: of processes with images, by process and time */
        size_t n_mappings;
        uint64_t n_steps;
};

static int compare_mappings(const void *a, const void *b)
{
        const struct late_mapping *x = a, *y = b;

        if (x->process != y->process)
                return x->process < y->process ? -1 : 1;
        if (x->time_ns != y->time_ns)
                return x->time_ns < y->time_ns ? -1 : 1;
        return x->id < y->id ? -1 : x->id > y->id;
}

static const struct trace_module *module_row(const struct trace_dictionary *d, uint32_t id)
{
        return id ? trace_dictionary_row(d, TRACE_TABLE_MODULES, id) : NULL;
}

static void add_mapping(struct late_images *l, uint32_t id, const struct trace_mapping *row)
{
        const struct trace_module *module = module_row(l->dictionary, row->module);
        struct late_mapping m = { .start_avma = row->start_avma,
                                  .file_off = row->file_offset_bytes,
                                  .time_ns = row->time_ns,
                                  .process = row->process,
                                  .module = row->module,
                                  .id = id };

        if (!module || __builtin_add_overflow(row->start_avma, row->length_bytes, &m.end_avma))
                return;
        m.is_image = module->kind == TRACE_MODULE_IMAGE;
        m.is_told = m.is_image && module->generation == TRACE_MODULE_TOLD_BY_JIT;
        l->mappings[l->n_mappings++] = m;
}

/* Processes without images need nothing. */
static void drop_others(struct late_images *l)
{
        size_t n_kept = 0;

        for (size_t first = 0, end; first < l->n_mappings; first = end) {
                bool has_image = false;

                for (end = first;
                     end < l->n_mappings && l->mappings[end].process == l->mappings[first].process; end++)
                        has_image |= l->mappings[end].is_image;
                for (size_t i = first; i < end && has_image; i++)
                        l->mappings[n_kept++] = l->mappings[i];
        }
        l->n_mappings = n_kept;
}

int late_images_new(const struct trace_dictionary *dictionary, struct late_images **ret_images)
{
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_MAPPINGS);
        struct late_images *l = calloc(1, sizeof(*l));

        if (l)
                l->mappings = calloc((size_t)n + 1, sizeof(*l->mappings));
        if (!l || !l->mappings) {
                free(l);
                return -ENOMEM;
        }
        l->dictionary = dictionary;
        for (uint32_t id = 1; id <= n; id++)
                add_mapping(l, id, trace_dictionary_row(dictionary, TRACE_TABLE_MAPPINGS, id));
        qsort(l->mappings, l->n_mappings, sizeof(*l->mappings), compare_mappings);
        drop_others(l);
        *ret_images = l;
        return 0;
}

void late_images_free(struct late_images *l)
{
        if (!l)
                return;
        free(l->mappings);
        free(l);
}

static size_t find_process(const struct late_images *l, uint32_t process)
{
        size_t low = 0, high = l->n_mappings;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (l->mappings[middle].process < process)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/*
 * Takes the mapping @m, which followed @before at @avma, into account.  False if it is another image than
 * was found before.
 */
static bool note_later(const struct late_mapping *m, const struct late_mapping *before, uint64_t avma,
                       struct late_place *found)
{
        uint64_t at = avma - m->start_avma + m->file_off;

        if (!m->is_image) {
                found->has_unseen = true;
                found->has_anew |= m->end_avma - m->start_avma <= before->end_avma - before->start_avma;
                return true;
        }
        if (found->module != 0 && (found->module != m->module || found->file_off != at))
                return false;
        found->module = m->module;
        found->file_off = at;
        found->is_untold |= !m->is_told;
        return true;
}

bool late_images_find(struct late_images *l, uint32_t module, uint64_t avma, uint32_t *ret_module,
                      uint64_t *ret_file_off)
{
        const struct trace_module *row = module_row(l->dictionary, module);
        const struct late_mapping *before = NULL; /* the mapping of @module that lasts */
        struct late_place found = { .module = 0 };

        if (!row || row->kind != TRACE_MODULE_ANONYMOUS)
                return false;
        for (size_t i = find_process(l, row->process);
             i < l->n_mappings && l->mappings[i].process == row->process; i++) {
                const struct late_mapping *m = &l->mappings[i];

                if (++l->n_steps > STEPS_MAX)
                        return false;
                if (avma < m->start_avma || avma >= m->end_avma)
                        continue;
                if (before && m->time_ns > before->time_ns && !note_later(m, before, avma, &found))
                        return false;
                before = m->module == module ? m : NULL;
        }
        if (found.module == 0 || before || found.has_anew || (found.has_unseen && found.is_untold))
                return false;
        *ret_module = found.module;
        *ret_file_off = found.file_off;
        return true;
}
