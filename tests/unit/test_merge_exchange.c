/* SPDX-License-Identifier: MIT */
/*
 * Recordings of several hosts that one machine captured are placed within the stated bound, whatever the
 * delays and rates were; without a common capture, with contradictions or jumps nothing is placed by readings
 */
#include "base/error.h"
#include "format/trace_rows.h"
#include "format/trace_writer.h"
#include "merge/merge_input.h"
#include "merge/trace_merge.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define S            UINT64_C(1000000000)
#define HOSTS        3
#define READING_GAP  (8 * S)
#define READINGS_MAX 40
#define POINTS       50

UNIT_TEST_PLAN(.timeout_s = 120);

static uint64_t chance;
static struct trace_builder hosts[HOSTS];
static const char *paths[HOSTS];

static double between(double from, double to)
{
        return from + (to - from) * ((double)(fixed_random_next(&chance) >> 11) / 9007199254740992.0);
}

/* A clock that shows @origin_ns at the world's time 0, and has a rate of its own. */
struct clock_of {
        uint64_t origin_ns;
        double drift;
};

static uint64_t show(const struct clock_of *c, uint64_t world_ns)
{
        return c->origin_ns + world_ns + (uint64_t)(int64_t)((double)world_ns * c->drift);
}

/* A host, and what was recorded there. */
struct host {
        struct clock_of clock;
        const char *boot_id;
        uint64_t from_ns, to_ns; /* of the world */
};

#define BOOT_A "a0000000-0000-0000-0000-000000000001"
#define BOOT_B "b0000000-0000-0000-0000-000000000002"
#define BOOT_C "c0000000-0000-0000-0000-000000000003"
#define TAKER                                   \
        {                                       \
                UINT64_C(0x7000000000000000), 7 \
        }

static struct host make_host(const char *boot_id)
{
        struct host h = { .clock = { .origin_ns = fixed_random_next(&chance) >> 12,
                                     .drift = between(-50e-6, 50e-6) },
                          .boot_id = boot_id,
                          .from_ns = (uint64_t)between(1e9, 60e9) };

        h.to_ns = h.from_ns + (uint64_t)(between(0, 1) < 0.5 ? between(1e7, 5e9) : between(5e9, 300e9));
        return h;
}

static void add_number(struct trace_builder *b, const char *key, uint64_t number)
{
        char text[24];

        (void)snprintf(text, sizeof(text), "%" PRIu64, number);
        trace_builder_meta(b, key, text);
}

/* A reading at about @world_ns: each way takes 20 us to 20 ms, now and then 0.2 s more. */
static void add_reading(struct trace_builder *b, const struct host *h, struct boot_number taker,
                        const struct clock_of *clock, uint64_t world_ns)
{
        uint64_t heard_ns = world_ns + (uint64_t)between(2e4, between(2e4, 2e7)) +
                            (between(0, 1) < 0.1 ? S / 5 : 0);
        uint64_t answered_ns = heard_ns + (uint64_t)between(1e3, 1e6);
        uint64_t got_ns = answered_ns + (uint64_t)between(2e4, between(2e4, 2e7));
        const struct trace_exchange row = { .taker_high = taker.high,
                                            .taker_low = taker.low,
                                            .asked_ns = show(clock, world_ns),
                                            .heard_ns = show(&h->clock, heard_ns),
                                            .answered_ns = show(&h->clock, answered_ns),
                                            .got_ns = show(clock, got_ns) };

        (void)trace_builder_row(b, TRACE_TABLE_EXCHANGES, &row);
}

static void begin_trace(struct trace_builder *b, const struct host *h)
{
        uint32_t thread;

        trace_builder_meta(b, "hostname", h->boot_id);
        trace_builder_meta(b, "boot_id", h->boot_id);
        add_number(b, "start_raw_ns", show(&h->clock, h->from_ns));
        add_number(b, "start_realtime_ns", 1700000000 * S + h->from_ns);
        add_number(b, "end_raw_ns", show(&h->clock, h->to_ns));
        thread = trace_builder_thread(b, 100, 100);
        trace_builder_begin_run(b, thread);
        trace_builder_begin_zone(b, show(&h->clock, h->from_ns), trace_builder_location(b, "z"));
        trace_builder_event(b, show(&h->clock, h->to_ns), TRACE_OP_ZONE_END);
        trace_builder_end_run(b);
}

