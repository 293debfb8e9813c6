/* SPDX-License-Identifier: MIT */
#include "web/server/view_server.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "view/document/json_value.h"
#include "web/model/page_files.h"
#include "web/model/view_content.h"
#include "web/request/kept_values.h"
#include "web/server/answer_jobs.h"
#include "web/server/web_channel.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CONNECTIONS_MAX         24    /* descriptors are few: CONFINEMENT_FILES_MAX */
#define CONNECTION_MEMORY_BYTES 65536 /* a longer request is refused */
#define CONNECTION_IDLE_S       5 /* then it is closed: any user of the machine may open one and be silent */

#define CONTENT_POLICY                                                                                        \
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " \
        "worker-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* One request from its first byte to the end of its reply. */
struct exchange {
        struct http_server *server;
        struct MHD_Connection *connection;
        char *target; /* heap */
        bool has_begun;
        bool is_gone;           /* the browser hung up */
        struct answer_job *job; /* whose end is awaited; NULL = none */
        bool is_page;           /* and it is no JSON: see WEB_QUESTION_PAGE */
        bool has_body;          /* it is to be kept, or to be compared with */
        bool compares;
        enum web_side side; /* for this trace */
        enum kept_name kept_name;
        struct byte_buffer body; /* what of it has come; owned */
};

struct http_server {
        struct http_server_options options;
        struct MHD_Daemon *daemon;
        int epoll_fd;
        struct answer_jobs jobs;
        bool is_kept;            /* the front has answered to a message: see WEB_MESSAGE_KEPT */
        struct error kept_why;   /* code 0 = it did what it was asked for */
        struct byte_buffer said; /* then its words; owned */
};

/*
 * ---- replies --------------------------------------------------------------------------------------------
 */

static void add_headers(struct MHD_Response *response, const char *type)
{
        static const char *const headers[][2] = {
                { "Content-Security-Policy", CONTENT_POLICY },
                { "X-Content-Type-Options", "nosniff" },
                { "Referrer-Policy", "no-referrer" },
                { "Cache-Control", "no-store" },
                { "Cross-Origin-Resource-Policy", "same-origin" },
                { "Cross-Origin-Opener-Policy", "same-origin" },
                { "X-Frame-Options", "DENY" },
        };

        (void)MHD_add_response_header(response, "Content-Type", type);
        for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
                (void)MHD_add_response_header(response, headers[i][0], headers[i][1]);
}

/* Takes the buffer's memory.  Returns what the handler of libmicrohttpd has to return. */
static enum MHD_Result reply_with(struct exchange *x, int status, const char *type, struct byte_buffer *body)
{
        struct MHD_Response *response;
        enum MHD_Result result;

        if (body->failed) {
                byte_buffer_deinit(body);
                return MHD_NO;
        }
        response = MHD_create_response_from_buffer(body->used_bytes, body->data, MHD_RESPMEM_MUST_FREE);
        if (!response) {
                byte_buffer_deinit(body);
                return MHD_NO;
        }
        *body = (struct byte_buffer){ .data = NULL };
        add_headers(response, type);
        if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
                (void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET");
        result = MHD_queue_response(x->connection, (unsigned)status, response);
        MHD_destroy_response(response);
        return result;
}

/* Error messages quote names of the trace, so a JSON printer escapes them. */
static enum MHD_Result reply_with_error(struct exchange *x, int status, struct text_view words)
{
        struct byte_buffer body = { .data = NULL };
        json_t *object = json_pack("{s:o*}", "error", json_value_string(words));
        char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

        json_decref(object);
        byte_buffer_add(&body, text ? text : "{}", text ? strlen(text) : 2);
        free(text);
        return reply_with(x, status, "application/json", &body);
}

static enum MHD_Result reply_with_failure(struct exchange *x, int r, const struct error *err)
{
        int status = r == -EINVAL ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_INTERNAL_SERVER_ERROR;

