/* SPDX-License-Identifier: MIT */
#include "web/server/view_front.h"

#include "base/error.h"
#include "base/io.h"
#include "timeline/timeline_cache.h"
#include "web/follow/live_trace.h"
#include "web/model/trace_identity.h"
#include "web/request/kept_values.h"
#include "web/request/web_question.h"
#include "web/server/answer_jobs.h"
#include "web/server/answer_process.h"
#include "web/server/browser_page.h"
#include "web/server/nearby_traces.h"
#include "web/server/view_server.h"
#include "web/server/web_channel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BACKLOG       64
#define URL_BYTES     (sizeof("http://.localhost:65535//") + 2 * (size_t)WEB_TOKEN_BYTES)
#define HTTP_BAD      400
#define HTTP_REPLACED 409
#define HTTP_INTERNAL 500

/* An answer that a child works on. */
struct running_answer {
        uint32_t id;
        struct answer_process process; /* pid 0 = free */
};

struct view_front {
        const struct view_front_options *options;
        struct web_site site;
        const char *paths[N_WEB_SIDES]; /* NULL = none before */
        char *chosen;                   /* a path that is one of these: of a trace to compare with; heap */
        const char *former;             /* until a server has read the chosen one: what was there before it */
        char *former_chosen;            /* likewise; heap */
        struct error not_shown;         /* why the one chosen last is not shown; code 0 = it is */
        bool is_trying;                 /* the server has not read the chosen one yet */
        struct trace_identity traces[N_WEB_SIDES];
        struct timeline_identity indexes[N_WEB_SIDES]; /* of the traces, for the cache */
        int listen_fd, channel_fd, signal_fd;
        pid_t server;
        struct running_answer answers[ANSWER_JOBS_RUNNING_MAX];
        struct browser_page page;
        struct live_symbols symbols; /* while the trace grows */
        struct kept_values kept[N_WEB_SIDES];
        struct byte_buffer keeping; /* the parts that have come of a value that the page keeps */
        bool is_ready, is_over;
        bool is_deaf;          /* the server has closed its channel: its exit status will say why */
        bool follows;          /* the trace grows still */
        bool is_live_over;     /* the following server has reached the end of the trace */
        bool is_server_ending; /* the server was told to end, and receives nothing more */
        bool names_come;       /* and the writer still adds names: see names_come_fd */
};

/*
 * ---- the beginning --------------------------------------------------------------------------------------
 */

static int put_random_digits(char *out, struct error *err)
{
        uint8_t bytes[WEB_TOKEN_BYTES / 2];

        if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
                return error_errno(err, "random bytes for the address");
        for (size_t i = 0; i < sizeof(bytes); i++)
                (void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
        return 0;
}

/*
 * The name gives the site an origin of its own.  If others could know the name and port in advance, another
 * user could have left a service worker in the browser, which would then see the token.  The name is not
 * the token, because resolvers may hear the name.
 */
static int make_site(struct web_site *site, struct error *err)
{
        int r = put_random_digits(site->token, err);

        if (r == 0)
                r = put_random_digits(site->name, err);
        if (r == 0)
                memcpy(site->name + WEB_TOKEN_BYTES, WEB_NAME_SUFFIX, sizeof(WEB_NAME_SUFFIX));
        return r;
}

static int bind_port(int fd, uint32_t port)
{
        struct sockaddr_in address = { .sin_family = AF_INET,
                                       .sin_port = htons((uint16_t)port),
                                       .sin_addr = { htonl(INADDR_LOOPBACK) } };

        return bind(fd, (struct sockaddr *)&address, sizeof(address));
}

static int open_socket(struct view_front *f, struct error *err)
{
        struct sockaddr_in address = { .sin_family = AF_INET };
        socklen_t n = sizeof(address);
        int one = 1;

        f->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (f->listen_fd < 0)
                return error_errno(err, "a socket for the viewer");
        (void)setsockopt(f->listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
        if (bind_port(f->listen_fd, f->options->port) < 0 || listen(f->listen_fd, BACKLOG) < 0 ||
            getsockname(f->listen_fd, (struct sockaddr *)&address, &n) < 0)
                return error_errno(err, "port %u of 127.0.0.1", (unsigned)f->options->port);
        f->site.port = ntohs(address.sin_port);
        return 0;
}

static int read_identity(struct trace_identity *ret, struct timeline_identity *ret_index, const char *path,
                         struct error *err)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for its writer */
        struct stat status;
        int r;

        if (fd < 0)
                return error_errno(err, "%s", path);
        r = trace_identity_read(ret, fd);
        if (r < 0)
                (void)error_set(err, r, "%s: %s", path, strerrordesc_np(-r));
        else if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode))
                r = error_set(err, -EISDIR, "%s: is a directory, and a trace is a file", path);
        else if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
                r = error_set(err, -EINVAL,
                              "%s: is no regular file, and the viewer reads a trace again and again", path);
        if (r == 0)
                r = timeline_identity_read(fd, ret_index, err);
        io_close(&fd);
        return r;
}

