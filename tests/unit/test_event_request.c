/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_request.c: lists and groups come apart where they should; events that were not asked
 * for are added, or taken away
 */
#include "base/error.h"
#include "sampler/events/event_request.h"
#include "tests/unit/fake_machine.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#define N_CASES(cases) ((int)(sizeof(cases) / sizeof((cases)[0])))

struct fixture {
        struct fake_machine machine;
        struct event_request request;
        struct error err;
};

static struct fixture f;

static void set_up(enum fake_machine_kind kind)
{
        memset(&f, 0, sizeof(f));
        fake_machine_make(&f.machine, kind);
        f.request.places = &f.machine.places;
}

static void tear_down(void)
{
        if (f.machine.root[0])
                fake_machine_remove(&f.machine);
        f.machine.root[0] = '\0'; /* the next test need not have a machine */
}

static void add(const char *list)
{
        ck_assert_msg(event_request_add(&f.request, list, &f.err) == 0, "%s: %s", list, f.err.text);
}

/* One letter an event: its leader's letter in capitals if it reads, small if it only counts, '.' = alone. */
static void expect(const char *names, const char *groups)
{
        char found_names[1024] = "", found_groups[EVENT_REQUEST_SPECS_MAX + 1] = "";

        for (size_t i = 0; i < f.request.n_specs; i++) {
                const struct event_spec *spec = &f.request.specs[i];
                char letter = (char)('a' + spec->leader);

                (void)strcat(strcat(found_names, i > 0 ? " " : ""), spec->name);
                if (spec->reads_group)
                        letter = (char)('A' + spec->leader);
                else if (!spec->only_counts && spec->leader == i)
                        letter = '.';
                else if (!spec->only_counts)
                        letter = (char)('0' + spec->leader);
                found_groups[i] = letter;
        }
        ck_assert_str_eq(found_names, names);
        ck_assert_str_eq(found_groups, groups);
}

static const struct {
        const char *list, *names, *groups;
} lists[] = {
        { "cycles", "cycles", "." },
        { "cycles,page-faults:u", "cycles page-faults:u", ".." },
        { "cpu/event=1,umask=2/,cs", "cpu/event=1,umask=2/ cs", ".." },
        { "cs,cpu/event=1,umask=2/u", "cs cpu/event=1,umask=2/u", ".." },
        { "{cycles,instructions,cache-misses}:S", "cycles instructions cache-misses", "Aaa" },
        { "{cycles,instructions}", "cycles instructions", ".0" },
        { "cs,{cycles,cpu/event=1,umask=2/}:S,faults", "cs cycles cpu/event=1,umask=2/ faults", ".Bb." },
        { "{cycles,instructions}:Su", "cycles:u instructions:u", "Aa" },
        { "{cycles:k,instructions}:uS", "cycles:ku instructions:u", "Aa" },
        { "{cycles}:S", "cycles", "A" },
        { "{cs,sched:sched_switch}:S,{cs,faults}:S", "cs sched:sched_switch cs faults", "AaCc" },
};

/* loop test */
START_LOOP_TEST(test_lists, 0, N_CASES(lists))
{
        set_up(FAKE_MACHINE_INTEL);
        add(lists[_i].list);
        expect(lists[_i].names, lists[_i].groups);
}
END_TEST

START_TEST(test_group_modifiers)
{
        set_up(FAKE_MACHINE_INTEL);
        add("{cycles:k,instructions}:Su");
        ck_assert(!f.request.specs[0].exclude_kernel && !f.request.specs[0].exclude_user);
        ck_assert(f.request.specs[1].exclude_kernel && !f.request.specs[1].exclude_user);
}
END_TEST

