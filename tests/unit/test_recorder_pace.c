/* SPDX-License-Identifier: MIT */
/*
 * sampler/pace: under any load the recorder looks in time and costs little, no deadline waits for ever, and
 * no two fight
 *
 * A simulation by events.  Programs are started, map code and are sampled, and write zones.  The opener and
 * the collector ask wakeup_throttle and recorder_pace as early_opener.c, recorder.c and collector.c do; the
 * time that their work takes is a figure of the table below.  The clock is a number, and the random numbers
 * are the same in each run.
 */
#include "base/clock.h"
#include "sampler/kernel/ring_size.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/pace/wakeup_throttle.h"
#include "tests/unit/unit_test.h"

#include <string.h>

/*
 * The figures are from: a bell, pace.h; a sample and a zone, measurements.md and architecture.md (5.7 us, and
 * 5 ns for 8 bytes); a table, code_tables.h, some 30 ms for a large program.  A file is opened by names in
 * /proc, which takes some 20 us (pace.h, at PACE_ZONES_LOOKUPS).  A record, and a cycle without work, are
 * estimates, rather too high.
 */
#define BELL_NS         (25 * NS_PER_US)
#define SAMPLE_NS       (6 * NS_PER_US)
#define ZONE_BYTES_A_US 1600
#define TABLE_NS        (30 * NS_PER_MS)
#define OPEN_NS         (20 * NS_PER_US)
#define RECORD_NS       NS_PER_US
#define CYCLE_NS        (100 * NS_PER_US)

#define KERNEL_LIFE_NS NS_PER_MS /* generated code is unlinked after this */
#define N_CPUS         2
#define STEP_US        10   /* in which zones are written */
#define STEPS_AT_ONCE  1000 /* of all, while the clock stands still */
#define N_FILES        40   /* the system's, without a table at the start */
#define N_WRITERS_MAX  4
#define POOL_PID       1
#define FIFO_MAX       (1U << 12)
#define MIB            (UINT64_C(1) << 20)
#define FULL_BYTES     (8 * MIB) /* beside a ring: the program wakes the recorder */
#define NEVER          UINT64_MAX

struct load {
        unsigned starts_a_s, urgent_of; /* one in so many starts maps urgent code; 0 = none */
        unsigned pool_a_s;              /* kernels that one program generates */
        unsigned rate_hz;               /* of samples, on each CPU */
        size_t n_writers;
        uint64_t zone_bytes_a_us, on_ns, off_ns, spare_bytes; /* of each writer; it writes, then rests */
        uint64_t starts_end_ns;                               /* 0 = never */
};

struct mapping {
        uint64_t time_ns;
        uint32_t pid;
        bool is_urgent;
};

struct file {
        uint64_t wanted_ns, stack_ns, sent_ns, ready_ns; /* NEVER = not yet */
};

struct seen {
        uint64_t urgent_ns,
                kernel_ns;   /* the longest from a mapping to the look at it; kernels after a second */
        uint64_t put_off_ns; /* the longest that a stack waited until its table was asked for */
        uint64_t interrupted_ns, opener_ns, collector_ns, table_wait_ns;
        uint64_t rest_ns, cycle_ns; /* the longest from a cycle to the next, and the longest cycle */
        uint64_t chunk_ns, behind_ns;
        uint64_t ring_bytes, zone_bytes; /* the most that were unread, of samples and of one writer's zones */
        bool is_broken;                  /* a rule that holds at each step */
        unsigned n_kernels, n_kernels_gone, n_lost_stacks, n_turns, n_urgent;
};

