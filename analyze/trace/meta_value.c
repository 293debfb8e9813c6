/* SPDX-License-Identifier: MIT */
#include "analyze/trace/meta_value.h"

#include "format/trace_dictionary.h"

struct text_view meta_value_find(const struct trace_dictionary *d, const char *key)
{
        struct text_view found = { .bytes = NULL };

        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_META); i++) {
                const struct trace_meta *row = trace_dictionary_row(d, TRACE_TABLE_META, i);

                if (text_view_is(trace_dictionary_text(d, row->key), key))
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
