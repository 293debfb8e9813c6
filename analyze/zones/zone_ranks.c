/* SPDX-License-Identifier: MIT */
#include "analyze/zones/zone_ranks.h"

#include "analyze/walk/zone_stats.h"
#include "base/array.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOGETHER   4    /* ends are so many times closer than the passages of a gate */
#define LATE_SHARE 20   /* of an instance: what is less is not worth a name */
#define CHANCE_MAX 1e-4 /* of any rank being last that often, if all are equal */
#define SLOW_FROM  0.9
#define LOOKED_MAX 4096 /* instances are enough to see whether there is a barrier */

int zone_ranks_init(struct zone_ranks *z, const struct trace_dictionary *dictionary)
{
        *z = (struct zone_ranks){ .dictionary = dictionary };
        z->rank_of = calloc((size_t)trace_dictionary_count(dictionary, TRACE_TABLE_PROCESSES) + 1,
                            sizeof(*z->rank_of));
        z->ended = calloc((size_t)trace_dictionary_count(dictionary, TRACE_TABLE_THREADS) + 1,
                          sizeof(*z->ended));
        return z->rank_of && z->ended ? 0 : -ENOMEM;
}

void zone_ranks_deinit(struct zone_ranks *z)
{
        for (uint32_t i = 0; i < z->n_ranks; i++)
                free(z->ranks[i].passages);
        free(z->ranks);
        free(z->rank_of);
        free(z->ended);
        *z = (struct zone_ranks){ .ranks = NULL };
}

/* ---- instances ----------------------------------------------------------------------------------------- */

/* Returns NULL beyond the bound, or without memory; *ret says which. */
static struct zone_rank *find_rank(struct zone_ranks *z, uint32_t thread, int *ret)
{
        const struct trace_thread *row = trace_dictionary_row(z->dictionary, TRACE_TABLE_THREADS, thread);
        uint32_t *rank = &z->rank_of[row->process];

        *ret = 0;
        if (*rank == 0) {
                if (z->n_ranks == ZONE_RANKS_MAX)
                        return NULL;
                *ret = array_reserve(&z->ranks, &z->capacity, (size_t)z->n_ranks + 1, sizeof(*z->ranks));
                if (*ret < 0)
                        return NULL;
                z->ranks[z->n_ranks] = (struct zone_rank){ .process = row->process, .thread = thread };
                *rank = ++z->n_ranks;
        }
        return &z->ranks[*rank - 1];
}

static int keep_passage(struct zone_ranks *z, struct zone_rank *rank, const struct zone_instance *zone,
                        const struct zone_ended *inner)
{
        bool has_inner = inner->depth == zone->depth + 1 && inner->begin_ns >= zone->begin_ns;
        int r;

        if (z->n_passages == ZONE_RANKS_INSTANCES_MAX) {
                z->n_beyond++;
                return 0;
        }
        r = array_reserve(&rank->passages, &rank->capacity, rank->n_passages + 1, sizeof(*rank->passages));
        if (r < 0)
                return r;
        z->n_passages++;
        rank->passages[rank->n_passages++] = (struct zone_passage){
                .at_ns = { zone->begin_ns, has_inner ? inner->begin_ns : 0, has_inner ? inner->end_ns : 0 },
                .end_ns = zone->end_ns
        };
        return 0;
}

static int add_instance(struct zone_ranks *z, uint32_t thread, const struct zone_instance *zone)
{
        struct zone_rank *rank;
        int r;

        rank = find_rank(z, thread, &r);
        if (!rank) {
                z->n_beyond += r == 0;
                return r;
        }
        rank->has_threads = rank->has_threads || rank->thread != thread;
        rank->total_ns += zone_instance_duration_ns(zone);
        if (!zone->closed) {
                rank->n_unclosed++;
                return 0;
        }
        rank->n_closed++;
        return keep_passage(z, rank, zone, &z->ended[thread]);
}

int zone_ranks_add(struct zone_ranks *z, uint32_t thread, const struct zone_instance *zone)
{
        int r = zone->is_named && !zone->is_inside ? add_instance(z, thread, zone) : 0;

        z->ended[thread] = (struct zone_ended){ .begin_ns = zone->begin_ns,
                                                .end_ns = zone->end_ns,
                                                .depth = zone->depth };
        return r;
}

