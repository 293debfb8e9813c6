/* SPDX-License-Identifier: MIT */
/*
 * format/trace_reader.c: every whole chunk before a cut or a damage is delivered, nothing after
 * it, and it is said why
 */
#include "format/trace_reader.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_lock.h"
#include "tests/unit/good_trace.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNKNOWN_CHUNK 900 /* a kind of a newer version */
#define STORED_BYTES  8   /* place of this number in a header, 4 bytes long */

/* A file in memory whose contents are set again and again. */
struct memory_file {
        int fd;
        char path[40];
};

static struct memory_file f;
static struct good_trace g;

static void setup(void)
{
        f = (struct memory_file){ .fd = memfd_create("trace", MFD_CLOEXEC) };
        ck_assert_int_ge(f.fd, 0);
        (void)snprintf(f.path, sizeof(f.path), "/proc/self/fd/%d", f.fd);
        good_trace_init(&g);
}

static void teardown(void)
{
        good_trace_deinit(&g);
        io_close(&f.fd);
}

static void set_contents(const uint8_t *bytes, size_t n_bytes)
{
        ck_assert_int_eq(ftruncate(f.fd, 0), 0);
        ck_assert_int_eq(lseek(f.fd, 0, SEEK_SET), 0);
        ck_assert_int_eq(io_write_all(f.fd, bytes, n_bytes, NULL), 0);
}

/* The bytes of the small trace and where its chunks end. */
/* Reads all there is.  Returns the result of the opening; with success how many chunks there were. */
static int read_all(const char *path, size_t *ret_n_chunks, enum trace_ending *ret_ending,
                    uint64_t *ret_bytes)
{
        struct trace_reader *reader;
        struct error err = ERROR_NONE;
        struct trace_item item;
        const char *words;
        size_t n = 1;
        int r = trace_reader_open(path, &reader, &err);

        ck_assert_int_eq(err.code, r);
        if (r < 0) {
                ck_assert_ptr_nonnull(strstr(err.text, path));
                return r;
        }
        while ((r = trace_reader_next(reader, &item, &err)) == 1) {
                ck_assert_int_eq(trace_reader_ending(reader, NULL, NULL), TRACE_ENDING_OPEN);
                n++;
        }
        ck_assert_int_eq(r, 0);
        ck_assert_int_eq(trace_reader_next(reader, &item, &err), 0);
        *ret_ending = trace_reader_ending(reader, &words, ret_bytes);
        ck_assert_int_eq(words[0] == '\0', *ret_ending == TRACE_ENDING_WHOLE);
        *ret_n_chunks = n;
        trace_reader_close(reader);
        return 0;
}

START_TEST(test_cut_at_every_byte)
{
        for (size_t cut = 0; cut <= g.bytes.used_bytes; cut++) {
                enum trace_ending ending = TRACE_ENDING_OPEN;
                uint64_t whole_bytes = 0;
                size_t n = 0;
                int r;

                set_contents(g.bytes.data, cut);
                r = read_all(f.path, &n, &ending, &whole_bytes);
                if (cut < g.ends[0]) {
                        ck_assert_int_eq(r, -ENODATA);
                        continue;
                }
                ck_assert_int_eq(r, 0);
                ck_assert_uint_eq(n, good_trace_count_chunks(&g, cut));
                ck_assert_uint_eq(whole_bytes, g.ends[n - 1]);
                ck_assert_int_eq(ending,
                                 cut == g.bytes.used_bytes ? TRACE_ENDING_WHOLE : TRACE_ENDING_CUT_OFF);
        }
}
END_TEST

/* True if a byte of the file belongs to a header's length of the body: then the end may be missing. */
static bool is_length(size_t byte, size_t chunk)
{
        uint64_t begin = chunk == 0 ? 0 : g.ends[chunk - 1];

        return chunk < g.n_chunks && byte >= begin + STORED_BYTES && byte < begin + STORED_BYTES + 4;
}

/* loop test: every byte of the file, with one bit turned in each run */
START_LOOP_TEST(test_damage_at_every_byte, 0, 8)
{
        for (size_t byte = 0; byte < g.bytes.used_bytes; byte++) {
                size_t n_before = good_trace_count_chunks(&g, byte);
                enum trace_ending ending = TRACE_ENDING_OPEN;
                uint64_t whole_bytes = 0;
                size_t n = 0;
                int r;

                g.bytes.data[byte] = (uint8_t)(g.bytes.data[byte] ^ 1U << _i);
                set_contents(g.bytes.data, g.bytes.used_bytes);
                g.bytes.data[byte] = (uint8_t)(g.bytes.data[byte] ^ 1U << _i);
                r = read_all(f.path, &n, &ending, &whole_bytes);
                if (n_before == 0) {
                        ck_assert(r == -EBADMSG || (r == -ENODATA && is_length(byte, 0)));
                        continue;
                }
                ck_assert_int_eq(r, 0);
                ck_assert_uint_eq(n, n_before);
                ck_assert_uint_eq(whole_bytes, g.ends[n - 1]);
                ck_assert(ending == TRACE_ENDING_DAMAGED ||
                          (ending == TRACE_ENDING_CUT_OFF && is_length(byte, n_before)));
        }
}
END_TEST

