/* SPDX-License-Identifier: MIT */
#include "sampler/rights/system_calls.h"

#include "base/error.h"
#include "base/io.h"
#include "sampler/pace/pace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * As in <linux/fs.h> since Linux 6.11: asks for the build-ids of the files that another process has mapped.
 */
#define PROCMAP_QUERY_NUMBER _IOC(_IOC_READ | _IOC_WRITE, 'f', 17, 104)

#define PERF_IOCTL_TYPE ((unsigned)'$' << _IOC_TYPESHIFT)
#define IOCTL_TYPE_MASK ((unsigned)_IOC_TYPEMASK << _IOC_TYPESHIFT)

/* These calls are allowed with any arguments.  Names that a machine does not have are passed over. */
static const int allowed[] = {
        /* open files: rings, regions, pipes, the trace */
        SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(preadv), SCMP_SYS(write),
        SCMP_SYS(writev), SCMP_SYS(pwrite64), SCMP_SYS(pwritev), SCMP_SYS(lseek), SCMP_SYS(ftruncate),
        SCMP_SYS(fallocate), SCMP_SYS(fsync), SCMP_SYS(fdatasync), SCMP_SYS(close), SCMP_SYS(close_range),
        SCMP_SYS(dup), SCMP_SYS(dup2), SCMP_SYS(dup3), SCMP_SYS(fcntl), SCMP_SYS(pipe), SCMP_SYS(pipe2),
        /* waiting */
        SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait),
        SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(select), SCMP_SYS(pselect6), SCMP_SYS(eventfd2),
        SCMP_SYS(timerfd_create), SCMP_SYS(timerfd_settime), SCMP_SYS(timerfd_gettime), SCMP_SYS(signalfd4),
        SCMP_SYS(futex), SCMP_SYS(futex_waitv), SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep),
        SCMP_SYS(sched_yield), SCMP_SYS(restart_syscall),
        /* programs that hand in their regions, and the builder of tables */
        SCMP_SYS(accept4), SCMP_SYS(recvmsg), SCMP_SYS(recvfrom), SCMP_SYS(sendmsg), SCMP_SYS(sendto),
        SCMP_SYS(getsockopt), SCMP_SYS(shutdown),
        /* looking at files; opening them is below */
        SCMP_SYS(stat), SCMP_SYS(fstat), SCMP_SYS(lstat), SCMP_SYS(newfstatat), SCMP_SYS(statx),
        SCMP_SYS(statfs), SCMP_SYS(fstatfs), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(readlink),
        SCMP_SYS(readlinkat), SCMP_SYS(getdents64), SCMP_SYS(getcwd), SCMP_SYS(fadvise64),
        /* removing an empty trace, and the cgroup's folder */
        SCMP_SYS(unlink), SCMP_SYS(unlinkat), SCMP_SYS(rmdir), SCMP_SYS(rename), SCMP_SYS(renameat),
        SCMP_SYS(renameat2),
        /* memory; mmap and mprotect are below */
        SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(memfd_create),
        /* other processes */
        SCMP_SYS(process_vm_readv), SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_send_signal), SCMP_SYS(kill),
        SCMP_SYS(tgkill), SCMP_SYS(wait4), SCMP_SYS(waitid),
        /* ourselves */
        SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(getpid), SCMP_SYS(getppid), SCMP_SYS(gettid),
        SCMP_SYS(getpgrp), SCMP_SYS(getpgid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid),
        SCMP_SYS(getegid), SCMP_SYS(getresuid), SCMP_SYS(getresgid), SCMP_SYS(getgroups), SCMP_SYS(getrlimit),
        SCMP_SYS(setrlimit), SCMP_SYS(getrusage), SCMP_SYS(times), SCMP_SYS(sysinfo), SCMP_SYS(uname),
        SCMP_SYS(getpriority), SCMP_SYS(setpriority), SCMP_SYS(sched_setattr), SCMP_SYS(sched_getaffinity),
        SCMP_SYS(sched_getparam), SCMP_SYS(sched_getscheduler), SCMP_SYS(getcpu), SCMP_SYS(getrandom),
        SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(time),
        SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigpending),
        SCMP_SYS(rt_sigtimedwait), SCMP_SYS(sigaltstack), SCMP_SYS(set_robust_list),
        SCMP_SYS(get_robust_list), SCMP_SYS(set_tid_address), SCMP_SYS(rseq), SCMP_SYS(membarrier),
        /* giving up more rights */
        SCMP_SYS(capget), SCMP_SYS(capset), SCMP_SYS(seccomp), SCMP_SYS(landlock_create_ruleset),
        SCMP_SYS(landlock_restrict_self),
