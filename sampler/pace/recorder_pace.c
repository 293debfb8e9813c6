/* SPDX-License-Identifier: MIT */
#include "sampler/pace/recorder_pace.h"

#include "base/clock.h"

/* ---- allowances ---------------------------------------------------------------------------------------- */

/*
 * The most that can be spent at once, and how that comes back: a share of all time, or all of it when a
 * window begins.  Beyond the most nothing is owed, but for work that cannot be stopped in the middle.
 */
static const struct {
        uint64_t most, share, window_ns;
        bool may_owe;
} allowances[PACED_WORKS] = {
        [PACED_IMAGES] = { .most = PACE_IMAGES_LEFT_NS, .share = PACE_IMAGES_SHARE },
        [PACED_WATCHED] = { .most = PACE_WATCHED_LEFT_NS, .share = PACE_WATCHED_SHARE, .may_owe = true },
        [PACED_LATE_STACKS] = { .most = PACE_LATE_LEFT_NS, .share = PACE_LATE_SHARE },
        [PACED_TABLES] = { .most = PACE_TABLES_WAIT_MAX_NS, .window_ns = PACE_TABLES_WINDOW_NS },
        [PACED_ROOM] = { .most = PACE_KEEP_IN_WINDOW_NS, .window_ns = PACE_KEEP_WINDOW_NS },
        [PACED_JIT_REST] = { .most = PACE_JIT_REST_NS, .window_ns = UINT64_MAX },
        [PACED_PYTHON] = { .most = PACE_PYTHON_WORK_BYTES, .window_ns = PACE_PYTHON_WORK_NS },
};

static uint64_t least(uint64_t a, uint64_t b)
{
        return a < b ? a : b;
}

bool recorder_pace_has(const struct recorder_pace *p, enum paced_work work, uint64_t taken, uint64_t reserve)
{
        uint64_t most = allowances[work].most, spent = p->works[work].spent;

        return spent < most && taken < most - spent && reserve < most - spent - taken;
}

uint64_t recorder_pace_left(struct recorder_pace *p, enum paced_work work, uint64_t now_ns)
{
        struct paced_allowance *a = &p->works[work];
        uint64_t passed_ns = now_ns - a->since_ns, most = allowances[work].most;

        if (allowances[work].share != 0)
                recorder_pace_repay(p, work, passed_ns / allowances[work].share);
        else if (passed_ns >= allowances[work].window_ns)
                a->spent = 0;
        if (allowances[work].share != 0 || passed_ns >= allowances[work].window_ns)
                a->since_ns = now_ns;
        return most - least(a->spent, most);
}

void recorder_pace_spend(struct recorder_pace *p, enum paced_work work, uint64_t taken)
{
        uint64_t spent = p->works[work].spent + taken;

        p->works[work].spent = allowances[work].may_owe ? spent : least(spent, allowances[work].most);
}

void recorder_pace_repay(struct recorder_pace *p, enum paced_work work, uint64_t given)
{
        p->works[work].spent -= least(given, p->works[work].spent);
}

/* ---- programs that are started, and unwind tables ------------------------------------------------------ */

void recorder_pace_init(struct recorder_pace *p, uint64_t now_ns)
{
        *p = (struct recorder_pace){ .kernel_max_ns = PACE_MERGE_KERNEL_NS,
                                     .zones_max_ns = PACE_ZONES_CYCLE_NS,
                                     .region_max_ns = PACE_ZONES_REGION_NS,
                                     .flushed_ns = now_ns,
                                     .chunk_age_ns = PACE_CHUNK_AGE_FIRST_NS,
                                     .accounted_ns = now_ns,
                                     .clocks_read_ns = now_ns };
        sample_throttle_init(&p->throttle);
}

static size_t find_oldest_fork(const struct recorder_pace *p)
{
        size_t oldest = 0;

        for (size_t i = 1; i < PACE_FORKS_MANY; i++)
                if (p->forks_ns[i] < p->forks_ns[oldest])
                        oldest = i;
        return oldest;
}

void recorder_pace_note_fork(struct recorder_pace *p, uint64_t time_ns)
{
        size_t oldest = find_oldest_fork(p);

        if (p->forks_ns[oldest] < time_ns)
                p->forks_ns[oldest] = time_ns;
}

bool recorder_pace_tables_may_wait(const struct recorder_pace *p, bool has_zones, uint64_t now_ns)
{
        uint64_t oldest_ns = p->forks_ns[find_oldest_fork(p)];

        return !has_zones && oldest_ns != 0 && now_ns < oldest_ns + PACE_FORKS_WINDOW_NS;
}

