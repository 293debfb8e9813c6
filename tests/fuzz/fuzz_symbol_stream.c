/* SPDX-License-Identifier: MIT */
/* Fuzz target: what a symbolizer sends is read to its end, and every text lies within what was sent. */
#include "base/bytes.h"
#include "symbolize/process/symbol_stream.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void check_text(struct symbol_stream_text text, const uint8_t *data, size_t n_bytes)
{
        const uint8_t *bytes = (const uint8_t *)text.bytes;

        if (bytes && (bytes < data || text.n_bytes > n_bytes - (size_t)(bytes - data)))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        static struct symbol_stream_record record;
        struct byte_reader in = byte_reader_of(data, n_bytes);
        size_t left = in.left;

        while (symbol_stream_decode(&in, &record, NULL) == 1) {
                if (in.left >= left)
                        abort();
                left = in.left;
                if (record.kind == SYMBOL_STREAM_END)
                        check_text(record.words, data, n_bytes);
                if (record.kind != SYMBOL_STREAM_SYMBOLS)
                        continue;
                for (uint32_t i = 0; i < record.n_rows; i++) {
                        check_text(record.rows[i].function, data, n_bytes);
                        check_text(record.rows[i].file, data, n_bytes);
                }
        }
        return 0;
}