START_TEST(test_bytes_after_the_trailer_are_damage)
{
        enum trace_ending ending;
        uint64_t whole_bytes;
        size_t n;

        byte_buffer_add_u8(&g.bytes, 0);
        set_contents(g.bytes.data, g.bytes.used_bytes);
        ck_assert_int_eq(read_all(f.path, &n, &ending, &whole_bytes), 0);
        ck_assert_int_eq(ending, TRACE_ENDING_DAMAGED);
        ck_assert_uint_eq(n, g.n_chunks);
}
END_TEST

/* loop test: a pipe by its path, or as standard input */
START_LOOP_TEST(test_from_a_pipe, 0, 2)
{
        int standard_input = dup(STDIN_FILENO);
        enum trace_ending ending;
        uint64_t whole_bytes;
        char path[40] = "-";
        int ends[2];
        size_t n;

        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        ck_assert_int_eq(io_write_all(ends[1], g.bytes.data, g.bytes.used_bytes, NULL), 0); /* it fits */
        io_close(&ends[1]);
        if (_i == 0)
                (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
        else
                ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
        ck_assert_int_eq(read_all(path, &n, &ending, &whole_bytes), 0);
        ck_assert_int_eq(ending, TRACE_ENDING_WHOLE);
        ck_assert_uint_eq(n, g.n_chunks);
        if (_i == 1)
                ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0); /* not the reader's to close */
        ck_assert_int_eq(dup2(standard_input, STDIN_FILENO), STDIN_FILENO);
        io_close(&standard_input);
        io_close(&ends[0]);
}
END_TEST

START_TEST(test_what_is_no_trace)
{
        static const struct {
                const char *path;
                int r;
        } others[] = {
                { "/nowhere/at/all", -ENOENT }, { "/proc/self", -EISDIR },      { "/dev/null", -ENODATA },
                { "/dev/zero", -EBADMSG },      { "/proc/self/exe", -EBADMSG },
        };

        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
                enum trace_ending ending;
                uint64_t whole_bytes;
                size_t n;

                ck_assert_int_eq(read_all(others[i].path, &n, &ending, &whole_bytes), others[i].r);
        }
        trace_reader_close(NULL);
}
END_TEST

/* ---- chunks made by hand ------------------------------------------------------------------------------- */

static void add_chunk(struct byte_buffer *file, uint16_t kind, const uint8_t *body, size_t n_bytes)
{
        struct trace_chunk_header header = { .kind = kind };

        ck_assert_int_eq(trace_chunk_encode(&header, body, n_bytes, 3, file, NULL), 0);
}

static int open_bytes(const struct byte_buffer *bytes, struct trace_reader **ret_reader)
{
        set_contents(bytes->data, bytes->used_bytes);
        return trace_reader_open(f.path, ret_reader, NULL);
}

START_TEST(test_first_chunk_and_version)
{
        static const struct {
                uint16_t kind;
                uint8_t body[6];
                size_t n_bytes;
                int r;
        } firsts[] = {
                { TRACE_CHUNK_FILE, { TRACE_VERSION_MAJOR, 0, 0, 0 }, 4, 0 },
                { TRACE_CHUNK_FILE,
                  { TRACE_VERSION_MAJOR, 0, 0xff, 0xff, 7, 7 },
                  6,
                  0 }, /* a newer minor version */
                { TRACE_CHUNK_FILE, { TRACE_VERSION_MAJOR + 1, 0, 0, 0 }, 4, -ENOTSUP },
                { TRACE_CHUNK_FILE, { TRACE_VERSION_MAJOR, 1, 0, 0 }, 4, -ENOTSUP },
                { TRACE_CHUNK_FILE, { 0, 0, 0, 0 }, 4, -ENOTSUP },
                { TRACE_CHUNK_FILE, { TRACE_VERSION_MAJOR, 0, 0 }, 3, -EBADMSG },
                { TRACE_CHUNK_FILE, { 0 }, 0, -EBADMSG },
                { TRACE_CHUNK_INDEX, { TRACE_VERSION_MAJOR, 0, 0, 0 }, 4, -EBADMSG },
                { UNKNOWN_CHUNK, { TRACE_VERSION_MAJOR, 0, 0, 0 }, 4, -EBADMSG },
                { TRACE_TABLE_STRINGS, { 1, 1, 2 }, 3, -EBADMSG },
        };

        for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
                struct byte_buffer file = { .data = NULL };
                struct trace_reader *reader = NULL;

                add_chunk(&file, firsts[i].kind, firsts[i].body, firsts[i].n_bytes);
                ck_assert_int_eq(open_bytes(&file, &reader), firsts[i].r);
                if (reader)
                        ck_assert_uint_eq(trace_reader_first_header(reader)->stored_bytes, firsts[i].n_bytes);
                trace_reader_close(reader);
                byte_buffer_deinit(&file);
        }
}
END_TEST