        return reply_with_error(x, status, (struct text_view){ err->text, strlen(err->text) });
}

static enum MHD_Result reply_with_words(struct exchange *x, int status, const char *words)
{
        return reply_with_error(x, status, (struct text_view){ words, strlen(words) });
}

static enum MHD_Result reply_with_forward(struct exchange *x)
{
        struct MHD_Response *response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
        char place[WEB_TOKEN_BYTES + 3] = "/";
        enum MHD_Result result;

        if (!response)
                return MHD_NO;
        memcpy(place + 1, x->server->options.site.token, WEB_TOKEN_BYTES);
        place[WEB_TOKEN_BYTES + 1] = '/';
        add_headers(response, "text/plain");
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, place);
        result = MHD_queue_response(x->connection, MHD_HTTP_FOUND, response);
        MHD_destroy_response(response);
        return result;
}

static const char *type_of(const char *name)
{
        const char *dot = strrchr(name, '.');

        if (dot && strcmp(dot, ".js") == 0)
                return "text/javascript; charset=utf-8";
        return dot && strcmp(dot, ".css") == 0 ? "text/css; charset=utf-8" : "text/html; charset=utf-8";
}

static enum MHD_Result reply_with_file(struct exchange *x, const char *name)
{
        struct byte_buffer body = { .data = NULL };
        struct page_file file;

        if (!page_files_find(name, &file))
                return reply_with_words(x, MHD_HTTP_NOT_FOUND, "the viewer has no such page");
        byte_buffer_add(&body, file.text.bytes, file.text.n_bytes);
        return reply_with(x, MHD_HTTP_OK, type_of(name), &body);
}

static enum MHD_Result reply_with_start(struct exchange *x)
{
        struct byte_buffer body = { .data = NULL };

        page_files_put_start(&body);
        return reply_with(x, MHD_HTTP_OK, "text/html; charset=utf-8", &body);
}

static enum MHD_Result reply_with_jobs(struct exchange *x)
{
        struct byte_buffer body = { .data = NULL };

        answer_jobs_list(&x->server->jobs, clock_raw_ns(), &body);
        return reply_with(x, MHD_HTTP_OK, "application/json", &body);
}

static enum MHD_Result reply_with_kept(struct exchange *x, enum web_side side)
{
        struct byte_buffer body = { .data = NULL };

        kept_values_put(x->server->options.kept[side], &body);
        return reply_with(x, MHD_HTTP_OK, "application/json", &body);
}

/*
 * ---- what is kept ---------------------------------------------------------------------------------------
 */

static void note_kept(struct http_server *s, const struct web_message *message)
{
        s->is_kept = true;
        s->kept_why = ERROR_NONE;
        byte_buffer_clear(&s->said);
        if (message->number >= 0)
                byte_buffer_add(&s->said, message->text.data, message->text.used_bytes);
        else
                (void)error_set(&s->kept_why, message->number, "%.*s", (int)message->text.used_bytes,
                                (const char *)message->text.data);
}

/* Returns 1, 0 if the front is gone, -errno. */
static int take_messages(struct http_server *s, struct error *err)
{
        for (;;) {
                struct web_message message;
                int r = web_channel_receive(s->options.channel_fd, &message, err);

                if (r == 1 && message.kind == WEB_MESSAGE_KEPT)
                        note_kept(s, &message);
                else if (r == 1)
                        answer_jobs_take(&s->jobs, &message);
                web_message_deinit(&message);
                if (r != 1)
                        return r == -EAGAIN ? 1 : r;
        }
}

/* Hands a value to the front, in parts.  Returns 0 or -errno. */
static int send_value(const struct http_server *s, const struct exchange *x, struct error *err)
{
        size_t at = 0;
        int r;

        do {
                size_t left = x->body.used_bytes - at;
                size_t n = left < WEB_CHANNEL_TEXT_MAX ? left : WEB_CHANNEL_TEXT_MAX;
                struct web_message message;

                web_message_init(&message, WEB_MESSAGE_KEEP,
                                 (n < left ? WEB_KEEP_MORE : 0) | (at == 0 ? WEB_KEEP_FIRST : 0) |
                                         (x->side == WEB_SIDE_BEFORE ? WEB_KEEP_BEFORE : 0));
                message.number = (int32_t)x->kept_name;
                byte_buffer_add(&message.text, x->body.data + at, n);
                r = message.text.failed ? error_set(err, -ENOMEM, "no memory for a message")
                                        : web_channel_send(s->options.channel_fd, &message, err);
                web_message_deinit(&message);
                at += n;
        } while (r == 0 && at < x->body.used_bytes);
        return r;
}