static int read_kept(struct view_front *f, enum web_side side, struct error *err)
{
        int fd = open(f->paths[side], O_RDONLY | O_CLOEXEC | O_NONBLOCK);

        if (fd < 0)
                return error_errno(err, "%s", f->paths[side]);
        kept_values_init(&f->kept[side], f->options->kept, fd);
        io_close(&fd);
        return 0;
}

static int read_side(struct view_front *f, enum web_side side, struct error *err)
{
        int r = read_identity(&f->traces[side], &f->indexes[side], f->paths[side], err);

        return r < 0 ? r : read_kept(f, side, err);
}

static int open_signals(struct view_front *f, struct error *err)
{
        sigset_t set;

        (void)sigemptyset(&set);
        (void)sigaddset(&set, SIGINT);
        (void)sigaddset(&set, SIGTERM);
        (void)sigaddset(&set, SIGHUP);
        (void)sigaddset(&set, SIGCHLD);
        errno = pthread_sigmask(SIG_BLOCK, &set, NULL);
        if (errno != 0)
                return error_errno(err, "blocking signals");
        f->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        return f->signal_fd < 0 ? error_errno(err, "a descriptor for signals") : 0;
}

static int start_server(struct view_front *f, struct error *err)
{
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
                return error_errno(err, "a channel to the server");
        f->server = fork();
        if (f->server == 0) {
                struct view_server_options options = {
                        .site = f->site,
                        .traces = { f->paths[WEB_SIDE_AFTER], f->paths[WEB_SIDE_BEFORE] },
                        .cache = f->options->cache,
                        .follows = f->follows,
                        .is_replaced = f->names_come,
                        .kept = { &f->kept[WEB_SIDE_AFTER], &f->kept[WEB_SIDE_BEFORE] },
                        .listen_fd = f->listen_fd,
                        .channel_fd = pair[1],
                        .names_fd = f->symbols.names_fd
                };

                _exit(view_server_run(&options));
        }
        io_close(&pair[1]);
        f->channel_fd = pair[0];
        f->is_deaf = f->is_server_ending = false;
        if (f->server > 0)
                return 0;
        f->server = 0;
        return error_errno(err, "fork of the server");
}

static int begin(struct view_front *f, struct error *err)
{
        int r;

        f->paths[WEB_SIDE_AFTER] = f->options->trace;
        f->paths[WEB_SIDE_BEFORE] = f->options->before;
        r = read_side(f, WEB_SIDE_AFTER, err);
        f->follows = f->traces[WEB_SIDE_AFTER].grows = f->options->follows;
        f->names_come = f->traces[WEB_SIDE_AFTER].is_replaced = f->follows && f->options->names_come_fd > 0;
        if (r == 0 && f->paths[WEB_SIDE_BEFORE])
                r = read_side(f, WEB_SIDE_BEFORE, err);
        if (r == 0)
                r = make_site(&f->site, err);
        if (r == 0)
                r = open_socket(f, err);
        if (r == 0)
                r = open_signals(f, err);
        if (r == 0 && f->follows)
                r = live_symbols_start(&f->symbols, f->options->trace, f->options->symbols, err);
        if (r == 0)
                r = start_server(f, err);
        return r;
}

/*
 * ---- answers --------------------------------------------------------------------------------------------
 */

static bool are_traces_current(const struct view_front *f)
{
        for (int i = 0; i < N_WEB_SIDES; i++)
                if (f->paths[i] && !trace_identity_is_at(&f->traces[i], f->paths[i]))
                        return false;
        return true;
}

static struct running_answer *find_answer(struct view_front *f, uint32_t id)
{
        for (size_t i = 0; i < ANSWER_JOBS_RUNNING_MAX; i++)
                if (f->answers[i].process.pid != 0 && f->answers[i].id == id)
                        return &f->answers[i];
        return NULL;
}

static struct running_answer *find_free_answer(struct view_front *f)
{
        for (size_t i = 0; i < ANSWER_JOBS_RUNNING_MAX; i++)
                if (f->answers[i].process.pid == 0)
                        return &f->answers[i];
        return NULL;
}

