/* SPDX-License-Identifier: MIT */
/*
 * export/firefox/firefox_profile.h - the state of one Firefox profile while it is made, which its parts share
 *
 * Way of the data:  export_firefox -> [firefox_profile] -> firefox_threads, firefox_counters -> file
 *
 * While the trace is walked through, samples and markers go into chains of the spool; they are written when
 * it is over.  Stacks and strings are rows of firefox_tables from the beginning on.
 */
#ifndef EXPORT_FIREFOX_FIREFOX_PROFILE_H
#define EXPORT_FIREFOX_FIREFOX_PROFILE_H

#include "analyze/walk/trace_walk.h"
#include "export/firefox/firefox_tables.h"
#include "export/shared/event_spool.h"
#include "export/shared/json_out.h"
#include "export/shared/lock_waits.h"
#include "export/shared/process_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device_tracks;
struct error;
struct export_options;
struct export_totals;
struct loaded_trace;

/*
 * live_blocks.c - how large the blocks of memory are that a program has now
 *
 * Way of the data:  trace_walk (MEMORY_ALLOC, MEMORY_FREE) -> [live_blocks] -> export_firefox
 *
 * A free does not say how much.  Memory: 48 bytes for each living block, up to LIVE_BLOCKS_MAX; further
 * blocks are unknown when they are freed.  Not thread-safe.
 */

#define LIVE_BLOCKS_MAX (UINT32_C(1) << 22)

struct live_block {
        uint64_t address;
        uint64_t size_bytes;
        uint32_t process; /* 0 = the place is empty */
        uint32_t pool;    /* string */
};

struct live_blocks {
        struct live_block *slots; /* heap; open addressing, the search ends at an empty one */
        size_t n_slots;           /* a power of two, or 0 */
        size_t n_used;
};

/* Zero-initialised is empty and valid. */
void live_blocks_deinit(struct live_blocks *b);

/* Replaces an earlier block at that address.  Returns 0 or -ENOMEM. */
int live_blocks_add(struct live_blocks *b, const struct live_block *block);

/* Returns whether a block was there, and then its size. */
bool live_blocks_remove(struct live_blocks *b, const struct live_block *block, uint64_t *ret_size_bytes);

/*
 * longest_zones.c - the longest N of zones that come one by one
 *
 * Way of the data:  trace_walk -> [longest_zones] -> export_firefox (--max-markers)
 *
 * Keeps the N longest durations, 8 bytes each.  A zone shorter than all of them can be dropped at once.
 */

struct longest_zones {
        uint64_t *durations_ns; /* on the heap, and ordered as a heap: the shortest first */
        size_t n, capacity;
        uint64_t n_max; /* 0 = all are kept, and none is noted */
        uint64_t n_offered;
};

/* Zero-initialised but for n_max is valid. */
void longest_zones_deinit(struct longest_zones *z);

/* Returns 1 if the zone is among the longest so far, 0 if not, -ENOMEM. */
int longest_zones_offer(struct longest_zones *z, uint64_t duration_ns);

/* The shortest of them, when all were offered; 0 if all are kept. */
uint64_t longest_zones_limit_ns(const struct longest_zones *z);

/* How many zones exactly as long as the limit are among the longest. */
uint64_t longest_zones_at_limit(const struct longest_zones *z);

/*
 * time_order.c - events of several threads, nearly in the order of time -> in the order of time
 *
 * Way of the data:  event_spool (a chain that several threads added to) -> [time_order] -> export_firefox
 *
 * Threads alternate in the trace, a few milliseconds from each other.  The earliest of TIME_ORDER_ITEMS that
 * are read ahead comes next; even later events get the time of the one before them.  Memory: these items.
 */

#define TIME_ORDER_ITEMS 65536

/* The items of the chain. */
struct timed_item {
        uint64_t time_ns;
        uint64_t bits;    /* the user's */
        uint64_t address; /* the user's */
        uint32_t stack;   /* the user's */
        uint32_t thread;  /* the user's */
};

struct time_order {
        struct spool_cursor cursor;
        struct timed_item *items; /* on the heap, and ordered as a heap: the earliest first */
        size_t n, capacity;
        uint64_t last_ns;
};

void time_order_init(struct time_order *o, const struct event_spool *s, uint32_t chain);
void time_order_deinit(struct time_order *o);

/* Returns 1 and the next one, 0 at the end, -ENOMEM, -errno of the file. */
int time_order_next(struct time_order *o, struct timed_item *ret, struct error *err);

#define FIREFOX_DIGITS_OF_MS 6 /* nanoseconds as milliseconds */

/* A sample or a wait, as the spool has it; the weight of a wait is in nanoseconds. */
struct firefox_sample {
        uint64_t time_ns;
        uint64_t cpu_ns; /* on a CPU since the sample before */
        uint64_t weight;
        uint32_t stack; /* row, counted from 1 */
        uint32_t is_wait;
};

/* The types of markers, each a schema: X(NAME, "name") */
#define FIREFOX_MARKERS(X)    \
        X(ZONE, "Zone")       \
        X(MESSAGE, "Message") \
        X(FRAME, "Frame")     \
        X(LOCK, "Lock")       \
        X(DEVICE, "Device")

enum firefox_marker_type {
#define X(name, words) FIREFOX_MARKER_##name,
        FIREFOX_MARKERS(X)
#undef X
                FIREFOX_MARKER_COUNT
};

/* Whether the number of such markers is limited: only the longest are kept. */
static inline bool firefox_marker_is_limited(uint32_t type)
{
        return type == FIREFOX_MARKER_ZONE || type == FIREFOX_MARKER_LOCK || type == FIREFOX_MARKER_DEVICE;
}

