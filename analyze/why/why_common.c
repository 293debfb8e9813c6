/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_common.h"

#include "analyze/stats/cluster_ratio.h"
#include "analyze/trace/zone_words.h"
#include "analyze/why/why_judge.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define P_COMMON 0.001
/*
 * Nearly all slow instances have a thing, and at most half of the others; or most slow ones have it, and
 * few of the others.
 */
#define NEARLY_ALL 0.9
#define OTHERS_MAX 0.5
#define MOST       0.5
#define FEW        0.1
/*
 * The machine disturbs in bursts, and a thread stays on its CPU: consecutive instances are slow together,
 * on one CPU, so the limits for times and CPUs are stricter.
 */
#define NEARLY_ALL_AT_A_TIME 0.95
#define OTHERS_AT_A_TIME_MAX 0.25

void why_common_init(struct why_common *c, uint64_t start_ns, uint64_t end_ns)
{
        c->start_ns = start_ns;
        c->end_ns = end_ns > start_ns ? end_ns : start_ns + 1;
        intern_init(&c->keys, 0, WHY_COMMON_KEYS_MAX);
}

void why_common_deinit(struct why_common *c)
{
        intern_deinit(&c->keys);
        free(c->counts);
        byte_buffer_deinit(&c->key);
        *c = (struct why_common){ .counts = NULL };
}

/* ------------------------------------------------------------------ counting */

/* The key is in c->key: the kind, then an id, a value, or a text with a hash if it is cut. */
static int count_key(struct why_common *c, enum why_group group)
{
        uint32_t id;
        int r;

        if (c->key.failed)
                return -ENOMEM;
        r = intern_add(&c->keys, c->key.data, c->key.used_bytes, &id);
        if (r == -EOVERFLOW) {
                c->n_left_out++;
                return 0;
        }
        if (r < 0)
                return r;
        if (r == 1) {
                r = array_reserve(&c->counts, &c->counts_capacity, id, sizeof(*c->counts));
                if (r < 0)
                        return r;
                c->counts[id - 1] = (struct why_common_count){ .n = { 0, 0 } };
        }
        c->counts[id - 1].n[group]++;
        return 0;
}

static int count_bytes(struct why_common *c, enum why_group group, enum why_common_kind kind,
                       const void *bytes, size_t n_bytes)
{
        byte_buffer_clear(&c->key);
        byte_buffer_add_u8(&c->key, (uint8_t)kind);
        byte_buffer_add(&c->key, bytes, n_bytes);
        return count_key(c, group);
}

static int count_text(struct why_common *c, enum why_group group, const struct byte_buffer *text)
{
        size_t n_bytes = text->used_bytes < WHY_COMMON_TEXT_MAX ? text->used_bytes : WHY_COMMON_TEXT_MAX;

        byte_buffer_clear(&c->key);
        byte_buffer_add_u8(&c->key, WHY_COMMON_TEXT);
        byte_buffer_add(&c->key, text->data, n_bytes);
        if (n_bytes < text->used_bytes) {
                XXH128_canonical_t hash;

                XXH128_canonicalFromHash(&hash, XXH3_128bits(text->data, text->used_bytes));
                byte_buffer_add(&c->key, hash.digest, sizeof(hash.digest));
        }
        return count_key(c, group);
}

static uint32_t bits_of(uint64_t value)
{
        return value != 0 ? 64 - (uint32_t)__builtin_clzll(value) : 0;
}

static int count_words(struct why_common *c, enum why_group group, const struct zone_words *words)
{
        int r = 0;

        if (words->text.used_bytes != 0)
                r = count_text(c, group, &words->text);
        if (r < 0 || !words->has_value)
                return r;
        if (words->value > 0)
                c->bits[bits_of((uint64_t)words->value)].n[group]++;
        return count_bytes(c, group, WHY_COMMON_VALUE, &words->value, sizeof(words->value));
}

static void count_time(struct why_common *c, enum why_group group, uint64_t begin_ns)
{
        double at = begin_ns > c->start_ns ? (double)(begin_ns - c->start_ns) : 0;
        double share = at / (double)(c->end_ns - c->start_ns);
        size_t i = share < 1 ? (size_t)(share * WHY_COMMON_SLICES) : WHY_COMMON_SLICES - 1;
        struct why_common_slice *slice = &c->slices[i < WHY_COMMON_SLICES ? i : WHY_COMMON_SLICES - 1];

        slice->n[group]++;
        if (group != WHY_SLOW)
                return;
        if (slice->n[WHY_SLOW] == 1 || begin_ns < slice->first_ns)
                slice->first_ns = begin_ns;
        if (begin_ns > slice->last_ns)
                slice->last_ns = begin_ns;
}

