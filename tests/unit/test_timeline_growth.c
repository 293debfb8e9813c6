/* SPDX-License-Identifier: MIT */
/* timeline/timeline_growth.c: a trace that grows has the tracks and the times of the finished trace */
#include "analyze/walk/loaded_trace.h"
#include "base/io.h"
#include "format/trace_event.h"
#include "format/trace_reader.h"
#include "format/trace_rows.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "timeline/timeline_builder.h"
#include "timeline/timeline_query.h"

#include <errno.h>
#include <string.h>

#define N_THREADS  4
#define N_CPUS     3
#define N_CHUNKS   11
#define CHUNK_NS   UINT64_C(100000)
#define OVERLAP_NS 5000 /* by that much, threads of a chunk reach into the time of the next one */
#define START_NS   UINT64_C(2000000000)

static struct trace_builder b;

static void setup(void)
{
        trace_builder_init(&b);
}

static void teardown(void)
{
        trace_builder_deinit(&b);
}

/* ---- a program ----------------------------------------------------------------------------------------- */

/*
 * One thread: works on a CPU, is preempted or waits, is woken, and in between marks frames, allocates, plots
 * and takes a lock.
 */
struct actor {
        uint64_t now_ns;
        uint64_t random;
        unsigned step;
        uint32_t id, cpu;
        uint32_t plot, set, pool;
};

static void act_on_cpu(struct actor *a, unsigned what)
{
        switch (what) {
        case 0:
                TRACE_BUILDER_ADD(&b, a->now_ns, PLOT_I64, a->plot, a->now_ns % 977);
                return;
        case 1:
                TRACE_BUILDER_ADD(&b, a->now_ns, MEMORY_ALLOC, a->pool, a->now_ns, 64);
                return;
        case 2:
                if (a->id == 1)
                        TRACE_BUILDER_ADD(&b, a->now_ns, FRAME_MARK, a->set);
                return;
        default:
                return;
        }
}

/* A cycle of ten events; the lock is held over a switch, so that others see it held for long. */
static void act(struct actor *a)
{
        switch (a->step++ % 10) {
        case 0:
                TRACE_BUILDER_ADD(&b, a->now_ns, SWITCH_IN, a->cpu);
                return;
        case 1:
                TRACE_BUILDER_ADD(&b, a->now_ns, FRAME_BEGIN, a->set);
                return;
        case 2:
                TRACE_BUILDER_ADD(&b, a->now_ns, LOCK_WAIT, 1, 0);
                return;
        case 3:
                TRACE_BUILDER_ADD(&b, a->now_ns, LOCK_OBTAIN, 1, 0);
                return;
        case 4:
                TRACE_BUILDER_ADD(&b, a->now_ns, SWITCH_OUT, a->cpu, 1, TRACE_WAIT_PREEMPTED);
                a->now_ns += a->id == N_THREADS ? CHUNK_NS : 0; /* is ready at a moment, for long */
                return;
        case 5:
                a->cpu = (uint32_t)(fixed_random_next(&a->random) % N_CPUS);
                TRACE_BUILDER_ADD(&b, a->now_ns, SWITCH_IN, a->cpu);
                return;
        case 6:
                TRACE_BUILDER_ADD(&b, a->now_ns, LOCK_RELEASE, 1, 0);
                return;
        case 7:
                TRACE_BUILDER_ADD(&b, a->now_ns, FRAME_END, a->set);
                return;
        case 8:
                TRACE_BUILDER_ADD(&b, a->now_ns, SWITCH_OUT, a->cpu, 0, TRACE_WAIT_SLEEPING);
                return;
        default:
                TRACE_BUILDER_ADD(&b, a->now_ns, WAKEUP, a->cpu, a->id % N_THREADS + 1);
                return;
        }
}

