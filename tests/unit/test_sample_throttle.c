/* SPDX-License-Identifier: MIT */
/*
 * sampler/pace/sample_throttle.c: samples are left out before rings are full, only where that helps, and only
 * for as long; sampler/merge/sample_thinning.c: the weights add up
 *
 * A simulation: rings that fill up at a rate, and a collector that reads them at a cost a record.  The clock
 * is a number, so that nothing depends on the machine.
 */
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "sampler/merge/sample_thinning.h"
#include "sampler/pace/pace.h"
#include "sampler/pace/sample_throttle.h"
#include "tests/unit/fake_kernel_side.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_NS UINT64_C(6600) /* a call stack of clang: measurements.md */
#define PASS_NS   UINT64_C(150)  /* to pass over a record */
#define AT_ONCE   64

struct world {
        struct sample_throttle throttle;
        uint64_t now_ns, samples_a_s;
        double waiting, room; /* samples in the rings */
        double fullest;       /* the most that waited, as a part of the room */
        bool are_samples;     /* else switches: nothing of the time is spent on samples */
};

static void look(struct world *w)
{
        if (w->waiting / w->room > w->fullest)
                w->fullest = w->waiting / w->room;
        sample_throttle_begin_look(&w->throttle);
        sample_throttle_see_ring(&w->throttle, (uint64_t)w->waiting, (uint64_t)w->room);
        sample_throttle_end_look(&w->throttle, w->now_ns);
}

static void pass_time(struct world *w, uint64_t ns)
{
        w->now_ns += ns;
        w->waiting += (double)ns * (double)w->samples_a_s / (double)NS_PER_S;
}

static void run_once(struct world *w)
{
        uint64_t began_ns = w->now_ns;

        sample_throttle_begin_run(&w->throttle, w->now_ns);
        look(w);
        while (w->waiting >= AT_ONCE) {
                uint64_t walks_ns = w->are_samples ? AT_ONCE * SAMPLE_NS / w->throttle.share : 0;

                sample_throttle_note(&w->throttle, walks_ns);
                w->waiting -= AT_ONCE;
                pass_time(w, walks_ns + AT_ONCE * (w->are_samples ? PASS_NS : SAMPLE_NS));
                look(w);
                if (w->now_ns - began_ns >= PACE_MERGE_KERNEL_NS)
                        break;
        }
        sample_throttle_end_run(&w->throttle, w->now_ns);
}

/* A ring wakes the collector when a quarter is full, or time does. */
static void run_until(struct world *w, uint64_t until_ns)
{
        while (w->now_ns < until_ns) {
                run_once(w);
                for (uint64_t rested_ns = 0; rested_ns < 100 * NS_PER_MS && w->waiting < w->room / 4;
                     rested_ns += NS_PER_MS)
                        pass_time(w, NS_PER_MS);
        }
}

static struct world world_of(uint64_t samples_a_s, uint64_t lasts_ms)
{
        struct world w = { .samples_a_s = samples_a_s, .are_samples = true, .now_ns = NS_PER_S };

        w.room = (double)samples_a_s * (double)lasts_ms / 1000;
        sample_throttle_init(&w.throttle);
        return w;
}

/* 128 busy CPUs of clang: at 1,100 Hz they fit, at 10 kHz they are eight times too many. */
static const struct {
        uint64_t samples_a_s;
        uint32_t share_max; /* at the end */
} loads[] = { { 60000, 1 }, { 140000, 1 }, { 200000, 2 }, { 500000, 8 }, { 1280000, 32 }, { 2500000, 64 } };

START_LOOP_TEST(test_nothing_is_lost, 0, 2 * sizeof(loads) / sizeof(loads[0]))
{
        struct world w = world_of(loads[_i / 2].samples_a_s, _i % 2 ? 250 : 125);

        run_until(&w, 20 * NS_PER_S);
        ck_assert_double_lt(w.fullest, 1);
        ck_assert_uint_le(w.throttle.share, loads[_i / 2].share_max);
        ck_assert_int_eq(w.throttle.n_spans > 0, loads[_i / 2].share_max > 1);

        /* When there are fewer again, all are taken. */
        w.samples_a_s = 20000;
        run_until(&w, 40 * NS_PER_S);
        ck_assert_uint_eq(w.throttle.share, 1);
        for (size_t i = 0; i < w.throttle.n_spans; i++)
                ck_assert_uint_gt(w.throttle.spans[i].until_ns, w.throttle.spans[i].from_ns);
}
END_TEST

