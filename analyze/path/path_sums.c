/* SPDX-License-Identifier: MIT */
#include "analyze/path/path_sums.h"

#include "analyze/devices/device_works.h"
#include "analyze/path/past.h"
#include "analyze/path/path_spins.h"
#include "analyze/walk/loaded_trace.h"
#include "base/array.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int path_sums_init(struct path_sums *s, const struct past *past, struct path_names *names,
                   struct path_walk *walk)
{
        int r;

        *s = (struct path_sums){ .past = past, .names = names, .walk = walk };
        intern_init(&s->keys, sizeof(struct path_row_key), PATH_SUMS_ROWS_MAX);
        intern_init(&s->detail_keys, sizeof(struct path_detail_key), PATH_SUMS_DETAILS_MAX);
        r = throttled_times_read(&s->throttled, names->trace->dictionary);
        s->pools = calloc(2 * (size_t)names->group_keys.n_items + 2, sizeof(*s->pools));
        s->unowned_ns = calloc(s->throttled.n_spans + 1, sizeof(*s->unowned_ns));
        return r == 0 && (!s->pools || !s->unowned_ns) ? -ENOMEM : r;
}

void path_sums_deinit(struct path_sums *s)
{
        throttled_times_deinit(&s->throttled);
        intern_deinit(&s->keys);
        intern_deinit(&s->detail_keys);
        free(s->rows);
        free(s->details);
        free(s->largest);
        free(s->pools);
        free(s->unowned_ns);
        free(s->chains_ns);
        *s = (struct path_sums){ .rows = NULL };
}

/* The time of a segment; in a replay, its new time. */
static uint64_t length_of(const struct path_segment *segment)
{
        uint64_t ns = segment->end_ns - segment->begin_ns;

        return segment->saved_ns < ns ? ns - segment->saved_ns : 0;
}

/* ------------------------------------------------------------------ rows and their details */

static int add_detail(struct path_sums *s, uint32_t row, enum path_detail_kind kind, uint32_t a, uint32_t b,
                      double amount)
{
        const struct path_detail_key key = { .row = row, .kind = kind, .a = a, .b = b };
        uint32_t id;
        int r = intern_add_row(&s->detail_keys, &key, &s->details, &s->details_capacity, sizeof(*s->details),
                               &id);

        if (r >= 0)
                s->details[id - 1] += amount;
        else if (r == -EOVERFLOW)
                s->n_left_out++;
        return r < 0 && r != -EOVERFLOW ? r : 0;
}

/* Adds to the instance's part of a row. */
static int add_part(struct path_sums *s, uint32_t row, double amount)
{
        struct path_draft *draft = s->draft;
        uint32_t slot = s->rows[row - 1].slot;

        if (slot >= draft->n || draft->parts[slot].row != row) {
                if (array_reserve(&draft->parts, &draft->capacity, draft->n + 1, sizeof(*draft->parts)) < 0)
                        return -ENOMEM;
                slot = s->rows[row - 1].slot = (uint32_t)draft->n++;
                draft->parts[slot] = (struct path_part){ .row = row };
        }
        draft->parts[slot].amount += amount;
        return 0;
}

/*
 * Finds the row of a key, for a segment or a part of one.
 * @ret_row:  0 = there is no room for it
 */
static int find_row(struct path_sums *s, const struct path_segment *segment, const struct path_row_key *key,
                    uint32_t *ret_row)
{
        int r = intern_add_row(&s->keys, key, &s->rows, &s->rows_capacity, sizeof(*s->rows), ret_row);
        struct path_row *row;

        if (r == -EOVERFLOW) {
                s->n_left_out++;
                *ret_row = 0;
                return 0;
        }
        if (r < 0)
                return r;
        row = &s->rows[*ret_row - 1];
        row->thread = segment->thread;
        row->process = past_of(s->past, segment->thread)->process;
        row->n_segments++;
        return 0;
}

/* Adds time that is known to the ns. */
static int add_time(struct path_sums *s, const struct path_segment *segment, const struct path_row_key *key,
                    double ns, uint32_t *ret_row)
{
        int r = find_row(s, segment, key, ret_row);

        if (r < 0 || *ret_row == 0)
                return r;
        s->rows[*ret_row - 1].ns += ns;
        r = add_part(s, *ret_row, ns);
        return r == 0 ? add_detail(s, *ret_row, PATH_DETAIL_CHAIN, segment->chain, 0, ns) : r;
}

