/* SPDX-License-Identifier: MIT */
#include "sampler/recording/command.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "sampler/pace/pace.h"
#include "sampler/recording/command_cgroup.h"
#include "sampler/rights/privileges.h"
#include "sampler/zones/spare_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_FAILED     127
#define STATUS_BYTES_MAX 65536

/* Returns 0, -EACCES if there is a file that cannot be executed, -ENOENT. */
static int check_executable(const char *path)
{
        struct stat st;

        if (stat(path, &st) < 0)
                return errno == EACCES ? -EACCES : -ENOENT;
        return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

static int find_in_path(const char *name, char ret_path[PATH_MAX])
{
        const char *path = getenv("PATH"); /* NOLINT(concurrency-mt-unsafe): no thread here sets variables */
        int found = -ENOENT;

        if (name[0] == '\0') /* an empty name would match every folder in the path */
                return -ENOENT;
        if (!path)
                path = "/usr/local/bin:/bin:/usr/bin";
        while (true) {
                size_t n = strcspn(path, ":");
                int r = -ENOENT;

                if (snprintf(ret_path, PATH_MAX, "%.*s%s%s", (int)n, path, n > 0 ? "/" : "", name) < PATH_MAX)
                        r = check_executable(ret_path);
                if (r == 0)
                        return 0;
                if (r == -EACCES &&
                    access(ret_path, F_OK) == 0) /* otherwise we may not look into the folder itself */
                        found = r;
                if (path[n] == '\0')
                        return found;
                path += n + 1;
        }
}

int command_find(const char *name, struct error *err)
{
        char path[PATH_MAX];

        return command_find_file(name, path, err);
}

int command_find_file(const char *name, char ret_path[PATH_MAX], struct error *err)
{
        int r;

        if (strchr(name, '/')) {
                (void)snprintf(ret_path, PATH_MAX, "%s", name);
                r = check_executable(name);
        } else {
                r = find_in_path(name, ret_path);
        }

        if (r == -ENOENT)
                return error_set(err, r, "%s: command not found", name);
        if (r < 0)
                return error_set(err, r, "%s: found, but it cannot be executed", name);
        return 0;
}

/*
 * In the child: waits for the parent's byte, then becomes the program; if the pipe ends without a byte, the
 * parent is gone.
 */
static _Noreturn void run_child(const struct command_options *options, const int *fds)
{
        const char *const *environment = options->environment;
        int go_fd = fds[0], exec_fd = fds[1];
        ssize_t got;
        char byte;
        int code = 0;

        for (; environment[0] && code == 0; environment += 2)
                /* NOLINTNEXTLINE(concurrency-mt-unsafe): a forked child has one thread */
                code = setenv(environment[0], environment[1], 1) < 0 ? errno : 0;
        (void)pthread_sigmask(SIG_SETMASK, options->signals, NULL);
        do
                got = read(go_fd, &byte, 1);
        while (got < 0 && errno == EINTR);
        if (got != 1)
                _exit(CHILD_FAILED);
        if (code == 0 && options->as_root)
                code = -privileges_become_root(NULL);
        if (code == 0) {
                (void)execvp(options->argv[0], options->argv);
                code = errno;
        }
        (void)io_write_all(exec_fd, &code, sizeof(code), NULL);
        _exit(CHILD_FAILED);
}

int command_start(struct command *c, const struct command_options *options, struct error *err)
{
        int go[2] = { -1, -1 }, exec[2] = { -1, -1 };
        bool in_cgroup = false;
        pid_t pid;
        int r;

        *c = (struct command){ .pid_fd = -1, .go_fd = -1, .exec_fd = -1 };
        if (pipe2(go, O_CLOEXEC) < 0 || pipe2(exec, O_CLOEXEC) < 0) {
                r = error_errno(err, "pipe to the command");
                goto fail;
        }
        pid = options->cgroup_fd > 0 ? command_cgroup_fork(options->cgroup_fd) : -1;
        if (pid >= 0)
                in_cgroup = true;
        else
                pid = fork();
        if (pid < 0) {
                r = error_errno(err, "fork");
                goto fail;
        }
        if (pid == 0) {
                (void)close(go[1]);
                run_child(options, (const int[2]){ go[0], exec[1] });
        }
        io_close(&go[0]);
        io_close(&exec[1]);
        *c = (struct command){
                .pid = pid, .pid_fd = -1, .go_fd = go[1], .exec_fd = exec[0], .in_cgroup = in_cgroup
        };
        c->pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (c->pid_fd < 0) {
                r = error_errno(err, "pidfd of the command");
                command_deinit(c);
                return r;
        }
        (void)fcntl(c->pid_fd, F_SETFD, FD_CLOEXEC);
        return 0;

fail:
        for (int i = 0; i < 2; i++) {
                io_close(&go[i]);
                io_close(&exec[i]);
        }
        return r;
}

int command_go(struct command *c, struct error *err)
{
        size_t got;
        int code = 0;
        int r = io_write_all(c->go_fd, "", 1, err);

        if (r < 0)
                return r;
        io_close(&c->go_fd);
        /*
         * The child's end of this pipe closes at execve(2); if execve(2) fails, the child writes the reason
         * before.
         */
        r = io_read_full(c->exec_fd, &code, sizeof(code), &got, err);
        io_close(&c->exec_fd);
        if (r < 0)
                return r;
        if (got == sizeof(code) && code > 0) {
                (void)command_reap(c, true);
                errno = code;
                return error_errno(err, "cannot execute the command");
        }
        return 0;
}

static uint64_t count_ns(struct timeval time)
{
        return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_usec * 1000;
}

int command_reap(struct command *c, bool block)
{
        struct rusage usage;
        pid_t r;

        if (c->reaped || c->pid == 0)
                return 1;
        do
                r = wait4(c->pid, &c->wait_status, block ? 0 : WNOHANG, &usage);
        while (r < 0 && errno == EINTR);
        /* A process that is no longer our child (SIGCHLD is ignored) has ended as well. */
        c->reaped = r == c->pid || r < 0;
        if (r == c->pid) {
                c->kernel_ns = count_ns(usage.ru_stime);
                c->cpu_ns = count_ns(usage.ru_utime) + c->kernel_ns;
        }
        return c->reaped;
}

void command_hand_on(pid_t pid, const struct signalfd_siginfo *info, struct command_urge *urge)
{
        if (info->ssi_code != SI_USER)
                return;
        urge->n_signals++;
        if (urge->signal == 0 && (info->ssi_signo == SIGTERM || urge->n_signals > 1)) {
                urge->signal = (int)info->ssi_signo;
                urge->since_ns = clock_raw_ns();
        }
        if (pid > 0)
                (void)kill(pid, (int)info->ssi_signo);
}

bool command_catches(const struct command *c, int signal)
{
        static const char name[] = "\nSigCgt:";
        struct byte_buffer text = { .data = NULL };
        char path[64];
        const char *at = NULL;
        uint64_t caught = 0;

        if (c->reaped || c->pid <= 0)
                return false;
        (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)c->pid);
        if (io_read_file(AT_FDCWD, path, STATUS_BYTES_MAX, &text, NULL) == 0)
                at = strstr((const char *)text.data, name);
        if (at)
                caught = strtoull(at + sizeof(name) - 1, NULL, 16);
        byte_buffer_deinit(&text);
        return caught >> (signal - 1) & 1;
}

