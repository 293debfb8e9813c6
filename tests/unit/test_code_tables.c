/* SPDX-License-Identifier: MIT */
/*
 * sampler/tables/code_tables.c: each file is opened once, its table comes, and what does
 * not come is counted once
 */
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "format/trace_rows.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/tables/code_tables.h"
#include "sampler/tables/jit_frames.h"
#include "sampler/tables/table_process.h"
#include "sampler/tables/table_store.h"
#include "sampler/tracks/loss_counter.h"
#include "symbolize/elf/elf_image.h"
#include "tests/unit/own_code.h"
#include "tests/unit/unit_test.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_module.h"
#include "unwind/unwind_table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_FILES       500
#define OWN_BYTES_MAX (256 << 20)
#define PAGE_BYTES    4096
#define LONG_NS       (60 * NS_PER_S)
#define ENDED_PID     UINT32_C(0x7ffffff0) /* higher than the kernel counts */
#define OTHER_PID     (ENDED_PID + 1)
#define SHORT_NS      (10 * NS_PER_MS)
#define ENOUGH_NS     (10 * NS_PER_S) /* far more than may be waited, and far less than was asked for */

static const struct trace_module file_row = { .kind = TRACE_MODULE_FILE };
static const struct trace_module vdso_row = { .kind = TRACE_MODULE_VDSO };

static struct table_process process;
static struct loss_counter losses;
static struct recorder_pace pace;
static struct code_tables *tables;
static char *own_path;
static struct perf_mmap m; /* of the own file, by a start */

/* As the kernel reports a file without a build-id that is mapped nowhere any more. */
static struct perf_mmap mmap_of(const char *path)
{
        struct perf_mmap made = {
                .start_avma = 4096, .length_bytes = 4096, .executable = true, .path = path
        };
        struct stat status;

        made.path_bytes = strlen(path);
        if (stat(path, &status) == 0)
                made.inode = status.st_ino;
        return made;
}

/* The same with the build-id. */
static struct perf_mmap mmap_of_own(void)
{
        struct perf_mmap made = mmap_of(own_path);
        struct elf_image *image = NULL;
        int fd = -1;

        ck_assert_int_eq(regular_file_open(own_path, &fd, NULL), 0);
        ck_assert_int_eq(elf_image_open_unmapped(fd, &image, NULL), 0);
        ck_assert_uint_eq(image->build_id_bytes, 20);
        memcpy(made.build_id, image->build_id, 20);
        made.build_id_bytes = 20;
        made.inode = 0;
        elf_image_close(image);
        io_close(&fd);
        return made;
}

static void start_with(struct table_store *store, table_process_task *task)
{
        struct error err = ERROR_NONE;

        losses = (struct loss_counter){ .totals = { 0 } };
        recorder_pace_init(&pace, 0);
        ck_assert_msg((task ? table_process_start_task(&process, store, 0, 0, task, &err)
                            : table_process_start(&process, store, 0, 0, &err)) == 0,
                      "%s", err.text);
        ck_assert_int_eq(code_tables_new(&process, &pace, &losses, &tables, NULL), 0);
        own_path = own_code_path();
        m = mmap_of_own();
}

static void start(table_process_task *task)
{
        start_with(NULL, task);
}

/* Nothing if it was not started. */
static void stop(void)
{
        if (!own_path)
                return;
        code_tables_free(tables);
        table_process_stop(&process);
        free(own_path);
        own_path = NULL;
}

static int want(uint32_t module, uint32_t pid, const struct perf_mmap *mmap)
{
        return code_tables_want(tables, module, &file_row, pid, mmap);
}

static enum code_tables_answer find(uint32_t module)
{
        const struct unwind_module *found = NULL;
        enum code_tables_answer answer = code_tables_find(tables, module, &found);

        ck_assert_int_eq(answer == CODE_TABLES_READY, found != NULL);
        return answer;
}

/* However slow this machine is: waits are bounded, and repeated here until the answer is there. */
static enum code_tables_answer find_at_last(uint32_t module)
{
        while (!code_tables_wait(tables, module, LONG_NS))
                ;
        return find(module);
}