static const struct {
        const char *list, *words;
        int code;
} wrong[] = {
        { "", "unknown event", -EINVAL },
        { ",", "unknown event", -EINVAL },
        { "cycles,", "unknown event", -EINVAL },
        { "cycles,,cs", "unknown event", -EINVAL },
        { "{", "braces", -EINVAL },
        { "}", "braces", -EINVAL },
        { "{}", "without an event", -EINVAL },
        { "{}:S", "without an event", -EINVAL },
        { "{cycles", "braces", -EINVAL },
        { "cycles}", "braces", -EINVAL },
        { "{cycles,}:S", "without an event", -EINVAL },
        { "{,cycles}:S", "without an event", -EINVAL },
        { "{cycles,{cs,faults}}:S", "within a group", -EINVAL },
        { "{cycles,cs}:X", "modifiers", -EINVAL },
        { "{cycles,cs}:", "after }", -EINVAL },
        { "{cycles,cs}S", "after }", -EINVAL },
        { "{cycles,cs}{faults}", "braces", -EINVAL },
        { "{cycels}:S", "'cycles'", -EINVAL },
        { "cpu/event=1,umask=2", "second /", -EINVAL },
        { "x{cycles}", "unknown", -EINVAL },
        { "none/event=1/", "no PMU", -ENOENT },
};

/* loop test: what is wrong leaves the request as it was */
START_LOOP_TEST(test_wrong, 0, N_CASES(wrong))
{
        set_up(FAKE_MACHINE_INTEL);
        add("cs");
        ck_assert_int_eq(event_request_add(&f.request, wrong[_i].list, &f.err), wrong[_i].code);
        ck_assert_msg(strstr(f.err.text, wrong[_i].words) != NULL, "%s", f.err.text);
        expect("cs", ".");
}
END_TEST

START_TEST(test_too_many)
{
        set_up(FAKE_MACHINE_BARE);
        for (size_t i = 0; i < EVENT_REQUEST_SPECS_MAX - 1; i++)
                add("cs");
        ck_assert_int_eq(event_request_add(&f.request, "{cs,cs}:S", &f.err), -EINVAL);
        ck_assert_int_lt(event_request_add(&f.request, "cs,cs", &f.err), 0);
        ck_assert_uint_eq(f.request.n_specs, EVENT_REQUEST_SPECS_MAX - 1);
        add("cs");
        ck_assert_int_lt(event_request_add(&f.request, "cs", &f.err), 0);
        ck_assert_uint_eq(f.request.n_specs, EVENT_REQUEST_SPECS_MAX);
}
END_TEST

/* A group is a group of each kind of core; software in it goes where the others are. */
START_TEST(test_hybrid_groups)
{
        set_up(FAKE_MACHINE_HYBRID);
        add("{page-faults,cycles,instructions}:S,cs");
        expect("page-faults cpu_atom/cycles/ cpu_atom/instructions/ "
               "page-faults cpu_core/cycles/ cpu_core/instructions/ cs",
               "AaaDdd.");
        for (size_t i = 0; i < 6; i++) {
                ck_assert(event_spec_is_on_cpu(&f.request.specs[i], 5) == (i < 3));
                ck_assert(event_spec_is_on_cpu(&f.request.specs[i], 2) == (i >= 3));
        }
        ck_assert(!f.request.specs[6].on_some_cpus);
}
END_TEST

/* A member is on no CPU where its leader is not: there is nothing that it could join. */
START_TEST(test_leader_on_some_cpus)
{
        set_up(FAKE_MACHINE_HYBRID);
        add("{cpu_core/event=0x3c/,page-faults}:S,{page-faults,cpu_core/event=0x3c/}:S");
        for (size_t i = 0; i < 4; i++) {
                ck_assert(event_spec_is_on_cpu(&f.request.specs[i], 2));
                ck_assert(event_spec_is_on_cpu(&f.request.specs[i], 5) == (i == 2));
        }
}
END_TEST

static const struct {
        const char *list; /* NULL = nothing was asked for */
        enum event_hardware hardware;
        bool wants_totals, fallback;
        const char *names, *groups;
} completions[] = {
        { NULL, EVENT_HARDWARE_SAMPLES, false, false, "cycles", "." },
        { NULL, EVENT_HARDWARE_COUNTS, false, true, "cpu-clock", "." },
        { NULL, EVENT_HARDWARE_NONE, false, true, "cpu-clock", "." },
        { "cs", EVENT_HARDWARE_NONE, false, false, "cs", "." },
        { NULL, EVENT_HARDWARE_NONE, true, true,
          "cpu-clock task-clock context-switches cpu-migrations page-faults", ".bcde" },
        { NULL, EVENT_HARDWARE_SAMPLES, true, false,
          "cycles task-clock context-switches cpu-migrations page-faults instructions branches branch-misses",
          ".bcdefgh" },
        { NULL, EVENT_HARDWARE_COUNTS, true, true,
          "cpu-clock task-clock context-switches cpu-migrations page-faults cycles instructions branches "
          "branch-misses",
          ".bcdefghi" },
        { "{task-clock,page-faults}:S", EVENT_HARDWARE_NONE, true, false,
          "task-clock page-faults context-switches cpu-migrations", "Aacd" },
        { "page-faults:u", EVENT_HARDWARE_NONE, true, false,
          "page-faults:u task-clock context-switches cpu-migrations page-faults", ".bcde" },
};

