/* SPDX-License-Identifier: MIT */
/* Foreign files come out as they went in: packed or not, in pieces of any size, with their lines counted. */
#include "unit_test.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "import/file/import_source.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum packing { PLAIN, GZIP, ZSTD, N_PACKINGS };

static char path[64];

static void setup(void)
{
        int fd;

        (void)snprintf(path, sizeof(path), "/tmp/test_import_source.XXXXXX");
        fd = mkstemp(path);
        ck_assert_int_ge(fd, 0);
        (void)close(fd);
}

static void teardown(void)
{
        (void)unlink(path);
}

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);

static void put_file(const void *data, size_t n)
{
        int fd = open(path, O_WRONLY | O_TRUNC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(io_write_all(fd, data, n, NULL), 0);
        (void)close(fd);
}

static void pack(enum packing packing, const void *data, size_t n, struct byte_buffer *out)
{
        size_t room = 2 * n + 4096, done = n;
        uint8_t *to = byte_buffer_reserve(out, room);

        ck_assert_ptr_nonnull(to);
        if (packing == PLAIN) {
                if (n > 0)
                        memcpy(to, data, n);
        } else if (packing == GZIP) {
                z_stream z = { .next_in = (uint8_t *)(uintptr_t)data, .avail_in = (uInt)n };

                ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
                z.next_out = to;
                z.avail_out = (uInt)room;
                ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
                done = room - z.avail_out;
                ck_assert_int_eq(deflateEnd(&z), Z_OK);
        } else {
                ZSTD_CCtx *z = ZSTD_createCCtx();

                ck_assert_ptr_nonnull(z);
                /* Without it, other bytes among the literals are other text. */
                ck_assert(!ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1)));
                done = ZSTD_compress2(z, to, room, data, n);
                ck_assert(!ZSTD_isError(done));
                ZSTD_freeCCtx(z);
        }
        out->used_bytes += done;
}

static struct import_source *open_source(void)
{
        struct import_source *s = NULL;
        struct error err = ERROR_NONE;

        ck_assert_msg(import_source_open(&s, path, &err) == 0, "%s", err.text);
        return s;
}

static void expect_line(struct import_source *s, const char *wanted)
{
        struct text_view line;
        struct error err = ERROR_NONE;
        int r = import_source_next_line(s, &line, &err);

        ck_assert_msg(r == 1, "%d %s", r, err.text);
        ck_assert_msg(text_view_is(line, wanted), "%.*s", (int)line.n_bytes, line.bytes);
}

/* A look takes nothing: bytes are there until they are skipped, and their lines are counted then. */
START_LOOP_TEST(bytes_are_looked_at_before_they_are_taken, PLAIN, N_PACKINGS)
{
        enum { N_BYTES = 3 << 20 };
        struct byte_buffer b = { .data = NULL };
        char *text = malloc(N_BYTES);
        struct import_source *s;
        struct text_view view;
        size_t n = 0, n_before, at = 0;
        int r;

        ck_assert_ptr_nonnull(text);
        for (size_t i = 0; i < N_BYTES; i++)
                text[i] = i % 7 ? (char)('a' + i % 23) : '\n';
        pack((enum packing)_i, text, N_BYTES, &b);
        put_file(b.data, b.used_bytes);
        s = open_source();
        while ((n_before = n, r = import_source_look(s, n, &view, NULL)) == 1) {
                ck_assert_uint_gt(view.n_bytes, n_before);
                ck_assert_mem_eq(view.bytes, text + at, view.n_bytes);
                n = view.n_bytes;
                if (n < 1000000)
                        continue;
                import_source_skip(s, n - 5);
                at += n - 5;
                n = 5;
                ck_assert_uint_eq(import_source_offset(s), at);
                ck_assert_uint_eq(import_source_line(s), (at + 6) / 7);
        }
        ck_assert_int_eq(r, 0);
        ck_assert_uint_eq(at + view.n_bytes, N_BYTES);
        ck_assert_mem_eq(view.bytes, text + at, view.n_bytes);
        import_source_close(s);
        byte_buffer_deinit(&b);
        free(text);
}
END_TEST