static const uint8_t version[4] = { TRACE_VERSION_MAJOR, 0, TRACE_VERSION_MINOR, 0 };
static const uint8_t one_string[9] = { 1, 1, 2, 1, 1, 2, 1, 1, 'x' };

START_TEST(test_unknown_kinds_are_handed_on)
{
        struct byte_buffer file = { .data = NULL };
        struct trace_reader *reader;
        struct trace_item item;
        size_t n_bytes;

        add_chunk(&file, TRACE_CHUNK_FILE, version, 4);
        add_chunk(&file, UNKNOWN_CHUNK, (const uint8_t *)"new", 3);
        add_chunk(&file, TRACE_TABLE_FIRST + TRACE_TABLE_COUNT, (const uint8_t *)"", 0);
        add_chunk(&file, TRACE_TABLE_STRINGS, one_string, sizeof(one_string));
        ck_assert_int_eq(open_bytes(&file, &reader), 0);
        ck_assert_int_eq(trace_reader_next(reader, &item, NULL), 1);
        ck_assert_uint_eq(item.header.kind, UNKNOWN_CHUNK);
        ck_assert_uint_eq(item.body_bytes, 3);
        ck_assert_mem_eq(item.body, "new", 3);
        ck_assert_int_eq(trace_reader_next(reader, &item, NULL), 1);
        ck_assert_uint_eq(item.body_bytes, 0);
        ck_assert_uint_eq(trace_dictionary_count(trace_reader_dictionary(reader), TRACE_TABLE_STRINGS), 0);
        ck_assert_int_eq(trace_reader_next(reader, &item, NULL), 1);
        ck_assert(item.rows.first_id == 1 && item.rows.n_rows == 1);
        ck_assert_mem_eq(trace_dictionary_string(trace_reader_dictionary(reader), 1, &n_bytes), "x", 1);
        ck_assert_int_eq(trace_reader_next(reader, &item, NULL), 0);
        ck_assert_int_eq(trace_reader_ending(reader, NULL, NULL), TRACE_ENDING_CUT_OFF);
        trace_reader_close(reader);
        byte_buffer_deinit(&file);
}
END_TEST

/* The checksum tells what was damaged on its way; a writer that lies has a good one. */
START_TEST(test_malformed_table_is_damage)
{
        static const uint8_t second_row[] = { 2, 1, 2, 1, 1, 2, 1, 1, 'x' };
        struct byte_buffer file = { .data = NULL };
        struct trace_reader *reader;
        struct trace_item item;
        const char *words;
        uint64_t whole_bytes;

        add_chunk(&file, TRACE_CHUNK_FILE, version, 4);
        add_chunk(&file, TRACE_TABLE_STRINGS, second_row, sizeof(second_row));
        add_chunk(&file, TRACE_TABLE_STRINGS, one_string, sizeof(one_string));
        ck_assert_int_eq(open_bytes(&file, &reader), 0);
        ck_assert_int_eq(trace_reader_next(reader, &item, NULL), 0);
        ck_assert_int_eq(trace_reader_next(reader, &item, NULL), 0);
        ck_assert_int_eq(trace_reader_ending(reader, &words, &whole_bytes), TRACE_ENDING_DAMAGED);
        ck_assert_ptr_nonnull(strstr(words, "string"));
        ck_assert_uint_eq(whole_bytes, TRACE_CHUNK_HEADER_BYTES + 4);
        ck_assert_uint_eq(trace_dictionary_count(trace_reader_dictionary(reader), TRACE_TABLE_STRINGS), 0);
        trace_reader_close(reader);
        byte_buffer_deinit(&file);
}
END_TEST

