/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/process_table.h - the processes and threads that live now, by number
 *
 * Way of the data:  perf_record (FORK, EXIT, COMM, MMAP2) -> [process_table] -> kernel_side, zone_source
 *
 * Owns the tracks.  A track lives until its thread's exit was written to the
 * trace; its row in the dictionary stays.  Used by the collector's thread.
 */
#ifndef SAMPLER_TRACKS_PROCESS_TABLE_H
#define SAMPLER_TRACKS_PROCESS_TABLE_H

#include "base/intern.h"
#include "base/number_map.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/tracks/address_space.h"
#include "sampler/tracks/thread_track.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_TABLE_FIBERS_MAX (UINT32_C(1) << 18) /* of all processes that live */
#define PROCESS_TABLE_ENDED      1024                /* threads that ended last; a power of two */

/* Finds the track that has a number now, of the few of one process. */
struct track_map {
        struct intern numbers;
        void **tracks; /* heap, owned; by the id in `numbers` - 1; NULL = no track has the number now */
        size_t capacity;
};

struct waiting_space;

struct process_track {
        uint32_t pid;
        uint32_t process; /* id in the table PROCESSES */
        uint32_t n_threads;
        uint64_t last_exit_ns; /* the latest end of one of its threads */
        /* the process's zones are not read yet, so its events are held back: see zone_source.h */
        bool region_waits;
        bool exec_waits; /* an event that closes zones is pending: later events belong to a new program */
        /*
         * The process's zones are merged up to here only, so later events are held back; UINT64_MAX = as
         * far as any.
         */
        uint64_t stalled_ns;
        /*
         * Events from this time on are held back, since the stack of a sample waits for its unwind table
         * (waiting_stacks.h); UINT64_MAX = none does.
         */
        uint64_t held_ns;
        struct waiting_space
                /* borrowed: the last mappings that were copied for a waiting stack; or NULL */
                *waiting_space;
        bool is_bare;       /* no mapping was reported since its last execve */
        uint64_t bare_lost; /* the kernel_side's n_lost_records at that time */
        struct address_space space;
        struct earlier_spaces earlier; /* what `space` was before; see process_track_map() */
        struct track_map
                fibers; /* by the number that the program has for them; see process_table_add_fiber() */
        struct track_map own_threads; /* by thread_track.own_tid, as far as it is known */
        uint64_t n_threads_ever;
        struct paced_look maps_look;                      /* for code without a record */
        uint64_t return_probes_avma, return_probes_bytes; /* the kernel's uretprobes; 0 = none seen */
};

/* A thread whose exit was written, and whose track is gone. */
struct ended_thread {
        uint32_t pid, tid; /* 0 = none */
        uint32_t thread;   /* id in THREADS */
        uint32_t name;     /* string; 0 = unknown */
        uint64_t ended_ns;
};

struct process_table {
        struct trace_dictionary *dictionary;  /* borrowed */
        struct number_map processes, threads; /* tracks by the number that they have now */
        struct number_bitmap seen;            /* numbers of processes that were ever recorded */
        struct number_bitmap ended;           /* numbers of threads that were recorded and have ended */
        uint32_t *pids; /* heap, owned: by the id in PROCESSES - 1; rows may be forgotten once written */
        size_t pids_capacity;
        struct ended_thread last_ended[PROCESS_TABLE_ENDED]; /* by the low bits of the number */
        struct thread_track **listed;                        /* heap, owned: threads with pending events */
        size_t n_listed, listed_capacity;
        uint32_t n_threads; /* that live now */
        uint32_t n_fibers;
};

void process_table_init(struct process_table *t, struct trace_dictionary *dictionary);
void process_table_deinit(struct process_table *t);

/*
 * process_track_map() - adds a mapping that the process has from @time_ns on
 * Keeps what it covers, for events that are older.  process_track_exec() does so for a new program, which
 * has no mappings yet.  Return 0 or -ENOMEM.
 */
int process_track_map(struct process_track *process, const struct address_range *range, uint64_t time_ns);
int process_track_exec(struct process_track *process, uint64_t time_ns);

