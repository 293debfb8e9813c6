/* SPDX-License-Identifier: MIT */
/*
 * The filter is built here and not by libseccomp, which allocates memory.  It is entered after fork(2), in
 * a process that may have no memory left; libseccomp may then silently leave out calls.  Only the numbers
 * of the calls come from the library.
 */
#include "base/call_filter.h"

#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#define ARCHITECTURE 0 /* no filter */
#endif

#define OTHER_CALLS UINT32_C(0x40000000) /* from here on: those of x32, under the same architecture */
#define STEPS_MAX   200

/* No parser needs these, whatever it writes: other programs and processes, and doors into the kernel. */
static const int programs[] = {
        SCMP_SYS(execve),
        SCMP_SYS(execveat),
#ifndef __SANITIZE_ADDRESS__ /* whose search for leaks traces the process */
        SCMP_SYS(ptrace),
#endif
        SCMP_SYS(process_vm_readv),
        SCMP_SYS(process_vm_writev),
        SCMP_SYS(pidfd_getfd),
        SCMP_SYS(mount),
        SCMP_SYS(chroot),
        SCMP_SYS(unshare),
        SCMP_SYS(setns),
        SCMP_SYS(bpf),
        SCMP_SYS(io_uring_setup),
        SCMP_SYS(userfaultfd),
        SCMP_SYS(perf_event_open),
        SCMP_SYS(keyctl),
        SCMP_SYS(add_key),
        SCMP_SYS(request_key),
        SCMP_SYS(init_module),
        SCMP_SYS(finit_module),
        SCMP_SYS(open_by_handle_at),
};

static const int network[] = {
        SCMP_SYS(socket),
        SCMP_SYS(bind),
        SCMP_SYS(connect),
        SCMP_SYS(listen),
};

static const int changes[] = {
        SCMP_SYS(unlink),   SCMP_SYS(unlinkat), SCMP_SYS(rename),  SCMP_SYS(renameat),  SCMP_SYS(renameat2),
        SCMP_SYS(link),     SCMP_SYS(linkat),   SCMP_SYS(symlink), SCMP_SYS(symlinkat), SCMP_SYS(mkdir),
        SCMP_SYS(mkdirat),  SCMP_SYS(rmdir),    SCMP_SYS(mknod),   SCMP_SYS(mknodat),   SCMP_SYS(chmod),
        SCMP_SYS(fchmodat), SCMP_SYS(chown),    SCMP_SYS(lchown),  SCMP_SYS(fchownat),  SCMP_SYS(truncate),
};

/* tgkill(2) stays: abort(3) needs it. */
static const int files[] = {
        SCMP_SYS(open),  SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(creat),           SCMP_SYS(fork),
        SCMP_SYS(vfork), SCMP_SYS(kill),   SCMP_SYS(tkill),   SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(pidfd_open),
};

/* A program for the kernel's filter, while it is being built. */
struct call_program {
        struct sock_filter steps[STEPS_MAX];
        unsigned short n_steps;
};

static void add_step(struct call_program *p, struct sock_filter step)
{
        assert(p->n_steps < STEPS_MAX);
        p->steps[p->n_steps++] = step;
}

static void add_load(struct call_program *p, size_t at)
{
        add_step(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)at));
}

/* Skips the next step unless the comparison @how of the loaded value with @value holds. */
static void add_unless(struct call_program *p, unsigned short how, uint32_t value)
{
        add_step(p, (struct sock_filter)BPF_JUMP((unsigned short)(BPF_JMP | how | BPF_K), value, 0, 1));
}

static void add_refusal(struct call_program *p, int code)
{
        add_step(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)code));
}

static void refuse_call(struct call_program *p, int call, int code)
{
        if (call < 0) /* a name that this machine does not have */
                return;
        add_unless(p, BPF_JEQ, (uint32_t)call);
        add_refusal(p, code);
}

