/* SPDX-License-Identifier: MIT */
#include "cli/on_host/host_attendant.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "cli/exit_status.h"
#include "cli/on_host/host_session.h"
#include "cli/terminal/complaint.h"
#include "sampler/relay/relay_address.h"
#include "sampler/rights/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINGER_NS   (600 * NS_PER_S) /* after the recorder's end, without a connection */
#define LOOK_MS     200              /* how often the recorder's end is looked for */
#define SOCKET_MS   10000            /* for a socket to be there */
#define COPY_BYTES  65536
#define INPUT_MAX   (1U << 18) /* for a program that reads nothing: then none is read from the connection */
#define CURRENT_EXE "/proc/self/exe"

enum { WATCH_LISTEN, WATCH_TAKER, WATCH_OUT, WATCH_ERR, WATCH_INPUT, N_WATCHED };

struct attendant {
        int listen_fd;
        int taker_fd;   /* the side that is connected; -1 = none */
        bool is_heard;  /* its HELLO has come */
        bool was_heard; /* that of any */
        int input_fd, out_fd, err_fd;
        pid_t recorder;    /* 0 = it has ended */
        bool is_over;      /* END was added */
        bool is_dismissed; /* BYE came */
        uint64_t idle_ns;  /* since when there is no connection, after the recorder's end */
        bool input_ends;   /* when `input` is empty */
        struct byte_buffer in, input, control; /* from the taker; for the program; for the taker, uncounted */
        struct host_output output;
};

/* ---- the taker ----------------------------------------------------------------------------------------- */

static void drop_taker(struct attendant *a)
{
        io_close(&a->taker_fd);
        byte_buffer_clear(&a->in);
        byte_buffer_clear(&a->control);
        a->idle_ns = clock_raw_ns();
        /* Some of its input may be lost, so the program's input ends rather than having a gap. */
        if (a->is_heard)
                a->input_ends = true;
        a->is_heard = false;
}

/* The one that came last is the one that is there. */
static void accept_taker(struct attendant *a)
{
        int fd = accept4(a->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0)
                return;
        if (a->taker_fd >= 0)
                drop_taker(a);
        a->taker_fd = fd;
}

static void send_signal(const struct attendant *a, uint64_t number)
{
        if (a->recorder <= 0)
                return;
        /* As a terminal does it: to the recorder and the program, which are one process group. */
        if (number == SIGINT)
                (void)kill(-a->recorder, SIGINT);
        else if (number == SIGTERM)
                (void)kill(a->recorder, SIGTERM);
}

static int take_frame(struct attendant *a, const struct host_frame *frame)
{
        int r = 0;

        if (!a->is_heard && frame->kind != HOST_FRAME_HELLO)
                return -EBADMSG;
        switch (frame->kind) {
        case HOST_FRAME_HELLO:
                r = host_output_resume(&a->output, host_frame_number(frame));
                a->is_heard = a->was_heard = true;
                host_frame_encode_number(&a->control, HOST_FRAME_WELCOME, a->output.sent);
                return r;
        case HOST_FRAME_INPUT:
                if (!a->input_ends)
                        byte_buffer_add(&a->input, frame->bytes, frame->n_bytes);
                return 0;
        case HOST_FRAME_INPUT_END:
                a->input_ends = true;
                return 0;
        case HOST_FRAME_SIGNAL:
                send_signal(a, host_frame_number(frame));
                return 0;
        case HOST_FRAME_BYE:
                a->is_dismissed = true;
                return 0;
        case HOST_FRAME_WELCOME:
        case HOST_FRAME_GONE:
        case HOST_FRAME_OUT:
        case HOST_FRAME_ERR:
        case HOST_FRAME_END:
        case HOST_N_FRAME_KINDS:
                break;
        }
        return -EBADMSG;
}

/* Returns 0, or -errno: the connection is over. */
static int hear_taker(struct attendant *a)
{
        struct host_frame frame;
        size_t done = 0;
        uint8_t *at = byte_buffer_reserve(&a->in, COPY_BYTES);
        ssize_t n;
        int r = 1;

        if (!at)
                return -ENOMEM;
        n = read(a->taker_fd, at, COPY_BYTES);
        if (n <= 0)
                return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -EPIPE;
        a->in.used_bytes += (size_t)n;
        while (r == 1) {
                r = host_frame_decode(a->in.data + done, a->in.used_bytes - done, &frame);
                if (r == 1) {
                        done += frame.frame_bytes;
                        r = take_frame(a, &frame);
                        r = r < 0 ? r : 1;
                }
        }
        memmove(a->in.data, a->in.data + done, a->in.used_bytes - done);
        a->in.used_bytes -= done;
        return r;
}

