/* SPDX-License-Identifier: MIT */
/*
 * web/server/http_server.h - answers the viewer's requests, in a process of its own without rights
 *
 * Way of the data:  browser -> libmicrohttpd -> [http_server] -> web_request -> view_content, answer_jobs ->
 *                   browser
 *
 * One thread.  Answers of other processes are waited for together with the browser's sockets; but while the
 * front writes a value that the page keeps, 1 MiB at most, everything else waits.
 */
#ifndef WEB_SERVER_HTTP_SERVER_H
#define WEB_SERVER_HTTP_SERVER_H

#include "web/request/web_request.h"

struct error;
struct http_server;
struct kept_values;
struct view_content;

struct http_server_options {
        struct web_site site;
        int listen_fd;                /* bound and listening; owned from now on */
        int channel_fd;               /* to the front; borrowed */
        struct view_content *content; /* borrowed */
        struct kept_values *kept;     /* borrowed */
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

#endif /* WEB_SERVER_HTTP_SERVER_H */