/* A collector that had no CPU for a while catches up without leaving anything out. */
START_LOOP_TEST(test_a_delay_is_no_reason, 0, 3)
{
        struct world w = world_of(75000, 250);

        run_until(&w, 2 * NS_PER_S);
        pass_time(&w, (uint64_t)(_i + 1) * 50 * NS_PER_MS);
        run_until(&w, 4 * NS_PER_S);
        ck_assert_uint_eq(w.throttle.n_spans, 0);
        ck_assert_double_lt(w.fullest, 1);
}
END_TEST

/* Where switches fill the rings, fewer samples gain nothing. */
START_TEST(test_other_records_are_no_reason)
{
        struct world w = world_of(1000000, 125);

        w.are_samples = false;
        w.samples_a_s = 160000;
        run_until(&w, 5 * NS_PER_S);
        ck_assert_uint_eq(w.throttle.n_spans, 0);
        ck_assert_uint_eq(w.throttle.share, 1);
}
END_TEST

/* More changes than there are spans: the last one lasts on, and all times are in order. */
START_TEST(test_many_spans)
{
        struct world w = world_of(500000, 125);
        struct byte_buffer text = { .data = NULL };

        for (unsigned i = 0; i < 2 * SAMPLE_THROTTLE_SPANS_MAX; i++) {
                w.samples_a_s = i % 2 ? 20000 : 500000;
                run_until(&w, w.now_ns + 8 * NS_PER_S);
        }
        ck_assert_uint_eq(w.throttle.n_spans, SAMPLE_THROTTLE_SPANS_MAX);
        for (size_t i = 1; i < w.throttle.n_spans; i++)
                ck_assert_uint_ge(w.throttle.spans[i].from_ns, w.throttle.spans[i - 1].until_ns);
        sample_throttle_describe(&w.throttle, NS_PER_S, w.now_ns, &text);
        byte_buffer_add(&text, "", 1);
        ck_assert_ptr_nonnull(strstr((char *)text.data, " and 56 more times"));
        byte_buffer_deinit(&text);
}
END_TEST

START_TEST(test_words)
{
        struct sample_throttle t;
        struct byte_buffer text = { .data = NULL };

        sample_throttle_init(&t);
        sample_throttle_describe(&t, 0, NS_PER_S, &text);
        ck_assert_uint_eq(text.used_bytes, 0);
        t.n_spans = 2;
        t.spans[0] = (struct throttled_span){ 2 * NS_PER_S, 3 * NS_PER_S, 4 };
        t.spans[1] = (struct throttled_span){ 5 * NS_PER_S, 0, 8 };
        sample_throttle_describe(&t, NS_PER_S, 5 * NS_PER_S + NS_PER_S / 2, &text);
        byte_buffer_add(&text, "", 1);
        ck_assert_str_eq((char *)text.data,
                         "one in up to 8, for 1.500 s: 1.000 s to 2.000 s, 4.000 s to 4.500 s");

        /* The last records are merged after the end. */
        byte_buffer_clear(&text);
        sample_throttle_describe(&t, NS_PER_S, 4 * NS_PER_S + NS_PER_S / 2, &text);
        byte_buffer_add(&text, "", 1);
        ck_assert_str_eq((char *)text.data,
                         "one in up to 8, for 1.000 s: 1.000 s to 2.000 s, 4.000 s to 4.000 s");
        byte_buffer_deinit(&text);
}
END_TEST

