/* SPDX-License-Identifier: MIT */
#include "format/trace_column.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>

int trace_column_list_init(struct trace_column_list *list, struct byte_reader body, struct error *err)
{
        uint64_t n_columns = bytes_varint(&body);
        struct byte_reader data = body;

        for (uint64_t i = 0; i < n_columns && !data.short_read; i++) {
                (void)bytes_varint(&data);
                (void)bytes_varint(&data);
        }
        if (data.short_read)
                return error_set(err, -EBADMSG, "list of %" PRIu64 " columns is cut off", n_columns);

        *list = (struct trace_column_list){ .entries = body, .data = data, .n_left = n_columns };
        return 0;
}

int trace_column_list_next(struct trace_column_list *list, struct trace_column_entry *ret_entry,
                           struct error *err)
{
        struct trace_column_entry entry;
        const uint8_t *bytes;
        uint64_t n_bytes;

        if (list->n_left == 0) {
                if (list->data.left > 0)
                        return error_set(err, -EBADMSG, "%zu bytes follow the last column", list->data.left);
                return 0;
        }
        entry.column = bytes_varint(&list->entries);
        n_bytes = bytes_varint(&list->entries);
        bytes = bytes_take(&list->data, n_bytes);
        if (!bytes)
                return error_set(err, -EBADMSG, "column %" PRIu64 ": %zu of %" PRIu64 " bytes", entry.column,
                                 list->data.left, n_bytes);
        entry.bytes = byte_reader_of(bytes, n_bytes);
        list->n_left--;
        *ret_entry = entry;
        return 1;
}