/* Writes what fits.  Returns how much that was, or -errno. */
static ssize_t write_some(int fd, const uint8_t *bytes, size_t n_bytes)
{
        ssize_t n = n_bytes > 0 ? write(fd, bytes, n_bytes) : 0;

        return n >= 0 ? n : errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

static void forget_written(struct byte_buffer *b, ssize_t n)
{
        if (!b->data)
                return;
        memmove(b->data, b->data + n, b->used_bytes - (size_t)n);
        b->used_bytes -= (size_t)n;
}

static bool has_words_for_taker(const struct attendant *a)
{
        const uint8_t *bytes;

        return a->control.used_bytes > 0 || (a->is_heard && host_output_rest(&a->output, &bytes) > 0);
}

static int tell_taker(struct attendant *a)
{
        const uint8_t *bytes;
        size_t n_bytes;
        ssize_t n = write_some(a->taker_fd, a->control.data, a->control.used_bytes);

        if (n < 0)
                return (int)n;
        if (n > 0)
                forget_written(&a->control, n);
        if (a->control.used_bytes > 0 || !a->is_heard)
                return 0;
        n_bytes = host_output_rest(&a->output, &bytes);
        n = write_some(a->taker_fd, bytes, n_bytes);
        if (n < 0)
                return (int)n;
        a->output.sent += (uint64_t)n;
        return 0;
}

/* ---- the recorder -------------------------------------------------------------------------------------- */

static void write_input(struct attendant *a)
{
        ssize_t n = write_some(a->input_fd, a->input.data, a->input.used_bytes);

        if (n < 0) { /* the program does not read it */
                byte_buffer_clear(&a->input);
                a->input_ends = true;
        } else if (n > 0) {
                forget_written(&a->input, n);
        }
        if (a->input_ends && a->input.used_bytes == 0)
                io_close(&a->input_fd);
}

/* Returns false at the end. */
static bool read_output(struct attendant *a, int *fd, enum host_frame_kind kind)
{
        uint8_t bytes[COPY_BYTES / 8];
        ssize_t n = read(*fd, bytes, sizeof(bytes));

        if (n > 0)
                host_output_add(&a->output, kind, bytes, (size_t)n);
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
                io_close(fd);
        return n > 0;
}

/* When the recorder has ended, what is left in the pipes comes before its status. */
static void look_for_end(struct attendant *a)
{
        uint8_t number[8] = { 0 };
        int status;

        if (a->recorder <= 0 || waitpid(a->recorder, &status, WNOHANG) != a->recorder)
                return;
        a->recorder = 0;
        a->idle_ns = clock_raw_ns();
        while (a->out_fd >= 0 && read_output(a, &a->out_fd, HOST_FRAME_OUT))
                ;
        while (a->err_fd >= 0 && read_output(a, &a->err_fd, HOST_FRAME_ERR))
                ;
        io_close(&a->out_fd);
        io_close(&a->err_fd);
        io_close(&a->input_fd);
        number[0] = (uint8_t)(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        host_output_add(&a->output, HOST_FRAME_END, number, sizeof(number));
        a->is_over = true;
}

/* A program that prints more than a connected side takes waits for it; without a connection it does not. */
static bool wants_output(const struct attendant *a)
{
        return a->taker_fd < 0 || host_output_has_room(&a->output);
}

static void fill_polls(const struct attendant *a, struct pollfd *fds)
{
        bool reads = wants_output(a);

        fds[WATCH_LISTEN] = (struct pollfd){ .fd = a->listen_fd, .events = POLLIN };
        fds[WATCH_TAKER] = (struct pollfd){ .fd = a->taker_fd,
                                            .events = (short)((a->input.used_bytes < INPUT_MAX ? POLLIN : 0) |
                                                              (has_words_for_taker(a) ? POLLOUT : 0)) };
        fds[WATCH_OUT] = (struct pollfd){ .fd = reads ? a->out_fd : -1, .events = POLLIN };
        fds[WATCH_ERR] = (struct pollfd){ .fd = reads ? a->err_fd : -1, .events = POLLIN };
        fds[WATCH_INPUT] = (struct pollfd){ .fd = a->input.used_bytes > 0 || a->input_ends ? a->input_fd : -1,
                                            .events = POLLOUT };
}

/* A recorder whose command line ended before it connected would wait for a capture for ever. */
static bool is_done(const struct attendant *a)
{
        bool is_alone = a->taker_fd < 0 && clock_raw_ns() - a->idle_ns > LINGER_NS;

        return a->is_dismissed || (is_alone && (a->is_over || !a->was_heard));
}

static void serve(struct attendant *a, const struct pollfd *fds)
{
        int r = 0;

        if (fds[WATCH_TAKER].revents & (POLLIN | POLLHUP | POLLERR))
                r = hear_taker(a);
        if (r == 0 && fds[WATCH_TAKER].revents & POLLOUT)
                r = tell_taker(a);
        if (r < 0)
                drop_taker(a);
        if (fds[WATCH_OUT].revents)
                (void)read_output(a, &a->out_fd, HOST_FRAME_OUT);
        if (fds[WATCH_ERR].revents)
                (void)read_output(a, &a->err_fd, HOST_FRAME_ERR);
        if (fds[WATCH_INPUT].revents)
                write_input(a);
        if (fds[WATCH_LISTEN].revents)
                accept_taker(a);
}

static void attend(struct attendant *a)
{
        struct pollfd fds[N_WATCHED];

        while (!is_done(a)) {
                fill_polls(a, fds);
                if (poll(fds, N_WATCHED, LOOK_MS) > 0)
                        serve(a, fds);
                look_for_end(a);
        }
        if (a->recorder > 0)
                (void)kill(a->recorder, SIGTERM);
}

/* ---- the start ----------------------------------------------------------------------------------------- */

static int name_socket(struct relay_address *a, const char *folder, const char *name)
{
        *a = (struct relay_address){ .port = 0 };
        return snprintf(a->path, sizeof(a->path), "%s/%s", folder, name) < (int)sizeof(a->path)
                       ? 0
                       : -ENAMETOOLONG;
}

/* Under sudo the socket belongs to the user: `join` has no other rights. */
static int listen_for_user(struct relay_address *address, struct error *err)
{
        struct invoking_user user = invoking_user_read();
        bool changes = user.known && geteuid() == 0;
        int fd;

        if (changes && (setegid(user.gid) < 0 || seteuid(user.uid) < 0))
                return error_errno(err, "the invoking user");
        fd = relay_address_listen(address, err);
        if (changes && (seteuid(0) < 0 || setegid(0) < 0)) {
                io_close(&fd);
                return error_errno(err, "root");
        }
        return fd;
}

/* Never returns. */
static _Noreturn void run_recorder(char **words, int in_fd, int out_fd, int err_fd)
{
        char own[4096];
        ssize_t n = readlink(CURRENT_EXE, own, sizeof(own) - 1);

        own[n > 0 ? n : 0] = '\0';
        (void)setpgid(0, 0);
        (void)dup2(in_fd, STDIN_FILENO);
        (void)dup2(out_fd, STDOUT_FILENO);
        (void)dup2(err_fd, STDERR_FILENO);
        (void)signal(SIGPIPE, SIG_DFL);
        (void)execv(own, words);
        (void)dprintf(STDERR_FILENO, "hyprof: error: %s: %s\n", own, strerrordesc_np(errno));
        _exit(EXIT_STATUS_RECORD_FAILED);
}

static int start_recorder(struct attendant *a, char **words, struct error *err)
{
        int in[2] = { -1, -1 }, out[2] = { -1, -1 }, errs[2] = { -1, -1 };
        int r = 0;

        if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(errs, O_CLOEXEC) < 0)
                r = error_errno(err, "pipe");
        if (r == 0) {
                a->recorder = fork();
                if (a->recorder == 0)
                        run_recorder(words, in[0], out[1], errs[1]);
                if (a->recorder < 0)
                        r = error_errno(err, "fork");
        }
        a->input_fd = in[1];
        a->out_fd = out[0];
        a->err_fd = errs[0];
        for (int i = 0; i < 3; i++)
                (void)fcntl((int[]){ in[1], out[0], errs[0] }[i], F_SETFL, O_NONBLOCK);
        io_close(&in[0]);
        io_close(&out[1]);
        io_close(&errs[1]);
        return r;
}

static void remove_folder(const char *folder)
{
        pid_t pid = fork();

        if (pid == 0) {
                (void)execlp("rm", "rm", "-rf", "--", folder, (char *)NULL);
                _exit(EXIT_STATUS_FAILED);
        }
        while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
}

/* The streams of the connection would keep it open. */
static void leave_session(void)
{
        int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && nowhere >= 0; fd++)
                (void)dup2(nowhere, fd);
        io_close(&nowhere);
        (void)signal(SIGPIPE, SIG_IGN);
        (void)signal(SIGHUP, SIG_IGN);
        if (chdir("/") < 0)
                complain("note: /: %s", strerrordesc_np(errno));
}

