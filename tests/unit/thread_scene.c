/* SPDX-License-Identifier: MIT */
#include "tests/unit/thread_scene.h"

#include "base/error.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>

static uint64_t time_of(double ms)
{
        return THREAD_SCENE_START_NS + (uint64_t)(ms * (double)THREAD_SCENE_MS);
}

static uint32_t wait_in(struct thread_scene *s, const char *function, const char *call, const char *kernel)
{
        static uint64_t offset = 0x4000;
        uint32_t at = thread_scene_function(s, function);

        offset += 0x10;
        if (call)
                at = trace_builder_push(&s->b, at, s->libc, offset, call);
        if (kernel)
                at = trace_builder_push(&s->b, at, s->kernel, offset, kernel);
        return trace_builder_push(&s->b, at, s->kernel, 0x3100, "__schedule");
}

void thread_scene_init(struct thread_scene *s, const char *n_cpus, uint64_t length_ms)
{
        struct trace_module kernel = { .kind = TRACE_MODULE_KERNEL };
        char number[32];

        *s = (struct thread_scene){ .filter = { .is_empty = true } };
        trace_builder_init(&s->b);
        s->event = trace_builder_sample_event(&s->b, "cpu-clock");
        s->program = trace_builder_module(&s->b, "/bin/program");
        s->libc = trace_builder_module(&s->b, "/usr/lib/x86_64-linux-gnu/libc.so.6");
        kernel.path = trace_builder_string(&s->b, "[kernel]");
        s->kernel = trace_builder_row(&s->b, TRACE_TABLE_MODULES, &kernel);
        s->queue = wait_in(s, "queue_get", "pthread_cond_wait", "futex_wait_queue");
        s->mutex = wait_in(s, "enter", "pthread_mutex_lock", "futex_wait_queue");
        s->timer = wait_in(s, "nap", "clock_nanosleep", "do_nanosleep");
        s->disk = wait_in(s, "save", "fdatasync", "io_schedule");
        s->network = wait_in(s, "fetch", "recv", "sk_wait_data");
        s->none = wait_in(s, "somewhere", NULL, NULL);
        if (n_cpus)
                trace_builder_meta(&s->b, "cpus", n_cpus);
        (void)snprintf(number, sizeof(number), "%" PRIu64, THREAD_SCENE_START_NS);
        trace_builder_meta(&s->b, "start_raw_ns", number);
        (void)snprintf(number, sizeof(number), "%" PRIu64, time_of((double)length_ms));
        if (length_ms != 0)
                trace_builder_meta(&s->b, "end_raw_ns", number);
}

void thread_scene_deinit(struct thread_scene *s)
{
        trace_filter_deinit(&s->filter);
        loaded_trace_close(&s->trace);
        trace_builder_deinit(&s->b);
        *s = (struct thread_scene){ .b.fd = -1 };
}

uint32_t thread_scene_function(struct thread_scene *s, const char *name)
{
        uint32_t outer = trace_builder_push(&s->b, 0, s->program, 0x100, "main");
        uint64_t offset = 0x1000;

        for (const char *c = name; *c != '\0'; c++)
                offset = offset * 31 + (unsigned char)*c;
        return trace_builder_push(&s->b, outer, s->program, offset % 0x10000000, name);
}

uint32_t thread_scene_thread(struct thread_scene *s, const char *name, double born_ms)
{
        struct trace_process process = { .pid = 100, .start_ns = 1 };
        struct trace_thread thread = { .tid = 100 + s->n_threads++ };
        uint32_t id;

        thread.process = trace_builder_row(&s->b, TRACE_TABLE_PROCESSES, &process);
        thread.start_ns = born_ms > 0 ? time_of(born_ms) : 1;
        id = trace_builder_row(&s->b, TRACE_TABLE_THREADS, &thread);
        trace_builder_begin_run(&s->b, id);
        TRACE_BUILDER_ADD(&s->b, time_of(born_ms), THREAD_NAME, trace_builder_string(&s->b, name));
        trace_builder_end_run(&s->b);
        return id;
}

void thread_scene_begin(struct thread_scene *s, uint32_t thread)
{
        trace_builder_begin_run(&s->b, thread);
}

void thread_scene_end(struct thread_scene *s)
{
        trace_builder_end_run(&s->b);
}

void thread_scene_in(struct thread_scene *s, double at_ms)
{
        TRACE_BUILDER_ADD(&s->b, time_of(at_ms), SWITCH_IN, s->cpu);
}

void thread_scene_out(struct thread_scene *s, double at_ms, uint32_t stack)
{
        TRACE_BUILDER_ADD(&s->b, time_of(at_ms), SWITCH_OUT, s->cpu, 0, TRACE_WAIT_SLEEPING, stack,
                          TRACE_STACK_COMPLETE);
}

void thread_scene_preempt(struct thread_scene *s, double at_ms)
{
        TRACE_BUILDER_ADD(&s->b, time_of(at_ms), SWITCH_OUT, s->cpu, 1, TRACE_WAIT_PREEMPTED);
}

void thread_scene_woken(struct thread_scene *s, double at_ms, uint32_t by)
{
        TRACE_BUILDER_ADD(&s->b, time_of(at_ms), WAKEUP, 0, by);
}

void thread_scene_work(struct thread_scene *s, double from_ms, double to_ms, uint32_t stack)
{
        for (double at_ms = from_ms + 0.5; at_ms < to_ms; at_ms++)
                trace_builder_sample(&s->b, time_of(at_ms), s->event, 0, stack);
}

void thread_scene_exit(struct thread_scene *s, double at_ms)
{
        trace_builder_event(&s->b, time_of(at_ms), TRACE_OP_THREAD_EXIT);
}

void thread_scene_wait(struct thread_scene *s, double out_ms, uint32_t stack, double in_ms, uint32_t by)
{
        thread_scene_out(s, out_ms, stack);
        thread_scene_woken(s, in_ms, by);
        thread_scene_in(s, in_ms);
}

void thread_scene_open(struct thread_scene *s, const struct trace_filter_request *request)
{
        static const struct trace_filter_request everything;
        struct error err = ERROR_NONE;

        trace_builder_finish(&s->b);
        ck_assert_msg(loaded_trace_open(&s->trace, s->b.path, &err) == 0, "%s", err.text);
        ck_assert_msg(loaded_trace_read_names(&s->trace, &err) == 0, "%s", err.text);
        ck_assert_msg(trace_filter_init(&s->filter, request ? request : &everything, &s->trace, &err) == 0,
                      "%s", err.text);
}