static void refuse_calls(struct call_program *p, const int *calls, size_t n_calls)
{
        for (size_t i = 0; i < n_calls; i++)
                refuse_call(p, calls[i], EPERM);
}

/* Refuses @call if its argument @i is one of @values: the low half, as the kernel takes ints. */
static void refuse_argument(struct call_program *p, int call, unsigned i, const uint32_t *values, size_t n)
{
        add_step(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0,
                                                 (unsigned char)(2 * n + 2)));
        add_load(p, offsetof(struct seccomp_data, args) + i * sizeof(uint64_t)); /* little endian */
        for (size_t k = 0; k < n; k++) {
                add_unless(p, BPF_JEQ, values[k]);
                add_refusal(p, EPERM);
        }
        add_step(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

/*
 * A shell runs the words that its terminal is told to type or to paste; that is often a standard stream.
 * Servers of the user, as tmux and D-Bus, start programs for others that connect to them by a file's name.
 */
static void refuse_ways_to_programs(struct call_program *p)
{
        static const uint32_t typing[] = { TIOCSTI, TIOCLINUX }, local[] = { AF_UNIX };

        refuse_argument(p, SCMP_SYS(ioctl), 1, typing, sizeof(typing) / sizeof(typing[0]));
        refuse_argument(p, SCMP_SYS(socket), 0, local, sizeof(local) / sizeof(local[0]));
}

/* The namespaces of clone(2), of which CLONE_NEWUSER gives rights within it. */
#define NAMESPACES                                                                                           \
        ((uint32_t)CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | \
         CLONE_NEWCGROUP)

/*
 * Refuses clone(2) with namespaces, and for others than threads if @only_threads.  clone3(2) is refused,
 * because no filter sees its flags, and callers fall back to clone(2).  Comes last: it loads another word.
 */
static void limit_clone(struct call_program *p, bool only_threads)
{
        unsigned char n_steps = only_threads ? 5 : 3;

        refuse_call(p, SCMP_SYS(clone3), ENOSYS);
        add_step(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)SCMP_SYS(clone), 0,
                                                 n_steps));
        /* The low half of the flags: all three architectures are little endian. */
        add_load(p, offsetof(struct seccomp_data, args));
        add_unless(p, BPF_JSET, NAMESPACES);
        add_refusal(p, EPERM);
        if (!only_threads)
                return;
        add_step(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
        add_refusal(p, EPERM);
}

int call_filter_enter(enum call_filter_ban ban, struct error *err)
{
        struct call_program p = { .n_steps = 0 };
        struct sock_fprog program = { .filter = p.steps };
        long r;

        if (ARCHITECTURE == 0)
                return error_set(err, -ENOSYS, "no filter of system calls for this architecture");
        add_load(&p, offsetof(struct seccomp_data, arch));
        add_step(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
        add_step(&p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
        add_load(&p, offsetof(struct seccomp_data, nr));
        add_unless(&p, BPF_JGE, OTHER_CALLS);
        add_refusal(&p, EPERM);
        refuse_calls(&p, programs, sizeof(programs) / sizeof(programs[0]));
        if (ban >= CALL_FILTER_BAN_NETWORK)
                refuse_calls(&p, network, sizeof(network) / sizeof(network[0]));
        if (ban >= CALL_FILTER_BAN_CHANGES)
                refuse_calls(&p, changes, sizeof(changes) / sizeof(changes[0]));
        if (ban >= CALL_FILTER_BAN_FILES)
                refuse_calls(&p, files, sizeof(files) / sizeof(files[0]));
        refuse_ways_to_programs(&p);
        limit_clone(&p, ban >= CALL_FILTER_BAN_FILES);
        add_step(&p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
        program.len = p.n_steps;
        r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
        if (r < 0)
                return error_errno(err, "the filter of system calls");
        return r == 0 ? 0
                      : error_set(err, -ESRCH, "the filter of system calls: thread %ld has another one", r);
}
