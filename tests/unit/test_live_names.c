/* SPDX-License-Identifier: MIT */
/*
 * symbolize/process/live_names.c: a child names the frames that are new, once each, and leaves the CPUs to
 * the program that is recorded
 */
#include "format/trace_dictionary.h"
#include "symbolize/process/live_names.h"
#include "tests/unit/own_code.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

static __attribute__((noinline)) int first_function(volatile int *x)
{
        *x += 1;
        return *x;
}

static __attribute__((noinline)) int second_function(volatile int *x)
{
        *x += 2;
        return *x;
}

static struct trace_dictionary dictionary;
static struct live_names names;
static uint32_t module;
static size_t n_passed_on;

static void pass_on(void *context, const uint8_t *bytes, size_t n_bytes)
{
        (void)context, (void)bytes;
        n_passed_on += n_bytes;
}

static void setup(void)
{
        const struct live_names_options options = { .dictionary = &dictionary, .pass_on = pass_on };
        char *path = own_code_path();

        trace_dictionary_init(&dictionary, 0);
        module = own_code_add_module(&dictionary, path, OWN_CODE_BUILD_ID);
        live_names_init(&names, &options);
        n_passed_on = 0;
        free(path);
}

static void teardown(void)
{
        live_names_deinit(&names);
        trace_dictionary_deinit(&dictionary);
}

/* Waits for the child's end, which leaves it to be asked about, and takes in what it found. */
static int take_child(int *ret_niceness)
{
        pid_t child = names.child;
        siginfo_t ended;

        ck_assert_int_gt(child, 0);
        ck_assert_int_eq(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
        ck_assert_int_eq(ended.si_code, CLD_EXITED);
        ck_assert_int_eq(ended.si_status, 0);
        errno = 0;
        *ret_niceness = getpriority(PRIO_PROCESS, (id_t)child);
        ck_assert_int_eq(errno, 0);
        return live_names_step(&names);
}

static void expect_name(uint32_t frame, const char *wanted)
{
        struct text_view name;

        ck_assert_uint_eq(live_names_count(&names, frame), 1);
        name = live_names_function(&names, frame, 0);
        ck_assert_uint_eq(name.n_bytes, strlen(wanted));
        ck_assert_mem_eq(name.bytes, wanted, name.n_bytes);
}

START_TEST(a_child_names_new_frames_at_low_priority)
{
        int niceness;
        uint32_t frame;

        ck_assert_int_eq(live_names_step(&names), 0);
        ck_assert_int_eq(names.child, 0); /* nothing to name */
        frame = own_code_add_frame(&dictionary, module, own_code_file_offset((uint64_t)first_function), 0);
        ck_assert_int_eq(live_names_step(&names), 0);
        ck_assert_int_ge(live_names_fd(&names), 0);
        ck_assert_uint_eq(live_names_count(&names, frame), 0);
        ck_assert_int_eq(take_child(&niceness), 1);
        expect_name(frame, "first_function");
        ck_assert_uint_gt(n_passed_on, strlen("first_function"));
        ck_assert_int_gt(niceness, 0);

        names.next_ns = 0;
        ck_assert_int_eq(live_names_step(&names), 0);
        ck_assert_int_eq(live_names_fd(&names), -1); /* it has its name */
        frame = own_code_add_frame(&dictionary, module, own_code_file_offset((uint64_t)second_function), 0);
        ck_assert_int_eq(live_names_step(&names), 0);
        ck_assert_int_eq(take_child(&niceness), 1);
        expect_name(frame, "second_function");
        expect_name(frame - 1, "first_function");
        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
        ck_assert_int_eq(errno, ECHILD); /* none is left */
}
END_TEST

/* No child is started where none is wanted, nor before it is time; after each there is a rest. */
START_TEST(a_child_is_started_when_it_is_time)
{
        int niceness;

        (void)own_code_add_frame(&dictionary, module, own_code_file_offset((uint64_t)first_function), 0);
        names.options.is_off = true;
        ck_assert_int_eq(live_names_step(&names), 0);
        ck_assert_int_eq(live_names_fd(&names), -1);
        names.options.is_off = false;
        names.next_ns = UINT64_MAX;
        ck_assert_int_eq(live_names_step(&names), 0);
        ck_assert_int_eq(live_names_fd(&names), -1);
        names.next_ns = 0;
        ck_assert_int_eq(live_names_step(&names), 0);
        (void)own_code_add_frame(&dictionary, module, own_code_file_offset((uint64_t)second_function), 0);
        ck_assert_int_eq(take_child(&niceness), 1);
        ck_assert_int_eq(names.child, 0); /* and it rests then */
        ck_assert_uint_ge(names.next_ns, names.started_ns + LIVE_NAMES_PERIOD_NS);
        expect_name(1, "first_function");
        ck_assert_uint_eq(live_names_count(&names, 2), 0);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
