/* SPDX-License-Identifier: MIT */
#include "cli/on_host/host_record.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "cli/exit_status.h"
#include "cli/files/drop_rights.h"
#include "cli/manual/commands.h"
#include "cli/on_host/host_attendant.h"
#include "cli/on_host/host_board.h"
#include "cli/on_host/host_place.h"
#include "cli/on_host/host_session.h"
#include "cli/on_host/host_transport.h"
#include "cli/options/record_options.h"
#include "cli/terminal/complaint.h"
#include "sampler/relay/relay_address.h"
#include "sampler/relay/relay_intake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define AGAIN_NS     NS_PER_S         /* between two tries to connect */
#define GIVE_UP_NS   (600 * NS_PER_S) /* of tries in vain: as long as the attendant waits */
#define BYE_MS       5000
#define COPY_BYTES   65536
#define NAME_WORDS   160
#define CAPTURES_MAX 5 /* that fail one after the other while the host can be reached */
#define OWN_SOCKET   "t"

enum { WATCH_SIGNALS, WATCH_HOST, WATCH_INPUT, WATCH_LISTEN, N_WATCHED };

struct host_run {
        struct record_options *options;
        struct host host;
        struct host_place place;
        char folder[64]; /* here: for sockets */
        int signal_fd;
        sigset_t mask; /* before this began */

        pid_t session; /* 0 = not connected */
        int to_fd, from_fd;
        bool is_welcome;  /* the attendant has answered */
        bool input_ended; /* none is read any more */
        struct byte_buffer in;
        uint64_t position; /* of the frames that have come */
        uint64_t again_ns, since_ns;
        bool has_told_cut;

        int listen_fd;
        pid_t capture; /* 0 = none runs */
        int words_fd;  /* what it says, kept back until it is known whether that matters */
        int n_failed;
        bool has_trace;

        bool is_over; /* END came */
        int status;
        int n_signals;
        bool is_given_up;
};

/* ---- the program and its files ------------------------------------------------------------------------- */

/* "./app", "/usr/bin/app": one that is here is sent. */
static bool is_program_here(const char *word)
{
        struct stat status;

        return strchr(word, '/') && stat(word, &status) == 0 && S_ISREG(status.st_mode);
}

/* A program for another machine would be refused there, in words that do not say so. */
static int check_machine(const struct host_run *run, const char *program)
{
        int fd = open(program, O_RDONLY | O_CLOEXEC);
        const char *machine = fd >= 0 ? host_board_machine_of(fd) : NULL;

        io_close(&fd);
        if (!machine || strcmp(machine, run->place.machine) == 0)
                return EXIT_STATUS_OK;
        complain("error: %s is for %s, and %s is %s", program, machine, run->host.name, run->place.machine);
        return EXIT_STATUS_CANNOT_EXECUTE;
}

static int send_files(struct host_run *run, char **argv)
{
        const struct record_options *options = run->options;
        const char *paths[HOST_OPTIONS_DEPLOY_MAX + 1];
        struct error err = ERROR_NONE;
        size_t n = 0;
        int status = EXIT_STATUS_OK;

        if (argv && is_program_here(argv[0])) {
                status = check_machine(run, argv[0]);
                paths[n++] = argv[0];
        }
        for (size_t i = 0; i < options->host.n_deploy; i++)
                paths[n++] = options->host.deploy[i];
        if (status != EXIT_STATUS_OK || host_place_send(&run->place, &run->host, paths, n, &err) == 0)
                return status;
        complain("error: %s", err.text);
        return EXIT_STATUS_RECORD_FAILED;
}

static int make_place(struct host_run *run)
{
        struct error err = ERROR_NONE;
        int r = host_place_make(&run->place, &run->host, &err);

        if (r == 0)
                return EXIT_STATUS_OK;
        complain("error: %s", err.text);
        if (r == -EHOSTUNREACH)
                complain_try("%s %s uname -m", host_command_words(&run->host), run->host.name);
        else if (r == -ENOENT)
                complain_try("make board TARGET=%s, in hyprof's sources; the file that it names can also be "
                             "copied to ~/.cache/hyprof/boards/" HYPROF_VERSION,
                             run->place.machine);
        return EXIT_STATUS_RECORD_FAILED;
}

/* ---- the start ----------------------------------------------------------------------------------------- */

