/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/jit_files.c: files of a process become regions: as they grow, once, and to their
 * last line after its end
 */
#include "sampler/jit/jit_files.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "sampler/jit/jitdump.h"
#include "sampler/keep/attachment_store.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/pace/pace.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/tables/code_regions.h"
#include "sampler/tables/code_tables.h"
#include "sampler/tables/table_process.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "tests/unit/jitdump_builder.h"
#include "tests/unit/unit_test.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_table.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CHILD_PID   UINT32_C(4600000)
#define UNKNOWN_PID UINT32_C(4600001)

struct fixture {
        struct trace_dictionary dictionary;
        struct loss_counter losses;
        struct process_table processes;
        struct attachment_store attachments;
        struct recorder_pace pace;
        struct recording recording;
        struct jit_files *files;
        struct thread_track *thread; /* this process itself */
        uint64_t now_ns;
        char map_path[64], dump_path[64];
};

static struct fixture f;

static void set_up(void)
{
        uint32_t pid = (uint32_t)getpid();

        memset(&f, 0, sizeof(f));
        f.now_ns = clock_raw_ns();
        (void)snprintf(f.map_path, sizeof(f.map_path), "/tmp/perf-%u.map", pid);
        (void)snprintf(f.dump_path, sizeof(f.dump_path), "/tmp/jit-%u.dump", pid);
        (void)unlink(f.map_path);
        f.recording = (struct recording){ .dictionary = &f.dictionary,
                                          .pace = &f.pace,
                                          .losses = &f.losses,
                                          .processes = &f.processes,
                                          .attachments = &f.attachments };
        recorder_pace_init(&f.pace, 0);
        trace_dictionary_init(&f.dictionary, 0);
        process_table_init(&f.processes, &f.dictionary);
        attachment_store_init(&f.attachments, &f.dictionary, &f.losses);
        ck_assert_int_eq(process_table_add_thread(&f.processes, pid, pid, 0, 1, &f.thread), 0);
        ck_assert_int_eq(code_regions_new(&f.recording, NULL, NULL, &f.recording.regions, NULL), 0);
        ck_assert_int_eq(jit_files_new(&f.recording, &f.files, NULL), 0);
}

static void tear_down(void)
{
        (void)unlink(f.map_path);
        (void)unlink(f.dump_path);
        jit_files_free(f.files);
        code_regions_free(f.recording.regions);
        attachment_store_deinit(&f.attachments);
        process_table_deinit(&f.processes);
        trace_dictionary_deinit(&f.dictionary);
}

static void write_file(const char *path, int flags, const void *bytes, size_t n)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(io_write_all(fd, bytes, n, NULL), 0);
        io_close(&fd);
}

static void write_map(int flags, const char *text)
{
        write_file(f.map_path, flags, text, strlen(text));
}

static void note(const char *path)
{
        struct stat st = { .st_ino = 0 };
        struct perf_mmap mmap = { .start_avma = 0x1000,
                                  .length_bytes = 0x1000,
                                  .executable = true,
                                  .path = path,
                                  .path_bytes = strlen(path) };

        if (path[0] == '/' && path[1] != '/')
                ck_assert_int_eq(stat(path, &st), 0);
        mmap.inode = st.st_ino;
        ck_assert_int_eq(jit_files_note_mapping(f.files, f.thread->process->pid, f.thread->process->process,
                                                &mmap, f.now_ns),
                         0);
}

static void read_more(void)
{
        f.now_ns += NS_PER_S;
        ck_assert_int_eq(jit_files_read(f.files, f.now_ns, false), 0);
}

static uint32_t n_regions(void)
{
        return trace_dictionary_count(&f.dictionary, TRACE_TABLE_CODE_REGIONS);
}

static void check_region(uint32_t id, uint64_t start, const char *name)
{
        const struct trace_code_region *row = trace_dictionary_row(&f.dictionary, TRACE_TABLE_CODE_REGIONS,
                                                                   id);
        size_t n_bytes;
        const char *text = trace_dictionary_string(&f.dictionary, row->name, &n_bytes);

        ck_assert_uint_eq(row->start_avma, start);
        ck_assert_uint_eq(n_bytes, strlen(name));
        ck_assert_mem_eq(text, name, n_bytes);
        ck_assert_uint_ne(row->module, 0);
}

