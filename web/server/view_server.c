/* SPDX-License-Identifier: MIT */
#include "web/server/view_server.h"

#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "base/io.h"
#include "timeline/timeline_builder.h"
#include "timeline/timeline_cache.h"
#include "timeline/timeline_index.h"
#include "web/follow/live_trace.h"
#include "web/model/view_content.h"
#include "web/server/server_confinement.h"
#include "web/server/web_channel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INDEX_BYTES_MAX (UINT64_C(1) << 40)

enum { FD_LISTEN, FD_CHANNEL, FD_TRACE, FD_INDEX, FD_NAMES, N_FDS };

/* The process's own. */
struct view_server {
        const struct view_server_options *options;
        int fds[N_FDS];
        struct loaded_trace trace;
        struct live_trace live; /* in place of `trace` and `index` while the trace grows */
        struct timeline_index index;
        struct timeline_identity identity;
        bool has_index; /* from the cache, or whole by now */
        struct view_content content;
        struct http_server *http;
};

static int tell_front(const struct view_server *s, enum web_message_kind kind, const struct error *why)
{
        struct web_message message;
        int r;

        web_message_init(&message, kind, 0);
        if (why) {
                message.number = why->code;
                byte_buffer_add(&message.text, why->text, strlen(why->text));
        }
        r = web_channel_send(s->fds[FD_CHANNEL], &message, NULL);
        web_message_deinit(&message);
        return r;
}

/*
 * Opens the trace by its name, so that error messages contain the name; each request checks whether it is
 * still the same file.
 */
static int open_trace(struct view_server *s, struct error *err)
{
        int r = loaded_trace_open(&s->trace, s->options->trace, err);

        if (r == 0)
                r = loaded_trace_read_names(&s->trace, err);
        return r < 0 ? r : view_content_set_trace(&s->content, &s->trace, err);
}

/* The follower closes its descriptor, so it gets one of its own. */
static int open_live(struct view_server *s, struct error *err)
{
        int fd = fcntl(s->fds[FD_TRACE], F_DUPFD_CLOEXEC, 0), r;

        if (fd < 0)
                return error_errno(err, "%s", s->options->trace);
        r = live_trace_open(&s->live, fd, s->fds[FD_INDEX], s->fds[FD_NAMES], s->options->trace, err);
        s->content.identity.grows = true;
        s->content.identity.is_replaced = s->options->is_replaced;
        view_content_set_live(&s->content, &s->live.trace, &s->live.frames);
        return r;
}

/* Opens the index in the cache, or a file for a new one, because no file can be created later. */
static int open_index(struct view_server *s, struct error *err)
{
        const struct timeline_cache *cache = s->options->follows ? NULL : s->options->cache;
        int r = timeline_identity_read(s->fds[FD_TRACE], &s->identity, err);

        if (r < 0)
                return r;
        s->has_index = cache && timeline_cache_load(cache, &s->identity, &s->index) == 1;
        if (s->has_index)
                s->fds[FD_INDEX] = s->index.pages.fd;
        else if (cache)
                s->fds[FD_INDEX] = timeline_cache_begin(cache, &s->identity, (long)getpid(), err);
        else
                s->fds[FD_INDEX] = io_open_unnamed(err);
        return s->fds[FD_INDEX] < 0 ? s->fds[FD_INDEX] : 0;
}

static int begin(struct view_server *s, struct error *err)
{
        struct http_server_options http = { .site = s->options->site };
        int r;

        s->fds[FD_LISTEN] = s->options->listen_fd;
        s->fds[FD_CHANNEL] = s->options->channel_fd;
        s->fds[FD_NAMES] = s->options->names_fd;
        s->fds[FD_TRACE] = open(s->options->trace, O_RDONLY | O_CLOEXEC);
        if (s->fds[FD_TRACE] < 0)
                return error_errno(err, "%s", s->options->trace);
        r = open_index(s, err);
        if (r < 0)
                return r;
        r = server_confinement_enter(s->fds, N_FDS, INDEX_BYTES_MAX, err);
        if (r < 0)
                return r;
        if (s->has_index)
                s->index.pages.fd = s->fds[FD_INDEX]; /* it has another number now */
        s->content.trace_fd = s->fds[FD_TRACE];
        r = trace_identity_read(&s->content.identity, s->fds[FD_TRACE]);
        if (r < 0)
                return error_set(err, r, "%s: %s", s->options->trace, strerrordesc_np(-r));
        r = s->options->follows ? open_live(s, err) : open_trace(s, err);
        if (r < 0)
                return r;
        http.listen_fd = s->fds[FD_LISTEN];
        http.channel_fd = s->fds[FD_CHANNEL];
        http.content = &s->content;
        http.kept = s->options->kept;
        r = http_server_new(&http, &s->http, err);
        if (r == 0)
                (void)server_confinement_close(
                        NULL); /* where available; the other restrictions hold without it */
        return r;
}

