/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/zone_trigger.c: instances that last too long are counted as they end, by rule, and no others
 */
#include "format/event_encoder.h"
#include "format/trace_dictionary.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/thread_track.h"
#include "sampler/tracks/zone_trigger.h"
#include "tests/unit/unit_test.h"

#include <string.h>

#define N_LOCATIONS 4

struct fixture {
        struct trace_dictionary dictionary;
        struct event_encoder encoder;
        struct loss_counter losses;
        struct zone_trigger trigger;
        struct thread_sink sink;
        struct thread_track track;
};

/* A pattern is a location here, and what it is directly in; 0 = anything. */
struct pattern {
        uint32_t location, around;
};

static unsigned n_asked;

static bool is_named(const void *pattern, const struct trace_dictionary *dictionary, uint32_t location)
{
        const struct pattern *p = pattern;

        (void)dictionary;
        n_asked++;
        return p->location == location;
}

static bool is_meant(const void *pattern, const struct trace_dictionary *dictionary,
                     const uint32_t *locations, uint32_t n)
{
        const struct pattern *p = pattern;

        (void)dictionary;
        ck_assert_uint_ge(n, 1);
        return p->location == locations[n - 1] &&
               (p->around == 0 || (n > 1 && p->around == locations[n - 2]));
}

static const struct pattern patterns[] = { { 1, 0 }, { 2, 3 } };
static const struct zone_trigger_rule rules[] = {
        { .longer_than_ns = 100,
          .words = "one",
          .pattern = &patterns[0],
          .names = is_named,
          .fits = is_meant },
        { .longer_than_ns = 50,
          .words = "two",
          .pattern = &patterns[1],
          .names = is_named,
          .fits = is_meant },
};

static void set_up(struct fixture *f)
{
        uint32_t id;

        memset(f, 0, sizeof(*f));
        trace_dictionary_init(&f->dictionary, 0);
        event_encoder_init(&f->encoder);
        zone_trigger_init(&f->trigger, rules, 2, &f->dictionary);
        f->sink = (struct thread_sink){ .encoder = &f->encoder,
                                        .dictionary = &f->dictionary,
                                        .losses = &f->losses,
                                        .trigger = &f->trigger };
        for (uint32_t i = 1; i <= N_LOCATIONS; i++)
                ck_assert_int_eq(trace_dictionary_add(&f->dictionary, TRACE_TABLE_LOCATIONS,
                                                      &(struct trace_location){ .line = i }, &id),
                                 0);
        f->track.thread = 1;
        f->track.tid = 4711;
        n_asked = 0;
}

static void tear_down(struct fixture *f)
{
        zone_trigger_deinit(&f->trigger);
        thread_track_deinit(&f->track);
        event_encoder_deinit(&f->encoder);
        trace_dictionary_deinit(&f->dictionary);
}

/* By the long way, or by the short one if that is possible. */
static void begin(struct fixture *f, uint64_t time_ns, uint32_t location)
{
        struct trace_event event = { .op = TRACE_OP_ZONE_BEGIN, .time_ns = time_ns };

        event.zone_begin.location = location;
        thread_sink_switch(&f->sink, &f->track);
        if (!thread_track_begin_zone(&f->track, &f->sink, time_ns, location))
                ck_assert_int_eq(thread_track_write(&f->track, &f->sink, &event, 0), 0);
}

static void end(struct fixture *f, uint64_t time_ns, bool short_way)
{
        struct trace_event event = { .op = TRACE_OP_ZONE_END, .time_ns = time_ns };

        if (short_way)
                ck_assert(thread_track_end_zone(&f->track, &f->sink, time_ns));
        else
                ck_assert_int_eq(thread_track_write(&f->track, &f->sink, &event, 0), 0);
}

static void zone(struct fixture *f, uint64_t begin_ns, uint64_t end_ns, uint32_t location, bool short_way)
{
        begin(f, begin_ns, location);
        end(f, end_ns, short_way);
}

START_LOOP_TEST(test_judges, 0, 2)
{
        struct zone_trigger_hit hit;
        struct fixture f;

        set_up(&f);
        zone(&f, 1000, 1100, 1, _i != 0); /* not longer than that */
        zone(&f, 2000, 2500, 4, _i != 0); /* another zone */
        zone(&f, 3000, 3500, 2, _i != 0); /* of the name, but not where it was meant */
        ck_assert_uint_eq(zone_trigger_take(&f.trigger, &hit), 0);

        zone(&f, 4000, 4101, 1, _i != 0);
        zone(&f, 5000, 5900, 1, _i != 0);
        ck_assert_uint_eq(zone_trigger_take(&f.trigger, &hit), 2);
        ck_assert_ptr_eq(hit.rule, &rules[0]);
        ck_assert_uint_eq(hit.begin_ns, 4000);
        ck_assert_uint_eq(hit.end_ns, 4101);
        ck_assert_uint_eq(hit.tid, 4711);
        ck_assert_uint_eq(zone_trigger_take(&f.trigger, &hit), 0);

        begin(&f, 6000, 3);
        zone(&f, 6010, 6061, 2, _i != 0);
        end(&f, 7000, _i != 0);
        ck_assert_uint_eq(zone_trigger_take(&f.trigger, &hit), 1);
        ck_assert_ptr_eq(hit.rule, &rules[1]);
        tear_down(&f);
}
END_TEST

/* However many instances, each name is looked at once. */
START_TEST(test_names_once)
{
        struct fixture f;

        set_up(&f);
        for (uint64_t i = 0; i < 1000; i++) {
                begin(&f, i * 1000, 4);
                end(&f, i * 1000 + 900, true);
        }
        ck_assert_uint_eq(n_asked, 2);
        tear_down(&f);
}
END_TEST
