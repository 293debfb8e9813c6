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
        { "sched:sched_nothing", "pid", -EINVAL, 0 },
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

static int take(void *context, const struct tracepoint_field *field)
{
        struct tracepoint_field *last = context;

        last[field->is_array] = *field;
        return 0;
}

START_TEST(test_all_fields)
{
        struct tracepoint_field last[2];
        struct fake_machine machine;

        fake_machine_make(&machine, FAKE_MACHINE_INTEL);
        ck_assert_int_eq(tracepoint_visit_fields(&machine.places, "sched:sched_waking", take, last, NULL), 0);
        ck_assert(last[1].is_text && !last[1].is_located && !last[0].is_text);
        ck_assert_uint_eq(last[1].size_bytes, 16);
        ck_assert_uint_eq(last[1].offset_bytes, 8);
        ck_assert(last[0].is_signed);
        ck_assert_uint_eq(last[0].offset_bytes, 24); /* the one after it lies too far away */
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
