/* SPDX-License-Identifier: MIT */
/* For static builds, which have no libmicrohttpd. */
#include "web/server/http_server.h"

#include "base/error.h"

#include <errno.h>

int http_server_new(const struct http_server_options *options, struct http_server **ret_server,
                    struct error *err)
{
        (void)options, (void)ret_server;
        return error_set(
                err, -ENOTSUP,
                "this hyprof was built for a board, without a viewer; look at the trace on another machine");
}

int http_server_step(struct http_server *server, int timeout_ms, struct error *err)
{
        (void)server, (void)timeout_ms;
        return error_set(err, -ENOTSUP, "no viewer");
}
