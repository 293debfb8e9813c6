/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "base/boot_number.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/files/drop_rights.h"
#include "cli/files/output_file.h"
#include "cli/options/search_options.h"
#include "cli/terminal/complaint.h"
#include "cli/viewer/viewer_start.h"
#include "format/trace_lock.h"
#include "sampler/relay/relay_address.h"
#include "sampler/relay/relay_intake.h"
#include "sampler/relay/relay_server.h"
#include "sampler/rights/privileges.h"
#include "symbolize/images/trace_origin.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"
#include "web/server/server_confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRY_AGAIN_MS 100
#define SILENCE_MS   3000 /* how long a recorder may be silent before a note is printed */
#define LOCK_TRIES   50
#define PATH_BYTES   4096
#define WORDS_MAX    64
#define TRY_ANY_USER "sudo hyprof capture ..., which takes the traces of all users"

enum {
        LETTER_WAIT = OPTION_LONG_ONLY,
        LETTER_VIEW,
        LETTER_NO_SYMBOLIZE,
        LETTER_DEBUGINFOD,
        FD_SOCKET = 0,
        FD_FILE,
        FD_PLACE,
        FD_REPORT,
        N_FDS
};

struct arguments {
        char *words[WORDS_MAX + 4]; /* arguments of hyprof symbolize: its name, then heap strings */
        int n_words;
        bool waits, views, no_symbolize;
};

/* The child reports that there is a trace, and at its end the result. */
struct outcome {
        int code;
        bool has_ended, is_complete, is_resumed;
        uint64_t n_dropped, n_taken, wire_bytes, file_bytes;
        char words[ERROR_TEXT_BYTES];
};

/* A trace that is taken, from where to where. */
struct capture {
        const struct relay_address *address;
        const char *name; /* the address, as it was written */
        const char *path;
        char place_path[PATH_BYTES];
        struct relay_place place;
        struct output_file file;   /* if it is new */
        struct viewer_start start; /* of the viewer */
        unsigned mode;             /* of a new trace; 0 = not given */
        bool views, quiet;
        bool hears_all;      /* root takes the traces of every user */
        bool is_of_nobody;   /* the recorder has closed its end: whose it was cannot be told */
        int root_connection; /* of sudo's root; -1 = none, or used */
        int fds[N_FDS];
        int signal_fd;
        sigset_t mask;      /* of signals, before this began */
        int report_fd;      /* the child's words */
        int names_fds[2];   /* its closing tells the viewer that all names are there */
        pid_t viewer;       /* 0 = not started, -1 = it could not be started */
        bool is_terminated; /* by SIGTERM: the viewer ends as well */
};

static const struct option_row option_rows[] = {
        COMMON_ROW_OUTPUT("the trace; default: " OPTION_DEFAULT_TRACE
                          " (an earlier one becomes " OPTION_DEFAULT_TRACE ".old)"),
        COMMON_ROW_MODE,
        { LETTER_WAIT, "wait", NULL, "if no recorder listens yet, wait until one does" },
        { LETTER_VIEW, "view", NULL,
          "show it in the browser while it comes, and after it: hyprof view --follow" },
        SEARCH_OPTION_ROWS,
        { LETTER_DEBUGINFOD, "debuginfod", "[=URLS]", "as of 'hyprof symbolize'" },
        { LETTER_NO_SYMBOLIZE, "no-symbolize", NULL, "add no names to those that come with the trace" },
        COMMON_ROW_QUIET,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof capture",
        .operands = "ADDRESS",
        .n_operands_max = 1,
        .about =
                "Takes the trace of a recorder that listens (hyprof record --listen), while it is made: at a port\n"
                "of this machine (8086, localhost:8086) or at a socket (its path, with a /).  Recorders of other\n"
                "machines come through ssh -L or adb forward.  Names that the recorder's machine did not have are\n"
                "found here.  A capture that was interrupted goes on with the same command.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing =
                "exit status: 0 = the whole trace is here; 1 = a part of it, or nothing, or --view shows no more;\n"
                "2 = usage\n",
};