static int count_device(struct why_common *c, enum why_group group,
                        const struct why_common_instance *instance)
{
        const uint32_t lane[] = { instance->device, instance->lane };
        int r = count_bytes(c, group, WHY_COMMON_DEVICE, &instance->device, sizeof(instance->device));

        return r == 0 ? count_bytes(c, group, WHY_COMMON_LANE, lane, sizeof(lane)) : r;
}

int why_common_add(struct why_common *c, enum why_group group, const struct why_common_instance *instance)
{
        int r = instance->words ? count_words(c, group, instance->words) : 0;

        c->n[group]++;
        count_time(c, group, instance->begin_ns);
        if (r == 0)
                r = count_bytes(c, group, WHY_COMMON_THREAD, &instance->thread, sizeof(instance->thread));
        if (r == 0)
                r = count_bytes(c, group, WHY_COMMON_PROCESS, &instance->process, sizeof(instance->process));
        if (r == 0 && instance->parent != 0)
                r = count_bytes(c, group, WHY_COMMON_PARENT, &instance->parent, sizeof(instance->parent));
        if (r == 0 && instance->device != 0)
                r = count_device(c, group, instance);
        if (r == 0 && instance->cpu != WHY_COMMON_NO_CPU)
                r = count_bytes(c, group, WHY_COMMON_CPU, &instance->cpu, sizeof(instance->cpu));
        return r;
}

/* ------------------------------------------------------------------ judging */

/* Only frequent keys are tested, so the number of tests does not depend on which instances are slow. */
static bool is_frequent(const struct why_common *c, const struct why_common_count *count)
{
        return (double)(count->n[WHY_SLOW] + count->n[WHY_TYPICAL]) >= MOST * (double)c->n[WHY_SLOW];
}

static uint64_t count_tests(const struct why_common *c)
{
        /* The windows of time from either end, and the values from each power of two on. */
        uint64_t n = 2 * WHY_COMMON_SLICES + WHY_COMMON_BITS;

        for (uint32_t i = 0; i < c->keys.n_items; i++)
                n += is_frequent(c, &c->counts[i]);
        return n;
}

static bool is_of_machine(enum why_common_kind kind)
{
        return kind == WHY_COMMON_CPU || kind == WHY_COMMON_FIRST || kind == WHY_COMMON_LAST;
}

static bool is_different(const struct why_common_row *row)
{
        if (is_of_machine(row->kind))
                return row->slow_with >= NEARLY_ALL_AT_A_TIME && row->typical_with <= OTHERS_AT_A_TIME_MAX;
        return (row->slow_with >= NEARLY_ALL && row->typical_with <= OTHERS_MAX) ||
               (row->slow_with >= MOST && row->typical_with <= FEW);
}

/* Whether an earlier row has the same counts, as a thread and its process have: only the first is shown. */
static bool is_put_already(const struct why_common *c, const struct why_common_row *row)
{
        for (size_t i = 0; i < c->n_rows; i++)
                if (c->rows[i].n_slow == row->n_slow && c->rows[i].n_typical == row->n_typical)
                        return true;
        return false;
}

/* Inserts a row in its place, if it is certain enough; a full list loses its last row. */
static void judge(struct why_common *c, struct why_common_row row, uint64_t n_tests)
{
        double n_slow = (double)c->n[WHY_SLOW], n_typical = (double)c->n[WHY_TYPICAL];
        size_t at;

        row.slow_with = (double)row.n_slow / n_slow;
        row.typical_with = (double)row.n_typical / n_typical;
        if (!is_different(&row) || is_put_already(c, &row))
                return;
        /*
         * If the thing had nothing to do with being slow, a slow instance would have it as often as any
         * other.
         */
        row.p = binomial_tail(row.n_slow, c->n[WHY_SLOW],
                              (double)(row.n_slow + row.n_typical) / (n_slow + n_typical)) *
                (double)n_tests;
        if (!(row.p < P_COMMON))
                return;
        for (at = c->n_rows; at > 0 && c->rows[at - 1].typical_with > row.typical_with; at--)
                if (at < WHY_COMMON_ROWS_MAX)
                        c->rows[at] = c->rows[at - 1];
        if (at == WHY_COMMON_ROWS_MAX)
                return;
        c->rows[at] = row;
        if (c->n_rows < WHY_COMMON_ROWS_MAX)
                c->n_rows++;
}

