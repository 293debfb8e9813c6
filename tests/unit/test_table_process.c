/* SPDX-License-Identifier: MIT */
/* sampler/tables/table_process.c: each file has one answer, in order, whatever it does to who parses it */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "base/landlock.h"
#include "base/regular_file.h"
#include "sampler/keep/file_versions.h"
#include "sampler/tables/table_process.h"
#include "symbolize/elf/elf_image.h"
#include "tests/unit/own_code.h"
#include "tests/unit/unit_test.h"
#include "unwind/unwind_module.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER_UID   65534
#define N_REQUESTS  500
#define LARGE_BYTES (UINT32_C(6) << 20)
#define DIE_AT      3 /* ids of what a task does */
#define LARGE_AT    5

static struct table_process process;

static int open_own(void)
{
        char *path = own_code_path();
        int fd = -1;

        ck_assert_int_eq(regular_file_open(path, &fd, NULL), 0);
        free(path);
        return fd;
}

static int make_file(const void *bytes, size_t n_bytes)
{
        int fd = memfd_create("file", MFD_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(io_write_all(fd, bytes, n_bytes, NULL), 0);
        return fd;
}

static void start(table_process_task *task)
{
        struct error err = ERROR_NONE;
        int r = task ? table_process_start_task(&process, NULL, 0, 0, task, &err)
                     : table_process_start(&process, NULL, 0, 0, &err);

        ck_assert_msg(r == 0, "%s", err.text);
        ck_assert_int_gt(process.pid, 0);
}

static int ask(uint32_t id, int fd)
{
        return table_process_ask(&process, &(struct table_request){ .id = id }, fd);
}

/* The next answer, waited for. */
static int next(struct table_answer *ret_answer)
{
        struct pollfd readable = { .fd = process.fd, .events = POLLIN };
        int r;

        while ((r = table_process_next(&process, ret_answer)) == 0)
                ck_assert_int_eq(poll(&readable, 1, -1), 1);
        return r;
}

static void expect_answer(uint32_t id, enum table_status status)
{
        struct table_answer answer;

        ck_assert_int_eq(next(&answer), 1);
        ck_assert_uint_eq(answer.id, id);
        ck_assert_int_eq((int)answer.status, (int)status);
        ck_assert_int_eq(answer.bytes != NULL, status == TABLE_STATUS_BUILT);
}

/* No process and no descriptor is left over. */
static void stop(void)
{
        int fd;

        table_process_stop(&process);
        ck_assert_int_eq(process.fd, -1);
        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
        ck_assert_int_eq(errno, ECHILD);
        fd = open_own();
        ck_assert_int_eq(table_process_ask(&process, &(struct table_request){ .id = 1 }, fd), -EPIPE);
        io_close(&fd);
        table_process_stop(&process);
}

START_TEST(test_own_file)
{
        struct unwind_module *module = NULL, *built = NULL;
        struct elf_image *image = NULL;
        struct table_request request = { .id = 7 };
        struct table_answer answer;
        int fd = open_own();

        start(NULL);
        ck_assert_int_eq(elf_image_open_unmapped(fd, &image, NULL), 0);
        ck_assert_uint_gt(image->build_id_bytes, 0);
        request.build_id_bytes = (uint32_t)image->build_id_bytes;
        memcpy(request.build_id, image->build_id, image->build_id_bytes);
        ck_assert_int_eq(unwind_module_build(image, &built, NULL), 0);

        ck_assert_int_eq(table_process_ask(&process, &request, fd), 0);
        ck_assert_uint_eq(process.n_waiting, 1);
        ck_assert_int_eq(next(&answer), 1);
        ck_assert_uint_eq(answer.id, 7);
        ck_assert_int_eq((int)answer.status, TABLE_STATUS_BUILT);
        ck_assert_int_eq(unwind_module_decode(answer.bytes, answer.n_bytes, &module, NULL), 0);
        ck_assert_uint_eq(module->n_bytes, built->n_bytes);
        ck_assert_uint_eq(process.n_waiting, 0);
        ck_assert_int_eq(table_process_next(&process, &answer), 0);

        request.build_id[0] ^= 1;
        ck_assert_int_eq(table_process_ask(&process, &request, fd), 0);
        expect_answer(7, TABLE_STATUS_OTHER_FILE);
        request.build_id[0] ^= 1;
        request.build_id_bytes--;
        ck_assert_int_eq(table_process_ask(&process, &request, fd), 0);
        expect_answer(7, TABLE_STATUS_OTHER_FILE);
        unwind_module_free(module);
        unwind_module_free(built);
        elf_image_close(image);
        io_close(&fd);
        stop();
}
END_TEST

/* A file that was written after its mapping has no table: its new content would find wrong callers. */
START_TEST(test_file_that_was_written_since)
{
        struct table_request request = { .id = 7 };
        struct stat status;
        int fd = open_own();

        start(NULL);
        ck_assert_int_eq(fstat(fd, &status), 0);
        request.written_ns = file_written_ns(&status) - 1;
        ck_assert_int_eq(table_process_ask(&process, &request, fd), 0);
        expect_answer(7, TABLE_STATUS_OTHER_FILE);
        request.written_ns++;
        ck_assert_int_eq(table_process_ask(&process, &request, fd), 0);
        expect_answer(7, TABLE_STATUS_BUILT);
        io_close(&fd);
        fd = make_file("half", 4); /* its header is not there yet */
        request.written_ns = 1;
        ck_assert_int_eq(table_process_ask(&process, &request, fd), 0);
        expect_answer(7, TABLE_STATUS_OTHER_FILE);
        io_close(&fd);
        stop();
}
END_TEST

START_TEST(test_other_files)
{
        static const char damaged[] = "\177ELF\2\1\1 and then something else, which is no header at all";
        int text_fd = make_file("#!/bin/sh\n", 10);
        int empty_fd = make_file("", 0);
        int damaged_fd = make_file(damaged, sizeof(damaged));
        int folder_fd = open("/", O_RDONLY | O_CLOEXEC);

        start(NULL);
        ck_assert_int_eq(ask(1, text_fd), 0);
        ck_assert_int_eq(ask(2, empty_fd), 0);
        ck_assert_int_eq(ask(3, damaged_fd), 0);
        ck_assert_int_eq(ask(4, folder_fd), 0);
        expect_answer(1, TABLE_STATUS_NOTHING);
        expect_answer(2, TABLE_STATUS_NOTHING);
        expect_answer(3, TABLE_STATUS_FAILED);
        expect_answer(4, TABLE_STATUS_NOTHING);
        io_close(&text_fd);
        io_close(&empty_fd);
        io_close(&damaged_fd);
        io_close(&folder_fd);
        stop();
}
END_TEST

/* A file that shrinks while it is read is an error there, and no signal. */
START_TEST(test_file_that_was_cut)
{
        int own_fd = open_own(), fd;
        struct stat status;
        uint8_t *bytes;
        size_t n_bytes;

        ck_assert_int_eq(fstat(own_fd, &status), 0);
        bytes = malloc((size_t)status.st_size);
        ck_assert_ptr_nonnull(bytes);
        ck_assert_int_eq(io_pread_full(own_fd, bytes, (size_t)status.st_size, 0, &n_bytes, NULL), 0);
        fd = make_file(bytes, n_bytes);
        ck_assert_int_eq(ftruncate(fd, 4096), 0);
        start(NULL);
        ck_assert_int_eq(ask(1, fd), 0);
        expect_answer(1, TABLE_STATUS_FAILED);
        free(bytes);
        io_close(&fd);
        io_close(&own_fd);
        stop();
}
END_TEST

static enum table_status say_id(const struct table_request *request, int file_fd, struct table_reply *reply)
{
        (void)file_fd;
        byte_buffer_add_u32(&reply->bytes, request->id);
        return TABLE_STATUS_BUILT;
}

/* Dies in each way that a parser may, and answers everything else. */
static enum table_status die_sometimes(const struct table_request *request, int file_fd,
                                       struct table_reply *reply)
{
        struct rlimit none = { .rlim_cur = 0, .rlim_max = 0 };

        switch (request->id) {
        case DIE_AT:
                (void)setrlimit(RLIMIT_CORE, &none);
                (void)raise(SIGSEGV);
                break;
        case DIE_AT + 1:
                _exit(1);
        case LARGE_AT:
                (void)byte_buffer_reserve(&reply->bytes, LARGE_BYTES);
                memset(reply->bytes.data, 'x', LARGE_BYTES);
                reply->bytes.used_bytes = LARGE_BYTES;
                return TABLE_STATUS_BUILT;
        default:
                break;
        }
        return say_id(request, file_fd, reply);
}

/* The table takes until the file, a pipe, can be read; DIE_AT dies then, and LARGE_AT repeats itself. */
static enum table_status say_landmarks(const struct table_request *request, int file_fd,
                                       struct table_reply *reply)
{
        const struct module_landmarks landmarks = { .code = { .svma = 4096 }, .jit_svma = request->id };
        char byte;

        if (table_reply_send_landmarks(reply, &landmarks) < 0 ||
            (request->id == LARGE_AT && table_reply_send_landmarks(reply, &landmarks) < 0) ||
            read(file_fd, &byte, 1) != 1 || request->id == DIE_AT)
                _exit(1);
        return say_id(request, file_fd, reply);
}

/* Whatever a table takes: they come before it, and once. */
START_TEST(test_landmarks_come_first)
{
        struct table_answer answer;
        int fds[2];

        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        start(say_landmarks);
        for (uint32_t id = DIE_AT - 1; id <= LARGE_AT; id++)
                ck_assert_int_eq(ask(id, fds[0]), 0);
        for (uint32_t id = DIE_AT - 1; id < LARGE_AT; id++) {
                ck_assert_int_eq(next(&answer), 1);
                ck_assert_uint_eq(answer.id, id);
                ck_assert_int_eq((int)answer.status, TABLE_STATUS_LANDMARKS);
                ck_assert_uint_eq(answer.landmarks.jit_svma, id);
                ck_assert_uint_eq(answer.landmarks.code.svma, 4096);
                ck_assert_int_eq(table_process_next(&process, &answer), 0);
                ck_assert_int_eq(write(fds[1], "x", 1), 1);
                expect_answer(id, id == DIE_AT ? TABLE_STATUS_FAILED : TABLE_STATUS_BUILT);
        }
        expect_answer(LARGE_AT, TABLE_STATUS_LANDMARKS);
        ck_assert_int_eq(next(&answer), -EBADMSG); /* a second time */
        (void)close(fds[0]);
        (void)close(fds[1]);
        table_process_stop(&process);
}
END_TEST

START_TEST(test_parser_that_is_killed)
{
        struct table_answer answer;
        int fd = make_file("x", 1);

        start(die_sometimes);
        for (uint32_t id = 1; id <= 7; id++)
                ck_assert_int_eq(ask(id, fd), 0);
        for (uint32_t id = 1; id <= 7; id++) {
                ck_assert_int_eq(next(&answer), 1);
                ck_assert_uint_eq(answer.id, id);
                ck_assert_int_eq((int)answer.status,
                                 id == DIE_AT || id == DIE_AT + 1 ? TABLE_STATUS_FAILED : TABLE_STATUS_BUILT);
                if (id == LARGE_AT) {
                        ck_assert_uint_eq(answer.n_bytes, LARGE_BYTES);
                        ck_assert_uint_eq(answer.bytes[0], 'x');
                        ck_assert_mem_eq(answer.bytes, answer.bytes + 1, LARGE_BYTES - 1);
                }
        }
        io_close(&fd);
        stop();
}
END_TEST

/* Is killed when it has sent a part of its answer: its socket is the lowest descriptor that is a socket. */
static enum table_status die_while_sending(const struct table_request *request, int file_fd,
                                           struct table_reply *reply)
{
        struct {
                uint32_t id;
                int32_t status;
                uint64_t n_bytes;
                uint8_t part[100]; /* the rest of the head as well */
        } packet = { .id = request->id, .status = TABLE_STATUS_BUILT, .n_bytes = 1000 };
        struct stat status;

        for (int fd = 3; request->id == DIE_AT && fd < 16; fd++)
                if (fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) &&
                    send(fd, &packet, 16 + sizeof(packet.part), 0) > 0)
                        (void)raise(SIGKILL);
        return say_id(request, file_fd, reply);
}