static int refuse(const struct view_front *f, uint32_t id, int status, const char *words, struct error *err)
{
        struct web_message message;
        int r;

        web_message_init(&message, WEB_MESSAGE_REFUSED, id);
        message.number = status;
        byte_buffer_add(&message.text, words, strlen(words));
        r = web_channel_send(f->channel_fd, &message, err);
        web_message_deinit(&message);
        return r;
}

/* A question about a comparison where there is none, or the other way round. */
static const char *find_mistake(const struct view_front *f, const struct web_question *q)
{
        if (q->name == WEB_QUESTION_PAGE && f->follows)
                return "the recording still runs: a page is made of one that is over";
        if (f->paths[WEB_SIDE_BEFORE])
                return NULL;
        if (q->name == WEB_QUESTION_DIFF || q->values[WEB_PARAMETER_SIDE])
                return "there is one trace only: start hyprof view BEFORE AFTER";
        return NULL;
}

static const struct trace_identity *trace_of(const struct view_front *f, const struct web_question *q)
{
        const char *side = q->values[WEB_PARAMETER_SIDE];

        if (q->name == WEB_QUESTION_DIFF || q->name == WEB_QUESTION_PAGE)
                return NULL; /* several traces, or several passes: no one position */
        return &f->traces[side && strcmp(side, "before") == 0 ? WEB_SIDE_BEFORE : WEB_SIDE_AFTER];
}

static int start_answer(struct view_front *f, uint32_t id, const struct web_question *question,
                        struct error *err)
{
        struct running_answer *answer = find_free_answer(f);
        struct web_answers answers = *f->options->answers;
        const char *mistake = find_mistake(f, question);
        struct web_message message;
        struct error why = ERROR_NONE;
        int r;

        if (mistake)
                return refuse(f, id, HTTP_BAD, mistake, err);
        if (!are_traces_current(f))
                return refuse(f, id, HTTP_REPLACED,
                              "the trace was replaced by another file: start hyprof view again", err);
        if (!answer)
                return refuse(f, id, HTTP_INTERNAL, "too many answers at once", err);
        answers.before = f->paths[WEB_SIDE_BEFORE]; /* it may have been chosen on the page */
        if (answer_process_start(&answer->process, &answers, question, trace_of(f, question),
                                 f->symbols.names_fd, &why) < 0)
                return refuse(f, id, HTTP_INTERNAL, why.text, err);
        answer->id = id;
        web_message_init(&message, WEB_MESSAGE_STARTED, id);
        message.fds[0] = answer->process.out_fd;
        message.fds[1] = answer->process.words_fd;
        message.fds[2] = answer->process.progress_fd;
        answer->process.out_fd = answer->process.words_fd = answer->process.progress_fd = -1;
        r = web_channel_send(f->channel_fd, &message, err);
        web_message_deinit(&message);
        return r;
}

/* The front does not trust the server: it parses the question again. */
static int take_question(struct view_front *f, const struct web_message *message, struct error *err)
{
        struct web_question question;
        struct error why = ERROR_NONE;
        int r;

        web_question_init(&question);
        r = web_question_parse(&question, (const char *)message->text.data, message->text.used_bytes, &why);
        r = r < 0 ? refuse(f, message->id, HTTP_BAD, why.text, err)
                  : start_answer(f, message->id, &question, err);
        web_question_deinit(&question);
        return r;
}

static int note_end(const struct view_front *f, uint32_t id, int wait_status, struct error *err)
{
        struct web_message message;
        int r;

        web_message_init(&message, WEB_MESSAGE_ENDED, id);
        message.number = are_traces_current(f) ? wait_status : -1;
        r = web_channel_send(f->channel_fd, &message, err);
        web_message_deinit(&message);
        return r;
}

/*
 * ---- while it runs --------------------------------------------------------------------------------------
 */

static void announce(struct view_front *f)
{
        char url[URL_BYTES];

        (void)snprintf(url, sizeof(url), "http://%s:%u/%s/", f->site.name, (unsigned)f->site.port,
                       f->site.token);
        f->is_ready = true;
        f->options->ready(f->options->context, url, f->site.port);
        if (f->options->opens_browser)
                browser_page_open(&f->page, url);
}

static void stop_answers(struct view_front *f)
{
        for (size_t i = 0; i < ANSWER_JOBS_RUNNING_MAX; i++)
                (void)answer_process_stop(&f->answers[i].process);
}