START_TEST(test_map_grows)
{
        note("//anon");
        read_more(); /* there is none yet */
        write_map(0, "1000 10 one\n2000 10 tw");
        read_more();
        ck_assert_uint_eq(n_regions(), 1);
        write_map(O_APPEND, "o\nno line\n");
        read_more();
        read_more();
        ck_assert_uint_eq(n_regions(), 2);
        check_region(1, 0x1000, "one");
        check_region(2, 0x2000, "two");
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_JIT_GARBAGE], 1);
}
END_TEST

/* With few processes a map is looked at in each cycle, with many now and then: there is a file of each. */
START_TEST(test_maps_of_many_processes)
{
        const struct perf_mmap memory = { .start_avma = 0x1000,
                                          .length_bytes = 0x1000,
                                          .executable = true,
                                          .path = "//anon",
                                          .path_bytes = 6 };

        note("//anon");
        write_map(0, "1000 10 one\n");
        read_more();
        ck_assert_uint_eq(n_regions(), 1);
        write_map(O_APPEND, "2000 10 two\n");
        ck_assert_int_eq(jit_files_read(f.files, ++f.now_ns, false), 0);
        ck_assert_uint_eq(n_regions(), 2);
        for (uint32_t pid = CHILD_PID; pid < CHILD_PID + PACE_JIT_MAPS_EACH_CYCLE; pid++) {
                struct thread_track *thread;

                ck_assert_int_eq(process_table_add_thread(&f.processes, pid, pid, 0, 1, &thread), 0);
                ck_assert_int_eq(
                        jit_files_note_mapping(f.files, pid, thread->process->process, &memory, f.now_ns), 0);
        }
        write_map(O_APPEND, "3000 10 three\n");
        ck_assert_int_eq(jit_files_read(f.files, ++f.now_ns, false), 0);
        ck_assert_uint_eq(n_regions(), 2);
        ck_assert_int_eq(jit_files_read(f.files, f.now_ns + PACE_JIT_MAPS_NS, false), 0);
        ck_assert_uint_eq(n_regions(), 3);
}
END_TEST

/* Read again from its beginning, if it was written anew in any way; what is known is not told twice. */
START_TEST(test_map_anew)
{
        note("//anon");
        write_map(0, "1000 10 one\n2000 10 two\n");
        read_more();
        write_map(O_TRUNC, "1000 10 one\n");
        read_more();
        ck_assert_uint_eq(n_regions(), 2);
        write_map(O_TRUNC, "1000 10 one\n3000 10 six\n4000 10 four\n"); /* longer than it was */
        read_more();
        ck_assert_uint_eq(n_regions(), 4);
        check_region(3, 0x3000, "six");
        ck_assert_int_eq(unlink(f.map_path), 0);
        read_more();
        write_map(0, "5000 10 five\n");
        read_more();
        ck_assert_uint_eq(n_regions(), 5);
        check_region(5, 0x5000, "five");
}
END_TEST

/* The next program of the process appends to the map, or makes its own: what was there is not its own. */
START_TEST(test_map_of_next_program)
{
        uint32_t process;

        process = f.thread->process->process;
        note("//anon");
        write_map(0, "1000 10 one\n2000 10 two\n");
        read_more();
        ck_assert_uint_eq(n_regions(), 2);
        ck_assert_int_eq(jit_files_note_exec(f.files, (uint32_t)getpid(), process, f.now_ns), 0);
        ck_assert_uint_eq(n_regions(), 3); /* nothing is left */
        note("//anon");
        read_more();
        ck_assert_uint_eq(n_regions(), 3);
        write_map(O_APPEND, "1000 10 next\n");
        read_more();
        ck_assert_uint_eq(n_regions(), 4);
        check_region(4, 0x1000, "next");
        ck_assert_int_eq(jit_files_note_exec(f.files, (uint32_t)getpid(), process, f.now_ns), 0);
        note("//anon");
        write_map(O_TRUNC, "2000 10 last\n");
        read_more();
        check_region(n_regions(), 0x2000, "last");
}
END_TEST