#ifdef __SANITIZE_ADDRESS__
        SCMP_SYS(ptrace), SCMP_SYS(getdents), /* the search for leaks stops all threads */
#endif
};

/* libc falls back to other calls if these seem not to exist. */
static const int unknown[] = {
        SCMP_SYS(clone3),
        SCMP_SYS(openat2),
        SCMP_SYS(faccessat2),
        SCMP_SYS(epoll_pwait2),
};

/* A call that is allowed if (argument & mask) == value. */
struct condition {
        int call;
        unsigned argument;
        uint64_t mask, value;
};

#define EXACTLY UINT64_MAX

/* Flags that create or truncate a file; the O_DIRECTORY that is part of O_TMPFILE is not among them. */
#define MAKING ((uint64_t)O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))

#define NAMESPACES                                                                               \
        ((uint64_t)CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
         CLONE_NEWPID | CLONE_NEWNET)

static const struct condition conditions[] = {
        { SCMP_SYS(open), 1, MAKING, 0 },
        { SCMP_SYS(openat), 2, MAKING, 0 },
        /*
         * utimensat() may mark an open file (an entry of the cache) as used now, but no file by its name.
         */
        { SCMP_SYS(utimensat), 1, EXACTLY, 0 },
        /* No new code. */
        { SCMP_SYS(mmap), 2, PROT_EXEC, 0 },
        { SCMP_SYS(mprotect), 2, PROT_EXEC, 0 },
        /* Children and threads, but no namespaces: in a new one a process has all capabilities. */
        { SCMP_SYS(clone), 0, NAMESPACES, 0 },
        { SCMP_SYS(prlimit64), 0, EXACTLY, 0 },
        { SCMP_SYS(socketpair), 0, EXACTLY, AF_UNIX },
        /* For terminals, only queries. */
        { SCMP_SYS(ioctl), 1, EXACTLY, TCGETS },
        { SCMP_SYS(ioctl), 1, EXACTLY, TIOCGPGRP },
        { SCMP_SYS(ioctl), 1, EXACTLY, TIOCGWINSZ },
        { SCMP_SYS(ioctl), 1, EXACTLY, PROCMAP_QUERY_NUMBER },
        { SCMP_SYS(ioctl), 1, EXACTLY, FS_IOC_GETVERSION },
        { SCMP_SYS(ioctl), 1, IOCTL_TYPE_MASK, PERF_IOCTL_TYPE },
        /* Maps that are open; nothing is loaded. */
        { SCMP_SYS(bpf), 0, EXACTLY, BPF_MAP_LOOKUP_ELEM },
        { SCMP_SYS(bpf), 0, EXACTLY, BPF_MAP_UPDATE_ELEM },
        { SCMP_SYS(bpf), 0, EXACTLY, BPF_MAP_DELETE_ELEM },
        { SCMP_SYS(bpf), 0, EXACTLY, BPF_MAP_GET_NEXT_KEY },
        { SCMP_SYS(bpf), 0, EXACTLY, BPF_MAP_LOOKUP_AND_DELETE_ELEM },
        { SCMP_SYS(bpf), 0, EXACTLY, BPF_MAP_LOOKUP_BATCH },
        /* The calls that base/confinement.c and names of threads need. */
        { SCMP_SYS(prctl), 0, EXACTLY, PR_SET_NAME },
        { SCMP_SYS(prctl), 0, EXACTLY, PR_GET_NAME },
        { SCMP_SYS(prctl), 0, EXACTLY, PR_SET_NO_NEW_PRIVS },
        { SCMP_SYS(prctl), 0, EXACTLY, PR_GET_NO_NEW_PRIVS },
        { SCMP_SYS(prctl), 0, EXACTLY, PR_CAPBSET_DROP },
        { SCMP_SYS(prctl), 0, EXACTLY, PR_CAPBSET_READ },
        { SCMP_SYS(prctl), 0, EXACTLY, PR_CAP_AMBIENT },
        { SCMP_SYS(prctl), 0, EXACTLY, PR_SET_DUMPABLE },
        { SCMP_SYS(prctl), 0, EXACTLY, PR_GET_DUMPABLE },
        { SCMP_SYS(prctl), 0, EXACTLY, PR_SET_PDEATHSIG },
        { SCMP_SYS(prctl), 0, EXACTLY, PR_GET_SECCOMP },
        { SCMP_SYS(prctl), 0, EXACTLY, PR_SET_VMA },
};

