/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why.c and its parts: a known cause is named with its share, holder and waker; what
 * is no cause is not named
 */
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/why/why.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "tests/unit/asked_why.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/why/why_view.h"
#include "view/why/why_words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define N_INSTANCES 400
#define SLOW_EVERY  40 /* of which one is slow */
#define USUAL_NS    UINT64_C(100000)
#define EXTRA_NS    UINT64_C(1000000)
#define SAMPLE_NS   UINT64_C(50000)
#define GAP_NS      UINT64_C(1000)

enum plant {
        PLANT_PATH,
        PLANT_LOCK,
        PLANT_WAIT,
        PLANT_FAULTS,
        PLANT_TOUCH,
        PLANT_MOVE,
        PLANT_PREEMPTED,
        PLANT_LONGER,
        PLANT_COLD,
        PLANT_INNER,
        PLANT_ZONE,
        PLANT_ZONE_WAITS,
        PLANT_UNSAMPLED,
        PLANT_BOTH,
        PLANT_NO_WAIT,
        PLANT_MINORITY,
        PLANT_IN_ZONE,
        PLANT_TEXT,
        PLANT_DELAYED,
        PLANT_MOSTLY_WAITS,
        PLANT_INTERRUPTED,
        PLANT_MOSTLY_INTERRUPTED,
};

