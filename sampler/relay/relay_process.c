/* SPDX-License-Identifier: MIT */
#include "sampler/relay/relay_process.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "sampler/pace/pace.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIPE_BYTES (1 << 20)
#define TCP_TABLE  "/proc/net/tcp"

enum { FD_CONTROL, FD_INPUT, FD_LISTEN, FD_TCP, FD_FILE, N_FDS };

/* ---- the child ----------------------------------------------------------------------------------------- */

static _Noreturn void run_child(const struct relay_options *options, int *fds, uint64_t recording,
                                uint32_t uid)
{
        struct relay_server *s = calloc(1, sizeof(*s));
        struct error err = ERROR_NONE;

        if (!s || options->confine(fds, N_FDS, UINT64_MAX, &err) < 0)
                _exit(1);
        (void)prctl(PR_SET_NAME, "hyprof-relay", 0, 0, 0);
        (void)options->close(&err); /* where the kernel has no filter, the other confinements hold */
        *s = (struct relay_server){ .recording = recording,
                                    .uid = uid,
                                    .control_fd = fds[FD_CONTROL],
                                    .input_fd = fds[FD_INPUT],
                                    .listen_fd = fds[FD_LISTEN],
                                    .tcp_fd = fds[FD_TCP],
                                    .taker_fd = -1 };
        relay_shelf_init(&s->shelf, fds[FD_FILE], options->bytes_max, options->drops_newest);
        _exit(relay_server_run(s) < 0);
}

/* ---- the parent ---------------------------------------------------------------------------------------- */

/* In the order of the descriptors above. */
static int open_files(struct relay_process *p, int *fds, struct error *err)
{
        int control[2], input[2];

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0)
                return error_errno(err, "socketpair");
        p->control_fd = control[0];
        fds[FD_CONTROL] = control[1];
        if (pipe2(input, O_CLOEXEC) < 0)
                return error_errno(err, "pipe");
        p->pipe_fd = input[1];
        fds[FD_INPUT] = input[0];
        (void)fcntl(input[1], F_SETPIPE_SZ, PIPE_BYTES); /* a smaller one does as well */
        (void)fcntl(input[0], F_SETFL, O_NONBLOCK);
        fds[FD_LISTEN] = relay_address_listen(&p->address, err);
        if (fds[FD_LISTEN] < 0)
                return fds[FD_LISTEN];
        (void)fcntl(fds[FD_LISTEN], F_SETFL, O_NONBLOCK);
        if (p->address.path[0] == '\0')
                fds[FD_TCP] = open(TCP_TABLE, O_RDONLY | O_CLOEXEC);
        return 0;
}

int relay_process_start(struct relay_process *p, const struct relay_options *options, struct error *err)
{
        int fds[N_FDS] = { -1, -1, -1, -1, options->file_fd };
        uint32_t uid = geteuid();
        uint64_t recording = 0;
        int r;

        *p = (struct relay_process){ .address = *options->address, .pipe_fd = -1, .control_fd = -1 };
        while (recording == 0)
                if (getrandom(&recording, sizeof(recording), 0) < 0)
                        return error_errno(err, "getrandom");
        r = open_files(p, fds, err);
        if (r == 0) {
                p->pid = fork();
                if (p->pid == 0)
                        run_child(options, fds, recording, uid);
                if (p->pid < 0)
                        r = error_errno(err, "fork");
        }
        for (int i = 0; i < FD_FILE; i++)
                io_close(&fds[i]);
        if (r < 0)
                relay_process_stop(p);
        return r;
}

void relay_process_stop(struct relay_process *p)
{
        io_close(&p->pipe_fd);
        io_close(&p->control_fd);
        if (p->pid > 0)
                while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
                        ;
        if (p->pid > 0)
                relay_address_remove(&p->address);
        p->pid = 0;
}

/*
 * Waits for a report.  Returns 1 with a report in `last`, 0 after @timeout_ms or a stop, -EPIPE at the
 * process's end.
 */
static int next_report(struct relay_process *p, int timeout_ms, int stop_fd, bool *ret_stopped)
{
        struct pollfd fds[2] = { { .fd = p->control_fd, .events = POLLIN },
                                 { .fd = stop_fd, .events = POLLIN } };
        struct relay_report report;
        int n = poll(fds, 2, timeout_ms);

        *ret_stopped = n > 0 && fds[1].revents != 0;
        if (n <= 0 || fds[0].revents == 0)
                return 0;
        if (recv(p->control_fd, &report, sizeof(report), 0) != sizeof(report))
                return -EPIPE;
        p->last = report;
        return 1;
}

int relay_process_wait_taker(struct relay_process *p, struct error *err)
{
        bool stopped;
        int r;

        do
                r = next_report(p, -1, -1, &stopped);
        while (r == 0);
        return r == 1 ? 0 : error_set(err, -EPIPE, "the relay has ended");
}

static uint64_t add_time(uint64_t now_ns, uint64_t more_ns)
{
        return more_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + more_ns;
}

int relay_process_end(struct relay_process *p, uint64_t linger_ns, int stop_fd,
                      void (*on_wait)(void *context), void *context, struct error *err)
{
        uint64_t begin_ns = clock_raw_ns(), until_ns, now_ns;
        bool has_told = false, has_stopped = false, stopped;
        int r;

        until_ns = add_time(begin_ns, linger_ns);
        io_close(&p->pipe_fd);
        for (;;) {
                r = next_report(p, 100, has_stopped ? -1 : stop_fd, &stopped);
                if (r < 0)
                        return error_set(err, -EPIPE, "the relay ended before its time");
                if (r == 1 && p->last.news == RELAY_ENDED)
                        return 0;
                now_ns = clock_raw_ns();
                if (r == 1 && !has_stopped)
                        until_ns = add_time(now_ns, linger_ns);
                if (!has_told && !has_stopped && now_ns - begin_ns > PACE_RELAY_MOMENT_NS) {
                        on_wait(context);
                        has_told = true;
                }
                if (!has_stopped && (stopped || now_ns >= until_ns)) {
                        has_stopped = true;
                        until_ns = now_ns + PACE_RELAY_FINISH_NS;
                        (void)!send(p->control_fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
                } else if (has_stopped && now_ns >= until_ns) {
                        return error_set(err, -EPIPE, "the relay does not answer");
                }
        }
}
