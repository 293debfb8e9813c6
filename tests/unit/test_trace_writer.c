/* SPDX-License-Identifier: MIT */
/* format/trace_writer.c: what is in the file is always whole chunks, and a failure is told again and again */
#include "format/trace_writer.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_reader.h"
#include "tests/unit/small_trace.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_CHUNKS      4
#define BODY_BYTES    50
#define CHUNKS_MAX    128
#define PREFIX_BYTES  10
#define UNKNOWN_CHUNK 900 /* a kind of a newer version */

static uint64_t size_of(int fd)
{
        struct stat st;

        ck_assert_int_eq(fstat(fd, &st), 0);
        return (uint64_t)st.st_size;
}

/* The content that a reader sees. */
struct sight {
        int open_result;
        enum trace_ending ending;
        uint64_t whole_bytes;
        size_t n_items; /* with the FILE chunk, which is the first */
        struct trace_chunk_header headers[CHUNKS_MAX];
};

static void look_at(const char *path, struct sight *s)
{
        struct trace_reader *reader;
        struct trace_item item;

        *s = (struct sight){ .n_items = 0 };
        s->open_result = trace_reader_open(path, &reader, NULL);
        if (s->open_result < 0)
                return;
        s->headers[s->n_items++] = *trace_reader_first_header(reader);
        while (trace_reader_next(reader, &item, NULL) == 1) {
                ck_assert_uint_lt(s->n_items, CHUNKS_MAX);
                s->headers[s->n_items++] = item.header;
        }
        s->ending = trace_reader_ending(reader, NULL, &s->whole_bytes);
        trace_reader_close(reader);
}

/* Each entry of the index, against the chunk where it points. */
static void expect_index(int fd, uint64_t index_at, size_t index_bytes)
{
        uint8_t bytes[4096];
        struct byte_reader in;
        uint64_t offset = 0;
        size_t got;

        ck_assert_int_eq(
                io_pread_full(fd, bytes, index_bytes, index_at + TRACE_CHUNK_HEADER_BYTES, &got, NULL), 0);
        ck_assert_uint_eq(got, index_bytes);
        in = byte_reader_of(bytes, index_bytes);
        while (offset < index_at) {
                uint8_t header_bytes[TRACE_CHUNK_HEADER_BYTES];
                struct trace_chunk_header h;

                ck_assert_int_eq(io_pread_full(fd, header_bytes, sizeof(header_bytes), offset, &got, NULL),
                                 0);
                ck_assert_int_eq(trace_chunk_decode_header(header_bytes, got, &h, NULL), 0);
                ck_assert_uint_eq(bytes_varint(&in), h.kind);
                ck_assert_uint_eq(bytes_varint(&in), offset);
                ck_assert_uint_eq(bytes_varint(&in), h.n_items);
                ck_assert_uint_eq(bytes_varint(&in), h.first_ns);
                ck_assert_uint_eq(bytes_varint(&in), h.last_ns - h.first_ns);
                offset += TRACE_CHUNK_HEADER_BYTES + h.stored_bytes;
        }
        ck_assert_uint_eq(offset, index_at);
        ck_assert(bytes_all_used(&in));
}

START_TEST(test_whole_trace_has_index_and_trailer)
{
        static struct sight s; /* too large for the stack */
        uint8_t trailer[TRACE_TRAILER_BYTES];
        struct trace_chunk_header index;
        uint8_t header[TRACE_CHUNK_HEADER_BYTES];
        struct trace_builder b;
        struct byte_reader in;
        uint64_t index_at;
        size_t got;

        trace_builder_init(&b);
        small_trace_build(&b);
        ck_assert_uint_eq(trace_writer_count_bytes(b.writer), size_of(b.fd));
        look_at(b.path, &s);
        ck_assert_int_eq(s.ending, TRACE_ENDING_WHOLE);

        ck_assert_int_eq(
                io_pread_full(b.fd, trailer, sizeof(trailer), size_of(b.fd) - sizeof(trailer), &got, NULL),
                0);
        in = byte_reader_of(trailer, got);
        index_at = bytes_u64(&in);
        ck_assert_uint_eq(bytes_u32(&in), TRACE_TRAILER_MAGIC);
        ck_assert(bytes_all_used(&in));
        ck_assert_int_eq(io_pread_full(b.fd, header, sizeof(header), index_at, &got, NULL), 0);
        ck_assert_int_eq(trace_chunk_decode_header(header, got, &index, NULL), 0);
        ck_assert_uint_eq(index.kind, TRACE_CHUNK_INDEX);
        trace_builder_deinit(&b);
}
END_TEST

