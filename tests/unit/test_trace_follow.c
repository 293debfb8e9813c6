/* SPDX-License-Identifier: MIT */
/*
 * format/trace_follow.c: a trace that grows is handed out chunk by chunk wherever it stops in between, a
 * pause is told from each kind of end, and a file that is truncated, written anew or replaced is noticed
 */
#include "format/trace_follow.h"

#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_lock.h"
#include "format/trace_reader.h"
#include "tests/unit/good_trace.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_NS (UINT64_C(1) << 62) /* a file may be quiet for ever */

/* Followed up to the second chunk; then something happens to the file. */
struct followed_file {
        struct trace_follow *f; /* NULL = it is not followed */
        char path[40];
        int fd;
};

static struct followed_file o;
static struct good_trace g;

static void setup(void)
{
        good_trace_init(&g);
}

static void teardown(void)
{
        good_trace_deinit(&g);
        if (!o.f)
                return;
        trace_follow_close(o.f);
        o.f = NULL;
        (void)close(o.fd);
        (void)unlink(o.path);
}

/* A file with a name. */
static void make_file(char path[], int *ret_fd)
{
        (void)strcpy(path, "/tmp/hyprof_follow_XXXXXX");
        *ret_fd = mkstemp(path);
        ck_assert_int_ge(*ret_fd, 0);
}

static struct trace_follow *follow_file(const char *path, uint64_t quiet_ns)
{
        const struct trace_follow_options options = { .path = path, .quiet_ns = quiet_ns };
        struct trace_follow *f;

        ck_assert_int_eq(trace_follow_open(&options, &f, NULL), 0);
        return f;
}

/* All that is there; the items lie where the trace has them. */
static size_t take_all(struct trace_follow *f, size_t n_before)
{
        struct trace_item item;
        size_t n = n_before;
        int r;

        while ((r = trace_follow_next(f, &item, NULL)) == 1) {
                ck_assert_uint_eq(item.file_offset_bytes, n == 0 ? 0 : g.ends[n - 1]);
                n++;
        }
        ck_assert_int_eq(r, 0);
        return n;
}

static void check_state(const struct trace_follow *f, enum trace_follow_state state, const char *word)
{
        const char *words;

        ck_assert_int_eq(trace_follow_state(f, &words), state);
        ck_assert_msg(strstr(words, word) != NULL, "\"%s\" has no \"%s\"", words, word);
        ck_assert_int_eq(words[0] == '\0', state == TRACE_FOLLOW_PAUSED || state == TRACE_FOLLOW_WHOLE);
}

START_TEST(test_a_file_that_grows_byte_by_byte)
{
        struct trace_follow *f;
        char path[40];
        size_t n = 0;
        int fd;

        make_file(path, &fd);
        f = follow_file(path, LONG_NS);
        for (size_t i = 0; i < g.bytes.used_bytes; i++) {
                ck_assert_uint_eq(take_all(f, n), good_trace_count_chunks(&g, i));
                n = good_trace_count_chunks(&g, i);
                check_state(f, TRACE_FOLLOW_PAUSED, "");
                ck_assert_int_eq(io_write_all(fd, g.bytes.data + i, 1, NULL), 0);
        }
        ck_assert_uint_eq(take_all(f, n), g.n_chunks);
        check_state(f, TRACE_FOLLOW_WHOLE, "");
        ck_assert_uint_eq(trace_dictionary_count(trace_follow_dictionary(f), TRACE_TABLE_STRINGS),
                          g.n_strings);
        trace_follow_close(f);
        ck_assert_int_eq(unlink(path), 0);
        (void)close(fd);
}
END_TEST

/* A pipe whose writer goes away after each byte of the trace but the last. */
START_TEST(test_a_pipe_cut_at_every_byte)
{
        for (size_t cut = 0; cut <= g.bytes.used_bytes; cut++) {
                bool is_whole = cut == g.bytes.used_bytes;
                struct trace_follow_options options = { .path = "a pipe" };
                struct trace_follow *f;
                int ends[2];
                size_t n;

                ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
                options.fd = ends[0];
                ck_assert_int_eq(trace_follow_open(&options, &f, NULL), 0);
                ck_assert_int_eq(trace_follow_fd(f), ends[0]);
                ck_assert_int_eq(io_write_all(ends[1], g.bytes.data, cut, NULL), 0);
                n = take_all(f, 0);
                ck_assert_uint_eq(n, good_trace_count_chunks(&g, cut));
                if (!is_whole) {
                        check_state(f, TRACE_FOLLOW_PAUSED, "");
                        ck_assert(trace_follow_is_held(f));
                }
                (void)close(ends[1]);
                ck_assert_uint_eq(take_all(f, n), n);
                if (is_whole)
                        check_state(f, TRACE_FOLLOW_WHOLE, "");
                else
                        check_state(f, TRACE_FOLLOW_CUT_OFF, "its writer is gone");
                trace_follow_close(f);
        }
}
END_TEST

