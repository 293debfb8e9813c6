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

/* Each trace has two, from FD_TRACES on: the file and its index. */
enum { FD_LISTEN, FD_CHANNEL, FD_NAMES, FD_TRACES, N_FDS = FD_TRACES + 2 * N_WEB_SIDES };

/* One of the traces. */
struct view_side {
        const char *path; /* NULL = none */
        int *trace_fd, *index_fd;
        struct loaded_trace trace;
        struct timeline_index index;
        struct timeline_identity identity;
        bool has_index; /* from the cache, or whole by now */
        struct view_content content;
};

/* The process's own. */
struct view_server {
        const struct view_server_options *options;
        int fds[N_FDS];
        struct view_side sides[N_WEB_SIDES];
        struct view_side *built; /* whose index grows */
        struct live_trace live;  /* in place of the trace and its index while that grows */
        struct http_server *http;
};

static int tell_front(const struct view_server *s, enum web_message_kind kind, const struct error *why)
{
        struct web_message message;
        int r;

        web_message_init(&message, kind, s->built ? (uint32_t)(s->built - s->sides) : 0);
        if (why) {
                message.number = why->code;
                byte_buffer_add(&message.text, why->text, strlen(why->text));
        }
        r = web_channel_send(s->fds[FD_CHANNEL], &message, NULL);
        web_message_deinit(&message);
        return r;
}

/*
 * Opens a trace by its name, so that error messages contain the name; each request checks whether it is
 * still the same file.
 */
static int open_trace(struct view_side *side, struct error *err)
{
        int r = loaded_trace_open(&side->trace, side->path, err);

        if (r == 0)
                r = loaded_trace_read_names(&side->trace, err);
        return r < 0 ? r : view_content_set_trace(&side->content, &side->trace, err);
}

/* The follower closes its descriptor, so it gets one of its own. */
static int open_live(struct view_server *s, struct error *err)
{
        struct view_side *side = &s->sides[WEB_SIDE_AFTER];
        int fd = fcntl(*side->trace_fd, F_DUPFD_CLOEXEC, 0), r;

        if (fd < 0)
                return error_errno(err, "%s", side->path);
        r = live_trace_open(&s->live, fd, *side->index_fd, s->fds[FD_NAMES], side->path, err);
        side->content.identity.grows = true;
        side->content.identity.is_replaced = s->options->is_replaced;
        view_content_set_live(&side->content, &s->live.trace, &s->live.frames);
        return r;
}

/* Opens the index in the cache, or a file for a new one, because no file can be created later. */
static int open_index(const struct view_server *s, struct view_side *side, struct error *err)
{
        const struct timeline_cache *cache = s->options->follows ? NULL : s->options->cache;
        int r = timeline_identity_read(*side->trace_fd, &side->identity, err);

        if (r < 0)
                return r;
        side->has_index = cache && timeline_cache_load(cache, &side->identity, &side->index) == 1;
        if (side->has_index)
                *side->index_fd = side->index.pages.fd;
        else if (cache)
                *side->index_fd = timeline_cache_begin(cache, &side->identity, (long)getpid(), err);
        else
                *side->index_fd = io_open_unnamed(err);
        return *side->index_fd < 0 ? *side->index_fd : 0;
}