static uint64_t count_lost(void)
{
        return losses.totals[TRACE_LOSS_UNWIND_FILE_FAILED];
}

static size_t count_fds(void)
{
        DIR *folder = opendir("/proc/self/fd");
        size_t n = 0;

        ck_assert_ptr_nonnull(folder);
        while (readdir(folder))
                n++;
        (void)closedir(folder);
        return n;
}

START_TEST(test_own_file)
{
        const struct unwind_module *first, *second;
        uint32_t epoch, coming_epoch;
        size_t n_fds;

        start(NULL);
        n_fds = count_fds();
        epoch = code_tables_epoch(tables);
        ck_assert_int_eq((int)find(7), CODE_TABLES_NONE);
        ck_assert_int_eq(want(7, (uint32_t)getpid(), &m), 0);
        ck_assert_int_eq((int)find(7), CODE_TABLES_COMING);
        coming_epoch = code_tables_epoch(tables);
        ck_assert_uint_ne(epoch, coming_epoch);
        ck_assert_int_eq((int)find_at_last(7), CODE_TABLES_READY);
        ck_assert_uint_ne(code_tables_epoch(tables), coming_epoch);
        epoch = code_tables_epoch(tables);
        ck_assert_int_eq((int)code_tables_find(tables, 7, &first), CODE_TABLES_READY);
        ck_assert_uint_gt(first->table->n_rows, 100);

        /*
         * Again, from whatever process: nothing happens.  As another module: it is known,
         * and nothing is opened.
         */
        ck_assert_int_eq(want(7, ENDED_PID, &m), 0);
        ck_assert_uint_eq(code_tables_epoch(tables), epoch);
        m.path = "/nowhere";
        m.path_bytes = 8;
        ck_assert_int_eq(want(3000, ENDED_PID, &m), 0);
        ck_assert_int_eq((int)code_tables_find(tables, 3000, &second), CODE_TABLES_READY);
        ck_assert_ptr_eq(first, second);
        ck_assert_uint_ne(code_tables_epoch(tables), epoch);
        ck_assert_int_eq((int)find(8), CODE_TABLES_NONE);
        ck_assert_int_eq((int)find(100000), CODE_TABLES_NONE);
        ck_assert_uint_eq(count_lost(), 0);
        ck_assert_uint_eq(count_fds(), n_fds);
}
END_TEST

static enum table_status build_nothing(const struct table_request *request, int file_fd,
                                       struct table_reply *reply)
{
        (void)request;
        (void)file_fd;
        (void)reply;
        return TABLE_STATUS_FAILED;
}

static void encode(uint32_t module, struct byte_buffer *out)
{
        const struct unwind_module *found = NULL;

        ck_assert_int_eq((int)code_tables_find(tables, module, &found), CODE_TABLES_READY);
        byte_buffer_clear(out);
        unwind_module_encode(found, out);
}