struct world {
        struct load load;
        struct recorder_pace pace;
        struct wakeup_throttle throttle;
        struct seen seen;
        uint64_t now_ns, begin_ns, random;
        uint64_t start_ns, kernel_ns; /* the next */
        uint32_t pid;
        struct mapping fifo[FIFO_MAX]; /* that the opener has not seen */
        uint32_t first, end;
        unsigned n_bells;
        uint64_t opener_free_ns, poll_ns, cpu_ns;
        bool has_rest;                       /* of the last look */
        uint64_t unreported_ns;              /* the oldest mapping that was seen and not reported; or NEVER */
        uint64_t free_ns, sleep_ns, told_ns; /* the collector's: after its work, its rest, when it is woken */
        unsigned n_forks, n_records;         /* that it has not seen */
        uint64_t sampled_ns, zones_ns, sample_bytes, ring_bytes;
        uint64_t unread[N_WRITERS_MAX];
        struct file files[N_FILES];
        uint64_t table_free_ns;
};

static uint64_t draw(struct world *w, uint64_t below)
{
        w->random ^= w->random << 13;
        w->random ^= w->random >> 7;
        w->random ^= w->random << 17;
        return w->random % below;
}

static void take_most(uint64_t *most, uint64_t value)
{
        if (value > *most)
                *most = value;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
        return a < b ? a : b;
}

/* Events that come at any moment, so many a second. */
static uint64_t next_ns(struct world *w, unsigned n_a_s)
{
        return n_a_s == 0 ? NEVER : w->now_ns + 1 + draw(w, 2 * NS_PER_S / n_a_s);
}

static struct world *world_new(const struct load *load)
{
        static struct world w;
        const struct ring_size_wanted wanted = {
                .rate_hz = load->rate_hz, .n_events = 1, .copy_bytes = 16384, .n_cpus = N_CPUS
        };

        memset(&w, 0, sizeof(w));
        w.load = *load;
        w.random = UINT64_C(0x9E3779B97F4A7C15);
        w.now_ns = w.begin_ns = w.sampled_ns = w.zones_ns = w.free_ns = w.sleep_ns = 1000 * NS_PER_S;
        w.pid = 1000;
        w.sample_bytes = 512 + wanted.copy_bytes;
        w.ring_bytes = ring_size_find(&wanted);
        w.poll_ns = w.told_ns = w.unreported_ns = NEVER;
        for (size_t i = 0; i < N_FILES; i++)
                w.files[i] = (struct file){ NEVER, NEVER, NEVER, NEVER };
        recorder_pace_init(&w.pace, w.now_ns);
        w.start_ns = next_ns(&w, load->starts_a_s);
        w.kernel_ns = next_ns(&w, load->pool_a_s);
        return &w;
}

/* ---- programs ------------------------------------------------------------------------------------------ */

static void map(struct world *w, uint32_t pid, bool is_urgent)
{
        w->seen.is_broken |= w->end - w->first == FIFO_MAX; /* the tracker's ring is full */
        w->fifo[w->end++ % FIFO_MAX] = (struct mapping){ w->now_ns, pid, is_urgent };
        w->n_records++;
}

static void ring_bells(struct world *w, unsigned n)
{
        if (w->throttle.silent)
                return;
        w->n_bells += n;
        w->seen.interrupted_ns += n * BELL_NS;
}

/* A fork, three files, perhaps one that was made just now, and an end. */
static void start_program(struct world *w)
{
        bool is_urgent = w->load.urgent_of != 0 && draw(w, w->load.urgent_of) == 0;
        struct file *file = &w->files[draw(w, N_FILES)];

        w->pid++;
        w->n_forks++;
        w->n_records += 2;
        for (int i = 0; i < 3; i++)
                map(w, w->pid, false);
        if (is_urgent)
                map(w, w->pid, true);
        ring_bells(w, is_urgent ? 6 : 5);
        if (file->wanted_ns == NEVER)
                file->wanted_ns = w->now_ns;
        w->start_ns = next_ns(w, w->load.starts_a_s);
        if (w->load.starts_end_ns != 0 && w->start_ns > w->begin_ns + w->load.starts_end_ns)
                w->start_ns = NEVER;
}

static void make_kernel(struct world *w)
{
        map(w, POOL_PID, true);
        ring_bells(w, 1);
        w->kernel_ns = next_ns(w, w->load.pool_a_s);
}