/* After the end of the process: the map may have come in its last moment. */
START_TEST(test_map_after_end)
{
        note("//anon");
        read_more();
        write_map(0, "1000 10 one"); /* nothing can follow any more: it is whole */
        (void)process_table_forget_thread(&f.processes, f.thread);
        read_more();
        ck_assert_uint_eq(n_regions(), 1);
        write_map(O_APPEND, "2000 10 two\n"); /* of the process that has the number now */
        read_more();
        ck_assert_uint_eq(n_regions(), 1);
}
END_TEST

/* Only a file that is the process's own. */
START_TEST(test_map_refused)
{
        struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
        char target[80];

        note("//anon");
        write_map(0, "1000 10 one\n");
        ck_assert_int_eq(utimensat(AT_FDCWD, f.map_path, old, 0),
                         0); /* of another process with this number */
        read_more();
        ck_assert_uint_eq(n_regions(), 0);
        (void)snprintf(target, sizeof(target), "%s.link", f.map_path);
        ck_assert_int_eq(rename(f.map_path, target), 0);
        ck_assert_int_eq(utimensat(AT_FDCWD, target, NULL, 0), 0);
        ck_assert_int_eq(symlink(target, f.map_path), 0);
        read_more();
        ck_assert_uint_eq(n_regions(), 0);
        ck_assert_int_eq(unlink(f.map_path), 0);
        ck_assert_int_eq(mkfifo(f.map_path, 0600), 0);
        read_more();
        ck_assert_uint_eq(n_regions(), 0);
        ck_assert_int_eq(unlink(f.map_path), 0);
        ck_assert_int_eq(rename(target, f.map_path), 0);
        read_more();
        ck_assert_uint_eq(n_regions(), 1);
        if (geteuid() == 0) { /* another user's */
                ck_assert_int_eq(unlink(f.map_path), 0);
                write_map(0, "2000 10 two\n");
                ck_assert_int_eq(chown(f.map_path, 12345, 12345), 0);
                read_more();
                ck_assert_uint_eq(n_regions(), 1);
        }
}
END_TEST

static uint64_t monotonic_ns(void)
{
        struct timespec t;

        ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &t), 0);
        return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

START_TEST(test_dump)
{
        struct byte_buffer b = { .data = NULL };
        const struct trace_code_region *row;
        const struct trace_code_line *line;
        uint64_t now_ns;
        size_t n_bytes;

        now_ns = monotonic_ns();
        f.now_ns = clock_raw_ns();
        jitdump_builder_header(&b, 1, 0);
        jitdump_builder_lines(&b, now_ns, 0x2000, 0, "file:///a.c");
        jitdump_builder_load(&b, now_ns, 0x2000, 16, "one");
        jitdump_builder_other(&b, JITDUMP_UNWINDING_INFO, now_ns, 24);
        jitdump_builder_other(&b, 1234, now_ns, 8);
        jitdump_builder_move(&b, now_ns, 0x2000, 0x3000, 16);
        jitdump_builder_load(&b, now_ns + 10 * NS_PER_MS, 0x2000, 16, "two");
        write_file(f.dump_path, O_TRUNC, b.data, b.used_bytes - 1);
        note(f.dump_path);
        f.now_ns += 5 * NS_PER_MS;
        ck_assert_int_eq(jit_files_read(f.files, f.now_ns, false), 0);
        ck_assert_uint_eq(n_regions(), 0); /* they have their time */
        ck_assert_uint_le(jit_files_next_ns(f.files), f.now_ns);
        ck_assert_int_eq(jit_files_run(f.files, f.now_ns), 0);
        ck_assert_uint_eq(n_regions(), 2);
        check_region(1, 0x2000, "one");
        check_region(2, 0x3000, "one");
        ck_assert_uint_eq(jit_files_next_ns(f.files), UINT64_MAX);
        write_file(f.dump_path, O_APPEND, b.data, 1); /* the byte that was missing */
        f.now_ns += 10 * NS_PER_MS;
        ck_assert_int_eq(jit_files_read(f.files, f.now_ns, false), 0);
        ck_assert_int_eq(jit_files_run(f.files, f.now_ns), 0);
        ck_assert_uint_eq(n_regions(), 3);
        check_region(3, 0x2000, "two");

        row = trace_dictionary_row(&f.dictionary, TRACE_TABLE_CODE_REGIONS, 1);
        ck_assert_uint_eq(row->source, TRACE_CODE_SOURCE_JITDUMP);
        ck_assert_uint_ne(row->attachment, 0);
        ck_assert_uint_eq(f.attachments.n_bytes, 32);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_CODE_LINES), 4);
        line = trace_dictionary_row(&f.dictionary, TRACE_TABLE_CODE_LINES, 4);
        ck_assert_uint_eq(line->region, 2);
        ck_assert_uint_eq(line->offset_bytes, 8);
        ck_assert_uint_eq(line->line, 11);
        ck_assert_mem_eq(trace_dictionary_string(&f.dictionary, line->file, &n_bytes), "/a.c", 4);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_JIT_GARBAGE], 0);
        byte_buffer_deinit(&b);
}
END_TEST

