/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/path_lab.h - a made-up machine of a few threads, for tests of who waits for whom
 *
 * Way of the data:  unit test -> [path_lab] -> trace_builder -> past, path_walk, path
 *
 * A test says what happens at which time, in any order; the trace has it in the order of time, or thread by
 * thread.  Threads have one letter, functions are called by their names.  Whatever goes wrong ends the test.
 */
#ifndef TESTS_UNIT_PATH_LAB_H
#define TESTS_UNIT_PATH_LAB_H

#include "analyze/devices/device_works.h"
#include "analyze/path/past.h"
#include "analyze/path/path.h"
#include "analyze/path/path_walk.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "tests/unit/trace_builder.h"

#include <stdbool.h>
#include <stdint.h>

struct trace_filter_request;

#define PATH_LAB_EVENTS_MAX  400000
#define PATH_LAB_THREADS_MAX 256
#define PATH_LAB_TEXT_MAX    8192

struct path_lab_event {
        uint64_t time_ns;
        uint64_t operands[TRACE_OPERANDS_MAX];
        uint32_t thread, order;
        enum trace_op op;
};

struct path_lab {
        struct trace_builder b;
        struct path_lab_event *events; /* heap */
        uint32_t n_events;
        uint32_t names[PATH_LAB_THREADS_MAX]; /* strings; by thread - 1 */
        uint64_t cpus[PATH_LAB_THREADS_MAX];  /* by thread - 1 */
        uint32_t event, program, libc, kernel, n_functions;
        bool by_thread; /* the trace has all of a thread's events, then all of the next one's */
        bool is_written;
        struct loaded_trace trace;
        struct past past;
        struct device_works works;
        struct path_walk walk;
        struct path path;
        char text[PATH_LAB_TEXT_MAX]; /* of the walk */
        uint32_t n_segments;
        uint64_t told_ns, sum_ns; /* of the walk: the begin of the segment before, and of all of them */
};

/* There is one; a test's plan makes it and takes it down. */
extern struct path_lab path_lab;

void path_lab_init(void);
void path_lab_deinit(void);

/* A thread of the process 10, which was there before the recording, on the CPU @cpu. */
uint32_t path_lab_thread(const char *name, uint32_t cpu);
/* One that begins at @start_ns, in a process whose parent is @parent; 0 = none. */
uint32_t path_lab_new_thread(const char *name, uint32_t cpu, uint32_t pid, uint32_t parent,
                             uint64_t start_ns);
uint32_t path_lab_fiber(const char *name);
uint32_t path_lab_lock(const char *name);

/* The call stack main(), @function(). */
uint32_t path_lab_function(const char *function);
/* On top of a stack: a function of the C library, of the kernel. */
uint32_t path_lab_call(uint32_t stack, const char *function);
uint32_t path_lab_kernel(uint32_t stack, const char *function);

/* A device whose ticks are nanoseconds; its clock may be wrong by @error_ns, 0 = by what is not known. */
uint32_t path_lab_device(const char *name, uint64_t error_ns);
/* A zone of the thread at @asked_ns, 1 ns long, which asks for [@begin_ns, @end_ns) of @kernel on a lane. */
void path_lab_work(uint32_t thread, uint64_t asked_ns, uint32_t device, uint32_t lane, const char *kernel,
                   uint64_t begin_ns, uint64_t end_ns);

void path_lab_event(uint32_t thread, uint64_t time_ns, enum trace_op op, const uint64_t *operands);
#define PATH_LAB_EVENT(thread, time_ns, op, ...)           \
        path_lab_event((thread), (time_ns), TRACE_OP_##op, \
                       (const uint64_t[TRACE_OPERANDS_MAX]){ __VA_ARGS__ })

/* Waits from @out_ns on; 0 = the place is not known. */
void path_lab_out(uint32_t thread, uint64_t out_ns, uint32_t stack);
void path_lab_in(uint32_t thread, uint64_t in_ns);
void path_lab_wake(uint32_t thread, uint64_t time_ns, uint32_t waker);
/* By an interrupt (@name NULL), or a program that was not recorded. */
void path_lab_wake_by(uint32_t thread, uint64_t time_ns, const char *name);
/* Waits in [@out_ns, @in_ns), woken at @woken_ns by a thread; 0 = by an interrupt. */
void path_lab_wait(uint32_t thread, uint64_t out_ns, uint64_t woken_ns, uint64_t in_ns, uint32_t waker,
                   uint32_t stack);
void path_lab_preempt(uint32_t thread, uint64_t out_ns, uint64_t in_ns);
/* A sample each @step_ns in [@begin_ns, @end_ns), each of which stands for @step_ns. */
void path_lab_samples(uint32_t thread, uint64_t begin_ns, uint64_t end_ns, uint64_t step_ns, uint32_t stack);
void path_lab_zone(uint32_t thread, uint64_t begin_ns, uint64_t end_ns, uint32_t location);

/* Writes the trace and opens it; once. */
void path_lab_write(void);
/* And the past that it has. */
void path_lab_load(void);

/*
 * path_lab_walk() - the path of [begin_ns, end_ns) as a text, the earliest segment first
 * "0-10 m run, 10-30 .w run, 30-32 m ready": a dot a thread that waits for it.  Ends the test if the segments
 * are no partition.  Loads the trace if it is not loaded.
 */
const char *path_lab_walk(uint32_t thread, uint64_t begin_ns, uint64_t end_ns);

/* Asks for the path of a zone, NULL = the whole run.  Returns what path_init() returns. */
int path_lab_ask(const struct path_request *request, const struct trace_filter_request *filter,
                 struct error *err);

/* The same for a question that has an answer. */
void path_lab_get(const struct path_request *request);

/* The row of a thread and a function, by their names; 0 = there is none. */
uint32_t path_lab_row(enum path_row_kind kind, const char *thread, const char *function);
double path_lab_share(enum path_row_kind kind, const char *thread, const char *function);
bool path_lab_is(uint32_t label, const char *function);

#define PATH_LAB_SHARE(kind, thread, function, expected)                                              \
        do {                                                                                          \
                double share_ = path_lab_share(PATH_ROW_##kind, thread, function);                    \
                ck_assert_msg(fabs(share_ - (expected)) < 0.001, "%s of %s in %s: %f", #kind, thread, \
                              function, share_);                                                      \
        } while (0)

/* Ends the test if the shares of all rows but those of others are not the whole. */
void path_lab_whole(void);

#endif /* TESTS_UNIT_PATH_LAB_H */
