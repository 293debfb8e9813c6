/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_lookup.c: every name means what perf means by it; a wrong one is refused with
 * the one that was meant
 */
#include "base/error.h"
#include "sampler/events/event_lookup.h"
#include "sampler/events/event_places.h"
#include "sampler/events/event_spec.h"
#include "tests/unit/fake_machine.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define N_CASES(cases) ((int)(sizeof(cases) / sizeof((cases)[0])))

enum { NEITHER, USER_ONLY, KERNEL_ONLY };

static const struct event_places no_library = { .without_library = true };

/* The only event that @text stands for. */
static struct fake_machine machine;

static void tear_down(void)
{
        if (machine.root[0])
                fake_machine_remove(&machine);
        machine.root[0] = '\0';
}

static struct event_spec parse_bytes(const char *text, size_t n_bytes, const struct event_places *places)
{
        struct event_spec specs[4];
        struct event_spec_list list = { .specs = specs, .n_specs_max = 4 };
        struct error err = ERROR_NONE;

        ck_assert_msg(event_spec_parse(text, n_bytes, places, &list, &err) == 0, "%.*s: %s", (int)n_bytes,
                      text, err.text);
        ck_assert_uint_eq(list.n_specs, 1);
        return specs[0];
}

static struct event_spec parse_one(const char *text, const struct event_places *places)
{
        return parse_bytes(text, strlen(text), places);
}

static int refuse(const char *text, size_t n_bytes, const struct event_places *places, struct error *err)
{
        struct event_spec specs[4];
        struct event_spec_list list = { .specs = specs, .n_specs_max = 4 };
        int r = event_spec_parse(text, n_bytes, places, &list, err);

        ck_assert_uint_eq(list.n_specs, r == 0 ? 1 : 0);
        return r;
}