/* ---- comparison ---------------------------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b)
{
        const uint64_t *x = a, *y = b;

        return (*x > *y) - (*x < *y);
}

static uint64_t median(uint64_t *times, size_t n)
{
        if (n == 0)
                return 0;
        qsort(times, n, sizeof(*times), compare_times);
        return times[n / 2];
}

/* When a rank passed a gate; ZONE_GATES = the end. */
static uint64_t time_at(const struct zone_ranks *z, uint32_t rank, size_t k, unsigned gate)
{
        const struct zone_passage *p = &z->ranks[rank].passages[k];

        return gate < ZONE_GATES ? p->at_ns[gate] : p->end_ns;
}

/* How far apart the ranks passed a gate, in the median; 0 also if an instance lacks it. */
static uint64_t find_spread(const struct zone_ranks *z, unsigned gate, uint64_t *times)
{
        size_t n = 0;

        for (size_t k = 0; k < z->n_compared && k < LOOKED_MAX; k++) {
                uint64_t first_ns = UINT64_MAX, last_ns = 0;

                for (uint32_t i = 0; i < z->n_ranks; i++) {
                        uint64_t at_ns = time_at(z, i, k, gate);

                        if (at_ns == 0)
                                return 0;
                        first_ns = at_ns < first_ns ? at_ns : first_ns;
                        last_ns = at_ns > last_ns ? at_ns : last_ns;
                }
                times[n++] = last_ns - first_ns;
        }
        return median(times, n);
}

static bool find_gate(struct zone_ranks *z, uint64_t *times)
{
        uint64_t together_ns = find_spread(z, ZONE_GATES, times), most_ns = 0;

        for (unsigned gate = 0; gate < ZONE_GATES; gate++) {
                uint64_t spread_ns = find_spread(z, gate, times);

                if (spread_ns > most_ns) {
                        most_ns = spread_ns;
                        z->gate = (enum zone_gate)gate;
                }
        }
        return most_ns > 0 && together_ns <= most_ns / TOGETHER;
}

/* The rank that passed last, and by how much after the one before it. */
static uint32_t find_last(const struct zone_ranks *z, size_t k, uint64_t *ret_late_ns)
{
        uint64_t last_ns = 0, second_ns = 0;
        uint32_t last = 0;

        for (uint32_t i = 0; i < z->n_ranks; i++) {
                uint64_t at_ns = time_at(z, i, k, z->gate);

                if (at_ns > last_ns) {
                        second_ns = last_ns;
                        last_ns = at_ns;
                        last = i;
                } else if (at_ns > second_ns) {
                        second_ns = at_ns;
                }
        }
        *ret_late_ns = last_ns - second_ns;
        return last;
}

/* From the first that begins to the last that ends. */
static uint64_t find_length(const struct zone_ranks *z, size_t k)
{
        uint64_t begin_ns = UINT64_MAX, end_ns = 0;

        for (uint32_t i = 0; i < z->n_ranks; i++) {
                const struct zone_passage *p = &z->ranks[i].passages[k];

                begin_ns = p->at_ns[ZONE_GATE_BEGIN] < begin_ns ? p->at_ns[ZONE_GATE_BEGIN] : begin_ns;
                end_ns = p->end_ns > end_ns ? p->end_ns : end_ns;
        }
        return end_ns - begin_ns;
}

static bool is_judged(const struct zone_ranks *z, size_t k)
{
        return z->judged_from_ns == 0 || find_length(z, k) >= z->judged_from_ns;
}

/* The latenesses of each rank follow each other: the first pass counts them, the second puts them there. */
static void find_lateness(struct zone_ranks *z, uint64_t *times)
{
        uint64_t late_ns;
        size_t from = 0;

        z->n_judged = 0;
        for (uint32_t i = 0; i < z->n_ranks; i++)
                z->ranks[i].n_last = 0;
        for (size_t k = 0; k < z->n_compared; k++) {
                if (!is_judged(z, k))
                        continue;
                z->ranks[find_last(z, k, &late_ns)].n_last++;
                z->n_judged++;
        }
        for (uint32_t i = 0; i < z->n_ranks; i++) {
                z->ranks[i].late_ns = from;
                from += z->ranks[i].n_last;
        }
        for (size_t k = 0; k < z->n_compared; k++) {
                struct zone_rank *rank;

                if (!is_judged(z, k))
                        continue;
                rank = &z->ranks[find_last(z, k, &late_ns)];
                times[rank->late_ns++] = late_ns;
        }
        for (uint32_t i = 0; i < z->n_ranks; i++) {
                struct zone_rank *rank = &z->ranks[i];

                rank->late_ns = median(times + rank->late_ns - rank->n_last, (size_t)rank->n_last);
        }
}

static double log_factorial(uint64_t n)
{
        int sign;

        return lgamma_r((double)n + 1, &sign);
}