/* Waits for the front's answer; with it the front may be gone.  Returns 0, or -errno with words. */
static int wait_for_front(struct http_server *s, struct error *err)
{
        struct pollfd front = { .fd = s->options.channel_fd, .events = POLLIN };

        for (s->is_kept = false; !s->is_kept;) {
                int r;

                if (poll(&front, 1, -1) < 0 && errno != EINTR)
                        return error_errno(err, "poll of the viewer");
                r = take_messages(s, err);
                if (r <= 0 && !s->is_kept)
                        return r < 0 ? r : error_set(err, -EPIPE, "hyprof view is ending");
        }
        *err = s->kept_why;
        return err->code;
}

/* Asks the front, with the body of the request.  Returns 0, or -errno with words. */
static int ask_front(struct http_server *s, enum web_message_kind kind, const struct byte_buffer *body,
                     struct error *err)
{
        struct web_message message;
        int r;

        if (body->used_bytes > WEB_CHANNEL_TEXT_MAX)
                return error_set(err, -EINVAL, "the text of the request is too long");
        web_message_init(&message, kind, 0);
        byte_buffer_add(&message.text, body->data, body->used_bytes);
        r = message.text.failed ? error_set(err, -ENOMEM, "no memory for a message")
                                : web_channel_send(s->options.channel_fd, &message, err);
        web_message_deinit(&message);
        return r < 0 ? r : wait_for_front(s, err);
}

static enum MHD_Result reply_with_nearby(struct exchange *x)
{
        struct byte_buffer body = { .data = NULL };
        struct error err = ERROR_NONE;
        int r = ask_front(x->server, WEB_MESSAGE_NEARBY, &body, &err);

        if (r < 0)
                return reply_with_failure(x, r, &err);
        byte_buffer_add(&body, x->server->said.data, x->server->said.used_bytes);
        return reply_with(x, MHD_HTTP_OK, "application/json", &body);
}

/* Returns 0, or -errno with words. */
static int keep(struct http_server *s, const struct exchange *x, struct error *err)
{
        const struct text_view value = { (const char *)x->body.data, x->body.used_bytes };
        int r = kept_values_set(s->options.kept[x->side], x->kept_name, value, err);

        if (r == 0)
                r = send_value(s, x, err);
        return r < 0 ? r : wait_for_front(s, err);
}

/* Called for each part of the body, and once more at its end. */
static enum MHD_Result take_body(struct exchange *x, const char *upload, size_t *n_upload_bytes)
{
        struct byte_buffer done = { .data = NULL };
        struct error err = ERROR_NONE;
        int r;

        if (*n_upload_bytes > 0) {
                if (x->body.used_bytes <=
                    KEPT_VALUE_BYTES_MAX) /* a body that is too long is refused at its end */
                        byte_buffer_add(&x->body, upload, *n_upload_bytes);
                *n_upload_bytes = 0;
                return MHD_YES;
        }
        if (x->body.failed)
                r = error_set(&err, -ENOMEM, "no memory for a value to keep");
        else
                r = x->compares ? ask_front(x->server, WEB_MESSAGE_COMPARE, &x->body, &err)
                                : keep(x->server, x, &err);
        if (r < 0)
                return reply_with_failure(x, r, &err);
        byte_buffer_add(&done, "{}", 2);
        return reply_with(x, MHD_HTTP_OK, "application/json", &done);
}

/*
 * ---- what is asked --------------------------------------------------------------------------------------
 */

/* Passes on the query as text; the front parses it again, with the same function. */
static enum MHD_Result ask(struct exchange *x, const struct web_request *request)
{
        const char *query = strchr(x->target, '?') + 1;
        struct text_view text = { query, strlen(query) };
        struct answer_jobs *jobs = &x->server->jobs;
        struct error err = ERROR_NONE;

