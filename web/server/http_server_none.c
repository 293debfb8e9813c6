/* SPDX-License-Identifier: MIT */
/* Replaces http_server.c without libmicrohttpd: HYPROF_NO_MICROHTTPD=1, and static builds. */
#include "web/server/view_server.h"

#include "base/error.h"

#include <errno.h>

int http_server_new(const struct http_server_options *options, struct http_server **ret_server,
                    struct error *err)
{
        (void)options, (void)ret_server;
        return error_set(
                err, -ENOSYS,
                "this hyprof was built without a viewer; `hyprof export html` writes a page, and another machine can show the trace");
}

int http_server_step(struct http_server *server, int timeout_ms, struct error *err)
{
        (void)server, (void)timeout_ms;
        return error_set(err, -ENOSYS, "no viewer");
}
