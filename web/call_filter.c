/* SPDX-License-Identifier: MIT */
#include "web/call_filter.h"

#include "base/error.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>

static const int changes[] = {
        SCMP_SYS(execve),
        SCMP_SYS(execveat),
        SCMP_SYS(socket),
        SCMP_SYS(bind),
        SCMP_SYS(connect),
        SCMP_SYS(listen),
        SCMP_SYS(ptrace),
        SCMP_SYS(process_vm_readv),
        SCMP_SYS(process_vm_writev),
        SCMP_SYS(pidfd_open),
        SCMP_SYS(pidfd_getfd),
        SCMP_SYS(unlink),
        SCMP_SYS(unlinkat),
        SCMP_SYS(rename),
        SCMP_SYS(renameat),
        SCMP_SYS(renameat2),
        SCMP_SYS(link),
        SCMP_SYS(linkat),
        SCMP_SYS(symlink),
        SCMP_SYS(symlinkat),
        SCMP_SYS(mkdir),
        SCMP_SYS(mkdirat),
        SCMP_SYS(rmdir),
        SCMP_SYS(mknod),
        SCMP_SYS(mknodat),
        SCMP_SYS(chmod),
        SCMP_SYS(fchmodat),
        SCMP_SYS(chown),
        SCMP_SYS(lchown),
        SCMP_SYS(fchownat),
        SCMP_SYS(truncate),
        SCMP_SYS(mount),
        SCMP_SYS(bpf),
        SCMP_SYS(io_uring_setup),
        SCMP_SYS(userfaultfd),
        SCMP_SYS(perf_event_open),
};

/* tgkill(2) stays: abort(3) needs it. */
static const int files[] = {
        SCMP_SYS(open),    SCMP_SYS(openat),
        SCMP_SYS(openat2), SCMP_SYS(open_by_handle_at),
        SCMP_SYS(creat),   SCMP_SYS(fork),
        SCMP_SYS(vfork),   SCMP_SYS(kill),
        SCMP_SYS(tkill),   SCMP_SYS(rt_sigqueueinfo),
};

static int refuse_calls(scmp_filter_ctx filter, const int *calls, size_t n_calls)
{
        for (size_t i = 0; i < n_calls; i++) {
                int r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 0);

                if (r < 0 && r != -EDOM && r != -EFAULT) /* a name that this machine does not have */
                        return r;
        }
        return 0;
}

/* Threads are made by clone(2) as well: clone3(2), whose flags no filter sees, gives way to it. */
static int refuse_processes(scmp_filter_ctx filter)
{
        int r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));

        return r < 0 ? r : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

int call_filter_enter(enum call_filter_ban ban, struct error *err)
{
        scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
        int r = filter ? seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) : -ENOMEM;

        if (r == 0)
                r = refuse_calls(filter, changes, sizeof(changes) / sizeof(changes[0]));
        if (r == 0 && ban == CALL_FILTER_BAN_FILES)
                r = refuse_calls(filter, files, sizeof(files) / sizeof(files[0]));
        if (r == 0 && ban == CALL_FILTER_BAN_FILES)
                r = refuse_processes(filter);
        if (r == 0)
                r = seccomp_load(filter);
        if (filter)
                seccomp_release(filter);
        return r < 0 ? error_set(err, r, "the filter of system calls") : 0;
}