/* Records say of which process they are: children may go on with their parent's dump. */
START_TEST(test_dump_of_several)
{
        const size_t pid_at = JITDUMP_HEADER_BYTES + JITDUMP_PREFIX_BYTES;
        const uint32_t child_pid = CHILD_PID, other_pid = UNKNOWN_PID;
        struct byte_buffer b = { .data = NULL };
        struct thread_track *child;
        uint64_t now_ns = monotonic_ns();
        size_t second;

        ck_assert_int_eq(
                process_table_add_thread(&f.processes, child_pid, child_pid, (uint32_t)getpid(), 2, &child),
                0);
        jitdump_builder_header(&b, 1, 0);
        jitdump_builder_load(&b, now_ns, 0x2000, 16, "child's");
        memcpy(b.data + pid_at, &child_pid, sizeof(child_pid));
        second = b.used_bytes - JITDUMP_HEADER_BYTES;
        jitdump_builder_load(&b, now_ns, 0x2000, 16, "unknown");
        memcpy(b.data + pid_at + second, &other_pid, sizeof(other_pid));
        jitdump_builder_load(&b, now_ns, 0x2000, 16, "own");
        write_file(f.dump_path, O_TRUNC, b.data, b.used_bytes);
        note(f.dump_path);
        read_more();
        ck_assert_int_eq(jit_files_run(f.files, UINT64_MAX), 0);
        ck_assert_uint_eq(n_regions(), 2);
        check_region(1, 0x2000, "child's");
        check_region(2, 0x2000, "own");
        for (uint32_t i = 1; i <= 2; i++) {
                const struct trace_code_region *row = trace_dictionary_row(&f.dictionary,
                                                                           TRACE_TABLE_CODE_REGIONS, i);

                ck_assert_uint_eq(row->process,
                                  i == 1 ? child->process->process : f.thread->process->process);
        }
        read_more();
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_JIT_GARBAGE], 1);
        byte_buffer_deinit(&b);
}
END_TEST

