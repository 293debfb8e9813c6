/* SPDX-License-Identifier: MIT */
/*
 * web/server/server_confinement.c, answer_process.c: what the viewer's server and the processes that answer
 * may not do is refused by the kernel, one call at a time, and what they need works
 */
#include "base/call_filter.h"
#include "base/error.h"
#include "base/io.h"
#include "base/landlock.h"
#include "tests/unit/unit_test.h"
#include "web/request/web_question.h"
#include "web/server/answer_process.h"
#include "web/server/server_confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char victim[64];   /* a file of this test */
static char unwanted[80]; /* one that is not there */
static int kept_fd;       /* of that file, opened before */

enum attempt {
        READ_FILE,
        MAKE_FILE,
        REMOVE_FILE,
        READ_KEPT,
        CONNECT,
        LOCAL_SOCKET,
        PROGRAM,
        PROCESS,
        THREAD,
        SIGNAL,
        NAMESPACE,
        NEW_NAMESPACE,
        KEY,
        TYPE,
        PASTE,
        MEMORY,
        N_ATTEMPTS
};

static int outcome(long r)
{
        return r < 0 ? errno : 0;
}

static void *nothing(void *context)
{
        return context;
}

static int try_thread(void)
{
        pthread_t thread;
        int r = pthread_create(&thread, NULL, nothing, NULL);

        return r != 0 ? r : pthread_join(thread, NULL);
}

static int try_process(void)
{
        pid_t pid = fork();

        if (pid == 0)
                _exit(0);
        return pid < 0 ? errno : outcome(waitpid(pid, NULL, 0));
}

static int try_memory(void)
{
        char byte;
        struct iovec here = { .iov_base = &byte, .iov_len = 1 };
        struct iovec there = { .iov_base = victim, .iov_len = 1 };

        return outcome(process_vm_readv(getppid(), &here, 1, &there, 1, 0));
}

/* As clone(2) does, by which a user namespace gives all rights within it. */
static int try_new_namespace(void)
{
        long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);

        if (pid == 0)
                _exit(0);
        return pid < 0 ? errno : outcome(waitpid((pid_t)pid, NULL, 0));
}

/* The error number of one attempt, 0 = it worked. */
static int try_one(enum attempt attempt)
{
        char *const no_words[] = { NULL };
        char byte;

        switch (attempt) {
        case READ_FILE:
                return outcome(open(victim, O_RDONLY | O_CLOEXEC));
        case MAKE_FILE:
                return outcome(open(unwanted, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        case REMOVE_FILE:
                return outcome(unlink(victim));
        case READ_KEPT:
                return outcome(pread(kept_fd, &byte, 1, 0));
        case CONNECT:
                return outcome(socket(AF_INET, SOCK_STREAM, 0));
        case LOCAL_SOCKET:
                return outcome(socket(AF_UNIX, SOCK_STREAM, 0));
        case PROGRAM:
                return outcome(execve("/bin/true", no_words, no_words));
        case PROCESS:
                return try_process();
        case THREAD:
                return try_thread();
        case SIGNAL:
                return outcome(kill(getppid(), 0));
        case NAMESPACE:
                return outcome(unshare(CLONE_NEWUSER));
        case NEW_NAMESPACE:
                return try_new_namespace();
        case KEY:
                return outcome(syscall(SYS_keyctl, 0, -3, 0)); /* KEYCTL_GET_KEYRING_ID of the session */
        case TYPE: /* into no terminal, which without a filter is EBADF; the kernel takes the low half */
                return outcome(syscall(SYS_ioctl, -1, (unsigned long)TIOCSTI | 1UL << 32, &byte));
        case PASTE:
                return outcome(syscall(SYS_ioctl, -1, (unsigned long)TIOCLINUX, &byte));
        case MEMORY:
        case N_ATTEMPTS:
        default:
                return try_memory();
        }
}

/* The error numbers of all attempts, as bytes. */
static void try_all(int fd)
{
        uint8_t results[N_ATTEMPTS];

        for (int i = 0; i < N_ATTEMPTS; i++)
                results[i] = (uint8_t)try_one((enum attempt)i);
        if (io_write_all(fd, results, sizeof(results), NULL) < 0)
                _exit(EXIT_FAILURE);
}

static void make_victim(void)
{
        (void)snprintf(victim, sizeof(victim), "/tmp/confined-XXXXXX");
        kept_fd = mkostemp(victim, O_CLOEXEC);
        ck_assert_int_ge(kept_fd, 0);
        (void)snprintf(unwanted, sizeof(unwanted), "%s.new", victim);
        ck_assert_int_eq(io_write_all(kept_fd, "x", 1, NULL), 0);
}

static void remove_victim(void)
{
        ck_assert_int_eq(unlink(victim), 0); /* it is still there */
        (void)unlink(unwanted);              /* without Landlock */
        io_close(&kept_fd);
}

static void take_results(int fd, uint8_t results[N_ATTEMPTS])
{
        size_t n = 0;

        while (n < N_ATTEMPTS) {
                ssize_t got = read(fd, results + n, N_ATTEMPTS - n);

                ck_assert_int_gt(got, 0);
                n += (size_t)got;
        }
}

static void run_as_server(int results_fd)
{
        int fds[2] = { results_fd, kept_fd };
        struct error err = ERROR_NONE;

        if (server_confinement_enter(fds, 2, 4096, &err) < 0 || server_confinement_close(&err) < 0)
                _exit(EXIT_FAILURE);
        kept_fd = fds[1];
        try_all(fds[0]);
        _exit(EXIT_SUCCESS);
}

START_TEST(the_server_can_only_use_what_it_has)
{
        uint8_t results[N_ATTEMPTS];
        int ends[2], status;
        pid_t pid;

        make_victim();
        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0)
                run_as_server(ends[1]);
        io_close(&ends[1]);
        take_results(ends[0], results);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, 0);
        for (int i = 0; i < N_ATTEMPTS; i++)
                ck_assert_msg(results[i] == (i == READ_KEPT || i == THREAD ? 0 : EPERM),
                              "attempt %d of the server: error %d", i, results[i]);
        io_close(&ends[0]);
        remove_victim();
}
END_TEST

