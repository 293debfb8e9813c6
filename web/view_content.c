/* SPDX-License-Identifier: MIT */
#include "web/view_content.h"

#include "base/error.h"
#include "web/view_model.h"

#include <errno.h>
#include <string.h>

void view_content_init(struct view_content *c)
{
        *c = (struct view_content){ .trace_fd = -1 };
}

void view_content_deinit(struct view_content *c)
{
        byte_buffer_deinit(&c->model);
        view_content_init(c);
}

bool view_content_is_current(const struct view_content *c)
{
        return c->trace_fd < 0 || trace_identity_is_open(&c->identity, c->trace_fd);
}

int view_content_put_model(struct view_content *c, struct byte_buffer *out, struct error *err)
{
        return view_model_put(c, out, err);
}

static int no_index(struct error *err)
{
        return error_set(err, -EINVAL, "there is no index");
}

int view_content_put_lanes(struct view_content *c, const struct web_request *request, struct byte_buffer *out,
                           struct error *err)
{
        (void)c;
        (void)request;
        (void)out;
        return no_index(err);
}

int view_content_put_found(struct view_content *c, const struct web_request *request, struct byte_buffer *out,
                           struct error *err)
{
        (void)c;
        (void)request;
        (void)out;
        return no_index(err);
}

int view_content_put_strings(struct view_content *c, const struct web_request *request,
                             struct byte_buffer *out, struct error *err)
{
        (void)c;
        (void)request;
        (void)out;
        return no_index(err);
}

int view_content_put_stack(struct view_content *c, uint32_t stack, struct byte_buffer *out, struct error *err)
{
        (void)c;
        (void)stack;
        (void)out;
        return no_index(err);
}