/* An option of hyprof symbolize, as one word. */
static int add_word(struct arguments *args, const char *option, const char *value)
{
        char *word = NULL;

        if (args->n_words == WORDS_MAX || asprintf(&word, value ? "%s=%s" : "%s", option, value) < 0) {
                complain("error: %s: too many folders", option);
                return -EINVAL;
        }
        args->words[args->n_words++] = word;
        return 0;
}

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;

        switch (letter) {
        case SEARCH_OPTION_DEBUG_DIR:
                return add_word(args, "--debug-dir", value);
        case SEARCH_OPTION_SYSROOT:
                return add_word(args, "--sysroot", value);
        case LETTER_DEBUGINFOD:
                return add_word(args, "--debuginfod", value);
        case LETTER_WAIT:
                args->waits = true;
                return 0;
        case LETTER_VIEW:
                args->views = true;
                return 0;
        default:
                args->no_symbolize = true;
                return 0;
        }
}

/* ---- the address --------------------------------------------------------------------------------------- */

static int parse(const char *text, struct relay_address *ret)
{
        struct error err = ERROR_NONE;
        const char *colon = strrchr(text, ':');
        int r = relay_address_parse(text, ret, &err);

        if (r == 0 && (ret->path[0] != '\0' || ret->port != 0))
                return EXIT_STATUS_OK;
        complain("error: %s", r == 0 ? "port 0 is none" : err.text);
        if (r == -EPERM)
                complain_try("ssh -L %s:127.0.0.1:%s %.*s, and then hyprof capture %s", colon + 1, colon + 1,
                             (int)(colon - text), text, colon + 1);
        else
                complain_try("hyprof capture 8086 -o FILE");
        return EXIT_STATUS_USAGE;
}

/*
 * Waits for the first byte of an answer and leaves it in the socket.  Returns 0; -EPIPE: closed; -EINTR: a
 * signal.
 */
static int await_answer(const struct capture *c, int fd, struct error *err)
{
        struct pollfd fds[2] = { { .fd = fd, .events = POLLIN }, { .fd = c->signal_fd, .events = POLLIN } };
        char byte;

        if (poll(fds, 2, SILENCE_MS) == 0 && !c->quiet)
                complain("%s: connected, and no answer yet; Ctrl-C ends the wait", c->name);
        while (poll(fds, 2, -1) < 0)
                ;
        if (fds[0].revents == 0)
                return error_set(err, -EINTR, "%s did not answer", c->name);
        if (recv(fd, &byte, 1, MSG_PEEK) == 1)
                return 0;
        return error_set(err, -EPIPE, "%s closed the connection without an answer", c->name);
}

/*
 * Any user can listen at a port that no recorder uses, and hand out a trace as if it were ours.  A recorder
 * that refuses has closed its end by now, and so has no user; one that gives a trace has not.
 */
static int check_recorder(struct capture *c, int fd, struct error *err)
{
        int tcp_fd = open("/proc/net/tcp", O_RDONLY | O_CLOEXEC);
        uint32_t uid = 0;
        bool is_known = relay_peer_find_user(fd, tcp_fd, &uid) == 0;

        io_close(&tcp_fd);
        c->is_of_nobody = !is_known && !c->hears_all;
        if (is_known && !c->hears_all && uid != geteuid() && uid != 0)
                return error_set(err, -EPERM, "%s: user %u listens there", c->name, uid);
        return 0;
}

/*
 * A forwarder (ssh -L, adb) accepts connections while no recorder listens behind it, and closes them.
 * Returns the descriptor of a connection that answers, or -errno.
 */
static int reach_once(struct capture *c, struct error *err)
{
        int fd = c->root_connection, r;

        c->root_connection = -1;
        if (fd < 0)
                fd = relay_address_connect(c->address, err);
        if (fd < 0)
                return fd;
        r = relay_intake_ask(fd, &c->place, err);
        if (r == 0 || r == -EPIPE || r == -ECONNRESET) /* it may have answered before it closed */
                r = await_answer(c, fd, err);
        if (r == 0)
                r = check_recorder(c, fd, err);
        if (r < 0)
                io_close(&fd);
        return r < 0 ? r : fd;
}