START_TEST(test_parser_that_is_killed_while_it_sends)
{
        struct table_answer answer;
        int fd = make_file("x", 1);

        start(die_while_sending);
        for (uint32_t id = DIE_AT; id <= DIE_AT + 1; id++)
                ck_assert_int_eq(ask(id, fd), 0);
        expect_answer(DIE_AT, TABLE_STATUS_FAILED);
        ck_assert_int_eq(next(&answer), 1);
        ck_assert_uint_eq(answer.id, DIE_AT + 1);
        ck_assert_uint_eq(answer.n_bytes, sizeof(uint32_t));
        io_close(&fd);
        stop();
}
END_TEST

static const struct {
        uint32_t id_plus;
        int32_t status;
        uint64_t n_bytes;
        size_t n_sent;
} lies[] = {
        { 1, TABLE_STATUS_BUILT, 4, 20 },      /* another request's */
        { 0, TABLE_STATUS_FAILED + 1, 0, 16 }, /* no such status */
        { 0, -5, 0, 16 },
        { 0, TABLE_STATUS_NOTHING, 0, 17 },        /* bytes that belong to nothing */
        { 0, TABLE_STATUS_BUILT, 4, 16 },          /* no bytes of some */
        { 0, TABLE_STATUS_BUILT, 4, 21 },          /* more than was said */
        { 0, TABLE_STATUS_BUILT, UINT64_MAX, 20 }, /* more than anybody has */
        { 0, TABLE_STATUS_BUILT, 0, 15 },          /* cut off */
};