        x->is_page = request->question.name == WEB_QUESTION_PAGE;
        x->job = answer_jobs_add(jobs, text, request->question.job, x);
        if (!x->job)
                return reply_with_words(x, MHD_HTTP_SERVICE_UNAVAILABLE,
                                        "too many answers are awaited: try again when one has come");
        if (answer_jobs_start_next(jobs, &err) < 0)
                return reply_with_failure(x, err.code, &err);
        MHD_suspend_connection(x->connection);
        return MHD_YES;
}

static enum MHD_Result reply_with_content(struct exchange *x, const struct web_request *request)
{
        struct view_content *content = x->server->options.contents[request->side];
        struct byte_buffer body = { .data = NULL };
        struct error err = ERROR_NONE;
        bool is_binary = request->kind == WEB_REQUEST_LANES || request->kind == WEB_REQUEST_PICTURE;
        int r;

        if (!view_content_is_current(content))
                return reply_with_words(x, MHD_HTTP_CONFLICT,
                                        "the trace was replaced by another file: start hyprof view again");
        if (request->kind == WEB_REQUEST_MODEL)
                r = view_content_put_model(content, &body, &err);
        else if (request->kind == WEB_REQUEST_LANES)
                r = view_content_put_lanes(content, request, &body, &err);
        else if (request->kind == WEB_REQUEST_FIND)
                r = view_content_put_found(content, request, &body, &err);
        else if (request->kind == WEB_REQUEST_ARROWS)
                r = view_content_put_arrows(content, request, &body, &err);
        else if (request->kind == WEB_REQUEST_LAUNCHES)
                r = view_content_put_launches(content, request, &body, &err);
        else if (request->kind == WEB_REQUEST_SEARCH)
                r = view_search_put(content, request, &body, &err);
        else if (request->kind == WEB_REQUEST_STRINGS)
                r = view_content_put_strings(content, request, &body, &err);
        else if (request->kind == WEB_REQUEST_PICTURE)
                r = view_content_put_picture(content, request->ids[0], &body, &err);
        else
                r = view_content_put_stack(content, request->ids[0], &body, &err);
        if (r == 0)
                return reply_with(x, MHD_HTTP_OK, is_binary ? "application/octet-stream" : "application/json",
                                  &body);
        byte_buffer_deinit(&body);
        return reply_with_failure(x, r, &err);
}

static enum MHD_Result reply(struct exchange *x, const struct web_request *request)
{
        if (!x->server->options.contents[request->side])
                return reply_with_words(x, MHD_HTTP_NOT_FOUND,
                                        "there is one trace only: start hyprof view BEFORE AFTER");
        switch (request->kind) {
        case WEB_REQUEST_START:
                return reply_with_start(x);
        case WEB_REQUEST_FORWARD:
                return reply_with_forward(x);
        case WEB_REQUEST_FILE:
                return reply_with_file(x, request->file);
        case WEB_REQUEST_JOBS:
                return reply_with_jobs(x);
        case WEB_REQUEST_ANSWER:
                return ask(x, request);
        case WEB_REQUEST_KEPT:
                return reply_with_kept(x, request->side);
        case WEB_REQUEST_KEEP: /* when the body has come: keep() */
                x->has_body = true;
                x->side = request->side;
                x->kept_name = request->kept_name;
                return MHD_YES;
        case WEB_REQUEST_NEARBY:
                return reply_with_nearby(x);
        case WEB_REQUEST_COMPARE: /* likewise */
                x->has_body = x->compares = true;
                return MHD_YES;
        case WEB_REQUEST_MODEL:
        case WEB_REQUEST_LANES:
        case WEB_REQUEST_FIND:
        case WEB_REQUEST_ARROWS:
        case WEB_REQUEST_LAUNCHES:
        case WEB_REQUEST_SEARCH:
        case WEB_REQUEST_STRINGS:
        case WEB_REQUEST_STACK:
        case WEB_REQUEST_PICTURE:
                break;
        }
        return reply_with_content(x, request);
}

/* The answer has come. */
static enum MHD_Result reply_with_answer(struct exchange *x)
{
        struct answer_job *job = x->job;
        struct byte_buffer body = job->out;
        enum MHD_Result result;