static int add_rules(scmp_filter_ctx filter)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < sizeof(allowed) / sizeof(allowed[0]); i++)
                r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
        for (size_t i = 0; r == 0 && i < sizeof(unknown) / sizeof(unknown[0]); i++)
                r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), unknown[i], 0);
        for (size_t i = 0; r == 0 && i < sizeof(conditions) / sizeof(conditions[0]); i++) {
                const struct condition *c = &conditions[i];
                struct scmp_arg_cmp compare = {
                        .arg = c->argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = c->mask, .datum_b = c->value
                };

                r = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, c->call, 1, &compare);
        }
        return r;
}

/* ---- whether the filter is what it should be ----------------------------------------------------------- */

#define REFUSED     (SECCOMP_RET_ERRNO | EPERM)
#define NOT_THERE   (SECCOMP_RET_ERRNO | ENOSYS)
#define NUMBERS_MAX 1024 /* no machine has a call with this number */

/* The result by the lists above. */
static uint32_t find_result(const struct seccomp_data *data)
{
        for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
                if (allowed[i] == data->nr)
                        return SECCOMP_RET_ALLOW;
        for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
                if (unknown[i] == data->nr)
                        return NOT_THERE;
        for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
                if (conditions[i].call == data->nr &&
                    (data->args[conditions[i].argument] & conditions[i].mask) == conditions[i].value)
                        return SECCOMP_RET_ALLOW;
        return REFUSED;
}

/*
 * Computes the filter's result.  Only the instructions that libseccomp uses are implemented; any other is
 * an error.
 */
static uint32_t run_filter(const struct sock_filter *filter, size_t n, const struct seccomp_data *data)
{
        uint32_t a = 0;

        for (size_t at = 0; at < n; at++) {
                uint32_t k = filter[at].k;

                switch (filter[at].code) {
                case BPF_LD | BPF_W | BPF_ABS:
                        if (k > sizeof(*data) - sizeof(a))
                                return SECCOMP_RET_KILL_PROCESS;
                        memcpy(&a, (const uint8_t *)data + k, sizeof(a));
                        break;
                case BPF_ALU | BPF_AND | BPF_K:
                        a &= k;
                        break;
                case BPF_JMP | BPF_JA:
                        at += k;
                        break;
                case BPF_JMP | BPF_JEQ | BPF_K:
                        at += a == k ? filter[at].jt : filter[at].jf;
                        break;
                case BPF_JMP | BPF_JGT | BPF_K:
                        at += a > k ? filter[at].jt : filter[at].jf;
                        break;
                case BPF_JMP | BPF_JGE | BPF_K:
                        at += a >= k ? filter[at].jt : filter[at].jf;
                        break;
                case BPF_JMP | BPF_JSET | BPF_K:
                        at += (a & k) != 0 ? filter[at].jt : filter[at].jf;
                        break;
                case BPF_RET | BPF_K:
                        return k;
                default:
                        return SECCOMP_RET_KILL_PROCESS;
                }
        }
        return SECCOMP_RET_KILL_PROCESS;
}

static bool is_right(const struct sock_filter *filter, size_t n, int call, unsigned argument, uint64_t value)
{
        struct seccomp_data data = { .nr = call, .arch = seccomp_arch_native() };

        data.args[argument] = value;
        return run_filter(filter, n, &data) == find_result(&data);
}

