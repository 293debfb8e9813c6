/* SPDX-License-Identifier: MIT */
#include "analyze/samples/inlined_code.h"

#include "base/array.h"
#include "symbolize/listing/code_listing.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A listing while it is reduced to its kept instructions. */
struct keeper {
        struct code_listing *listing;
        bool *is_kept;              /* heap; by instruction */
        struct listing_part *parts; /* heap: the new ones */
        size_t n_parts, capacity;
        size_t n_instructions; /* that stand at their new places */
};

static uint32_t find_string(const struct code_listing *l, struct text_view text)
{
        for (uint32_t id = 1; id <= l->strings.n_items; id++) {
                size_t n_bytes;
                const void *bytes = intern_get(&l->strings, id, &n_bytes);

                if (n_bytes == text.n_bytes && n_bytes > 0 && memcmp(bytes, text.bytes, n_bytes) == 0)
                        return id;
        }
        return 0;
}

/* The function to look for, in ids of strings of the listing. */
struct wanted_function {
        uint32_t name, declared_file, declared_line, instance;
};

static bool is_at(const struct code_listing *l, size_t instruction, const struct wanted_function *wanted)
{
        const struct listing_instruction *row = &l->instructions[instruction];

        for (uint32_t i = 0; i < row->n_symbols; i++) {
                const struct listing_symbol *symbol = &l->symbols[row->first_symbol + i];

                if (symbol->function != wanted->name)
                        continue;
                if (wanted->declared_line == 0 ||
                    (symbol->declared_line == wanted->declared_line &&
                     symbol->declared_file == wanted->declared_file && symbol->instance == wanted->instance))
                        return true;
        }
        return false;
}

/* Marks the kept instructions of a part.  Returns how many instructions are of the function. */
static size_t mark(struct keeper *k, const struct listing_part *part, const struct wanted_function *function)
{
        size_t first = part->first_instruction, end = first + part->n_instructions, n = 0;

        for (size_t i = first; i < end; i++) {
                size_t from = i - first > INLINED_CODE_CONTEXT ? i - INLINED_CODE_CONTEXT : first;

                if (!is_at(k->listing, i, function))
                        continue;
                n++;
                for (size_t at = from; at < end && at <= i + INLINED_CODE_CONTEXT; at++)
                        k->is_kept[at] = true;
        }
        return n;
}

static int move_part(struct keeper *k, const struct listing_part *part)
{
        struct code_listing *l = k->listing;
        size_t end = (size_t)part->first_instruction + part->n_instructions;
        bool is_open = false;

        for (size_t i = part->first_instruction; i < end; i++) {
                struct listing_instruction row = l->instructions[i];
                struct listing_part *last;

                if (!k->is_kept[i]) {
                        is_open = false;
                        continue;
                }
                if (!is_open) {
                        if (array_reserve(&k->parts, &k->capacity, k->n_parts + 1, sizeof(*k->parts)) < 0)
                                return -ENOMEM;
                        k->parts[k->n_parts++] = (struct listing_part){
                                .svma = row.svma,
                                .file_off = part->file_off + (row.svma - part->svma),
                                .name = part->name,
                                .first_instruction = (uint32_t)k->n_instructions,
                                .flags = part->flags & ~LISTING_PART_GUESSED,
                        };
                        is_open = true;
                }
                last = &k->parts[k->n_parts - 1];
                last->n_bytes += row.n_bytes;
                last->n_instructions++;
                l->instructions[k->n_instructions++] = row; /* never after where it was */
        }
        return 0;
}

int inlined_code_keep(struct code_listing *listing, const struct inlined_function *function)
{
        struct keeper k = { .listing = listing };
        struct wanted_function wanted = { .name = find_string(listing, function->name),
                                          .declared_file = find_string(listing, function->declared_file),
                                          .declared_line = function->declared_line,
                                          .instance = function->instance };
        size_t n = 0;
        int r = 0;

        k.is_kept = calloc(listing->n_instructions + 1, sizeof(*k.is_kept));
        if (!k.is_kept)
                return -ENOMEM;
        for (size_t p = 0; p < listing->n_parts && wanted.name != 0; p++)
                n += mark(&k, &listing->parts[p], &wanted);
        for (size_t p = 0; p < listing->n_parts && n > 0 && r == 0; p++)
                r = move_part(&k, &listing->parts[p]);
        free(k.is_kept);
        if (n == 0 || r < 0) {
                free(k.parts);
                return r;
        }
        free(listing->parts);
        listing->parts = k.parts;
        listing->n_parts = k.n_parts;
        listing->parts_capacity = k.capacity;
        listing->n_instructions = k.n_instructions;
        return 0;
}