static struct path_row_key key_of(const struct path_sums *s, const struct path_segment *segment,
                                  enum path_row_kind kind)
{
        return (struct path_row_key){ .kind = kind,
                                      .group = path_names_group(s->names, segment->thread),
                                      .is_first = segment->thread == s->draft->first };
}

/* ------------------------------------------------------------------ what others did meanwhile */

static int add_meanwhile_of(struct path_sums *s, uint32_t row, uint32_t thread, uint64_t begin_ns,
                            uint64_t end_ns)
{
        const struct past_sample *samples;
        size_t n = past_samples(past_of(s->past, thread), begin_ns, end_ns, &samples);
        uint32_t group = path_names_group(s->names, thread), place;
        int r = 0;

        for (size_t i = 0; i < n && r == 0; i++) {
                r = path_names_place(s->names, samples[i].stack, &place);
                if (r == 0)
                        r = add_detail(s, row, PATH_DETAIL_MEANWHILE, group,
                                       path_names_get(s->names, place)->own, (double)samples[i].weight);
        }
        return r;
}

/* Whether it is to be looked what others did in a part of the row's time. */
static bool may_look(struct path_sums *s, uint32_t row, uint64_t begin_ns, uint64_t end_ns)
{
        struct path_row *r = row != 0 ? &s->rows[row - 1] : NULL;

        if (!r || r->n_looked >= PATH_SUMS_MEANWHILE_MAX || s->n_looks >= PATH_SUMS_LOOKS_MAX)
                return false;
        r->n_looked++;
        r->looked_ns += end_ns - begin_ns;
        return true;
}

/* Adds what the other threads of the process ran in a part of the segment. */
static int add_meanwhile(struct path_sums *s, uint32_t row, const struct path_segment *segment,
                         uint64_t begin_ns, uint64_t end_ns)
{
        uint32_t process = past_of(s->past, segment->thread)->process;
        int r = 0;

        if (!may_look(s, row, begin_ns, end_ns))
                return 0;
        s->n_looks += s->past->n_threads;
        for (uint32_t id = 1; id <= s->past->n_threads && r == 0; id++)
                if (id != segment->thread && past_of(s->past, id)->process == process)
                        r = add_meanwhile_of(s, row, id, begin_ns, end_ns);
        return r;
}

/* ------------------------------------------------------------------ running */

static double weight_of(const struct path_sums *s, const struct past_sample *sample)
{
        double saved = s->is_replayed ? path_names_saved(s->names, sample->stack) : 0;

        return (double)sample->weight * (1 - saved);
}

/* @since_ns: of the sample before, or the beginning of the segment */
static int add_sample(struct path_sums *s, const struct path_segment *segment, uint64_t since_ns,
                      const struct past_sample *sample)
{
        struct path_row_key key = key_of(s, segment, PATH_ROW_RUN);
        const struct path_place *place;
        double weight = weight_of(s, sample);
        uint32_t id, row;
        int r = path_names_place(s->names, sample->stack, &id);

        if (r < 0)
                return r;
        place = path_names_get(s->names, id);
        key.own = place->own;
        key.kind = path_names_spins(s->names, sample->stack, place) ? PATH_ROW_SPIN : PATH_ROW_RUN;
        if (s->spins)
                path_spins_add(s->spins, sample->stack, (double)sample->weight);
        r = find_row(s, segment, &key, &row);
        if (r < 0 || row == 0)
                return r;
        s->rows[row - 1].weight += weight;
        s->rows[row - 1].n_samples++;
        r = add_part(s, row, weight);
        if (r == 0)
                r = add_detail(s, row, PATH_DETAIL_CHAIN, segment->chain, 0, weight);
        if (r == 0 && sample->path != 0) {
                const struct trace_zone_path *path = trace_dictionary_row(
                        s->names->trace->dictionary, TRACE_TABLE_ZONE_PATHS, sample->path);

                r = add_detail(s, row, PATH_DETAIL_ZONE, path->location, 0, weight);
        }
        if (r == 0 && key.kind == PATH_ROW_SPIN)
                r = add_meanwhile(s, row, segment, since_ns, sample->time_ns);
        return r;
}