/*
 * If memory runs out, libseccomp may leave out calls without an error: under a filter that forbids waiting
 * or writing, the recorder would die.
 */
static bool is_as_listed(const struct sock_filter *filter, size_t n)
{
        for (int call = 0; call < NUMBERS_MAX; call++)
                if (!is_right(filter, n, call, 0, 0) || !is_right(filter, n, call, 0, UINT64_MAX))
                        return false;
        for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
                const struct condition *c = &conditions[i];

                if (c->call >= 0 &&
                    (!is_right(filter, n, c->call, c->argument, c->value) ||
                     !is_right(filter, n, c->call, c->argument, c->value ^ (c->mask & -c->mask)) ||
                     !is_right(filter, n, c->call, c->argument, c->value ^ c->mask)))
                        return false;
        }
        return true;
}

static int check_filter(int fd)
{
        const size_t n_max = BPF_MAXINSNS * sizeof(struct sock_filter);
        struct sock_filter *filter = malloc(n_max);
        size_t n_bytes = 0;
        int r = filter ? io_pread_full(fd, filter, n_max, 0, &n_bytes, NULL) : -ENOMEM;

        if (r == 0 && !is_as_listed(filter, n_bytes / sizeof(*filter)))
                r = -ENOMEM;
        free(filter);
        return r;
}

/* In the child.  Returns 0 or -errno. */
static int write_filter(int fd)
{
        const struct rlimit seconds = { .rlim_cur = PACE_FILTER_CPU_S, .rlim_max = PACE_FILTER_CPU_S };
        scmp_filter_ctx filter;
        int r;

        if (setrlimit(RLIMIT_CPU, &seconds) < 0)
                return -errno;
        filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
        if (!filter)
                return -ENOMEM;
        r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a tree, not a list */
        if (r == 0)
                r = add_rules(filter);
        if (r == 0)
                r = seccomp_export_bpf(filter, fd);
        seccomp_release(filter);
        return r < 0 ? r : check_filter(fd);
}

struct system_calls_maker system_calls_begin(void)
{
        struct system_calls_maker maker = { .fd = memfd_create("hyprof-filter", MFD_CLOEXEC) };

        if (maker.fd >= 0)
                maker.pid = fork();
        if (maker.fd >= 0 && maker.pid == 0)
                _exit(write_filter(maker.fd) < 0);
        return maker;
}

int system_calls_finish(struct system_calls_maker *maker, struct error *err)
{
        int fd = maker->fd, status = 0;
        bool is_made = maker->pid > 0 && waitpid(maker->pid, &status, 0) == maker->pid && WIFEXITED(status) &&
                       WEXITSTATUS(status) == 0;

        *maker = (struct system_calls_maker){ .fd = -1 };
        if (is_made)
                return fd;
        io_close(&fd);
        return error_set(err, -ENOMEM, "the filter of system calls could not be made");
}

static int load(struct sock_filter *instructions, size_t n_bytes, struct error *err)
{
        const struct sock_fprog program = { .len = (unsigned short)(n_bytes / sizeof(*instructions)),
                                            .filter = instructions };
        long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);

        if (r > 0) /* a thread that has another filter */
                return error_set(err, -EAGAIN, "cannot filter system calls of thread %ld", r);
        return r < 0 ? error_errno(err, "cannot filter system calls") : 0;
}

int system_calls_restrict(int filter_fd, struct error *err)
{
        const size_t n_max = BPF_MAXINSNS * sizeof(struct sock_filter);
        struct sock_filter *instructions;
        size_t n_bytes = 0;
        int r;

        if (filter_fd < 0)
                return error_set(err, -EBADF, "cannot filter system calls: there is no filter");
        instructions = malloc(n_max);
        if (!instructions)
                return error_set(err, -ENOMEM, "no memory for the filter of system calls");
        r = io_pread_full(filter_fd, instructions, n_max, 0, &n_bytes, err);
        if (r == 0)
                r = load(instructions, n_bytes, err);
        free(instructions);
        return r;
}
