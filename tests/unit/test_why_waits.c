/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_waits.c, why_meanwhile.c: a wait has the name of the function that slow instances
 * wait in, for all of its callers; and what it was for is what the thread that ended it did in that time
 */
#include "analyze/why/why.h"
#include "base/byte_buffer.h"
#include "format/trace_event.h"
#include "tests/unit/asked_why.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "view/why/why_words.h"

#include <string.h>

#define N_INSTANCES 400
#define SLOW_EVERY  40 /* of which one is slow */
#define USUAL_NS    UINT64_C(100000)
#define EXTRA_NS    UINT64_C(1000000)
#define SAMPLE_NS   UINT64_C(50000)
#define GAP_NS      UINT64_C(1000)

enum plant {
        PLANT_CALLERS, /* eight functions call write_log(), which waits */
        PLANT_LEAVES,  /* db_exec() waits in one of three functions that it calls */
        PLANT_CALLS,   /* the usual function sleeps in one call of the C library, and slow ones in another */
        PLANT_TWO,     /* half of them wait in take_queue(), half in write_log() */
        PLANT_MIXED,   /* what the case says */
        PLANT_PYTHON,  /* write_log() is a Python function: native code that it calls waits */
        PLANT_NATIVE,  /* the same, beside much code that is no Python */
        PLANT_CHAIN,   /* for "middle", which waits in ask_disk() for "disk", which runs flush_disk() */
        PLANT_STARVED, /* for "middle", which could run and does not */
        PLANT_IDLE,    /* for "middle", of which nothing is known in that time */
        PLANT_STAY,    /* for "middle", which runs something else first, and then waits for "disk" */
        PLANT_JOIN,    /* for "middle" and then, in the same place, for "disk", which runs all the time */
        PLANT_UNSWITCHED, /* for the lock "queue" of "middle", which is in flush_disk(); without switches */
};

/* Where a wait of PLANT_MIXED is. */
enum mixed_place {
        IN_NAP,        /* write_log() sleeps */
        IN_READ,       /* write_log() reads */
        IN_QUEUE,      /* take_queue() */
        IN_INNER,      /* outer() calls inner(), which sleeps */
        IN_INNER_READ, /* the same, but it reads */
        IN_OUTER,      /* outer() itself */
        MIXED_PLACES,
};

/* Waits of some slow instances, from one of them on, and of all others. */
struct mixed_wait {
        enum mixed_place place;
        uint32_t first, n;
        uint64_t slow_ns, usual_ns;
};

#define MIXED_WAITS 3

struct program {
        struct trace_builder b;
        uint32_t worker, request, event, path;
        uint32_t usual, taking, logging[8], leaves[3], napping, locking, python, in_python; /* stacks */
        uint32_t middle, disk, lock, asking, flushing, mixed[MIXED_PLACES];
        const struct mixed_wait *waits; /* MIXED_WAITS of PLANT_MIXED */
        uint64_t slow_ns[N_INSTANCES / SLOW_EVERY];
        uint32_t n_waits, n_functions;
        bool has_samples;
};

static struct program p;
static struct asked_why a;

static void setup(void)
{
        memset(&p, 0, sizeof(p));
        trace_builder_init(&p.b);
}

static void teardown(void)
{
        asked_why_deinit(&a);
        trace_builder_deinit(&p.b);
}

static uint32_t called(uint32_t parent, uint32_t module, const char *name)
{
        return trace_builder_push(&p.b, parent, module, 0x1000 + 16 * (uint64_t)p.n_functions++, name);
}

/* Python functions, and the interpreter's code below them. */
static void add_python(uint32_t library, uint32_t in_kernel)
{
        uint32_t interpreter = trace_builder_module(&p.b, "/bin/python3"), module, handle, waits;

        module = trace_builder_module_of(&p.b, TRACE_MODULE_PYTHON, "/app.py");
        handle = called(called(0, interpreter, "run_main"), module, "handle");
        p.python = called(handle, interpreter, "eval");
        waits = called(called(handle, module, "write_log"), interpreter, "time_sleep");
        p.in_python = called(called(waits, library, "nanosleep"), in_kernel, "do_nanosleep");
}

