/* SPDX-License-Identifier: MIT */
/*
 * sampler/rights/system_calls.c: what a recorder has no use for fails, in all threads and children; what
 * it uses goes on to work
 */
#include "base/error.h"
#include "sampler/rights/system_calls.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* A call with arguments that would do no harm, and how it has to fail. */
struct forbidden {
        const char *name;
        long number;
        long arguments[4];
        int code;
};

static const struct forbidden forbidden[] = {
        { "execve", SYS_execve, { 0 }, EPERM },
        { "execveat", SYS_execveat, { -1 }, EPERM },
#ifndef __SANITIZE_ADDRESS__
        { "ptrace", SYS_ptrace, { PTRACE_CONT, -1 }, EPERM },
#endif
        { "process_vm_writev", SYS_process_vm_writev, { -1 }, EPERM },
        { "perf_event_open", SYS_perf_event_open, { 0 }, EPERM },
        { "bpf: load", SYS_bpf, { BPF_PROG_LOAD, 0, 0 }, EPERM },
        { "bpf: map", SYS_bpf, { BPF_MAP_CREATE, 0, 0 }, EPERM },
        { "socket", SYS_socket, { AF_INET, SOCK_STREAM, 0 }, EPERM },
        { "socket: local", SYS_socket, { AF_UNIX, SOCK_STREAM, 0 }, EPERM },
        { "socketpair: not local", SYS_socketpair, { AF_INET, SOCK_STREAM, 0, 0 }, EPERM },
        { "connect", SYS_connect, { -1 }, EPERM },
        { "mount", SYS_mount, { 0 }, EPERM },
        { "unshare", SYS_unshare, { 0 }, EPERM },
        { "setns", SYS_setns, { -1 }, EPERM },
        { "clone: user namespace", SYS_clone, { CLONE_NEWUSER | SIGCHLD }, EPERM },
        { "clone3", SYS_clone3, { 0, 0 }, ENOSYS },
        { "setuid", SYS_setuid, { 0 }, EPERM },
        { "setresgid", SYS_setresgid, { 0, 0, 0 }, EPERM },
        { "setgroups", SYS_setgroups, { 0, 0 }, EPERM },
        { "chroot", SYS_chroot, { 0 }, EPERM },
        { "fchmodat", SYS_fchmodat, { AT_FDCWD, 0, 0 }, EPERM },
        { "fchownat", SYS_fchownat, { AT_FDCWD, 0, 0 }, EPERM },
        { "linkat", SYS_linkat, { AT_FDCWD, 0, AT_FDCWD, 0 }, EPERM },
        { "symlinkat", SYS_symlinkat, { 0, AT_FDCWD, 0 }, EPERM },
        { "mkdirat", SYS_mkdirat, { AT_FDCWD, 0, 0 }, EPERM },
        { "utimensat: by name", SYS_utimensat, { AT_FDCWD, 1, 0, 0 }, EPERM },
        { "openat: a new file", SYS_openat, { AT_FDCWD, 0, O_WRONLY | O_CREAT }, EPERM },
        { "openat: emptied", SYS_openat, { AT_FDCWD, 0, O_WRONLY | O_TRUNC }, EPERM },
        { "openat: without a name", SYS_openat, { AT_FDCWD, 0, O_TMPFILE | O_RDWR }, EPERM },
        { "openat2", SYS_openat2, { AT_FDCWD, 0, 0, 0 }, ENOSYS },
        { "mmap: code", SYS_mmap, { 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS }, EPERM },
        { "mprotect: code", SYS_mprotect, { 0, 4096, PROT_READ | PROT_EXEC }, EPERM },
        { "ioctl: type into the terminal", SYS_ioctl, { 0, TIOCSTI, 0 }, EPERM },
        { "prctl: let others trace", SYS_prctl, { PR_SET_PTRACER, 1 }, EPERM },
        { "prlimit: another process's", SYS_prlimit64, { 1, RLIMIT_CORE, 0, 0 }, EPERM },
        { "io_uring_setup", SYS_io_uring_setup, { 0, 0 }, EPERM },
        { "init_module", SYS_init_module, { 0, 0, 0 }, EPERM },
        { "kexec_load", SYS_kexec_load, { 0, 0, 0, 0 }, EPERM },
        { "a number that no kernel has", 100000, { 0 }, EPERM },
};

/* Nonzero: the index of what was not refused as it should, plus one. */
static int find_permitted(void)
{
        for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
                const struct forbidden *f = &forbidden[i];
                long r = syscall(f->number, f->arguments[0], f->arguments[1], f->arguments[2],
                                 f->arguments[3], -1, 0);

                if (r != -1 || errno != f->code) {
                        dprintf(STDERR_FILENO, "%s: %ld, errno %d\n", f->name, r, errno);
                        return (int)i + 1;
                }
        }
        return 0;
}

