/* SPDX-License-Identifier: MIT */
/*
 * format/trace_dump.c: every version's trace is dumped as it always was, and no string can disturb the lines
 */
#include "format/trace_dump.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "tests/unit/small_trace.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRITE_TO    "GOLDEN_TRACE_TO" /* names a file that is not there yet */
#define NEWEST_DUMP "tests/golden/v1.11.dump"

static struct trace_builder b;

static void setup(void)
{
        trace_builder_init(&b);
}

static void teardown(void)
{
        trace_builder_deinit(&b);
}

/* The dump of a trace as text, to be freed. */
static char *dump(const char *path, int wanted, struct error *err)
{
        struct trace_reader *reader = NULL;
        size_t n_bytes;
        char *text;
        FILE *out = open_memstream(&text, &n_bytes);

        ck_assert_ptr_nonnull(out);
        ck_assert_msg(trace_reader_open(path, &reader, err) == 0, "%s", err->text);
        ck_assert_int_eq(trace_dump_write(reader, out, err), wanted);
        trace_reader_close(reader);
        ck_assert_int_eq(fclose(out), 0);
        return text;
}

static char *read_text(const char *path)
{
        struct byte_buffer text = { .data = NULL };
        struct error err = ERROR_NONE;

        ck_assert_msg(io_read_file(AT_FDCWD, path, 1 << 20, &text, &err) == 0,
                      "%s (tests run in the root of the tree)", err.text);
        return (char *)text.data;
}

/* The first line that differs, instead of two whole texts. */
static void expect_equal_lines(const char *got, const char *wanted)
{
        for (int line = 1; *got || *wanted; line++) {
                size_t n_got = strcspn(got, "\n");
                size_t n_wanted = strcspn(wanted, "\n");

                if (n_got != n_wanted || memcmp(got, wanted, n_got) != 0)
                        ck_abort_msg("line %d: got \"%.*s\", wanted \"%.*s\"", line, (int)n_got, got,
                                     (int)n_wanted, wanted);
                got += n_got + (got[n_got] != '\0');
                wanted += n_wanted + (wanted[n_wanted] != '\0');
        }
}

static const char *const golden_versions[] = { "1.0", "1.1", "1.2", "1.3", "1.4",  "1.5",
                                               "1.6", "1.7", "1.8", "1.9", "1.10", "1.11" };

/* loop test: the traces in tests/golden are never made again: what was written once can be read for ever */
START_LOOP_TEST(test_golden_traces, 0, 12)
{
        struct error err = ERROR_NONE;
        char trace_path[40], dump_path[40];
        char *got, *wanted;

        (void)snprintf(trace_path, sizeof(trace_path), "tests/golden/v%s.hyp", golden_versions[_i]);
        (void)snprintf(dump_path, sizeof(dump_path), "tests/golden/v%s.dump", golden_versions[_i]);
        got = dump(trace_path, 0, &err);
        wanted = read_text(dump_path);

        expect_equal_lines(got, wanted);
        free(got);
        free(wanted);
}
END_TEST

/* Takes away the lines on how the file is laid out, which depends on zstd. */
static void keep_contents(char *text)
{
        char *to = text;

        while (*text) {
                size_t n = strcspn(text, "\n") + 1;

                if (strncmp(text, "chunk ", 6) != 0 && strncmp(text, "index ", 6) != 0) {
                        memmove(to, text, n);
                        to += n;
                }
                text += n;
        }
        *to = '\0';
}

START_TEST(test_todays_writer_makes_the_same)
{
        struct error err = ERROR_NONE;
        char *got, *wanted;

        small_trace_build(&b);
        got = dump(b.path, 0, &err);
        wanted = read_text(NEWEST_DUMP);
        keep_contents(got);
        keep_contents(wanted);
        expect_equal_lines(got, wanted);
        ck_assert_uint_gt(strlen(got), 1000);
        free(got);
        free(wanted);
}
END_TEST

/* Every table and every op of the specification has at least one line. */
START_TEST(test_golden_dump_has_everything)
{
        char *text = read_text(NEWEST_DUMP);

#define X(id, ID, name) ck_assert_msg(strstr(text, "\n" name " ") != NULL, "no %s", name);
        TRACE_TABLES(X)
        TRACE_OPS(X)
#undef X
        ck_assert_ptr_nonnull(strstr(text, "\nattachment_part "));
        ck_assert_ptr_nonnull(strstr(text, "\nstate zone_begin "));
        ck_assert_ptr_nonnull(strstr(text, " flags=0x1\n"));
        free(text);
}
END_TEST

static uint32_t add_bytes(const char *bytes, size_t n_bytes)
{
        uint32_t id = 0;

        ck_assert_int_eq(trace_dictionary_add_string(&b.dictionary, bytes, n_bytes, &id), 0);
        return id;
}

static void expect_part(const char *text, const char *part)
{
        ck_assert_msg(strstr(text, part) != NULL, "the dump has no %s", part);
}

