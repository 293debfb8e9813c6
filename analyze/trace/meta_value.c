/* SPDX-License-Identifier: MIT */
#include "analyze/trace/meta_value.h"

#include "format/trace_dictionary.h"

#include <string.h>

struct text_view meta_value_find(const struct trace_dictionary *d, const char *key)
{
        struct text_view found = { .bytes = NULL };
        size_t key_bytes = strlen(key);

        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_META); i++) {
                const struct trace_meta *row = trace_dictionary_row(d, TRACE_TABLE_META, i);
                struct text_view name = trace_dictionary_text(d, row->key);

                if (name.n_bytes == key_bytes && memcmp(name.bytes, key, key_bytes) == 0)
                        found = trace_dictionary_text(d, row->value);
        }
        return found;
}

uint64_t meta_value_number(const struct trace_dictionary *d, const char *key)
{
        struct text_view text = meta_value_find(d, key);
        uint64_t value = 0;

        for (size_t i = 0; i < text.n_bytes; i++) {
                unsigned digit = (unsigned char)text.bytes[i] - (unsigned)'0';

                if (digit > 9 || __builtin_mul_overflow(value, UINT64_C(10), &value) ||
                    __builtin_add_overflow(value, (uint64_t)digit, &value))
                        return 0;
        }
        return value;
}
