/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/tracepoint.c: a field is found by its whole name in what tracefs says of a
 * tracepoint, or not at all
 */
#include "base/error.h"
#include "sampler/events/tracepoint.h"
#include "tests/unit/fake_machine.h"
#include "tests/unit/unit_test.h"

#include <errno.h>

static const struct {
        const char *tracepoint, *field;
        int result;
        uint32_t offset_bytes;
} cases[] = {
        { "sched:sched_waking", "pid", 0, 24 },
        { "sched:sched_waking", "common_pid", 0, 4 },
        { "sched:sched_waking", "id", -ENOENT, 0 },
        { "sched:sched_waking", "comm", -ENOENT, 0 }, /* an array */
        { "sched:sched_waking", "far", -ENOENT, 0 },
        { "sched:sched_nothing", "pid", -ENOENT, 0 },
        { "sched_waking", "pid", -EINVAL, 0 },
        { "sched:../x", "pid", -EINVAL, 0 },
};

START_LOOP_TEST(test_fields, 0, sizeof(cases) / sizeof(cases[0]))
{
        struct error err = ERROR_NONE;
        struct fake_machine machine;
        uint32_t offset_bytes = 0;

        fake_machine_make(&machine, FAKE_MACHINE_INTEL);
        ck_assert_int_eq(tracepoint_find_field(&machine.places, cases[_i].tracepoint, cases[_i].field,
                                               &offset_bytes, &err),
                         cases[_i].result);
        ck_assert_uint_eq(offset_bytes, cases[_i].offset_bytes);
        ck_assert_int_eq(err.code, cases[_i].result);
        fake_machine_remove(&machine);
}
END_TEST

START_TEST(test_no_tracefs)
{
        struct fake_machine machine;
        uint32_t offset_bytes;

        fake_machine_make(&machine, FAKE_MACHINE_BARE);
        ck_assert_int_eq(
                tracepoint_find_field(&machine.places, "sched:sched_waking", "pid", &offset_bytes, NULL),
                -ENOENT);
        fake_machine_remove(&machine);
}
END_TEST