static void add_word(struct byte_buffer *script, const char *word)
{
        byte_buffer_add_u8(script, ' ');
        host_quote(script, word);
}

/* The recorder's command line, and before it the attendant's. */
static void add_command(const struct host_run *run, char **argv, struct byte_buffer *script)
{
        const struct record_options *options = run->options;
        const char *slash = argv ? strrchr(argv[0], '/') : NULL;

        if (run->place.has_files) {
                byte_buffer_add_format(script, "cd ");
                host_quote(script, run->place.folder);
                byte_buffer_add_format(script, "/files && ");
        }
        byte_buffer_add_format(script, options->host.uses_sudo ? "sudo -n" : "exec");
        add_word(script, run->place.hyprof);
        byte_buffer_add_format(script, " " HOST_ATTENDANT_COMMAND " start");
        add_word(script, run->place.folder);
        byte_buffer_add_format(script, " hyprof record --attended");
        if (options->linger_ns == UINT64_MAX)
                byte_buffer_add_format(script, " --linger 10m");
        for (size_t i = 0; i < options->host.n_forwarded; i++)
                add_word(script, options->host.forwarded[i]);
        byte_buffer_add_format(script, " --listen ");
        host_quote(script, run->place.folder);
        byte_buffer_add_format(script, "/" HOST_TRACE_SOCKET " --");
        for (size_t i = 0; argv && argv[i]; i++)
                if (i == 0 && slash && is_program_here(argv[0])) {
                        byte_buffer_add_format(script, " ./");
                        host_quote(script, slash + 1);
                } else {
                        add_word(script, argv[i]);
                }
        byte_buffer_add_u8(script, '\0');
}

static int start_attendant(struct host_run *run, char **argv)
{
        struct byte_buffer script = { .data = NULL };
        struct error err = ERROR_NONE;
        int status = -ENOMEM;

        add_command(run, argv, &script);
        if (!script.failed)
                status = host_ask(&run->host, (char *)script.data, -1, false, NULL, &err);
        byte_buffer_deinit(&script);
        if (status == 0)
                return EXIT_STATUS_OK;
        complain("error: %s: the recorder was not started%s", run->host.name,
                 run->options->host.uses_sudo ? " by sudo -n, which asks for no password" : "");
        if (run->options->host.uses_sudo)
                complain_try("without --sudo, or allow it there: USER ALL=(root) NOPASSWD: ALL");
        return EXIT_STATUS_RECORD_FAILED;
}

/* ---- the session --------------------------------------------------------------------------------------- */

/* `hyprof __host join` or `take` there, with these streams. */
static pid_t start_joined(struct host_run *run, const char *verb, int in_fd, int out_fd)
{
        struct byte_buffer script = { .data = NULL };
        pid_t pid = -1;

        byte_buffer_add_format(&script, "exec");
        add_word(&script, run->place.hyprof);
        byte_buffer_add_format(&script, " " HOST_ATTENDANT_COMMAND " %s", verb);
        add_word(&script, run->place.folder);
        byte_buffer_add_u8(&script, '\0');
        /* The words of ssh about a cut are not wanted: there is one line about it. */
        if (!script.failed)
                pid = host_start(&run->host, (char *)script.data, (int[]){ in_fd, out_fd, -1 }, false, NULL);
        byte_buffer_deinit(&script);
        return pid;
}

/* A cut is noticed where frames are read. */
static void send_frame(struct host_run *run, enum host_frame_kind kind, const void *bytes, size_t n_bytes)
{
        struct byte_buffer b = { .data = NULL };

        host_frame_encode(&b, kind, bytes, n_bytes);
        if (run->to_fd >= 0 && !b.failed)
                (void)io_write_all(run->to_fd, b.data, b.used_bytes, NULL);
        byte_buffer_deinit(&b);
}

static void send_number(struct host_run *run, enum host_frame_kind kind, uint64_t number)
{
        uint8_t bytes[8];

        for (size_t i = 0; i < sizeof(bytes); i++)
                bytes[i] = (uint8_t)(number >> (8 * i));
        send_frame(run, kind, bytes, sizeof(bytes));
}

