/* SPDX-License-Identifier: MIT */
#include "unwind/unwind_table.h"

#include "base/bytes.h"

#include <stdlib.h>

void unwind_table_free(struct unwind_table *table)
{
        if (!table)
                return;
        free(table->pcs);
        free(table->rule_ids);
        free(table->buckets);
        free(table->rules);
        free(table->saved);
        free(table->expressions);
        free(table);
}

size_t unwind_table_count_bytes(const struct unwind_table *t)
{
        return sizeof(*t) + t->n_rows * (sizeof(*t->pcs) + sizeof(*t->rule_ids)) +
               ((size_t)t->n_buckets + 1) * sizeof(*t->buckets) + t->n_rules * sizeof(*t->rules) +
               t->n_saved * sizeof(*t->saved) + t->n_expression_bytes;
}

const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t svma)
{
        uint64_t offset = svma - table->base_svma;
        uint64_t bucket = offset >> table->bucket_bits;
        const uint32_t *row;
        uint32_t n;

        if (svma < table->base_svma || bucket >= table->n_buckets)
                return NULL;
        /*
         * The row is the last one that begins at or before the address; the first row of the bucket always
         * does.
         */
        row = table->pcs + table->buckets[bucket];
        n = table->buckets[bucket + 1] - table->buckets[bucket] + 1;
        while (n > 1) {
                uint32_t half = n / 2;

                row += row[half] <= offset ? half : 0; /* no branch: the processor could not predict it */
                n -= half;
        }
        if (*row > offset || table->rule_ids[row - table->pcs] == 0)
                return NULL;
        return &table->rules[table->rule_ids[row - table->pcs]];
}

const uint8_t *unwind_table_expression(const struct unwind_table *table, int32_t place, size_t *ret_bytes)
{
        struct byte_reader in = byte_reader_of(table->expressions + place,
                                               table->n_expression_bytes - (uint32_t)place);
        size_t n_bytes = bytes_u16(&in);

        *ret_bytes = n_bytes;
        return bytes_take(&in, n_bytes);
}

const struct unwind_saved *unwind_table_saved(const struct unwind_table *table,
                                              const struct unwind_rule *rule, unsigned number)
{
        uint32_t first = rule->saved >> UNWIND_SAVED_COUNT_BITS;
        uint32_t n = rule->saved & ((UINT32_C(1) << UNWIND_SAVED_COUNT_BITS) - 1);

        for (uint32_t i = first; i < first + n; i++)
                if (table->saved[i].number == number)
                        return &table->saved[i];
        return NULL;
}