bool recorder_pace_stack_is_late(uint64_t since_ns, size_t n_bytes, uint64_t now_ns)
{
        return n_bytes > PACE_STACKS_LATE_BYTES || now_ns >= since_ns + PACE_STACKS_LATE_NS;
}

bool recorder_pace_stack_is_lost(uint64_t since_ns, uint64_t now_ns)
{
        return now_ns >= since_ns + PACE_STACKS_WAIT_NS;
}

/* ---- rings --------------------------------------------------------------------------------------------- */

void recorder_pace_begin_look(struct recorder_pace *p)
{
        p->is_hurried = false;
        sample_throttle_begin_look(&p->throttle);
}

void recorder_pace_note_ring(struct recorder_pace *p, uint64_t n_unread, uint64_t ring_bytes)
{
        p->is_hurried = p->is_hurried || n_unread > ring_bytes / 2;
        sample_throttle_see_ring(&p->throttle, n_unread, ring_bytes);
}

void recorder_pace_end_look(struct recorder_pace *p, uint64_t now_ns)
{
        p->looked_ns = now_ns;
        sample_throttle_end_look(&p->throttle, now_ns);
}

bool recorder_pace_look_is_due(const struct recorder_pace *p, size_t n_rings, uint64_t now_ns)
{
        return now_ns - p->looked_ns >= n_rings * PACE_MERGE_LOOK_NS;
}

void recorder_pace_begin_drain(struct recorder_pace *p, uint64_t now_ns)
{
        p->drain_ns = now_ns - p->drained_ns;
        p->drained_ns = now_ns;
        p->rest_ns = least(PACE_DRAIN_REST_MAX_NS, 2 * p->rest_ns + NS_PER_MS);
}

void recorder_pace_note_drained(struct recorder_pace *p, uint64_t ring_bytes, uint64_t spare_bytes,
                                uint64_t n_bytes)
{
        uint64_t half_bytes = ring_bytes / 2;
        uint64_t from_rest_ns = (half_bytes + spare_bytes / 2) / PACE_DRAIN_FASTEST_BYTES_A_US * NS_PER_US;
        double filling_ns = n_bytes > 0 ? (double)p->drain_ns * (double)half_bytes / (double)n_bytes
                                        : (double)PACE_DRAIN_REST_MAX_NS;

        if (from_rest_ns < PACE_DRAIN_FIRST_NS)
                from_rest_ns = PACE_DRAIN_FIRST_NS;
        p->rest_ns = least(p->rest_ns, from_rest_ns);
        if (filling_ns < (double)p->rest_ns)
                p->rest_ns = (uint64_t)filling_ns;
}

/* ---- a cycle ------------------------------------------------------------------------------------------- */

bool recorder_pace_may_take(const struct recorder_pace *p, uint64_t now_ns)
{
        return now_ns - p->kernel_ns < p->kernel_max_ns;
}

bool recorder_pace_begin_region(struct recorder_pace *p, uint64_t now_ns)
{
        uint64_t end_ns = p->zones_ns + p->zones_max_ns;

        p->region_until_ns = least(now_ns + p->region_max_ns, end_ns);
        return now_ns < end_ns;
}

bool recorder_pace_may_merge(const struct recorder_pace *p, uint64_t now_ns)
{
        return now_ns < p->region_until_ns;
}

void recorder_pace_end_zones(struct recorder_pace *p, bool is_behind, uint64_t now_ns)
{
        if (is_behind)
                p->rest_ns = 0;
        if (!is_behind)
                p->behind_ns = 0;
        else if (p->behind_ns == 0)
                p->behind_ns = now_ns;
}

bool recorder_pace_must_give_way(const struct recorder_pace *p, uint64_t now_ns)
{
        return p->behind_ns != 0 && now_ns >= p->behind_ns + PACE_MERGE_BEHIND_NS;
}

static bool pass(uint64_t *last_ns, uint64_t period_ns, uint64_t now_ns)
{
        bool has_passed = now_ns - *last_ns >= period_ns;

        if (has_passed)
                *last_ns = now_ns;
        return has_passed;
}

bool recorder_pace_account(struct recorder_pace *p, uint64_t now_ns)
{
        return pass(&p->accounted_ns, PACE_MERGE_ACCOUNTS_NS, now_ns);
}

bool recorder_pace_read_clocks(struct recorder_pace *p, uint64_t now_ns)
{
        return pass(&p->clocks_read_ns, PACE_MERGE_CLOCKS_NS, now_ns);
}

