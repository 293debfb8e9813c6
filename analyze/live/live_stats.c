/* SPDX-License-Identifier: MIT */
#include "analyze/live/live_stats.h"

#include "base/array.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_reader.h"

#include <errno.h>
#include <stdlib.h>

#define ZONE_NO_ROOM UINT32_MAX
#define JUMP_NS      (LIVE_SLOTS * LIVE_SLOT_NS)

/* Before this time, samples that are yet to come would make up too large a share. */
#define UNSAMPLED_FROM_NS UINT64_C(100000000)

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "sums of the last seconds: out of memory");
}

/* ---- counts -------------------------------------------------------------------------------------------- */

static void add_to_tally(struct live_tally *t, const struct live_tally *more)
{
        t->n_samples += more->n_samples;
        t->n_zones += more->n_zones;
        t->n_zones_beside += more->n_zones_beside;
}

static void count_live(struct live_stats *s, uint64_t time_ns, const struct live_tally *one)
{
        uint64_t second = live_slot_second(time_ns);
        struct live_tally *slot = &s->tallies[second % LIVE_SLOTS];

        if (slot->second != second)
                *slot = (struct live_tally){ .second = second };
        add_to_tally(slot, one);
        add_to_tally(&s->tallies[LIVE_SLOT_ALL], one);
}

struct live_tally live_stats_tally(const struct live_stats *s, bool all)
{
        struct live_tally sum = { .second = 0 };

        if (all)
                return s->tallies[LIVE_SLOT_ALL];
        for (size_t i = 0; i < LIVE_SLOTS; i++)
                if (live_slot_is_recent(s->tallies[i].second, s->now_ns))
                        add_to_tally(&sum, &s->tallies[i]);
        return sum;
}

/* ---- zones --------------------------------------------------------------------------------------------- */

static int reserve_locations(struct live_stats *s)
{
        uint32_t n = trace_dictionary_count(s->dictionary, TRACE_TABLE_LOCATIONS);

        return array_reach(&s->zone_of, &s->zone_of_capacity, &s->n_locations, n, sizeof(*s->zone_of));
}

/* Adds a location that was not seen before.  Returns 0 or -ENOMEM. */
static int add_zone_place(struct live_stats *s, uint32_t location)
{
        struct live_zone *zone;

        if (s->n_zones == LIVE_ZONES_MAX) {
                s->zone_of[location - 1] = ZONE_NO_ROOM;
                return 0;
        }
        zone = calloc(1, sizeof(*zone));
        if (!zone)
                return -ENOMEM;
        zone->location = location;
        s->zones[s->n_zones++] = zone;
        s->zone_of[location - 1] = s->n_zones;
        return 0;
}

/* A location's zone; NULL if it has no room, or without memory. */
static struct live_zone *zone_of_location(struct live_stats *s, uint32_t location, int *ret)
{
        uint32_t place = s->zone_of[location - 1];

        *ret = 0;
        if (place == 0) {
                *ret = add_zone_place(s, location);
                place = s->zone_of[location - 1];
        }
        return place == 0 || place == ZONE_NO_ROOM ? NULL : s->zones[place - 1];
}

static int add_to_zone_slot(struct live_zone_slot *slot, uint64_t second, uint64_t duration_ns,
                            uint64_t self_ns)
{
        if (slot->second != second) {
                histogram_deinit(&slot->durations);
                *slot = (struct live_zone_slot){ .second = second };
        }
        slot->self_ns += self_ns;
        return histogram_add(&slot->durations, duration_ns);
}

static void free_zone(struct live_zone *zone)
{
        for (size_t i = 0; i < LIVE_SLOTS_AND_ALL; i++)
                histogram_deinit(&zone->slots[i].durations);
        free(zone);
}

static int take_zone(void *context, struct walked_thread *thread, const struct zone_instance *instance,
                     struct error *err)
{
        struct live_stats *s = context;
        uint64_t duration_ns = instance->end_ns > instance->begin_ns ? instance->end_ns - instance->begin_ns
                                                                     : 0;
        uint64_t second = live_slot_second(instance->end_ns);
        struct live_zone *zone;
        int r;

        (void)thread;
        if (!instance->closed) /* its thread ended in it */
                return 0;
        zone = zone_of_location(s, instance->location, &r);
        count_live(s, instance->end_ns, &(struct live_tally){ .n_zones = 1, .n_zones_beside = !zone });
        if (!zone)
                return r < 0 ? no_memory(err) : 0;
        r = add_to_zone_slot(&zone->slots[second % LIVE_SLOTS], second, duration_ns, instance->self_ns);
        if (r == 0)
                r = add_to_zone_slot(&zone->slots[LIVE_SLOT_ALL], 1, duration_ns, instance->self_ns);
        return r < 0 ? no_memory(err) : 0;
}

/* ---- samples and waits --------------------------------------------------------------------------------- */

static bool is_sampled_by_itself(const struct trace_sample_event *row)
{
        return row->mode != TRACE_SAMPLE_MODE_WITH_LEADER && row->mode != TRACE_SAMPLE_MODE_COUNTED;
}

static int sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                  struct error *err)
{
        struct live_stats *s = context;
        uint32_t id = (uint32_t)event->sample.event;

        (void)thread;
        if (s->event == 0 &&
            is_sampled_by_itself(trace_dictionary_row(s->dictionary, TRACE_TABLE_SAMPLE_EVENTS, id)))
                s->event = id;
        if (id != s->event)
                return 0;
        count_live(s, event->time_ns, &(struct live_tally){ .n_samples = 1 });
        sample_sum_add(&s->sum, &(struct sample_sum){ .n_samples = 1, .weight = event->sample.weight });
        if (live_window_add(&s->samples, event->time_ns, event->sample.stack + 1, event->sample.weight) < 0)
                return no_memory(err);
        return 0;
}