static int put(struct trace_writer *w, uint16_t kind, uint8_t letter, struct error *err)
{
        struct trace_chunk_header header = {
                .kind = kind, .n_items = letter, .first_ns = 10 + letter, .last_ns = 300
        };
        uint8_t body[BODY_BYTES];

        for (size_t i = 0; i < sizeof(body); i++)
                body[i] = (uint8_t)(letter * 31 + i * i * 7); /* does not shrink */
        return trace_writer_put(w, header, body, sizeof(body), err);
}

START_TEST(test_index_names_every_chunk)
{
        struct trace_writer *w;
        int fd = memfd_create("trace", MFD_CLOEXEC);
        uint64_t index_at;
        size_t index_bytes;

        ck_assert_int_eq(trace_writer_new(fd, &w, NULL), 0);
        for (uint8_t i = 0; i < N_CHUNKS; i++)
                ck_assert_int_eq(put(w, UNKNOWN_CHUNK, i, NULL), 0);
        index_at = trace_writer_count_bytes(w);
        ck_assert_uint_eq(index_at, size_of(fd));
        ck_assert_int_eq(trace_writer_finish(w, NULL), 0);
        index_bytes = size_of(fd) - index_at - TRACE_CHUNK_HEADER_BYTES - TRACE_TRAILER_BYTES;
        ck_assert_uint_eq(trace_writer_count_bytes(w), size_of(fd));
        expect_index(fd, index_at, index_bytes);
        trace_writer_free(w);
        io_close(&fd);
}
END_TEST

/* Writes all that it can of a small trace; returns the first failure, having seen it stick. */
static int write_trace(int fd, struct trace_writer **ret_writer)
{
        struct error first = ERROR_NONE;
        struct error again = ERROR_NONE;
        int r = trace_writer_new(fd, ret_writer, &first);

        if (r < 0) {
                *ret_writer = NULL;
                ck_assert_int_eq(first.code, r);
                return r;
        }
        for (uint8_t i = 0; i < N_CHUNKS && r == 0; i++)
                r = put(*ret_writer, UNKNOWN_CHUNK, i, &first);
        if (r == 0)
                r = trace_writer_finish(*ret_writer, &first);
        if (r == 0)
                return 0;
        ck_assert_int_eq(put(*ret_writer, UNKNOWN_CHUNK, 9, &again), r);
        ck_assert_str_eq(again.text, first.text);
        ck_assert_int_eq(trace_writer_finish(*ret_writer, &again), r);
        ck_assert_str_eq(again.text, first.text);
        return r;
}