/* Readings as a capture makes them: one at the beginning, each 8 s, and one at the end. */
static void add_readings(struct trace_builder *b, const struct host *h, struct boot_number taker,
                         const struct clock_of *clock)
{
        for (uint64_t at_ns = h->from_ns; at_ns < h->to_ns; at_ns += READING_GAP)
                add_reading(b, h, taker, clock, at_ns);
        add_reading(b, h, taker, clock, h->to_ns);
}

static void setup(void)
{
        for (size_t i = 0; i < HOSTS; i++) {
                trace_builder_init(&hosts[i]);
                paths[i] = hosts[i].path;
        }
}

static void teardown(void)
{
        for (size_t i = 0; i < HOSTS; i++)
                trace_builder_deinit(&hosts[i]);
}

/* Merges the first @n, and keeps how they were placed.  To be deinitialised. */
static void merge(struct trace_merge *m, const char *const *of, size_t n, int fd)
{
        struct trace_writer *writer = NULL;
        struct error err = ERROR_NONE;

        ck_assert_int_eq(trace_writer_new(fd, &writer, NULL), 0);
        ck_assert_msg(trace_merge_run(m, of, n, writer, &err) == 0, "%s", err.text);
        trace_writer_free(writer);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
        return a > b ? a - b : b - a;
}

/*
 * Anything of the world that both clocks show is at one place of the timeline, within the bound.
 * @ret_error_ns:  the largest distance
 */
static void expect_placed(const struct trace_merge *m, size_t i, const struct host *first,
                          const struct host *h, uint64_t *ret_error_ns)
{
        const struct merge_input *in = &m->inputs[i];

        for (uint64_t k = 0; k <= POINTS; k++) {
                uint64_t world_ns = h->from_ns + (h->to_ns - h->from_ns) / POINTS * k;
                uint64_t here_ns = merge_input_time(in, show(&h->clock, world_ns));
                uint64_t there_ns = merge_input_time(&m->inputs[0], show(&first->clock, world_ns));
                uint64_t error_ns = distance(here_ns, there_ns);

                ck_assert_msg(error_ns <= in->parts[0].error_ns,
                              "%" PRIu64 " ns off at point %" PRIu64 ", bound %" PRIu64, error_ns, k,
                              in->parts[0].error_ns);
                *ret_error_ns = error_ns > *ret_error_ns ? error_ns : *ret_error_ns;
        }
}

/* loop test: hosts with clocks of any offset and rate, captured by one machine of a third clock */
START_LOOP_TEST(the_truth_is_within_the_bound, 0, 200)
{
        const struct boot_number taker = TAKER;
        struct host a, b;
        struct clock_of clock;
        struct trace_merge m;
        uint64_t error_ns = 0;
        int fd = memfd_create("merged", MFD_CLOEXEC);

        chance = (uint64_t)_i * 2654435761 + 88172645463325252;
        setup();
        a = make_host(BOOT_A);
        b = make_host(BOOT_B);
        clock = make_host(NULL).clock;
        begin_trace(&hosts[0], &a);
        add_readings(&hosts[0], &a, taker, &clock);
        begin_trace(&hosts[1], &b);
        add_readings(&hosts[1], &b, taker, &clock);
        trace_builder_finish(&hosts[0]);
        trace_builder_finish(&hosts[1]);
        merge(&m, paths, 2, fd);
        ck_assert_uint_eq(m.inputs[1].parts[0].clock, TRACE_ALIGNMENT_EXCHANGED);
        ck_assert_uint_gt(m.inputs[1].n_readings, 3);
        expect_placed(&m, 1, &a, &b, &error_ns);
        /* One reading of the way would do: 0.4 s at worst, and what the rates do between the recordings. */
        ck_assert_uint_lt(m.inputs[1].parts[0].error_ns, S);
        trace_merge_deinit(&m);
        teardown();
        (void)close(fd);
}
END_TEST