/* Opens the files that the confined process cannot open. */
static int open_side(struct view_server *s, enum web_side which, struct error *err)
{
        struct view_side *side = &s->sides[which];

        side->path = s->options->traces[which];
        side->trace_fd = &s->fds[FD_TRACES + 2 * which];
        side->index_fd = side->trace_fd + 1;
        *side->trace_fd = *side->index_fd = -1;
        view_content_init(&side->content);
        side->content.has_before = s->options->traces[WEB_SIDE_BEFORE] != NULL;
        if (!side->path)
                return 0;
        /* By now the name may be that of a FIFO, which would wait for its writer. */
        *side->trace_fd = open(side->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        return *side->trace_fd < 0 ? error_errno(err, "%s", side->path) : open_index(s, side, err);
}

/* The descriptors have other numbers now. */
static int read_side(struct view_server *s, struct view_side *side, struct error *err)
{
        int r;

        if (!side->path)
                return 0;
        if (side->has_index)
                side->index.pages.fd = *side->index_fd;
        side->content.trace_fd = *side->trace_fd;
        r = trace_identity_read(&side->content.identity, *side->trace_fd);
        if (r < 0)
                return error_set(err, r, "%s: %s", side->path, strerrordesc_np(-r));
        return s->options->follows ? open_live(s, err) : open_trace(side, err);
}

static int begin(struct view_server *s, struct error *err)
{
        struct http_server_options http = { .site = s->options->site };
        int r = 0;

        s->fds[FD_LISTEN] = s->options->listen_fd;
        s->fds[FD_CHANNEL] = s->options->channel_fd;
        s->fds[FD_NAMES] = s->options->names_fd;
        for (int i = 0; i < N_WEB_SIDES && r == 0; i++)
                r = open_side(s, (enum web_side)i, err);
        if (r < 0)
                return r;
        r = server_confinement_enter(s->fds, N_FDS, INDEX_BYTES_MAX, err);
        for (int i = 0; i < N_WEB_SIDES && r == 0; i++)
                r = read_side(s, &s->sides[i], err);
        if (r < 0)
                return r;
        http.listen_fd = s->fds[FD_LISTEN];
        http.channel_fd = s->fds[FD_CHANNEL];
        for (int i = 0; i < N_WEB_SIDES; i++) {
                http.contents[i] = s->sides[i].path ? &s->sides[i].content : NULL;
                http.kept[i] = s->options->kept[i];
        }
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

        s->built->content.progress = part;
        return http_server_step(s->http, 0, &err) == 1 ? 0 : -ECANCELED;
}

static int make_index(struct view_server *s, struct view_side *side, struct error *err)
{
        struct timeline_build_options options = { .progress = serve_meanwhile, .context = s };
        int r = timeline_index_init(&side->index, *side->index_fd, side->trace.start_ns,
                                    side->trace.end_ns - side->trace.start_ns);

        if (r < 0)
                return error_set(err, r, "no memory for the timeline");
        side->content.index = &side->index;
        s->built = side;
        r = timeline_builder_build(&side->index, &side->trace, &options, err);
        /*
         * An index does not record how its trace ended, so one of a damaged trace is not saved: the trace
         * is read again, with its warning.
         */
        if (r == 0 && side->trace.ending == TRACE_ENDING_WHOLE && s->options->cache &&
            timeline_directory_save(&side->index, &side->identity, NULL) == 0)
                (void)tell_front(s, WEB_MESSAGE_INDEX_DONE, NULL);
        return r;
}

/* A trace whose timeline cannot be built still has tables.  Returns 0 or -ECANCELED. */
static int build_index(struct view_server *s, struct view_side *side)
{
        struct error err = ERROR_NONE;
        int r = side->has_index ? 0 : make_index(s, side, &err);

        if (r == -ECANCELED)
                return r;
        if (r < 0)
                (void)snprintf(side->content.failure, sizeof(side->content.failure), "%s", err.text);
        if (r == 0)
                side->content.index = &side->index;
        side->content.is_whole = true;
        side->content.progress = 1;
        return 0;
}

/*
 * Serves until the recording is over and the front has been told so, and then goes on answering.  Returns 0
 * when the front is gone, or -errno.
 */
static int serve_live(struct view_server *s, struct error *err)
{
        struct view_content *content = &s->sides[WEB_SIDE_AFTER].content;
        int r;

        while ((r = live_trace_step(&s->live, err)) == 1) {
                content->index = s->live.has_begun ? &s->live.index : NULL;
                content->builder = s->live.has_begun ? &s->live.builder : NULL;
                content->progress = s->live.has_begun;
                r = http_server_step(s->http, s->live.is_behind ? 0 : TRACE_FOLLOW_LOOK_MS, err);
                if (r != 1)
                        return r;
        }
        if (r < 0)
                return r;
        (void)tell_front(s, WEB_MESSAGE_LIVE_OVER, NULL);
        return serve_on(s, err);
}

/* Serves traces that are complete.  Returns 0 when the front is gone, or -errno. */
static int serve_whole(struct view_server *s, struct error *err)
{
        for (int i = 0; i < N_WEB_SIDES; i++)
                if (s->sides[i].path && build_index(s, &s->sides[i]) < 0)
                        return 0;
        return serve_on(s, err);
}

int view_server_run(const struct view_server_options *options)
{
        struct view_server *s = calloc(1, sizeof(*s));
        struct error err = ERROR_NONE;
        int r;

        if (!s)
                return EXIT_FAILURE;
        s->options = options;
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