static void connect_session(struct host_run *run)
{
        int to[2], from[2];

        run->again_ns = clock_raw_ns() + AGAIN_NS;
        if (pipe2(to, O_CLOEXEC) < 0)
                return;
        if (pipe2(from, O_CLOEXEC) == 0) {
                run->session = start_joined(run, "join", to[0], from[1]);
                run->to_fd = to[1];
                run->from_fd = from[0];
                io_close(&from[1]);
                send_number(run, HOST_FRAME_HELLO, run->position);
        } else {
                io_close(&to[1]);
        }
        io_close(&to[0]);
}

static void end_session(struct host_run *run)
{
        io_close(&run->to_fd);
        io_close(&run->from_fd);
        byte_buffer_clear(&run->in); /* a frame that is not whole comes again */
        if (run->session > 0)
                (void)kill(run->session, SIGTERM);
        if (run->session > 0)
                (void)host_wait(run->session);
        run->session = 0;
        run->is_welcome = false;
}

static void lose_session(struct host_run *run)
{
        if (run->is_welcome || run->since_ns == 0)
                run->since_ns = clock_raw_ns();
        if (run->is_welcome) {
                if (!run->options->quiet)
                        complain(
                                "the connection to %s is cut; the program goes on there, and this tries again",
                                run->host.name);
                run->has_told_cut = true;
                run->input_ended = true;
        }
        end_session(run);
        if (clock_raw_ns() - run->since_ns > GIVE_UP_NS)
                run->is_given_up = true;
}

static void take_welcome(struct host_run *run, uint64_t position)
{
        if (position > run->position) {
                complain("warning: %llu bytes that the program printed meanwhile are lost",
                         (unsigned long long)(position - run->position));
                run->position = position;
        }
        run->is_welcome = true;
        if (run->has_told_cut && !run->options->quiet)
                complain("%s is connected again", run->host.name);
        run->has_told_cut = false;
}

static void take_frame(struct host_run *run, const struct host_frame *frame)
{
        if (host_frame_is_counted(frame->kind))
                run->position += frame->frame_bytes;
        if (frame->kind == HOST_FRAME_WELCOME) {
                take_welcome(run, host_frame_number(frame));
        } else if (frame->kind == HOST_FRAME_GONE) {
                complain("error: %s: the recorder is not there any more", run->host.name);
                run->is_given_up = true;
        } else if (frame->kind == HOST_FRAME_OUT || frame->kind == HOST_FRAME_ERR) {
                (void)io_write_all(frame->kind == HOST_FRAME_OUT ? STDOUT_FILENO : STDERR_FILENO,
                                   frame->bytes, frame->n_bytes, NULL);
        } else if (frame->kind == HOST_FRAME_END) {
                run->status = (int)(host_frame_number(frame) & 0xff);
                run->is_over = true;
        }
}

static void hear_host(struct host_run *run)
{
        struct host_frame frame;
        uint8_t *at = byte_buffer_reserve(&run->in, COPY_BYTES);
        ssize_t n = at ? read(run->from_fd, at, COPY_BYTES) : 0;
        size_t done = 0;
        int r = 1;

        if (n < 0 && errno == EINTR)
                return;
        if (n <= 0) {
                lose_session(run);
                return;
        }
        run->in.used_bytes += (size_t)n;
        while (r == 1 && !run->is_over && !run->is_given_up) {
                r = host_frame_decode(run->in.data + done, run->in.used_bytes - done, &frame);
                if (r == 1) {
                        take_frame(run, &frame);
                        done += frame.frame_bytes;
                }
        }
        memmove(run->in.data, run->in.data + done, run->in.used_bytes - done);
        run->in.used_bytes -= done;
        if (r < 0)
                lose_session(run);
}

static void send_input(struct host_run *run)
{
        uint8_t bytes[COPY_BYTES / 8];
        ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

        if (n > 0) {
                send_frame(run, HOST_FRAME_INPUT, bytes, (size_t)n);
        } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
                send_frame(run, HOST_FRAME_INPUT_END, NULL, 0);
                run->input_ended = true;
        }
}

/* ---- the trace ----------------------------------------------------------------------------------------- */

