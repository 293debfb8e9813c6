/* SPDX-License-Identifier: MIT */
/*
 * analyze/zones/zone_ranks.h - the zones that a pattern names, of each process beside the others: how even
 * the work is, and who came last to the barrier
 *
 * Way of the data:  trace_walk -> trace_totals, why_collector -> [zone_ranks] -> rank_rows, why_rank_words
 *
 * A rank is a process.  The k-th instance of one rank belongs to the k-th of the others if all have equally
 * many, each on one thread.  There is a barrier where instances end together, however far apart they came to
 * one of the gates: the begin of the instance (the zone is the barrier), the begin of its last inner zone
 * (that one is), or the end of its last inner zone (a barrier without a zone follows).  The gate that is
 * passed farthest apart counts.
 *
 * A rank is late if it came last to most of the gates, more often than chance explains, and by more than
 * clocks and a twentieth of an instance: balanced ranks have none.  With `looks_at_slow`, if no rank is late
 * in all instances, the slowest tenth of them is judged alone.
 *
 * Memory: 32 bytes an instance, ZONE_RANKS_INSTANCES_MAX of them; further ones are not compared.  Not
 * thread-safe.
 */
#ifndef ANALYZE_ZONES_ZONE_RANKS_H
#define ANALYZE_ZONES_ZONE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;
struct zone_instance;

#define ZONE_RANKS_INSTANCES_MAX (UINT32_C(1) << 20)
#define ZONE_RANKS_MAX           4096

/* Where ranks wait for each other. */
enum zone_gate { ZONE_GATE_BEGIN, ZONE_GATE_INNER_BEGIN, ZONE_GATE_INNER_END, ZONE_GATES };

enum zone_ranks_state {
        ZONE_RANKS_NONE,       /* one process has the zone, or none */
        ZONE_RANKS_THREADS,    /* several threads of a process have it */
        ZONE_RANKS_COUNTS,     /* the processes have unequal numbers of instances */
        ZONE_RANKS_CLOCKS,     /* how the hosts' clocks relate is not known */
        ZONE_RANKS_NO_BARRIER, /* instances do not end together */
        ZONE_RANKS_COMPARED,
};

struct zone_passage {
        uint64_t at_ns[ZONE_GATES]; /* 0 = there is no inner zone */
        uint64_t end_ns;
};

struct zone_rank {
        uint32_t process, thread; /* the first thread that had the zone */
        bool has_threads;         /* others had it as well */
        uint64_t n_closed, n_unclosed, total_ns;
        uint64_t n_last;               /* how often it came last to the gate */
        uint64_t late_ns;              /* then it came after the second last by that, in the median */
        struct zone_passage *passages; /* heap; of the first instances */
        size_t n_passages, capacity;
};

struct zone_ended {
        uint64_t begin_ns, end_ns;
        uint32_t depth;
        uint32_t reserved;
};

struct zone_ranks {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct zone_rank *ranks;                   /* heap; in the order in which they appear */
        uint32_t n_ranks;
        size_t capacity;
        uint32_t *rank_of;             /* heap; by process: index + 1 */
        struct zone_ended *ended;      /* heap; by thread: the zone that ended last */
        uint64_t n_passages, n_beyond; /* kept; of further ranks and instances */
        bool looks_at_slow;            /* set by the caller after zone_ranks_init() */
        /* From here on: after zone_ranks_finish(). */
        enum zone_ranks_state state;
        enum zone_gate gate;
        uint64_t n_compared;       /* instances of each rank */
        uint64_t n_judged;         /* of these: the ones that n_last of ranks is of */
        uint64_t judged_from_ns;   /* they lasted for so long; 0 = all */
        uint64_t mean_ns, most_ns; /* the totals of ranks */
        uint64_t clock_error_ns;   /* of hosts against each other */
        uint32_t late;             /* index + 1 of the rank that was late; 0 = none */
};

/* Zero-initialised is valid for zone_ranks_deinit().  Returns 0 or -ENOMEM. */
int zone_ranks_init(struct zone_ranks *z, const struct trace_dictionary *dictionary);
void zone_ranks_deinit(struct zone_ranks *z);

/*
 * zone_ranks_add() - a zone ended: any of a thread whose zones are looked at, in the order of their ends
 * Only named ones that are in no other named one are instances.  Returns 0 or -ENOMEM.
 */
int zone_ranks_add(struct zone_ranks *z, uint32_t thread, const struct zone_instance *zone);

/* Compares the ranks.  Returns 0 or -ENOMEM. */
int zone_ranks_finish(struct zone_ranks *z);

/* "into an instance" */
const char *zone_gate_words(enum zone_gate gate);

#endif /* ANALYZE_ZONES_ZONE_RANKS_H */