START_LOOP_TEST(lines_with_and_without_ends, PLAIN, N_PACKINGS)
{
        static const char text[] = "one\r\ntwo\n\n\rthree\r\nlast";
        struct byte_buffer b = { .data = NULL };
        struct text_view line;
        struct import_source *s;

        pack((enum packing)_i, text, strlen(text), &b);
        put_file(b.data, b.used_bytes);
        s = open_source();
        expect_line(s, "one");
        ck_assert_uint_eq(import_source_offset(s), 5);
        expect_line(s, "two");
        expect_line(s, "");
        expect_line(s, "\rthree");
        ck_assert_uint_eq(import_source_line(s), 4);
        expect_line(s, "last");
        ck_assert_uint_eq(import_source_line(s), 5);
        ck_assert_uint_eq(import_source_offset(s), strlen(text));
        ck_assert_int_eq(import_source_next_line(s, &line, NULL), 0);
        ck_assert_int_eq(import_source_next_line(s, &line, NULL), 0);
        import_source_close(s);
        byte_buffer_deinit(&b);
}
END_TEST

/* 3 MB of lines of all lengths, as two members or frames. */
static void make_lines(struct byte_buffer *text)
{
        for (unsigned i = 0; text->used_bytes < 3000000; i++)
                byte_buffer_add_format(
                        text, "%u %.*s\n", i, (int)(i * 7919 % 300),
                        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnop");
}

START_LOOP_TEST(much_text_comes_out_whole, PLAIN, N_PACKINGS)
{
        struct byte_buffer text = { .data = NULL }, b = { .data = NULL }, got = { .data = NULL };
        struct import_source *s;
        struct text_view part;
        uint64_t n_lines = 0;

        make_lines(&text);
        pack((enum packing)_i, text.data, 1000001, &b);
        pack((enum packing)_i, text.data + 1000001, text.used_bytes - 1000001, &b);
        put_file(b.data, b.used_bytes);

        s = open_source();
        ck_assert_int_eq(import_source_head(s, &part, NULL), 0);
        ck_assert_uint_eq(part.n_bytes, IMPORT_HEAD_BYTES);
        ck_assert_int_eq(memcmp(part.bytes, text.data, part.n_bytes), 0);
        ck_assert_uint_eq(import_source_offset(s), 0);
        while (import_source_next_line(s, &part, NULL) == 1) {
                byte_buffer_add(&got, part.bytes, part.n_bytes);
                byte_buffer_add_u8(&got, '\n');
                n_lines++;
        }
        ck_assert_uint_eq(got.used_bytes, text.used_bytes);
        ck_assert_int_eq(memcmp(got.data, text.data, got.used_bytes), 0);
        ck_assert_uint_eq(import_source_line(s), n_lines);
        import_source_close(s);

        byte_buffer_clear(&got);
        s = open_source();
        for (size_t n = 1; import_source_next_bytes(s, n, &part, NULL) == 1; n = n * 3 % 100003) {
                ck_assert_uint_le(part.n_bytes, n);
                byte_buffer_add(&got, part.bytes, part.n_bytes);
        }
        ck_assert_uint_eq(got.used_bytes, text.used_bytes);
        ck_assert_int_eq(memcmp(got.data, text.data, got.used_bytes), 0);
        ck_assert_uint_eq(import_source_line(s), n_lines);
        import_source_close(s);
        byte_buffer_deinit(&text);
        byte_buffer_deinit(&b);
        byte_buffer_deinit(&got);
}
END_TEST

START_TEST(exact_bytes_until_the_file_ends_before)
{
        struct import_source *s;
        struct text_view part;

        put_file("IRPF12345678rest", 16);
        s = open_source();
        ck_assert_int_eq(import_source_next_exact(s, 4, &part, NULL), 1);
        ck_assert(text_view_is(part, "IRPF"));
        ck_assert_int_eq(import_source_next_exact(s, 8, &part, NULL), 1);
        ck_assert(text_view_is(part, "12345678"));
        ck_assert_int_eq(import_source_next_exact(s, 0, &part, NULL), 1);
        ck_assert_uint_eq(part.n_bytes, 0);
        ck_assert_int_eq(import_source_next_exact(s, 5, &part, NULL), 0);
        ck_assert_int_eq(import_source_next_exact(s, 1, &part, NULL), 0);
        import_source_close(s);
}
END_TEST

START_TEST(long_lines_and_records_are_refused)
{
        static char block[1 << 20];
        struct import_source *s;
        struct text_view line;
        struct error err = ERROR_NONE;
        int fd = open(path, O_WRONLY | O_TRUNC);

        memset(block, 'x', sizeof(block));
        for (size_t i = 0; i < IMPORT_LINE_BYTES_MAX / sizeof(block); i++)
                ck_assert_int_eq(io_write_all(fd, block, sizeof(block), NULL), 0);
        ck_assert_int_eq(io_write_all(fd, "\nx\n", 3, NULL), 0);
        s = open_source();
        ck_assert_int_eq(import_source_next_exact(s, (size_t)IMPORT_LINE_BYTES_MAX + 1, &line, &err), -EFBIG);
        import_source_close(s);

        s = open_source();
        ck_assert_int_eq(import_source_next_line(s, &line, NULL), 1); /* just as long as allowed */
        ck_assert_uint_eq(line.n_bytes, IMPORT_LINE_BYTES_MAX);
        expect_line(s, "x");
        import_source_close(s);

        ck_assert_int_eq(ftruncate(fd, IMPORT_LINE_BYTES_MAX), 0);
        ck_assert_int_eq(pwrite(fd, "xx\n", 3, IMPORT_LINE_BYTES_MAX), 3);
        (void)close(fd);
        s = open_source();
        ck_assert_int_eq(import_source_next_line(s, &line, &err), -EFBIG);
        ck_assert_ptr_nonnull(strstr(err.text, "longer than 64 MiB"));
        ck_assert_int_eq(import_source_next_line(s, &line, NULL), -EFBIG);
        import_source_close(s);
}
END_TEST

START_LOOP_TEST(cut_and_damaged_packing_is_read_up_to_there, 0, 4)
{
        bool is_gzip = _i % 2 == 0, is_cut = _i < 2;
        struct byte_buffer text = { .data = NULL }, b = { .data = NULL };
        struct import_source *s;
        struct text_view part;
        struct error err = ERROR_NONE;
        uint64_t n = 0;
        int r;

        make_lines(&text);
        pack(is_gzip ? GZIP : ZSTD, text.data, text.used_bytes, &b);
        if (is_cut)
                b.used_bytes -= b.used_bytes / 3;
        else
                memset(b.data + b.used_bytes / 2, 0xff, 64);
        put_file(b.data, b.used_bytes);
        s = open_source();
        while ((r = import_source_next_bytes(s, SIZE_MAX, &part, &err)) == 1) {
                if (is_cut)
                        ck_assert_int_eq(memcmp(part.bytes, text.data + n, part.n_bytes), 0);
                n += part.n_bytes;
        }
        ck_assert_int_eq(r, -EBADMSG);
        ck_assert_ptr_nonnull(strstr(err.text, is_cut ? "ends too early" : "damaged"));
        ck_assert_uint_gt(n, 100000);
        ck_assert_int_eq(import_source_next_line(s, &part, &err), -EBADMSG);
        ck_assert_int_eq(import_source_next_exact(s, 1, &part, &err), -EBADMSG);
        import_source_close(s);
        byte_buffer_deinit(&text);
        byte_buffer_deinit(&b);
}
END_TEST

START_TEST(an_empty_file_has_nothing)
{
        struct import_source *s = open_source();
        struct text_view part;

        ck_assert_int_eq(import_source_head(s, &part, NULL), 0);
        ck_assert_uint_eq(part.n_bytes, 0);
        ck_assert_int_eq(import_source_next_line(s, &part, NULL), 0);
        ck_assert_int_eq(import_source_next_bytes(s, 1, &part, NULL), 0);
        ck_assert_uint_eq(import_source_line(s), 0);
        import_source_close(s);
}
END_TEST

START_TEST(no_file_and_a_folder_are_errors)
{
        struct import_source *s = NULL;
        struct error err = ERROR_NONE;

        ck_assert_int_eq(import_source_open(&s, "/tmp", &err), -EISDIR);
        ck_assert_int_eq(import_source_open(&s, "/nowhere/x", &err), -ENOENT);
        ck_assert_ptr_nonnull(strstr(err.text, "/nowhere/x"));
}
END_TEST

static void *feed(void *context)
{
        struct byte_buffer *b = context;
        int fd = open(path, O_WRONLY);

        for (size_t i = 0; i < b->used_bytes; i++)
                ck_assert_int_eq(io_write_all(fd, b->data + i, 1, NULL), 0);
        (void)close(fd);
        return NULL;
}

START_LOOP_TEST(a_pipe_in_pieces_of_one_byte, PLAIN, N_PACKINGS)
{
        struct byte_buffer b = { .data = NULL };
        struct import_source *s;
        struct text_view part;
        pthread_t feeder;

        pack((enum packing)_i, "a line\nanother\n", 15, &b);
        ck_assert_int_eq(unlink(path), 0);
        ck_assert_int_eq(mkfifo(path, 0600), 0);
        ck_assert_int_eq(pthread_create(&feeder, NULL, feed, &b), 0);
        s = open_source();
        expect_line(s, "a line");
        expect_line(s, "another");
        ck_assert_int_eq(import_source_next_line(s, &part, NULL), 0);
        import_source_close(s);
        ck_assert_int_eq(pthread_join(feeder, NULL), 0);
        byte_buffer_deinit(&b);
}
END_TEST