/* Answers requests about the trace as it is now.  Returns 0 when the front is gone, or -errno. */
static int serve_on(struct view_server *s, struct error *err)
{
        int r;

        while ((r = http_server_step(s->http, -1, err)) == 1)
                ;
        return r;
}

/* Answers requests while the index grows, about everything that is over. */
static int serve_meanwhile(void *context, double part)
{
        struct view_server *s = context;
        struct error err = ERROR_NONE;

        s->content.progress = part;
        return http_server_step(s->http, 0, &err) == 1 ? 0 : -ECANCELED;
}

static int make_index(struct view_server *s, struct error *err)
{
        struct timeline_build_options options = { .progress = serve_meanwhile, .context = s };
        int r = timeline_index_init(&s->index, s->fds[FD_INDEX], s->trace.start_ns,
                                    s->trace.end_ns - s->trace.start_ns);

        if (r < 0)
                return error_set(err, r, "no memory for the timeline");
        s->content.index = &s->index;
        r = timeline_builder_build(&s->index, &s->trace, &options, err);
        /*
         * An index does not record how its trace ended, so one of a damaged trace is not saved: the trace
         * is read again, with its warning.
         */
        if (r == 0 && s->trace.ending == TRACE_ENDING_WHOLE && s->options->cache &&
            timeline_directory_save(&s->index, &s->identity, NULL) == 0)
                (void)tell_front(s, WEB_MESSAGE_INDEX_DONE, NULL);
        return r;
}

/* A trace whose timeline cannot be built still has tables.  Returns 0 or -ECANCELED. */
static int build_index(struct view_server *s)
{
        struct error err = ERROR_NONE;
        int r = s->has_index ? 0 : make_index(s, &err);

        if (r == -ECANCELED)
                return r;
        if (r < 0)
                (void)snprintf(s->content.failure, sizeof(s->content.failure), "%s", err.text);
        if (r == 0)
                s->content.index = &s->index;
        s->content.is_whole = true;
        s->content.progress = 1;
        return 0;
}

/*
 * Serves until the recording is over and the front has been told so, and then goes on answering.  Returns 0
 * when the front is gone, or -errno.
 */
static int serve_live(struct view_server *s, struct error *err)
{
        int r;

        while ((r = live_trace_step(&s->live, err)) == 1) {
                s->content.index = s->live.has_begun ? &s->live.index : NULL;
                s->content.builder = s->live.has_begun ? &s->live.builder : NULL;
                s->content.progress = s->live.has_begun;
                r = http_server_step(s->http, s->live.is_behind ? 0 : TRACE_FOLLOW_LOOK_MS, err);
                if (r != 1)
                        return r;
        }
        if (r < 0)
                return r;
        (void)tell_front(s, WEB_MESSAGE_LIVE_OVER, NULL);
        return serve_on(s, err);
}

/* Serves a trace that is complete.  Returns 0 when the front is gone, or -errno. */
static int serve_whole(struct view_server *s, struct error *err)
{
        return build_index(s) < 0 ? 0 : serve_on(s, err);
}

int view_server_run(const struct view_server_options *options)
{
        struct view_server *s = calloc(1, sizeof(*s));
        struct error err = ERROR_NONE;
        int r;

        if (!s)
                return EXIT_FAILURE;
        s->options = options;
        view_content_init(&s->content);
        s->content.has_before = options->has_before;
        r = begin(s, &err);
        if (r == 0)
                r = tell_front(s, WEB_MESSAGE_READY, NULL);
        else
                (void)tell_front(s, WEB_MESSAGE_FAILED, &err);
        if (r < 0)
                return EXIT_FAILURE;
        r = options->follows ? serve_live(s, &err) : serve_whole(s, &err);
        if (r < 0)
                (void)tell_front(s, WEB_MESSAGE_FAILED, &err);
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