/* The track of a number, or NULL. */
struct process_track *process_table_find_process(const struct process_table *t, uint32_t pid);
struct thread_track *process_table_find_thread(const struct process_table *t, uint32_t tid);

/* The process with this id in PROCESSES, if it lives, or NULL. */
struct process_track *process_table_find_id(const struct process_table *t, uint32_t process);

/* True if a process with this number was ever recorded, whether it lives or not. */
bool process_table_has_seen(const struct process_table *t, uint32_t pid);

/* True if a thread with this number was recorded, and has ended since. */
bool process_table_has_ended(const struct process_table *t, uint32_t tid);

/*
 * process_table_find_ended() - a thread that was forgotten a moment ago
 * @now_ns:  at most PACE_WAITS_ENDED_NS after its end
 * NULL if there is none, if another thread has the number since, or if many threads have ended since.
 */
const struct ended_thread *process_table_find_ended(const struct process_table *t, uint32_t pid, uint32_t tid,
                                                    uint64_t now_ns);

struct thread_birth {
        uint32_t pid, tid;
        uint32_t parent_pid; /* of the process, in case it is new as well; 0 = unknown, or the same process */
        uint32_t parent_tid; /* the thread that created it; 0 = unknown */
        uint64_t time_ns;    /* when it was first seen */
};

/*
 * process_table_add_born() - the track of a thread, made if it is new
 * Returns 0, -ENOMEM, or -EOVERFLOW when the tables are full.
 */
int process_table_add_born(struct process_table *t, const struct thread_birth *birth,
                           struct thread_track **ret_thread);

/* The same for a thread whose creator is not known. */
int process_table_add_thread(struct process_table *t, uint32_t pid, uint32_t tid, uint32_t parent_pid,
                             uint64_t now_ns, struct thread_track **ret_thread);

/* The next thread of a process, from *@at on, which is 0 at first; NULL after the last. */
struct thread_track *process_table_next_thread(const struct process_table *t,
                                               const struct process_track *process, size_t *at);

/*
 * Finds the thread that has this number in the PID namespace of its process, if that is not ours; NULL =
 * not known.
 */
struct thread_track *process_table_find_own(const struct process_track *process, uint32_t own_tid);

/* Keeps the number of a thread in the PID namespace of its process.  Returns 0 or -ENOMEM. */
int process_table_number_thread(struct thread_track *thread, uint32_t own_tid);

/* Visits all tracks, threads and fibers, in no particular order. */
void process_table_visit(const struct process_table *t,
                         void (*visit)(void *context, const struct thread_track *track), void *context);

/* Finds the fiber of a process with this number; NULL = there is none. */
struct thread_track *process_table_find_fiber(const struct process_track *process, uint32_t number);

/*
 * process_table_add_fiber() - make the track of a fiber that is not there yet
 * Returns 0, -ENOMEM, or -EOVERFLOW when there are too many.
 */
int process_table_add_fiber(struct process_table *t, struct process_track *process, uint32_t number,
                            uint64_t now_ns, struct thread_track **ret_fiber);

/*
 * Forgets the fibers of a process: each has left its thread, and their numbers may mean others from now on.
 */
void process_table_forget_fibers(struct process_table *t, struct process_track *process);

/* Queues an event of a thread and lists the thread.  Consumes its copy of a stack.  Returns 0 or -ENOMEM. */
int process_table_add_pending(struct process_table *t, struct thread_track *thread,
                              const struct pending_event *event);

/* The same for a sample; also of a thread whose end is pending. */
int process_table_add_sample(struct process_table *t, struct thread_track *thread,
                             const struct pending_event *sample);

/* How far the events of a process up to @until_ns may be written: less where it is stalled or held. */
static inline uint64_t process_track_limit(const struct process_track *process, uint64_t until_ns)
{
        if (process->stalled_ns < until_ns)
                until_ns = process->stalled_ns;
        return process->held_ns <= until_ns ? process->held_ns - 1 : until_ns;
}

/*
 * Forgets a thread whose exit was written, and with the last thread also the process.  Returns the PID of a
 * process that was forgotten, else 0.
 */
uint32_t process_table_forget_thread(struct process_table *t, struct thread_track *thread);

#endif /* SAMPLER_TRACKS_PROCESS_TABLE_H */