/*
 * Whatever byte is another one: no crash, nothing is handed out from there on, and a trace that has begun
 * stays one.
 */
START_TEST(test_damage_at_every_byte)
{
        for (size_t at = 0; at < g.bytes.used_bytes; at++) {
                struct trace_follow *f;
                struct trace_item item;
                const char *words;
                char path[40];
                size_t n = 0;
                int fd, r;

                make_file(path, &fd);
                g.bytes.data[at] ^= 0x55;
                ck_assert_int_eq(io_write_all(fd, g.bytes.data, g.bytes.used_bytes, NULL), 0);
                g.bytes.data[at] ^= 0x55;
                f = follow_file(path, 1);
                while ((r = trace_follow_next(f, &item, NULL)) == 1)
                        n++;
                ck_assert_uint_le(n, good_trace_count_chunks(&g, at));
                if (r == 0)
                        ck_assert_int_ne(trace_follow_state(f, &words), TRACE_FOLLOW_WHOLE);
                if (at >= g.ends[0])
                        ck_assert_int_eq(r, 0);
                else if (at >= TRACE_CHUNK_HEADER_BYTES)
                        ck_assert_int_eq(r, -EBADMSG);
                trace_follow_close(f);
                ck_assert_int_eq(unlink(path), 0);
                (void)close(fd);
        }
}
END_TEST

static void follow_two_chunks(uint64_t quiet_ns)
{
        make_file(o.path, &o.fd);
        ck_assert_int_eq(io_write_all(o.fd, g.bytes.data, g.ends[1], NULL), 0);
        o.f = follow_file(o.path, quiet_ns);
        ck_assert_uint_eq(take_all(o.f, 0), 2);
}

START_TEST(test_a_file_that_is_truncated)
{
        follow_two_chunks(LONG_NS);
        ck_assert_int_eq(ftruncate(o.fd, (off_t)g.ends[0]), 0);
        ck_assert_uint_eq(take_all(o.f, 2), 2);
        check_state(o.f, TRACE_FOLLOW_TRUNCATED, "truncated");
        ck_assert_int_eq(trace_follow_next(o.f, &(struct trace_item){ .body = NULL }, NULL), 0);
}
END_TEST

/* Longer than before, and still another one: its first rows are others. */
START_TEST(test_a_file_that_is_written_anew)
{
        follow_two_chunks(LONG_NS);
        g.bytes.data[g.ends[1] - 1] ^= 1;
        ck_assert_int_eq(ftruncate(o.fd, 0), 0);
        ck_assert_int_eq(lseek(o.fd, 0, SEEK_SET), 0);
        ck_assert_int_eq(io_write_all(o.fd, g.bytes.data, g.ends[1] + 3, NULL), 0);
        ck_assert_uint_eq(take_all(o.f, 2), 2);
        check_state(o.f, TRACE_FOLLOW_TRUNCATED, "written anew");
}
END_TEST

START_TEST(test_a_file_whose_name_leads_to_another)
{
        char other[40];
        int fd;

        follow_two_chunks(LONG_NS);
        make_file(other, &fd);
        ck_assert_int_eq(rename(other, o.path), 0);
        ck_assert_uint_eq(take_all(o.f, 2), 2);
        check_state(o.f, TRACE_FOLLOW_REPLACED, "another file");
        (void)close(fd);
}
END_TEST

/* A disk runs full: the writer takes back the part of a chunk that it wrote, and writes another one there. */
START_TEST(test_a_part_of_a_chunk_that_is_taken_back)
{
        follow_two_chunks(LONG_NS);
        ck_assert_int_eq(io_write_all(o.fd, "HYPC and other bytes, of no chunk", 30, NULL), 0);
        ck_assert_uint_eq(take_all(o.f, 2), 2);
        check_state(o.f, TRACE_FOLLOW_PAUSED, "");
        ck_assert_int_eq(ftruncate(o.fd, (off_t)g.ends[1]), 0);
        ck_assert_uint_eq(take_all(o.f, 2), 2);
        ck_assert_int_eq(lseek(o.fd, 0, SEEK_END), (off_t)g.ends[1]);
        ck_assert_int_eq(io_write_all(o.fd, g.bytes.data + g.ends[1], g.bytes.used_bytes - g.ends[1], NULL),
                         0);
        ck_assert_uint_eq(take_all(o.f, 2), g.n_chunks);
        check_state(o.f, TRACE_FOLLOW_WHOLE, "");
}
END_TEST