struct program {
        struct trace_builder b;
        uint32_t worker, loader;
        uint32_t request, inner, lock;
        uint32_t event, path;
        uint32_t usual, slow, touching, fault, interrupt, taking, waiting, holding; /* stacks */
        bool has_samples;
        uint32_t n_functions;
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

static void add_code(void)
{
        uint32_t module = trace_builder_module(&p.b, "/bin/program"), in_kernel, handle, loading;

        in_kernel = trace_builder_module_of(&p.b, TRACE_MODULE_KERNEL, "[kernel]");
        handle = called(called(0, module, "main"), module, "handle");
        loading = called(0, module, "load");
        p.usual = called(handle, module, "usual_work");
        p.slow = called(called(handle, module, "slow_path"), module, "deeper");
        p.touching = called(handle, module, "touch");
        p.fault = called(p.touching, in_kernel, "asm_exc_page_fault");
        p.interrupt = called(p.usual, in_kernel, "asm_sysvec_apic_timer_interrupt");
        p.taking = called(handle, module, "take_queue");
        p.waiting = called(p.taking, in_kernel, "futex_wait");
        p.holding = called(loading, module, "flush");
}

static void program_init(bool has_samples)
{
        struct trace_lock lock = { .number = 1 };
        const struct trace_thread *thread;

        p.has_samples = has_samples;
        p.worker = trace_builder_thread(&p.b, 10, 11);
        p.loader = trace_builder_thread(&p.b, 10, 12);
        p.request = trace_builder_location(&p.b, "request");
        p.inner = trace_builder_location(&p.b, "inner");
        thread = trace_dictionary_row(&p.b.dictionary, TRACE_TABLE_THREADS, p.worker);
        lock.process = thread->process;
        lock.location = trace_builder_location(&p.b, "queue");
        p.lock = trace_builder_row(&p.b, TRACE_TABLE_LOCKS, &lock);
        p.path = trace_builder_path(&p.b, 0, p.request);
        p.event = trace_builder_sample_event(&p.b, "cpu-clock");
        add_code();
}

/* Runs from @time_ns on, with a sample at each end of SAMPLE_NS; returns when it is over. */
static uint64_t run_in(uint64_t time_ns, uint64_t for_ns, uint32_t stack)
{
        for (uint64_t at_ns = SAMPLE_NS; at_ns <= for_ns && p.has_samples; at_ns += SAMPLE_NS)
                TRACE_BUILDER_ADD(&p.b, time_ns + at_ns, SAMPLE, p.event, 0, stack, p.path, SAMPLE_NS);
        return time_ns + for_ns;
}

/* Off the CPU; @waker_name: string. */
static uint64_t wait_at(uint64_t time_ns, uint32_t waker, uint32_t waker_name, uint64_t cpu)
{
        uint64_t from_cpu = waker != 0 ? cpu : !cpu;

        TRACE_BUILDER_ADD(&p.b, time_ns, SWITCH_OUT, from_cpu, 0, TRACE_WAIT_SLEEPING, p.waiting);
        TRACE_BUILDER_ADD(&p.b, time_ns + EXTRA_NS - 100, WAKEUP, 1, waker, waker_name, p.holding);
        TRACE_BUILDER_ADD(&p.b, time_ns + EXTRA_NS, SWITCH_IN, cpu);
        return time_ns + EXTRA_NS;
}

static uint64_t be_slow(enum plant plant, uint64_t time_ns, uint32_t mover)
{
        switch (plant) {
        case PLANT_PATH:
                return run_in(time_ns, EXTRA_NS, p.slow);
        case PLANT_LOCK:
                TRACE_BUILDER_ADD(&p.b, time_ns, LOCK_WAIT, p.lock);
                time_ns = wait_at(time_ns, p.loader, 0, 0);
                TRACE_BUILDER_ADD(&p.b, time_ns, LOCK_OBTAIN, p.lock);
                TRACE_BUILDER_ADD(&p.b, time_ns, LOCK_RELEASE, p.lock);
                return time_ns;
        case PLANT_WAIT:
                return wait_at(time_ns, p.loader, 0, 0);
        case PLANT_FAULTS:
                return run_in(time_ns, EXTRA_NS, p.fault);
        case PLANT_TOUCH:
                return run_in(run_in(time_ns, 6 * EXTRA_NS / 10, p.touching), 4 * EXTRA_NS / 10, p.fault);
        case PLANT_MOVE:
                time_ns = wait_at(time_ns, 0, mover, 1);
                return wait_at(time_ns, 0, mover, 0);
        case PLANT_PREEMPTED:
                TRACE_BUILDER_ADD(&p.b, time_ns, SWITCH_OUT, 0, 1, TRACE_WAIT_PREEMPTED);
                TRACE_BUILDER_ADD(&p.b, time_ns + EXTRA_NS, SWITCH_IN, 0);
                return time_ns + EXTRA_NS;
        case PLANT_MOSTLY_WAITS:
                time_ns = wait_at(wait_at(time_ns, p.loader, 0, 0) + 1, p.loader, 0, 0);
                return run_in(time_ns, EXTRA_NS, p.taking);
        case PLANT_DELAYED:
                return run_in(be_slow(PLANT_PREEMPTED, time_ns, mover), EXTRA_NS, p.slow);
        case PLANT_INTERRUPTED:
                time_ns = be_slow(PLANT_PREEMPTED, time_ns, mover);
                return run_in(run_in(time_ns, EXTRA_NS, p.slow), 12 * EXTRA_NS / 10, p.interrupt);
        case PLANT_MOSTLY_INTERRUPTED:
                return run_in(time_ns, EXTRA_NS, p.interrupt);
        case PLANT_LONGER:
                return run_in(time_ns, EXTRA_NS, p.usual);
        case PLANT_COLD:
                for (uint64_t cpu = 0; cpu < 2; cpu++) {
                        TRACE_BUILDER_ADD(&p.b, time_ns, SWITCH_OUT, cpu, 1, TRACE_WAIT_PREEMPTED);
                        TRACE_BUILDER_ADD(&p.b, time_ns + 1000, SWITCH_IN, !cpu);
                        time_ns = run_in(time_ns + 1000, EXTRA_NS / 2, p.usual);
                }
                return time_ns;
        case PLANT_INNER:
                trace_builder_begin_zone(&p.b, time_ns, p.inner);
                time_ns = run_in(time_ns, EXTRA_NS, p.usual);
                trace_builder_event(&p.b, time_ns, TRACE_OP_ZONE_END);
                return time_ns;
        case PLANT_ZONE:
                trace_builder_begin_zone(&p.b, time_ns, p.inner);
                trace_builder_event(&p.b, time_ns + EXTRA_NS, TRACE_OP_ZONE_END);
                return time_ns + EXTRA_NS;
        case PLANT_ZONE_WAITS:
                trace_builder_begin_zone(&p.b, time_ns, p.inner);
                time_ns = wait_at(time_ns, p.loader, 0, 0);
                trace_builder_event(&p.b, time_ns, TRACE_OP_ZONE_END);
                return time_ns;
        case PLANT_BOTH:
                return run_in(wait_at(time_ns, p.loader, 0, 0), 2 * EXTRA_NS, p.taking);
        case PLANT_TEXT:
                TRACE_BUILDER_ADD(&p.b, time_ns, ZONE_VALUE, 7, 0);
                return run_in(time_ns, EXTRA_NS, p.usual);
        case PLANT_IN_ZONE:
                trace_builder_begin_zone(&p.b, time_ns, p.inner);
                time_ns = run_in(time_ns, EXTRA_NS, p.slow);
                trace_builder_event(&p.b, time_ns, TRACE_OP_ZONE_END);
                return time_ns;
        case PLANT_NO_WAIT:
                trace_builder_begin_zone(&p.b, time_ns, p.inner);
                time_ns = run_in(time_ns, 3 * EXTRA_NS, p.slow);
                trace_builder_event(&p.b, time_ns, TRACE_OP_ZONE_END);
                return time_ns;
        case PLANT_MINORITY:
                return run_in(run_in(time_ns, 3 * EXTRA_NS / 10, p.slow), 7 * EXTRA_NS / 10, p.usual);
        case PLANT_UNSAMPLED:
                break;
        }
        return time_ns + EXTRA_NS;
}

/* The loader holds the lock from a little before each slow instance waits until it is woken, in flush(). */
static void load(const uint64_t *slow_ns, uint32_t n_slow)
{
        trace_builder_begin_run(&p.b, p.loader);
        TRACE_BUILDER_ADD(&p.b, 10, THREAD_NAME, trace_builder_string(&p.b, "loader"));
        TRACE_BUILDER_ADD(&p.b, 10, SWITCH_IN, 1);
        for (uint32_t i = 0; i < n_slow; i++) {
                TRACE_BUILDER_ADD(&p.b, slow_ns[i] - 50, LOCK_OBTAIN, p.lock);
                for (uint64_t at_ns = SAMPLE_NS; at_ns < EXTRA_NS; at_ns += SAMPLE_NS)
                        TRACE_BUILDER_ADD(&p.b, slow_ns[i] + at_ns, SAMPLE, p.event, 1, p.holding, 0,
                                          SAMPLE_NS);
                TRACE_BUILDER_ADD(&p.b, slow_ns[i] + EXTRA_NS - 100, LOCK_RELEASE, p.lock);
        }
        trace_builder_end_run(&p.b);
}

/* Instances take 100 to 139 us, one of 40 a millisecond more. */
static void build(enum plant plant)
{
        uint64_t slow_ns[N_INSTANCES / SLOW_EVERY];
        uint32_t mover = trace_builder_string(&p.b, "migration/0");
        uint32_t n_slow = 0;
        uint64_t now_ns = 1000;

        trace_builder_begin_run(&p.b, p.worker);
        TRACE_BUILDER_ADD(&p.b, 10, THREAD_NAME, trace_builder_string(&p.b, "worker"));
        TRACE_BUILDER_ADD(&p.b, 10, SWITCH_IN, 0);
        for (uint32_t i = 0; i < N_INSTANCES; i++) {
                trace_builder_begin_zone(&p.b, now_ns, p.request);
                now_ns = run_in(now_ns, USUAL_NS + i % 40 * 1000, p.usual);
                if (i % SLOW_EVERY == 19) {
                        slow_ns[n_slow++] = now_ns;
                        now_ns = be_slow(plant, now_ns, mover) + n_slow;
                } else if (plant == PLANT_NO_WAIT) { /* all others do */
                        now_ns = wait_at(now_ns, p.loader, 0, 0);
                }
                trace_builder_event(&p.b, now_ns, TRACE_OP_ZONE_END);
                now_ns += GAP_NS;
        }
        trace_builder_end_run(&p.b);
        if (plant == PLANT_LOCK || plant == PLANT_WAIT)
                load(slow_ns, n_slow);
        trace_builder_finish(&p.b);
}

static void ask(const struct why_request *request)
{
        asked_why_ask(&a, p.b.path, request);
}

static const struct why_request slowest = { .zone = "request", .slowest = 0.025, .by = WHY_BY_AUTOMATIC };

/* Makes a program with it, and asks why its slowest instances are slow. */
static void plant(enum plant what, bool has_samples)
{
        program_init(has_samples);
        build(what);
        ask(&slowest);
}

static const struct {
        enum plant plant;
        bool has_samples;
        enum why_cause_kind kind; /* of the answer, if it has one */
        bool is_named;
        const char *words; /* part of the answer */
} cases[] = {
        { PLANT_PATH, true, WHY_CAUSE_FUNCTION, true, "Slow instances run deeper() from slow_path() (100%" },
        { PLANT_IN_ZONE, true, WHY_CAUSE_FUNCTION, true,
          "Slow instances, in the zone 'inner', run deeper() from slow_path() (100%" },
        { PLANT_TEXT, true, WHY_CAUSE_SAME, false,
          "of 120 us); all 10 slow ones have the value 7, and 0% of the others" },
        { PLANT_LOCK, true, WHY_CAUSE_LOCK, true,
          "the lock 'queue' (100% of the extra time), held by thread t2 'loader' in flush()" },
        { PLANT_WAIT, true, WHY_CAUSE_WAIT, true,
          "in take_queue() (futex_wait) (100% of the extra time) for thread t2 'loader', which ran flush()" },
        { PLANT_FAULTS, true, WHY_CAUSE_FAULTS, true, "Slow instances take page faults in touch() (" },
        { PLANT_MOVE, true, WHY_CAUSE_MOVED, true,
          "Slow instances move to another CPU, 2.0 times each and the others 0.0 times (" },
        { PLANT_ZONE, false, WHY_CAUSE_ZONE, true, "Slow instances are in the zone 'inner' (" },
        { PLANT_ZONE_WAITS, false, WHY_CAUSE_WAIT, true, "in take_queue() (futex_wait)" },
        { PLANT_PREEMPTED, true, WHY_CAUSE_SAME, false,
          "others had the CPU for 100% of the extra time of the slowest instances" },
        { PLANT_LONGER, true, WHY_CAUSE_SAME, false,
          "the same code took longer, mostly in usual_work() (100% of the extra time, +999 us beside a median of "
          "120 us); hyprof cannot tell why" },
        { PLANT_COLD, true, WHY_CAUSE_SAME, false,
          "; 100% of the slow instances continued on another CPU, 0% of the others" },
        { PLANT_INNER, true, WHY_CAUSE_SAME, false, "of the extra time is in the zone 'inner'" },
        { PLANT_MOSTLY_INTERRUPTED, true, WHY_CAUSE_INTERRUPTS, false,
          "no cause in the program: interrupts took 100% of the extra time" },
        { PLANT_UNSAMPLED, false, WHY_CAUSE_UNEXPLAINED, false, "no sample and no wait explains" },
};

START_LOOP_TEST(test_cause_is_named, 0, sizeof(cases) / sizeof(cases[0]))
{
        const struct why_cause *answer, *largest;

        plant(cases[_i].plant, cases[_i].has_samples);
        ck_assert_uint_eq(a.why.groups[WHY_SLOW].n, N_INSTANCES / SLOW_EVERY);
        ck_assert_uint_eq(a.why.groups[WHY_TYPICAL].n, N_INSTANCES - N_INSTANCES / SLOW_EVERY);
        answer = why_find_answer(&a.why);
        largest = why_find_largest(&a.why);
        ck_assert_ptr_nonnull(largest);
        ck_assert_int_eq(largest->kind, cases[_i].kind);
        ck_assert_double_gt(largest->share.value, 0.9);
        ck_assert_msg((answer != NULL) == cases[_i].is_named, "%s", a.answer);
        if (answer) {
                ck_assert_ptr_eq(answer, largest);
                ck_assert_int_eq(answer->confidence, WHY_CONFIDENCE_HIGH);
        }
        ck_assert_msg(strstr(a.answer, cases[_i].words) != NULL, "%s", a.answer);
}
END_TEST

static void check_fact(const struct view_document *d, const char *title, const char *words)
{
        for (size_t i = 0; i < d->n_facts; i++) {
                const struct view_fact *fact = &d->facts[i];

                if (fact->title && strcmp(fact->title, title) == 0) {
                        ck_assert_uint_eq(fact->cell.string.n_bytes, strlen(words));
                        ck_assert_mem_eq(d->strings.data + fact->cell.string.at_bytes, words, strlen(words));
                        return;
                }
        }
        ck_assert_msg(words[0] == '\0', "no fact %s", title);
}

/*
 * The sentence, and the fine print below it: how common the cause is, and what the ranking leaves out.
 * Parts of one function's cost are one answer; a cause that is the smaller part is followed by the larger.
 */
static const struct {
        enum plant plant;
        const char *answer, *seen_in, *without, *common;
} printed[] = {
        { PLANT_PATH, "Slow instances run deeper() from slow_path() (100% of the extra time)",
          "91% of the samples of slow instances, 0% of the others'", "", "" },
        { PLANT_WAIT,
          "Slow instances wait in take_queue() (futex_wait) (100% of the extra time) for thread t2 'loader', which ran "
          "flush() from load()",
          "100% of the slow instances, 0% of the others", "", "" },
        { PLANT_BOTH, "Slow instances run take_queue() (67% of the extra time) and wait there (33%)",
          "95% of the samples of slow instances, 0% of the others'", "", "" },
        { PLANT_MOSTLY_WAITS,
          "Slow instances wait in take_queue() (futex_wait) (66% of the extra time), which thread t2 'worker' ended in "
          "flush(); they run in take_queue() (34%)",
          "100% of the slow instances, 0% of the others", "", "" },
        { PLANT_TOUCH, "Slow instances run touch() (60% of the extra time) and take page faults there (40%)",
          "55% of the samples of slow instances, 0% of the others'", "", "" },
        { PLANT_MINORITY,
          "Slow instances run deeper() from slow_path() (31% of the extra time); the same code took longer, mostly "
          "in usual_work() (69%)",
          "27% of the samples of slow instances, 0% of the others'", "", "" },
        { PLANT_DELAYED, "Slow instances run deeper() from slow_path() (100% of the extra time)",
          "91% of the samples of slow instances, 0% of the others'",
          "others had the CPU for 50% of the extra time of the slowest instances", "" },
        { PLANT_TEXT, NULL, "", "", "all 10 slow ones have the value 7, and 0% of the others" },
};

START_LOOP_TEST(test_sentence_and_fine_print, 0, sizeof(printed) / sizeof(printed[0]))
{
        struct why_view_options options = { .path = "fine.hyp" };
        struct view_document document;

        plant(printed[_i].plant, true);
        if (printed[_i].answer)
                ck_assert_str_eq(a.answer, printed[_i].answer);
        view_document_init(&document, why_view_schema.name);
        why_view_fill(&document, &a.why, &a.trace, &options);
        check_fact(&document, "seen in", printed[_i].seen_in);
        check_fact(&document, "left out", printed[_i].without);
        check_fact(&document, "in common", printed[_i].common);
        view_document_deinit(&document);
}
END_TEST

/* By the wall clock, interrupts are a part of their own beside the time that others had the CPU. */
START_TEST(test_interrupts_beside_others)
{
        const struct why_request by_wall = { .zone = "request", .slowest = 0.025, .by = WHY_BY_WALL };

        program_init(true);
        build(PLANT_INTERRUPTED);
        ask(&by_wall);
        ck_assert_str_eq(a.answer,
                         "Slow instances run deeper() from slow_path() (31% of the extra time); interrupts "
                         "(38%); others had the CPU for 31% of it");
}
END_TEST

/* Who takes longer is moved more often, in time as before: that says nothing. */
START_TEST(test_moves_come_with_time)
{
        uint64_t now_ns = 1000, cpu = 0, moved_ns = 0;

        program_init(true);
        trace_builder_begin_run(&p.b, p.worker);
        TRACE_BUILDER_ADD(&p.b, 10, SWITCH_IN, 0);
        for (uint32_t i = 0; i < N_INSTANCES; i++) {
                uint64_t for_ns = USUAL_NS + i % 40 * 1000 + (i % SLOW_EVERY == 19 ? EXTRA_NS : 0);

                trace_builder_begin_zone(&p.b, now_ns, p.request);
                while (for_ns > 0) {
                        uint64_t part_ns = for_ns < EXTRA_NS - moved_ns ? for_ns : EXTRA_NS - moved_ns;

                        now_ns = run_in(now_ns, part_ns, p.usual);
                        for_ns -= part_ns;
                        moved_ns += part_ns;
                        if (moved_ns < EXTRA_NS)
                                continue;
                        TRACE_BUILDER_ADD(&p.b, now_ns, SWITCH_OUT, cpu, 1, TRACE_WAIT_PREEMPTED);
                        cpu = !cpu;
                        TRACE_BUILDER_ADD(&p.b, now_ns + 1000, SWITCH_IN, cpu);
                        now_ns += 1000;
                        moved_ns = 0;
                }
                trace_builder_event(&p.b, now_ns, TRACE_OP_ZONE_END);
                now_ns += GAP_NS;
        }
        trace_builder_end_run(&p.b);
        trace_builder_finish(&p.b);
        ask(&slowest);
        ck_assert_uint_eq(a.why.links.n_moved_slow, N_INSTANCES / SLOW_EVERY);
        ck_assert_uint_gt(a.why.links.n_moved_typical, 0);
        ck_assert_msg(strstr(a.answer, "same code") && !strstr(a.answer, "another CPU"), "%s", a.answer);
}
END_TEST

START_LOOP_TEST(test_shares_add_up, 0, PLANT_UNSAMPLED + 1)
{
        double sum = 0, sum_ns = 0;

        plant((enum plant)_i, _i != PLANT_ZONE_WAITS);
        for (size_t i = 0; i < a.why.n_causes; i++) {
                const struct why_share *share = &a.why.causes[i].share;

                sum += fmax(share->value, 0);
                sum_ns += share->slow_ns - share->typical_ns;
                ck_assert_double_le(share->high, 1);
        }
        ck_assert_double_eq_tol(sum, 1, 1e-9);
        ck_assert_double_eq_tol(sum_ns, a.why.extra_ns, 1e-6 * a.why.extra_ns);
}
END_TEST

/*
 * Slow instances run for longer and wait for less, so that running takes more than the extra time: shares
 * are at most all of it.
 */
START_TEST(test_no_share_is_above_all)
{
        struct why_view_options options = { .path = "no_wait.hyp" };
        struct view_document document;
        size_t n_all = 0;

        plant(PLANT_NO_WAIT, true);
        view_document_init(&document, why_view_schema.name);
        why_view_fill(&document, &a.why, &a.trace, &options);
        for (size_t i = 0; i < document.n_tables; i++) {
                const struct view_table *t = document.tables[i];

                for (size_t k = 0; k < t->n_cells; k++)
                        if (strncmp(t->columns[k % t->n_columns].key, "share", 5) == 0) {
                                ck_assert_double_le(fabs(t->cells[k].real), 1);
                                n_all += strcmp(t->key, "causes") != 0 && t->cells[k].real >= 1;
                        }
        }
        ck_assert_uint_ge(n_all, 3); /* main(), slow_path(), the zone inside */
        view_document_deinit(&document);
}
END_TEST

/*
 * A sample costs a tenth of an instance, five of eight have one; ten of 1,000 wait a hundred times as long.
 * Those are the slow ones, however many of them have a sample by chance: no sample makes an instance wait.
 */
#define SAMPLED_NS     UINT64_C(284000)
#define SAMPLED_EVERY  100
#define SAMPLED_PAUSE  30 /* times EXTRA_NS */
#define SAMPLED_COST   UINT64_C(28700)
#define SAMPLED_PERIOD UINT64_C(500000)

static void build_sampled(uint32_t n_sampled)
{
        uint64_t now_ns = 1000;

        trace_builder_begin_run(&p.b, p.worker);
        TRACE_BUILDER_ADD(&p.b, 10, SWITCH_IN, 0);
        for (uint32_t i = 0; i < 10 * SAMPLED_EVERY; i++) {
                bool waits = i % SAMPLED_EVERY == 50;
                bool has_sample = waits ? i / SAMPLED_EVERY < n_sampled : i % 8 < 5;

                trace_builder_begin_zone(&p.b, now_ns, p.request);
                if (has_sample) {
                        TRACE_BUILDER_ADD(&p.b, now_ns + 1000, SAMPLE, p.event, 0, p.usual, p.path,
                                          SAMPLED_PERIOD);
                        now_ns += SAMPLED_COST + i % 7 * 100;
                }
                now_ns += SAMPLED_NS + i % 40 * 100;
                for (uint32_t k = 0; k < SAMPLED_PAUSE && waits; k++)
                        now_ns = wait_at(now_ns, p.loader, 0, 0);
                trace_builder_event(&p.b, now_ns, TRACE_OP_ZONE_END);
                now_ns += GAP_NS;
        }
        trace_builder_end_run(&p.b);
        trace_builder_finish(&p.b);
}

START_LOOP_TEST(test_waits_are_slow_with_a_sample, 0, 11)
{
        static const struct why_request request = { .zone = "request",
                                                    .slowest = 0.01,
                                                    .by = WHY_BY_AUTOMATIC };
        const struct why_cause *answer;

        program_init(true);
        build_sampled((uint32_t)_i);
        ask(&request);
        ck_assert(a.why.cost.is_known);
        ck_assert_double_eq_tol(a.why.cost.cost_ns, SAMPLED_COST, 1000);
        ck_assert_uint_eq(a.why.groups[WHY_SLOW].n, 10);
        ck_assert_double_gt(a.why.rank.slow_ns, SAMPLED_PAUSE * EXTRA_NS);
        answer = why_find_answer(&a.why);
        ck_assert_msg(answer && answer->kind == WHY_CAUSE_WAIT, "%s", a.answer);
        ck_assert_int_eq(answer->confidence, WHY_CONFIDENCE_HIGH);
}
END_TEST

START_TEST(test_holder_is_known)
{
        const struct why_holder *holder;

        plant(PLANT_LOCK, true);
        holder = why_find_holder(&a.why, p.lock);
        ck_assert_ptr_nonnull(holder);
        ck_assert_uint_eq(holder->thread, p.loader);
        ck_assert_uint_eq(holder->held_ns, (EXTRA_NS - 100) * N_INSTANCES / SLOW_EVERY);
        ck_assert_uint_eq(holder->did.n, 1);
        ck_assert(text_view_is(why_words_function(&a.why, holder->did.steps[0].label), "flush"));
        ck_assert_int_eq(holder->did.steps[0].doing, WHY_DOING_RUN);
}
END_TEST

START_TEST(test_few_instances_are_no_finding)
{
        static const struct why_request few = { .zone = "request", .slowest = 0.01, .by = WHY_BY_AUTOMATIC };

        program_init(true);
        build(PLANT_PATH);
        ask(&few);
        ck_assert_ptr_null(why_find_answer(&a.why));
        ck_assert_msg(strncmp(a.answer, "not enough instances: 4 slow", 28) == 0, "%s", a.answer);
}
END_TEST

START_TEST(test_few_samples_are_no_finding)
{
        uint64_t now_ns = 1000;

        program_init(true);
        trace_builder_begin_run(&p.b, p.worker);
        TRACE_BUILDER_ADD(&p.b, 10, SWITCH_IN, 0);
        for (uint32_t i = 0; i < N_INSTANCES; i++) {
                trace_builder_begin_zone(&p.b, now_ns, p.request);
                now_ns += USUAL_NS + i;
                if (i % 10 == 5)
                        TRACE_BUILDER_ADD(&p.b, now_ns, SAMPLE, p.event, 0, p.usual, p.path, 10 * USUAL_NS);
                if (i % SLOW_EVERY == 19) {
                        TRACE_BUILDER_ADD(&p.b, now_ns + 10, SAMPLE, p.event, 0, p.slow, p.path,
                                          10 * USUAL_NS);
                        now_ns += EXTRA_NS;
                }
                trace_builder_event(&p.b, now_ns, TRACE_OP_ZONE_END);
        }
        trace_builder_end_run(&p.b);
        trace_builder_finish(&p.b);
        ask(&slowest);
        ck_assert_ptr_null(why_find_answer(&a.why));
        ck_assert_msg(strstr(a.answer, "not enough samples: 10 in 10 slow instances") != NULL, "%s",
                      a.answer);
}
END_TEST

START_TEST(test_slower_than_is_a_limit)
{
        static const struct why_request request = { .zone = "z1", .slower_than_ns = EXTRA_NS };

        program_init(true);
        build(PLANT_PATH);
        ask(&request);
        ck_assert_uint_eq(a.why.collector.n_slow, N_INSTANCES / SLOW_EVERY);
        ck_assert_double_eq(a.why.collector.bounds.rank.slow_ns, EXTRA_NS);
}
END_TEST

/*
 * An empty trace, one event, one instance, instances without an end: an answer, and a
 * document, and no failure.
 */
START_LOOP_TEST(test_odd_traces, 0, 4)
{
        struct why_view_options options = { .path = "odd.hyp" };
        struct view_document document;

        program_init(true);
        if (_i > 0) {
                trace_builder_begin_run(&p.b, p.worker);
                if (_i != 2)
                        trace_builder_begin_zone(&p.b, 100, p.request);
                if (_i == 2)
                        TRACE_BUILDER_ADD(&p.b, 100, SAMPLE, p.event, 0, p.usual, 0, 1);
                if (_i == 3)
                        trace_builder_event(&p.b, 100, TRACE_OP_ZONE_END);
                trace_builder_end_run(&p.b);
        }
        trace_builder_finish(&p.b);
        ask(&slowest);
        ck_assert_ptr_null(why_find_answer(&a.why));
        ck_assert(a.answer[0] != '\0');
        view_document_init(&document, why_view_schema.name);
        why_view_fill(&document, &a.why, &a.trace, &options);
        ck_assert(!document.failed);
        view_document_deinit(&document);
}
END_TEST

static bool points_to_path(void)
{
        struct why_view_options options = { .path = "fibers.hyp" };
        struct view_document document;
        bool does;

        view_document_init(&document, why_view_schema.name);
        why_view_fill(&document, &a.why, &a.trace, &options);
        byte_buffer_add_u8(&document.hints, 0);
        does = strstr((const char *)document.hints.data, "hyprof path --zone request fibers.hyp\n") != NULL;
        view_document_deinit(&document);
        return does;
}

/* The worker of PLANT_ZONE is a fiber here, which its thread leaves in slow instances. */
START_LOOP_TEST(test_fibers_are_suspended, 0, 2)
{
        struct trace_thread fiber = { .kind = TRACE_THREAD_FIBER, .fiber = 1 };
        const struct why_cause *answer;
        uint64_t now_ns = 1000;
        uint32_t id;

        program_init(false);
        fiber.process = ((const struct trace_thread *)trace_dictionary_row(&p.b.dictionary,
                                                                           TRACE_TABLE_THREADS, p.worker))
                                ->process;
        id = trace_builder_row(&p.b, TRACE_TABLE_THREADS, &fiber);
        load(NULL, 0);
        trace_builder_begin_run(&p.b, id);
        TRACE_BUILDER_ADD(&p.b, 10, SWITCH_IN, 0);
        for (uint32_t i = 0; i < N_INSTANCES; i++) {
                trace_builder_begin_zone(&p.b, now_ns, p.request);
                now_ns += USUAL_NS + (uint64_t)(i % 40) * 1000;
                if (i % SLOW_EVERY == 19) {
                        TRACE_BUILDER_ADD(&p.b, now_ns, SWITCH_OUT, 0, (uint64_t)_i);
                        now_ns += EXTRA_NS;
                        TRACE_BUILDER_ADD(&p.b, now_ns, SWITCH_IN, 1);
                }
                trace_builder_event(&p.b, now_ns, TRACE_OP_ZONE_END);
                now_ns += GAP_NS;
        }
        trace_builder_end_run(&p.b);
        trace_builder_finish(&p.b);
        ask(&slowest);
        answer = why_find_answer(&a.why);
        ck_assert(a.why.are_fibers);
        ck_assert(points_to_path());
        ck_assert_msg((answer != NULL) == (_i == 0), "%s", a.answer);
        ck_assert_msg(strstr(a.answer, _i == 0 ? "suspended" : "others had the CPU") != NULL, "%s", a.answer);
        ck_assert_int_eq(a.why.by, _i == 0 ? WHY_BY_WALL : WHY_BY_OWN);
}
END_TEST

/* Samples of a thread that runs a fiber belong to the fiber, whose stream comes before the thread's here. */
START_TEST(test_fibers_have_samples)
{
        struct trace_thread fiber = { .kind = TRACE_THREAD_FIBER, .fiber = 1 };
        const struct why_cause *answer;
        uint64_t now_ns = 1000;
        uint32_t id;

        program_init(true);
        fiber.process = ((const struct trace_thread *)trace_dictionary_row(&p.b.dictionary,
                                                                           TRACE_TABLE_THREADS, p.worker))
                                ->process;
        id = trace_builder_row(&p.b, TRACE_TABLE_THREADS, &fiber);
        trace_builder_begin_run(&p.b, id);
        TRACE_BUILDER_ADD(&p.b, 20, SWITCH_IN, 0);
        for (uint32_t i = 0; i < N_INSTANCES; i++) {
                trace_builder_begin_zone(&p.b, now_ns, p.request);
                now_ns += USUAL_NS + (uint64_t)(i % 40) * 1000 + (i % SLOW_EVERY == 19 ? EXTRA_NS : 0);
                trace_builder_event(&p.b, now_ns, TRACE_OP_ZONE_END);
                now_ns += GAP_NS;
        }
        trace_builder_end_run(&p.b);
        trace_builder_begin_run(&p.b, p.worker);
        TRACE_BUILDER_ADD(&p.b, 10, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&p.b, 20, FIBER_ENTER, id);
        now_ns = 1000;
        for (uint32_t i = 0; i < N_INSTANCES; i++) {
                now_ns = run_in(now_ns, USUAL_NS + (uint64_t)(i % 40) * 1000, p.usual);
                if (i % SLOW_EVERY == 19)
                        now_ns = run_in(now_ns, EXTRA_NS, p.slow);
                now_ns += GAP_NS;
        }
        trace_builder_end_run(&p.b);
        trace_builder_finish(&p.b);
        ask(&slowest);
        answer = why_find_answer(&a.why);
        ck_assert_ptr_nonnull(answer);
        ck_assert_int_eq(answer->kind, WHY_CAUSE_FUNCTION);
        ck_assert_double_gt(answer->share.value, 0.9);
        ck_assert_msg(strstr(a.answer, "run deeper() from slow_path() (") != NULL, "%s", a.answer);
}
END_TEST

START_TEST(test_a_bad_pattern_is_refused)
{
        static const struct why_request request = { .zone = "", .slowest = 0.01, .by = WHY_BY_AUTOMATIC };
        struct error err = ERROR_NONE;
        struct loaded_trace trace;
        static struct why why; /* large */

        program_init(true);
        build(PLANT_PATH);
        ck_assert_int_eq(loaded_trace_open(&trace, p.b.path, &err), 0);
        ck_assert_int_eq(why_init(&why, &trace, NULL, &request, &err), -EINVAL);
        why_deinit(&why);
        loaded_trace_close(&trace);
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 120, .setup = setup, .teardown = teardown);
