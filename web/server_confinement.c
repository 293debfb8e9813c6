/* SPDX-License-Identifier: MIT */
#include "web/server_confinement.h"

#include "base/confinement.h"
#include "base/error.h"
#include "base/landlock.h"

#include <errno.h>
#include <seccomp.h>
#include <signal.h>

/* Threads are made by clone(2), which stays; a new process would be confined like this one. */
static const int refused[] = {
        SCMP_SYS(open),
        SCMP_SYS(openat),
        SCMP_SYS(openat2),
        SCMP_SYS(open_by_handle_at),
        SCMP_SYS(creat),
        SCMP_SYS(execve),
        SCMP_SYS(execveat),
        SCMP_SYS(socket),
        SCMP_SYS(bind),
        SCMP_SYS(connect),
        SCMP_SYS(listen),
        SCMP_SYS(ptrace),
        SCMP_SYS(kill),
        SCMP_SYS(tkill),
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
        SCMP_SYS(mount),
        SCMP_SYS(bpf),
        SCMP_SYS(io_uring_setup),
        SCMP_SYS(userfaultfd),
        SCMP_SYS(perf_event_open),
        SCMP_SYS(chmod),
        SCMP_SYS(fchmodat),
        SCMP_SYS(process_vm_readv),
        SCMP_SYS(process_vm_writev),
};

int server_confinement_enter(int *fds, size_t n_fds, uint64_t file_bytes_max, struct error *err)
{
        int r = confinement_enter_serving((struct confinement_user){ 0, 0 }, fds, n_fds, file_bytes_max, err);

        if (r < 0)
                return r;
        (void)signal(SIGINT, SIG_IGN);
        (void)signal(SIGHUP, SIG_IGN);
        (void)signal(SIGPIPE, SIG_IGN);
        (void)landlock_restrict(
                LANDLOCK_BAN_CHANGES); /* where the kernel has it: the rest holds without it */
        return 0;
}

int server_confinement_close(struct error *err)
{
        scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
        int r = filter ? 0 : -ENOMEM;

        (void)landlock_restrict(LANDLOCK_BAN_FILES);
        for (size_t i = 0; r == 0 && i < sizeof(refused) / sizeof(refused[0]); i++) {
                r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
                if (r == -EDOM || r == -EFAULT)
                        r = 0; /* a name that this machine does not have */
        }
        if (r == 0)
                r = seccomp_load(filter);
        if (filter)
                seccomp_release(filter);
        return r < 0 ? error_set(err, r, "the filter of system calls") : 0;
}