static void add_mixed(uint32_t handle, uint32_t module, uint32_t library, uint32_t in_kernel)
{
        uint32_t logs = called(handle, module, "write_log"), outer = called(handle, module, "outer");
        uint32_t naps = called(logs, library, "nanosleep"), reads = called(logs, library, "read");
        uint32_t inner = called(outer, module, "inner");
        uint32_t inner_naps = called(inner, library, "nanosleep");

        p.mixed[IN_NAP] = called(naps, in_kernel, "do_nanosleep");
        p.mixed[IN_READ] = called(reads, in_kernel, "ksys_read");
        p.mixed[IN_QUEUE] = p.taking;
        p.mixed[IN_INNER] = called(inner_naps, in_kernel, "do_nanosleep");
        p.mixed[IN_INNER_READ] = called(called(inner, library, "read"), in_kernel, "ksys_read");
        p.mixed[IN_OUTER] = called(outer, in_kernel, "futex_wait");
}

static void add_code(void)
{
        static const char *const callers[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
        static const char *const leaves[] = { "db_read", "db_poll", "db_wait" };
        uint32_t module = trace_builder_module(&p.b, "/bin/program"), in_kernel, handle, library;

        in_kernel = trace_builder_module_of(&p.b, TRACE_MODULE_KERNEL, "[kernel]");
        library = trace_builder_module(&p.b, "/lib/libc.so.6");
        handle = called(called(0, module, "main"), module, "handle");
        p.usual = called(handle, module, "usual_work");
        p.taking = called(called(handle, module, "take_queue"), in_kernel, "futex_wait");
        for (int i = 0; i < 8; i++) {
                uint32_t logs = called(called(handle, module, callers[i]), module, "write_log");

                p.logging[i] = called(called(logs, library, "nanosleep"), in_kernel, "do_nanosleep");
        }
        for (int i = 0; i < 3; i++) {
                uint32_t executes = called(called(handle, module, callers[i]), module, "db_exec");

                p.leaves[i] = called(called(executes, module, leaves[i]), in_kernel, leaves[i]);
        }
        p.napping = called(called(p.usual, library, "nanosleep"), in_kernel, "do_nanosleep");
        p.asking = called(called(called(0, module, "serve"), module, "ask_disk"), in_kernel, "read");
        p.flushing = called(called(called(0, module, "run_disk"), module, "flush_disk"), library, "memcpy");
        add_python(library, in_kernel);
        add_mixed(handle, module, library, in_kernel);
        p.locking = called(called(p.usual, library, "__pthread_mutex_lock"), in_kernel, "futex_wait");
}

static void program_init(bool has_samples)
{
        struct trace_lock lock = { .number = 1 };

        p.has_samples = has_samples;
        p.worker = trace_builder_thread(&p.b, 10, 11);
        p.middle = trace_builder_thread(&p.b, 10, 12);
        p.disk = trace_builder_thread(&p.b, 10, 13);
        lock.process = ((const struct trace_thread *)trace_dictionary_row(&p.b.dictionary,
                                                                          TRACE_TABLE_THREADS, p.worker))
                               ->process;
        lock.location = trace_builder_location(&p.b, "queue");
        p.lock = trace_builder_row(&p.b, TRACE_TABLE_LOCKS, &lock);
        p.request = trace_builder_location(&p.b, "request");
        p.path = trace_builder_path(&p.b, 0, p.request);
        p.event = trace_builder_sample_event(&p.b, "cpu-clock");
        add_code();
}

static uint64_t wait_at(uint64_t time_ns, uint32_t stack, uint64_t for_ns)
{
        TRACE_BUILDER_ADD(&p.b, time_ns, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, stack);
        TRACE_BUILDER_ADD(&p.b, time_ns + for_ns, SWITCH_IN, 0);
        return time_ns + for_ns;
}

/* Waits as slow instance @n, or with N_INSTANCES as a usual one. */
static uint64_t wait_mixed(uint32_t n, uint64_t time_ns)
{
        for (int i = 0; i < MIXED_WAITS; i++) {
                const struct mixed_wait *wait = &p.waits[i];
                uint64_t for_ns = n == N_INSTANCES                                ? wait->usual_ns
                                  : n >= wait->first && n < wait->first + wait->n ? wait->slow_ns
                                                                                  : 0;

                if (for_ns != 0)
                        time_ns = wait_at(time_ns, p.mixed[wait->place], for_ns) + GAP_NS;
        }
        return time_ns;
}

static uint64_t wait_for(uint64_t time_ns, uint32_t thread, uint64_t for_ns)
{
        TRACE_BUILDER_ADD(&p.b, time_ns, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, p.taking);
        TRACE_BUILDER_ADD(&p.b, time_ns + for_ns, WAKEUP, 1, thread, 0, p.asking);
        TRACE_BUILDER_ADD(&p.b, time_ns + for_ns, SWITCH_IN, 0);
        return time_ns + for_ns;
}

static uint64_t be_slow(enum plant plant, uint64_t time_ns)
{
        uint32_t n = p.n_waits++;

        p.slow_ns[n] = time_ns;
        switch (plant) {
        case PLANT_CHAIN:
        case PLANT_STARVED:
        case PLANT_IDLE:
        case PLANT_STAY:
                return wait_for(time_ns, p.middle, EXTRA_NS);
        case PLANT_JOIN:
                time_ns = wait_for(time_ns, p.middle, EXTRA_NS / 10 * 6);
                return wait_for(time_ns + GAP_NS, p.disk, EXTRA_NS / 10 * 4 - GAP_NS);
        case PLANT_UNSWITCHED:
                TRACE_BUILDER_ADD(&p.b, time_ns, LOCK_WAIT, p.lock);
                TRACE_BUILDER_ADD(&p.b, time_ns + EXTRA_NS, LOCK_OBTAIN, p.lock);
                TRACE_BUILDER_ADD(&p.b, time_ns + EXTRA_NS, LOCK_RELEASE, p.lock);
                return time_ns + EXTRA_NS;
        case PLANT_CALLERS:
                return wait_at(time_ns, p.logging[n % 8], EXTRA_NS);
        case PLANT_LEAVES:
                return wait_at(time_ns, p.leaves[n % 3], EXTRA_NS);
        case PLANT_CALLS:
                return wait_at(time_ns, p.locking, EXTRA_NS);
        case PLANT_PYTHON:
        case PLANT_NATIVE:
                return wait_at(time_ns, p.in_python, EXTRA_NS);
        case PLANT_MIXED:
                return wait_mixed(n, time_ns);
        case PLANT_TWO:
                return wait_at(time_ns, n % 2 == 0 ? p.taking : p.logging[n % 8], EXTRA_NS);
        }
        return time_ns;
}

static void sample_middle(uint64_t from_ns, uint64_t to_ns, uint32_t stack)
{
        for (uint64_t at_ns = from_ns; at_ns < to_ns; at_ns += SAMPLE_NS)
                TRACE_BUILDER_ADD(&p.b, at_ns, SAMPLE, p.event, 1, stack, 0, SAMPLE_NS);
}

/* While slow instances wait for it, from @from_ns to @to_ns. */
static void be_waited_for(enum plant plant, uint64_t from_ns, uint64_t to_ns)
{
        uint64_t wait_ns = plant == PLANT_STAY ? from_ns + EXTRA_NS / 10 * 6 : from_ns + 10;

        if (plant == PLANT_STAY || plant == PLANT_JOIN)
                sample_middle(from_ns, from_ns + EXTRA_NS / 2, p.usual);
        if (plant == PLANT_CHAIN || plant == PLANT_STAY) {
                TRACE_BUILDER_ADD(&p.b, wait_ns, SWITCH_OUT, 1, 0, TRACE_WAIT_SLEEPING, p.asking);
                TRACE_BUILDER_ADD(&p.b, to_ns, WAKEUP, 1, p.disk, 0, p.flushing);
                TRACE_BUILDER_ADD(&p.b, to_ns, SWITCH_IN, 1);
        } else if (plant == PLANT_STARVED) {
                TRACE_BUILDER_ADD(&p.b, wait_ns, SWITCH_OUT, 1, 1, TRACE_WAIT_PREEMPTED);
                TRACE_BUILDER_ADD(&p.b, to_ns, SWITCH_IN, 1);
        } else if (plant == PLANT_UNSWITCHED) {
                TRACE_BUILDER_ADD(&p.b, from_ns - 50, LOCK_OBTAIN, p.lock);
                sample_middle(from_ns, to_ns, p.flushing);
                TRACE_BUILDER_ADD(&p.b, to_ns, LOCK_RELEASE, p.lock);
        }
}

/* It runs in usual_work() otherwise. */
static void be_middle(enum plant plant)
{
        trace_builder_begin_run(&p.b, p.middle);
        TRACE_BUILDER_ADD(&p.b, 10, THREAD_NAME, trace_builder_string(&p.b, "middle"));
        if (plant != PLANT_UNSWITCHED)
                TRACE_BUILDER_ADD(&p.b, 10, SWITCH_IN, 1);
        for (uint32_t i = 0; i < p.n_waits; i++) {
                TRACE_BUILDER_ADD(&p.b, p.slow_ns[i] - 1000, SAMPLE, p.event, 1, p.usual, 0, SAMPLE_NS);
                be_waited_for(plant, p.slow_ns[i], p.slow_ns[i] + EXTRA_NS - 1000);
        }
        trace_builder_end_run(&p.b);
}

static void be_disk(void)
{
        trace_builder_begin_run(&p.b, p.disk);
        TRACE_BUILDER_ADD(&p.b, 10, THREAD_NAME, trace_builder_string(&p.b, "disk"));
        TRACE_BUILDER_ADD(&p.b, 10, SWITCH_IN, 2);
        for (uint32_t i = 0; i < p.n_waits; i++)
                for (uint64_t at_ns = SAMPLE_NS; at_ns < EXTRA_NS; at_ns += SAMPLE_NS)
                        TRACE_BUILDER_ADD(&p.b, p.slow_ns[i] + at_ns, SAMPLE, p.event, 2, p.flushing, 0,
                                          SAMPLE_NS);
        trace_builder_end_run(&p.b);
}

/* Instances take 100 to 139 us, one of 40 a millisecond more. */
static void build(enum plant plant)
{
        uint64_t now_ns = 1000;

        trace_builder_begin_run(&p.b, p.worker);
        if (plant != PLANT_UNSWITCHED)
                TRACE_BUILDER_ADD(&p.b, 10, SWITCH_IN, 0);
        for (uint32_t i = 0; i < N_INSTANCES; i++) {
                uint64_t for_ns = USUAL_NS + i % 40 * 1000;

                trace_builder_begin_zone(&p.b, now_ns, p.request);
                for (uint64_t at_ns = SAMPLE_NS; at_ns <= for_ns && p.has_samples; at_ns += SAMPLE_NS)
                        TRACE_BUILDER_ADD(&p.b, now_ns + at_ns, SAMPLE, p.event, 0,
                                          plant == PLANT_PYTHON ? p.python : p.usual, p.path, SAMPLE_NS);
                now_ns += for_ns;
                if (i % SLOW_EVERY == 19)
                        now_ns = be_slow(plant, now_ns);
                else if (plant == PLANT_CALLS)
                        now_ns = wait_at(now_ns, p.napping, USUAL_NS);
                else if (plant == PLANT_MIXED)
                        now_ns = wait_mixed(N_INSTANCES, now_ns);
                trace_builder_event(&p.b, now_ns, TRACE_OP_ZONE_END);
                now_ns += GAP_NS;
        }
        trace_builder_end_run(&p.b);
        if (plant >= PLANT_CHAIN) {
                be_middle(plant);
                if (plant != PLANT_UNSWITCHED)
                        be_disk();
        }
        trace_builder_finish(&p.b);
}

static void ask(void)
{
        static const struct why_request slowest = { .zone = "request",
                                                    .slowest = 0.025,
                                                    .by = WHY_BY_AUTOMATIC };

        asked_why_ask(&a, p.b.path, &slowest);
}

static const struct {
        enum plant plant;
        const char *words; /* part of the answer */
} cases[] = {
        { PLANT_CALLERS,
          "Slow instances wait in write_log() (nanosleep, do_nanosleep) (100% of the extra time)" },
        { PLANT_LEAVES, "Slow instances wait in db_exec() (100% of the extra time)" },
        { PLANT_CHAIN,
          "wait in take_queue() (futex_wait) (100% of the extra time) for thread t2 'middle', which waited in ask_disk() from serve() for "
          "thread t3 'disk', which ran flush_disk() from run_disk()" },
        { PLANT_STARVED, "for thread t2 'middle', which was ready to run without a CPU" },
        { PLANT_IDLE,
          "wait in take_queue() (futex_wait) (100% of the extra time), which thread t2 'middle' ended in ask_disk()" },
        { PLANT_STAY,
          "for thread t2 'middle', which waited in ask_disk() from serve() for thread t3 'disk', which ran "
          "flush_disk() from run_disk()" },
        { PLANT_JOIN, "for thread t3 'disk', which ran flush_disk() from run_disk()" },
        { PLANT_UNSWITCHED,
          "wait for the lock 'queue' (50% of the extra time), held by thread t2 'middle' in flush_disk()" },
        { PLANT_PYTHON, "Slow instances wait in write_log() (do_nanosleep) (100% of the extra time)" },
        { PLANT_NATIVE,
          "Slow instances wait in time_sleep() (nanosleep, do_nanosleep) (100% of the extra time)" },
        { PLANT_CALLS, "Slow instances wait in usual_work() (pthread_mutex_lock, futex_wait) (100% of" },
};

START_LOOP_TEST(test_the_function_is_named, 0, sizeof(cases) / sizeof(cases[0]))
{
        program_init(true);
        build(cases[_i].plant);
        ask();
        ck_assert_msg(strstr(a.answer, cases[_i].words) != NULL, "%s", a.answer);
        ck_assert_int_eq(why_find_answer(&a.why)->confidence, WHY_CONFIDENCE_HIGH);
}
END_TEST

/*
 * Waits of two functions are two causes, and no one of a function around both of them: all instances
 * run in that, and without samples it is around every wait.
 */
START_LOOP_TEST(test_two_waits_are_two_causes, 0, 2)
{
        size_t n = 0;

        program_init(_i == 0);
        build(PLANT_TWO);
        ask();
        for (size_t i = 0; i < a.why.n_causes; i++) {
                const struct why_cause *cause = &a.why.causes[i];
                struct text_view name = why_words_name(&a.why, cause->kind, cause->id);

                if (cause->kind != WHY_CAUSE_WAIT)
                        continue;
                ck_assert(text_view_is(name, "take_queue") || text_view_is(name, "write_log"));
                ck_assert_double_eq_tol(cause->share.value, 0.5, 0.02);
                n++;
        }
        ck_assert_uint_eq(n, 2);
}
END_TEST

/* ---- thresholds ---------------------------------------------------------------------------------------- */

#define US UINT64_C(1000)

static const struct mixed_case {
        struct mixed_wait waits[MIXED_WAITS];
        const char *causes;
        bool without_samples;
} mixed_cases[] = {
        /* A function is one cause where four slow instances wait in it; else each way to wait is. */
        { { { IN_NAP, 0, 2, 1000 * US, 0 },
            { IN_READ, 2, 2, 990 * US, 0 },
            { IN_QUEUE, 4, 6, 1000 * US, 0 } },
          "take_queue for futex_wait; write_log",
          false },
        { { { IN_NAP, 0, 2, 1000 * US, 0 },
            { IN_READ, 2, 1, 990 * US, 0 },
            { IN_QUEUE, 3, 7, 1000 * US, 0 } },
          "take_queue for futex_wait; write_log by nanosleep for do_nanosleep; write_log by read for ksys_read",
          false },
        /* And where it has a tenth of their time. */
        { { { IN_NAP, 0, 5, 125 * US, 0 }, { IN_READ, 5, 5, 120 * US, 0 }, { IN_QUEUE, 0, 10, 875 * US, 0 } },
          "take_queue for futex_wait; write_log",
          false },
        { { { IN_NAP, 0, 5, 105 * US, 0 }, { IN_READ, 5, 5, 100 * US, 0 }, { IN_QUEUE, 0, 10, 895 * US, 0 } },
          "take_queue for futex_wait; write_log by nanosleep for do_nanosleep; write_log by read for ksys_read",
          false },
        /* An inner function with nine tenths of what the outer one gains is named. */
        { { { IN_INNER, 0, 10, 920 * US, 0 }, { IN_OUTER, 0, 10, 80 * US, 0 }, { IN_QUEUE, 0, 0, 0, 0 } },
          "inner by nanosleep for do_nanosleep; outer for futex_wait",
          false },
        { { { IN_INNER, 0, 10, 880 * US, 0 }, { IN_OUTER, 0, 10, 120 * US, 0 }, { IN_QUEUE, 0, 0, 0, 0 } },
          "outer mostly inner",
          false },
        { { { IN_INNER, 0, 10, 480 * US, 0 }, { IN_OUTER, 0, 10, 520 * US, 0 }, { IN_QUEUE, 0, 0, 0, 0 } },
          "outer",
          false },
        /* A call of the library is named where it has nine tenths of the time. */
        { { { IN_NAP, 0, 10, 920 * US, 60 * US }, { IN_READ, 0, 10, 80 * US, 0 }, { IN_QUEUE, 0, 0, 0, 0 } },
          "write_log by nanosleep for do_nanosleep",
          false },
        { { { IN_NAP, 0, 10, 880 * US, 60 * US }, { IN_READ, 0, 10, 120 * US, 0 }, { IN_QUEUE, 0, 0, 0, 0 } },
          "write_log",
          false },
        /* One way to wait with nine tenths of what its function gains is a cause of its own. */
        { { { IN_NAP, 0, 10, 920 * US, 0 }, { IN_READ, 0, 10, 80 * US, 0 }, { IN_QUEUE, 0, 0, 0, 0 } },
          "write_log by nanosleep for do_nanosleep; write_log by read for ksys_read",
          false },
        { { { IN_NAP, 0, 10, 880 * US, 0 }, { IN_READ, 0, 10, 120 * US, 0 }, { IN_QUEUE, 0, 0, 0, 0 } },
          "write_log",
          false },
        /* The inner one of two functions around the same waits is named. */
        { { { IN_INNER, 0, 10, 500 * US, 0 },
            { IN_INNER_READ, 0, 10, 490 * US, 0 },
            { IN_QUEUE, 0, 0, 0, 0 } },
          "inner",
          false },
        /* Without samples, a function around all waits is no cause. */
        { { { IN_NAP, 0, 5, 1000 * US, 0 }, { IN_READ, 5, 5, 990 * US, 0 }, { IN_QUEUE, 0, 0, 0, 0 } },
          "write_log by nanosleep for do_nanosleep; write_log by read for ksys_read",
          true },
        { { { IN_NAP, 0, 4, 1000 * US, 0 },
            { IN_READ, 4, 4, 990 * US, 0 },
            { IN_QUEUE, 8, 2, 1000 * US, 0 } },
          "write_log; take_queue for futex_wait",
          true },
};

static void add_label(struct byte_buffer *out, const struct why *w, const char *before, uint32_t label)
{
        struct text_view name = why_words_function(w, label);

        byte_buffer_add_format(out, "%s%.*s", label != 0 ? before : "", (int)name.n_bytes, name.bytes);
}

START_LOOP_TEST(test_thresholds, 0, sizeof(mixed_cases) / sizeof(mixed_cases[0]))
{
        const struct mixed_case *one = &mixed_cases[_i];
        struct byte_buffer words = { .data = NULL };

        program_init(!one->without_samples);
        p.waits = one->waits;
        build(PLANT_MIXED);
        ask();
        for (size_t i = 0; i < a.why.n_causes; i++) {
                const struct why_wait_name *name;

                if (a.why.causes[i].kind != WHY_CAUSE_WAIT)
                        continue;
                name = &a.why.waits.names[a.why.causes[i].id - 1];
                add_label(&words, &a.why, words.used_bytes != 0 ? "; " : "", name->label);
                add_label(&words, &a.why, " mostly ", name->inner);
                add_label(&words, &a.why, " by ", name->call);
                add_label(&words, &a.why, " for ", name->kernel);
        }
        byte_buffer_add_u8(&words, 0);
        ck_assert_str_eq((const char *)words.data, one->causes);
        byte_buffer_deinit(&words);
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 120, .setup = setup, .teardown = teardown);