static int take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                     struct error *err)
{
        struct live_stats *s = context;
        uint64_t ns = wait->in_ns > wait->out_ns ? wait->in_ns - wait->out_ns : 0;
        uint64_t key = live_wait_key(wait->stack, wait->state);

        if (wait->preempted)
                return 0;
        if (live_window_add(&s->waits, wait->in_ns, key, ns) < 0 ||
            live_ends_add(&s->ends, s->dictionary, thread->id, wait, key) < 0)
                return no_memory(err);
        return 0;
}

/* ---- time ---------------------------------------------------------------------------------------------- */

static void forget_marks(struct live_stats *s)
{
        for (size_t i = 0; i <= LIVE_SLOTS; i++)
                s->marks[i].time_ns = 0;
}

/* Once a second: how long each thread has run.  Returns 0 or -ENOMEM. */
static int set_mark(struct live_stats *s)
{
        uint32_t n = s->walk.n_threads < LIVE_THREADS_MAX ? s->walk.n_threads : LIVE_THREADS_MAX;
        uint32_t before = (s->next_mark + LIVE_SLOTS) % (LIVE_SLOTS + 1);
        struct live_mark *mark = &s->marks[s->next_mark];
        uint64_t *ran_ns;

        if (s->marks[before].time_ns != 0 && s->now_ns - s->marks[before].time_ns < LIVE_SLOT_NS)
                return 0;
        ran_ns = realloc(mark->ran_ns, (n + 1) * sizeof(*ran_ns));
        if (!ran_ns)
                return -ENOMEM;
        for (uint32_t i = 0; i < n; i++)
                ran_ns[i] = thread_timeline_ran_so_far(&s->walk.threads[i].timeline, s->now_ns);
        *mark = (struct live_mark){ .time_ns = s->now_ns, .ran_ns = ran_ns, .n_threads = n };
        s->next_mark = (s->next_mark + 1) % (LIVE_SLOTS + 1);
        return 0;
}

/*
 * The latest events set the current time.  A pause may be of any length; if time goes back by more than the
 * window, even after a single event from the far future, the window starts anew.
 */
static void see_time(struct live_stats *s, uint64_t first_ns, uint64_t last_ns)
{
        if (s->now_ns == 0) {
                s->first_ns = first_ns != 0 ? first_ns : last_ns;
                s->now_ns = last_ns;
                return;
        }
        if (s->now_ns > JUMP_NS && last_ns < s->now_ns - JUMP_NS) {
                s->n_clock_jumps++;
                forget_marks(s);
                if (last_ns < s->first_ns)
                        s->first_ns = last_ns;
                s->now_ns = last_ns;
        } else if (last_ns > s->now_ns) {
                s->now_ns = last_ns;
        }
}

void live_stats_advance(struct live_stats *s, uint64_t now_ns)
{
        if (s->now_ns != 0 && now_ns > s->now_ns)
                s->now_ns = now_ns;
}

uint64_t live_stats_window_start(const struct live_stats *s, bool all)
{
        uint64_t start_ns = (live_slot_second(s->now_ns) - 1) * LIVE_SLOT_NS;

        start_ns = start_ns > (LIVE_SLOTS - 1) * LIVE_SLOT_NS ? start_ns - (LIVE_SLOTS - 1) * LIVE_SLOT_NS
                                                              : 0;
        return all || start_ns < s->first_ns ? s->first_ns : start_ns;
}

uint64_t live_stats_window_ns(const struct live_stats *s, bool all)
{
        uint64_t start_ns = live_stats_window_start(s, all);

        return s->now_ns > start_ns ? s->now_ns - start_ns : 0;
}

/* ---- all together -------------------------------------------------------------------------------------- */

int live_stats_init(struct live_stats *s, const struct trace_dictionary *dictionary)
{
        const struct trace_sink sink = {
                .context = s, .zone = take_zone, .sample = sample, .wait = take_wait
        };

        *s = (struct live_stats){ .dictionary = dictionary };
        live_ends_init(&s->ends);
        s->zones = calloc(LIVE_ZONES_MAX, sizeof(struct live_zone *));
        return s->zones ? trace_walk_init_plain(&s->walk, dictionary, &sink) : -ENOMEM;
}

void live_stats_deinit(struct live_stats *s)
{
        live_window_deinit(&s->samples);
        live_window_deinit(&s->waits);
        live_ends_deinit(&s->ends);
        for (uint32_t i = 0; i < s->n_zones; i++)
                free_zone(s->zones[i]);
        free(s->zones);
        free(s->zone_of);
        for (size_t i = 0; i <= LIVE_SLOTS; i++)
                free(s->marks[i].ran_ns);
        trace_walk_deinit(&s->walk);
        *s = (struct live_stats){ .dictionary = NULL };
}

int live_stats_add(struct live_stats *s, const struct trace_item *item, struct error *err)
{
        int r;

        if (item->header.kind != TRACE_CHUNK_EVENTS)
                return 0;
        if (reserve_locations(s) < 0)
                return no_memory(err);
        r = trace_walk_chunk(&s->walk, item, err);
        if (r < 0)
                return r;
        see_time(s, item->header.first_ns, item->header.last_ns);
        return set_mark(s) < 0 ? no_memory(err) : 0;
}

struct unsampled_time live_stats_unsampled(const struct live_stats *s)
{
        struct unsampled_time u;

        unsampled_time_take(&u, &s->walk, s->now_ns);
        if (u.on_cpu_ns > UNSAMPLED_FROM_NS)
                unsampled_time_judge(&u, s->dictionary, s->event, &s->sum);
        return u;
}