/* Waits for a recorder, or for a signal.  Returns the descriptor, or -errno. */
static int reach_recorder(struct capture *c, bool waits, struct error *err)
{
        struct pollfd stop = { .fd = c->signal_fd, .events = POLLIN };
        bool has_told = c->quiet, has_reached;
        int fd;

        for (;;) {
                fd = reach_once(c, err);
                has_reached = fd == -EPIPE || fd == -ETIMEDOUT;
                if (!waits || (fd != -ECONNREFUSED && fd != -ENOENT && !has_reached))
                        return fd;
                if (has_reached && !has_told)
                        complain("%s; waiting for a recorder", err->text);
                has_told = has_told || has_reached;
                if (poll(&stop, 1, TRY_AGAIN_MS) != 0)
                        return fd;
        }
}

/*
 * Under sudo the connection is made as root, whom the recorders of all users hear.  Before any byte of it is
 * read, and any file opened, the process becomes the invoking user.  Returns 0, or -errno after a complaint.
 */
static int become_user(struct capture *c, bool waits)
{
        struct pollfd stop = { .fd = c->signal_fd, .events = POLLIN };

        c->hears_all = geteuid() == 0;
        c->root_connection = -1;
        if (invoking_user_read().known)
                do
                        c->root_connection = relay_address_connect(c->address, NULL);
                while (waits && (c->root_connection == -ECONNREFUSED || c->root_connection == -ENOENT) &&
                       poll(&stop, 1, TRY_AGAIN_MS) == 0);
        return drop_rights_for_good("the same without sudo");
}

/* ---- the file ------------------------------------------------------------------------------------------ */

/*
 * Only one capture at a time may write a file.  A capture that was just killed releases its lock in a moment,
 * so this tries for a while.  Returns false if the other capture keeps the lock.
 */
static bool own_place(int place_fd)
{
        for (int i = 0; i < LOCK_TRIES; i++) {
                if (flock(place_fd, LOCK_EX | LOCK_NB) == 0)
                        return true;
                (void)poll(NULL, 0, TRY_AGAIN_MS);
        }
        return false;
}

static int refuse_shared_file(const struct capture *c)
{
        complain("error: %s: another capture is writing it", c->path);
        complain_try("hyprof capture -o FILE ..., with another FILE");
        return EXIT_STATUS_FAILED;
}

static bool has_nothing(int fd)
{
        struct stat status;

        return fstat(fd, &status) == 0 && status.st_size == 0;
}