/* The next recording has the same tables, and makes none. */
START_TEST(test_kept_for_the_next_recording)
{
        enum { MADE, KEPT, DAMAGED, KEPT_AGAIN, TOO_YOUNG, TOO_YOUNG_AND_MADE, N_ROUNDS };
        char folder[] = "/tmp/hyprof-tables-XXXXXX", command[64];
        struct byte_buffer first = { .data = NULL }, again = { .data = NULL };
        struct table_store store;
        struct stat before, after;

        ck_assert_ptr_nonnull(mkdtemp(folder));
        for (int round = MADE; round < N_ROUNDS; round++) {
                bool makes = round == MADE || round == DAMAGED || round == TOO_YOUNG_AND_MADE;
                bool has_table = round != TOO_YOUNG; /* a young file's is not looked for */

                ck_assert_int_eq(table_store_open(&store, folder, geteuid(), getegid(), NULL), 0);
                store.opened_ns += (round >= TOO_YOUNG ? -1000000 : 100) * (int64_t)NS_PER_S;
                if (round == DAMAGED)
                        ck_assert_int_eq(pwrite(store.fd, "xx", 2, 1000), 2);
                ck_assert_int_eq(fstat(store.fd, &before), 0);
                start_with(&store, makes ? NULL : build_nothing);
                ck_assert_int_eq(want(1, (uint32_t)getpid(), &m), 0);
                ck_assert_int_eq((int)find_at_last(1), has_table ? CODE_TABLES_READY : CODE_TABLES_NONE);
                ck_assert_uint_eq(count_lost(), !has_table);
                if (has_table)
                        encode(1, round == MADE ? &first : &again);
                if (has_table && round != MADE) {
                        ck_assert_uint_eq(first.used_bytes, again.used_bytes);
                        ck_assert_mem_eq(first.data, again.data, first.used_bytes);
                }
                code_tables_keep(tables, -1);
                ck_assert_int_eq(fstat(store.fd, &after), 0);
                ck_assert_int_eq(after.st_size > before.st_size, round == MADE || round == DAMAGED);
                stop();
                table_store_close(&store);
        }
        ck_assert_uint_gt(first.used_bytes, 1000);
        byte_buffer_deinit(&first);
        byte_buffer_deinit(&again);
        (void)snprintf(command, sizeof(command), "rm -r %s", folder);
        ck_assert_int_eq(system(command), 0);
}
END_TEST

/* Opens another file with the bytes of the own one, which are left at @ret_bytes; heap. */
static int open_copy(char *ret_path, struct byte_buffer *ret_bytes)
{
        int fd = mkstemp(ret_path);

        ck_assert_int_eq(fchmod(fd, 0644), 0); /* any process may have mapped it */
        ck_assert_int_eq(io_read_file(AT_FDCWD, own_path, OWN_BYTES_MAX, ret_bytes, NULL), 0);
        ck_assert_int_eq(io_write_all(fd, ret_bytes->data, ret_bytes->used_bytes, NULL), 0);
        return fd;
}

