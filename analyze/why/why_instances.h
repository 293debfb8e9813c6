/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_instances.h - the evidence of each instance that is compared
 *
 * Way of the data:  why_collector -> [why_instances] -> why_causes, why_tree
 *
 * An instance has rows of evidence, one for each kind and id, sorted by them: so
 * much time, or so much of a counter.  Bounded: WHY_INSTANCES_MAX of each group
 * and WHY_ROWS_MAX rows; what does not fit is counted.  Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_INSTANCES_H
#define ANALYZE_WHY_WHY_INSTANCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WHY_INSTANCES_MAX    32768               /* of each group */
#define WHY_ROWS_MAX         (UINT32_C(1) << 22) /* of all instances together: 96 MiB */
#define WHY_DRAFT_ROWS_MAX   (UINT32_C(1) << 17) /* distinct rows of an open instance */
#define WHY_INSIDE_ZONES_MAX (UINT32_C(1) << 16) /* locations of zones inside of an open instance */

enum why_kind {               /* id; amount: */
                WHY_LOCK = 1, /* lock; ns that it was waited for */
                WHY_WAIT = 2, /* struct why_wait_key; ns until the thread could run again */
                /* 0; ns from the wait to be moved until the thread ran on the other CPU */
                WHY_MOVED = 3,
                /* 0; ns between leaving a CPU and running on another, though it could have run on */
                WHY_DISPLACED = 4,
                WHY_PREEMPTED = 5,  /* 0; the same, but on the same CPU again */
                WHY_DELAY = 6,      /* 0; ns from a wake-up until it ran */
                WHY_SAMPLE = 7,     /* stack; weight */
                WHY_COUNTER = 8,    /* sample event; weight */
                WHY_WAKER = 9,      /* struct why_waker_key; ns of the waits that it ended */
                WHY_SUSPENDED = 10, /* 0; ns that the fiber was on no thread, or its thread waited */
                WHY_STOPPED = 11,   /* 0; ns that a signal or a debugger stopped the thread */
                /* of zones of devices: see why_spans.h */
                WHY_ON_DEVICE = 12, /* 0; ns from its begin to its end */
                WHY_BEHIND = 13,    /* location; ns of earlier work of its lane */
                WHY_HOST_LATE =
                        14, /* location of the innermost zone of the thread; ns that the lane was idle */
                WHY_HANDED_OVER = 15, /* 0; ns that the lane was idle after that */
                WHY_KINDS = 16,
};

struct why_row {
        uint32_t kind; /* enum why_kind */
        uint32_t id;
        uint64_t n; /* how often */
        uint64_t amount;
};

struct why_instance {
        uint64_t begin_ns, wall_ns;
        uint64_t duration_ns,
                on_cpu_ns;   /* the compared time, and that on a CPU, both without the cost of samples */
        uint64_t machine_ns; /* others had the CPU */
        uint64_t n_samples, weight;    /* of the event whose samples count */
        uint64_t n_moves;              /* how often it was seen on another CPU than before */
        uint64_t n_gaps, n_moved_gaps; /* preemptions, and those that ended on another CPU */
        uint32_t thread;
        uint32_t span; /* index + 1 in why_spans; 0 = it is a zone of the thread */
        bool is_slow;
        size_t first_row, n_rows;
};

/* An instance that is open. */
struct why_draft {
        struct why_row *rows; /* heap; one for each kind and id, in the order of their first events */
        size_t n_rows, capacity;
        uint32_t *slots; /* heap; by a hash of kind and id: the number of the row, from 1 on; 0 = empty */
        size_t n_slots;
        uint64_t n_left_out;
};

/*
 * Sums of the zones inside of an open instance, by location.  At most WHY_INSIDE_ZONES_MAX locations; zones
 * of further ones are counted.
 */
struct why_inside_zone {
        uint32_t location;
        uint64_t n, ns, ran_ns; /* how many, their durations, and their time on a CPU */
};

struct why_inside {
        struct why_inside_zone *zones; /* heap; as they came */
        size_t n_zones, capacity;
        uint32_t *slots; /* heap; by a hash of the location: the number of the zone, from 1 on; 0 = empty */
        size_t n_slots;
        uint64_t n_left_out;
};

struct why_instances {
        struct why_instance *items; /* heap */
        size_t n_items, capacity;
        struct why_row *rows; /* heap */
        size_t n_rows, rows_capacity;
        size_t n_slow, n_typical;
        uint64_t n_left_out;      /* instances for which there was no room */
        uint64_t n_rows_left_out; /* of evidence */
};

void why_instances_deinit(struct why_instances *s);
void why_draft_deinit(struct why_draft *d);

/* Nothing happened yet; keeps the memory. */
void why_draft_clear(struct why_draft *d);

/* Adds an amount of one kind and id.  Amortised constant time.  Returns 0 or -ENOMEM. */
int why_draft_add(struct why_draft *d, enum why_kind kind, uint32_t id, uint64_t amount);

/* Zero-initialised is empty and valid. */
void why_inside_deinit(struct why_inside *s);

/* Nothing happened yet; keeps the memory. */
void why_inside_clear(struct why_inside *s);

/* Adds a zone.  Amortised constant time.  Returns 0 or -ENOMEM. */
int why_inside_add(struct why_inside *s, uint32_t location, uint64_t ns, uint64_t ran_ns);

/* Keeps an instance with the rows of its draft, which is empty afterwards.  Returns 0 or -ENOMEM. */
int why_instances_add(struct why_instances *s, const struct why_instance *instance, struct why_draft *draft);

/*
 * Adds the rows of @draft, which is empty afterwards, to an instance that is kept.  Returns 0 or -ENOMEM.
 */
int why_instances_extend(struct why_instances *s, struct why_instance *item, struct why_draft *draft);

#endif /* ANALYZE_WHY_WHY_INSTANCES_H */