static int add_run(struct path_sums *s, const struct path_segment *segment)
{
        const struct path_row_key key = key_of(s, segment, PATH_ROW_RUN);
        struct path_pool *pool = &s->pools[2 * (key.group - 1) + key.is_first];
        const struct past_sample *samples;
        size_t n = past_samples(past_of(s->past, segment->on), segment->begin_ns, segment->end_ns, &samples);
        int r = 0;

        pool->ns += (double)length_of(segment);
        pool->thread = segment->thread;
        for (size_t i = 0; i < n && r == 0; i++) {
                pool->weight += weight_of(s, &samples[i]);
                r = add_sample(s, segment, i != 0 ? samples[i - 1].time_ns : segment->begin_ns, &samples[i]);
        }
        return r;
}

/* ------------------------------------------------------------------ waiting */

static int add_wait(struct path_sums *s, const struct path_segment *segment)
{
        struct path_row_key key = key_of(s, segment,
                                         segment->kind == PATH_LOCK ? PATH_ROW_LOCK : PATH_ROW_WAIT);
        const struct past_wait *wait = segment->wait;
        const struct path_place *place;
        uint32_t id, row;
        int r = path_names_place(s->names, wait->stack, &id);

        if (r < 0)
                return r;
        place = path_names_get(s->names, id);
        key.own = place->own;
        key.call = place->call;
        if (key.kind == PATH_ROW_WAIT && wait->end == WAIT_END_UNKNOWN && wait->woken_ns == UINT64_MAX)
                key.kind = PATH_ROW_OPEN;
        key.end = wait->end;
        key.by = wait->end == WAIT_END_PROGRAM ? wait->name : 0;
        r = add_time(s, segment, &key, (double)length_of(segment), &row);
        if (r == 0 && wait->end == WAIT_END_TIMER)
                r = add_meanwhile(s, row, segment, segment->begin_ns, segment->end_ns);
        return r;
}

/* A device had the time.  The thread is the one that waited for it. */
static int add_device(struct path_sums *s, const struct path_segment *segment)
{
        struct path_row_key key = key_of(s, segment,
                                         segment->kind == PATH_DEVICE ? PATH_ROW_DEVICE : PATH_ROW_LAUNCH);
        double ns = (double)length_of(segment);
        uint32_t row;
        int r;

        key.is_first = 0;
        key.work = segment->work->name;
        r = add_time(s, segment, &key, ns, &row);
        return r == 0 && row != 0 ? add_detail(s, row, PATH_DETAIL_LANE, segment->work->lane, 0, ns) : r;
}

/* ------------------------------------------------------------------ the machine */

static int add_owner(struct path_sums *s, const struct path_segment *segment, uint32_t owner,
                     uint64_t begin_ns, uint64_t end_ns)
{
        bool is_own = past_of(s->past, owner)->process == past_of(s->past, segment->thread)->process;
        struct path_row_key key = key_of(s, segment, is_own ? PATH_ROW_OWN : PATH_ROW_PROGRAM);
        uint32_t row;
        int r;

        if (!is_own)
                s->draft->others_ns += end_ns - begin_ns;
        r = add_time(s, segment, &key, (double)(end_ns - begin_ns), &row);
        if (r == 0 && row != 0)
                r = add_detail(s, row, PATH_DETAIL_OWNER, path_names_group(s->names, owner), 0,
                               (double)(end_ns - begin_ns));
        if (r < 0 || !may_look(s, row, begin_ns, end_ns))
                return r;
        s->n_looks++;
        return add_meanwhile_of(s, row, owner, begin_ns, end_ns);
}

/* No recorded thread had the CPU: the quota, or other programs. */
static int add_unowned(struct path_sums *s, const struct path_segment *segment, uint64_t ns)
{
        struct path_row_key key = key_of(s, segment, PATH_ROW_OTHERS);
        uint32_t row;

        key.span = throttled_times_find(&s->throttled, segment->begin_ns + length_of(segment) / 2);
        if (key.span != 0)
                s->unowned_ns[key.span - 1] += (double)ns;
        else
                s->draft->others_ns += ns;
        return add_time(s, segment, &key, (double)ns, &row);
}