/* A sanitizer's allocator ends a process that has no memory left. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Memory is used up before the last step, and the filter must be whole nevertheless. */
static int refuse_without_memory(void)
{
        const struct rlimit nothing_more = { .rlim_cur = 1 << 20, .rlim_max = 1 << 20 };
        char *const no_words[] = { NULL };
        size_t n_left = 0;

        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || setrlimit(RLIMIT_AS, &nothing_more) < 0)
                return 1;
        for (size_t n_bytes = 1 << 20; n_bytes >= 16; n_bytes /= 2)
                while (malloc(n_bytes)) /* NOLINT(clang-analyzer-unix.Malloc): it is meant to be lost */
                        n_left++;
        if (call_filter_enter(CALL_FILTER_BAN_FILES, NULL) < 0)
                return 2;
        if (execve("/bin/true", no_words, no_words) == 0 || errno != EPERM || kill(getppid(), 0) == 0 ||
            open(victim, O_RDONLY | O_CLOEXEC) >= 0)
                return 3;
        return n_left > 0 ? 0 : 4;
}

START_TEST(the_filter_needs_no_memory)
{
        int status;
        pid_t pid;

        make_victim();
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0)
                _exit(refuse_without_memory());
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, 0);
        remove_victim();
}
END_TEST
#endif

static int answer_by_trying(void *context, const struct web_question *question, const char *before,
                            int names_fd)
{
        (void)context;
        (void)before;
        (void)names_fd;
        (void)question;
        kept_fd = open("/dev/null", O_RDONLY | O_CLOEXEC); /* all others were closed */
        try_all(STDOUT_FILENO);
        return EXIT_SUCCESS;
}

START_TEST(an_answer_reads_files_and_changes_none)
{
        const struct web_answers answers = { .run = answer_by_trying };
        bool has_landlock = landlock_version() > 0;
        const uint8_t expected[N_ATTEMPTS] = {
                [MAKE_FILE] = EACCES, [REMOVE_FILE] = EPERM, [CONNECT] = EPERM,   [LOCAL_SOCKET] = EPERM,
                [PROGRAM] = EPERM,    [MEMORY] = EPERM,      [NAMESPACE] = EPERM, [NEW_NAMESPACE] = EPERM,
                [KEY] = EPERM,        [TYPE] = EPERM,        [PASTE] = EPERM,
        };
        uint8_t results[N_ATTEMPTS];
        struct web_question question;
        struct answer_process process;
        struct error err = ERROR_NONE;

        make_victim();
        web_question_init(&question);
        ck_assert_int_eq(answer_process_start(&process, &answers, &question, NULL, -1, &err), 0);
        take_results(process.out_fd, results);
        (void)answer_process_stop(&process);
        for (int i = 0; i < N_ATTEMPTS; i++)
                ck_assert_msg(results[i] == expected[i] || i == SIGNAL || (i == MAKE_FILE && !has_landlock),
                              "attempt %d of an answer: error %d, not %d", i, results[i], expected[i]);
        web_question_deinit(&question);
        remove_victim();
}
END_TEST

/* qemu's user-mode emulation answers so, too; it ignores RLIMIT_AS as well, so memory would have no end. */
static void begin(int argc, char **argv)
{
        (void)argc;
        (void)argv;
        if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0)
                unit_test_skip_all("this kernel, or what emulates it, has no seccomp filters");
}

UNIT_TEST_PLAN(.begin = begin);