bool recorder_pace_flush(struct recorder_pace *p, uint64_t now_ns)
{
        if (!pass(&p->flushed_ns, p->chunk_age_ns, now_ns))
                return false;
        p->chunk_age_ns = least(2 * p->chunk_age_ns, PACE_CHUNK_AGE_NS);
        return true;
}

bool recorder_pace_read_jit_maps(struct recorder_pace *p, size_t n_processes, uint64_t now_ns)
{
        return pass(&p->jit_maps_ns, n_processes <= PACE_JIT_MAPS_EACH_CYCLE ? 0 : PACE_JIT_MAPS_NS, now_ns);
}

bool recorder_pace_may_look(const struct recorder_pace *p, const struct paced_look *look, uint64_t now_ns)
{
        return now_ns >= look->again_ns && now_ns >= p->maps_again_ns;
}

void recorder_pace_note_look(struct recorder_pace *p, struct paced_look *look, bool found, uint64_t began_ns,
                             uint64_t now_ns)
{
        uint64_t pause_ns;

        if (found)
                look->n_in_vain = 0;
        else if (look->n_in_vain < PACE_MAPS_DOUBLED)
                look->n_in_vain++;
        look->again_ns = now_ns + (PACE_MAPS_PERIOD_NS << look->n_in_vain);
        pause_ns = PACE_MAPS_SHARE * (now_ns - began_ns);
        p->maps_again_ns = now_ns + (pause_ns < PACE_MAPS_PAUSE_MAX_NS ? pause_ns : PACE_MAPS_PAUSE_MAX_NS);
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

static bool is_since(uint64_t since_ns, uint64_t period_ns, uint64_t now_ns)
{
        return since_ns != 0 && now_ns < since_ns + period_ns;
}

/* The longest pause after a cycle. */
static int pause_ms(const struct recorder_pace *p, const struct recorder_needs *needs, uint64_t now_ns)
{
        const struct {
                bool holds;
                int ms;
        } reasons[] = {
                { needs->has_cuts && needs->rate_hz <= PACE_LOOP_CUT_RATE_HZ, PACE_LOOP_CUT_MS },
                { needs->has_parts, PACE_LOOP_CUT_MS },
                { needs->reads_python, PACE_PYTHON_PAUSE_MS },
                { needs->lacks_data, PACE_LANDMARKS_PAUSE_MS },
                { is_since(p->jit_ns, PACE_IMAGES_EXPECTING_NS, now_ns), PACE_IMAGES_PAUSE_MS },
                { is_since(p->jit_ns, PACE_IMAGES_SOON_NS, now_ns), 1 },
        };
        int ms = (int)(p->rest_ns / NS_PER_MS);

        if (needs->opens)
                ms = 1;
        else if (!needs->has_zones && !needs->is_ending)
                ms = PACE_LOOP_QUIET_MS;
        for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
                if (reasons[i].holds && ms > reasons[i].ms)
                        ms = reasons[i].ms;
        return ms;
}

/* The longest time from a cycle to the next, if nothing else, or something, wakes the recorder. */
static int cycle_ms(const struct recorder_pace *p, const struct recorder_needs *needs, bool timed_out,
                    uint64_t now_ns)
{
        int ms = pause_ms(p, needs, now_ns);

        return (!timed_out || p->has_tables) && ms > PACE_LOOP_OPEN_MS ? PACE_LOOP_OPEN_MS : ms;
}

int recorder_pace_sleep_ms(const struct recorder_pace *p, const struct recorder_needs *needs,
                           uint64_t stop_ns, uint64_t now_ns)
{
        uint64_t end_ns = p->ended_ns + (uint64_t)cycle_ms(p, needs, true, now_ns) * NS_PER_MS;
        int ms = end_ns > now_ns ? (int)((end_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS) : 0;

        if (is_since(p->code_ns, PACE_LOOP_YOUNG_NS, now_ns) && ms > PACE_LOOP_OPEN_MS)
                ms = PACE_LOOP_OPEN_MS;
        if (stop_ns < now_ns + (uint64_t)ms * NS_PER_MS)
                ms = stop_ns > now_ns ? (int)((stop_ns - now_ns) / NS_PER_MS) + 1 : 0;
        return ms;
}

bool recorder_pace_cycle_is_due(const struct recorder_pace *p, const struct recorder_needs *needs,
                                bool timed_out, uint64_t now_ns)
{
        return now_ns - p->cycled_ns >= (uint64_t)cycle_ms(p, needs, timed_out, now_ns) * NS_PER_MS;
}