/* The thread could run and did not: finds out who had its CPU. */
static int add_machine(struct path_sums *s, const struct path_segment *segment)
{
        const struct past_wait *wait = segment->wait;
        uint16_t cpu = wait->preempted || wait->in_cpu == PAST_NO_CPU ? wait->out_cpu : wait->in_cpu;
        struct past_owners owners = past_owners_of(s->past, cpu, segment->begin_ns, segment->end_ns);
        uint64_t rest_ns = segment->end_ns - segment->begin_ns, saved_ns = segment->saved_ns;
        struct past_span owner;
        uint64_t cut_ns;
        int r = 0;

        while (r == 0 && past_owners_next(&owners, &owner)) {
                if (owner.id == segment->thread)
                        continue;
                rest_ns -= owner.end_ns - owner.begin_ns;
                cut_ns = owner.end_ns - owner.begin_ns < saved_ns ? owner.end_ns - owner.begin_ns : saved_ns;
                saved_ns -= cut_ns;
                r = add_owner(s, segment, owner.id, owner.begin_ns + cut_ns, owner.end_ns);
        }
        rest_ns = rest_ns > saved_ns ? rest_ns - saved_ns : 0;
        return r == 0 && rest_ns != 0 ? add_unowned(s, segment, rest_ns) : r;
}

/* ------------------------------------------------------------------ segments and instances */

static int add_to_chain(struct path_sums *s, const struct path_segment *segment)
{
        uint32_t n = s->walk->chains.n_items + 1;

        if (n > s->n_chains &&
            array_reach(&s->chains_ns, &s->chains_capacity, &s->n_chains, n, sizeof(double)) < 0)
                return -ENOMEM;
        s->chains_ns[segment->chain] += (double)length_of(segment);
        return 0;
}

void path_sums_choose(struct path_sums *s, struct path_draft *draft)
{
        s->draft = draft;
        for (size_t i = 0; i < draft->n; i++)
                s->rows[draft->parts[i].row - 1].slot = (uint32_t)i;
}

int path_sums_add(struct path_sums *s, const struct path_segment *segment)
{
        uint64_t ns = length_of(segment);
        struct path_row_key key;
        uint32_t row = 0;
        int r;

        s->draft->ns += ns;
        if (segment->kind != PATH_MACHINE && segment->kind != PATH_LATE) {
                r = add_to_chain(s, segment);
                if (r < 0)
                        return r;
        }
        switch (segment->kind) {
        case PATH_RUN:
                return add_run(s, segment);
        case PATH_WAIT:
        case PATH_LOCK:
                return add_wait(s, segment);
        case PATH_MACHINE:
                return add_machine(s, segment);
        case PATH_LATE:
                return add_unowned(s, segment, ns);
        case PATH_DEVICE:
        case PATH_LAUNCH:
                return add_device(s, segment);
        case PATH_UNBORN:
        case PATH_CUT:
        case PATH_KINDS:
                break;
        }
        key = key_of(s, segment, segment->kind == PATH_UNBORN ? PATH_ROW_UNBORN : PATH_ROW_CUT);
        return add_time(s, segment, &key, (double)ns, &row);
}

void path_sums_close(struct path_sums *s, struct path_draft *draft)
{
        double rest_ns = (double)draft->ns - (double)draft->others_ns;

        for (size_t i = 0; i < draft->n; i++) {
                struct path_row *row = &s->rows[draft->parts[i].row - 1];

                cluster_ratio_add(&row->ratio, draft->parts[i].amount, rest_ns);
                row->n_instances++;
        }
        s->total_ns += (double)draft->ns;
        s->ww += rest_ns * rest_ns;
        s->n_instances++;
        draft->n = 0;
        draft->ns = draft->others_ns = 0;
}

/* ------------------------------------------------------------------ the end */

