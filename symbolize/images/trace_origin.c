/* SPDX-License-Identifier: MIT */
#include "symbolize/images/trace_origin.h"

#include "base/byte_buffer.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define BOOT_ID_PATH "/proc/sys/kernel/random/boot_id"

#define NUMBER_BYTES_MAX 24 /* of a 64-bit number, with its NUL */

void trace_origin_read_boot_id(char ret_boot_id[TRACE_ORIGIN_BOOT_ID_BYTES])
{
        struct byte_buffer text = { .data = NULL };

        ret_boot_id[0] = '\0';
        if (io_read_file(AT_FDCWD, BOOT_ID_PATH, TRACE_ORIGIN_BOOT_ID_BYTES - 1, &text, NULL) == 0) {
                size_t n_bytes = strcspn((const char *)text.data, "\n");

                memcpy(ret_boot_id, text.data, n_bytes);
                ret_boot_id[n_bytes] = '\0';
        }
        byte_buffer_deinit(&text);
}

/* The last value of @key; NULL if the trace has none.  Not NUL-terminated. */
static const char *find_value(const struct trace_dictionary *d, const char *key, size_t *ret_bytes)
{
        const char *value = NULL;

        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_META); i++) {
                const struct trace_meta *row = trace_dictionary_row(d, TRACE_TABLE_META, i);
                size_t n_bytes;
                const char *name = trace_dictionary_string(d, row->key, &n_bytes);

                if (n_bytes == strlen(key) && memcmp(name, key, n_bytes) == 0)
                        value = trace_dictionary_string(d, row->value, ret_bytes);
        }
        return value;
}

static bool find_number(const struct trace_dictionary *d, const char *key, uint64_t *ret_number)
{
        char text[NUMBER_BYTES_MAX];
        size_t n_bytes;
        const char *value = find_value(d, key, &n_bytes);

        if (!value || n_bytes == 0 || n_bytes >= sizeof(text))
                return false;
        memcpy(text, value, n_bytes);
        text[n_bytes] = '\0';
        *ret_number = strtoull(text, NULL, 10);
        return true;
}

enum trace_origin trace_origin_of(const struct trace_dictionary *dictionary)
{
        char here[TRACE_ORIGIN_BOOT_ID_BYTES];
        size_t n_bytes;
        const char *there = find_value(dictionary, "boot_id", &n_bytes);

        if (!there)
                return TRACE_ORIGIN_UNKNOWN;
        trace_origin_read_boot_id(here);
        return here[0] != '\0' && n_bytes == strlen(here) && memcmp(there, here, n_bytes) == 0
                       ? TRACE_ORIGIN_HERE
                       : TRACE_ORIGIN_OTHER;
}

bool trace_origin_find_realtime(const struct trace_dictionary *dictionary, uint32_t module, uint64_t *ret_ns)
{
        uint64_t start_realtime_ns, start_raw_ns;
        uint64_t first_ns = UINT64_MAX;

        if (!find_number(dictionary, "start_realtime_ns", &start_realtime_ns) ||
            !find_number(dictionary, "start_raw_ns", &start_raw_ns))
                return false;
        for (uint32_t i = 1; i <= trace_dictionary_count(dictionary, TRACE_TABLE_MAPPINGS); i++) {
                const struct trace_mapping *row = trace_dictionary_row(dictionary, TRACE_TABLE_MAPPINGS, i);

                if (row->module == module && row->time_ns < first_ns)
                        first_ns = row->time_ns;
        }
        if (first_ns == UINT64_MAX)
                return false;
        /* Mappings from before the recording count from its beginning. */
        *ret_ns = start_realtime_ns + (first_ns > start_raw_ns ? first_ns - start_raw_ns : 0);
        return true;
}
