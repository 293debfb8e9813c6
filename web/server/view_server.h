/* SPDX-License-Identifier: MIT */
/*
 * web/server/view_server.h - the life of the server's process: confinement, the trace, or the two that are
 * compared, with their indexes, then requests without end
 *
 * One that follows serves the trace as it grows.  When the recording is over it says so to the front
 * (WEB_MESSAGE_LIVE_OVER), and answers on until the front is gone: the next server, on the same socket, reads
 * the whole trace.
 *
 * Way of the data:  view_front -> fork -> [view_server] -> loaded_trace, timeline -> http_server
 */
#ifndef WEB_SERVER_VIEW_SERVER_H
#define WEB_SERVER_VIEW_SERVER_H

#include "web/request/web_request.h"

struct error;
struct http_server;
struct kept_values;
struct timeline_cache;
struct view_content;

struct view_server_options {
        struct web_site site;
        bool follows;                          /* the trace is still being written: live_trace */
        bool is_replaced;                      /* and is replaced by its writer at its end */
        const char *traces[N_WEB_SIDES];       /* paths; NULL = none before */
        const struct timeline_cache *cache;    /* where indexes are kept; NULL = nowhere */
        struct kept_values *kept[N_WEB_SIDES]; /* what is kept for the page */
        int listen_fd;                         /* owned, as the others */
        int channel_fd;
        int names_fd; /* of one that follows: the file of live_symbols; -1 = none */
};

/* Returns the exit status of the process: 0 = the front is gone. */
int view_server_run(const struct view_server_options *options);

/*
 * http_server.c - answers the viewer's requests, in a process of its own without rights
 *
 * Way of the data:  browser -> libmicrohttpd -> [http_server] -> web_request -> view_content, answer_jobs ->
 *                   browser
 *
 * One thread.  Answers of other processes are waited for together with the browser's sockets; but while the
 * front writes a value that the page keeps, 1 MiB at most, everything else waits.
 */

struct http_server_options {
        struct web_site site;
        int listen_fd;                              /* bound and listening; owned from now on */
        int channel_fd;                             /* to the front; borrowed */
        struct view_content *contents[N_WEB_SIDES]; /* borrowed; NULL = none before */
        struct kept_values *kept[N_WEB_SIDES];      /* borrowed; likewise */
};

/* Returns 0 or -errno; then nothing is left, and `listen_fd` is still the caller's. */
int http_server_new(const struct http_server_options *options, struct http_server **ret_server,
                    struct error *err);

/*
 * http_server_step() - answer what there is to answer
 * @timeout_ms:  how long to wait for something; 0 = do not; -1 = as long as it takes
 * Returns 1, 0 if the front is gone, -errno.
 */
int http_server_step(struct http_server *server, int timeout_ms, struct error *err);

#endif /* WEB_SERVER_VIEW_SERVER_H */