/*
 * Ends the server and its requests when the recording is over and has its names; then the next server
 * starts.
 */
static void end_live_server(struct view_front *f)
{
        if (!f->is_live_over || f->names_come || f->is_server_ending)
                return;
        stop_answers(f);
        f->is_server_ending = true;
        (void)shutdown(f->channel_fd, SHUT_WR);
}

static void note_names(struct view_front *f)
{
        f->names_come = false;
        end_live_server(f);
}

/* A trace that is followed may have had no first bytes until now. */
static void identify_trace(struct view_front *f)
{
        struct kept_values *kept = &f->kept[WEB_SIDE_AFTER];
        int fd = kept->is_identified ? -1 : open(f->paths[WEB_SIDE_AFTER], O_RDONLY | O_CLOEXEC | O_NONBLOCK);

        if (fd >= 0)
                kept_values_identify(kept, fd);
        io_close(&fd);
}

/* Tells the server what came of its message.  @words: the reply, or why there is none */
static int tell_server(const struct view_front *f, int r, struct text_view words, struct error *err)
{
        struct web_message reply;

        if (f->is_server_ending) /* it hears nothing more */
                return 0;
        web_message_init(&reply, WEB_MESSAGE_KEPT, 0);
        reply.number = r;
        byte_buffer_add(&reply.text, words.bytes, words.n_bytes);
        r = web_channel_send(f->channel_fd, &reply, err);
        web_message_deinit(&reply);
        return r;
}

/*
 * Takes a part of a value that the page wants to keep; after the last part, the server is told whether the
 * value is kept.
 */
static int take_kept_part(struct view_front *f, const struct web_message *message, struct error *err)
{
        struct kept_values *kept = &f->kept[message->id & WEB_KEEP_BEFORE ? WEB_SIDE_BEFORE : WEB_SIDE_AFTER];
        struct error why = ERROR_NONE;
        int r;

        if (message->id & WEB_KEEP_FIRST)
                byte_buffer_clear(&f->keeping);
        if (message->number < 0 || message->number >= N_KEPT_NAMES ||
            f->keeping.used_bytes + message->text.used_bytes > KEPT_VALUE_BYTES_MAX)
                return error_set(err, -EBADMSG, "the server sent an invalid value to keep");
        byte_buffer_add(&f->keeping, message->text.data, message->text.used_bytes);
        if (message->id & WEB_KEEP_MORE)
                return 0;
        identify_trace(f);
        r = f->keeping.failed ? error_set(&why, -ENOMEM, "no memory")
                              : kept_values_set(kept, (enum kept_name)message->number,
                                                (struct text_view){ (const char *)f->keeping.data,
                                                                    f->keeping.used_bytes },
                                                &why);
        if (r == 0)
                r = kept_values_save(kept, (enum kept_name)message->number, &why);
        return tell_server(f, r, (struct text_view){ why.text, r < 0 ? strlen(why.text) : 0 }, err);
}

static int list_nearby(struct view_front *f, struct error *err)
{
        struct byte_buffer list = { .data = NULL };
        struct error why = ERROR_NONE;
        struct text_view words;
        int r = nearby_traces_put(f->paths[WEB_SIDE_AFTER], f->chosen && !f->is_trying, f->not_shown.text,
                                  &list, &why);

        if (r == 0 && list.used_bytes > WEB_CHANNEL_TEXT_MAX)
                r = error_set(&why, -EINVAL, "the names of the traces in this folder are too long");
        words = r < 0 ? (struct text_view){ why.text, strlen(why.text) }
                      : (struct text_view){ (const char *)list.data, list.used_bytes };
        r = tell_server(f, r, words, err);
        byte_buffer_deinit(&list);
        return r;
}

/* Removes the indexes that the server has not finished: it ends, or has ended. */
static void end_indexes(const struct view_front *f)
{
        for (int i = 0; f->options->cache && i < N_WEB_SIDES; i++)
                if (f->paths[i])
                        timeline_cache_end(f->options->cache, &f->indexes[i], (long)f->server, false);
}

/* Forgets the trace before. */
static void drop_before(struct view_front *f)
{
        kept_values_deinit(&f->kept[WEB_SIDE_BEFORE]);
        f->kept[WEB_SIDE_BEFORE] = (struct kept_values){ .folder = NULL };
        f->paths[WEB_SIDE_BEFORE] = NULL;
        free(f->chosen);
        f->chosen = NULL;
}