/* How likely one of equal ranks is last so often: the tail of a binomial distribution, for any of them. */
static double find_chance(uint64_t n_last, uint64_t n, uint32_t n_ranks)
{
        double share = 1.0 / n_ranks, sum = 0;

        for (uint64_t k = n_last; k <= n; k++) {
                double term = exp(log_factorial(n) - log_factorial(k) - log_factorial(n - k) +
                                  (double)k * log(share) + (double)(n - k) * log1p(-share));

                sum += term;
                if (term < sum * 1e-12)
                        break;
        }
        return sum * n_ranks;
}

/* The length that a share of the instances does not exceed. */
static uint64_t find_quantile(const struct zone_ranks *z, double share, uint64_t *times)
{
        size_t n = z->n_compared;

        for (size_t k = 0; k < n; k++)
                times[k] = find_length(z, k);
        qsort(times, n, sizeof(*times), compare_times);
        return times[(size_t)((double)(n - 1) * share)];
}

static void find_late(struct zone_ranks *z, uint64_t *times)
{
        uint64_t least_ns = find_quantile(z, 0.5, times) / LATE_SHARE;

        find_lateness(z, times);
        for (uint32_t i = 0; i < z->n_ranks; i++) {
                const struct zone_rank *rank = &z->ranks[i];

                if (rank->n_last * 2 > z->n_judged && rank->late_ns > least_ns &&
                    rank->late_ns / 2 > z->clock_error_ns &&
                    find_chance(rank->n_last, z->n_judged, z->n_ranks) < CHANCE_MAX)
                        z->late = i + 1;
        }
}

static void find_late_when_slow(struct zone_ranks *z, uint64_t *times)
{
        z->judged_from_ns = find_quantile(z, SLOW_FROM, times);
        find_late(z, times);
        if (z->late != 0)
                return;
        z->judged_from_ns = 0;
        find_lateness(z, times);
}

/* Returns false if how the clocks of the ranks relate is not known. */
static bool find_clocks(struct zone_ranks *z)
{
        for (uint32_t i = 0; i < z->n_ranks; i++) {
                const struct trace_process *process = trace_dictionary_row(
                        z->dictionary, TRACE_TABLE_PROCESSES, z->ranks[i].process);
                const struct trace_recording *row = process->recording != 0
                                                            ? trace_dictionary_row(z->dictionary,
                                                                                   TRACE_TABLE_RECORDINGS,
                                                                                   process->recording)
                                                            : NULL;

                if (row && row->clock == TRACE_ALIGNMENT_REALTIME_FREE)
                        return false;
                if (row && row->error_ns > z->clock_error_ns)
                        z->clock_error_ns = row->error_ns;
        }
        return true;
}

static enum zone_ranks_state judge(struct zone_ranks *z)
{
        uint64_t n_passages = UINT64_MAX;
        bool has_threads = false, has_counts = true;

        for (uint32_t i = 0; i < z->n_ranks; i++) {
                const struct zone_rank *rank = &z->ranks[i];

                has_threads = has_threads || rank->has_threads;
                has_counts = has_counts && rank->n_closed == z->ranks[0].n_closed;
                n_passages = rank->n_passages < n_passages ? rank->n_passages : n_passages;
                z->mean_ns += rank->total_ns / z->n_ranks;
                z->most_ns = rank->total_ns > z->most_ns ? rank->total_ns : z->most_ns;
        }
        if (z->n_ranks < 2)
                return ZONE_RANKS_NONE;
        if (has_threads)
                return ZONE_RANKS_THREADS;
        if (!has_counts || n_passages == 0)
                return ZONE_RANKS_COUNTS;
        z->n_compared = n_passages;
        return find_clocks(z) ? ZONE_RANKS_COMPARED : ZONE_RANKS_CLOCKS;
}

int zone_ranks_finish(struct zone_ranks *z)
{
        uint64_t *times;

        z->state = judge(z);
        if (z->state != ZONE_RANKS_COMPARED)
                return 0;
        times = calloc((size_t)z->n_compared, sizeof(*times));
        if (!times)
                return -ENOMEM;
        if (find_gate(z, times)) {
                find_late(z, times);
                if (z->late == 0 && z->looks_at_slow)
                        find_late_when_slow(z, times);
        } else {
                z->state = ZONE_RANKS_NO_BARRIER;
        }
        free(times);
        return 0;
}

const char *zone_gate_words(enum zone_gate gate)
{
        static const char *const words[ZONE_GATES] = { "into an instance", "into the last zone inside",
                                                       "out of the last zone inside" };

        return words[gate];
}
