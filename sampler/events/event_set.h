/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_set.h - all kernel events and rings of a recording
 *
 * Way of the data:  event_spec -> [event_set] -> perf_ring -> merge
 *
 * On each CPU two rings, which are read when they are a quarter full: one for the sampling events (with
 * context switches), and one for a dummy event, the tracker, that reports mappings, names, forks and exits.
 *
 * A mapping or a process may be gone a moment later, so some of these are urgent.  A wake-up for each record
 * would cost a program that starts others as much time as starting them (docs/use/scopes.md).  So a third
 * event on each CPU, the doorbell, wakes for mappings of code, forks and exits only, and event_set_silence()
 * turns it off while there are so many that looking now and then is cheaper.  Its records are thrown away.
 * Inherited events of running threads have no doorbells: there each record of the tracker wakes.
 *
 * Scopes (see event_scope.h):
 *   - a cgroup, or CPUs: one event of each kind on each CPU, disabled until event_set_enable().
 *     Descriptors: CPUs x (events + 2).
 *   - threads: each has inherited events on every CPU, which all that it starts later gets as well.  A
 *     command that has not begun is one thread, whose events start by themselves at its execve(2); a running
 *     process has many, whose events start as they are opened.  Descriptors: threads x CPUs x (events + 1),
 *     and one for each CPU with a command.
 * The rings are shared: those of a CPU belong to the first events there.
 */
#ifndef SAMPLER_EVENTS_EVENT_SET_H
#define SAMPLER_EVENTS_EVENT_SET_H

#include "base/intern.h"
#include "sampler/events/event_attr.h"
#include "sampler/events/event_request.h"
#include "sampler/events/event_scope.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/kernel/perf_ring.h"
#include "sampler/proc/cpu_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

struct event_set_options {
        struct event_attr_options attr; /* its request is borrowed until the set is closed */
        size_t tracker_ring_bytes;      /* for each CPU; a power of two; halved until the kernel allows it */
        bool wants_kernel_code;      /* with the scopes CGROUP and CPUS: on all CPUs, where it is permitted */
        enum event_scope_kind scope; /* CGROUP, CPUS or THREADS */
        int cgroup_fd;               /* CGROUP: its folder; borrowed */
        const char *cpus;            /* only these CPUs: "0-3,8"; NULL = all that are online */
};

/* One opened event of one thread on one CPU. */
struct event_handle {
        int fd;
        uint64_t id;   /* PERF_SAMPLE_IDENTIFIER; the kernel numbers events upwards, so the ids ascend */
        uint32_t spec; /* index of its event_spec; UINT32_MAX = the dummy */
        uint32_t tid;  /* the thread that it was opened on; 0 = a cgroup, or a CPU */
};

/* The doorbell of one CPU: a descriptor to poll, and a ring of one page. */
struct event_doorbell {
        int fd;     /* owned */
        bool rings; /* atomic: the collector begins and ends with it, the opener is in between */
        struct perf_ring ring;
};

/*
 * The owner of the events by which each thread is recorded: the thread itself, or the one that it inherited
 * them from.
 * Events are opened on the threads of a running process one after the other, while new threads are started.
 * One that is found late may have inherited the events of the thread that started it, all of them or those
 * on some CPUs, and is given its own nevertheless.  Then it is recorded twice, and so is everything that it
 * starts; records from events of another than its owner are left out.
 */
struct event_owners {
        struct intern tids;
        uint32_t *owners; /* heap, owned; by the tid's id - 1 */
        size_t capacity;
};

struct event_set {
        struct event_set_options options;
        struct cpu_list cpus;
        struct event_handle *handles; /* heap, owned */
        size_t n_handles, handles_capacity;
        struct perf_ring *rings; /* heap, owned: for each CPU the dummy's, then the sampling events' */
        int *ring_fds;           /* of each ring, to poll; borrowed from `handles`; -1 = not mapped */
        size_t n_rings;
        struct event_doorbell *doorbells; /* heap, owned: one for each CPU; NULL = there are none */
        int *kernel_code_fds;             /* heap, owned: one for each CPU; NULL = there are none */
        uint64_t kernel_code_boot_ns;     /* CLOCK_BOOTTIME: since when these events report; 0 = never */
        size_t ring_bytes;                /* of the sampling rings, after all reductions */
        int sample_program_fd;            /* borrowed; <= 0: none */
        struct perf_record_layout layout; /* of all records */
        struct event_owners owners;
        uint64_t added_ns;   /* when event_set_add() was last done */
        bool without_losses; /* the kernel cannot say in read(2) what it lost */
        bool overlaps;       /* some threads may be recorded twice, see event_set_is_double() */
};

