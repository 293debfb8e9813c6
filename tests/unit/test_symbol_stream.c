/* SPDX-License-Identifier: MIT */
/* symbolize/process/symbol_stream.c: what is encoded comes back; nothing malformed gets through */
#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "format/trace_rows.h"
#include "symbolize/process/symbol_stream.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct symbol chain[] = {
        { .function = "inner", .file = "/a.c", .line = 7, .column = 3, .flags = TRACE_SYMBOL_INLINED },
        { .function = NULL, .file = "", .line = UINT32_MAX, .flags = 0 },
};

static void encode_all(struct byte_buffer *out)
{
        symbol_stream_encode_module(out, 5);
        symbol_stream_encode_symbols(out, 300, chain, 2);
        symbol_stream_encode_end(out, -ENOMEM, "words");
        ck_assert(!out->failed);
}

static void check_text(struct symbol_stream_text text, const char *wanted)
{
        ck_assert((text.bytes != NULL) == (wanted != NULL));
        if (wanted) {
                ck_assert_uint_eq(text.n_bytes, strlen(wanted));
                ck_assert_mem_eq(text.bytes, wanted, text.n_bytes);
        }
}

START_TEST(test_round_trip)
{
        struct symbol_stream_record *record = calloc(1, sizeof(*record));
        struct byte_buffer out = { .data = NULL };
        struct byte_reader in;

        ck_assert_ptr_nonnull(record);
        encode_all(&out);
        in = byte_reader_of(out.data, out.used_bytes);
        ck_assert_int_eq(symbol_stream_decode(&in, record, NULL), 1);
        ck_assert_int_eq((int)record->kind, SYMBOL_STREAM_MODULE);
        ck_assert_uint_eq(record->id, 5);
        ck_assert_int_eq(symbol_stream_decode(&in, record, NULL), 1);
        ck_assert_int_eq((int)record->kind, SYMBOL_STREAM_SYMBOLS);
        ck_assert_uint_eq(record->id, 300);
        ck_assert_uint_eq(record->n_rows, 2);
        for (size_t i = 0; i < 2; i++) {
                check_text(record->rows[i].function, chain[i].function);
                check_text(record->rows[i].file, chain[i].file);
                ck_assert_uint_eq(record->rows[i].line, chain[i].line);
                ck_assert_uint_eq(record->rows[i].column, chain[i].column);
                ck_assert_uint_eq(record->rows[i].flags, chain[i].flags);
        }
        ck_assert_int_eq(symbol_stream_decode(&in, record, NULL), 1);
        ck_assert_int_eq((int)record->kind, SYMBOL_STREAM_END);
        ck_assert_int_eq(record->code, -ENOMEM);
        check_text(record->words, "words");
        ck_assert_int_eq(symbol_stream_decode(&in, record, NULL), 0);
        ck_assert_uint_eq(in.left, 0);
        byte_buffer_deinit(&out);
        free(record);
}
END_TEST

START_TEST(test_long_names_are_cut)
{
        struct symbol_stream_record *record = calloc(1, sizeof(*record));
        struct byte_buffer out = { .data = NULL };
        char *name = malloc(SYMBOLIZER_TEXT_MAX + 10);
        struct byte_reader in;

        ck_assert(record && name);
        memset(name, 'n', SYMBOLIZER_TEXT_MAX + 9);
        name[SYMBOLIZER_TEXT_MAX + 9] = '\0';
        symbol_stream_encode_symbols(&out, 1, &(struct symbol){ .function = name }, 1);
        in = byte_reader_of(out.data, out.used_bytes);
        ck_assert_int_eq(symbol_stream_decode(&in, record, NULL), 1);
        ck_assert_uint_eq(record->rows[0].function.n_bytes, SYMBOLIZER_TEXT_MAX);
        byte_buffer_deinit(&out);
        free(record);
        free(name);
}
END_TEST

/* A record that did not arrive whole yet is waited for, wherever it is cut. */
START_TEST(test_cut_anywhere_waits)
{
        struct symbol_stream_record *record = calloc(1, sizeof(*record));
        struct byte_buffer out = { .data = NULL };

        ck_assert_ptr_nonnull(record);
        symbol_stream_encode_symbols(&out, 300, chain, 2);
        for (size_t cut = 0; cut < out.used_bytes; cut++) {
                struct byte_reader in = byte_reader_of(out.data, cut);

                ck_assert_int_eq(symbol_stream_decode(&in, record, NULL), 0);
                ck_assert_uint_eq(in.left, cut);
        }
        byte_buffer_deinit(&out);
        free(record);
}
END_TEST

static const struct {
        const char *bytes;
        size_t n_bytes;
} malformed[] = {
#define RECORD(text)                   \
        {                              \
                text, sizeof(text) - 1 \
        }
        RECORD("\xff\xff\xff\xff"),                                 /* too long */
        RECORD("\x00\x00\x00\x00"),                                 /* without a kind */
        RECORD("\x01\x00\x00\x00\x00"),                             /* kind 0 */
        RECORD("\x01\x00\x00\x00\x04"),                             /* kind 4 */
        RECORD("\x01\x00\x00\x00\x01"),                             /* no module */
        RECORD("\x03\x00\x00\x00\x01\x05\x00"),                     /* bytes left over */
        RECORD("\x03\x00\x00\x00\x02\x01\x00"),                     /* no rows */
        RECORD("\x04\x00\x00\x00\x02\x01\x81\x01"),                 /* 129 rows */
        RECORD("\x08\x00\x00\x00\x02\x01\x01\x08\x00\x00\x00\x00"), /* an unknown flag */
        RECORD("\x08\x00\x00\x00\x02\x01\x01\x01\x00\x00\x00\x00"), /* the last is inlined */
        RECORD("\x0d\x00\x00\x00\x02\x01\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), /* the first is not */
        RECORD("\x08\x00\x00\x00\x02\x01\x01\x00\x00\x00\x09\x00"), /* a text over the end */
        RECORD("\x04\x00\x00\x00\x03\x80\x20\x00"),                 /* code 4096 */
#undef RECORD
};

START_LOOP_TEST(test_malformed_is_refused, 0, sizeof(malformed) / sizeof(malformed[0]))
{
        struct symbol_stream_record *record = calloc(1, sizeof(*record));
        struct byte_reader in = byte_reader_of(malformed[_i].bytes, malformed[_i].n_bytes);
        struct error err = ERROR_NONE;

        ck_assert_ptr_nonnull(record);
        ck_assert_int_eq(symbol_stream_decode(&in, record, &err), -EBADMSG);
        ck_assert_uint_eq(in.left, malformed[_i].n_bytes);
        ck_assert_int_gt((int)strlen(err.text), 0);
        free(record);
}
END_TEST
