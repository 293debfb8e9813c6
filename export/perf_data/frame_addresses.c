/* SPDX-License-Identifier: MIT */
#include "export/perf_data/perf_data_parts.h"

#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>

/*
 * These limits bound the time that a damaged trace can take: further mappings of a module and further
 * generations of forks are ignored.
 */
#define MAPPINGS_MAX  4096
#define ANCESTORS_MAX 64

/* Counting sort. */
static void sort_mappings(struct frame_addresses *a, uint32_t n_modules, uint32_t n_mappings)
{
        for (uint32_t i = 1; i <= n_mappings; i++) {
                const struct trace_mapping *row = trace_dictionary_row(a->dictionary, TRACE_TABLE_MAPPINGS,
                                                                       i);

                a->first[row->module + 1]++;
        }
        for (uint32_t i = 1; i <= n_modules + 2; i++)
                a->first[i] += a->first[i - 1];
        for (uint32_t i = n_mappings; i >= 1; i--) {
                const struct trace_mapping *row = trace_dictionary_row(a->dictionary, TRACE_TABLE_MAPPINGS,
                                                                       i);

                a->mappings[--a->first[row->module + 1]] = i;
        }
}

int frame_addresses_init(struct frame_addresses *a, const struct trace_dictionary *dictionary)
{
        uint32_t n_modules = trace_dictionary_count(dictionary, TRACE_TABLE_MODULES);
        uint32_t n_mappings = trace_dictionary_count(dictionary, TRACE_TABLE_MAPPINGS);

        *a = (struct frame_addresses){ .dictionary = dictionary };
        intern_init(&a->known, sizeof(struct frame_address_key), 0);
        a->first = calloc((size_t)n_modules + 3, sizeof(*a->first));
        a->mappings = calloc((size_t)n_mappings + 1, sizeof(*a->mappings));
        if (!a->first || !a->mappings)
                return -ENOMEM;
        sort_mappings(a, n_modules, n_mappings);
        return 0;
}

void frame_addresses_deinit(struct frame_addresses *a)
{
        free(a->first);
        free(a->mappings);
        free(a->addresses);
        intern_deinit(&a->known);
        *a = (struct frame_addresses){ .dictionary = NULL };
}

/* The first mapping of the process that contains the byte; NULL if no mapping contains it. */
static const struct trace_mapping *find_mapping(const struct frame_addresses *a, uint32_t process,
                                                uint32_t module, uint64_t offset)
{
        uint32_t begin = a->first[module + 1];
        uint32_t end = a->first[module + 2];

        for (uint32_t i = begin; i < end && i - begin < MAPPINGS_MAX; i++) {
                const struct trace_mapping *row = trace_dictionary_row(a->dictionary, TRACE_TABLE_MAPPINGS,
                                                                       a->mappings[i]);

                if (row->process == process && offset >= row->file_offset_bytes &&
                    offset - row->file_offset_bytes < row->length_bytes)
                        return row;
        }
        return NULL;
}

static uint64_t look_up(const struct frame_addresses *a, uint32_t process, const struct trace_frame *frame)
{
        const struct trace_module *module;
        uint64_t offset = frame->offset;

        if (frame->module == 0)
                return frame->offset;
        module = trace_dictionary_row(a->dictionary, TRACE_TABLE_MODULES, frame->module);
        if (module->kind == TRACE_MODULE_KERNEL || module->kind == TRACE_MODULE_ANONYMOUS)
                return frame->offset;
        if (frame->flags & TRACE_FRAME_RETURN_ADDRESS && offset != 0)
                offset--; /* the call may be the last instruction that is mapped */
        for (int i = 0; i < ANCESTORS_MAX && process != 0; i++) {
                const struct trace_mapping *row = find_mapping(a, process, frame->module, offset);
                const struct trace_process *child;

                if (row)
                        return frame->offset - row->file_offset_bytes + row->start_avma;
                child = trace_dictionary_row(a->dictionary, TRACE_TABLE_PROCESSES, process);
                process = child->parent;
        }
        return frame->offset;
}

int frame_addresses_find(struct frame_addresses *a, uint32_t process, uint32_t frame, uint64_t *ret_avma)
{
        struct frame_address_key key = { .process = process, .frame = frame };
        uint32_t id;
        int r = intern_add_row(&a->known, &key, &a->addresses, &a->capacity, sizeof(*a->addresses), &id);

        if (r < 0)
                return r;
        if (r == 1)
                a->addresses[id - 1] = look_up(
                        a, process, trace_dictionary_row(a->dictionary, TRACE_TABLE_FRAMES, frame));
        *ret_avma = a->addresses[id - 1];
        return 0;
}
