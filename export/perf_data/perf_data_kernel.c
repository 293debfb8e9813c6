/* SPDX-License-Identifier: MIT */
#include "export/perf_data/perf_data_parts.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/io.h"
#include "symbolize/images/trace_origin.h"
#include "symbolize/kernel/kernel_symbols.h"

#include <fcntl.h>
#include <string.h>

#define NOTES_PATH      "/sys/kernel/notes"
#define NOTES_BYTES_MAX 65536
#define TEXT_BYTES_MAX  (64 << 20)

#define NOTE_BUILD_ID 3

static size_t pad(uint32_t n_bytes)
{
        return (size_t)(-n_bytes & 3);
}

size_t perf_data_kernel_parse_notes(const uint8_t *notes, size_t n_bytes, uint8_t *ret_id)
{
        struct byte_reader in = byte_reader_of(notes, n_bytes);

        for (;;) {
                uint32_t name_bytes = bytes_u32(&in), id_bytes = bytes_u32(&in);
                uint32_t type = bytes_u32(&in);
                const uint8_t *name = bytes_take(&in, name_bytes);
                const uint8_t *id;

                (void)bytes_take(&in, pad(name_bytes));
                id = bytes_take(&in, id_bytes);
                if (in.short_read)
                        return 0;
                if (type == NOTE_BUILD_ID && name_bytes == 4 && memcmp(name, "GNU", 4) == 0 && id_bytes > 0 &&
                    id_bytes <= PERF_DATA_KERNEL_ID_MAX) {
                        memcpy(ret_id, id, id_bytes);
                        return id_bytes;
                }
                (void)bytes_take(&in, pad(id_bytes));
        }
}

static int hex_digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "ffffffff81000000 T _text" */
uint64_t perf_data_kernel_parse_symbol(const char *text, size_t n_bytes, const char *name)
{
        const char *end = text + n_bytes;
        size_t name_bytes = strlen(name);

        for (const char *line = text, *next; line < end; line = next) {
                const char *newline = memchr(line, '\n', (size_t)(end - line)), *at = line;
                uint64_t address = 0;

                next = newline ? newline + 1 : end;
                for (; at < next && hex_digit(*at) >= 0 && address >> 60 == 0; at++)
                        address = address << 4 | (uint64_t)hex_digit(*at);
                if (at == line || (size_t)(next - at) < name_bytes + 4 || at[0] != ' ' || at[2] != ' ')
                        continue;
                if (memcmp(at + 3, name, name_bytes) == 0 && at[3 + name_bytes] == '\n')
                        return address;
        }
        return 0;
}

static int read_kernel(struct perf_data_kernel *k)
{
        struct byte_buffer notes = { .data = NULL }, text = { .data = NULL };
        int r = io_read_file(AT_FDCWD, NOTES_PATH, NOTES_BYTES_MAX, &notes, NULL);

        if (r == 0)
                r = io_read_file(AT_FDCWD, KERNEL_SYMBOLS_PATH, TEXT_BYTES_MAX, &text, NULL);
        if (r == 0) {
                const char *symbols = (const char *)text.data;

                k->build_id_bytes = perf_data_kernel_parse_notes(notes.data, notes.used_bytes, k->build_id);
                k->text_avma = perf_data_kernel_parse_symbol(symbols, text.used_bytes, "_text");
                k->end_avma = perf_data_kernel_parse_symbol(symbols, text.used_bytes, "_etext");
        }
        byte_buffer_deinit(&notes);
        byte_buffer_deinit(&text);
        return r;
}

struct perf_data_kernel perf_data_kernel_find(const struct trace_dictionary *dictionary)
{
        struct perf_data_kernel k = { .is_known = false };

        if (trace_origin_of(dictionary) != TRACE_ORIGIN_HERE || read_kernel(&k) < 0)
                return k;
        k.is_known = k.build_id_bytes > 0 && k.text_avma != 0 && k.end_avma > k.text_avma;
        return k;
}
