/* SPDX-License-Identifier: MIT */
#include "tests/unit/path_lab.h"

#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "format/trace_rows.h"
#include "tests/unit/unit_test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct path_lab path_lab;

void path_lab_init(void)
{
        memset(&path_lab, 0, sizeof(path_lab));
        trace_builder_init(&path_lab.b);
        path_lab.events = calloc(PATH_LAB_EVENTS_MAX, sizeof(*path_lab.events));
        ck_assert_ptr_nonnull(path_lab.events);
        path_lab.event = trace_builder_sample_event(&path_lab.b, "task-clock");
        path_lab.program = trace_builder_module(&path_lab.b, "/bin/program");
        path_lab.libc = trace_builder_module(&path_lab.b, "/usr/lib/libc.so.6");
        path_lab.kernel = trace_builder_module_of(&path_lab.b, TRACE_MODULE_KERNEL, "[kernel]");
}

void path_lab_deinit(void)
{
        path_deinit(&path_lab.path);
        path_walk_deinit(&path_lab.walk);
        past_deinit(&path_lab.past);
        device_works_deinit(&path_lab.works);
        loaded_trace_close(&path_lab.trace);
        free(path_lab.events);
        trace_builder_deinit(&path_lab.b);
}

/* ------------------------------------------------------------------ threads and code */

static uint32_t add_thread(uint32_t id, const char *name, uint32_t cpu)
{
        ck_assert_uint_le(id, PATH_LAB_THREADS_MAX);
        path_lab.names[id - 1] = trace_builder_string(&path_lab.b, name);
        path_lab.cpus[id - 1] = cpu;
        return id;
}

uint32_t path_lab_thread(const char *name, uint32_t cpu)
{
        uint32_t n = trace_dictionary_count(&path_lab.b.dictionary, TRACE_TABLE_THREADS);

        return add_thread(trace_builder_thread(&path_lab.b, 10, 10 + n), name, cpu);
}

uint32_t path_lab_new_thread(const char *name, uint32_t cpu, uint32_t pid, uint32_t parent, uint64_t start_ns)
{
        const struct trace_process process = { .pid = pid, .parent = parent };
        struct trace_thread thread = { .start_ns = start_ns };

        thread.tid = 100 + trace_dictionary_count(&path_lab.b.dictionary, TRACE_TABLE_THREADS);
        thread.process = trace_builder_row(&path_lab.b, TRACE_TABLE_PROCESSES, &process);
        return add_thread(trace_builder_row(&path_lab.b, TRACE_TABLE_THREADS, &thread), name, cpu);
}

uint32_t path_lab_fiber(const char *name)
{
        uint32_t n = trace_dictionary_count(&path_lab.b.dictionary, TRACE_TABLE_THREADS);

        return add_thread(trace_builder_fiber(&path_lab.b, 10, 1 + n), name, 0);
}

uint32_t path_lab_lock(const char *name)
{
        struct trace_lock lock = { .process = 1, .location = trace_builder_location(&path_lab.b, name) };

        lock.number = trace_dictionary_count(&path_lab.b.dictionary, TRACE_TABLE_LOCKS);
        return trace_builder_row(&path_lab.b, TRACE_TABLE_LOCKS, &lock);
}

static uint32_t push(uint32_t stack, uint32_t module, const char *function)
{
        return trace_builder_push(&path_lab.b, stack, module, 0x1000 + 16 * (uint64_t)path_lab.n_functions++,
                                  function);
}

uint32_t path_lab_function(const char *function)
{
        return push(push(0, path_lab.program, "main"), path_lab.program, function);
}

uint32_t path_lab_call(uint32_t stack, const char *function)
{
        return push(stack, path_lab.libc, function);
}

uint32_t path_lab_kernel(uint32_t stack, const char *function)
{
        return push(stack, path_lab.kernel, function);
}

/* ------------------------------------------------------------------ what happens */

void path_lab_event(uint32_t thread, uint64_t time_ns, enum trace_op op, const uint64_t *operands)
{
        struct path_lab_event *event = &path_lab.events[path_lab.n_events];

        ck_assert_uint_lt(path_lab.n_events, PATH_LAB_EVENTS_MAX);
        event->time_ns = time_ns;
        event->thread = thread;
        event->order = path_lab.n_events++;
        event->op = op;
        memcpy(event->operands, operands, sizeof(event->operands));
}