static int start(const char *folder, char **words)
{
        struct attendant a = { .taker_fd = -1, .input_fd = -1, .out_fd = -1, .err_fd = -1 };
        struct relay_address address;
        struct error err = ERROR_NONE;
        pid_t pid = -1;

        a.listen_fd = name_socket(&address, folder, HOST_ATTENDANT_SOCKET) < 0
                              ? error_set(&err, -ENAMETOOLONG, "%s: too long for a socket", folder)
                              : listen_for_user(&address, &err);
        if (a.listen_fd >= 0) {
                (void)fcntl(a.listen_fd, F_SETFL, O_NONBLOCK);
                pid = fork();
                if (pid < 0)
                        (void)error_errno(&err, "fork");
        }
        if (pid < 0) {
                complain("error: %s", err.text);
                return EXIT_STATUS_RECORD_FAILED;
        }
        if (pid > 0)
                return EXIT_STATUS_OK;
        (void)setsid(); /* before the recorder: it stays where the command line was started */
        if (start_recorder(&a, words, &err) < 0)
                _exit(EXIT_STATUS_RECORD_FAILED);
        leave_session();
        a.idle_ns = clock_raw_ns();
        attend(&a);
        remove_folder(folder);
        _exit(EXIT_STATUS_OK);
}

/* ---- connections --------------------------------------------------------------------------------------- */