static void build_program(void)
{
        struct actor actors[N_THREADS];
        uint32_t location;

        trace_builder_meta(&b, "start_raw_ns", "2000000000");
        location = trace_builder_location(&b, "shared lock");
        for (uint32_t i = 0; i < N_THREADS; i++) {
                actors[i] = (struct actor){ .now_ns = START_NS + 10 * i,
                                            .random = 77 + i,
                                            .id = trace_builder_thread(&b, 7, 8 + i),
                                            .plot = trace_builder_string(&b, "plot"),
                                            .set = trace_builder_string(&b, i % 2 ? "odd" : "even"),
                                            .pool = trace_builder_string(&b, "pool") };
        }
        (void)trace_builder_row(&b, TRACE_TABLE_LOCKS,
                                &(struct trace_lock){ .process = 1, .location = location, .number = 5 });
        for (uint64_t chunk = 1; chunk <= N_CHUNKS; chunk++) {
                for (uint32_t i = 0; i < N_THREADS; i++) {
                        uint64_t until_ns = START_NS + chunk * CHUNK_NS + i * (OVERLAP_NS / N_THREADS);

                        trace_builder_begin_run(&b, actors[i].id);
                        for (; actors[i].now_ns < until_ns;
                             actors[i].now_ns += 1 + fixed_random_next(&actors[i].random) % 3000) {
                                act(&actors[i]);
                                if (actors[i].step % 10 == 2 || actors[i].step % 10 == 7)
                                        act_on_cpu(&actors[i],
                                                   (unsigned)(fixed_random_next(&actors[i].random) % 3));
                        }
                        trace_builder_end_run(&b);
                }
                trace_builder_flush(&b);
        }
        trace_builder_finish(&b);
}

/* ---- what is on the lanes ------------------------------------------------------------------------------ */

#define N_SUMS 64

/* How long items are until some time, by kind of lane, states by their kind; values: how many. */
struct sums {
        uint64_t ns[N_SUMS];
        bool has_track[TIMELINE_TRACK_KIND_COUNT];
};

static uint64_t *sum_of(struct sums *s, enum timeline_lane_kind kind, uint32_t what)
{
        size_t i = kind == TIMELINE_LANE_STATES ? 32 + (what >> TIMELINE_STATE_SHIFT) : (size_t)kind;

        ck_assert_uint_lt(i, N_SUMS);
        return &s->ns[i];
}

static void add_until(uint64_t *sum_ns, double begin_ns, double end_ns, uint64_t until_ns)
{
        double end = end_ns < (double)until_ns ? end_ns : (double)until_ns;

        if (end > begin_ns)
                *sum_ns += (uint64_t)(end - begin_ns);
}

/* Adds open spans, as far as they are known. */
static void add_open(struct sums *s, struct timeline_builder *grown, uint32_t lane, uint64_t until_ns)
{
        struct timeline_lane_facts facts = timeline_index_lane_facts(grown->index, lane);
        struct timeline_raw_span spans[2];
        uint32_t n = timeline_builder_open_spans(grown, lane, START_NS + until_ns, spans);

        for (uint32_t i = 0; i < n; i++)
                add_until(sum_of(s, facts.kind, spans[i].what), (double)(spans[i].begin_ns - START_NS),
                          (double)(spans[i].end_ns - START_NS), until_ns);
}

/* The last value of the sums of CPU time before @until_ns, which lies on the line between two values. */
static void add_time_until(uint64_t *sum_ns, const struct timeline_columns *c, uint64_t until_ns)
{
        size_t i = 0;

        while (i + 1 < c->n && c->begin_ns[i + 1] < (double)until_ns)
                i++;
        if (i + 1 < c->n)
                *sum_ns += (uint64_t)(c->last[i] + (c->last[i + 1] - c->last[i]) *
                                                           ((double)until_ns - c->begin_ns[i]) /
                                                           (c->begin_ns[i + 1] - c->begin_ns[i]));
}

/* @grown: NULL = the index is whole. */
static void add_up(struct sums *s, struct timeline_index *t, struct timeline_builder *grown,
                   uint64_t until_ns)
{
        struct timeline_columns c = { .n = 0 };

        *s = (struct sums){ .ns = { 0 } };
        for (uint32_t lane = 0; lane < t->n_lanes; lane++) {
                struct timeline_lane_facts facts = timeline_index_lane_facts(t, lane);
                struct timeline_view view = { .lane = lane, .to_ns = UINT64_MAX >> 1 };
                int r = grown ? timeline_rates_view(&grown->rates, &view, &c, NULL) : 0;

                if (r == 0)
                        r = timeline_query_view(t, &view, &c, NULL);
                ck_assert_int_ge(r, 0);
                for (size_t i = 0; i < c.n && !facts.has_values; i++)
                        add_until(sum_of(s, facts.kind, c.what[i]), c.begin_ns[i], c.end_ns[i], until_ns);
                if (grown)
                        add_open(s, grown, lane, until_ns);
                if (facts.kind == TIMELINE_LANE_CPU_TIME)
                        add_time_until(&s->ns[48 + facts.depth], &c, until_ns);
                for (size_t i = 0; i < c.n && facts.kind == TIMELINE_LANE_PLOT &&
                                   t->tracks[facts.track].kind != TIMELINE_TRACK_LOAD;
                     i++)
                        *sum_of(s, facts.kind, 0) += c.begin_ns[i] < (double)until_ns ? c.count[i] : 0;
                s->has_track[t->tracks[facts.track].kind] = true;
        }
        timeline_columns_deinit(&c);
}

