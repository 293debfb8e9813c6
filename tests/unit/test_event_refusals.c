/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_set.c: where the kernel refuses the first event, the words say what it cannot do
 */
#include "base/error.h"
#include "sampler/events/event_set.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int code; /* what the kernel answers */

long __wrap_syscall(long number, ...);
long __real_syscall(long number, ...);

/* The linker takes it for syscall(). */
long __wrap_syscall(long number, ...)
{
        unsigned long a[6];
        va_list rest;

        va_start(rest, number);
        for (size_t i = 0; i < 6; i++)
                a[i] = va_arg(rest, unsigned long);
        va_end(rest);
        if (number != SYS_perf_event_open)
                return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
        errno = -code;
        return -1;
}

static const struct refusal {
        int code;
        enum event_scope_kind scope;
        const char *words;
} refusals[] = {
        { -EOPNOTSUPP, EVENT_SCOPE_CGROUP, "built without CONFIG_CGROUP_PERF" },
        { -EINVAL, EVENT_SCOPE_CGROUP, "built without CONFIG_CGROUP_PERF" },
        { -ENODEV, EVENT_SCOPE_CGROUP, "the event dummy is not available" },
        { -EACCES, EVENT_SCOPE_CGROUP, "not permitted to open the event dummy on a cgroup" },
        { -EACCES, EVENT_SCOPE_CPUS, "not permitted to open the event dummy system-wide" },
        { -EINVAL, EVENT_SCOPE_CPUS, "the kernel refuses the event dummy" },
};

START_LOOP_TEST(test_words, 0, (int)(sizeof(refusals) / sizeof(refusals[0])))
{
        const struct refusal *refusal = &refusals[_i];
        struct event_request request = { .n_specs = 1, .rate_hz = 99 };
        struct event_set_options options = { .attr = { .request = &request, .ring_bytes = 65536 },
                                             .tracker_ring_bytes = 65536,
                                             .scope = refusal->scope };
        struct error err = ERROR_NONE;
        struct event_set set;

        request.specs[0] =
                (struct event_spec){ .name = "cpu-clock", .type = PERF_TYPE_SOFTWARE, .unit = "ns" };
        code = refusal->code;
        ck_assert_int_eq(event_set_open(&set, &options, &err), code);
        ck_assert_msg(strstr(err.text, refusal->words) != NULL, "%s", err.text);
}
END_TEST
