/* SPDX-License-Identifier: MIT */
#include "sampler/event_request.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

int event_request_add(struct event_request *request, const char *list, struct error *err)
{
        while (true) {
                size_t n = strcspn(list, ",");
                struct event_spec *spec = &request->specs[request->n_specs];
                int r;

                if (request->n_specs == EVENT_REQUEST_SPECS_MAX)
                        return error_set(err, -EINVAL, "more than %d events", EVENT_REQUEST_SPECS_MAX);
                r = event_spec_parse(list, n, spec, err);
                if (r < 0)
                        return r;
                spec->leader = (uint32_t)request->n_specs++;
                if (list[n] == '\0')
                        return 0;
                list += n + 1;
        }
}

/* The default event: cycles, and the CPU clock where there are none. */
int event_request_complete(struct event_request *request, bool has_hardware, bool *ret_fallback,
                           struct error *err)
{
        *ret_fallback = request->n_specs == 0 && !has_hardware;
        return request->n_specs > 0 ? 0
                                    : event_request_add(request, has_hardware ? "cycles" : "cpu-clock", err);
}