/* loop test: one of them was recorded on the machine that captured the other, in either order */
START_LOOP_TEST(the_capture_machine_itself, 0, 40)
{
        struct host a, b;
        struct trace_merge m;
        uint64_t error_ns = 0;
        int fd = memfd_create("merged", MFD_CLOEXEC);
        size_t first = (size_t)_i % 2;

        chance = (uint64_t)_i + 77;
        setup();
        a = make_host(BOOT_A);
        b = make_host(BOOT_B);
        begin_trace(&hosts[first], &a);
        begin_trace(&hosts[1 - first], &b);
        add_readings(&hosts[1 - first], &b, boot_number_of((struct text_view){ BOOT_A, strlen(BOOT_A) }),
                     &a.clock);
        trace_builder_finish(&hosts[0]);
        trace_builder_finish(&hosts[1]);
        merge(&m, paths, 2, fd);
        ck_assert_uint_eq(m.inputs[1].parts[0].clock, TRACE_ALIGNMENT_EXCHANGED);
        expect_placed(&m, 1, first == 0 ? &a : &b, first == 0 ? &b : &a, &error_ns);
        trace_merge_deinit(&m);
        teardown();
        (void)close(fd);
}
END_TEST

/*
 * loop test: two that were merged before, and then a third one, of the second one's boot or captured as
 * they were: the rates of all are kept in the merged trace
 */
START_LOOP_TEST(a_merged_trace_is_merged_again, 0, 40)
{
        const struct boot_number taker = TAKER;
        struct host a, b, c;
        struct clock_of clock;
        struct trace_merge m;
        uint64_t error_ns = 0;
        int fd = memfd_create("merged", MFD_CLOEXEC), again = memfd_create("again", MFD_CLOEXEC);
        char path[40];
        const char *both[2] = { path };

        chance = (uint64_t)_i + 1234;
        setup();
        a = make_host(BOOT_A);
        b = make_host(BOOT_B);
        c = make_host(_i % 2 ? BOOT_B : BOOT_C);
        if (_i % 2)
                c.clock = b.clock;
        clock = make_host(NULL).clock;
        begin_trace(&hosts[0], &a);
        add_readings(&hosts[0], &a, taker, &clock);
        begin_trace(&hosts[1], &b);
        add_readings(&hosts[1], &b, taker, &clock);
        begin_trace(&hosts[2], &c);
        if (_i % 2 == 0)
                add_readings(&hosts[2], &c, taker, &clock);
        for (size_t i = 0; i < HOSTS; i++)
                trace_builder_finish(&hosts[i]);
        merge(&m, paths, 2, fd);
        trace_merge_deinit(&m);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        both[1] = paths[2];
        merge(&m, both, 2, again);
        ck_assert_uint_eq(m.inputs[1].parts[0].clock, TRACE_ALIGNMENT_EXCHANGED);
        /* The timeline is that of the first; where its merge moved it is in its own row. */
        a.clock.origin_ns += (uint64_t)m.inputs[0].parts[0].offset_ns - (uint64_t)m.inputs[0].shift_ns;
        expect_placed(&m, 1, &a, &c, &error_ns);
        trace_merge_deinit(&m);
        teardown();
        (void)close(fd);
        (void)close(again);
}
END_TEST

enum trouble { OTHER_TAKERS, UNKNOWN_TAKER, JUMPS, BACKWARDS, CONTRADICTIONS, RATE, TROUBLES };