/* Names are found afterwards: a capture that has the whole trace can be ended at any time. */
static _Noreturn void run_capture(const struct host_run *run)
{
        const struct record_options *options = run->options;
        char quiet[] = "-q", mode[32];
        char *words[8] = { (char[]){ "capture" }, (char[]){ "--wait" }, (char[]){ "--no-symbolize" } };
        size_t n = 3;

        (void)setpgid(0, 0);
        (void)dup2(run->words_fd, STDERR_FILENO);
        (void)pthread_sigmask(SIG_SETMASK, &run->mask, NULL);
        (void)close(run->signal_fd);
        (void)close(run->listen_fd);
        if (run->to_fd >= 0)
                (void)close(run->to_fd);
        if (run->from_fd >= 0)
                (void)close(run->from_fd);
        (void)signal(SIGPIPE, SIG_IGN);
        (void)signal(SIGXFSZ, SIG_IGN);
        if (options->quiet)
                words[n++] = quiet;
        if (options->mode != 0) {
                (void)snprintf(mode, sizeof(mode), "--mode=%03o", options->mode);
                words[n++] = mode;
        }
        if (asprintf(&words[n], "--output=%s", options->path) < 0 ||
            asprintf(&words[n + 1], "%s/" OWN_SOCKET, run->folder) < 0)
                _exit(EXIT_STATUS_RECORD_FAILED);
        n += 2;
        _exit(cmd_capture((int)n, words));
}

static int start_capture(struct host_run *run)
{
        struct error err = ERROR_NONE;

        io_close(&run->words_fd);
        run->words_fd = io_open_unnamed(&err);
        if (run->words_fd < 0) {
                complain("error: %s", err.text);
                return EXIT_STATUS_RECORD_FAILED;
        }
        (void)fflush(NULL);
        run->capture = fork();
        if (run->capture == 0)
                run_capture(run);
        if (run->capture > 0)
                return EXIT_STATUS_OK;
        complain("error: fork: %s", strerrordesc_np(errno));
        return EXIT_STATUS_RECORD_FAILED;
}

static void print_words(const struct host_run *run)
{
        if (lseek(run->words_fd, 0, SEEK_SET) == 0)
                (void)io_copy(run->words_fd, STDERR_FILENO, NULL);
}

/* The capture connects here; what is behind it is on the host. */
static void connect_trace(struct host_run *run)
{
        int fd = accept4(run->listen_fd, NULL, NULL, SOCK_CLOEXEC);

        if (fd >= 0)
                (void)start_joined(run, "take", fd, fd);
        io_close(&fd);
}

/*
 * A capture that ended before its trace did is started again; after several that failed while the host was
 * there the reason is here.
 */
static void end_capture(struct host_run *run, int status)
{
        run->capture = 0;
        run->has_trace = status == EXIT_STATUS_OK;
        if (run->has_trace)
                return;
        run->n_failed = run->is_welcome ? run->n_failed + 1 : 0;
        if (run->is_over || run->n_signals > 2)
                return;
        if (run->n_failed >= CAPTURES_MAX) {
                print_words(run);
                send_number(run, HOST_FRAME_SIGNAL, SIGTERM);
                return;
        }
        if (start_capture(run) != EXIT_STATUS_OK)
                run->is_given_up = true;
}