static enum table_status lie(const struct table_request *request, int file_fd, struct table_reply *reply)
{
        struct {
                uint32_t id;
                int32_t status;
                uint64_t n_bytes;
                uint8_t part[16];
        } packet = { .n_bytes = 0 };
        struct stat status;

        (void)reply;
        (void)file_fd;
        packet.id = request->id + lies[request->id - 1].id_plus;
        packet.status = lies[request->id - 1].status;
        packet.n_bytes = lies[request->id - 1].n_bytes;
        for (int fd = 3; fd < 16; fd++)
                if (fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode))
                        (void)send(fd, &packet, lies[request->id - 1].n_sent, 0);
        return TABLE_STATUS_FAILED;
}

/* loop test */
START_LOOP_TEST(test_builder_that_lies, 0, sizeof(lies) / sizeof(lies[0]))
{
        struct table_answer answer;
        int fd = make_file("x", 1);

        start(lie);
        ck_assert_int_eq(ask((uint32_t)_i + 1, fd), 0);
        ck_assert_int_eq(next(&answer), -EBADMSG);
        ck_assert_int_eq(table_process_next(&process, &answer), -EPIPE);
        ck_assert_int_eq(ask(1, fd), -EPIPE);
        io_close(&fd);
        stop();
}
END_TEST