void path_lab_out(uint32_t thread, uint64_t out_ns, uint32_t stack)
{
        PATH_LAB_EVENT(thread, out_ns, SWITCH_OUT, path_lab.cpus[thread - 1], 0, TRACE_WAIT_SLEEPING, stack,
                       stack != 0 ? TRACE_STACK_COMPLETE : 0);
}

void path_lab_in(uint32_t thread, uint64_t in_ns)
{
        PATH_LAB_EVENT(thread, in_ns, SWITCH_IN, path_lab.cpus[thread - 1]);
}

void path_lab_wake(uint32_t thread, uint64_t time_ns, uint32_t waker)
{
        PATH_LAB_EVENT(thread, time_ns, WAKEUP, waker != 0 ? path_lab.cpus[waker - 1] : 0, waker,
                       waker != 0 ? path_lab.names[waker - 1] : 0);
}

void path_lab_wake_by(uint32_t thread, uint64_t time_ns, const char *name)
{
        PATH_LAB_EVENT(thread, time_ns, WAKEUP, 0, 0, name ? trace_builder_string(&path_lab.b, name) : 0);
}

void path_lab_wait(uint32_t thread, uint64_t out_ns, uint64_t woken_ns, uint64_t in_ns, uint32_t waker,
                   uint32_t stack)
{
        path_lab_out(thread, out_ns, stack);
        path_lab_wake(thread, woken_ns, waker);
        path_lab_in(thread, in_ns);
}

void path_lab_preempt(uint32_t thread, uint64_t out_ns, uint64_t in_ns)
{
        PATH_LAB_EVENT(thread, out_ns, SWITCH_OUT, path_lab.cpus[thread - 1], 1, TRACE_WAIT_PREEMPTED);
        path_lab_in(thread, in_ns);
}

void path_lab_samples(uint32_t thread, uint64_t begin_ns, uint64_t end_ns, uint64_t step_ns, uint32_t stack)
{
        for (uint64_t t = begin_ns; t < end_ns; t += step_ns)
                PATH_LAB_EVENT(thread, t, SAMPLE, path_lab.event, path_lab.cpus[thread - 1], stack, 0,
                               step_ns);
}

void path_lab_zone(uint32_t thread, uint64_t begin_ns, uint64_t end_ns, uint32_t location)
{
        PATH_LAB_EVENT(thread, begin_ns, ZONE_BEGIN, location);
        PATH_LAB_EVENT(thread, end_ns, ZONE_END, 0);
}

uint32_t path_lab_device(const char *name, uint64_t error_ns)
{
        uint32_t id = trace_dictionary_count(&path_lab.b.dictionary, TRACE_TABLE_DEVICES) + 1;
        struct trace_device device = { .process = 1, .number = id };
        const double period_ns = 1;

        device.name = trace_builder_string(&path_lab.b, name);
        memcpy(&device.period_bits, &period_ns, sizeof(period_ns));
        (void)trace_builder_row(&path_lab.b, TRACE_TABLE_DEVICES, &device);
        for (uint64_t at = 1000000000; at <= 2000000000; at += 1000000000) {
                const struct trace_device_clock clock = {
                        .ticks = at, .raw_ns = at, .error_ns = error_ns, .device = id
                };

                (void)trace_builder_row(&path_lab.b, TRACE_TABLE_DEVICE_CLOCKS, &clock);
                if (error_ns == 0)
                        break;
        }
        return id;
}

void path_lab_work(uint32_t thread, uint64_t asked_ns, uint32_t device, uint32_t lane, const char *kernel,
                   uint64_t begin_ns, uint64_t end_ns)
{
        uint64_t key = path_lab.n_events + 1;

        PATH_LAB_EVENT(thread, asked_ns, ZONE_BEGIN, trace_builder_location(&path_lab.b, "submit"));
        PATH_LAB_EVENT(thread, asked_ns, ZONE_KEY, 0, key);
        PATH_LAB_EVENT(thread, asked_ns, DEVICE_SPAN, device, trace_builder_location(&path_lab.b, kernel),
                       begin_ns, end_ns - begin_ns, lane, key);
        PATH_LAB_EVENT(thread, asked_ns + 1, ZONE_END, 0);
}

/* ------------------------------------------------------------------ the trace */

static int compare_events(const void *a, const void *b)
{
        const struct path_lab_event *left = a, *right = b;

        if (path_lab.by_thread && left->thread != right->thread)
                return left->thread < right->thread ? -1 : 1;
        if (left->time_ns != right->time_ns)
                return left->time_ns < right->time_ns ? -1 : 1;
        return left->order < right->order ? -1 : 1;
}