static const struct {
        const char *text;
        uint32_t type;
        uint64_t config;
        int side;
        const char *unit;
} known[] = {
        { "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, NEITHER, "ns" },
        { "task-clock:u", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, USER_ONLY, "ns" },
        { "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, NEITHER, "faults" },
        { "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, NEITHER, "faults" },
        { "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, NEITHER, "switches" },
        { "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, NEITHER, "cycles" },
        { "cpu-cycles:k", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, KERNEL_ONLY, "cycles" },
        { "cycles:uk", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, NEITHER, "cycles" },
        { "cycles:ukh", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, NEITHER, "cycles" },
        { "cycles:uu", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, USER_ONLY, "cycles" },
        { "cycles:uh", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, USER_ONLY, "cycles" },
        { "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, NEITHER, "branches" },
        { "cache-misses:k", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, KERNEL_ONLY, "misses" },
        { "idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, NEITHER,
          "cycles" },
        { "L1-dcache-loads", PERF_TYPE_HW_CACHE, 0x0, NEITHER, "events" },
        { "L1-dcache-load-misses", PERF_TYPE_HW_CACHE, 0x10000, NEITHER, "events" },
        { "L1-icache-prefetches:u", PERF_TYPE_HW_CACHE, 0x201, USER_ONLY, "events" },
        { "LLC-store-misses", PERF_TYPE_HW_CACHE, 0x10102, NEITHER, "events" },
        { "dTLB-stores", PERF_TYPE_HW_CACHE, 0x103, NEITHER, "events" },
        { "iTLB-load-misses", PERF_TYPE_HW_CACHE, 0x10004, NEITHER, "events" },
        { "branch-loads", PERF_TYPE_HW_CACHE, 0x5, NEITHER, "events" },
        { "node-prefetch-misses", PERF_TYPE_HW_CACHE, 0x10206, NEITHER, "events" },
        { "r01c2", PERF_TYPE_RAW, 0x1c2, NEITHER, "events" },
        { "rC0:u", PERF_TYPE_RAW, 0xc0, USER_ONLY, "events" },
        { "rffffffffffffffff", PERF_TYPE_RAW, UINT64_MAX, NEITHER, "events" },
};

/* loop test */
START_LOOP_TEST(test_known, 0, N_CASES(known))
{
        size_t n_bytes = strlen(known[_i].text);
        char text[EVENT_SPEC_NAME_BYTES];
        struct event_spec spec;

        /* Text after the name in a list is not part of it. */
        memcpy(text, known[_i].text, n_bytes);
        memcpy(text + n_bytes, ",:x", 4);
        spec = parse_bytes(text, n_bytes, NULL);
        ck_assert_str_eq(spec.name, known[_i].text);
        ck_assert_uint_eq(spec.type, known[_i].type);
        ck_assert_uint_eq(spec.config, known[_i].config);
        ck_assert_str_eq(spec.unit, known[_i].unit);
        ck_assert(spec.is_clock == (strcmp(known[_i].unit, "ns") == 0));
        ck_assert(spec.exclude_kernel == (known[_i].side == USER_ONLY));
        ck_assert(spec.exclude_user == (known[_i].side == KERNEL_ONLY));
        ck_assert_uint_eq(spec.precise, 0);
        ck_assert(!spec.on_some_cpus && event_spec_is_on_cpu(&spec, 5000));
}
END_TEST

START_TEST(test_precise)
{
        ck_assert_uint_eq(parse_one("cycles:p", NULL).precise, 1);
        ck_assert_uint_eq(parse_one("cycles:upp", NULL).precise, 2);
        ck_assert(parse_one("cycles:upp", NULL).exclude_kernel);
        ck_assert_uint_eq(parse_one("cycles:pppk", NULL).precise, 3);
        ck_assert_uint_eq(parse_one("r1:ppp", NULL).precise, 3);
}
END_TEST

static const struct {
        const char *text;
        const char *words; /* that the explanation has; NULL = any */
} unknown[] = {
        { "cpu-clok", "'cpu-clock'" },
        { "cycels", "'cycles'" },
        { "Cycles", "'cycles'" },
        { "cylces:u", "'cycles'" },
        { "branch-mises", "'branch-misses'" },
        { "instruction", "'instructions'" },
        { "cpu-cloc", "'cpu-clock'" },
        { "page-faultss", "'page-faults'" },
        { "L1-dcache-loads-misses", "'L1-dcache-load-misses'" },
        { "L1-icache-stores", NULL }, /* no cache of instructions is written to */
        { "", NULL },
        { ":u", NULL },
        { "cycles:", "modifiers" },
        { "cycles:x", "modifiers" },
        { "cycles:u:", "modifiers" },
        { "cycles:u,k", "modifiers" },
        { "cycles:pppp", "modifiers" },
        { "cycles:h", "hypervisor" },
        { "cycles:S", "groups" },
        { "cycles:Su", "groups" },
        { "r", NULL },
        { "rg0", NULL },
        { "r0x1", NULL },
        { "r-1", NULL },
        { "r10000000000000000", NULL }, /* 17 digits */
        { "qqqqqqqqqqqqqqqqqq", "'qqqqqqqqqqqqqqqqqq'" },
        { "sched:sched_switch:", NULL },
        { "../../../../etc:passwd", NULL },
        { "a:b:c", "not a tracepoint" },
        { "/x/", "no PMU" },
        { "cpu/x", "second /" },
        { "../cpu/event=1/", "no PMU" },
        { "./event=1/", "no PMU" },
};

/* loop test */
START_LOOP_TEST(test_unknown, 0, N_CASES(unknown))
{
        struct error err = ERROR_NONE;
        int r = refuse(unknown[_i].text, strlen(unknown[_i].text), &no_library, &err);

        ck_assert_int_lt(r, 0);
        ck_assert_int_eq(err.code, r);
        if (unknown[_i].words)
                ck_assert_msg(strstr(err.text, unknown[_i].words) != NULL, "%s", err.text);
}
END_TEST

/* loop test: names of every length, also those that fill the room for one, and more */
START_LOOP_TEST(test_length, 0, 200)
{
        size_t n_bytes = (size_t)_i;
        char text[256];

        memset(text, '0', sizeof(text)); /* "r000...": good as long as it has not over 16 digits */
        text[0] = 'r';
        ck_assert_int_eq(refuse(text, n_bytes, &no_library, NULL),
                         n_bytes >= 2 && n_bytes <= 17 ? 0 : -EINVAL);
        memset(text, 'u', sizeof(text)); /* "cycles:uuu...": good as long as it fits */
        memcpy(text, "cycles:", 7);
        ck_assert_int_eq(refuse(text, n_bytes, &no_library, NULL),
                         n_bytes == 6 || (n_bytes >= 8 && n_bytes < EVENT_SPEC_NAME_BYTES) ? 0 : -EINVAL);
        memset(text, ':', sizeof(text));
        ck_assert_int_lt(refuse(text, n_bytes, &no_library, NULL), 0);
        memset(text, '/', sizeof(text));
        ck_assert_int_lt(refuse(text, n_bytes, &no_library, NULL), 0);
        memset(text, '\0', sizeof(text));
        ck_assert_int_lt(refuse(text, n_bytes, &no_library, NULL), 0);
}
END_TEST

/* ---- sysfs --------------------------------------------------------------------------------------------- */

static const struct {
        const char *text;
        uint32_t type;
        uint64_t config, config1, config2;
} of_intel[] = {
        { "cpu/event=0x3c,umask=0x1,cmask=2,inv/", 4, 0x0280013c, 0, 0 },
        { "cpu/event=60/", 4, 60, 0, 0 },
        { "cpu/config=0x1234567890abcdef/", 4, 0x1234567890abcdef, 0, 0 },
        { "cpu/config1=7,config2=8/", 4, 0, 7, 8 },
        { "cpu/ldlat=0xffff,frontend=0x123456/", 4, 0, 0xffff, 0x123456 },
        { "cpu/mem-loads/", 4, 0x1cd, 3, 0 },
        { "cpu/mem-loads,ldlat=30/", 4, 0x1cd, 30, 0 }, /* the later one counts */
        { "cpu/of-core,umask=9/", 4, 0x902, 0, 0 },
        { "cpu/event=1,event=2/", 4, 2, 0, 0 },
        { "cpu/inv=0,event=1/", 4, 1, 0, 0 },
        { "cpu//", 4, 0, 0, 0 },
        { "msr/tsc/", 10, 0, 0, 0 },
        { "msr/event=0xffffffffffffffff/", 10, UINT64_MAX, 0, 0 },
        { "uncore_imc_0/event=0xabc/", 14, 0xa000000bc, 0, 0 }, /* bits in two places */
};

/* loop test */
START_LOOP_TEST(test_terms, 0, N_CASES(of_intel))
{
        struct event_spec spec;

        fake_machine_make(&machine, FAKE_MACHINE_INTEL);
        spec = parse_one(of_intel[_i].text, &machine.places);
        ck_assert_str_eq(spec.name, of_intel[_i].text);
        ck_assert_uint_eq(spec.type, of_intel[_i].type);
        ck_assert_uint_eq(spec.config, of_intel[_i].config);
        ck_assert_uint_eq(spec.config1, of_intel[_i].config1);
        ck_assert_uint_eq(spec.config2, of_intel[_i].config2);
        ck_assert_str_eq(spec.unit, "events");
}
END_TEST

static const struct {
        const char *text;
        int code;
        const char *words;
} not_of_intel[] = {
        { "cpu/event=0x100/", -EINVAL, "too much" },
        { "cpu/inv=2/", -EINVAL, "too much" },
        { "cpu/event=/", -EINVAL, "not a number" },
        { "cpu/event=-1/", -EINVAL, "not a number" },
        { "cpu/event=1x/", -EINVAL, "not a number" },
        { "cpu/event=0x11111111111111111/", -EINVAL, "not a number" },
        { "cpu/umusk=1/", -EINVAL, "'umusk'" },
        { "cpu/mem-load/", -EINVAL, "'mem-loads'" },
        { "cpu/mem-loads=1/", -EINVAL, "'mem-loads'" },
        { "cpu/topdown-slots.scale/", -EINVAL, "no term" },
        { "cpu/of-core/", -EINVAL, "umask" },
        { "cpu/in-circles/", -EINVAL, "no term" },
        { "cpu/strange=1/", -EINVAL, "cannot be parsed" },
        { "cpu/broken=1/", -EINVAL, "cannot be parsed" },
        { "cpu/,/", -EINVAL, "without a name" },
        { "cpu/event=1,/", -EINVAL, "without a name" },
        { "cpu/=1/", -EINVAL, "without a name" },
        { "cpu/../type/", -EINVAL, NULL },
        { "cpu/period=1000/", -EINVAL, "-c or -F" },
        { "cpu/event=1/x", -EINVAL, "modifiers" },
        { "cpu/event=1/:", -EINVAL, "modifiers" },
        { "cpux/event=1/", -ENOENT, "'cpu'" },
        { "mrs/tsc/", -ENOENT, "no PMU named 'mrs'" },
        { "nonsense/event=1/", -EBADMSG, "type" },
        { "mem-load", -EINVAL, "'mem-loads'" },
        { "topdown-slots.scale", -EINVAL, "unknown event 'topdown-slots.scale'" },
        { "sched:sched_swich", -EINVAL, "'sched:sched_switch'" },
        { "sched:", -EINVAL, "not a tracepoint" },
        { "header_page:x", -ENOTDIR, NULL },
};

/* loop test */
START_LOOP_TEST(test_wrong_terms, 0, N_CASES(not_of_intel))
{
        struct error err = ERROR_NONE;

        fake_machine_make(&machine, FAKE_MACHINE_INTEL);
        ck_assert_int_eq(refuse(not_of_intel[_i].text, strlen(not_of_intel[_i].text), &machine.places, &err),
                         not_of_intel[_i].code);
        if (not_of_intel[_i].words)
                ck_assert_msg(strstr(err.text, not_of_intel[_i].words) != NULL, "%s", err.text);
}
END_TEST

START_TEST(test_pmu_modifiers)
{
        struct event_spec spec;

        fake_machine_make(&machine, FAKE_MACHINE_INTEL);
        spec = parse_one("cpu/event=0x3c/upp", &machine.places);
        ck_assert(spec.exclude_kernel && !spec.exclude_user && spec.precise == 2);
        spec = parse_one("cpu/event=0x3c/:k", &machine.places);
        ck_assert(spec.exclude_user && !spec.exclude_kernel);
        spec = parse_one("mem-loads:u", &machine.places);
        ck_assert(spec.exclude_kernel);
        ck_assert_str_eq(spec.name, "cpu/mem-loads/:u");
        ck_assert_uint_eq(spec.config1, 3);
}
END_TEST

/* An event that several CPUs share is counted on one of them. */
START_TEST(test_cpumask)
{
        struct event_spec spec;

        fake_machine_make(&machine, FAKE_MACHINE_INTEL);
        spec = parse_one("uncore_imc_0/event=1/", &machine.places);
        ck_assert(spec.on_some_cpus);
        ck_assert(event_spec_is_on_cpu(&spec, 0) && event_spec_is_on_cpu(&spec, 28));
        ck_assert(!event_spec_is_on_cpu(&spec, 1) && !event_spec_is_on_cpu(&spec, 27));
        ck_assert(!event_spec_is_on_cpu(&spec, -1) && !event_spec_is_on_cpu(&spec, EVENT_SPEC_CPUS_MAX));
        ck_assert(!parse_one("cpu/event=1/", &machine.places).on_some_cpus);
        fake_machine_put(&machine, "devices/uncore_imc_0/cpumask", "0-\n");
        ck_assert_int_eq(refuse("uncore_imc_0/event=1/", 21, &machine.places, NULL), -EBADMSG);
        fake_machine_put(&machine, "devices/uncore_imc_0/cpumask", "0-99999999\n");
        spec = parse_one("uncore_imc_0/event=1/", &machine.places);
        ck_assert(event_spec_is_on_cpu(&spec, EVENT_SPEC_CPUS_MAX - 1));
}
END_TEST

START_TEST(test_arm)
{
        struct event_spec spec;

        fake_machine_make(&machine, FAKE_MACHINE_ARM);
        spec = parse_one("cycles", &machine.places); /* one kind of cores: nothing to tell apart */
        ck_assert_uint_eq(spec.type, PERF_TYPE_HARDWARE);
        ck_assert_uint_eq(spec.config, PERF_COUNT_HW_CPU_CYCLES);
        ck_assert(!spec.on_some_cpus);
        spec = parse_one("l1d_cache_refill", &machine.places);
        ck_assert_uint_eq(spec.type, 8);
        ck_assert_uint_eq(spec.config, 3);
        ck_assert(spec.on_some_cpus && event_spec_is_on_cpu(&spec, 3) && !event_spec_is_on_cpu(&spec, 4));
}
END_TEST

static const struct {
        const char *text, *core, *atom;
        uint32_t type[2];
        uint64_t config[2];
} of_both[] = {
        { "cycles", "cpu_core/cycles/", "cpu_atom/cycles/", { 0, 0 }, { 0x400000000, 0xa00000000 } },
        { "instructions:u",
          "cpu_core/instructions/:u",
          "cpu_atom/instructions/:u",
          { 0, 0 },
          { 0x400000001, 0xa00000001 } },
        { "LLC-loads", "cpu_core/LLC-loads/", "cpu_atom/LLC-loads/", { 3, 3 }, { 0x400000002, 0xa00000002 } },
        { "r1c2", "cpu_core/r1c2/", "cpu_atom/r1c2/", { 4, 10 }, { 0x1c2, 0x1c2 } },
        { "mem-loads", "cpu_core/mem-loads/", "cpu_atom/mem-loads/", { 4, 10 }, { 0xcd, 0xd0 } },
};

/* loop test: what the processor counts is an event of each kind of core, on the CPUs of that kind */
START_LOOP_TEST(test_hybrid, 0, N_CASES(of_both))
{
        struct event_spec specs[2];
        struct event_spec_list list = { .specs = specs, .n_specs_max = 2 };
        struct error err = ERROR_NONE;

        fake_machine_make(&machine, FAKE_MACHINE_HYBRID);
        ck_assert_msg(event_spec_parse(of_both[_i].text, strlen(of_both[_i].text), &machine.places, &list,
                                       &err) == 0,
                      "%s", err.text);
        ck_assert_uint_eq(list.n_specs, 2);
        for (size_t i = 0; i < 2; i++) {
                const struct event_spec *spec = &specs[1 - i]; /* sorted: cpu_atom first */

                ck_assert_str_eq(spec->name, i == 0 ? of_both[_i].core : of_both[_i].atom);
                ck_assert_uint_eq(spec->type, of_both[_i].type[i]);
                ck_assert_uint_eq(spec->config, of_both[_i].config[i]);
                ck_assert(spec->on_some_cpus);
                ck_assert(event_spec_is_on_cpu(spec, 3) == (i == 0));
                ck_assert(event_spec_is_on_cpu(spec, 70) == (i == 1));
                ck_assert(!event_spec_is_on_cpu(spec, 69));
        }
        list = (struct event_spec_list){ .specs = specs, .n_specs_max = 1 };
        ck_assert_int_eq(event_spec_parse("cycles", 6, &machine.places, &list, NULL), -EOVERFLOW);
        ck_assert_uint_eq(list.n_specs, 0);
}
END_TEST

START_TEST(test_software_on_hybrid)
{
        fake_machine_make(&machine, FAKE_MACHINE_HYBRID);
        ck_assert(!parse_one("page-faults", &machine.places).on_some_cpus);
        ck_assert_uint_eq(parse_one("cpu_atom/event=1/", &machine.places).type, 10);
}
END_TEST

/* ---- tracepoints, libpfm4 ------------------------------------------------------------------------------ */

START_TEST(test_tracepoints)
{
        struct error err = ERROR_NONE;
        struct event_spec spec;

        fake_machine_make(&machine, FAKE_MACHINE_INTEL);
        spec = parse_one("sched:sched_switch", &machine.places);
        ck_assert_uint_eq(spec.type, PERF_TYPE_TRACEPOINT);
        ck_assert_uint_eq(spec.config, 316);
        ck_assert(spec.is_tracepoint && !spec.is_clock);
        spec = parse_one("syscalls:sys_enter_openat:k", &machine.places);
        ck_assert_uint_eq(spec.config, 900);
        ck_assert(spec.exclude_user);
        tear_down();
        fake_machine_make(&machine, FAKE_MACHINE_BARE);
        ck_assert_int_eq(refuse("sched:sched_switch", 18, &machine.places, &err), -ENOENT);
        ck_assert_ptr_nonnull(strstr(err.text, "sudo mount -t tracefs none /sys/kernel/tracing"));
        ck_assert_ptr_null(strchr(err.text, '\n'));
}
END_TEST

/* An event of a processor that need not be here: the library knows those of x86-64 everywhere on x86-64. */
#ifdef __x86_64__
#define PROCESSOR      "skl::"
#define PROCESSOR_NAME "skl::INST_RETIRED:ANY_P"
#define PROCESSOR_CODE 0xc0
#endif

static void make_with_library(void)
{
        ck_assert_int_eq(setenv("LIBPFM_ENCODE_INACTIVE", "1", 1), 0);
        fake_machine_make(&machine, FAKE_MACHINE_INTEL);
        machine.places.without_library = false;
}

#ifdef PROCESSOR
START_TEST(test_library)
{
        struct error err = ERROR_NONE;
        struct event_spec spec;

        make_with_library();
        spec = parse_one(PROCESSOR_NAME, &machine.places);
        ck_assert_uint_eq(spec.type, PERF_TYPE_RAW);
        ck_assert_uint_eq(spec.config & 0xff, PROCESSOR_CODE);
        ck_assert_str_eq(spec.name, PROCESSOR_NAME);
        spec = parse_one(PROCESSOR_NAME ":u", &machine.places);
        ck_assert(spec.exclude_kernel && !spec.exclude_user);
        ck_assert_int_eq(
                refuse(PROCESSOR_NAME ":ANYTHING", strlen(PROCESSOR_NAME ":ANYTHING"), &machine.places, &err),
                -EINVAL);
        ck_assert_ptr_nonnull(strstr(err.text, "libpfm4"));
        ck_assert_int_eq(
                refuse(PROCESSOR "NO_SUCH_EVENT", strlen(PROCESSOR "NO_SUCH_EVENT"), &machine.places, &err),
                -EINVAL);
        (void)unsetenv("LIBPFM_ENCODE_INACTIVE");
}
END_TEST
#endif

/* It knows the kernel's events, too, on every machine. */
START_TEST(test_library_of_the_kernel)
{
        struct error err = ERROR_NONE;
        struct event_spec spec;

        make_with_library();
        spec = parse_one("perf::CPU-CLOCK", &machine.places);
        ck_assert(spec.is_clock);
        ck_assert_str_eq(spec.unit, "ns");
        ck_assert_int_eq(refuse("perf::CPU-CLOCK:ANYTHING", 24, &machine.places, &err), -EINVAL);
        ck_assert_ptr_nonnull(strstr(err.text, "libpfm4"));
        ck_assert_int_eq(refuse("perf::NO_SUCH_EVENT", 19, &machine.places, &err), -EINVAL);
        (void)unsetenv("LIBPFM_ENCODE_INACTIVE");
}
END_TEST

UNIT_TEST_PLAN(.teardown = tear_down);
