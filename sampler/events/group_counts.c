/* SPDX-License-Identifier: MIT */
#include "sampler/events/group_counts.h"

#include "base/array.h"
#include "base/bytes.h"
#include "sampler/events/event_set.h"
#include "sampler/kernel/perf_record.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64
/* less than one part in so many is lost while groups are switched on and off */
#define SLACK_SHARE 100

__extension__ typedef unsigned __int128 wide;

void group_counts_init(struct group_counts *g, uint64_t read_format, bool inherited, bool scales)
{
        const uint64_t wanted = PERF_FORMAT_GROUP | PERF_FORMAT_ID;

        *g = (struct group_counts){ .read_format = (read_format & wanted) == wanted ? read_format : 0,
                                    .inherited = inherited,
                                    .scales = scales };
}

void group_counts_deinit(struct group_counts *g)
{
        free(g->entries);
        free(g->slots);
        free(g->threads);
        *g = (struct group_counts){ .entries = NULL };
}

/* ---- previous values ----------------------------------------------------------------------------------- */

static size_t slot_of(const struct group_counts *g, uint64_t event, uint32_t tid)
{
        uint64_t hash = (event ^ (uint64_t)tid << 32) * UINT64_C(0x9e3779b97f4a7c15);

        return (size_t)(hash >> 32) & (g->n_slots - 1);
}

static void hang_in(struct group_counts *g, uint32_t number)
{
        struct group_counts_entry *entry = &g->entries[number - 1];
        uint32_t *slot = &g->slots[slot_of(g, entry->event, entry->tid)];
        uint32_t *thread = &g->threads[slot_of(g, 0, entry->tid)];

        entry->next_of_hash = *slot;
        *slot = number;
        if (entry->tid == 0)
                return;
        entry->next_of_thread = *thread;
        *thread = number;
}

/* Doubles the size of the tables and inserts the entries again. */
static int grow(struct group_counts *g)
{
        size_t n_slots = g->n_slots ? g->n_slots * 2 : SLOTS_MIN;
        uint32_t *slots = calloc(n_slots, sizeof(*slots)), *threads = calloc(n_slots, sizeof(*threads));

        if (!slots || !threads) {
                free(slots);
                free(threads);
                return -ENOMEM;
        }
        free(g->slots);
        free(g->threads);
        g->slots = slots;
        g->threads = threads;
        g->n_slots = n_slots;
        for (size_t i = 0; i < g->n_entries; i++)
                if (g->entries[i].event != 0)
                        hang_in(g, (uint32_t)i + 1);
        return 0;
}

/* The entry of an event, new if need be; NULL without memory for it. */
static struct group_counts_entry *entry_of(struct group_counts *g, uint64_t event, uint32_t tid)
{
        uint32_t number = g->n_slots ? g->slots[slot_of(g, event, tid)] : 0;

        for (; number != 0; number = g->entries[number - 1].next_of_hash)
                if (g->entries[number - 1].event == event && g->entries[number - 1].tid == tid)
                        return &g->entries[number - 1];
        if (g->first_free != 0) {
                number = g->first_free;
                g->first_free = g->entries[number - 1].next_of_thread;
        } else {
                if (g->n_entries >= UINT32_MAX / 2 || (g->n_entries >= g->n_slots / 2 && grow(g) < 0) ||
                    array_reserve(&g->entries, &g->capacity, g->n_entries + 1, sizeof(*g->entries)) < 0)
                        return NULL;
                number = (uint32_t)++g->n_entries;
        }
        g->entries[number - 1] = (struct group_counts_entry){ .event = event, .tid = tid };
        hang_in(g, number);
        return &g->entries[number - 1];
}

static void unhang(struct group_counts *g, uint32_t number)
{
        const struct group_counts_entry *entry = &g->entries[number - 1];
        uint32_t *at = &g->slots[slot_of(g, entry->event, entry->tid)];

        while (*at != number)
                at = &g->entries[*at - 1].next_of_hash;
        *at = entry->next_of_hash;
}

