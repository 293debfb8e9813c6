/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/thread_scene.h - threads that run, wait and wake each other, in a trace of a few calls
 *
 * Way of the data:  unit test -> [thread_scene] -> trace_builder -> wall_shares, idle_cores
 *
 * Times are in ms since the start of the recording.  The events of a thread are one run: those of another
 * one come after all of them, as when the recorder had no CPU for a while.  Samples are 1 ms apart, in the
 * middle of each.  CPU 0 is everywhere.
 */
#ifndef TESTS_UNIT_THREAD_SCENE_H
#define TESTS_UNIT_THREAD_SCENE_H

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "tests/unit/trace_builder.h"

#include <stdint.h>

#define THREAD_SCENE_START_NS UINT64_C(5000000000)
#define THREAD_SCENE_MS       UINT64_C(1000000)

struct thread_scene {
        struct trace_builder b;
        uint32_t event, program, libc, kernel;
        /* call stacks of waits: in queue_get(), mutex, nap(), save(), fetch(); and one without a place */
        uint32_t queue, mutex, timer, disk, network, none;
        uint32_t n_threads;
        struct loaded_trace trace;
        struct trace_filter filter;
        uint32_t cpu; /* of the switches that follow; changed by the test */
};

/* @n_cpus, @length_ms: of the recording, as META says; 0 = it does not */
void thread_scene_init(struct thread_scene *s, const char *n_cpus, uint64_t length_ms);
void thread_scene_deinit(struct thread_scene *s);

/* The call stack main < @name. */
uint32_t thread_scene_function(struct thread_scene *s, const char *name);

/* A thread of process 100, and its name; @born_ms: 0 = it was there before the recording. */
uint32_t thread_scene_thread(struct thread_scene *s, const char *name, double born_ms);

/* The events of a thread. */
void thread_scene_begin(struct thread_scene *s, uint32_t thread);
void thread_scene_end(struct thread_scene *s);
void thread_scene_in(struct thread_scene *s, double at_ms);
void thread_scene_out(struct thread_scene *s, double at_ms, uint32_t stack);
void thread_scene_preempt(struct thread_scene *s, double at_ms);
/* The thread itself is woken.  @by: 0 = by an interrupt */
void thread_scene_woken(struct thread_scene *s, double at_ms, uint32_t by);
/* Samples in [@from_ms, @to_ms). */
void thread_scene_work(struct thread_scene *s, double from_ms, double to_ms, uint32_t stack);
void thread_scene_exit(struct thread_scene *s, double at_ms);

/* It leaves its CPU at @out_ms, waits at @stack, is woken and on its CPU at @in_ms. */
void thread_scene_wait(struct thread_scene *s, double out_ms, uint32_t stack, double in_ms, uint32_t by);

/* Ends the trace, and opens it with a filter; NULL = everything. */
void thread_scene_open(struct thread_scene *s, const struct trace_filter_request *request);

#endif /* TESTS_UNIT_THREAD_SCENE_H */