/* Milliseconds that the command may still take; -1 = no limit. */
static int time_left(const struct command_urge *urge)
{
        uint64_t now_ns = clock_raw_ns(), end_ns = urge->since_ns + PACE_END_URGED_NS;

        if (urge->signal == 0)
                return -1;
        return now_ns < end_ns ? (int)((end_ns - now_ns) / NS_PER_MS) + 1 : 0;
}

int command_wait(pid_t pid, int signal_fd, struct command_urge *urge)
{
        struct command command = { .pid = pid, .pid_fd = -1, .go_fd = -1, .exec_fd = -1 };
        struct signalfd_siginfo info;
        bool is_over = false;

        command.pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
        while (!command_reap(&command, command.pid_fd < 0) && !is_over) {
                struct pollfd fds[2] = { { .fd = command.pid_fd, .events = POLLIN },
                                         { .fd = signal_fd, .events = POLLIN } };

                (void)poll(fds, 2, time_left(urge));
                while (read(signal_fd, &info, sizeof(info)) == sizeof(info))
                        command_hand_on(pid, &info, urge);
                is_over = time_left(urge) == 0;
        }
        io_close(&command.pid_fd);
        return command.reaped ? command.wait_status : urge->signal;
}

bool command_has_stopped(struct command *c)
{
        siginfo_t info = { .si_pid = 0 };

        return !c->reaped && c->pid > 0 &&
               waitid(P_PID, (id_t)c->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid == c->pid;
}

void command_deinit(struct command *c)
{
        if (c->pid > 0 && c->go_fd >= 0) {
                (void)kill(c->pid, SIGKILL);
                (void)command_reap(c, true);
        }
        io_close(&c->go_fd);
        io_close(&c->exec_fd);
        io_close(&c->pid_fd);
}

/* ---- environment --------------------------------------------------------------------------------------- */

static void add_pair(struct command_environment *e, const char *name, const char *value)
{
        e->pairs[e->n++] = name;
        e->pairs[e->n++] = value;
}

/* HYPROF_RING sets another ring size for clients of ABI 1.0, which have rings alone. */
void command_environment_add_rings(struct command_environment *e, uint64_t wanted_bytes)
{
        struct spare_memory spare;

        spare_memory_init(&spare, wanted_bytes);
        (void)snprintf(e->spare_bytes, sizeof(e->spare_bytes), "%" PRIu64,
                       spare_memory_of_process(&spare, 0));
        add_pair(e, "HYPROF_SPARE", e->spare_bytes);
        if (wanted_bytes == 0)
                return;
        (void)snprintf(e->ring_bytes, sizeof(e->ring_bytes), "%" PRIu64,
                       spare_memory_old_ring_bytes(wanted_bytes));
        add_pair(e, "HYPROF_RING", e->ring_bytes);
}

void command_environment_add_recording(struct command_environment *e, uint32_t families, const char *recorder)
{
        (void)snprintf(e->families, sizeof(e->families), "%" PRIu32, families);
        add_pair(e, "HYPROF_RECORD", e->families);
        add_pair(e, "HYPROF_RECORDER", recorder);
}

void command_environment_add_pairs(struct command_environment *e, const char *const *pairs)
{
        const size_t n_max = sizeof(e->pairs) / sizeof(e->pairs[0]) - 1;

        for (; pairs && pairs[0] && e->n + 2 <= n_max; pairs += 2)
                add_pair(e, pairs[0], pairs[1]);
}