static void check_moment(struct timeline_index *whole, struct timeline_builder *grown, uint64_t until_ns)
{
        /* Parts of the load are 1.024 us, and the last one of each is known in part. */
        const uint64_t slack_ns = 4 * UINT64_C(1024);
        struct sums expected, got;

        add_up(&expected, whole, NULL, until_ns);
        add_up(&got, grown->index, grown, until_ns);
        for (size_t i = 0; i < 48; i++) {
                /*
                 * A frame that a mark will end is not open: a mark may never come.  Whether a thread
                 * that is ready will come onto this CPU is not known either.
                 */
                if (i == TIMELINE_LANE_FRAMES || i == TIMELINE_LANE_UNRECORDED)
                        continue;
                ck_assert_msg(expected.ns[i] == got.ns[i], "sum %zu until %ju: %ju, and %ju while it grew", i,
                              (uintmax_t)until_ns, (uintmax_t)expected.ns[i], (uintmax_t)got.ns[i]);
        }
        ck_assert_uint_le(got.ns[TIMELINE_LANE_UNRECORDED], expected.ns[TIMELINE_LANE_UNRECORDED]);
        ck_assert_uint_gt(got.ns[TIMELINE_LANE_FRAMES], until_ns / 10);
        ck_assert_uint_le(got.ns[TIMELINE_LANE_FRAMES], expected.ns[TIMELINE_LANE_FRAMES]);
        for (size_t i = 48; i < 48 + TIMELINE_USES; i++) {
                ck_assert_uint_gt(got.ns[i], until_ns / 10);
                ck_assert_uint_le(got.ns[i] - expected.ns[i] + slack_ns, 2 * slack_ns);
        }
        ck_assert_mem_eq(expected.has_track, got.has_track, sizeof(got.has_track));
        for (unsigned state = TIMELINE_STATE_RUNNING; state <= TIMELINE_STATE_PREEMPTED; state++)
                ck_assert_uint_gt(got.ns[32 + state], 0);
}

static void begin(struct timeline_index *t, const struct loaded_trace *trace)
{
        ck_assert_int_eq(timeline_index_init(t, io_open_unnamed(NULL), trace->start_ns, 0), 0);
}

START_TEST(ten_moments_are_as_in_the_finished_trace)
{
        static struct timeline_builder grown;
        struct timeline_index whole, growing;
        struct loaded_trace trace;
        struct trace_item item;
        uint64_t n_chunks = 0;

        build_program();
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, NULL), 0);
        begin(&whole, &trace);
        ck_assert_int_eq(timeline_builder_build(&whole, &trace, NULL, NULL), 0);
        loaded_trace_close(&trace);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, NULL), 0);
        begin(&growing, &trace);
        ck_assert_int_eq(timeline_builder_init(&grown, &growing, trace.dictionary, NULL), 0);
        while (n_chunks < 10 && trace_reader_next(trace.reader, &item, NULL) == 1) {
                struct timeline_known known = { 0 };

                if (item.header.kind != TRACE_CHUNK_EVENTS)
                        continue;
                n_chunks++;
                known.shared_ns = START_NS + n_chunks * CHUNK_NS;
                ck_assert_int_eq(timeline_builder_add(&grown, &item, NULL), 0);
                ck_assert_int_eq(timeline_builder_grow(&grown, &known, NULL), 0);
                ck_assert_int_eq(timeline_builder_add_open_lanes(&grown, NULL), 0);
                check_moment(&whole, &grown, n_chunks * CHUNK_NS);
        }
        ck_assert_uint_eq(n_chunks, 10);
        ck_assert_uint_eq(grown.shared.events.order.n_late + grown.states.cpus.order.n_late, 0);
        timeline_builder_deinit(&grown);
        timeline_index_deinit(&growing);
        timeline_index_deinit(&whole);
        loaded_trace_close(&trace);
}
END_TEST

/* ---- the load, while it grows -------------------------------------------------------------------------- */