/* Two runtimes in one process: each writes a jitdump, mapped several times, and all of them are read. */
START_TEST(test_two_dumps)
{
        char folder[] = "/tmp/hyprof-dumps.XXXXXX", other_path[64];
        struct byte_buffer b = { .data = NULL };

        ck_assert_ptr_nonnull(mkdtemp(folder));
        (void)snprintf(other_path, sizeof(other_path), "%s/jit-1.dump", folder);
        jitdump_builder_header(&b, 1, 0);
        jitdump_builder_load(&b, monotonic_ns(), 0x2000, 16, "one");
        write_file(f.dump_path, O_TRUNC, b.data, b.used_bytes);
        byte_buffer_clear(&b);
        jitdump_builder_header(&b, 1, 0);
        jitdump_builder_load(&b, monotonic_ns(), 0x3000, 16, "two");
        write_file(other_path, O_TRUNC, b.data, b.used_bytes);
        for (int i = 0; i < 2; i++) {
                note(f.dump_path);
                note(other_path);
        }
        read_more();
        ck_assert_int_eq(jit_files_run(f.files, UINT64_MAX), 0);
        ck_assert_uint_eq(n_regions(), 2);
        check_region(1, 0x2000, "one");
        check_region(2, 0x3000, "two");
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_JIT_GARBAGE], 0);
        byte_buffer_deinit(&b);
        ck_assert_int_eq(unlink(other_path), 0);
        ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(test_lines_of_v8)
{
        struct byte_buffer b = { .data = NULL };
        const struct trace_code_line *line;

        jitdump_builder_header(&b, 1, 0);
        jitdump_builder_lines(&b, 1, 0x2000, 64, "a.js");
        jitdump_builder_load(&b, 1, 0x2000, 16, "JS:*main a.js:1:1");
        jitdump_builder_lines(&b, 2, 0x3000, 8, "a.js");
        jitdump_builder_load(&b, 2, 0x3000, 32, "JS:*exact a.js:1:1");
        write_file(f.dump_path, O_TRUNC, b.data, b.used_bytes);
        note(f.dump_path);
        ck_assert_int_eq(jit_files_read(f.files, f.now_ns, true), 0);
        ck_assert_int_eq(jit_files_run(f.files, UINT64_MAX), 0);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_CODE_LINES), 4);
        line = trace_dictionary_row(&f.dictionary, TRACE_TABLE_CODE_LINES, 1);
        ck_assert_uint_eq(line->offset_bytes, 0);
        line = trace_dictionary_row(&f.dictionary, TRACE_TABLE_CODE_LINES, 3);
        ck_assert_uint_eq(line->offset_bytes, 8);
        byte_buffer_deinit(&b);
}
END_TEST

/* The CFA of the code there; 0 = it is not known how to unwind it. */
static int32_t cfa_at(uint64_t avma)
{
        const struct unwind_table *table = code_tables_find_of_jit(f.recording.tables,
                                                                   f.thread->process->process, avma);
        const struct unwind_rule *rule = table ? unwind_table_find(table, avma) : NULL;

        return rule ? rule->cfa_offset : 0;
}

/* The last word about the code that comes next counts, for this code alone. */
static const struct {
        uint8_t said[2]; /* 0 = nothing */
        bool then_nonsense;
        uint32_t pid; /* whose code; 0 = the process's own */
        int32_t wanted;
} unwound[] = {
        { { 16, 32 }, false, 0, 32 }, { { 0, 0 }, false, 0, 0 },
        { { 48, 0 }, true, 0, 0 },    { { 64, 0 }, false, UNKNOWN_PID, 0 },
        { { 0, 0 }, false, 0, 0 },    { { 72, 0 }, false, CHILD_PID, 0 },
        { { 0, 0 }, false, 0, 0 },    { { 80, 0 }, false, 0, 80 },
};

#define N_UNWOUND       (sizeof(unwound) / sizeof(unwound[0]))
#define UNWOUND_AVMA(i) (UINT64_C(0x2000) + 0x100 * (i))

static void add_unwound(struct byte_buffer *b)
{
        const size_t pid_at = JITDUMP_PREFIX_BYTES;

        for (size_t i = 0; i < N_UNWOUND; i++) {
                size_t load;

                for (size_t k = 0; k < 2; k++)
                        if (unwound[i].said[k] != 0)
                                jitdump_builder_unwinding(b, 1, unwound[i].said[k]);
                if (unwound[i].then_nonsense)
                        jitdump_builder_other(b, JITDUMP_UNWINDING_INFO, 1, 8);
                load = b->used_bytes;
                jitdump_builder_load(b, 1, UNWOUND_AVMA(i), 16, "code");
                if (unwound[i].pid != 0)
                        memcpy(b->data + load + pid_at, &unwound[i].pid, sizeof(unwound[i].pid));
        }
}

