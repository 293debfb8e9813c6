/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why.c: chance, too little evidence and parts that are too small are named no cause;
 * each guard alone matters
 */
#include "analyze/walk/loaded_trace.h"
#include "analyze/why/why.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <math.h>
#include <stdio.h>

#define UNIT_NS     UINT64_C(10000)
#define GAP_NS      UINT64_C(1000)
#define N_FUNCTIONS 24
#define N_PLACES    6

struct world {
        struct trace_builder b;
        uint32_t worker, request, event, path, lock;
        uint32_t function[N_FUNCTIONS], place[N_PLACES], fault; /* stacks */
        uint64_t n_frames, now_ns, random, cpu;
};

static uint32_t called(struct world *w, uint32_t parent, uint32_t module, const char *base, unsigned int i)
{
        uint32_t frame = trace_builder_frame(&w->b, module, 0x1000 + 16 * w->n_frames++);
        char name[32];

        (void)snprintf(name, sizeof(name), "%s%u", base, i);
        trace_builder_symbol(&w->b, frame, name, 0);
        return trace_builder_stack(&w->b, parent, frame);
}

static void world_init(struct world *w, uint64_t seed)
{
        struct trace_lock lock = { .number = 1 };
        uint32_t module;

        *w = (struct world){ .now_ns = 1000, .random = seed * 7919 };
        trace_builder_init(&w->b);
        w->worker = trace_builder_thread(&w->b, 10, 11);
        w->request = trace_builder_location(&w->b, "request");
        lock.process = ((const struct trace_thread *)trace_dictionary_row(&w->b.dictionary,
                                                                          TRACE_TABLE_THREADS, w->worker))
                               ->process;
        lock.location = trace_builder_location(&w->b, "queue");
        w->lock = trace_builder_row(&w->b, TRACE_TABLE_LOCKS, &lock);
        w->path = trace_builder_path(&w->b, 0, w->request);
        w->event = trace_builder_sample_event(&w->b, "cpu-clock");
        module = trace_builder_module(&w->b, "/bin/program");
        for (unsigned int i = 0; i < N_FUNCTIONS; i++)
                w->function[i] = called(w, 0, module, "f", i);
        for (unsigned int i = 0; i < N_PLACES; i++)
                w->place[i] = called(w, 0, module, "wait", i);
        w->fault = called(w, called(w, 0, module, "touch", 0),
                          trace_builder_module_of(&w->b, TRACE_MODULE_KERNEL, "[kernel]"),
                          "asm_exc_page_fault_", 0);
        trace_builder_begin_run(&w->b, w->worker);
        TRACE_BUILDER_ADD(&w->b, 10, SWITCH_IN, 0);
}

static void begin(struct world *w)
{
        trace_builder_begin_zone(&w->b, w->now_ns, w->request);
}

static void end(struct world *w)
{
        trace_builder_event(&w->b, w->now_ns, TRACE_OP_ZONE_END);
        w->now_ns += GAP_NS;
}

/* On the CPU, with one sample or none; a sample has the weight of @weight_ns. */
static void run(struct world *w, uint64_t ns, uint32_t stack, uint64_t weight_ns)
{
        if (weight_ns != 0)
                TRACE_BUILDER_ADD(&w->b, w->now_ns + ns / 2, SAMPLE, w->event, 0, stack, w->path, weight_ns);
        w->now_ns += ns;
}

static void rest(struct world *w, uint64_t ns, uint32_t stack)
{
        TRACE_BUILDER_ADD(&w->b, w->now_ns, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, stack);
        TRACE_BUILDER_ADD(&w->b, w->now_ns + ns - 10, WAKEUP, 1, 0, 0, 0);
        TRACE_BUILDER_ADD(&w->b, w->now_ns + ns, SWITCH_IN, 0);
        w->now_ns += ns;
}

static void take_lock(struct world *w, uint64_t ns)
{
        TRACE_BUILDER_ADD(&w->b, w->now_ns, LOCK_WAIT, w->lock);
        rest(w, ns, w->place[0]);
        TRACE_BUILDER_ADD(&w->b, w->now_ns, LOCK_OBTAIN, w->lock);
        TRACE_BUILDER_ADD(&w->b, w->now_ns, LOCK_RELEASE, w->lock);
}

