/* SPDX-License-Identifier: MIT */
#include "analyze/zones/zone_groups.h"

#include "analyze/trace/meta_value.h"
#include "analyze/trace/zone_pattern.h"
#include "analyze/trace/zone_words.h"
#include "analyze/walk/zone_stats.h"
#include "base/array.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* The first byte of a key; then a text, or an id, and for a truncated text the hash of all of it. */
enum { KEY_NOTHING, KEY_WORDS, KEY_CUT, KEY_ID };

#define HASH_BYTES sizeof(XXH128_canonical_t)

void zone_groups_init(struct zone_groups *g, enum zone_group_key by,
                      const struct trace_dictionary *dictionary)
{
        *g = (struct zone_groups){ .by = by, .dictionary = dictionary };
        intern_init(&g->keys, 0, ZONE_GROUPS_MAX);
}

void zone_groups_deinit(struct zone_groups *g)
{
        for (size_t i = 0; i < g->n_histograms; i++)
                histogram_deinit(&g->histograms[i]);
        histogram_deinit(&g->others_ns);
        intern_deinit(&g->keys);
        byte_buffer_deinit(&g->key);
        free(g->groups);
        free(g->histograms);
        *g = (struct zone_groups){ .groups = NULL };
}

/* ------------------------------------------------------------------ keys */

static void set_words(struct byte_buffer *key, const void *bytes, size_t n_bytes)
{
        bool is_cut = n_bytes > ZONE_GROUPS_LABEL_MAX;

        byte_buffer_add_u8(key, is_cut ? KEY_CUT : KEY_WORDS);
        if (is_cut) {
                XXH128_canonical_t hash;

                XXH128_canonicalFromHash(&hash, XXH3_128bits(bytes, n_bytes));
                byte_buffer_add(key, hash.digest, sizeof(hash.digest));
                n_bytes = ZONE_GROUPS_LABEL_MAX;
        }
        byte_buffer_add(key, bytes, n_bytes);
}

static void set_id(struct byte_buffer *key, uint32_t id)
{
        byte_buffer_add_u8(key, id != 0 ? KEY_ID : KEY_NOTHING);
        if (id != 0)
                byte_buffer_add(key, &id, sizeof(id));
}

static void set_value(struct byte_buffer *key, int64_t value)
{
        char text[24];

        (void)snprintf(text, sizeof(text), "%" PRIi64, value);
        set_words(key, text, strlen(text));
}

static void set_name(struct zone_groups *g, uint32_t location, const struct zone_words *words)
{
        struct text_view place;

        if (words && words->name.used_bytes != 0) {
                set_words(&g->key, words->name.data, words->name.used_bytes);
                return;
        }
        place = zone_pattern_name_of(g->dictionary, location);
        if (place.n_bytes != 0)
                set_words(&g->key, place.bytes, place.n_bytes);
        else
                set_id(&g->key, 0);
}

static uint32_t process_of(const struct zone_groups *g, uint32_t thread)
{
        return ((const struct trace_thread *)trace_dictionary_row(g->dictionary, TRACE_TABLE_THREADS, thread))
                ->process;
}

static uint32_t recording_of(const struct zone_groups *g, uint32_t thread)
{
        const struct trace_process *process = trace_dictionary_row(g->dictionary, TRACE_TABLE_PROCESSES,
                                                                   process_of(g, thread));

        return process->recording;
}

static void set_host(struct zone_groups *g, uint32_t thread)
{
        uint32_t recording = recording_of(g, thread);
        struct text_view host = meta_value_find(g->dictionary, "hostname");

        if (recording != 0) {
                const struct trace_recording *row = trace_dictionary_row(g->dictionary,
                                                                         TRACE_TABLE_RECORDINGS, recording);

                host = trace_dictionary_text(g->dictionary, row->hostname);
        }
        if (host.n_bytes != 0)
                set_words(&g->key, host.bytes, host.n_bytes);
        else
                set_id(&g->key, 0);
}

static void set_key(struct zone_groups *g, uint32_t thread, uint32_t location, const struct zone_words *words,
                    uint32_t parent)
{
        byte_buffer_clear(&g->key);
        switch (g->by) {
        case ZONE_GROUP_TEXT:
                if (words && words->text.used_bytes != 0)
                        set_words(&g->key, words->text.data, words->text.used_bytes);
                else
                        set_id(&g->key, 0);
                break;
        case ZONE_GROUP_VALUE:
                if (words && words->has_value)
                        set_value(&g->key, words->value);
                else
                        set_id(&g->key, 0);
                break;
        case ZONE_GROUP_THREAD:
                set_id(&g->key, thread);
                break;
        case ZONE_GROUP_PARENT:
                set_id(&g->key, parent);
                break;
        case ZONE_GROUP_PROCESS:
                set_id(&g->key, process_of(g, thread));
                break;
        case ZONE_GROUP_RECORDING:
                set_id(&g->key, recording_of(g, thread));
                break;
        case ZONE_GROUP_HOST:
                set_host(g, thread);
                break;
        case ZONE_GROUP_NAME:
        case ZONE_GROUP_NONE:
        case ZONE_GROUP_KEYS:
                set_name(g, location, words);
                break;
        }
}