/* The one chosen last cannot be shown. */
static void return_to_former(struct view_front *f)
{
        struct error err = ERROR_NONE;

        drop_before(f);
        f->paths[WEB_SIDE_BEFORE] = f->former;
        f->chosen = f->former_chosen;
        f->former = f->former_chosen = NULL;
        if (f->paths[WEB_SIDE_BEFORE] && read_side(f, WEB_SIDE_BEFORE, &err) < 0)
                drop_before(f);
}

static void forget_former(struct view_front *f)
{
        free(f->former_chosen);
        f->former = f->former_chosen = NULL;
}

static int choose_before(struct view_front *f, struct text_view name, struct error *err)
{
        char *path;
        int r;

        if (f->options->follows && f->follows)
                return error_set(err, -EINVAL, "a comparison is of two recordings that are over");
        if (!are_traces_current(f))
                return error_set(err, -ESTALE,
                                 "the trace was replaced by another file: start hyprof view again");
        r = nearby_traces_find(f->paths[WEB_SIDE_AFTER], name, &path, err);
        if (r < 0)
                return r;
        end_indexes(f);
        f->former = f->paths[WEB_SIDE_BEFORE];
        f->former_chosen = f->chosen;
        f->chosen = NULL;
        drop_before(f);
        f->paths[WEB_SIDE_BEFORE] = f->chosen = path;
        r = read_side(f, WEB_SIDE_BEFORE, err);
        if (r < 0)
                return_to_former(f);
        return r;
}

/* The next server shows this trace as well. */
static int compare_with(struct view_front *f, const struct web_message *message, struct error *err)
{
        const struct text_view name = { (const char *)message->text.data, message->text.used_bytes };
        struct error why = ERROR_NONE;
        int r = f->is_server_ending ? error_set(&why, -EAGAIN, "another server is starting: try again")
                                    : choose_before(f, name, &why);
        int told = tell_server(f, r, (struct text_view){ why.text, r < 0 ? strlen(why.text) : 0 }, err);

        if (r < 0 || told < 0)
                return told;
        f->not_shown = ERROR_NONE;
        f->is_trying = f->is_server_ending = true;
        stop_answers(f);
        (void)shutdown(f->channel_fd, SHUT_WR);
        return 0;
}

static int take_message(struct view_front *f, const struct web_message *message, struct error *err)
{
        struct running_answer *answer;

        switch (message->kind) {
        case WEB_MESSAGE_READY:
                f->is_trying = false;
                forget_former(f);
                if (!f->is_ready)
                        announce(f);
                return 0;
        case WEB_MESSAGE_FAILED:
                (void)error_set(f->chosen ? &f->not_shown : err, /* see judge_end() */
                                message->number < 0 ? message->number : -EIO, "%.*s",
                                (int)message->text.used_bytes, (const char *)message->text.data);
                return f->chosen ? 0 : err->code;
        case WEB_MESSAGE_ASK:
                return f->is_server_ending ? 0 : take_question(f, message, err);
        case WEB_MESSAGE_INDEX_DONE:
                if (f->options->cache && message->id < N_WEB_SIDES)
                        timeline_cache_end(f->options->cache, &f->indexes[message->id], (long)f->server,
                                           true);
                return 0;
        case WEB_MESSAGE_KEEP:
                return take_kept_part(f, message, err);
        case WEB_MESSAGE_NEARBY:
                return list_nearby(f, err);
        case WEB_MESSAGE_COMPARE:
                return compare_with(f, message, err);
        case WEB_MESSAGE_LIVE_OVER:
                f->is_live_over = f->follows;
                end_live_server(f);
                return 0;
        case WEB_MESSAGE_CANCEL:
                answer = find_answer(f, message->id);
                if (answer)
                        (void)answer_process_stop(&answer->process);
                return 0;
        default:
                return 0;
        }
}

static int take_messages(struct view_front *f, struct error *err)
{
        for (;;) {
                struct web_message message;
                int r = web_channel_receive(f->channel_fd, &message, err);

                if (r == 1)
                        r = take_message(f, &message, err) < 0 ? err->code : 1;
                web_message_deinit(&message);
                if (r == -EAGAIN || r == 0)
                        return 0; /* if the server is gone, its exit status says why */
                if (r < 0)
                        return r;
        }
}

static int judge_server(int wait_status, struct error *err)
{
        if (WIFSIGNALED(wait_status))
                return error_set(err, -EPROTO, "the server was killed by signal %d (%s)",
                                 WTERMSIG(wait_status), sigdescr_np(WTERMSIG(wait_status)));
        return error_set(err, -EPROTO, "the server ended with status %d", WEXITSTATUS(wait_status));
}