/* No process ever held it: time alone decides. */
START_TEST(test_a_quiet_file_without_a_lock)
{
        follow_two_chunks(1);
        check_state(o.f, TRACE_FOLLOW_CUT_OFF, "no process writes to it");
        ck_assert(!trace_follow_is_held(o.f));
}
END_TEST

/* As a recorder: holds the file until a byte comes, and is killed by the end of the pipe's reader. */
static pid_t start_holder(const char *path, int *ret_release_fd)
{
        int ready[2], release[2];
        char byte = 0;
        pid_t child;

        ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
        ck_assert_int_eq(pipe2(release, O_CLOEXEC), 0);
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
                int fd = open(path, O_WRONLY | O_CLOEXEC);

                (void)close(release[1]);
                if (fd < 0 || !trace_lock_take(fd) || write(ready[1], &byte, 1) != 1)
                        _exit(1);
                while (read(release[0], &byte, 1) > 0)
                        ;
                _exit(0);
        }
        (void)close(ready[1]);
        (void)close(release[0]);
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
        (void)close(ready[0]);
        *ret_release_fd = release[1];
        return child;
}

/* A recorder that is idle is waited for, and one that is gone is not, what it wrote last included. */
START_TEST(test_a_recorder_that_pauses_and_dies)
{
        int release_fd, status;
        pid_t child;

        follow_two_chunks(LONG_NS);
        trace_follow_close(o.f);
        child = start_holder(o.path, &release_fd);
        o.f = follow_file(o.path, 1);
        ck_assert_uint_eq(take_all(o.f, 0), 2);
        check_state(o.f, TRACE_FOLLOW_PAUSED, "");
        ck_assert(trace_follow_is_held(o.f));
        ck_assert_int_eq(io_write_all(o.fd, g.bytes.data + g.ends[1], g.ends[2] - g.ends[1], NULL), 0);
        (void)close(release_fd);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_uint_eq(take_all(o.f, 2), 3);
        check_state(o.f, TRACE_FOLLOW_CUT_OFF, "the recorder is gone");
}
END_TEST

/* Tables alone: the others are stepped over, also where they are not whole yet. */
START_TEST(test_tables_alone)
{
        struct trace_follow_options options = { .leaves_events = true, .quiet_ns = LONG_NS };
        struct trace_follow *f;
        struct trace_item item;
        char path[40];
        int fd, r = 0;

        make_file(path, &fd);
        options.path = path;
        ck_assert_int_eq(trace_follow_open(&options, &f, NULL), 0);
        for (size_t i = 0; i < g.bytes.used_bytes; i++) {
                ck_assert_int_eq(io_write_all(fd, g.bytes.data + i, 1, NULL), 0);
                while ((r = trace_follow_next(f, &item, NULL)) == 1)
                        ck_assert(item.header.kind != TRACE_CHUNK_EVENTS &&
                                  item.header.kind != TRACE_CHUNK_ATTACHMENT);
                ck_assert_int_eq(r, 0);
        }
        check_state(f, TRACE_FOLLOW_WHOLE, "");
        ck_assert_uint_eq(trace_follow_count_bytes(f), g.ends[g.n_chunks - 1]);
        ck_assert_uint_eq(trace_dictionary_count(trace_follow_dictionary(f), TRACE_TABLE_STRINGS),
                          g.n_strings);
        trace_follow_close(f);
        ck_assert_int_eq(unlink(path), 0);
        (void)close(fd);
}
END_TEST

START_TEST(test_other_files)
{
        struct trace_follow_options options = { .path = "/tmp" };
        struct trace_follow *f;
        struct trace_item item;
        char path[40];
        int fd;

        ck_assert_int_eq(trace_follow_open(&options, &f, NULL), -EISDIR);
        options.path = "/nowhere/trace.hyp";
        ck_assert_int_eq(trace_follow_open(&options, &f, NULL), -ENOENT);
        make_file(path, &fd);
        ck_assert_int_eq(io_write_all(fd, "notes", 5, NULL), 0);
        f = follow_file(path, LONG_NS);
        ck_assert_int_eq(trace_follow_next(f, &item, NULL), -EBADMSG);
        trace_follow_close(f);
        ck_assert_int_eq(unlink(path), 0);
        (void)close(fd);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