/*
 * More requests than are taken at once: the caller gets an error, never waits, and all are
 * answered in their order.
 */
START_TEST(test_many_requests)
{
        uint32_t n_asked = 0, n_answered = 0, n_refused = 0;
        struct table_answer answer;
        int fd = make_file("x", 1);

        start(say_id);
        while (n_answered < N_REQUESTS) {
                int r = n_asked < N_REQUESTS ? ask(n_asked + 1, fd) : -EAGAIN;

                if (r == 0) {
                        n_asked++;
                        continue;
                }
                ck_assert_int_eq(r, -EAGAIN);
                n_refused += n_asked < N_REQUESTS;
                ck_assert_int_eq(next(&answer), 1);
                ck_assert_uint_eq(answer.id, ++n_answered);
                ck_assert_int_eq((int)answer.status, TABLE_STATUS_BUILT);
                ck_assert_uint_eq(answer.n_bytes, sizeof(uint32_t));
                ck_assert_mem_eq(answer.bytes, &answer.id, sizeof(uint32_t));
        }
        ck_assert_uint_gt(n_refused, 0);
        ck_assert_uint_eq(process.n_waiting, 0);
        io_close(&fd);
        stop();
}
END_TEST

struct rights {
        uint32_t uid, capabilities;
        int open_errno, write_errno; /* of files by their names */
        int socket_errno, fork_errno;
        bool bound, own_session, is_filtered;
};

/* The rights of who parses: none. */
static enum table_status say_rights(const struct table_request *request, int file_fd,
                                    struct table_reply *reply)
{
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { { 1, 1, 1 } };
        struct rights *rights = (void *)byte_buffer_reserve(&reply->bytes, sizeof(*rights));

        (void)request;
        (void)file_fd;
        if (syscall(SYS_capget, &header, sets) < 0)
                return TABLE_STATUS_FAILED;
        *rights = (struct rights){ .uid = geteuid(), .own_session = getsid(0) == getppid() };
        for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
                rights->capabilities |= sets[i].permitted | sets[i].effective;
        for (int i = 0; i < 64; i++)
                rights->bound |= prctl(PR_CAPBSET_READ, i) == 1;
        rights->open_errno = open("/proc/self/status", O_RDONLY) < 0 ? errno : 0;
        rights->write_errno = open("/dev/null", O_WRONLY) < 0 ? errno : 0;
        rights->is_filtered = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER;
        rights->socket_errno = socket(AF_NETLINK, SOCK_RAW, 0) < 0 ? errno : 0;
        rights->fork_errno = fork() < 0 ? errno : 0;
        reply->bytes.used_bytes += sizeof(*rights);
        return TABLE_STATUS_BUILT;
}