static void be_preempted(struct world *w, uint64_t ns, bool moves)
{
        TRACE_BUILDER_ADD(&w->b, w->now_ns, SWITCH_OUT, w->cpu, 1, TRACE_WAIT_PREEMPTED);
        w->cpu ^= moves;
        TRACE_BUILDER_ADD(&w->b, w->now_ns + ns, SWITCH_IN, w->cpu);
        w->now_ns += ns;
}

static uint64_t choose(struct world *w, uint64_t n)
{
        return (fixed_random_next(&w->random) >> 11) % n;
}

struct finding {
        bool is_named;
        enum why_by by;
        uint32_t n_judged;
        double p; /* of the first cause, before it is corrected for the number of candidates */
};

/* Whether any cause has high or medium confidence; the world is over then. */
static struct finding ask(struct world *w, const struct why_request *request)
{
        struct finding f = { .is_named = false };
        struct error err = ERROR_NONE;
        struct loaded_trace trace;
        static struct why why; /* large */

        trace_builder_end_run(&w->b);
        trace_builder_finish(&w->b);
        ck_assert_msg(loaded_trace_open(&trace, w->b.path, &err) == 0, "%s", err.text);
        ck_assert_int_eq(loaded_trace_read_names(&trace, &err), 0);
        ck_assert_msg(why_init(&why, &trace, NULL, request, &err) == 0, "%s", err.text);
        for (size_t i = 0; i < why.n_causes; i++) {
                f.is_named |= why.causes[i].confidence >= WHY_CONFIDENCE_MEDIUM;
                f.n_judged += why.causes[i].confidence >= WHY_CONFIDENCE_LOW;
        }
        ck_assert_int_eq(f.is_named, why_find_answer(&why) != NULL);
        if (why.n_causes > 0)
                f.p = why.causes[0].p / (double)why.n_tests;
        f.by = why.by;
        why_deinit(&why);
        loaded_trace_close(&trace);
        trace_builder_deinit(&w->b);
        return f;
}

/* ---- chance -------------------------------------------------------------------------------------------- */

#define N_INSTANCES 400
#define SLOW_EVERY  40
#define N_UNITS     10 /* of an instance; of a slow one ten times as many */

/* Many functions, places, a lock and faults: each takes little. */
static void do_one_of_many(struct world *w)
{
        uint64_t what = choose(w, 100);

        if (what < 3)
                rest(w, UNIT_NS, w->place[1 + choose(w, N_PLACES - 1)]);
        else if (what < 6)
                take_lock(w, UNIT_NS);
        else
                run(w, UNIT_NS, what < 12 ? w->fault : w->function[choose(w, N_FUNCTIONS)],
                    choose(w, 5) == 0 ? 5 * UNIT_NS : 0);
}

/* A place and a lock that take a third of the time each: nothing is too small to be called a cause. */
static void do_one_of_few(struct world *w)
{
        uint64_t what = choose(w, 100);

        if (what < 36)
                rest(w, UNIT_NS, w->place[1]);
        else if (what < 70)
                take_lock(w, UNIT_NS);
        else
                run(w, UNIT_NS, w->function[choose(w, 3)], choose(w, 5) == 0 ? 5 * UNIT_NS : 0);
}

/*
 * A wait that takes a third of the time as well, but is in every fourth usual instance
 * only, and in all slow ones.
 */
static void do_rarely(struct world *w)
{
        if (choose(w, 1000) < 28)
                rest(w, 20 * UNIT_NS, w->place[1]);
        else
                run(w, UNIT_NS, w->function[choose(w, 3)], choose(w, 5) == 0 ? 5 * UNIT_NS : 0);
}