/* loop test: nothing is placed by readings that say nothing, or that no clock can have */
START_LOOP_TEST(no_place_by_what_cannot_be, 0, TROUBLES)
{
        static const struct boot_number known = TAKER, other = { 5, 5 }, unknown = { 0, 0 };
        struct host a, b, late;
        struct clock_of clock;
        struct trace_merge m;
        int fd = memfd_create("merged", MFD_CLOEXEC);

        chance = (uint64_t)_i + 5;
        setup();
        a = make_host(BOOT_A);
        b = make_host(BOOT_B);
        b.to_ns = b.from_ns + 200 * S;
        clock = make_host(NULL).clock;
        begin_trace(&hosts[0], &a);
        add_readings(&hosts[0], &a, known, &clock);
        begin_trace(&hosts[1], &b);
        late = b;
        if (_i == JUMPS) {
                b.to_ns = b.from_ns + 90 * S;
                late.from_ns = b.to_ns + S;
                late.clock.origin_ns += 3600 * S;
                add_readings(&hosts[1], &late, known, &clock);
        }
        if (_i == RATE)
                b.clock.drift = 0.3;
        if (_i == OTHER_TAKERS || _i == UNKNOWN_TAKER || _i == JUMPS || _i == RATE)
                add_readings(&hosts[1], &b,
                             _i == OTHER_TAKERS    ? other
                             : _i == UNKNOWN_TAKER ? unknown
                                                   : known,
                             &clock);
        for (uint64_t i = 0; i < 8 && (_i == BACKWARDS || _i == CONTRADICTIONS); i++) {
                const struct trace_exchange row = { .taker_high = known.high,
                                                    .taker_low = known.low,
                                                    .asked_ns = i * S + (_i == BACKWARDS ? 500 : 0),
                                                    .got_ns = i * S + 100,
                                                    .heard_ns = b.clock.origin_ns + i * S,
                                                    .answered_ns = b.clock.origin_ns + i * S +
                                                                   (_i == BACKWARDS ? 5 : S) };

                (void)trace_builder_row(&hosts[1], TRACE_TABLE_EXCHANGES, &row);
        }
        trace_builder_finish(&hosts[0]);
        trace_builder_finish(&hosts[1]);
        merge(&m, paths, 2, fd);
        ck_assert_uint_eq(m.inputs[1].parts[0].clock, TRACE_ALIGNMENT_REALTIME_FREE);
        ck_assert_uint_eq(m.inputs[1].n_readings, 0);
        trace_merge_deinit(&m);
        teardown();
        (void)close(fd);
}
END_TEST

/* loop test: any rows: no crash, times stay in order */
START_LOOP_TEST(hostile_rows, 0, 60)
{
        const struct boot_number taker = TAKER;
        struct host a, b;
        struct clock_of clock;
        struct trace_merge m;
        uint64_t before_ns = 0;
        int fd = memfd_create("merged", MFD_CLOEXEC);

        chance = (uint64_t)_i + 99;
        setup();
        a = make_host(BOOT_A);
        b = make_host(BOOT_B);
        clock = make_host(NULL).clock;
        begin_trace(&hosts[0], &a);
        add_readings(&hosts[0], &a, taker, &clock);
        begin_trace(&hosts[1], &b);
        for (unsigned i = 0; i < READINGS_MAX; i++) {
                struct trace_exchange row = { .taker_high = _i % 3 ? taker.high : i,
                                              .taker_low = taker.low,
                                              .asked_ns = fixed_random_magnitude(&chance),
                                              .heard_ns = fixed_random_magnitude(&chance) };

                row.got_ns = row.asked_ns + (_i % 2 ? fixed_random_magnitude(&chance) : 1000);
                row.answered_ns = row.heard_ns + (_i % 2 ? fixed_random_magnitude(&chance) : 500);
                (void)trace_builder_row(&hosts[1], TRACE_TABLE_EXCHANGES, &row);
        }
        trace_builder_finish(&hosts[0]);
        trace_builder_finish(&hosts[1]);
        merge(&m, paths, 2, fd);
        for (uint64_t t = 1; t < UINT64_MAX / 2; t = t * 3 + 1) {
                uint64_t now_ns = merge_input_time(&m.inputs[1], t);

                ck_assert_uint_ge(now_ns, before_ns);
                before_ns = now_ns;
        }
        trace_merge_deinit(&m);
        teardown();
        (void)close(fd);
}
END_TEST