/* The group that was the first thread of paths for the longest time; 0 = none. */
static uint32_t find_first_group(const struct path_sums *s, bool *ret_several)
{
        uint32_t n = s->names->group_keys.n_items, best = 0, n_groups = 0;
        double *ns = calloc((size_t)n + 1, sizeof(*ns));

        for (uint32_t id = 1; id <= s->keys.n_items && ns; id++) {
                const struct path_row_key *key = path_sums_key(s, id);

                if (key->is_first)
                        ns[key->group] += s->rows[id - 1].ns;
        }
        for (uint32_t group = 1; group <= n && ns; group++) {
                ns[group] += s->pools[2 * (group - 1) + 1].ns;
                n_groups += ns[group] > 0;
                if (ns[group] > 0 && (best == 0 || ns[group] > ns[best]))
                        best = group;
        }
        free(ns);
        *ret_several = n_groups > 1;
        return best;
}

/* Adds one row to another; its instances are others. */
static void merge_row(struct path_row *to, struct path_row *from)
{
        to->ns += from->ns;
        to->weight += from->weight;
        to->n_samples += from->n_samples;
        to->n_segments += from->n_segments;
        to->n_instances += from->n_instances;
        to->looked_ns += from->looked_ns;
        to->n_looked += from->n_looked;
        to->ratio.x += from->ratio.x;
        to->ratio.xx += from->ratio.xx;
        to->ratio.xw += from->ratio.xw;
        to->ratio.n_with += from->ratio.n_with;
        if (to->process == 0)
                to->process = from->process;
        from->ns = from->weight = 0;
        from->n_samples = 0;
}

/* Takes the details of rows to those that they were merged with. */
static int merge_details(struct path_sums *s, const uint32_t *merged_with)
{
        uint32_t n = s->detail_keys.n_items;

        for (uint32_t id = 1; id <= n; id++) {
                const struct path_detail_key key = *(const struct path_detail_key *)intern_get(
                        &s->detail_keys, id, NULL);
                int r;

                if (merged_with[key.row] == 0)
                        continue;
                r = add_detail(s, merged_with[key.row], key.kind, key.a, key.b, s->details[id - 1]);
                if (r < 0)
                        return r;
                s->details[id - 1] = 0;
        }
        return 0;
}

/* A zone on the threads of a pool has one set of own rows, whatever the threads are called. */
static int merge_first_threads(struct path_sums *s)
{
        uint32_t n_rows = s->keys.n_items, group = find_first_group(s, &s->are_several);
        uint32_t *merged_with = s->are_several ? calloc((size_t)n_rows + 1, sizeof(*merged_with)) : NULL;
        int r = 0;

        if (!s->are_several)
                return 0;
        for (uint32_t id = 1; id <= n_rows && r >= 0 && merged_with; id++) {
                struct path_row_key key = *path_sums_key(s, id);

                if (!key.is_first || key.group == group)
                        continue;
                key.group = group;
                r = intern_add_row(&s->keys, &key, &s->rows, &s->rows_capacity, sizeof(*s->rows),
                                   &merged_with[id]);
                if (r < 0)
                        break;
                merge_row(&s->rows[merged_with[id] - 1], &s->rows[id - 1]);
        }
        for (uint32_t i = 0; i < s->names->group_keys.n_items; i++)
                if (i + 1 != group) {
                        s->pools[2 * (group - 1) + 1].ns += s->pools[2 * i + 1].ns;
                        s->pools[2 * (group - 1) + 1].thread = s->pools[2 * i + 1].thread;
                        s->pools[2 * (group - 1) + 1].weight += s->pools[2 * i + 1].weight;
                        s->pools[2 * i + 1] = (struct path_pool){ .ns = 0 };
                }
        if (r >= 0)
                r = merged_with ? merge_details(s, merged_with) : -ENOMEM;
        free(merged_with);
        return r == -EOVERFLOW ? 0 : r < 0 ? r : 0;
}