/* Chunks of events are in no order of time: the first and the last time are those of all. */
START_TEST(test_times_of_all_chunks)
{
        static const uint64_t times_ns[][2] = { { 3000, 4000 }, { 2000, 9000 }, { 5000, 6000 } };
        uint64_t first_ns, last_ns;
        struct trace_reader *reader;
        struct error err = ERROR_NONE;
        struct trace_builder b;

        trace_builder_init(&b);
        for (uint32_t i = 0; i < 3; i++) {
                trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 11 + i));
                trace_builder_event(&b, times_ns[i][0], TRACE_OP_SWITCH_IN);
                trace_builder_event(&b, times_ns[i][1], TRACE_OP_SWITCH_OUT);
                trace_builder_end_run(&b);
                trace_builder_flush(&b);
        }
        trace_builder_finish(&b);
        ck_assert_int_eq(trace_reader_open(b.path, &reader, &err), 0);
        ck_assert_int_eq(trace_reader_read_tables(reader, &first_ns, &last_ns, &err), 0);
        ck_assert_uint_eq(first_ns, 2000);
        ck_assert_uint_eq(last_ns, 9000);
        trace_reader_close(reader);
        trace_builder_deinit(&b);
}
END_TEST

START_TEST(test_descriptors_are_closed)
{
        int before = dup(f.fd); /* the lowest that is free */
        int after = before;

        io_close(&after);
        for (size_t cut = 0; cut < g.bytes.used_bytes; cut += 40) {
                enum trace_ending ending;
                uint64_t whole_bytes;
                size_t n;

                set_contents(g.bytes.data, cut);
                (void)read_all(f.path, &n, &ending, &whole_bytes);
        }
        after = dup(f.fd);
        ck_assert_int_eq(after, before);
        io_close(&after);
}
END_TEST

/* A process that holds the lock of a file until @ret_release_fd is closed. */
static pid_t hold_lock(const char *path, int *ret_release_fd)
{
        int ready[2], release[2];
        pid_t child;
        char byte = 0;

        ck_assert_int_eq(pipe(ready), 0);
        ck_assert_int_eq(pipe(release), 0);
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
                int fd = open(path, O_WRONLY | O_CLOEXEC);

                (void)close(release[1]);
                if (fd < 0 || !trace_lock_take(fd) || write(ready[1], &byte, 1) != 1)
                        _exit(1);
                _exit(read(release[0], &byte, 1) != 0);
        }
        (void)close(ready[1]);
        (void)close(release[0]);
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
        (void)close(ready[0]);
        *ret_release_fd = release[1];
        return child;
}

static void add_growing_zone(struct trace_builder *b, uint32_t thread, const char *name, uint64_t time_ns)
{
        uint32_t location = trace_builder_location(b, name);

        trace_builder_begin_run(b, thread);
        trace_builder_begin_zone(b, time_ns, location);
        trace_builder_event(b, time_ns + 1, TRACE_OP_ZONE_END);
        trace_builder_end_run(b);
        trace_builder_flush(b);
}

static int count_chunks_of_events(struct trace_reader *reader)
{
        struct trace_item item;
        int n = 0;

        while (trace_reader_next(reader, &item, NULL) == 1)
                n += item.header.kind == TRACE_CHUNK_EVENTS;
        return n;
}

/* Its events of later, whose tables were not read, are left out; without the recorder it is cut off. */
START_TEST(test_trace_is_still_being_written)
{
        struct trace_reader *reader;
        struct trace_builder b;
        const char *words;
        uint64_t first, last;
        uint32_t thread;
        int release_fd, status;
        pid_t recorder;

        trace_builder_init(&b);
        thread = trace_builder_thread(&b, 10, 10);
        add_growing_zone(&b, thread, "early", 100);
        recorder = hold_lock(b.path, &release_fd);
        ck_assert_int_eq(trace_reader_open(b.path, &reader, NULL), 0);
        ck_assert_int_eq(trace_reader_read_tables(reader, &first, &last, NULL), 0);
        add_growing_zone(&b, thread, "late", 200);
        ck_assert_int_eq(count_chunks_of_events(reader), 1);
        ck_assert_int_eq(trace_reader_ending(reader, &words, NULL), TRACE_ENDING_GROWING);
        ck_assert_ptr_nonnull(strstr(words, "still being written"));
        trace_reader_close(reader);
        (void)close(release_fd);
        ck_assert_int_eq(waitpid(recorder, &status, 0), recorder);
        ck_assert_int_eq(status, 0);
        ck_assert_int_eq(trace_reader_open(b.path, &reader, NULL), 0);
        ck_assert_int_eq(count_chunks_of_events(reader), 2);
        ck_assert_int_eq(trace_reader_ending(reader, &words, NULL), TRACE_ENDING_CUT_OFF);
        trace_reader_close(reader);
        trace_builder_deinit(&b);
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 120, .setup = setup, .teardown = teardown);
