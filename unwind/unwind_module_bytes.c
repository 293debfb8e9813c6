/* SPDX-License-Identifier: MIT */
/*
 * Columns are sent as they lie in memory, so that a table of some megabytes costs no more than copying it.
 * The checks cover everything that a lookup and a walk rely on unchecked: that rows are sorted, and that
 * each number lies within the part to which it refers.  A table of nonsense within these bounds gives wrong
 * stacks, never a wrong access.
 */

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/large_memory.h"
#include "symbolize/elf/elf_image.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_module.h"
#include "unwind/unwind_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC        UINT32_C(0x31747768) /* bytes of this program begin with it */
#define SEGMENTS_MAX 4096                 /* of one file, as elf_image has it */

/* The most rows that a builder makes: all rows of its input, a gap for each function, and the end. */
#define ROWS_MAX (UNWIND_TABLE_ROWS_MAX + UNWIND_TABLE_FDES_MAX + 64)

#define BUCKET_BITS_MAX 31

/* ------------------------------------------------------------------- encoding */

static void encode_table(const struct unwind_table *t, struct byte_buffer *out)
{
        byte_buffer_add_u16(out, t->machine->elf_machine);
        byte_buffer_add_u64(out, t->base_svma);
        byte_buffer_add_u64(out, t->entry_svma);
        byte_buffer_add_u32(out, t->n_fdes);
        byte_buffer_add_u32(out, t->n_damaged);
        byte_buffer_add_u32(out, t->n_outside);
        byte_buffer_add_u32(out, t->n_rows);
        byte_buffer_add_u32(out, t->n_buckets);
        byte_buffer_add_u8(out, (uint8_t)t->bucket_bits);
        byte_buffer_add_u32(out, t->n_rules);
        byte_buffer_add_u32(out, t->n_saved);
        byte_buffer_add_u32(out, t->n_expression_bytes);
        byte_buffer_add(out, t->pcs, t->n_rows * sizeof(*t->pcs));
        byte_buffer_add(out, t->rule_ids, t->n_rows * sizeof(*t->rule_ids));
        byte_buffer_add(out, t->buckets, ((size_t)t->n_buckets + 1) * sizeof(*t->buckets));
        byte_buffer_add(out, t->rules, t->n_rules * sizeof(*t->rules));
        byte_buffer_add(out, t->saved, t->n_saved * sizeof(*t->saved));
        byte_buffer_add(out, t->expressions, t->n_expression_bytes);
}

void unwind_module_encode(const struct unwind_module *module, struct byte_buffer *out)
{
        (void)byte_buffer_reserve(out, module->n_bytes); /* growing step by step would touch more memory */
        byte_buffer_add_u32(out, MAGIC);
        byte_buffer_add_u32(out, (uint32_t)module->n_segments);
        for (size_t i = 0; i < module->n_segments; i++) {
                byte_buffer_add_u64(out, module->segments[i].file_off);
                byte_buffer_add_u64(out, module->segments[i].file_bytes);
                byte_buffer_add_u64(out, module->segments[i].svma);
        }
        byte_buffer_add_u8(out, module->table != NULL);
        if (module->table)
                encode_table(module->table, out);
}

/* ------------------------------------------------------------------- decoding */

/*
 * Copies the next @n_items into new memory.  Memory is only allocated if the input has as many
 * bytes.
 * Returns 0, -ENODATA, -ENOMEM.
 */
static int take_column(struct byte_reader *in, size_t n_items, size_t item_bytes, void *ret_column)
{
        const uint8_t *bytes = bytes_take(in, n_items * item_bytes); /* both limited: no overflow */
        void **column = ret_column;

        if (!bytes)
                return -ENODATA;
        if (n_items == 0)
                return 0;
        *column = large_memory_new(n_items * item_bytes);
        if (!*column)
                return -ENOMEM;
        memcpy(*column, bytes, n_items * item_bytes);
        return 0;
}

static int take_numbers(struct byte_reader *in, struct unwind_table *t)
{
        t->machine = unwind_machine_find(bytes_u16(in));
        t->base_svma = bytes_u64(in);
        t->entry_svma = bytes_u64(in);
        t->n_fdes = bytes_u32(in);
        t->n_damaged = bytes_u32(in);
        t->n_outside = bytes_u32(in);
        t->n_rows = bytes_u32(in);
        t->n_buckets = bytes_u32(in);
        t->bucket_bits = bytes_u8(in);
        t->n_rules = bytes_u32(in);
        t->n_saved = bytes_u32(in);
        t->n_expression_bytes = bytes_u32(in);
        if (in->short_read)
                return -ENODATA;
        if (!t->machine || t->n_rows == 0 || t->n_rows > ROWS_MAX || t->n_buckets == 0 ||
            t->n_buckets > ROWS_MAX || t->bucket_bits > BUCKET_BITS_MAX || t->n_rules == 0 ||
            t->n_rules > UNWIND_TABLE_RULES_MAX || t->n_saved > UNWIND_TABLE_SAVED_MAX ||
            t->n_expression_bytes > UNWIND_TABLE_EXPRESSIONS_MAX)
                return -EBADMSG;
        return 0;
}

/*
 * Checks that rows are sorted and have rules.  Each check is one loop without an early exit, which
 * compilers vectorise.
 */
static bool are_rows_good(const struct unwind_table *t)
{
        uint32_t n_bad = 0;

        for (uint32_t i = 1; i < t->n_rows; i++)
                n_bad += t->pcs[i] <= t->pcs[i - 1];
        for (uint32_t i = 0; i < t->n_rows; i++)
                n_bad += t->rule_ids[i] >= t->n_rules;
        return n_bad == 0;
}