START_TEST_IF(unwind_machine_own() == &unwind_machine_x86_64, test_unwinding)
{
        struct byte_buffer b = { .data = NULL };
        struct table_process tables;
        struct thread_track *child;

        ck_assert_int_eq(table_process_start(&tables, NULL, 0, 0, NULL), 0);
        ck_assert_int_eq(code_tables_new(&tables, &f.pace, &f.losses, &f.recording.tables, NULL), 0);
        ck_assert_int_eq(
                process_table_add_thread(&f.processes, CHILD_PID, CHILD_PID, (uint32_t)getpid(), 2, &child),
                0);
        jitdump_builder_header(&b, 1, 0);
        add_unwound(&b);
        write_file(f.dump_path, O_TRUNC, b.data, b.used_bytes);
        note(f.dump_path);
        read_more();
        ck_assert_int_eq(jit_files_run(f.files, UINT64_MAX), 0);
        for (int n = 0; n < 5000 && cfa_at(UNWOUND_AVMA(N_UNWOUND - 1) + 4) == 0; n++) {
                struct pollfd readable = { .fd = tables.fd, .events = POLLIN };

                read_more();
                (void)poll(&readable, 1, 10);
                ck_assert_int_eq(code_tables_take(f.recording.tables), 0);
        }
        for (size_t i = 0; i < N_UNWOUND; i++)
                ck_assert_msg(cfa_at(UNWOUND_AVMA(i) + 4) == unwound[i].wanted, "code %zu", i);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_JIT_GARBAGE], 2);
        byte_buffer_deinit(&b);
        code_tables_free(f.recording.tables);
        f.recording.tables = NULL;
        table_process_stop(&tables);
}
END_TEST

/* Every cut, and a length that cannot be: what is whole is taken, the rest costs itself only. */
/* A process with such a dump: the regions and the garbage that it is read as. */
static void check_dump(const struct byte_buffer *b, size_t n_bytes, uint32_t n_wanted, uint64_t n_garbage)
{
        tear_down();
        set_up();
        write_file(f.dump_path, O_TRUNC, b->data, n_bytes);
        note(f.dump_path);
        ck_assert_int_eq(jit_files_read(f.files, f.now_ns, true), 0);
        ck_assert_int_eq(jit_files_run(f.files, UINT64_MAX), 0);
        ck_assert_int_eq(jit_files_read(f.files, f.now_ns, true), 0);
        ck_assert_uint_eq(n_regions(), n_wanted);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_JIT_GARBAGE], n_garbage);
}

START_TEST(test_damaged_dump)
{
        struct byte_buffer b = { .data = NULL };

        jitdump_builder_header(&b, 1, 0);
        jitdump_builder_load(&b, 1, 0x2000, 16, "one");
        /* Its name is whole unless the file ends before the 16 bytes of code; other bytes are counted. */
        for (size_t n = 0; n <= b.used_bytes; n++)
                check_dump(&b, n, n + 16 >= b.used_bytes,
                           n > 0 && n + 16 < b.used_bytes && n != JITDUMP_HEADER_BYTES);
        memset(b.data + JITDUMP_HEADER_BYTES + 4, 0, 4);
        check_dump(&b, b.used_bytes, 0, 1);
        byte_buffer_deinit(&b);
}
END_TEST

static bool is_jitdump(const char *path)
{
        const struct perf_mmap mmap = { .path = path, .path_bytes = strlen(path) };

        return perf_mmap_is_jitdump(&mmap);
}

START_TEST(test_dump_name)
{
        static const char *const good[] = { "jit-1.dump", "/a/jit-123.dump", "/jit-1.dump" };
        static const char *const bad[] = {
                "", "jit-.dump", "jit-1.dmp", "jit-1x.dump", "/jit-1.dump/x", "/ajit-1.dump", "//anon"
        };

        for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
                ck_assert(is_jitdump(good[i]));
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                ck_assert(!is_jitdump(bad[i]));
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