/* Strings come from the recorded programs: they forge no lines and reach no terminal. */
START_TEST(test_hostile_strings_are_escaped)
{
        struct error err = ERROR_NONE;
        char every[256];
        char *text;

        for (int i = 0; i < 256; i++)
                every[i] = (char)i;
        (void)add_bytes(every, sizeof(every));
        (void)add_bytes("\"\nprocess id=1 pid=1", 20);
        (void)add_bytes("\x1b[2J\r\0\\", 7);
        (void)add_bytes("", 0);
        trace_builder_finish(&b);
        text = dump(b.path, 0, &err);
        expect_part(text, "string id=2 text=\"\\\"\\x0aprocess id=1 pid=1\"\n");
        expect_part(text, "string id=3 text=\"\\x1b[2J\\x0d\\x00\\\\\"\n");
        expect_part(text, "string id=4 text=\"\"\n");
        expect_part(text, "\\x1f !\\\"#$");
        expect_part(text, "[\\\\]^");
        expect_part(text, "}~\\x7f\\x80");
        expect_part(text, "\\xfe\\xff\"\n");
        for (const char *at = text; *at; at++)
                ck_assert((*at >= 0x20 && *at < 0x7f) || *at == '\n');
        free(text);
}
END_TEST

/* The same for texts of events: no operand can be forged, because the text is the last of them. */
START_TEST(test_hostile_texts_of_events)
{
        static const char text[] = "\" level=9\nzone_end thread=1 time_ns=5\x1b[2J\\";
        struct trace_event event = { .op = TRACE_OP_ZONE_TEXT, .time_ns = 5, .text = text };
        struct error err = ERROR_NONE;
        char *got;

        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        event.zone_text.text_bytes = sizeof(text); /* with its NUL */
        event.zone_text.level = 3;
        event_encoder_add(&b.encoder, &event);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        got = dump(b.path, 0, &err);
        expect_part(
                got,
                "\nzone_text thread=1 time_ns=5 level=3 text=\"\\\" level=9\\x0azone_end thread=1 time_ns=5"
                "\\x1b[2J\\\\\\x00\"\n");
        free(got);
}
END_TEST

START_TEST(test_attachment_of_which_there_is_no_row)
{
        struct error err = ERROR_NONE;
        char *text;

        trace_builder_attachment_part(&b, trace_builder_attachment(&b, "a", 4), 1, "xyz", 3);
        trace_builder_attachment_part(&b, 2, 0, "xyz", 3);
        trace_builder_finish(&b);
        text = dump(b.path, -EBADMSG, &err);
        expect_part(text, "\nattachment_part attachment=1 offset=1 bytes=3\n");
        ck_assert_ptr_nonnull(strstr(err.text, "attachment 2 does not exist"));
        free(text);
}
END_TEST

/* Everything before a malformed chunk is there, and the error says where the chunk is. */
START_TEST(test_malformed_events)
{
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS, .n_items = 1 };
        struct error err = ERROR_NONE;
        char where[40];
        char *text;

        (void)trace_builder_string(&b, "before");
        trace_builder_flush(&b);
        (void)snprintf(where, sizeof(where), "chunk at byte %d: ", (int)trace_writer_count_bytes(b.writer));
        ck_assert_int_eq(trace_writer_put(b.writer, header, (const uint8_t *)"\1", 1, NULL), 0);
        ck_assert_int_eq(trace_writer_finish(b.writer, NULL), 0);
        text = dump(b.path, -EBADMSG, &err);
        expect_part(text, "text=\"before\"\n");
        free(text);
        ck_assert_int_eq(strncmp(err.text, where, strlen(where)), 0);
}
END_TEST

START_TEST(test_full_output_is_for_the_caller_to_see)
{
        FILE *out = fopen("/dev/full", "we");
        struct trace_reader *reader;

        ck_assert_ptr_nonnull(out);
        (void)setvbuf(out, NULL, _IONBF, 0);
        small_trace_build(&b);
        ck_assert_int_eq(trace_reader_open(b.path, &reader, NULL), 0);
        ck_assert_int_eq(trace_dump_write(reader, out, NULL), 0);
        ck_assert(ferror(out));
        (void)fclose(out);
        ck_assert_int_eq(trace_reader_ending(reader, NULL, NULL), TRACE_ENDING_OPEN); /* it did not go on */
        trace_reader_close(reader);
}
END_TEST

/* Not a test: makes the golden file of the next version, where the environment asks for it. */
START_TEST(test_write_golden_trace)
{
        const char *path = getenv(WRITE_TO);
        struct byte_buffer bytes = { .data = NULL };
        int fd;

        if (!path)
                return;
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        ck_assert_int_ge(fd, 0);
        small_trace_build(&b);
        ck_assert_int_eq(io_read_file(AT_FDCWD, b.path, 1 << 20, &bytes, NULL), 0);
        ck_assert_int_eq(io_write_all(fd, bytes.data, bytes.used_bytes, NULL), 0);
        byte_buffer_deinit(&bytes);
        io_close(&fd);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