/* Zones up to this moment; each writer has its own phase. */
static void write_zones(struct world *w, uint64_t until_ns)
{
        const struct load *l = &w->load;

        for (; w->zones_ns < until_ns; w->zones_ns += STEP_US * NS_PER_US)
                for (size_t i = 0; i < l->n_writers; i++) {
                        uint64_t phase_ns = w->zones_ns + i * l->on_ns;

                        if (l->off_ns == 0 || phase_ns % (l->on_ns + l->off_ns) < l->on_ns)
                                w->unread[i] += STEP_US * l->zone_bytes_a_us;
                        take_most(&w->seen.zone_bytes, w->unread[i]);
                        if (w->unread[i] > MIB + FULL_BYTES && w->told_ns == NEVER)
                                w->told_ns = w->zones_ns;
                }
}

/* ---- the opener ---------------------------------------------------------------------------------------- */

static uint64_t opener_due_ns(const struct world *w)
{
        if (w->has_rest || w->n_bells > 0)
                return w->opener_free_ns > w->now_ns ? w->opener_free_ns : w->now_ns;
        return w->poll_ns;
}

static void see_mapping(struct world *w, const struct mapping *m, uint64_t now_ns)
{
        uint64_t late_ns = now_ns - m->time_ns;

        wakeup_throttle_note(&w->throttle, m->pid, m->is_urgent, now_ns);
        if (!m->is_urgent)
                return;
        w->seen.n_urgent++;
        take_most(&w->seen.urgent_ns, late_ns);
        if (m->pid != POOL_PID || m->time_ns < w->begin_ns + NS_PER_S)
                return;
        w->seen.n_kernels++;
        w->seen.n_kernels_gone += late_ns > KERNEL_LIFE_NS;
        take_most(&w->seen.kernel_ns, late_ns);
}