static void write_names(void)
{
        uint32_t n = trace_dictionary_count(&path_lab.b.dictionary, TRACE_TABLE_THREADS);

        for (uint32_t id = 1; id <= n; id++) {
                const struct trace_thread *row = trace_dictionary_row(&path_lab.b.dictionary,
                                                                      TRACE_TABLE_THREADS, id);

                if (path_lab.names[id - 1] == 0)
                        continue;
                trace_builder_begin_run(&path_lab.b, id);
                TRACE_BUILDER_ADD(&path_lab.b, row->start_ns, THREAD_NAME, path_lab.names[id - 1]);
                trace_builder_end_run(&path_lab.b);
        }
}

void path_lab_write(void)
{
        struct error err = ERROR_NONE;
        char end[32];
        uint64_t end_ns = 1;

        if (path_lab.is_written)
                return;
        path_lab.is_written = true;
        write_names();
        if (path_lab.n_events != 0)
                qsort(path_lab.events, path_lab.n_events, sizeof(*path_lab.events), compare_events);
        for (uint32_t i = 0; i < path_lab.n_events; i++) {
                const struct path_lab_event *event = &path_lab.events[i];

                if (i == 0 || event[-1].thread != event->thread)
                        trace_builder_begin_run(&path_lab.b, event->thread);
                trace_builder_add(&path_lab.b, event->time_ns, event->op, NULL, event->operands);
                if (i + 1 == path_lab.n_events || event[1].thread != event->thread)
                        trace_builder_end_run(&path_lab.b);
                end_ns = event->time_ns > end_ns ? event->time_ns : end_ns;
        }
        (void)snprintf(end, sizeof(end), "%" PRIu64, end_ns);
        trace_builder_meta(&path_lab.b, "start_raw_ns", "1");
        trace_builder_meta(&path_lab.b, "end_raw_ns", end);
        trace_builder_finish(&path_lab.b);
        ck_assert_msg(loaded_trace_open(&path_lab.trace, path_lab.b.path, &err) == 0, "%s", err.text);
        ck_assert_int_eq(loaded_trace_read_names(&path_lab.trace, &err), 0);
}

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        (void)err;
        return past_sample(context, thread, event);
}

static int take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                     struct error *err)
{
        (void)err;
        return past_wait_over(context, thread, wait);
}

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        (void)err;
        return past_event(context, thread, event);
}

void path_lab_load(void)
{
        const struct trace_sink sink = {
                .context = &path_lab.past, .sample = take_sample, .wait = take_wait, .event = take_event
        };
        struct error err = ERROR_NONE;
        struct trace_walk walk;

        path_lab_write();
        UNIT_TEST_SPOIL(path_lab.past);
        ck_assert_int_eq(past_init(&path_lab.past, &path_lab.trace, path_lab.event), 0);
        ck_assert_int_eq(trace_walk_init(&walk, &path_lab.trace, NULL, &sink), 0);
        ck_assert_msg(loaded_trace_walk(&path_lab.trace, &walk, &err) == 0, "%s", err.text);
        trace_walk_deinit(&walk);
}

/* ------------------------------------------------------------------ questions */

static struct text_view name_of(const struct device_work *work)
{
        const struct device_work_name *name = intern_get(&path_lab.works.names, work->name, NULL);
        const struct trace_location *row = trace_dictionary_row(path_lab.trace.dictionary,
                                                                TRACE_TABLE_LOCATIONS, name->location);

        return trace_dictionary_text(path_lab.trace.dictionary, row->name);
}

static const char *kind_of(const struct path_segment *s)
{
        static const char *const kinds[] = {
                [PATH_RUN] = "run",       [PATH_MACHINE] = "ready", [PATH_WAIT] = "wait",
                [PATH_LOCK] = "lock",     [PATH_UNBORN] = "unborn", [PATH_CUT] = "cut",
                [PATH_LAUNCH] = "launch", [PATH_LATE] = "late",
        };
        static const char *const ends[] = {
                [WAIT_END_UNKNOWN] = "unknown", [WAIT_END_THREAD] = "thread", [WAIT_END_PROGRAM] = "program",
                [WAIT_END_TIMER] = "timer",     [WAIT_END_DISK] = "disk",     [WAIT_END_NETWORK] = "network",
        };

        if (s->kind == PATH_DEVICE)
                return "";
        if (s->kind == PATH_WAIT)
                return ends[s->wait->end];
        return s->kind == PATH_MACHINE && s->wait->preempted ? "preempted" : kinds[s->kind];
}