struct firefox_marker {
        uint64_t begin_ns, end_ns; /* an instant: the same */
        uint64_t on_cpu_ns;        /* ZONE */
        int64_t value;             /* ZONE: if has_value */
        uint64_t key;              /* DEVICE: if has_key */
        uint64_t words_offset;     /* in the chain of words, if there are any */
        uint32_t called_bytes;     /* ZONE: what this one is called instead */
        uint32_t text_bytes;
        uint32_t name;     /* string's index */
        uint32_t place;    /* ZONE, DEVICE: "file:line", string's index + 1; 0 = not known */
        uint32_t type;     /* enum firefox_marker_type */
        uint32_t severity; /* MESSAGE */
        uint32_t device;   /* DEVICE: its name, string's index */
        uint32_t lane;     /* DEVICE */
        uint32_t track, key_kind, text, placed; /* DEVICE: string's index + 1; 0 = none */
        uint32_t stack;                         /* MESSAGE: row, counted from 1; 0 = none */
        uint8_t has_value, is_instant, is_unclosed, has_key;
};

struct firefox_thread {
        uint64_t cpu_ns;       /* until the sample before */
        uint64_t last_ns;      /* of the sample before */
        uint64_t callstack_ns; /* when the call stack was given; it belongs to the next event at this time */
        uint64_t weight;       /* of its samples */
        uint32_t callstack;
        bool has_samples;
};

/* A row of graphs; no padding: compared as bytes. */
struct firefox_counter_key {
        uint32_t process;
        uint32_t plot;  /* string; if event is 0 */
        uint32_t event; /* sample event */
};

/* From the first to the last of something; `first_ns` is UINT64_MAX if there is none. */
struct firefox_span {
        uint64_t first_ns, last_ns;
};

static inline void firefox_span_add(struct firefox_span *s, uint64_t begin_ns, uint64_t end_ns)
{
        if (begin_ns < s->first_ns)
                s->first_ns = begin_ns;
        if (end_ns > s->last_ns)
                s->last_ns = end_ns;
}

struct firefox_sequence {
        uint64_t last_ns; /* mark of a frame */
        bool any;
};

struct firefox_profile {
        struct loaded_trace *trace;
        const struct export_options *options;
        struct export_totals *totals;
        struct trace_walk walk;
        struct event_spool spool;
        struct firefox_tables tables;
        struct process_names names;
        struct lock_waits lock_waits;
        struct device_tracks *devices; /* while zones of devices are taken */
        struct longest_zones longest;
        uint64_t n_short[FIREFOX_MARKER_COUNT]; /* markers that are left out */
        struct live_blocks blocks;
        struct intern counters;             /* struct firefox_counter_key */
        struct intern sequence_keys;        /* struct firefox_counter_key of frames; `event` 1: with begins */
        struct firefox_sequence *sequences; /* heap; by id - 1 */
        size_t sequences_capacity;
        uint32_t *place_names;          /* heap; by location - 1: string's index + 1 of "file:line" */
        struct firefox_thread *threads; /* heap; by id - 1 */
        struct json_out json;
        struct firefox_span samples, markers; /* of all threads */
        double sample_weight;                 /* the mean weight of samples, which is written as 1 */
        uint64_t wait_weight_ns;              /* the length of a wait that is written as 1 */
};

/* The chains of the spool. */
static inline uint32_t firefox_samples_chain(uint32_t thread)
{
        return 2 * (thread - 1);
}

static inline uint32_t firefox_markers_chain(uint32_t thread)
{
        return 2 * (thread - 1) + 1;
}

static inline uint32_t firefox_words_chain(const struct firefox_profile *p)
{
        return 2 * p->names.n_threads;
}

static inline uint32_t firefox_memory_chain(const struct firefox_profile *p, uint32_t process)
{
        return firefox_words_chain(p) + process;
}

/* @counter: counted from 1 */
static inline uint32_t firefox_counter_chain(const struct firefox_profile *p, uint32_t counter)
{
        return firefox_words_chain(p) + p->names.n_processes + counter;
}

/* Milliseconds since the beginning of the recording. */
void firefox_profile_put_ms(struct firefox_profile *p, uint64_t time_ns);

/*
 * firefox_threads.c - the members "threads" and "counters" of a Firefox profile
 *
 * Way of the data:  firefox_profile -> [firefox_threads] -> export_firefox
 */

/* The threads that are written, a process after the other, its main thread first. */
struct firefox_threads {
        uint32_t *order; /* heap; ids in THREADS */
        uint32_t n;
        uint32_t *process_index; /* heap; by process - 1: the index of its first thread */
};

/* Finds the threads to write.  To be deinitialised in any case.  Returns 0 or -ENOMEM. */
int firefox_threads_init(struct firefox_threads *t, const struct firefox_profile *p);
void firefox_threads_deinit(struct firefox_threads *t);

/* The index of the thread with the most samples; 0 if there are none. */
uint32_t firefox_threads_busiest(const struct firefox_threads *t, const struct firefox_profile *p);

/* Write a member each.  Return 0, -ENOMEM, -errno of the spool. */
int firefox_threads_write(const struct firefox_threads *t, struct firefox_profile *p, struct error *err);
int firefox_counters_write(const struct firefox_threads *t, struct firefox_profile *p, struct error *err);

/* The member "nativeAllocations" of the main thread of @process, if it has any. */
int firefox_allocations_write(struct firefox_profile *p, uint32_t process, struct error *err);

/* ---- firefox_meta.c ---- */

void firefox_meta_write(struct firefox_profile *p, const struct firefox_threads *threads);

#endif /* EXPORT_FIREFOX_FIREFOX_PROFILE_H */