/* early_opener.c, look_at_next() and rest(). */
static void open_files(struct world *w)
{
        uint64_t now_ns = w->now_ns + 5 * NS_PER_US, pause_ns;
        unsigned n_rings = w->n_bells < N_CPUS ? w->n_bells : N_CPUS, n_looks = 0, n_opens = 0;
        bool was_silent = w->throttle.silent;

        if (n_rings == 0 && !w->has_rest)
                w->seen.interrupted_ns += BELL_NS; /* a poll interrupts a program as well */
        w->n_bells = 0;
        for (; w->first != w->end && n_looks < PACE_OPENER_LOOKS && n_opens < PACE_OPENER_OPENS; n_looks++) {
                const struct mapping *m = &w->fifo[w->first++ % FIFO_MAX];

                n_opens += m->is_urgent;
                now_ns += m->is_urgent ? OPEN_NS : RECORD_NS;
                see_mapping(w, m, now_ns);
                w->unreported_ns = earlier(w->unreported_ns, now_ns);
        }
        w->has_rest = w->first != w->end;
        if (wakeup_throttle_decide(&w->throttle, n_rings, now_ns) != was_silent) {
                w->seen.n_turns++;
                w->has_rest |= was_silent;
        }
        if (wakeup_throttle_report(&w->throttle, n_rings > 0, now_ns)) {
                w->told_ns = earlier(w->told_ns, now_ns);
                w->pace.code_ns = now_ns;
                w->unreported_ns = NEVER;
        } else {
                w->seen.is_broken |= n_opens > 0 || (w->unreported_ns != NEVER &&
                                                     now_ns >= w->unreported_ns + PACE_OPENER_REPORT_NS);
        }
        w->seen.opener_ns += now_ns - w->now_ns;
        w->cpu_ns += now_ns - w->now_ns;
        pause_ns = wakeup_throttle_pause_ns(&w->throttle, w->cpu_ns, now_ns);
        w->seen.is_broken |= pause_ns > PACE_OPENER_PAUSE_MAX_NS;
        w->opener_free_ns = now_ns + pause_ns;
        w->poll_ns = w->throttle.silent
                             ? w->opener_free_ns +
                                       (uint64_t)wakeup_throttle_wait_ms(&w->throttle, now_ns) * NS_PER_MS
                             : NEVER;
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static void send_tables(struct world *w, uint64_t now_ns)
{
        for (size_t i = 0; i < N_FILES; i++) {
                struct file *f = &w->files[i];

                if (f->wanted_ns > now_ns || f->sent_ns != NEVER)
                        continue;
                f->sent_ns = now_ns;
                w->table_free_ns = (w->table_free_ns > now_ns ? w->table_free_ns : now_ns) + TABLE_NS;
                f->ready_ns = w->table_free_ns;
                if (f->stack_ns != NEVER)
                        take_most(&w->seen.put_off_ns, now_ns - f->stack_ns);
        }
}

/* ahead_of_turn.c, kernel_side_set_table_deadline(). */
static void set_deadline(struct world *w, uint64_t now_ns)
{
        uint64_t oldest_ns = NEVER;
        size_t n_bytes = 0;

        for (size_t i = 0; i < N_FILES; i++)
                if (w->files[i].stack_ns != NEVER && w->files[i].ready_ns > now_ns) {
                        oldest_ns = earlier(oldest_ns, w->files[i].stack_ns);
                        n_bytes += w->sample_bytes;
                }
        if (!recorder_pace_tables_may_wait(&w->pace, w->load.n_writers > 0, now_ns) ||
            (oldest_ns != NEVER && recorder_pace_stack_is_late(oldest_ns, n_bytes, now_ns)))
                send_tables(w, now_ns);
}

static uint64_t answer_due_ns(const struct world *w)
{
        uint64_t due_ns = NEVER;

        for (size_t i = 0; i < N_FILES; i++)
                if (w->files[i].ready_ns > w->now_ns)
                        due_ns = earlier(due_ns, w->files[i].ready_ns);
        return due_ns;
}

/* A stack of a thread that has ended cannot be put aside: it waits for its table, within limits. */
static uint64_t wait_for_table(struct world *w, struct file *f, uint64_t now_ns)
{
        uint64_t wait_ns = earlier(PACE_TABLES_WAIT_NS, recorder_pace_left(&w->pace, PACED_TABLES, now_ns));

        if (w->pace.is_hurried || wait_ns == 0)
                return 0;
        send_tables(w, now_ns);
        wait_ns = earlier(wait_ns, f->ready_ns > now_ns ? f->ready_ns - now_ns : 0);
        recorder_pace_spend(&w->pace, PACED_TABLES, wait_ns);
        w->seen.table_wait_ns += wait_ns;
        return wait_ns;
}

static void resume_stacks(struct world *w, uint64_t now_ns)
{
        for (size_t i = 0; i < N_FILES; i++) {
                struct file *f = &w->files[i];

                if (f->stack_ns == NEVER)
                        continue;
                if (f->ready_ns > now_ns && !recorder_pace_stack_is_lost(f->stack_ns, now_ns))
                        continue;
                w->seen.n_lost_stacks += f->ready_ns > now_ns;
                f->stack_ns = NEVER;
        }
}

/* ---- the collector ------------------------------------------------------------------------------------- */

static uint64_t collector_due_ns(const struct world *w)
{
        uint64_t wake_bytes = earlier(w->ring_bytes / PACE_RING_WAKE_SHARE, PACE_RING_WAKE_MAX_BYTES);
        uint64_t full_ns = w->load.rate_hz == 0 ? NEVER
                                                : w->sampled_ns + wake_bytes / w->sample_bytes * NS_PER_S /
                                                                          w->load.rate_hz;
        uint64_t due_ns = earlier(earlier(w->sleep_ns, w->told_ns), earlier(full_ns, answer_due_ns(w)));

        return due_ns > w->free_ns ? due_ns : w->free_ns;
}

static struct recorder_needs needs_of(const struct world *w)
{
        return (struct recorder_needs){ .has_zones = w->load.n_writers > 0, .rate_hz = w->load.rate_hz };
}

static uint64_t take_forks(struct world *w, uint64_t now_ns)
{
        uint64_t n = w->n_records;

        for (; w->n_forks > 0; w->n_forks--) {
                recorder_pace_note_fork(&w->pace, now_ns);
                set_deadline(w, now_ns);
        }
        w->n_records = 0;
        return now_ns + n * RECORD_NS / 5;
}

/* A sample of each CPU: of a program that has run before, or of one that is new. */
static uint64_t take_sample(struct world *w, uint64_t now_ns)
{
        struct file *f = &w->files[draw(w, N_FILES)];

        now_ns += SAMPLE_NS;
        if (f->wanted_ns > now_ns || f->ready_ns <= now_ns)
                return now_ns;
        if (draw(w, 50) == 0)
                return now_ns + wait_for_table(w, f, now_ns);
        f->stack_ns = earlier(f->stack_ns, now_ns);
        return now_ns;
}

/* kernel_side.c, kernel_side_run(): all samples up to this moment, or as many as there is time for. */
static uint64_t take_samples(struct world *w, uint64_t now_ns)
{
        uint64_t n = (now_ns - w->sampled_ns) * w->load.rate_hz / NS_PER_S, n_taken = 0;

        w->pace.kernel_ns = now_ns;
        set_deadline(w, now_ns);
        resume_stacks(w, now_ns);
        for (; n_taken < n && (n_taken == 0 || recorder_pace_may_take(&w->pace, now_ns)); n_taken++) {
                uint64_t unread_bytes = (now_ns - w->sampled_ns) * w->load.rate_hz / NS_PER_S *
                                                w->sample_bytes -
                                        n_taken * w->sample_bytes;

                take_most(&w->seen.ring_bytes, unread_bytes);
                recorder_pace_begin_look(&w->pace);
                recorder_pace_note_ring(&w->pace, unread_bytes, w->ring_bytes);
                recorder_pace_end_look(&w->pace, w->now_ns);
                for (int cpu = 0; cpu < N_CPUS; cpu++)
                        now_ns = take_sample(w, now_ns);
        }
        if (w->load.rate_hz != 0)
                w->sampled_ns += n_taken * NS_PER_S / w->load.rate_hz;
        return now_ns;
}

/* zone_merge.c, zone_merge_run(), one writer a region. */
static uint64_t take_zones(struct world *w, uint64_t now_ns)
{
        bool is_behind = false;

        recorder_pace_begin_drain(&w->pace, now_ns);
        w->pace.zones_ns = now_ns;
        for (size_t i = 0; i < w->load.n_writers; i++) {
                uint64_t n_bytes = 0;

                (void)recorder_pace_begin_region(&w->pace, now_ns);
                write_zones(w, now_ns);
                while (w->unread[i] > 0 && recorder_pace_may_merge(&w->pace, now_ns)) {
                        uint64_t n = earlier(w->unread[i], PACE_ZONES_FILL_BYTES);

                        w->unread[i] -= n;
                        n_bytes += n;
                        now_ns += n * NS_PER_US / ZONE_BYTES_A_US;
                }
                is_behind |= w->unread[i] > 0;
                recorder_pace_note_drained(&w->pace, MIB, w->load.spare_bytes, n_bytes);
        }
        recorder_pace_end_zones(&w->pace, is_behind, now_ns);
        take_most(&w->seen.behind_ns, w->pace.behind_ns == 0 ? 0 : now_ns - w->pace.behind_ns);
        return now_ns;
}

/* collector.c, collector_cycle(). */
static uint64_t run_cycle(struct world *w)
{
        uint64_t now_ns = w->now_ns, before_ns = w->pace.cycled_ns, chunk_ns = w->pace.flushed_ns;

        if (before_ns != 0)
                take_most(&w->seen.rest_ns, now_ns - before_ns);
        w->pace.cycled_ns = now_ns;
        w->pace.has_tables = false;
        now_ns = take_samples(w, take_forks(w, now_ns + CYCLE_NS));
        now_ns = take_zones(w, now_ns);
        (void)recorder_pace_account(&w->pace, w->now_ns);
        if (recorder_pace_flush(&w->pace, w->now_ns))
                take_most(&w->seen.chunk_ns, w->now_ns - chunk_ns);
        take_most(&w->seen.cycle_ns, now_ns - w->now_ns);
        w->pace.ended_ns = now_ns;
        return now_ns;
}

/* recorder.c, collect(). */
static void collect(struct world *w)
{
        const struct recorder_needs needs = needs_of(w);
        bool is_told = w->told_ns <= w->now_ns, has_answer = false;
        uint64_t wait_ms;

        for (size_t i = 0; i < N_FILES; i++)
                has_answer |= w->files[i].ready_ns <= w->now_ns && w->files[i].stack_ns != NEVER;
        w->pace.has_tables |= has_answer;
        if (is_told)
                w->told_ns = NEVER;
        if ((is_told || w->sleep_ns <= w->now_ns || has_answer) &&
            !recorder_pace_cycle_is_due(&w->pace, &needs, !is_told && !has_answer, w->now_ns)) {
                w->free_ns = take_forks(w, w->now_ns + 10 * NS_PER_US);
        } else {
                w->free_ns = run_cycle(w);
        }
        w->seen.collector_ns += w->free_ns - w->now_ns;
        wait_ms = (uint64_t)recorder_pace_sleep_ms(&w->pace, &needs, NEVER, w->free_ns);
        w->sleep_ns = w->free_ns + wait_ms * NS_PER_MS;
}

static void run(struct world *w, uint64_t duration_ns)
{
        uint64_t end_ns = w->begin_ns + duration_ns, due_ns;
        unsigned n_same = 0;

        while (w->now_ns < end_ns && n_same < STEPS_AT_ONCE) {
                due_ns = earlier(earlier(w->start_ns, w->kernel_ns),
                                 earlier(opener_due_ns(w), collector_due_ns(w)));
                n_same = due_ns > w->now_ns ? 0 : n_same + 1;
                w->now_ns = due_ns > w->now_ns ? due_ns : w->now_ns;
                write_zones(w, w->now_ns);
                if (w->start_ns <= w->now_ns)
                        start_program(w);
                else if (w->kernel_ns <= w->now_ns)
                        make_kernel(w);
                else if (opener_due_ns(w) <= w->now_ns)
                        open_files(w);
                else
                        collect(w);
        }
        ck_assert_uint_lt(n_same, STEPS_AT_ONCE); /* it stands still */
}

/* ---- loads --------------------------------------------------------------------------------------------- */

/* A look at full rings; the same after a poll. */
#define LOOK_NS (PACE_OPENER_LOOKS * RECORD_NS + PACE_OPENER_OPENS * OPEN_NS)
#define POLL_NS (PACE_BELLS_POLL_MS * NS_PER_MS + LOOK_NS)

/*
 * Bounds are a little above what comes of it.  The last one of a row is the collector's without its waits for
 * tables, which have a limit of their own; 12 of 1,000 are for the samples alone.
 */
static const struct {
        struct load load;
        uint64_t urgent_ns;
        unsigned interrupted, opener, collector; /* of 1,000 parts of the time */
} loads[] = {
        { { .starts_a_s = 1, .urgent_of = 1 }, LOOK_NS, 1, 1, 15 },
        { { .starts_a_s = 1, .pool_a_s = 100 }, LOOK_NS, 3, 3, 20 },
        { { .starts_a_s = 100, .urgent_of = 10 }, POLL_NS, 15, 2, 20 },
        { { .starts_a_s = 100, .urgent_of = 1 }, POLL_NS, 16, 4, 20 },
        { { .starts_a_s = 100, .pool_a_s = 100 }, LOOK_NS, 16, 4, 22 },
        { { .starts_a_s = 1000, .pool_a_s = 100 }, POLL_NS, 140, 12, 35 },
        { { .starts_a_s = 10000 }, 0, 7, 32, 27 },
        { { .starts_a_s = 10000, .urgent_of = 100 }, POLL_NS, 25, 40, 32 },
        { { .starts_a_s = 10000, .urgent_of = 1 }, POLL_NS, 14, 240, 45 },
        /* The bells stay on for a pool, whatever that costs. */
        { { .starts_a_s = 10000, .pool_a_s = 100 }, POLL_NS, 1300, 90, 130 },
};

#define N_LOADS (sizeof(loads) / sizeof(loads[0]))

static void expect_share(uint64_t spent_ns, uint64_t duration_ns, unsigned parts)
{
        ck_assert_uint_le(spent_ns, duration_ns / 1000 * parts);
}

/* Each deadline that something may put off is met in the end, by so much. */
static void expect_deadlines(const struct world *w)
{
        const struct seen *s = &w->seen;
        uint64_t between_ns = PACE_LOOP_QUIET_MS * NS_PER_MS + s->cycle_ns;

        /* With its waits for tables. */
        ck_assert_uint_le(s->cycle_ns, PACE_MERGE_KERNEL_NS + PACE_ZONES_CYCLE_NS);
        ck_assert_uint_le(s->rest_ns, between_ns + PACE_LOOP_OPEN_MS * NS_PER_MS);
        ck_assert_uint_le(s->chunk_ns, PACE_CHUNK_AGE_NS + between_ns + PACE_LOOP_OPEN_MS * NS_PER_MS);
        ck_assert_uint_le(s->put_off_ns, PACE_STACKS_LATE_NS + between_ns + PACE_LOOP_OPEN_MS * NS_PER_MS);
        ck_assert(!s->is_broken);
        ck_assert_uint_eq(s->n_lost_stacks, 0);
        ck_assert_uint_le(s->ring_bytes, w->ring_bytes);
        for (size_t i = 0; i < N_FILES; i++)
                if (w->files[i].stack_ns != NEVER)
                        ck_assert_uint_le(w->now_ns - w->files[i].stack_ns,
                                          PACE_STACKS_LATE_NS + between_ns + N_FILES * TABLE_NS);
}

START_LOOP_TEST(test_loads, 0, N_LOADS)
{
        const uint64_t duration_ns = 10 * NS_PER_S;
        struct load load = loads[_i].load;
        struct world *w;

        load.rate_hz = 997;
        w = world_new(&load);
        run(w, duration_ns);
        ck_assert_uint_le(w->seen.urgent_ns, loads[_i].urgent_ns + PACE_OPENER_PAUSE_MAX_NS);
        ck_assert_uint_eq(w->seen.n_urgent > 0, load.urgent_of > 0 || load.pool_a_s > 0);
        ck_assert_uint_eq(w->seen.n_kernels > 500, load.pool_a_s > 0);
        ck_assert_uint_eq(w->seen.n_kernels_gone, 0);
        expect_share(w->seen.interrupted_ns, duration_ns, loads[_i].interrupted);
        expect_share(w->seen.opener_ns, duration_ns, loads[_i].opener);
        expect_share(w->seen.collector_ns - w->seen.table_wait_ns, duration_ns, loads[_i].collector);
        ck_assert_uint_le(w->seen.table_wait_ns, N_FILES * PACE_TABLES_WAIT_NS);
        /* The bells are turned off or on at most once in a window. */
        ck_assert_uint_le(w->seen.n_turns, duration_ns / PACE_BELLS_WINDOW_NS);
        expect_deadlines(w);
}
END_TEST

/* While nothing is sampled no table is made, and all of them when it is quiet again. */
START_LOOP_TEST(test_tables_wait_for_quiet, 0, 2)
{
        struct world *w = world_new(
                &(struct load){ .starts_a_s = _i ? 10000 : 100, .starts_end_ns = 3 * NS_PER_S });
        uint64_t quiet_ns;
        unsigned n_early = 0;

        run(w, 3 * NS_PER_S);
        quiet_ns = w->now_ns + PACE_FORKS_WINDOW_NS;
        for (size_t i = 0; i < N_FILES; i++)
                n_early += w->files[i].sent_ns != NEVER;
        ck_assert_uint_le(n_early, PACE_FORKS_MANY);
        run(w, 3 * NS_PER_S + PACE_FORKS_WINDOW_NS / 2);
        for (size_t i = 0; i < N_FILES; i++)
                n_early -= w->files[i].sent_ns != NEVER;
        ck_assert_uint_eq(n_early, 0);
        run(w, 5 * NS_PER_S);
        for (size_t i = 0; i < N_FILES; i++)
                ck_assert_uint_le(w->files[i].sent_ns, quiet_ns + 2 * PACE_LOOP_QUIET_MS * NS_PER_MS);
}
END_TEST

/* Ten times as many samples, of files that all lack their tables: waits stop before the rings are full. */
START_TEST(test_rings_of_the_kernel)
{
        struct world *w = world_new(&(struct load){ .starts_a_s = 10000, .rate_hz = 9973 });

        run(w, 5 * NS_PER_S);
        ck_assert_uint_le(w->seen.ring_bytes, w->ring_bytes);
        ck_assert_uint_gt(w->seen.ring_bytes, w->ring_bytes / 2);
        ck_assert_uint_gt(w->seen.table_wait_ns, PACE_TABLES_WAIT_NS);
        ck_assert_uint_le(w->seen.table_wait_ns, 6 * PACE_TABLES_WAIT_MAX_NS);
        ck_assert_uint_eq(w->seen.n_lost_stacks, 0);
}
END_TEST

/* Zones of 1 thread and of 4, all the time and in bursts; beside them, starts of programs. */
START_LOOP_TEST(test_rings_of_programs, 0, 3 * 3 * 2 * 2)
{
        static const uint64_t rates[] = { 1, 8, 64 };
        static const unsigned starts_a_s[] = { 0, 100, 10000 };
        const struct load load = { .starts_a_s = starts_a_s[_i / 3 % 3],
                                   .rate_hz = 997,
                                   .n_writers = _i / 9 % 2 ? 4 : 1,
                                   .zone_bytes_a_us = rates[_i % 3],
                                   .on_ns = 50 * NS_PER_MS,
                                   .off_ns = _i / 18 ? 150 * NS_PER_MS : 0,
                                   .spare_bytes = 120 * MIB };
        struct world *w = world_new(&load);
        uint64_t rest_ns = PACE_DRAIN_REST_MAX_NS, filling_ns = MIB / 2 / load.zone_bytes_a_us * NS_PER_US;

        run(w, 5 * NS_PER_S);
        if (load.off_ns == 0 && filling_ns < rest_ns)
                rest_ns = filling_ns;
        /* New files and regions are opened in between; rests are whole milliseconds. */
        rest_ns += NS_PER_MS;
        ck_assert_uint_le(w->seen.zone_bytes,
                          ((rest_ns + w->seen.cycle_ns) / NS_PER_US + 2 * STEP_US) * load.zone_bytes_a_us);
        ck_assert_uint_eq(w->seen.behind_ns, 0);
        ck_assert_uint_le(w->seen.put_off_ns, PACE_DRAIN_REST_MAX_NS + w->seen.cycle_ns); /* not at all */
        expect_deadlines(w);
}
END_TEST

/* More zones than can be merged: the cycle has its limits all the same, and way is given after a while. */
START_TEST(test_too_many_zones)
{
        struct world *w = world_new(&(struct load){ .starts_a_s = 100,
                                                    .rate_hz = 997,
                                                    .n_writers = 4,
                                                    .zone_bytes_a_us = 640,
                                                    .on_ns = NS_PER_S,
                                                    .spare_bytes = 120 * MIB });

        run(w, PACE_MERGE_BEHIND_NS - NS_PER_S);
        ck_assert(!recorder_pace_must_give_way(&w->pace, w->now_ns));
        run(w, PACE_MERGE_BEHIND_NS + 2 * NS_PER_S);
        ck_assert(recorder_pace_must_give_way(&w->pace, w->now_ns));
        ck_assert_uint_gt(w->seen.cycle_ns, PACE_ZONES_CYCLE_NS);
        expect_deadlines(w);
        /* It catches up when they write no more. */
        w->load.zone_bytes_a_us = 0;
        run(w, PACE_MERGE_BEHIND_NS + 20 * NS_PER_S);
        ck_assert(!recorder_pace_must_give_way(&w->pace, w->now_ns));
}
END_TEST