static struct why_common_row row_of_key(const struct why_common *c, uint32_t id)
{
        size_t n_bytes;
        const uint8_t *key = intern_get(&c->keys, id, &n_bytes);
        struct why_common_row row = { .kind = (enum why_common_kind)key[0],
                                      .n_slow = c->counts[id - 1].n[WHY_SLOW],
                                      .n_typical = c->counts[id - 1].n[WHY_TYPICAL] };

        if (row.kind == WHY_COMMON_TEXT) {
                row.is_cut = n_bytes - 1 > WHY_COMMON_TEXT_MAX;
                row.label = (struct text_view){ .bytes = (const char *)key + 1,
                                                .n_bytes = row.is_cut ? WHY_COMMON_TEXT_MAX : n_bytes - 1 };
        } else if (row.kind == WHY_COMMON_VALUE) {
                memcpy(&row.value, key + 1, sizeof(row.value));
        } else {
                memcpy(&row.id, key + 1, sizeof(row.id));
        }
        if (row.kind == WHY_COMMON_LANE) {
                uint32_t lane;

                memcpy(&lane, key + 1 + sizeof(row.id), sizeof(lane));
                row.value = lane;
        }
        return row;
}

static void judge_keys(struct why_common *c, enum why_common_kind kind, uint64_t n_tests)
{
        for (uint32_t id = 1; id <= c->keys.n_items; id++) {
                const uint8_t *key = intern_get(&c->keys, id, NULL);

                if (key[0] == (uint8_t)kind && is_frequent(c, &c->counts[id - 1]))
                        judge(c, row_of_key(c, id), n_tests);
        }
}

/* Judges the highest power of two that nearly all slow instances reach. */
static void judge_values(struct why_common *c, uint64_t n_tests)
{
        struct why_common_row row = { .kind = WHY_COMMON_VALUE_FROM };

        for (uint32_t i = WHY_COMMON_BITS - 1; i > 0; i--) {
                row.n_slow += c->bits[i].n[WHY_SLOW];
                row.n_typical += c->bits[i].n[WHY_TYPICAL];
                if ((double)row.n_slow < NEARLY_ALL * (double)c->n[WHY_SLOW])
                        continue;
                row.value = (int64_t)(UINT64_C(1) << (i - 1));
                judge(c, row, n_tests);
                return;
        }
}

/* Judges the shortest time from the beginning, or before the end, that contains nearly all slow instances. */
static void judge_window(struct why_common *c, enum why_common_kind kind, uint64_t n_tests)
{
        struct why_common_row row = { .kind = kind };

        for (size_t k = 0; k < WHY_COMMON_SLICES; k++) {
                const struct why_common_slice *slice =
                        &c->slices[kind == WHY_COMMON_FIRST ? k : WHY_COMMON_SLICES - 1 - k];

                row.n_slow += slice->n[WHY_SLOW];
                row.n_typical += slice->n[WHY_TYPICAL];
                if ((double)row.n_slow < NEARLY_ALL_AT_A_TIME * (double)c->n[WHY_SLOW])
                        continue;
                if (kind == WHY_COMMON_FIRST)
                        row.value = (int64_t)(slice->last_ns - c->start_ns);
                else
                        row.value = (int64_t)(c->end_ns - slice->first_ns);
                judge(c, row, n_tests);
                return;
        }
}

void why_common_find(struct why_common *c)
{
        uint64_t n_tests;

        c->n_rows = 0;
        if (c->n[WHY_SLOW] < WHY_SLOW_MIN || c->n[WHY_TYPICAL] < WHY_SLOW_MIN)
                return;
        n_tests = count_tests(c);
        judge_keys(c, WHY_COMMON_TEXT, n_tests);
        judge_keys(c, WHY_COMMON_VALUE, n_tests);
        judge_values(c, n_tests);
        judge_keys(c, WHY_COMMON_THREAD, n_tests);
        judge_keys(c, WHY_COMMON_PROCESS, n_tests);
        judge_keys(c, WHY_COMMON_PARENT, n_tests);
        judge_keys(c, WHY_COMMON_DEVICE, n_tests);
        judge_keys(c, WHY_COMMON_LANE, n_tests);
        judge_keys(c, WHY_COMMON_CPU, n_tests);
        judge_window(c, WHY_COMMON_FIRST, n_tests);
        judge_window(c, WHY_COMMON_LAST, n_tests);
}
