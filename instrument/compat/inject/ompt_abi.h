/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/inject/ompt_abi.h - what an OpenMP runtime shares with a tool
 *
 * Way of the data:  runtime of OpenMP -> [ompt_abi] -> ompt_bridge
 *
 * Numbers and layouts of OMPT, as OpenMP 5.0 specifies them.
 */
#ifndef INSTRUMENT_COMPAT_INJECT_OMPT_ABI_H
#define INSTRUMENT_COMPAT_INJECT_OMPT_ABI_H

#include <stdint.h>

/* The callbacks' numbers. */
enum ompt_callback {
        OMPT_THREAD_BEGIN = 1,
        OMPT_PARALLEL_BEGIN = 3,
        OMPT_PARALLEL_END = 4,
        OMPT_TASK_CREATE = 5,
        OMPT_TASK_SCHEDULE = 6,
        OMPT_IMPLICIT_TASK = 7,
        OMPT_SYNC_WAIT = 16,
        OMPT_MUTEX_RELEASED = 17,
        OMPT_WORK = 20,
        OMPT_MUTEX_ACQUIRE = 26,
        OMPT_MUTEX_ACQUIRED = 27,
};

enum ompt_endpoint {
        OMPT_BEGIN = 1,
        OMPT_END = 2,
};

enum ompt_thread_kind {
        OMPT_THREAD_WORKER = 2,
};

enum ompt_task_flag {
        OMPT_TASK_INITIAL = 1,
        OMPT_TASK_IMPLICIT = 2,
        OMPT_TASK_EXPLICIT = 4,
};

/* Why a thread leaves a task. */
enum ompt_task_status {
        OMPT_TASK_COMPLETE = 1,
        OMPT_TASK_CANCEL = 3,
};

enum ompt_sync_kind {
        OMPT_SYNC_BARRIER = 1,
        OMPT_SYNC_BARRIER_IMPLICIT = 2,
        OMPT_SYNC_BARRIER_EXPLICIT = 3,
        OMPT_SYNC_BARRIER_RUNTIME = 4,
        OMPT_SYNC_TASKWAIT = 5,
        OMPT_SYNC_TASKGROUP = 6,
        OMPT_SYNC_REDUCTION = 7,
        OMPT_SYNC_BARRIER_WORK = 8,     /* 5.1: at the end of a loop, or the like */
        OMPT_SYNC_BARRIER_PARALLEL = 9, /* 5.1: at the end of a parallel region */
};

enum ompt_mutex_kind {
        OMPT_MUTEX_LOCK = 1,
        OMPT_MUTEX_TEST_LOCK = 2,
        OMPT_MUTEX_NEST_LOCK = 3,
        OMPT_MUTEX_TEST_NEST_LOCK = 4,
        OMPT_MUTEX_CRITICAL = 5,
        OMPT_MUTEX_ATOMIC = 6,
        OMPT_MUTEX_ORDERED = 7,
};

/* A word that the tool may use. */
union ompt_data {
        uint64_t value;
        void *pointer;
};

typedef void ompt_function(void);
typedef ompt_function *ompt_lookup(const char *name);
typedef int ompt_set_callback(int number, ompt_function *callback);

struct ompt_tool {
        int (*initialize)(ompt_lookup *lookup, int device, union ompt_data *tool);
        void (*finalize)(union ompt_data *tool);
        union ompt_data data;
};

#endif /* INSTRUMENT_COMPAT_INJECT_OMPT_ABI_H */