/*
 * event_set_open() - prepare for the CPUs; with the scopes CGROUP and CPUS, open all events and map the rings
 * Returns 0; -ENODEV (a CPU that is not online), -EBADMSG; -ENOMEM; as event_set_add().
 */
int event_set_open(struct event_set *set, const struct event_set_options *options, struct error *err);
void event_set_close(struct event_set *set);

/*
 * event_set_use_program() - run a BPF program at each sample of the events that are open, and of later ones
 * @program_fd:  borrowed until the set is closed; -1 = none
 */
void event_set_use_program(struct event_set *set, int program_fd);

/*
 * event_set_add() - open the events of threads (THREADS), and map the rings that are not mapped yet
 * Threads that have ended meanwhile are passed over.  Samples come at once, and are forgotten until
 * event_set_enable(): opening thousands of events takes longer than the rings have room for.  After the first
 * call that returned more than 0, all rings are there, except those of CPUs without any of the sampling
 * events: those stay unmapped, and empty.
 * Returns the number of threads; -EACCES/-EPERM, -ENOENT (no such event on this machine), -EMFILE, -errno,
 * all with advice.
 */
int event_set_add(struct event_set *set, const uint32_t *tids, size_t n_tids, struct error *err);

/*
 * As event_set_add(), but for the other threads of a process: with only the records of mappings, names and
 * ends.
 */
int event_set_watch(struct event_set *set, const uint32_t *tids, size_t n_tids, struct error *err);

/*
 * event_set_enable() - begin; with THREADS, where events are open from the start, by forgetting older samples
 * Records of mappings begin before the first sample.  Returns 0 or -errno.
 */
int event_set_enable(struct event_set *set, struct error *err);

/* May this process open events on whole CPUs, and of cgroups?  Found out by trying: 0 or -errno. */
int event_set_try_cpus(void);

/* Says that added threads may have inherited events of threads that were added before. */
void event_set_expect_overlap(struct event_set *set);

/* Stops sampling for good; the rings keep what they have. */
void event_set_disable(struct event_set *set);

/* Stops the sampled events, or starts them again; events that report processes and mappings go on. */
void event_set_pause(struct event_set *set, bool paused);

/*
 * event_set_is_double() - has this record come already, by another event on the same thread?
 * The caller passes all records, in the order of time.
 */
bool event_set_is_double(struct event_set *set, const struct perf_record *rec);

/* ---- parts of event_set_is_double(), for tests ---- */

void event_owners_init(struct event_owners *o);
void event_owners_deinit(struct event_owners *o);

/* From now on @tid is recorded by the events that were opened on @owner.  Returns 0 or -ENOMEM. */
int event_owners_add(struct event_owners *o, uint32_t tid, uint32_t owner);

/* The thread whose events record @tid; 0 = not known. */
uint32_t event_owners_find(const struct event_owners *o, uint32_t tid);

/* The index of the spec that the event with this id was made from, or -1. */
int event_set_find_spec(const struct event_set *set, uint64_t id);

/* Does each CPU have a doorbell? */
bool event_set_has_doorbells(const struct event_set *set);

/* The doorbell of the CPU number @at may ring again.  To be called before the tracker's ring is looked at. */
void event_set_answer(struct event_set *set, size_t at);

/*
 * Turns the doorbell of the CPU number @at off, until event_set_ring_again().  Either interrupts the CPU, so
 * only those that have rung are silenced, and idle ones are left alone.
 */
void event_set_silence(struct event_set *set, size_t at);

/* Turns the doorbells on that are off.  The tracker's rings have the records that came in between. */
void event_set_ring_again(struct event_set *set);

/* Memory of all rings, which the kernel holds. */
uint64_t event_set_count_bytes(const struct event_set *set);

/* True for the rings of the dummy events: they hold no samples. */
bool event_set_is_tracker_ring(const struct event_set *set, size_t ring);

#endif /* SAMPLER_EVENTS_EVENT_SET_H */