#define EXPECT(condition)                                                              \
        do                                                                             \
                if (!(condition)) {                                                    \
                        dprintf(STDERR_FILENO, "line %d: %s\n", __LINE__, #condition); \
                        _exit(EXIT_FAILURE);                                           \
                }                                                                      \
        while (0)

static void run_in_child(void (*body)(void))
{
        pid_t pid = fork();
        int status;

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                body();
                _exit(EXIT_SUCCESS);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
}

static int make_filter(struct error *err)
{
        struct system_calls_maker maker = system_calls_begin();

        return system_calls_finish(&maker, err);
}

static void restrict_us(void)
{
        struct error err = ERROR_NONE;

        EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
        if (system_calls_restrict(make_filter(&err), &err) < 0)
                dprintf(STDERR_FILENO, "%s\n", err.text);
        EXPECT(err.code == 0);
}

/* Without a filter there is an error, and nothing changes. */
static void restrict_without_filter(void)
{
        struct error err = ERROR_NONE;

        EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
        EXPECT(system_calls_restrict(-1, &err) == -EBADF && err.code == -EBADF);
        EXPECT(prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0);
}

static void refuse(void)
{
        restrict_us();
        EXPECT(find_permitted() == 0);
}

/* A thread that was there before waits for the filter, and is under it. */
struct waiting_thread {
        int fds[2], ready[2];
        int found;
};

static void *look_later(void *context)
{
        struct waiting_thread *t = context;
        char byte;

        EXPECT(write(t->ready[1], "", 1) == 1);
        t->found = read(t->fds[0], &byte, 1) == 1 ? find_permitted() : -1;
        return NULL;
}

/* A sanitizer takes locks while a thread begins, which a child that is forked then would wait for. */
static void refuse_threads(void)
{
        struct waiting_thread t = { .found = -1 };
        pthread_t thread;
        char byte;

        EXPECT(pipe2(t.fds, O_CLOEXEC) == 0 && pipe2(t.ready, O_CLOEXEC) == 0);
        EXPECT(pthread_create(&thread, NULL, look_later, &t) == 0);
        EXPECT(read(t.ready[0], &byte, 1) == 1);
        restrict_us();
        EXPECT(write(t.fds[1], "", 1) == 1);
        EXPECT(pthread_join(thread, NULL) == 0);
        EXPECT(t.found == 0);
}

static void *do_nothing(void *context)
{
        return context;
}

static void refuse_children(void)
{
        pid_t pid;
        int status;

        restrict_us();
        pid = fork();
        if (pid == 0)
                _exit(find_permitted() == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
        EXPECT(pid > 0 && waitpid(pid, &status, 0) == pid);
        EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
}

static void go_on(void)
{
        struct rlimit limit;
        struct iovec one = { .iov_base = &limit, .iov_len = 1 };
        char byte = 0;
        struct iovec here = { .iov_base = &byte, .iov_len = 1 };
        pthread_t thread;
        void *memory;
        int fd, pair[2];

        restrict_us();
        fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
        EXPECT(fd >= 0 && read(fd, &byte, 1) == 1 && close(fd) == 0);
        fd = memfd_create("x", MFD_CLOEXEC);
        EXPECT(fd >= 0 && ftruncate(fd, 4096) == 0 && futimens(fd, NULL) == 0);
        memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        EXPECT(memory != MAP_FAILED && munmap(memory, 4096) == 0);
        EXPECT(process_vm_readv(getpid(), &here, 1, &one, 1, 0) == 1);
        EXPECT(pthread_create(&thread, NULL, do_nothing, NULL) == 0); /* clone3 is not there */
        EXPECT(pthread_join(thread, NULL) == 0);
        EXPECT(getrlimit(RLIMIT_CORE, &limit) == 0 && setrlimit(RLIMIT_CORE, &limit) == 0);
        EXPECT(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
        EXPECT(unlink("/proc/self/nothing") < 0 && errno != EPERM);
        memory = malloc(1 << 20);
        EXPECT(memory);
        free(memory);
}

static void (*const bodies[])(void) = { restrict_without_filter, refuse, refuse_threads, refuse_children,
                                        go_on };

/* loop test */
START_LOOP_TEST(test_filter, 0, sizeof(bodies) / sizeof(bodies[0]))
{
        run_in_child(bodies[_i]);
}
END_TEST