struct zone_group_label zone_groups_label(const struct zone_groups *g, uint32_t group)
{
        struct zone_group_label label = { .is_known = false };
        size_t n_bytes;
        const uint8_t *key = intern_get(&g->keys, group + 1, &n_bytes);
        size_t at = key[0] == KEY_CUT ? 1 + HASH_BYTES : 1;

        label.is_known = key[0] != KEY_NOTHING;
        if (key[0] == KEY_ID) {
                memcpy(&label.id, key + 1, sizeof(label.id));
                if (g->by == ZONE_GROUP_PARENT)
                        label.label = zone_pattern_name_of(g->dictionary, label.id);
                if (g->by == ZONE_GROUP_RECORDING)
                        label.label = trace_dictionary_text(
                                g->dictionary, ((const struct trace_recording *)trace_dictionary_row(
                                                        g->dictionary, TRACE_TABLE_RECORDINGS, label.id))
                                                       ->label);
                return label;
        }
        label.is_cut = key[0] == KEY_CUT;
        label.label = (struct text_view){ .bytes = (const char *)key + at, .n_bytes = n_bytes - at };
        return label;
}

/* ------------------------------------------------------------------ sums */

static void add_times(struct zone_group *group, const struct zone_instance *zone)
{
        uint64_t duration_ns = zone_instance_duration_ns(zone);

        if (!zone->is_inside)
                group->total_ns += duration_ns;
        if (!zone->closed) {
                group->n_unclosed++;
                return;
        }
        group->n_closed++;
        group->sum_ns += duration_ns;
        if (duration_ns > group->max_ns)
                group->max_ns = duration_ns;
}

/*
 * A histogram is made from the second zone on: in a program whose texts never repeat, most texts need none.
 */
static int add_duration(struct zone_groups *g, struct zone_group *group, uint64_t duration_ns)
{
        int r;

        if (group->n_closed < 2)
                return 0;
        if (group->n_closed == 2 && g->n_histograms < ZONE_GROUPS_HISTOGRAMS_MAX) {
                r = array_reserve(&g->histograms, &g->histograms_capacity, g->n_histograms + 1,
                                  sizeof(*g->histograms));
                if (r < 0)
                        return r;
                g->histograms[g->n_histograms++] = (struct histogram){ .n_values = 0 };
                group->histogram = (uint32_t)g->n_histograms;
                r = histogram_add(&g->histograms[group->histogram - 1], group->sum_ns - duration_ns);
                if (r < 0)
                        return r;
        }
        return group->histogram != 0 ? histogram_add(&g->histograms[group->histogram - 1], duration_ns) : 0;
}

static int add_to_others(struct zone_groups *g, const struct zone_instance *zone)
{
        add_times(&g->others, zone);
        return zone->closed ? histogram_add(&g->others_ns, zone_instance_duration_ns(zone)) : 0;
}

int zone_groups_add(struct zone_groups *g, uint32_t thread, const struct zone_instance *zone,
                    const struct zone_words *words, uint32_t parent)
{
        struct zone_group *group;
        uint32_t id;
        int r;

        set_key(g, thread, zone->location, words, parent);
        if (g->key.failed)
                return -ENOMEM;
        r = intern_add(&g->keys, g->key.data, g->key.used_bytes, &id);
        if (r == -EOVERFLOW)
                return add_to_others(g, zone);
        if (r == 1) {
                r = array_reserve(&g->groups, &g->capacity, id, sizeof(*g->groups));
                if (r == 0)
                        g->groups[id - 1] = (struct zone_group){ .n_closed = 0 };
        }
        if (r < 0)
                return r;
        group = &g->groups[id - 1];
        add_times(group, zone);
        return zone->closed ? add_duration(g, group, zone_instance_duration_ns(zone)) : 0;
}

/* ------------------------------------------------------------------ shown groups */

const struct histogram *zone_groups_histogram(const struct zone_groups *g, const struct zone_group *group)
{
        if (group == &g->others)
                return &g->others_ns;
        return group->histogram != 0 ? &g->histograms[group->histogram - 1] : NULL;
}

bool zone_groups_quantile(const struct zone_groups *g, const struct zone_group *group, double share,
                          uint64_t *ret_ns)
{
        const struct histogram *h = zone_groups_histogram(g, group);

        if (group->n_closed == 0 || (!h && group->n_closed > 1))
                return false;
        *ret_ns = h ? histogram_quantile(h, share) : group->max_ns;
        return true;
}