/* Each view of a lane is a part of the whole, with an item more at both sides, as of a lane in the index. */
START_TEST(a_view_of_the_load_is_that_of_the_index)
{
        struct timeline_rates rates;
        struct timeline_columns whole = { .n = 0 }, grown = { .n = 0 };
        struct trace_dictionary dictionary;
        struct timeline_index t;
        uint64_t random = 5, end_ns = START_NS + 1000000;
        uint32_t lanes[3];

        trace_dictionary_init(&dictionary, 0);
        ck_assert_int_eq(timeline_index_init(&t, io_open_unnamed(NULL), START_NS, 0), 0);
        ck_assert_int_eq(timeline_rates_init(&rates, &t, &dictionary), 0);
        for (uint64_t at = START_NS; at < end_ns; at += 1 + fixed_random_next(&random) % 9000) {
                uint64_t until_ns = at + fixed_random_next(&random) % 20000;

                timeline_rates_use(
                        &rates, fixed_random_next(&random) % 2 ? TIMELINE_USE_RUNNING : TIMELINE_USE_WANTED,
                        at, until_ns < end_ns ? until_ns : end_ns);
        }
        ck_assert_int_eq(timeline_rates_grow(&rates, end_ns, NULL), 0);
        ck_assert_int_eq(timeline_rates_finish(&rates, end_ns, NULL), 0);
        for (uint32_t i = 0; i < 3; i++) /* finish() makes lanes of its own, in the same order */
                lanes[i] = i + 3;
        ck_assert_uint_eq(t.n_lanes, 6);
        for (int n = 0; n < 2000; n++) {
                uint64_t from_ns = fixed_random_next(&random) % 1100000;
                struct timeline_view view = { .lane = (uint32_t)(fixed_random_next(&random) % 3),
                                              .bucket_log2 = 10 + (unsigned)(fixed_random_next(&random) % 12),
                                              .from_ns = from_ns,
                                              .to_ns = from_ns + 1 + fixed_random_next(&random) % 300000 };
                struct timeline_view same = view;

                same.lane = lanes[view.lane];
                ck_assert_int_eq(timeline_rates_view(&rates, &view, &grown, NULL), 1);
                ck_assert_int_eq(timeline_query_view(&t, &same, &whole, NULL), 0);
                if (view.lane != 0)
                        continue; /* sums of the index leave out values on a straight line */
                for (size_t i = 0; i < whole.n; i++) {
                        size_t k = i + (grown.n > whole.n && grown.begin_ns[0] < whole.begin_ns[0]);

                        ck_assert_uint_lt(k, grown.n);
                        ck_assert_double_eq(grown.begin_ns[k], whole.begin_ns[i]);
                        ck_assert_double_eq(grown.min[k], whole.min[i]);
                        ck_assert_double_eq(grown.max[k], whole.max[i]);
                        ck_assert_double_eq(grown.first[k], whole.first[i]);
                        ck_assert_double_eq(grown.last[k], whole.last[i]);
                        ck_assert_uint_eq(grown.count[k], whole.count[i]);
                }
                ck_assert_uint_le(grown.n, whole.n + 2);
        }
        timeline_columns_deinit(&whole);
        timeline_columns_deinit(&grown);
        timeline_rates_deinit(&rates);
        timeline_index_deinit(&t);
        trace_dictionary_deinit(&dictionary);
}
END_TEST

/* A request may ask for any lane, also before there is any. */
START_TEST(a_lane_that_is_not_there_is_none_of_the_load)
{
        struct timeline_view view = { .to_ns = 1000000, .lane = UINT32_MAX };
        struct timeline_rates rates;
        struct timeline_columns columns = { .n = 0 };
        struct trace_dictionary dictionary;
        struct timeline_index t;

        trace_dictionary_init(&dictionary, 0);
        ck_assert_int_eq(timeline_index_init(&t, io_open_unnamed(NULL), START_NS, 0), 0);
        ck_assert_int_eq(timeline_rates_init(&rates, &t, &dictionary), 0);
        for (int has_load = 0; has_load < 2; has_load++) {
                ck_assert_int_eq(timeline_rates_grow(&rates, START_NS + 1000, NULL), 0);
                ck_assert_int_eq(timeline_rates_view(&rates, &view, &columns, NULL), 0);
                ck_assert_uint_eq(timeline_rates_count(&rates, view.lane), 0);
                timeline_rates_use(&rates, TIMELINE_USE_RUNNING, START_NS, START_NS + 10);
        }
        timeline_columns_deinit(&columns);
        timeline_rates_deinit(&rates);
        timeline_index_deinit(&t);
        trace_dictionary_deinit(&dictionary);
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 60, .setup = setup, .teardown = teardown);