/* A file that was written over is another one, also with its length and its time of writing as before. */
START_TEST(test_file_written_over)
{
        struct byte_buffer bytes = { .data = NULL };
        char path[] = "/tmp/hyprof-tables-XXXXXX";
        struct stat before, now;
        int fd;

        start(NULL);
        fd = open_copy(path, &bytes);
        ck_assert_int_eq(fstat(fd, &before), 0);
        m = mmap_of(path);
        ck_assert_int_eq(want(1, (uint32_t)getpid(), &m), 0);
        ck_assert_int_eq((int)find_at_last(1), CODE_TABLES_READY);
        memset(bytes.data, 0, bytes.used_bytes);
        do {
                const struct timespec times[2] = { before.st_atim, before.st_mtim };

                ck_assert_int_eq(pwrite(fd, bytes.data, PAGE_BYTES, 0), PAGE_BYTES);
                ck_assert_int_eq(futimens(fd, times), 0);
                ck_assert_int_eq(fstat(fd, &now), 0);
        } while (now.st_ctim.tv_sec == before.st_ctim.tv_sec &&
                 now.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
        ck_assert_int_eq(want(2, (uint32_t)getpid(), &m), 0);
        ck_assert_int_eq((int)find_at_last(2), CODE_TABLES_NONE);
        ck_assert_int_eq((int)find(1), CODE_TABLES_READY);
        byte_buffer_deinit(&bytes);
        (void)unlink(path);
        io_close(&fd);
}
END_TEST

/* Kernels that take turns in one file of one process: a table is made when the file has its kernel again. */
START_TEST(test_replaced_file)
{
        struct byte_buffer bytes = { .data = NULL };
        char path[] = "/tmp/hyprof-tables-XXXXXX";
        uint8_t *id;
        int fd;

        start(NULL);
        fd = open_copy(path, &bytes);
        m.path = path;
        m.path_bytes = strlen(path);
        id = memmem(bytes.data, bytes.used_bytes, m.build_id, m.build_id_bytes);
        ck_assert_ptr_nonnull(id);
        m.build_id[0] ^= 1;
        ck_assert_int_eq(want(1, ENDED_PID, &m), 0);
        ck_assert_int_eq((int)find_at_last(1), CODE_TABLES_NONE);
        *id ^= 1;
        ck_assert_int_eq(pwrite(fd, bytes.data, bytes.used_bytes, 0), (ssize_t)bytes.used_bytes);
        ck_assert_int_eq(want(1, ENDED_PID, &m), 0);
        ck_assert_int_eq((int)find_at_last(1), CODE_TABLES_READY);
        ck_assert_uint_eq(count_lost(), 1);
        byte_buffer_deinit(&bytes);
        (void)unlink(path);
        io_close(&fd);
}
END_TEST

/* Without a build-id it is the same file by what fstat(2) says. */
START_TEST(test_file_without_build_id)
{
        const struct unwind_module *first = NULL, *second = NULL;

        start(NULL);
        m = mmap_of(own_path);
        ck_assert_int_eq(want(1, (uint32_t)getpid(), &m), 0);
        ck_assert_int_eq((int)find_at_last(1), CODE_TABLES_READY);
        ck_assert_int_eq(want(2, (uint32_t)getpid(), &m), 0);
        ck_assert_int_eq((int)code_tables_find(tables, 1, &first), CODE_TABLES_READY);
        ck_assert_int_eq((int)code_tables_find(tables, 2, &second), CODE_TABLES_READY);
        ck_assert_ptr_eq(first, second);
}
END_TEST

/* That of a 32-bit process is another one, which is not known. */
START_TEST(test_vdso)
{
        const struct trace_module of_32 = { .kind = TRACE_MODULE_VDSO, .generation = TRACE_MODULE_VDSO_32 };

        start(NULL);
        m = (struct perf_mmap){
                .start_avma = 0xf7f00000,
                .length_bytes = 8192,
                .executable = true,
                .path = "[vdso]",
                .path_bytes = 6,
        };
        ck_assert_int_eq(code_tables_want(tables, 2, &of_32, ENDED_PID, &m), 0);
        m.start_avma = UINT64_C(0x7fff00000000);
        ck_assert_int_eq(code_tables_want(tables, 1, &vdso_row, ENDED_PID, &m), 0);
        ck_assert_int_eq((int)find_at_last(1), CODE_TABLES_READY);
        ck_assert_int_eq((int)find_at_last(2), CODE_TABLES_NONE);
}
END_TEST

START_TEST(test_memory_and_kernel_have_none)
{
        struct trace_module anonymous = { .kind = TRACE_MODULE_ANONYMOUS },
                            kernel = { .kind = TRACE_MODULE_KERNEL };

        start(NULL);
        ck_assert_int_eq(code_tables_want(tables, 1, &anonymous, (uint32_t)getpid(), &m), 0);
        ck_assert_int_eq(code_tables_want(tables, 2, &kernel, (uint32_t)getpid(), &m), 0);
        ck_assert_int_eq((int)find(1), CODE_TABLES_NONE);
        ck_assert_int_eq((int)find(2), CODE_TABLES_NONE);
        ck_assert(code_tables_wait(tables, 1, LONG_NS));
        ck_assert_uint_eq(count_lost(), 0);
}
END_TEST

/* One that is no ELF file has no table, and nothing is lost. */
START_TEST(test_text_file)
{
        start(NULL);
        m = mmap_of("/etc/passwd");
        ck_assert_int_eq(want(1, (uint32_t)getpid(), &m), 0);
        ck_assert_int_eq((int)find_at_last(1), CODE_TABLES_NONE);
        ck_assert_uint_eq(count_lost(), 0);
}
END_TEST

/* A file that is not found is one loss; where another process has it, it is found. */
START_TEST(test_missing_file)
{
        struct perf_mmap elsewhere;

        start(NULL);
        elsewhere = m;
        elsewhere.path = "/nowhere/lib.so";
        elsewhere.path_bytes = strlen(elsewhere.path);
        ck_assert_int_eq(want(1, ENDED_PID, &elsewhere), 0);
        ck_assert_int_eq((int)find(1), CODE_TABLES_NONE);
        ck_assert_uint_eq(count_lost(), 1);
        ck_assert_int_eq(want(1, ENDED_PID, &m), 0); /* the same process: not again */
        ck_assert_int_eq((int)find(1), CODE_TABLES_NONE);
        ck_assert_int_eq(want(1, OTHER_PID, &elsewhere), 0);
        ck_assert_int_eq((int)find(1), CODE_TABLES_NONE);
        ck_assert_int_eq(want(2, (uint32_t)getpid(), &m), 0); /* another module with the same build-id */
        ck_assert_int_eq((int)find_at_last(1), CODE_TABLES_READY);
        ck_assert_int_eq((int)find(2), CODE_TABLES_READY);
        ck_assert_uint_eq(count_lost(), 1);
}
END_TEST

/* But not for ever. */
START_TEST(test_missing_file_of_many_processes)
{
        struct perf_mmap elsewhere;

        start(NULL);
        elsewhere = m;
        elsewhere.path = "/nowhere/lib.so";
        elsewhere.path_bytes = strlen(elsewhere.path);
        for (uint32_t i = 0; i < 20; i++)
                ck_assert_int_eq(want(1, ENDED_PID + i % 2, &elsewhere), 0);
        ck_assert_int_eq(want(1, (uint32_t)getpid(), &m), 0);
        ck_assert_int_eq((int)find(1), CODE_TABLES_NONE);
        ck_assert_uint_eq(count_lost(), 1);
}
END_TEST

static enum table_status say_empty_module(const struct table_request *request, int file_fd,
                                          struct table_reply *reply)
{
        const struct unwind_module empty = { .n_bytes = 1 };
        char byte;

        (void)request;
        if (pread(file_fd, &byte, 1, 0) != 1)
                return TABLE_STATUS_FAILED;
        unwind_module_encode(&empty, &reply->bytes);
        return TABLE_STATUS_BUILT;
}

/* No table is asked for before a stack needs one, there are many files, or the patience is over. */
START_LOOP_TEST(test_patience, 0, 4)
{
        const uint32_t self = (uint32_t)getpid();
        uint32_t n_wanted = 1;

        start(NULL);
        code_tables_set_patient(tables, true);
        ck_assert_int_eq(want(1, self, &m), 0);
        ck_assert(!code_tables_wait(tables, 1, 0));
        ck_assert_int_eq(code_tables_take(tables), 0);
        ck_assert_int_eq((int)find(1), CODE_TABLES_COMING);
        ck_assert_uint_eq(process.n_waiting, 0);
        if (_i == 0) {
                code_tables_release(tables);
        } else if (_i == 1) {
                code_tables_set_patient(tables, false);
        } else if (_i == 2) {
                (void)code_tables_wait(tables, 1, 1);
        } else {
                while (process.n_waiting == 0 && n_wanted < N_FILES) {
                        memcpy(m.build_id, &n_wanted,
                               sizeof(n_wanted)); /* another file, as the kernel says */
                        ck_assert_int_eq(want(++n_wanted, self, &m), 0);
                }
                ck_assert_uint_gt(n_wanted, 32);
                ck_assert_uint_lt(n_wanted, N_FILES);
        }
        ck_assert(process.n_waiting > 0 || find(1) == CODE_TABLES_READY);
        ck_assert_int_eq((int)find_at_last(1), CODE_TABLES_READY);
        if (_i == 0) { /* what was released is sent: the next one waits again */
                memset(m.build_id, 1, sizeof(uint32_t));
                ck_assert_int_eq(want(2, self, &m), 0);
                ck_assert_uint_eq(process.n_waiting, 0);
        }
}
END_TEST

static enum table_status say_landmarks_alone(const struct table_request *request, int file_fd,
                                             struct table_reply *reply)
{
        const struct module_landmarks landmarks = { .jit_svma = request->id };

        (void)file_fd;
        return table_reply_send_landmarks(reply, &landmarks) < 0 ? TABLE_STATUS_FAILED : TABLE_STATUS_NOTHING;
}

/* They do not depend on the table. */
START_TEST(test_landmarks_of_a_file_without_a_table)
{
        struct module_landmarks found;

        start(say_landmarks_alone);
        code_tables_set_patient(tables, true);
        ck_assert_int_eq(want(7, (uint32_t)getpid(), &m), 0);
        ck_assert_int_eq(code_tables_find_landmarks(tables, 7, &found), -EAGAIN);
        ck_assert_int_eq((int)find_at_last(7), CODE_TABLES_NONE);
        ck_assert_int_eq(code_tables_find_landmarks(tables, 7, &found), 1);
        ck_assert_uint_eq(found.jit_svma, 1);
        ck_assert_int_eq(code_tables_find_landmarks(tables, 8, &found), 0);
}
END_TEST

/* Samples of Python need the landmarks of its interpreter, whatever else is put off. */
START_TEST(test_patience_does_not_hold_for_interpreters)
{
        static const char *const names[] = { "xpython3", "python3.11", "libpython3.so", "pytho" };
        const uint32_t n_names = sizeof(names) / sizeof(names[0]);
        char folder[] = "/tmp/hyprof-python-XXXXXX", path[64];
        uint32_t n_sent = 0;

        start(say_empty_module);
        ck_assert_ptr_nonnull(mkdtemp(folder));
        code_tables_set_patient(tables, true);
        for (uint32_t i = 0; i < n_names; i++) {
                int fd;

                (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
                fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
                ck_assert_int_eq(write(fd, "x", 1), 1);
                io_close(&fd);
                m = mmap_of(path);
                ck_assert_int_eq(want(i + 1, (uint32_t)getpid(), &m), 0);
                n_sent += i == 1 || i == 2;
                ck_assert_uint_eq(process.n_waiting, n_sent);
        }
        code_tables_release(tables);
        for (uint32_t i = 0; i < n_names; i++) {
                ck_assert_int_eq((int)find_at_last(i + 1), CODE_TABLES_READY);
                (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
                ck_assert_int_eq(unlink(path), 0);
        }
        ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

/* More files than may be open at a time, and than the table process takes: all get their tables. */
START_LOOP_TEST(test_many_files, 0, 2)
{
        struct rlimit limit = { .rlim_cur = _i ? 1024 : 40, .rlim_max = 1024 };
        char folder[] = "/tmp/hyprof-tables-XXXXXX", path[64];
        size_t n_fds;

        start(say_empty_module);
        ck_assert_ptr_nonnull(mkdtemp(folder));
        n_fds = count_fds();
        for (uint32_t i = 1; i <= N_FILES; i++) {
                int fd;

                (void)snprintf(path, sizeof(path), "%s/%u", folder, i);
                fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
                ck_assert_int_eq(write(fd, "x", 1), 1);
                io_close(&fd);
        }
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
        for (uint32_t i = 1; i <= N_FILES; i++) {
                (void)snprintf(path, sizeof(path), "%s/%u", folder, i);
                m = mmap_of(path);
                ck_assert_int_eq(want(i, (uint32_t)getpid(), &m), 0);
                ck_assert_int_ne((int)find(i), CODE_TABLES_NONE);
                memset(path, '?', sizeof(path)); /* the name was borrowed */
        }
        ck_assert_int_eq((int)find_at_last(N_FILES),
                         CODE_TABLES_READY); /* not the last one to be asked for */
        for (uint32_t i = 1; i <= N_FILES; i++)
                ck_assert_int_eq((int)find_at_last(i), CODE_TABLES_READY);
        ck_assert_uint_eq(count_lost(), 0);
        ck_assert_uint_eq(count_fds(), n_fds);
        for (uint32_t i = 1; i <= N_FILES; i++) {
                (void)snprintf(path, sizeof(path), "%s/%u", folder, i);
                ck_assert_int_eq(unlink(path), 0);
        }
        ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

static enum table_status send_nonsense(const struct table_request *request, int file_fd,
                                       struct table_reply *reply)
{
        (void)request;
        (void)file_fd;
        byte_buffer_add_u64(&reply->bytes, 0x123456789);
        return TABLE_STATUS_BUILT;
}

START_TEST(test_table_that_is_nonsense)
{
        start(send_nonsense);
        ck_assert_int_eq(want(1, (uint32_t)getpid(), &m), 0);
        ck_assert_int_eq((int)find_at_last(1), CODE_TABLES_NONE);
        ck_assert_uint_eq(count_lost(), 1);
}
END_TEST

static enum table_status wait_for_ever(const struct table_request *request, int file_fd,
                                       struct table_reply *reply)
{
        (void)request;
        (void)file_fd;
        (void)reply;
        while (pause() < 0)
                ;
        return TABLE_STATUS_FAILED;
}

/* However long is asked for, and how often: the collector has other work. */
START_TEST(test_waits_are_bounded)
{
        uint64_t began_ns;

        start(wait_for_ever);
        ck_assert_int_eq(want(1, (uint32_t)getpid(), &m), 0);
        began_ns = clock_raw_ns();
        ck_assert(!code_tables_wait(tables, 1, SHORT_NS));
        ck_assert_uint_ge(clock_raw_ns() - began_ns, SHORT_NS);
        ck_assert(!code_tables_wait(tables, 1, LONG_NS));
        ck_assert_uint_lt(clock_raw_ns() - began_ns, ENOUGH_NS);
        ck_assert_int_eq((int)find(1), CODE_TABLES_COMING);
}
END_TEST

/*
 * The builder dies with a file in work and others waiting: each is counted, and no thread
 * waits for it any more.
 */
START_TEST(test_builder_that_is_gone)
{
        start(wait_for_ever);
        for (uint32_t i = 1; i <= 2 * TABLE_PROCESS_WAITING_MAX; i++) {
                m.build_id[0] = (uint8_t)i;
                ck_assert_int_eq(want(i, (uint32_t)getpid(), &m), 0);
        }
        ck_assert_int_eq(kill(process.pid, SIGKILL), 0);
        for (uint32_t i = 1; i <= 2 * TABLE_PROCESS_WAITING_MAX; i++)
                ck_assert_int_eq((int)find_at_last(i), CODE_TABLES_NONE);
        ck_assert_uint_eq(count_lost(), 2 * TABLE_PROCESS_WAITING_MAX);
        m.build_id[1] ^= 1;
        ck_assert_int_eq(want(1000, (uint32_t)getpid(), &m), 0);
        ck_assert_int_eq((int)find(1000), CODE_TABLES_NONE);
        ck_assert_uint_eq(count_lost(), 2 * TABLE_PROCESS_WAITING_MAX + 1);
        ck_assert_int_eq(code_tables_take(tables), 0);
}
END_TEST

START_TEST(test_without_a_builder)
{
        struct table_process none = { .fd = -1 };

        losses = (struct loss_counter){ .totals = { 0 } };
        recorder_pace_init(&pace, 0);
        own_path = own_code_path();
        m = mmap_of_own();
        ck_assert_int_eq(code_tables_new(&none, &pace, &losses, &tables, NULL), 0);
        ck_assert_int_eq(want(1, (uint32_t)getpid(), &m), 0);
        ck_assert_int_eq(want(1, (uint32_t)getpid(), &m), 0);
        ck_assert_int_eq((int)find(1), CODE_TABLES_NONE);
        ck_assert(code_tables_wait(tables, 1, LONG_NS));
        ck_assert_uint_eq(count_lost(), 1);
        code_tables_free(tables);
        code_tables_free(NULL);
        free(own_path);
        own_path = NULL;
}
END_TEST

/* ---- code made at run time ----------------------------------------------------------------------------- */

#define JIT      UINT64_C(0x7f0000000000)
#define JIT_STEP 0x100

/* 11 bytes of code with CFA = sp + 8, from byte 4 on + @cfa. */
static void add_jit_code(struct jit_frames *frames, uint64_t start_avma, uint8_t cfa)
{
        const uint8_t eh_frame[] = { 0x14, 0,   0,  0, 0,    0,    0,    0,   1,    'z',  'R', 0,
                                     1,    120, 16, 1, 0x1b, 0x0c, 7,    8,   0x90, 1,    0,   0,
                                     0x14, 0,   0,  0, 0x1c, 0,    0,    0,   0xd0, 255,  255, 255,
                                     0x0b, 0,   0,  0, 0,    0x44, 0x0e, cfa, 0x46, 0x0e, 8,   0 };
        const struct jit_frames_entry entry = { .start_avma = start_avma,
                                                .length_bytes = 11,
                                                .eh_frame = eh_frame,
                                                .n_bytes = sizeof(eh_frame) };

        ck_assert_int_eq(jit_frames_add(frames, &entry), 1);
}

/* The CFA there, or 0; @wanted is waited for. */
static int32_t jit_cfa_at(const struct jit_frames *frames, uint32_t of_process, uint64_t avma, int32_t wanted)
{
        uint64_t began_ns = clock_raw_ns();

        while (clock_raw_ns() - began_ns < LONG_NS) {
                const struct unwind_table *table;
                const struct unwind_rule *rule;
                struct pollfd readable = { .fd = process.fd, .events = POLLIN };

                ck_assert_int_eq(code_tables_want_jit(tables, of_process, frames), 0);
                table = code_tables_find_of_jit(tables, of_process, avma);
                rule = table ? unwind_table_find(table, avma) : NULL;
                if (rule && rule->cfa_offset == wanted)
                        return wanted;
                (void)poll(&readable, 1, 10);
                ck_assert_int_eq(code_tables_take(tables), 0);
        }
        return 0;
}

/* Function by function, more often than a process has tables; what is told anew counts. */
START_TEST(test_code_of_a_jit)
{
        struct jit_frames frames = { .is_full = false };
        uint32_t epoch;

        if (unwind_machine_own() != &unwind_machine_x86_64)
                return;
        start(NULL);
        epoch = code_tables_epoch(tables);
        for (unsigned i = 0; i < 3 * JIT_TABLES_MAX; i++) {
                add_jit_code(&frames, JIT + i * JIT_STEP, (uint8_t)(16 + i));
                ck_assert_int_eq(jit_cfa_at(&frames, 7, JIT + i * JIT_STEP + 4, (int32_t)(16 + i)),
                                 16 + (int)i);
        }
        ck_assert_uint_ne(code_tables_epoch(tables), epoch);
        for (unsigned i = 0; i < 3 * JIT_TABLES_MAX; i++) /* still */
                ck_assert_int_eq(jit_cfa_at(&frames, 7, JIT + i * JIT_STEP + 4, (int32_t)(16 + i)),
                                 16 + (int)i);
        add_jit_code(&frames, JIT, 99);
        ck_assert_int_eq(jit_cfa_at(&frames, 7, JIT + 4, 99), 99);
        ck_assert_ptr_null(code_tables_find_of_jit(tables, 8, JIT + 4));
        epoch = code_tables_epoch(tables);
        code_tables_forget_jit(tables, 7);
        ck_assert_ptr_null(code_tables_find_of_jit(tables, 7, JIT + 4));
        ck_assert_uint_ne(code_tables_epoch(tables), epoch);
        ck_assert_uint_eq(count_lost(), 0);
        jit_frames_deinit(&frames);
}
END_TEST

/* Its process ends while a table is on its way. */
START_TEST(test_jit_that_ends)
{
        struct jit_frames frames = { .is_full = false };

        if (unwind_machine_own() != &unwind_machine_x86_64)
                return;
        start(NULL);
        add_jit_code(&frames, JIT, 16);
        ck_assert_int_eq(code_tables_want_jit(tables, 7, &frames), 0);
        code_tables_forget_jit(tables, 7);
        ck_assert_int_eq(jit_cfa_at(&frames, 8, JIT + 4, 16), 16); /* answers come in their order */
        ck_assert_ptr_null(code_tables_find_of_jit(tables, 7, JIT + 4));
        jit_frames_deinit(&frames);
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 120, .teardown = stop);