/* Puts the segment before those that are there. */
static int take_segment(void *context, const struct path_segment *s)
{
        char text[PATH_LAB_TEXT_MAX];
        struct text_view name = loaded_trace_thread_name(&path_lab.trace, s->thread), kernel = { "", 0 };
        size_t n = strlen(path_lab.text);
        int k;

        (void)context;
        ck_assert_uint_eq(s->end_ns, path_lab.told_ns);
        ck_assert_uint_lt(s->begin_ns, s->end_ns);
        path_lab.told_ns = s->begin_ns;
        path_lab.sum_ns += s->end_ns - s->begin_ns;
        path_lab.n_segments++;
        if (s->kind == PATH_DEVICE)
                kernel = name_of(s->work);
        k = snprintf(text, sizeof(text), "%" PRIu64 "-%" PRIu64 " %.*s%.*s %.*s%s%s", s->begin_ns, s->end_ns,
                     (int)s->depth, "................................................................",
                     (int)name.n_bytes, name.bytes, (int)kernel.n_bytes, kernel.bytes, kind_of(s),
                     n != 0 ? ", " : "");
        if ((size_t)k + n >= sizeof(path_lab.text))
                return 0;
        memmove(path_lab.text + k, path_lab.text, n + 1);
        memcpy(path_lab.text, text, (size_t)k);
        return 0;
}

const char *path_lab_walk(uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
        if (!path_lab.past.trace)
                path_lab_load();
        if (!path_lab.walk.take) {
                UNIT_TEST_SPOIL(path_lab.walk);
                ck_assert_int_eq(device_works_take_sure(&path_lab.works, &path_lab.trace, NULL), 0);
                path_walk_init(&path_lab.walk, &path_lab.past, take_segment, NULL);
                path_lab.walk.works = &path_lab.works;
        }
        path_lab.text[0] = '\0';
        path_lab.told_ns = end_ns;
        path_lab.sum_ns = 0;
        path_lab.n_segments = 0;
        ck_assert_int_eq(path_walk_run(&path_lab.walk, thread, begin_ns, end_ns), 0);
        ck_assert_uint_eq(path_lab.told_ns, begin_ns);
        ck_assert_uint_eq(path_lab.sum_ns, end_ns - begin_ns);
        return path_lab.text;
}

int path_lab_ask(const struct path_request *request, const struct trace_filter_request *filter,
                 struct error *err)
{
        const struct trace_filter_request everything = { .zone = NULL };
        struct trace_filter chosen;
        int r;

        path_lab_write();
        path_deinit(&path_lab.path);
        r = trace_filter_init(&chosen, filter ? filter : &everything, &path_lab.trace, err);
        if (r == 0)
                r = path_init(&path_lab.path, &path_lab.trace, &chosen, request, err);
        trace_filter_deinit(&chosen);
        if (r == 0)
                ck_assert_uint_eq(path_lab.path.segments_ns, path_lab.path.total_ns);
        return r;
}

void path_lab_get(const struct path_request *request)
{
        struct error err = ERROR_NONE;

        ck_assert_msg(path_lab_ask(request, NULL, &err) == 0, "%s", err.text);
}

bool path_lab_is(uint32_t label, const char *function)
{
        enum function_kind kind;

        return text_view_is(path_names_function(&path_lab.path.names, label, &kind), function);
}

uint32_t path_lab_row(enum path_row_kind kind, const char *thread, const char *function)
{
        const struct path *p = &path_lab.path;

        for (uint32_t i = 0; i < p->n_rows; i++) {
                const struct path_row_key *key = path_sums_key(&p->sums, p->order[i]);
                struct text_view name = trace_dictionary_text(path_lab.trace.dictionary,
                                                              p->names.groups[key->group - 1].name);

                if (key->kind == kind && text_view_is(name, thread) && path_lab_is(key->own, function))
                        return p->order[i];
        }
        return 0;
}

double path_lab_share(enum path_row_kind kind, const char *thread, const char *function)
{
        uint32_t row = path_lab_row(kind, thread, function);

        if (kind == PATH_ROW_OTHERS || kind == PATH_ROW_PROGRAM)
                return path_kind_share(&path_lab.path, kind);
        return row != 0 ? path_row_share(&path_lab.path, row) : 0;
}

void path_lab_whole(void)
{
        double sum = 0;

        for (uint32_t i = 0; i < path_lab.path.n_rows; i++)
                sum += path_row_share(&path_lab.path, path_lab.path.order[i]);
        ck_assert_msg(fabs(sum - 1) < 1e-6, "%f", sum);
}