/* Sanitizers look for other faults than too many names, and make all of this ten times as slow, or fifty. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WORLDS(n) ((n) / 20)
#else
#define WORLDS(n) (n)
#endif

static const struct {
        void (*do_unit)(struct world *w);
        uint32_t n_worlds, n_named_max, n_judged_min;
} chances[] = {
        { do_one_of_many, WORLDS(60), 1, 3 },
        { do_one_of_few, WORLDS(600), 3, 2 },
        { do_rarely, WORLDS(300), 3, 1 },
};

/* Slow instances are random and do ten times as much of the same. */
START_LOOP_TEST(test_chance_is_not_named, 0, sizeof(chances) / sizeof(chances[0]))
{
        static const struct why_request request = { .zone = "request",
                                                    .slowest = 0.025,
                                                    .by = WHY_BY_AUTOMATIC };
        uint32_t n_named = 0, n_judged = 0;

        for (uint64_t seed = 1; seed <= chances[_i].n_worlds; seed++) {
                static struct world w; /* large */
                struct finding f;

                world_init(&w, seed);
                for (uint32_t i = 0; i < N_INSTANCES; i++) {
                        uint32_t n = i % SLOW_EVERY == 19 ? 10 * N_UNITS : N_UNITS;

                        begin(&w);
                        for (uint32_t k = 0; k < n; k++)
                                chances[_i].do_unit(&w);
                        end(&w);
                }
                f = ask(&w, &request);
                n_named += f.is_named;
                n_judged += f.n_judged;
        }
        ck_assert_uint_le(n_named, chances[_i].n_named_max);
        ck_assert_uint_ge(n_judged,
                          chances[_i].n_judged_min * chances[_i].n_worlds); /* there is something to judge */
}
END_TEST

/* ---- too little evidence, and parts that are too small ------------------------------------------------- */

enum lack {
        LACK_SLOW, /* instances */
        LACK_TYPICAL,
        LACK_WITH,    /* slow instances that have it */
        LACK_SAMPLES, /* of it */
        LACK_SLOW_SAMPLES,
        LACK_TYPICAL_SAMPLES,
        LACK_SHARE_OF_OWN,
        LACK_SHARE,
        LACK_CERTAINTY,
        LACK_MOVED, /* slow instances, of those that were preempted */
        LACK_REASON_TO_MOVE,
        N_LACKS,
};

/*
 * A wait is all that slow instances take longer, in so many of so many slow ones, beside so many usual ones.
 */
static void build_waits(struct world *w, uint32_t n_with, uint32_t n_slow, uint32_t n_typical)
{
        for (uint32_t i = 0; i < n_slow + n_typical; i++) {
                begin(w);
                run(w, 10 * UNIT_NS + i % 7, w->function[0], 0);
                if (i < n_with)
                        rest(w, 100 * UNIT_NS, w->place[1]);
                else if (i < n_slow)
                        run(w, 5 * UNIT_NS, w->function[0], 0);
                end(w);
        }
}

/*
 * Page faults are what slow instances take longer: @n_faults of the @n_slow samples in 10 slow instances, and
 * of those of each, no one of the @n_typical samples in 400 others.
 */
static void build_samples(struct world *w, uint32_t n_faults, uint32_t n_slow, uint32_t n_typical)
{
        bool are_all = n_faults == n_slow;

        for (uint32_t i = 0; i < 410; i++) {
                bool is_slow = i < 10;
                uint32_t n_here = is_slow ? n_slow / 10 + (i < n_slow % 10) : i - 10 < n_typical;

                begin(w);
                run(w, 10 * UNIT_NS + i % 7, w->function[0], 0);
                if (is_slow)
                        run(w, 100 * UNIT_NS, w->fault, 0);
                for (uint32_t k = 0; k < n_here; k++) {
                        bool is_fault = is_slow && n_faults > 0 && (are_all || k % 2 == 0);

                        n_faults -= is_fault;
                        run(w, 1000, is_fault ? w->fault : w->function[0], 10 * UNIT_NS);
                }
                end(w);
        }
}

/* Every slow instance waits, and no other one does, but for a part of the extra time only. */
static void build_part(struct world *w, uint64_t wait_ns, uint64_t others_ns)
{
        for (uint32_t i = 0; i < N_INSTANCES; i++) {
                bool is_slow = i % SLOW_EVERY == 19;

                begin(w);
                run(w, 10 * UNIT_NS + i % 7, w->function[0], 0);
                if (is_slow)
                        rest(w, wait_ns, w->place[1]);
                if (is_slow && others_ns > 0)
                        be_preempted(w, others_ns, false);
                if (is_slow && others_ns == 0)
                        run(w, 100 * UNIT_NS - wait_ns, w->function[0], 0);
                end(w);
        }
}

/*
 * Every slow instance waits and runs; one waits for much longer, another one runs for much longer:
 * the part is not known.
 */
static void build_uncertain(struct world *w, uint64_t longer_ns)
{
        for (uint32_t i = 0; i < N_INSTANCES; i++) {
                begin(w);
                run(w, 10 * UNIT_NS + i % 7, w->function[0], 0);
                if (i % SLOW_EVERY == 19) {
                        rest(w, 3 * UNIT_NS + (i == 19 ? longer_ns : 0), w->place[1]);
                        run(w, 6 * UNIT_NS + (i == 59 ? longer_ns : 0), w->function[0], 0);
                }
                end(w);
        }
}