/* Opens the files of an interrupted capture, if it can be resumed. */
static int find_rest(struct capture *c)
{
        int r = -ENOENT;

        c->fds[FD_PLACE] = open(c->place_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (c->fds[FD_PLACE] < 0)
                return EXIT_STATUS_OK;
        if (!own_place(c->fds[FD_PLACE]))
                return refuse_shared_file(c);
        c->fds[FD_FILE] = open(c->path, O_RDWR | O_CLOEXEC);
        if (c->fds[FD_FILE] >= 0)
                r = relay_place_read(c->fds[FD_PLACE], c->fds[FD_FILE], &c->place);
        if (r == 1)
                return EXIT_STATUS_OK;
        /* The file of a capture that was killed before its first whole chunk must not replace FILE.old. */
        if (r == 0 || (r == -EBADMSG && has_nothing(c->fds[FD_FILE])))
                (void)unlink(c->path);
        io_close(&c->fds[FD_FILE]);
        io_close(&c->fds[FD_PLACE]);
        return EXIT_STATUS_OK;
}

/* Opens the file beside the trace, and then a new trace, also for reading.  Returns 0, -EBUSY or -errno. */
static int open_new_files(struct capture *c, struct error *err)
{
        struct error why = ERROR_NONE;
        struct stat status;
        char own[32];
        int r;

        if (stat(c->path, &status) == 0 && !S_ISREG(status.st_mode))
                return error_set(err, -ESPIPE, "%s is not a file", c->path);
        c->fds[FD_PLACE] = open(c->place_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, OUTPUT_FILE_MODE);
        if (c->fds[FD_PLACE] < 0)
                return error_errno(err, "%s", c->place_path);
        if (!own_place(c->fds[FD_PLACE]))
                return -EBUSY;
        r = output_file_open(&c->file, c->path, c->mode, err);
        if (r < 0)
                return r;
        (void)snprintf(own, sizeof(own), "/proc/self/fd/%d", c->file.fd);
        c->fds[FD_FILE] = open(own, O_RDWR | O_CLOEXEC);
        if (c->fds[FD_FILE] < 0 || ftruncate(c->fds[FD_PLACE], 0) < 0)
                return error_errno(err, "%s", c->path);
        io_close(&c->file.fd);
        /* From now on a partial trace that cannot be resumed is known to be ours. */
        c->place = (struct relay_place){ .file_id = relay_place_identify(c->fds[FD_FILE]) };
        r = relay_place_write(c->fds[FD_PLACE], &c->place, &why);
        return r < 0 ? error_set(err, r, "%s: %s", c->place_path, why.text) : 0;
}

static int make_files(struct capture *c)
{
        struct error err = ERROR_NONE;
        int r = open_new_files(c, &err);

        if (r == 0)
                return EXIT_STATUS_OK;
        if (r == -EBUSY)
                return refuse_shared_file(c);
        if (c->fds[FD_PLACE] >= 0)
                (void)unlink(c->place_path);
        output_file_discard(&c->file);
        complain("error: cannot write the trace: %s", err.text);
        complain_try("hyprof capture -o FILE ..., with a FILE in a folder of yours");
        return EXIT_STATUS_FAILED;
}

/* ---- the child ----------------------------------------------------------------------------------------- */

/* Takes all chunks, and tells the parent once the file contains something. */
static int take_all_chunks(struct relay_intake *intake, int report_fd, struct error *err)
{
        const struct outcome begun = { .has_ended = false };
        bool has_begun = false;
        int r = 1;

        while (r == 1) {
                if (!has_begun && intake->place.file_bytes > 0) {
                        (void)io_write_all(report_fd, &begun, sizeof(begun), NULL);
                        has_begun = true;
                }
                r = relay_intake_next(intake, err);
        }
        return r;
}

static _Noreturn void take_in_child(struct capture *c, pid_t parent)
{
        const struct relay_place *place = &c->place;
        int *fds = c->fds;
        char boot_id[TRACE_ORIGIN_BOOT_ID_BYTES];
        struct boot_number taker;
        struct relay_intake *intake = calloc(1, sizeof(*intake));
        struct outcome outcome = {
                .has_ended = true, .code = -ENOMEM, .words = "no memory", .file_bytes = place->file_bytes
        };
        struct error err = ERROR_NONE;
        int r;

        trace_origin_read_boot_id(boot_id); /* before no file can be read any more */
        taker = boot_number_of((struct text_view){ boot_id, strlen(boot_id) });
        r = intake ? server_confinement_enter(fds, N_FDS, UINT64_MAX, &err) : -ENOMEM;
        if (intake)
                intake->place = *place;
        if (getppid() != parent)
                _exit(1); /* the parent was killed before this process could die with it */
        if (r == 0) {
                (void)trace_lock_take(fds[FD_FILE]); /* while it is locked, readers know that more comes */
                (void)signal(SIGTERM, SIG_IGN);      /* the parent hears it, and ends this */
                (void)server_confinement_close(
                        &err); /* if the kernel lacks the filter, the other limits hold */
                r = relay_intake_begin(intake, fds[FD_SOCKET], fds[FD_FILE], fds[FD_PLACE], place, &err);
        }
        if (r == 0 && c->is_of_nobody)
                r = error_set(&err, -EPERM, "%s: which user listens there is not known", c->name);
        if (r == 0) {
                relay_intake_measure(intake, taker);
                r = take_all_chunks(intake, fds[FD_REPORT], &err);
        }
        if (intake) {
                outcome = (struct outcome){ .has_ended = true,
                                            .code = r,
                                            .is_complete = intake->is_complete,
                                            .is_resumed = intake->is_resumed,
                                            .n_dropped = intake->n_dropped,
                                            .n_taken = intake->n_taken,
                                            .wire_bytes = intake->wire_bytes,
                                            .file_bytes = intake->place.file_bytes };
                (void)snprintf(outcome.words, sizeof(outcome.words), "%s", err.text);
        }
        (void)io_write_all(fds[FD_REPORT], &outcome, sizeof(outcome), NULL);
        _exit(0);
}

/*
 * Reads one report of the child, which is small enough to be written to a pipe at once.  Returns false if
 * the child is gone.
 */
static bool hear_child(int report_fd, struct outcome *ret)
{
        size_t got = 0;

        return io_read_full(report_fd, ret, sizeof(*ret), &got, NULL) == 0 && got == sizeof(*ret);
}

/*
 * The viewer closes the capture's descriptors: otherwise the file would stay locked, and the connection open,
 * after the process that takes the trace has ended.
 */
static void start_viewer(struct capture *c)
{
        const int foreign_fds[] = { c->fds[FD_SOCKET], c->fds[FD_FILE], c->fds[FD_PLACE],
                                    c->report_fd,      c->signal_fd,    c->names_fds[1] };

        if (!c->views || c->viewer != 0)
                return;
        c->viewer = viewer_child_start(&c->start, foreign_fds, sizeof(foreign_fds) / sizeof(foreign_fds[0]));
}

/* Shuts the connection down at a signal, which makes the child end. */
static void hear_signal(struct capture *c)
{
        struct signalfd_siginfo info;

        if (read(c->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
                return;
        c->is_terminated |= info.ssi_signo == SIGTERM;
        (void)shutdown(c->fds[FD_SOCKET], SHUT_RDWR);
}

static void wait_for_outcome(struct capture *c, struct outcome *ret)
{
        struct pollfd fds[2] = { { .fd = c->report_fd, .events = POLLIN },
                                 { .fd = c->signal_fd, .events = POLLIN } };

        for (ret->has_ended = false; !ret->has_ended;) {
                if (poll(fds, 2, -1) < 0)
                        continue;
                if (fds[1].revents != 0) {
                        hear_signal(c);
                        fds[1].fd = -1; /* a second signal is meant for what follows the capture */
                }
                if (fds[0].revents == 0)
                        continue;
                if (!hear_child(c->report_fd, ret))
                        *ret = (struct outcome){ .has_ended = true,
                                                 .code = -EPROTO,
                                                 .words = "the process that takes the trace has died" };
                ret->words[sizeof(ret->words) - 1] = '\0';
                if (!ret->has_ended)
                        start_viewer(c);
        }
}

/* The trace does not begin to come. */
static void fail_to_take(const char *what, struct outcome *ret)
{
        ret->code = -errno;
        (void)snprintf(ret->words, sizeof(ret->words), "%s: %s", what, strerrordesc_np(-ret->code));
}

static void take_trace(struct capture *c, struct outcome *ret)
{
        int report[2];
        pid_t parent = getpid(), pid;

        if (pipe2(report, O_CLOEXEC) < 0) {
                fail_to_take("a pipe to the process that takes the trace", ret);
                return;
        }
        c->fds[FD_REPORT] = report[1];
        c->report_fd = report[0];
        pid = fork();
        if (pid == 0)
                take_in_child(c, parent);
        if (pid < 0)
                fail_to_take("a process that takes the trace", ret);
        io_close(&report[1]);
        if (pid > 0)
                wait_for_outcome(c, ret);
        io_close(&c->report_fd);
        while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

/* The error text of a failed write does not name the file. */
static bool is_of_disk(int code)
{
        return code == -ENOSPC || code == -EDQUOT || code == -EFBIG || code == -EIO || code == -EROFS;
}

/* Whether the capture can be resumed: find_rest() will find its files. */
static bool leaves_rest(const struct capture *c, const struct outcome *o)
{
        struct relay_place place;

        return !o->is_complete && relay_place_read(c->fds[FD_PLACE], c->fds[FD_FILE], &place) == 1;
}

static void report_outcome(const struct capture *c, const struct outcome *o)
{
        const char *path = c->path;

        if (!o->is_complete) {
                complain("error: %s%s%s", is_of_disk(o->code) ? path : "", is_of_disk(o->code) ? ": " : "",
                         o->words[0] != '\0' ? o->words : "the recording has no end");
                if (o->code == -ESTALE)
                        complain_try(
                                "hyprof capture -o FILE ..., with another FILE; or remove %s to begin anew",
                                c->place_path);
                else if (o->code == -EPERM)
                        complain_try(TRY_ANY_USER);
                else if (o->code == -EACCES)
                        complain_try(
                                "sudo hyprof capture ...; through ssh -L, log in there as the recorder's user");
                else if (o->code == -EUSERS)
                        complain_try("the same command again: they are closed after 5 seconds");
                else if (leaves_rest(c, o))
                        complain_try("the same command again, to go on: %s has what came", path);
                return;
        }
        if (o->n_dropped + o->n_taken > 0)
                complain("warning: %s not in the trace, which says so: %s had no room, %s went to an earlier "
                         "capture",
                         text_number_counted(o->n_dropped + o->n_taken, "events are").text,
                         text_number_count(o->n_dropped).text, text_number_count(o->n_taken).text);
        if (!c->quiet)
                complain("wrote %s (%s)%s", path, text_number_bytes(o->file_bytes).text,
                         o->is_resumed ? ", gone on with" : "");
}

/* Discards signals that the capture has obeyed: it ends with a status of its own.  Later signals end it. */
static void unblock_signals(const struct capture *c)
{
        struct signalfd_siginfo info;

        while (read(c->signal_fd, &info, sizeof(info)) > 0)
                ;
        (void)pthread_sigmask(SIG_SETMASK, &c->mask, NULL);
}

/*
 * Finds names that the recorder's machine did not have.  The trace is complete by then, so a signal only
 * ends the search.
 */
static int symbolize(struct arguments *args, const struct capture *c)
{
        if (args->no_symbolize)
                return EXIT_STATUS_OK;
        unblock_signals(c);
        if (drop_rights_to_read() < 0)
                return EXIT_STATUS_FAILED;
        if (c->quiet && add_word(args, "-q", NULL) < 0)
                return EXIT_STATUS_FAILED;
        args->words[args->n_words] = strdup(c->path);
        if (!args->words[args->n_words])
                return EXIT_STATUS_FAILED;
        return cmd_symbolize(++args->n_words, args->words);
}

/* Connects and opens the files.  No file is created before a recorder answers. */
static int begin_capture(struct capture *c, bool waits)
{
        struct error err = ERROR_NONE;
        int status = find_rest(c);

        if (status != EXIT_STATUS_OK)
                return status;
        c->fds[FD_SOCKET] = reach_recorder(c, waits, &err);
        if (c->fds[FD_SOCKET] < 0) {
                complain("error: no recorder %s: %s", c->fds[FD_SOCKET] == -EPERM ? "of yours" : "listens",
                         err.text);
                if (c->fds[FD_SOCKET] == -EPERM)
                        complain_try(TRY_ANY_USER);
                else if (!waits)
                        complain_try("hyprof capture --wait ...");
                return EXIT_STATUS_FAILED;
        }
        return c->fds[FD_FILE] >= 0 ? EXIT_STATUS_OK : make_files(c);
}

/*
 * Keeps the file beside the trace if the next capture needs it.  Without a new trace an earlier one is put
 * back.
 */
static void tidy_up(struct capture *c, const struct outcome *outcome)
{
        if (leaves_rest(c, outcome))
                return;
        (void)unlink(c->place_path);
        if (!outcome->is_complete)
                output_file_discard(&c->file);
}

/* Takes the trace.  Returns the exit status. */
static int take(struct arguments *args, struct capture *c)
{
        struct outcome outcome = { .code = 0 };
        int status = begin_capture(c, args->waits);

        if (status == EXIT_STATUS_OK) {
                take_trace(c, &outcome);
                report_outcome(c, &outcome);
                tidy_up(c, &outcome);
        }
        for (int i = 0; i < FD_REPORT; i++)
                io_close(&c->fds[i]);
        if (status != EXIT_STATUS_OK)
                return status;
        return outcome.is_complete ? symbolize(args, c) : EXIT_STATUS_FAILED;
}

/* The viewer keeps showing the captured trace until another signal. */
static int view(struct capture *c, int status)
{
        int viewed;

        io_close(&c->names_fds[1]);
        if (c->viewer == 0)
                return status;
        if (c->viewer < 0)
                return EXIT_STATUS_FAILED;
        viewer_child_end_at_signals(c->viewer);
        if (c->is_terminated)
                (void)kill(c->viewer, SIGTERM);
        viewed = viewer_child_wait(c->viewer);
        return status != EXIT_STATUS_OK ? status : viewed;
}

static int take_and_view(struct arguments *args, struct capture *c)
{
        int status;

        if (args->views && !args->no_symbolize && pipe2(c->names_fds, O_CLOEXEC) < 0) {
                complain("error: a pipe to the viewer: %s", strerrordesc_np(errno));
                return EXIT_STATUS_FAILED;
        }
        c->start = (struct viewer_start){ .traces = { .trace = c->path,
                                                      .source_folders = { .has_current = true } },
                                          .quiet = c->quiet,
                                          .follows = true,
                                          .ends_with_parent = true,
                                          .names_come_fd = c->names_fds[0] };
        status = view(c, take(args, c));
        io_close(&c->names_fds[0]);
        return status;
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;
        struct relay_address address;
        struct capture c = { .address = &address,
                             .path = common->output ? common->output : OPTION_DEFAULT_TRACE,
                             .file = { .fd = -1 },
                             .mode = common->mode,
                             .views = args->views,
                             .quiet = common->quiet,
                             .fds = { -1, -1, -1, -1 },
                             .names_fds = { -1, -1 } };
        sigset_t signals;
        int status;

        if (common->n_operands == 0) {
                complain("error: the address is missing");
                complain_try("hyprof capture 8086 -o FILE");
                return EXIT_STATUS_USAGE;
        }
        if (strcmp(c.path, "-") == 0) {
                complain(
                        "error: -o -: a capture is written to a file, so that it can go on after an interruption");
                complain_try("ssh BOARD hyprof record -o - -- COMMAND, for a pipe");
                return EXIT_STATUS_USAGE;
        }
        c.name = common->operands[0];
        (void)snprintf(c.place_path, sizeof(c.place_path), "%s" RELAY_PLACE_ENDING, c.path);
        status = parse(c.name, &address);
        if (status != EXIT_STATUS_OK)
                return status;
        (void)sigemptyset(&signals);
        (void)sigaddset(&signals, SIGINT);
        (void)sigaddset(&signals, SIGTERM);
        (void)pthread_sigmask(SIG_BLOCK, &signals, &c.mask);
        c.signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
        if (c.signal_fd < 0) {
                complain("error: a descriptor for signals: %s", strerrordesc_np(errno));
                return EXIT_STATUS_FAILED;
        }
        status = become_user(&c, args->waits) < 0 ? EXIT_STATUS_FAILED : take_and_view(args, &c);
        io_close(&c.root_connection);
        unblock_signals(&c);
        io_close(&c.signal_fd);
        return status;
}

const struct option_table *cmd_capture_options(void)
{
        return &table;
}

int cmd_capture(int argc, char **argv)
{
        struct arguments args = { .waits = false };
        const struct command_frame frame = {
                .table = &table, .take = take_option, .context = &args, .run = run
        };
        int status;

        args.words[args.n_words++] = (char[]){ "symbolize" };
        status = command_frame_run(&frame, argc, argv);
        for (int i = 1; i < args.n_words; i++)
                free(args.words[i]);
        return status;
}