        /*
         * "Nothing passes the filters" is sent as an answer, because browsers report other statuses as
         * faults of the page.
         */
        if (job->status == MHD_HTTP_OK) {
                job->out = (struct byte_buffer){ .data = NULL };
                result = reply_with(x, MHD_HTTP_OK,
                                    x->is_page ? "application/octet-stream" : "application/json", &body);
        } else {
                result = reply_with_error(
                        x, job->status == MHD_HTTP_UNPROCESSABLE_CONTENT ? MHD_HTTP_OK : job->status,
                        (struct text_view){ (const char *)job->words.data, job->words.used_bytes });
        }
        answer_jobs_remove(&x->server->jobs, job);
        x->job = NULL;
        return result;
}

static const char *header_of(const struct exchange *x, const char *name)
{
        return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result judge(struct exchange *x, const char *method)
{
        struct web_request_head head = { .method = method,
                                         .host = header_of(x, MHD_HTTP_HEADER_HOST),
                                         .origin = header_of(x, MHD_HTTP_HEADER_ORIGIN),
                                         .is_for_worker = header_of(x, "Service-Worker") != NULL,
                                         .target = x->target };
        struct error err = ERROR_NONE;
        struct web_request *request = malloc(sizeof(*request));
        enum MHD_Result result;
        int status;

        if (!request)
                return MHD_NO;
        status = web_request_parse(request, &x->server->options.site, &head, &err);
        result = status == MHD_HTTP_OK ? reply(x, request) : reply_with_words(x, status, err.text);
        web_request_deinit(request);
        free(request);
        return result;
}

/*
 * ---- libmicrohttpd's calls ------------------------------------------------------------------------------
 */

/*
 * The first call for a request: allocates its state.  The address is kept as received; only web_request
 * reads it.
 */
static void *begin_exchange(void *context, const char *target, struct MHD_Connection *connection)
{
        struct exchange *x = calloc(1, sizeof(*x));

        if (!x)
                return NULL;
        x->server = context;
        x->connection = connection;
        x->target = strdup(target);
        return x;
}

static void end_exchange(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
        struct exchange *x = *state;

        (void)connection;
        (void)code;
        *state = NULL;
        if (!x)
                return;
        if (x->job)
                answer_jobs_remove(&((struct http_server *)context)->jobs, x->job);
        byte_buffer_deinit(&x->body);
        free(x->target);
        free(x);
}

/* Called when the head has arrived, when the body has arrived, and when an awaited answer is ready. */
/* NOLINTNEXTLINE(readability-function-size): the parameters are the library's */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *n_upload_bytes, void **state)
{
        struct exchange *x = *state;

        (void)context;
        (void)connection;
        (void)url;
        (void)version;
        if (!x || !x->target || x->is_gone)
                return MHD_NO;
        if (x->job)
                return x->job->status != 0 ? reply_with_answer(x) : MHD_YES;
        if (x->has_body)
                return take_body(x, upload, n_upload_bytes);
        /* A request with a body is judged before the body comes. */
        if (!x->has_begun && strcmp(method, MHD_HTTP_METHOD_GET) == 0) {
                x->has_begun = true;
                return MHD_YES;
        }
        *n_upload_bytes = 0;
        return judge(x, method);
}

/*
 * ---- one step -------------------------------------------------------------------------------------------
 */

struct poll_list {
        struct pollfd fds[2 + ANSWER_JOBS_FDS + ANSWER_JOBS_MAX];
        size_t n_jobs;                             /* of the pipes, from 2 on */
        struct exchange *waiting[ANSWER_JOBS_MAX]; /* whose sockets come after the pipes */
        size_t n_waiting;
};