static void set_limit(rlim_t n_bytes)
{
        struct rlimit limit;

        ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
        limit.rlim_cur = n_bytes < limit.rlim_max ? n_bytes : limit.rlim_max;
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The part of a trace of write_trace() that fits into so much room; @whole_bytes is all of it. */
static uint64_t whole_chunks_in(uint64_t room, uint64_t whole_bytes)
{
        uint64_t first_bytes = TRACE_CHUNK_HEADER_BYTES + 4;
        uint64_t chunk_bytes = TRACE_CHUNK_HEADER_BYTES + BODY_BYTES;
        uint64_t index_end = whole_bytes - TRACE_TRAILER_BYTES;

        if (room >= index_end)
                return room < whole_bytes ? index_end : whole_bytes;
        if (room < first_bytes)
                return 0;
        if (room > first_bytes + N_CHUNKS * chunk_bytes)
                room = first_bytes + N_CHUNKS * chunk_bytes;
        return room - (room - first_bytes) % chunk_bytes;
}

/* A disk that is full after any number of bytes, with a trace that begins after other bytes. */
START_TEST(test_full_disk_leaves_whole_chunks)
{
        uint64_t whole_bytes = 1000; /* until it is known */
        struct trace_writer *w;

        ck_assert(signal(SIGXFSZ, SIG_IGN) !=
                  SIG_ERR); /* else the kernel ends the test instead of the write */
        for (uint64_t less = 0; less <= whole_bytes; less++) {
                int fd = memfd_create("trace", MFD_CLOEXEC);
                int r;

                ck_assert_int_ge(fd, 0);
                ck_assert_int_eq(io_write_all(fd, "0123456789", PREFIX_BYTES, NULL), 0);
                set_limit(less == 0 ? RLIM_INFINITY : PREFIX_BYTES + whole_bytes - less);
                r = write_trace(fd, &w);
                set_limit(RLIM_INFINITY);
                if (less == 0)
                        whole_bytes = size_of(fd) - PREFIX_BYTES;
                ck_assert_int_eq(r, less == 0 ? 0 : -EFBIG);
                ck_assert_uint_eq(size_of(fd),
                                  PREFIX_BYTES + whole_chunks_in(whole_bytes - less, whole_bytes));
                if (w)
                        ck_assert_uint_eq(trace_writer_count_bytes(w), size_of(fd) - PREFIX_BYTES);
                trace_writer_free(w);
                io_close(&fd);
        }
}
END_TEST

/* A file that another program truncates gets nothing more, since that would follow a hole. */
START_TEST(test_truncated_file)
{
        for (int n_left = 0; n_left <= PREFIX_BYTES; n_left += PREFIX_BYTES) {
                struct trace_writer *w;
                struct error err = ERROR_NONE;
                int fd = memfd_create("trace", MFD_CLOEXEC);

                ck_assert_int_ge(fd, 0);
                ck_assert_int_eq(io_write_all(fd, "0123456789", PREFIX_BYTES, NULL), 0);
                ck_assert_int_eq(trace_writer_new(fd, &w, NULL), 0);
                ck_assert_int_eq(ftruncate(fd, n_left), 0);
                ck_assert_int_eq(put(w, UNKNOWN_CHUNK, 1, &err), -EIO);
                ck_assert_ptr_nonnull(strstr(err.text, "truncated"));
                ck_assert_int_eq(trace_writer_finish(w, NULL), -EIO);
                ck_assert_uint_eq(size_of(fd), (uint64_t)n_left);
                trace_writer_free(w);
                io_close(&fd);
        }
}
END_TEST

START_TEST(test_device_that_is_full)
{
        struct trace_writer *w = NULL;
        struct error err = ERROR_NONE;
        int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(trace_writer_new(fd, &w, &err), -ENOSPC);
        ck_assert_ptr_nonnull(strstr(err.text, "No space left"));
        ck_assert_ptr_null(w);
        io_close(&fd);
}
END_TEST

START_TEST(test_reader_that_went_away)
{
        struct trace_writer *w;
        struct error err = ERROR_NONE;
        int ends[2];

        ck_assert(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        ck_assert_int_eq(trace_writer_new(ends[1], &w, NULL), 0);
        ck_assert_int_eq(put(w, UNKNOWN_CHUNK, 1, NULL), 0);
        io_close(&ends[0]);
        ck_assert_int_eq(put(w, UNKNOWN_CHUNK, 2, NULL), -EPIPE);
        ck_assert_int_eq(put(w, UNKNOWN_CHUNK, 3, &err), -EPIPE);
        ck_assert_uint_gt(strlen(err.text), 0);
        ck_assert_int_eq(trace_writer_finish(w, NULL), -EPIPE);
        trace_writer_free(w);
        trace_writer_free(NULL);
        io_close(&ends[1]);
}
END_TEST

/* Reads what is there of @path, cuts it after its last whole chunk, and goes on from there. */
static void mend(const char *path)
{
        static struct sight s; /* too large for the stack */
        struct trace_writer *w;
        int fd = open(path, O_RDWR | O_CLOEXEC);

        look_at(path, &s);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(trace_writer_reopen(fd, &w, NULL), 0);
        for (size_t i = 0; i < s.n_items; i++)
                if (s.headers[i].kind != TRACE_CHUNK_INDEX)
                        trace_writer_adopt(w, &s.headers[i]);
        ck_assert_int_eq(ftruncate(fd, (off_t)trace_writer_count_bytes(w)), 0);
        ck_assert_int_ge(lseek(fd, 0, SEEK_END), 0);
        ck_assert_int_eq(trace_writer_finish(w, NULL), 0);
        trace_writer_free(w);
        io_close(&fd);
}

/*
 * Cut at every byte after the first chunk: what was whole before is there after, and
 * the trace is whole again.
 */
START_TEST(test_reopened_trace_becomes_whole)
{
        struct byte_buffer bytes = { .data = NULL };
        struct trace_builder b;
        static struct sight whole, s; /* too large for the stack */

        trace_builder_init(&b);
        small_trace_build(&b);
        look_at(b.path, &whole);
        ck_assert_int_eq(io_read_file(AT_FDCWD, b.path, 1 << 20, &bytes, NULL), 0);
        for (size_t cut = TRACE_CHUNK_HEADER_BYTES + 4; cut < bytes.used_bytes; cut++) {
                ck_assert_int_eq(ftruncate(b.fd, 0), 0);
                ck_assert_int_eq(lseek(b.fd, 0, SEEK_SET), 0);
                ck_assert_int_eq(io_write_all(b.fd, bytes.data, cut, NULL), 0);
                mend(b.path);
                look_at(b.path, &s);
                ck_assert_int_eq(s.ending, TRACE_ENDING_WHOLE);
                ck_assert_uint_le(s.n_items, whole.n_items);
                for (size_t i = 0; i + 1 < s.n_items; i++)
                        ck_assert_uint_eq(s.headers[i].checksum, whole.headers[i].checksum);
        }
        look_at(b.path, &s);
        ck_assert_uint_eq(s.n_items, whole.n_items);
        ck_assert_uint_eq(size_of(b.fd), bytes.used_bytes);
        byte_buffer_deinit(&bytes);
        trace_builder_deinit(&b);
}
END_TEST

/* A trace that is mended on a full disk must not be shorter afterwards: there is no copy. */
START_TEST(test_failed_mending_loses_nothing)
{
        struct trace_chunk_header first = { .kind = TRACE_CHUNK_FILE, .stored_bytes = 4, .raw_bytes = 4 };
        int fd = memfd_create("trace", MFD_CLOEXEC);
        struct trace_writer *w;
        uint64_t n_bytes;

        ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
        ck_assert_int_eq(trace_writer_new(fd, &w, NULL), 0);
        trace_writer_free(w);
        n_bytes = size_of(fd);

        ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
        ck_assert_int_eq(trace_writer_reopen(fd, &w, NULL), 0); /* positioned only afterwards, as one may */
        trace_writer_adopt(w, &first);
        ck_assert_int_eq(lseek(fd, 0, SEEK_END), (off_t)n_bytes);
        set_limit(n_bytes + 5);
        ck_assert_int_eq(trace_writer_finish(w, NULL), -EFBIG);
        set_limit(RLIM_INFINITY);
        ck_assert_uint_eq(size_of(fd), n_bytes);
        trace_writer_free(w);
        io_close(&fd);
}
END_TEST

START_TEST(test_body_over_the_limit_is_a_failure_that_sticks)
{
        uint8_t *body = calloc(1, TRACE_CHUNK_RAW_MAX + 1);
        struct trace_chunk_header header = { .kind = UNKNOWN_CHUNK };
        int fd = memfd_create("trace", MFD_CLOEXEC);
        struct trace_writer *w;
        uint64_t n_bytes;

        ck_assert_ptr_nonnull(body);
        ck_assert_int_eq(trace_writer_new(fd, &w, NULL), 0);
        n_bytes = trace_writer_count_bytes(w);
        ck_assert_int_eq(trace_writer_put(w, header, body, TRACE_CHUNK_RAW_MAX + 1, NULL), -EOVERFLOW);
        ck_assert_int_eq(put(w, UNKNOWN_CHUNK, 1, NULL), -EOVERFLOW);
        ck_assert_uint_eq(size_of(fd), n_bytes);
        free(body);
        trace_writer_free(w);
        io_close(&fd);
}
END_TEST