/* Spreads the time of a pool over its functions; without a sample, the functions are unknown. */
static int spread_runs(struct path_sums *s)
{
        uint32_t n_rows = s->keys.n_items;

        for (uint32_t id = 1; id <= n_rows; id++) {
                const struct path_row_key *key = path_sums_key(s, id);
                const struct path_pool *pool = &s->pools[2 * (key->group - 1) + key->is_first];
                struct path_row *row = &s->rows[id - 1];
                double k = pool->weight > 0 ? pool->ns / pool->weight : 0;

                if (key->kind != PATH_ROW_RUN && key->kind != PATH_ROW_SPIN)
                        continue;
                row->ns = row->weight * k;
                row->ratio.x *= k;
                row->ratio.xw *= k;
                row->ratio.xx *= k * k;
        }
        for (uint32_t i = 0; i < 2 * s->names->group_keys.n_items; i++) {
                struct path_row_key key = { .kind = PATH_ROW_RUN, .group = i / 2 + 1, .is_first = i % 2 };
                uint32_t id;
                int r;

                if (s->pools[i].weight > 0 || s->pools[i].ns == 0)
                        continue;
                r = intern_add_row(&s->keys, &key, &s->rows, &s->rows_capacity, sizeof(*s->rows), &id);
                if (r < 0 && r != -EOVERFLOW)
                        return r;
                if (r >= 0) {
                        s->rows[id - 1].ns = s->pools[i].ns;
                        s->rows[id - 1].thread = s->pools[i].thread;
                }
        }
        return 0;
}

/* Moves the throttled part of what no recorded thread had from others to rows of its own. */
static int spread_throttled(struct path_sums *s)
{
        uint32_t n_rows = s->keys.n_items;

        for (uint32_t id = 1; id <= n_rows; id++) {
                struct path_row_key key = *path_sums_key(s, id);
                struct path_row *row;
                double part;
                uint32_t to;
                int r;

                if (key.kind != PATH_ROW_OTHERS || key.span == 0)
                        continue;
                part = throttled_times_share(&s->throttled, key.span, s->unowned_ns[key.span - 1]);
                key.span = 0;
                for (int throttled = 0; throttled <= 1; throttled++) {
                        key.kind = throttled ? PATH_ROW_THROTTLED : PATH_ROW_OTHERS;
                        r = intern_add_row(&s->keys, &key, &s->rows, &s->rows_capacity, sizeof(*s->rows),
                                           &to);
                        if (r < 0)
                                return r == -EOVERFLOW ? 0 : r;
                        row = &s->rows[id - 1];
                        s->rows[to - 1].ns += row->ns * (throttled ? part : 1 - part);
                        s->rows[to - 1].n_segments += row->n_segments;
                        s->rows[to - 1].thread = row->thread;
                        s->rows[to - 1].process = row->process;
                        if (s->rows[to - 1].n_instances < row->n_instances)
                                s->rows[to - 1].n_instances = row->n_instances;
                }
                s->rows[id - 1].ns = 0;
        }
        return 0;
}

static int find_largest(struct path_sums *s)
{
        s->n_largest = PATH_DETAIL_KINDS * s->keys.n_items;
        s->largest = calloc((size_t)s->n_largest + 1, sizeof(*s->largest));
        for (uint32_t id = 1; id <= s->detail_keys.n_items && s->largest; id++) {
                const struct path_detail_key *key = intern_get(&s->detail_keys, id, NULL);
                struct path_largest *largest = &s->largest[PATH_DETAIL_KINDS * (key->row - 1) + key->kind];

                largest->all += s->details[id - 1];
                if (s->details[id - 1] > largest->amount) {
                        largest->amount = s->details[id - 1];
                        largest->detail = id;
                }
        }
        return s->largest ? 0 : -ENOMEM;
}

int path_sums_finish(struct path_sums *s)
{
        int r = merge_first_threads(s);

        if (r == 0)
                r = spread_runs(s);
        if (r == 0)
                r = spread_throttled(s);
        if (r == 0)
                r = find_largest(s);
        for (uint32_t id = 1; id <= s->keys.n_items; id++)
                if (path_row_is_foreign(path_sums_key(s, id)))
                        s->others_ns += s->rows[id - 1].ns;
        return r;
}

struct path_top path_sums_top(const struct path_sums *s, uint32_t row, enum path_detail_kind kind)
{
        uint32_t i = PATH_DETAIL_KINDS * (row - 1) + kind;
        struct path_top top = { .key = NULL };

        if (i >= s->n_largest || s->largest[i].detail == 0)
                return top;
        top.key = intern_get(&s->detail_keys, s->largest[i].detail, NULL);
        top.amount = s->largest[i].amount;
        top.share = s->largest[i].amount / s->largest[i].all;
        return top;
}