/* The time of samples is known also where all are of one CPU, whichever of them is timed first. */
START_LOOP_TEST(test_timed_samples, 0, PACE_THROTTLE_TIMED)
{
        for (uint32_t share = 1; share <= SAMPLE_THROTTLE_SHARE_MAX; share *= 2) {
                struct sample_thinning thinning = { .items = NULL };
                unsigned n = PACE_THROTTLE_TIMED * SAMPLE_THROTTLE_SHARE_MAX;
                uint64_t known_ns = 0, took_ns = 0;

                for (unsigned i = 0; i < n; i++) {
                        uint64_t weight = 1;
                        int taken = sample_thinning_take(&thinning, 0, 0, share, &weight);
                        uint64_t ns = taken ? SAMPLE_NS : PASS_NS;

                        took_ns += ns;
                        if ((i + (unsigned)_i) % PACE_THROTTLE_TIMED == 0)
                                known_ns += PACE_THROTTLE_TIMED * ns;
                }
                ck_assert_uint_eq(known_ns, took_ns);
                sample_thinning_deinit(&thinning);
        }
}
END_TEST

/* One sample in four is taken from each ring, and counts for those before it. */
START_TEST(test_samples_are_left_out)
{
        struct fake_kernel_side *f = calloc(1, sizeof(*f));
        const struct thread_track *thread;

        ck_assert_ptr_nonnull(f);
        fake_kernel_side_open(f, 0);
        f->pace.throttle.share = 4;
        for (uint64_t i = 0; i < 40; i++) {
                const uint64_t chain[] = { (uint64_t)PERF_CONTEXT_USER, FAKE_CODE };
                struct kernel_record_sample sample = { .identity = fake_kernel_side_at(FAKE_PID, 10 + i),
                                                       .ip_avma = FAKE_CODE,
                                                       .period = 1009,
                                                       .chain = chain,
                                                       .n_chain = 2 };

                sample.identity.cpu = i % 2;
                sample.identity.event = i % 2 ? FAKE_EVENT_SPEC_0_B : FAKE_EVENT_SPEC_0;
                kernel_record_add_sample(&f->record, &sample);
                fake_kernel_side_put(f, i % 2 ? FAKE_SAMPLES_1 : FAKE_SAMPLES_0);
        }
        fake_kernel_side_run(f, UINT64_MAX);
        thread = process_table_find_thread(&f->processes, FAKE_PID);
        ck_assert_uint_eq(f->source.n_samples, 10);
        ck_assert_uint_eq(f->source.thinning.n_left_out, 30);
        ck_assert_uint_eq(thread->n_pending, 10);
        for (size_t i = 0; i < 10; i++)
                ck_assert_uint_eq(thread->pending[i].event.sample.weight, 4 * UINT64_C(1009));
        fake_kernel_side_close(f);
        free(f);
}
END_TEST

/* Whatever the shares, the weights of each CPU and event are those of all its samples, but for the last. */
START_TEST(test_weights_add_up)
{
        struct sample_thinning t = { .items = NULL };
        uint64_t state = 5, put[3][2] = { { 0 } }, got[3][2] = { { 0 } };
        uint64_t n_left_out = 0;

        for (int i = 0; i < 100000; i++) {
                uint32_t cpu = (uint32_t)(fixed_random_next(&state) % 3), spec = (uint32_t)(i % 2);
                uint64_t weight = 1 + fixed_random_next(&state) % 1000;
                int taken;

                put[cpu][spec] += weight;
                taken = sample_thinning_take(&t, cpu, spec, 1u << (i / 10000), &weight);
                ck_assert_int_ge(taken, 0);
                got[cpu][spec] += taken ? weight : 0;
                n_left_out += taken == 0;
        }
        ck_assert_uint_eq(t.n_left_out, n_left_out);
        for (uint32_t cpu = 0; cpu < 3; cpu++)
                for (uint32_t spec = 0; spec < 2; spec++) {
                        uint64_t weight = 0;

                        ck_assert_int_eq(sample_thinning_take(&t, cpu, spec, 1, &weight), 1);
                        ck_assert_uint_eq(got[cpu][spec] + weight, put[cpu][spec]);
                }
        sample_thinning_deinit(&t);
}
END_TEST