static void reap(struct host_run *run)
{
        int status;
        pid_t pid;

        while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
                status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
                if (pid == run->session)
                        run->session = 0; /* the end of its output is read first */
                else if (pid == run->capture)
                        end_capture(run, status);
        }
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static void hear_signals(struct host_run *run)
{
        struct signalfd_siginfo info;

        while (read(run->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
                if (info.ssi_signo == SIGCHLD) {
                        reap(run);
                        continue;
                }
                run->n_signals++;
                if (run->is_welcome && run->n_signals <= 2)
                        send_number(run, HOST_FRAME_SIGNAL, info.ssi_signo == SIGINT ? SIGINT : SIGTERM);
                else
                        run->is_given_up = true;
        }
}

static void run_session(struct host_run *run)
{
        struct pollfd fds[N_WATCHED];

        while (!run->is_over && !run->is_given_up) {
                uint64_t now_ns = clock_raw_ns();

                if (run->from_fd < 0 && now_ns >= run->again_ns)
                        connect_session(run);
                fds[WATCH_SIGNALS] = (struct pollfd){ .fd = run->signal_fd, .events = POLLIN };
                fds[WATCH_HOST] = (struct pollfd){ .fd = run->from_fd, .events = POLLIN };
                fds[WATCH_INPUT] = (struct pollfd){ .fd = run->is_welcome && !run->input_ended ? STDIN_FILENO
                                                                                               : -1,
                                                    .events = POLLIN };
                fds[WATCH_LISTEN] = (struct pollfd){ .fd = run->listen_fd, .events = POLLIN };
                if (poll(fds, N_WATCHED, run->from_fd < 0 ? (int)(AGAIN_NS / NS_PER_MS) : -1) < 0)
                        continue;
                if (fds[WATCH_LISTEN].revents)
                        connect_trace(run);
                if (fds[WATCH_HOST].revents)
                        hear_host(run);
                else if (fds[WATCH_INPUT].revents)
                        send_input(run);
                if (fds[WATCH_SIGNALS].revents)
                        hear_signals(run);
        }
}

/* ---- afterwards ---------------------------------------------------------------------------------------- */

/* The recorder has ended, and waited for the capture before: if that has no trace by now, it gets none. */
static void finish_capture(struct host_run *run)
{
        if (run->capture <= 0)
                return;
        (void)kill(run->capture, SIGTERM);
        run->has_trace = host_wait(run->capture) == EXIT_STATUS_OK;
        run->capture = 0;
}

static size_t add_names(const struct record_options *options, char **argv, char **words, size_t n)
{
        const char *files[HOST_OPTIONS_DEPLOY_MAX + 1];
        size_t n_files = 0;
        struct stat status;

        for (size_t i = 0; i < options->host.n_debug_dirs; i++)
                (void)(asprintf(&words[n], "--debug-dir=%s", options->host.debug_dirs[i]) >= 0 && ++n);
        if (options->host.sysroot)
                (void)(asprintf(&words[n], "--sysroot=%s", options->host.sysroot) >= 0 && ++n);
        /* The files that were sent are here, too, perhaps with more information. */
        if (argv && is_program_here(argv[0]))
                files[n_files++] = argv[0];
        for (size_t i = 0; i < options->host.n_deploy; i++)
                files[n_files++] = options->host.deploy[i];
        for (size_t i = 0; i < n_files; i++) {
                const char *slash = strrchr(files[i], '/');
                bool is_folder = stat(files[i], &status) == 0 && S_ISDIR(status.st_mode);
                int length = is_folder ? (int)strlen(files[i]) : slash ? (int)(slash - files[i]) + 1 : 2;

                (void)(asprintf(&words[n], "--debug-dir=%.*s", length,
                                is_folder || slash ? files[i] : "./") >= 0 &&
                       ++n);
        }
        return n;
}

/* In a child, which Ctrl-C ends: the trace is whole. */
static void find_names(struct host_run *run, char **argv)
{
        const struct record_options *options = run->options;
        char *words[NAME_WORDS] = { (char[]){ "symbolize" } };
        size_t n = 1;
        pid_t pid;

        if (options->no_symbolize)
                return;
        (void)fflush(NULL);
        pid = fork();
        if (pid > 0)
                (void)host_wait(pid);
        if (pid != 0)
                return;
        (void)signal(SIGINT, SIG_DFL);
        (void)signal(SIGXFSZ, SIG_IGN);
        (void)pthread_sigmask(SIG_SETMASK, &run->mask, NULL);
        if (drop_rights_to_read() < 0)
                _exit(EXIT_STATUS_FAILED);
        n = add_names(options, argv, words, n);
        words[n++] = (char[]){ "-q" };
        words[n] = strdup(options->path);
        if (!words[n++])
                _exit(EXIT_STATUS_FAILED);
        _exit(cmd_symbolize((int)n, words));
}

/* The attendant closes the connection when it has removed all; the host may be gone instead. */
static void say_bye(struct host_run *run)
{
        struct pollfd host = { .fd = run->from_fd, .events = POLLIN };
        uint8_t bytes[COPY_BYTES / 8];

        send_frame(run, HOST_FRAME_BYE, NULL, 0);
        while (poll(&host, 1, BYE_MS) > 0 && read(run->from_fd, bytes, sizeof(bytes)) > 0)
                ;
}

/* Returns the exit status. */
static int finish(struct host_run *run, char **argv)
{
        if (run->is_over)
                say_bye(run);
        end_session(run);
        finish_capture(run);
        if (run->is_given_up) {
                complain("error: %s: given up; what came of the trace is %s", run->host.name,
                         run->options->path);
                return EXIT_STATUS_RECORD_FAILED;
        }
        if (run->has_trace) {
                print_words(run);
                find_names(run, argv);
                return run->status;
        }
        /* A recorder that failed has said so. */
        if (run->status >= EXIT_STATUS_RECORD_FAILED)
                return run->status;
        print_words(run);
        return EXIT_STATUS_RECORD_FAILED;
}

/* A socket where the capture connects, and what one of an earlier recording has left. */
static int listen_here(struct host_run *run)
{
        struct relay_address address = { .port = 0 };
        struct error err = ERROR_NONE;
        char *place = NULL;

        (void)snprintf(address.path, sizeof(address.path), "%s/" OWN_SOCKET, run->folder);
        run->listen_fd = relay_address_listen(&address, &err);
        if (run->listen_fd < 0) {
                complain("error: %s", err.text);
                return EXIT_STATUS_RECORD_FAILED;
        }
        if (asprintf(&place, "%s" RELAY_PLACE_ENDING, run->options->path) >= 0) {
                (void)unlink(place);
                free(place);
        }
        return EXIT_STATUS_OK;
}

static int make_own_folder(struct host_run *run)
{
        const char *parent = io_temporary_folder();

        /* Sockets have short paths. */
        (void)snprintf(run->folder, sizeof(run->folder), "%s/hyprof-on-XXXXXX",
                       strlen(parent) + sizeof("/hyprof-on-XXXXXX") <= sizeof(run->folder) ? parent : "/tmp");
        if (mkdtemp(run->folder))
                return EXIT_STATUS_OK;
        complain("error: %s: %s", run->folder, strerrordesc_np(errno));
        run->folder[0] = '\0';
        return EXIT_STATUS_RECORD_FAILED;
}

static void remove_own_folder(const struct host_run *run)
{
        char path[sizeof(run->folder) + sizeof("/" OWN_SOCKET)];

        if (run->folder[0] == '\0')
                return;
        (void)snprintf(path, sizeof(path), "%s/" OWN_SOCKET, run->folder);
        (void)unlink(path);
        (void)rmdir(run->folder);
}

static int hold_signals(struct host_run *run)
{
        static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
        sigset_t signals;

        (void)signal(SIGPIPE, SIG_IGN);
        (void)sigemptyset(&signals);
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
                (void)sigaddset(&signals, numbers[i]);
        (void)pthread_sigmask(SIG_BLOCK, &signals, &run->mask);
        run->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
        if (run->signal_fd >= 0)
                return EXIT_STATUS_OK;
        complain("error: a descriptor for signals: %s", strerrordesc_np(errno));
        return EXIT_STATUS_RECORD_FAILED;
}

static int prepare_and_run(struct host_run *run, char **argv)
{
        int status = make_place(run);

        if (status == EXIT_STATUS_OK)
                status = send_files(run, argv);
        if (status == EXIT_STATUS_OK)
                status = listen_here(run);
        if (status == EXIT_STATUS_OK)
                status = start_attendant(run, argv);
        if (status != EXIT_STATUS_OK) {
                host_place_remove(&run->place, &run->host);
                return status;
        }
        status = hold_signals(run);
        if (status == EXIT_STATUS_OK)
                status = start_capture(run);
        if (status == EXIT_STATUS_OK) {
                run_session(run);
                status = finish(run, argv);
        }
        return status;
}

int host_record_run(struct record_options *options, char **argv)
{
        struct host_run run = { .options = options,
                                .signal_fd = -1,
                                .to_fd = -1,
                                .from_fd = -1,
                                .listen_fd = -1,
                                .words_fd = -1 };
        struct error err = ERROR_NONE;
        int status = make_own_folder(&run);

        if (status == EXIT_STATUS_OK && host_init(&run.host, options->host.on, run.folder, &err) < 0) {
                complain("error: --on: %s", err.text);
                complain_try("hyprof record --on USER@MACHINE -- COMMAND");
                status = EXIT_STATUS_USAGE;
        }
        if (status == EXIT_STATUS_OK)
                status = prepare_and_run(&run, argv);
        host_deinit(&run.host);
        host_place_deinit(&run.place);
        remove_own_folder(&run);
        byte_buffer_deinit(&run.in);
        io_close(&run.listen_fd);
        io_close(&run.words_fd);
        io_close(&run.signal_fd);
        return status;
}