/* loop test */
START_LOOP_TEST(test_complete, 0, N_CASES(completions))
{
        bool fallback;

        set_up(FAKE_MACHINE_BARE);
        if (completions[_i].list)
                add(completions[_i].list);
        f.request.wants_totals = completions[_i].wants_totals;
        ck_assert_int_eq(event_request_complete(&f.request, completions[_i].hardware, &fallback, &f.err), 0);
        ck_assert(fallback == completions[_i].fallback);
        expect(completions[_i].names, completions[_i].groups);
}
END_TEST

/* Nothing is sampled then; what --stat adds only counts. */
START_TEST(test_complete_without_samples)
{
        struct event_request request = { .no_samples = true };
        struct error err = ERROR_NONE;
        bool fallback = true;

        ck_assert_int_eq(event_request_complete(&request, EVENT_HARDWARE_NONE, &fallback, &err), 0);
        ck_assert_uint_eq(request.n_specs, 0);
        ck_assert(!fallback);
        request.wants_totals = true;
        ck_assert_int_eq(event_request_complete(&request, EVENT_HARDWARE_NONE, &fallback, &err), 0);
        ck_assert_uint_gt(request.n_specs, 0);
        for (size_t i = 0; i < request.n_specs; i++)
                ck_assert(request.specs[i].only_counts);
}
END_TEST

START_TEST(test_complete_hybrid)
{
        bool fallback;

        set_up(FAKE_MACHINE_HYBRID);
        f.request.wants_totals = true;
        ck_assert_int_eq(event_request_complete(&f.request, EVENT_HARDWARE_SAMPLES, &fallback, &f.err), 0);
        ck_assert_uint_eq(f.request.n_specs, 2 + 4 + 2 * 3);
        ck_assert_str_eq(f.request.specs[6].name, "cpu_atom/instructions/");
        ck_assert_uint_eq(f.request.specs[6].leader, 6);
}
END_TEST

/* Who may not see the kernel counts user code; totals that would be 0 then are not shown. */
START_TEST(test_leave_kernel)
{
        bool fallback;

        set_up(FAKE_MACHINE_INTEL);
        f.request.wants_totals = true;
        add("{task-clock,page-faults}:S,cycles:u");
        ck_assert_int_eq(event_request_complete(&f.request, EVENT_HARDWARE_NONE, &fallback, &f.err), 0);
        ck_assert_int_eq(event_request_leave_kernel(&f.request, &f.err), 0);
        expect("task-clock page-faults cycles:u", "Aa.");
        for (size_t i = 0; i < f.request.n_specs; i++)
                ck_assert(f.request.specs[i].exclude_kernel && !f.request.specs[i].exclude_user);
}
END_TEST

/* loop test */
START_LOOP_TEST(test_only_in_kernel, 0, 4)
{
        static const char *const lists_in_kernel[] = { "context-switches", "sched:sched_switch", "cycles:k",
                                                       "{task-clock,cs}:S" };

        set_up(FAKE_MACHINE_INTEL);
        add(lists_in_kernel[_i]);
        ck_assert_int_eq(event_request_leave_kernel(&f.request, &f.err), -EACCES);
        ck_assert_ptr_nonnull(strstr(f.err.text, "'hyprof doctor'"));
}
END_TEST

START_TEST(test_reads_groups)
{
        set_up(FAKE_MACHINE_BARE);
        add("cs,{cs,faults}");
        ck_assert(!event_request_reads_groups(&f.request));
        add("{cs,faults}:S");
        ck_assert(event_request_reads_groups(&f.request));
}
END_TEST

UNIT_TEST_PLAN(.teardown = tear_down);
