/* SPDX-License-Identifier: MIT */
#include "tests/unit/good_trace.h"

#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "tests/unit/small_trace.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <fcntl.h>

void good_trace_init(struct good_trace *g)
{
        struct trace_reader *reader;
        struct trace_builder b;
        struct trace_item item;

        *g = (struct good_trace){ .n_chunks = 0 };
        trace_builder_init(&b);
        small_trace_build(&b);
        ck_assert_int_eq(io_read_file(AT_FDCWD, b.path, 1 << 20, &g->bytes, NULL), 0);
        ck_assert_int_eq(trace_reader_open(b.path, &reader, NULL), 0);
        (void)trace_reader_ending(reader, NULL, &g->ends[g->n_chunks++]);
        while (trace_reader_next(reader, &item, NULL) == 1) {
                ck_assert_uint_lt(g->n_chunks, GOOD_TRACE_CHUNKS_MAX);
                ck_assert_uint_eq(item.file_offset_bytes, g->ends[g->n_chunks - 1]);
                g->ends[g->n_chunks++] = item.file_offset_bytes + TRACE_CHUNK_HEADER_BYTES +
                                         item.header.stored_bytes;
        }
        ck_assert_uint_eq(g->ends[g->n_chunks - 1] + TRACE_TRAILER_BYTES, g->bytes.used_bytes);
        g->n_strings = trace_dictionary_count(trace_reader_dictionary(reader), TRACE_TABLE_STRINGS);
        trace_reader_close(reader);
        trace_builder_deinit(&b);
}

void good_trace_deinit(struct good_trace *g)
{
        byte_buffer_deinit(&g->bytes);
}

size_t good_trace_count_chunks(const struct good_trace *g, uint64_t byte)
{
        size_t n = 0;

        while (n < g->n_chunks && g->ends[n] <= byte)
                n++;
        return n;
}
