/* SPDX-License-Identifier: MIT */
/*
 * w_without_perf ERRNO COMMAND...
 *
 * Truth: in COMMAND perf_event_open(2) fails with that error number, as any user: a filter of system calls
 * answers, as in containers.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
        unsigned code = argc > 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
        struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code & SECCOMP_RET_DATA)),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]), .filter = filter };

        if (code == 0)
                return EXIT_FAILURE;
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
                perror("w_without_perf: seccomp");
                return EXIT_FAILURE;
        }
        (void)execvp(argv[2], argv + 2);
        perror("w_without_perf: exec");
        return EXIT_FAILURE;
}