/* The trace that was followed is read again from its beginning, with all names, by another server. */
static int restart_server(struct view_front *f, struct error *err)
{
        const struct trace_identity followed = f->traces[WEB_SIDE_AFTER];
        int r;

        live_symbols_stop(&f->symbols);
        f->follows = f->is_live_over = false;
        io_close(&f->channel_fd);
        r = read_identity(&f->traces[WEB_SIDE_AFTER], &f->indexes[WEB_SIDE_AFTER], f->options->trace, err);
        if (r == 0 && !trace_identity_is_at(&followed, f->options->trace))
                return error_set(err, -ESTALE, "%s: another file has its name now", f->options->trace);
        return r < 0 ? r : start_server(f, err);
}

static int judge_end(struct view_front *f, int wait_status, struct error *err)
{
        int r = take_messages(f, err);

        end_indexes(f);
        f->server = 0;
        if (r < 0)
                return r;
        if (f->is_server_ending)
                return restart_server(f, err);
        if (!f->chosen) /* else the next one is without what may be the cause */
                return judge_server(wait_status, err);
        if (f->not_shown.code == 0)
                (void)judge_server(wait_status, &f->not_shown);
        return_to_former(f);
        f->is_trying = false;
        return restart_server(f, err);
}

static int reap(struct view_front *f, struct error *err)
{
        int status;

        if (f->server != 0 && waitpid(f->server, &status, WNOHANG) == f->server)
                return judge_end(f, status, err);
        for (size_t i = 0; i < ANSWER_JOBS_RUNNING_MAX; i++) {
                struct running_answer *answer = &f->answers[i];

                if (answer->process.pid == 0 || waitpid(answer->process.pid, &status, WNOHANG) <= 0)
                        continue;
                answer->process.pid = 0;
                if (note_end(f, answer->id, status, err) < 0)
                        return err->code;
        }
        return 0;
}

static int take_signals(struct view_front *f, struct error *err)
{
        struct signalfd_siginfo info;
        bool has_child = false;

        while (read(f->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
                if (info.ssi_signo == SIGCHLD)
                        has_child = true;
                else
                        f->is_over = true;
        }
        return has_child && !f->is_over ? reap(f, err) : 0;
}

static int serve(struct view_front *f, struct error *err)
{
        struct pollfd fds[3] = { { .fd = f->signal_fd, .events = POLLIN },
                                 { .fd = f->channel_fd, .events = POLLIN },
                                 { .fd = f->options->names_come_fd } };
        int r = 0;

        while (r == 0 && !f->is_over) {
                fds[1].fd = f->is_deaf ? -1 : f->channel_fd;
                fds[2].fd = f->names_come ? f->options->names_come_fd : -1;
                if (poll(fds, 3, -1) < 0 && errno != EINTR)
                        return error_errno(err, "poll of the viewer");
                if (fds[1].revents)
                        r = take_messages(f, err);
                if (fds[1].revents & POLLHUP)
                        f->is_deaf = true;
                if (fds[2].revents)
                        note_names(f);
                if (r == 0 && fds[0].revents)
                        r = take_signals(f, err);
        }
        return r;
}

static void end(struct view_front *f)
{
        stop_answers(f);
        if (f->server != 0) {
                (void)kill(f->server, SIGKILL);
                while (waitpid(f->server, NULL, 0) < 0 && errno == EINTR)
                        ;
                end_indexes(f);
        }
        live_symbols_stop(&f->symbols);
        browser_page_close(&f->page);
        io_close(&f->listen_fd);
        io_close(&f->channel_fd);
        io_close(&f->signal_fd);
        byte_buffer_deinit(&f->keeping);
        kept_values_deinit(&f->kept[WEB_SIDE_AFTER]);
        drop_before(f);
        forget_former(f);
}

int view_front_run(const struct view_front_options *options, struct error *err)
{
        struct view_front f = { .options = options,
                                .listen_fd = -1,
                                .channel_fd = -1,
                                .signal_fd = -1,
                                .symbols = { .names_fd = -1 } };
        int r;

        for (size_t i = 0; i < ANSWER_JOBS_RUNNING_MAX; i++)
                f.answers[i].process =
                        (struct answer_process){ .out_fd = -1, .words_fd = -1, .progress_fd = -1 };
        r = begin(&f, err);
        if (r == 0)
                r = serve(&f, err);
        end(&f);
        return r;
}