/* libmicrohttpd does not watch waiting connections, so a browser that hangs up is noticed here. */
static void add_waiting(const struct http_server *s, struct poll_list *list)
{
        for (size_t i = 0; i < ANSWER_JOBS_MAX; i++) {
                struct exchange *x = s->jobs.jobs[i].is_used ? s->jobs.jobs[i].context : NULL;
                const union MHD_ConnectionInfo *info =
                        x ? MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD) : NULL;

                if (!info)
                        continue;
                list->fds[2 + list->n_jobs + list->n_waiting] = (struct pollfd){ .fd = info->connect_fd,
                                                                                 .events = POLLRDHUP };
                list->waiting[list->n_waiting++] = x;
        }
}

static void end_gone_ones(struct http_server *s, const struct poll_list *list)
{
        for (size_t i = 0; i < list->n_waiting; i++) {
                struct exchange *x = list->waiting[i];

                if (!list->fds[2 + list->n_jobs + i].revents || !x->job)
                        continue;
                answer_jobs_remove(&s->jobs, x->job);
                x->job = NULL;
                x->is_gone = true;
                MHD_resume_connection(x->connection);
        }
}

static void resume_done_ones(struct http_server *s)
{
        for (size_t i = 0; i < ANSWER_JOBS_MAX; i++) {
                struct answer_job *job = &s->jobs.jobs[i];
                struct exchange *x = job->context;

                if (!job->is_used || job->status == 0 || job->is_resumed)
                        continue;
                job->is_resumed = true;
                MHD_resume_connection(x->connection);
        }
}

static int timeout(struct http_server *s, int timeout_ms)
{
        MHD_UNSIGNED_LONG_LONG own_ms;

        if (MHD_get_timeout(s->daemon, &own_ms) == MHD_YES &&
            (timeout_ms < 0 || own_ms < (unsigned)timeout_ms))
                return own_ms < 1000 ? (int)own_ms : 1000;
        return timeout_ms;
}

int http_server_step(struct http_server *s, int timeout_ms, struct error *err)
{
        struct poll_list list = { .n_jobs = 0 };
        int r = 1;

        list.fds[0] = (struct pollfd){ .fd = s->epoll_fd, .events = POLLIN };
        list.fds[1] = (struct pollfd){ .fd = s->options.channel_fd, .events = POLLIN };
        list.n_jobs = answer_jobs_poll(&s->jobs, list.fds + 2);
        add_waiting(s, &list);
        if (poll(list.fds, 2 + list.n_jobs + list.n_waiting, timeout(s, timeout_ms)) < 0)
                return errno == EINTR ? 1 : error_errno(err, "poll of the viewer");
        if (list.fds[1].revents)
                r = take_messages(s, err);
        answer_jobs_read(&s->jobs, list.fds + 2, list.n_jobs);
        end_gone_ones(s, &list);
        resume_done_ones(s);
        /*
         * Where as many connections were open as there may be, the first run ends those that are over, the
         * second closes them, and only the third listens again: no event would lead to these.
         */
        for (int n_runs = 0; n_runs < 3; n_runs++)
                if (MHD_run(s->daemon) != MHD_YES)
                        return error_set(err, -EIO, "libmicrohttpd cannot go on");
        resume_done_ones(s); /* for messages that the front sent while a value was being kept */
        if (r == 1 && answer_jobs_start_next(&s->jobs, err) < 0)
                r = 0;
        return r;
}

int http_server_new(const struct http_server_options *options, struct http_server **ret_server,
                    struct error *err)
{
        struct http_server *s = calloc(1, sizeof(*s));
        const union MHD_DaemonInfo *info;

        if (!s)
                return error_set(err, -ENOMEM, "no memory for the server");
        s->options = *options;
        answer_jobs_init(&s->jobs, options->channel_fd);
        s->daemon = MHD_start_daemon(
                MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, s, MHD_OPTION_LISTEN_SOCKET,
                options->listen_fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
                MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY_BYTES,
                MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)CONNECTION_IDLE_S, MHD_OPTION_URI_LOG_CALLBACK,
                begin_exchange, s, MHD_OPTION_NOTIFY_COMPLETED, end_exchange, s, MHD_OPTION_END);
        info = s->daemon ? MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
        if (!info) {
                free(s);
                return error_set(err, -EIO, "libmicrohttpd cannot serve the viewer");
        }
        s->epoll_fd = info->epoll_fd;
        *ret_server = s;
        return 0;
}