/*
 * All instances are preempted, slow ones for long; @n_moved of 20 slow ones and @n_others_moved of 10
 * others go on on another CPU.
 */
static void build_moves(struct world *w, uint32_t n_moved, uint32_t n_others_moved)
{
        for (uint32_t i = 0; i < 420; i++) {
                bool is_slow = i < 20;

                begin(w);
                run(w, 10 * UNIT_NS + i % 7, w->function[0], 0);
                be_preempted(w, is_slow ? 100 * UNIT_NS : UNIT_NS,
                             is_slow ? i < n_moved : i % 10 < n_others_moved);
                end(w);
        }
}

/* @is_good: with just enough of it, so that the cause is named. */
static void build_lack(struct world *w, enum lack lack, bool is_good)
{
        switch (lack) {
        case LACK_SLOW:
                build_waits(w, is_good ? 8 : 7, is_good ? 8 : 7, 400);
                break;
        case LACK_TYPICAL:
                build_waits(w, 8, 8, is_good ? 40 : 7);
                break;
        case LACK_WITH:
                build_waits(w, is_good ? 4 : 3, 10, 4000);
                break;
        case LACK_SAMPLES:
                build_samples(w, is_good ? 10 : 9, 20, 200);
                break;
        case LACK_SLOW_SAMPLES:
                build_samples(w, is_good ? 20 : 19, is_good ? 20 : 19, 200);
                break;
        case LACK_TYPICAL_SAMPLES:
                build_samples(w, 100, 100, is_good ? 20 : 19);
                break;
        case LACK_SHARE_OF_OWN:
                build_part(w, (is_good ? 26 : 15) * UNIT_NS, 0);
                break;
        case LACK_SHARE:
                build_part(w, (is_good ? 6 : 4) * UNIT_NS, 95 * UNIT_NS);
                break;
        case LACK_CERTAINTY:
                build_uncertain(w, (is_good ? 0 : 120) * UNIT_NS);
                break;
        case LACK_MOVED:
                build_moves(w, is_good ? 10 : 9, 0);
                break;
        case LACK_REASON_TO_MOVE:
        case N_LACKS:
                build_moves(w, 20, is_good ? 0 : 9);
                break;
        }
}

START_LOOP_TEST(test_too_little_is_not_named, 0, N_LACKS)
{
        for (int is_good = 0; is_good <= 1; is_good++) {
                static struct world w; /* large */
                struct why_request request = { .zone = "request",
                                               .slower_than_ns = 14 * UNIT_NS,
                                               .by = WHY_BY_WALL };

                world_init(&w, 1);
                build_lack(&w, (enum lack)_i, is_good != 0);
                ck_assert_int_eq(ask(&w, &request).is_named, is_good);
        }
}
END_TEST

/*
 * Others had the CPU for a quarter of what slow instances take longer: then instances are
 * ranked without that time.
 */
START_LOOP_TEST(test_time_of_others_dominates, 0, 2)
{
        static const struct why_request request = { .zone = "request",
                                                    .slowest = 0.025,
                                                    .by = WHY_BY_AUTOMATIC };
        uint64_t others = _i == 0 ? 24 : 26;
        static struct world w; /* large */

        world_init(&w, 1);
        build_part(&w, (100 - others) * UNIT_NS, others * UNIT_NS);
        ck_assert_int_eq(ask(&w, &request).by, _i == 0 ? WHY_BY_WALL : WHY_BY_OWN);
}
END_TEST

/*
 * By hand: 4 of 10 slow instances have the wait and none of 4000 others, and the better of
 * two tests counts twice.
 */
START_TEST(test_probability_of_a_wait)
{
        struct why_request request = { .zone = "request", .slower_than_ns = 14 * UNIT_NS, .by = WHY_BY_WALL };
        double slow = (4 * 10 + 6 * 15) /
                      (double)(4 * 10 + 6 * 15 + 4000 * 10); /* of the time without the wait */
        static struct world w;                               /* large */

        world_init(&w, 1);
        build_waits(&w, 4, 10, 4000);
        ck_assert_double_eq_tol(ask(&w, &request).p / (2 * pow(slow, 4)), 1, 0.01);
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 300);