/* The rows of a bucket lie between its own number and that of the next bucket. */
static bool are_buckets_good(const struct unwind_table *t)
{
        uint32_t n_bad = t->buckets[0] != 0;

        for (uint32_t i = 1; i <= t->n_buckets; i++)
                n_bad += t->buckets[i] < t->buckets[i - 1];
        return n_bad == 0 && t->buckets[t->n_buckets] < t->n_rows;
}

/* Whether a place names a whole expression. */
static bool is_expression(const struct unwind_table *t, int32_t place)
{
        struct byte_reader in;

        if (place < 0 || (uint32_t)place >= t->n_expression_bytes)
                return false;
        in = byte_reader_of(t->expressions + place, t->n_expression_bytes - (uint32_t)place);
        (void)bytes_take(&in, bytes_u16(&in));
        return !in.short_read;
}

static bool are_rules_good(const struct unwind_table *t)
{
        for (uint32_t i = 0; i < t->n_rules; i++) {
                const struct unwind_rule *rule = &t->rules[i];
                uint32_t first = rule->saved >> UNWIND_SAVED_COUNT_BITS;
                uint32_t n = rule->saved & ((UINT32_C(1) << UNWIND_SAVED_COUNT_BITS) - 1);

                if (rule->cfa > UNWIND_CFA_GO_ROOT || first > t->n_saved || n > t->n_saved - first ||
                    (rule->cfa == UNWIND_CFA_EXPRESSION && !is_expression(t, rule->cfa_offset)))
                        return false;
        }
        for (uint32_t i = 0; i < t->n_saved; i++) {
                const struct unwind_saved *saved = &t->saved[i];

                if (saved->number >= UNWIND_REGISTERS_MAX || saved->kind > UNWIND_SAVED_BY_EXPRESSION ||
                    (saved->kind >= UNWIND_SAVED_AT_EXPRESSION && !is_expression(t, saved->value)))
                        return false;
        }
        return true;
}

static int take_table(struct byte_reader *in, struct unwind_table *t)
{
        int r = take_numbers(in, t);

        if (r < 0)
                return r;
        r = take_column(in, t->n_rows, sizeof(*t->pcs), &t->pcs);
        if (r < 0)
                return r;
        r = take_column(in, t->n_rows, sizeof(*t->rule_ids), &t->rule_ids);
        if (r < 0)
                return r;
        r = take_column(in, (size_t)t->n_buckets + 1, sizeof(*t->buckets), &t->buckets);
        if (r < 0)
                return r;
        r = take_column(in, t->n_rules, sizeof(*t->rules), &t->rules);
        if (r < 0)
                return r;
        r = take_column(in, t->n_saved, sizeof(*t->saved), &t->saved);
        if (r < 0)
                return r;
        r = take_column(in, t->n_expression_bytes, 1, &t->expressions);
        if (r < 0)
                return r;
        t->n_bytes = unwind_table_count_bytes(t);
        return are_rows_good(t) && are_buckets_good(t) && are_rules_good(t) ? 0 : -EBADMSG;
}

static int take_segments(struct byte_reader *in, struct unwind_module *module)
{
        uint32_t n = bytes_u32(in);

        if (in->short_read || n > SEGMENTS_MAX)
                return in->short_read ? -ENODATA : -EBADMSG;
        module->segments = calloc((size_t)n + 1, sizeof(*module->segments));
        if (!module->segments)
                return -ENOMEM;
        for (; module->n_segments < n; module->n_segments++) {
                struct elf_image_part *s = &module->segments[module->n_segments];
                uint64_t end;

                s->file_off = bytes_u64(in);
                s->file_bytes = bytes_u64(in);
                s->svma = bytes_u64(in);
                if (__builtin_add_overflow(s->file_off, s->file_bytes, &end) ||
                    __builtin_add_overflow(s->svma, s->file_bytes, &end))
                        return -EBADMSG;
        }
        return in->short_read ? -ENODATA : 0;
}

static int take_module(struct byte_reader *in, struct unwind_module *module)
{
        uint32_t magic = bytes_u32(in);
        uint8_t has_table;
        int r;

        if (!in->short_read && magic != MAGIC)
                return -EBADMSG;
        r = take_segments(in, module);
        if (r < 0)
                return r;
        has_table = bytes_u8(in);
        if (in->short_read || has_table > 1)
                return in->short_read ? -ENODATA : -EBADMSG;
        if (has_table) {
                module->table = calloc(1, sizeof(*module->table));
                if (!module->table)
                        return -ENOMEM;
                r = take_table(in, module->table);
        }
        if (r == 0 && in->left > 0)
                return -EBADMSG;
        module->n_bytes = sizeof(*module) + module->n_segments * sizeof(*module->segments) +
                          (module->table ? module->table->n_bytes : 0);
        return r;
}

int unwind_module_decode(const uint8_t *bytes, size_t n_bytes, struct unwind_module **ret_module,
                         struct error *err)
{
        struct unwind_module *module = calloc(1, sizeof(*module));
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        int r = module ? take_module(&in, module) : -ENOMEM;

        if (r == 0) {
                *ret_module = module;
                return 0;
        }
        unwind_module_free(module);
        if (r == -ENOMEM)
                return error_set(err, r, "no memory for an unwind table of %zu bytes", n_bytes);
        return error_set(err, r,
                         r == -ENODATA ? "%zu bytes of an unwind table that is longer"
                                       : "%zu bytes are not an unwind table",
                         n_bytes);
}