START_TEST_IF(geteuid() == 0, test_who_parses_has_no_rights)
{
        struct error err = ERROR_NONE;
        struct table_answer answer;
        struct rights rights;
        int fd = make_file("x", 1);

        ck_assert_msg(table_process_start_task(&process, NULL, OTHER_UID, OTHER_UID, say_rights, &err) == 0,
                      "%s", err.text);
        ck_assert_int_eq(ask(1, fd), 0);
        ck_assert_int_eq(next(&answer), 1);
        ck_assert_uint_eq(answer.n_bytes, sizeof(rights));
        memcpy(&rights, answer.bytes, sizeof(rights));
        ck_assert_uint_eq(rights.capabilities, 0);
        ck_assert(rights.own_session); /* no terminal's signals */
        if (geteuid() == 0) {
                ck_assert(!rights.bound);
                ck_assert_uint_eq(rights.uid, OTHER_UID);
        }
        if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0) { /* else there are no filters here: qemu's emulation */
                ck_assert(rights.is_filtered);
                ck_assert_int_eq(rights.open_errno, EPERM);
                ck_assert_int_eq(rights.socket_errno, EPERM);
                ck_assert_int_eq(rights.fork_errno, EPERM);
        } else if (landlock_version() > 0) {
                ck_assert_int_eq(rights.open_errno, EACCES);
                ck_assert_int_eq(rights.write_errno, EACCES);
        } else {
                printf("skipped: this kernel has no Landlock and no filters\n");
        }
        io_close(&fd);
        stop();
}
END_TEST

static enum table_status wait_for_ever(const struct table_request *request, int file_fd,
                                       struct table_reply *reply)
{
        (void)request;
        (void)reply;
        (void)!write(file_fd, "x", 1);
        while (pause() < 0)
                ;
        return TABLE_STATUS_FAILED;
}

/* Ended in the middle of a file: both processes go. */
START_TEST(test_stop_while_it_works)
{
        int fds[2];
        char byte;

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        start(wait_for_ever);
        ck_assert_int_eq(ask(1, fds[1]), 0);
        io_close(&fds[1]);
        ck_assert_int_eq(read(fds[0], &byte, 1), 1);
        stop();
        ck_assert_int_eq(read(fds[0], &byte, 1), 0); /* its end was closed: the grandchild is gone too */
        io_close(&fds[0]);
}
END_TEST

static int *has_spoken; /* shared with the processes that parse */

/*
 * As a parser that a file has taken over: leaves a process, which speaks for the next file; where a filter
 * forbids that, it speaks itself, early.
 */
static enum table_status speak_for_others(const struct table_request *request, int file_fd,
                                          struct table_reply *reply)
{
        struct table_reply other = { .fd = reply->fd, .id = request->id + 1, .secret = request->secret };
        pid_t parser = getpid(), left = request->id == 1 ? fork() : parser;

        (void)file_fd;
        if (left <= 0) {
                while (left == 0 && getppid() == parser)
                        (void)usleep(1000);
                (void)table_reply_send_landmarks(&other, &(struct module_landmarks){ .jit_svma = 666 });
                __atomic_store_n(has_spoken, 1, __ATOMIC_RELEASE);
                if (left == 0)
                        _exit(0);
        }
        while (request->id == 2 && __atomic_load_n(has_spoken, __ATOMIC_ACQUIRE) == 0)
                (void)usleep(1000);
        byte_buffer_add_u32(&reply->bytes, request->id);
        return TABLE_STATUS_BUILT;
}

START_TEST(test_who_speaks_for_others)
{
        int fd = make_file("x", 1);

        has_spoken = mmap(NULL, sizeof(*has_spoken), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                          0);
        ck_assert(has_spoken != MAP_FAILED);
        start(speak_for_others);
        ck_assert_int_eq(ask(1, fd), 0);
        ck_assert_int_eq(ask(2, fd), 0);
        expect_answer(1, TABLE_STATUS_BUILT);
        expect_answer(2, TABLE_STATUS_BUILT); /* without landmarks before it */
        io_close(&fd);
        stop();
}
END_TEST

START_TEST(test_child_that_is_gone)
{
        struct table_answer answer;
        int fd = make_file("x", 1);

        start(say_id);
        ck_assert_int_eq(kill(process.pid, SIGKILL), 0);
        ck_assert_int_eq(next(&answer), -EPIPE);
        ck_assert_int_eq(process.fd, -1);
        ck_assert_int_eq(ask(1, fd), -EPIPE);
        io_close(&fd);
        stop();
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 120);