/* Forgets a thread that has ended: its ID may go to another thread, whose counters begin with 0. */
static void forget(struct group_counts *g, uint32_t tid)
{
        uint32_t *at = g->n_slots && tid ? &g->threads[slot_of(g, 0, tid)] : NULL;

        while (at && *at != 0) {
                uint32_t number = *at;
                struct group_counts_entry *entry = &g->entries[number - 1];

                if (entry->tid != tid) { /* of the same hash */
                        at = &entry->next_of_thread;
                        continue;
                }
                *at = entry->next_of_thread;
                unhang(g, number);
                *entry = (struct group_counts_entry){ .next_of_thread = g->first_free };
                g->first_free = number;
        }
}

/* ---- differences --------------------------------------------------------------------------------------- */

static uint64_t advance(uint64_t *before, uint64_t now)
{
        uint64_t more = now > *before ? now - *before : 0;

        *before = now;
        return more;
}

/* How long the group was wanted, and how long it had its counters, since the sample before. */
struct group_times {
        uint64_t enabled_ns, running_ns;
};

static uint64_t scale(struct group_counts *g, uint64_t value, const struct group_times *times)
{
        wide scaled;

        if (!g->scales || times->running_ns == 0 ||
            times->running_ns + times->enabled_ns / SLACK_SHARE >= times->enabled_ns)
                return value;
        g->shared = true;
        scaled = (wide)value * times->enabled_ns / times->running_ns;
        return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

/*
 * Reads the values as read_format lays them out; perf_record has checked that there are as many as stated.
 */
static int take_group(struct group_counts *g, const struct event_set *events, const struct perf_record *rec)
{
        struct byte_reader r = byte_reader_of(rec->sample.counts, rec->sample.counts_bytes);
        uint64_t n_members = bytes_u64(&r), enabled_ns = 0, running_ns = 0;
        uint32_t tid = g->inherited ? rec->tid : 0;
        struct group_counts_entry *leader = entry_of(g, rec->event, tid);
        size_t leader_at;
        struct group_times times;

        if (!leader)
                return -ENOMEM;
        if (g->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
                enabled_ns = bytes_u64(&r);
        if (g->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
                running_ns = bytes_u64(&r);
        leader_at = (size_t)(leader - g->entries); /* they move as others are added */
        times.enabled_ns = advance(&leader->enabled_ns, enabled_ns);
        times.running_ns = advance(&leader->running_ns, running_ns);
        for (uint64_t i = 0; i < n_members; i++) {
                uint64_t value = bytes_u64(&r), id = bytes_u64(&r), weight;
                struct group_counts_entry *entry;
                int spec;

                if (g->read_format & PERF_FORMAT_LOST)
                        (void)bytes_u64(&r);
                if (r.short_read)
                        continue;
                if (id == rec->event) { /* not the sample's period, which is of another time span */
                        g->leader_weight = scale(g, advance(&g->entries[leader_at].value, value), &times);
                        continue;
                }
                spec = event_set_find_spec(events, id);
                entry = spec < 0 ? NULL : entry_of(g, id, tid);
                if (spec >= 0 && !entry)
                        return -ENOMEM;
                weight = entry ? scale(g, advance(&entry->value, value), &times) : 0;
                if (weight > 0 && g->n_counts < EVENT_REQUEST_SPECS_MAX)
                        g->counts[g->n_counts++] = (struct group_count){ .spec = (uint32_t)spec,
                                                                         .weight = weight };
        }
        return 0;
}

int group_counts_take(struct group_counts *g, const struct event_set *events, const struct perf_record *rec)
{
        g->n_counts = 0;
        g->leader_weight = 0;
        if (g->read_format == 0)
                return 0;
        if (rec->kind == PERF_RECORD_KIND_EXIT && g->inherited)
                forget(g, rec->tid);
        if (rec->kind != PERF_RECORD_KIND_SAMPLE || !rec->sample.counts)
                return 0;
        return take_group(g, events, rec);
}