/* Copies what is there.  Returns false at the end, which the other side is told. */
static bool copy_some(int from_fd, int to_fd)
{
        uint8_t bytes[COPY_BYTES / 8];
        ssize_t n = read(from_fd, bytes, sizeof(bytes));

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
                return true;
        return n > 0 && io_write_all(to_fd, bytes, (size_t)n, NULL) == 0;
}

static void copy_both_ways(int fd)
{
        struct pollfd fds[2] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = fd, .events = POLLIN } };

        while (poll(fds, 2, -1) >= 0 || errno == EINTR) {
                if (fds[0].revents && !copy_some(STDIN_FILENO, fd)) {
                        fds[0].fd = -1;
                        (void)shutdown(fd, SHUT_WR);
                }
                if (fds[1].revents && !copy_some(fd, STDOUT_FILENO))
                        return;
        }
}

/* The recorder needs a moment until it listens; after its end its folder is gone. */
static int reach(const struct relay_address *address, const char *folder, uint64_t patience_ms)
{
        uint64_t until_ns = clock_raw_ns() + patience_ms * NS_PER_MS;
        int fd;

        while ((fd = relay_address_connect(address, NULL)) < 0 && clock_raw_ns() < until_ns &&
               access(folder, F_OK) == 0)
                (void)poll(NULL, 0, LOOK_MS / 4);
        return fd;
}

static int connect_streams(const char *folder, bool is_for_trace)
{
        struct relay_address address;
        struct byte_buffer gone = { .data = NULL };
        int r = name_socket(&address, folder, is_for_trace ? HOST_TRACE_SOCKET : HOST_ATTENDANT_SOCKET);
        int fd = r < 0 ? r : reach(&address, folder, is_for_trace ? SOCKET_MS : 0);

        (void)signal(SIGPIPE, SIG_IGN);
        if (fd >= 0) {
                copy_both_ways(fd);
                io_close(&fd);
                return EXIT_STATUS_OK;
        }
        if (!is_for_trace) {
                host_frame_encode_number(&gone, HOST_FRAME_GONE, 0);
                (void)io_write_all(STDOUT_FILENO, gone.data, gone.used_bytes, NULL);
                byte_buffer_deinit(&gone);
        }
        return EXIT_STATUS_FAILED;
}

int host_attendant_run(int n_words, char **words)
{
        clock_begin();
        if (n_words >= 3 && strcmp(words[0], "start") == 0)
                return start(words[1], words + 2);
        if (n_words == 2 && strcmp(words[0], "join") == 0)
                return connect_streams(words[1], false);
        if (n_words == 2 && strcmp(words[0], "take") == 0)
                return connect_streams(words[1], true);
        complain("error: %s is for hyprof itself", HOST_ATTENDANT_COMMAND);
        complain_try("hyprof record --on HOST -- COMMAND");
        return EXIT_STATUS_USAGE;
}
