/* SPDX-License-Identifier: MIT */
/*
 * with_uretprobe FILE OFFSET COMMAND... - runs a command while a uretprobe is on a function of a file
 *
 * Exits with the command's status.  With 77, and a line that says why, only where the kernel has no uprobes
 * or this user may not use them; any other failure has another status.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_PROBES 77

/* The status for it; perf_event_open(2) documents EACCES and EPERM for users that may not have it. */
static int refuse(const char *what, int code)
{
        (void)fprintf(stderr, "%s: %s\n", what, strerror(code));
        return code == EACCES || code == EPERM ? NO_PROBES : 1;
}

static int read_type(void)
{
        FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
        int type = -1;

        if (!file)
                return -1;
        if (fscanf(file, "%d", &type) != 1)
                type = -1;
        (void)fclose(file);
        return type;
}

int main(int argc, char **argv)
{
        int type = read_type(), status;
        struct perf_event_attr attr = { .size = sizeof(attr), .config = 1 /* at returns */ };
        pid_t child;

        if (argc < 4)
                return 1;
        if (type < 0) {
                (void)fputs("this kernel has no uprobes\n", stderr);
                return NO_PROBES;
        }
        attr.type = (uint32_t)type;
        attr.config1 = (uintptr_t)argv[1];
        attr.config2 = strtoull(argv[2], NULL, 16);
        for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
                if (syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC) < 0)
                        return refuse("a uretprobe", errno);
        child = fork();
        if (child == 0) {
                (void)execvp(argv[3], argv + 3);
                _exit(1);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
                return 1;
        if (WEXITSTATUS(status) == NO_PROBES) /* from the command, though probes exist */
                return 1;
        return WEXITSTATUS(status);
}
