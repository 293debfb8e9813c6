/* SPDX-License-Identifier: MIT */
#include "sampler/recording/recorded_waiting.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/helper_thread.h"
#include "format/trace_spec.h"
#include "sampler/events/event_request.h"
#include "sampler/events/tracepoint.h"
#include "sampler/kernel/ring_size.h"
#include "sampler/merge/kernel_side.h"
#include "sampler/recording/recorded_scope.h"
#include "sampler/recording/recording_facts.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/switches/switch_source.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WAKING "sched:sched_waking"

/* ---- through perf -------------------------------------------------------------------------------------- */

/* Adds an event that is recorded each time that it happens. */
static struct event_spec *add_spec(struct event_request *request, enum event_role role, const char *name)
{
        struct event_spec *spec;

        if (request->n_specs == EVENT_REQUEST_SPECS_MAX)
                return NULL;
        spec = &request->specs[request->n_specs];
        *spec = (struct event_spec){ .unit = "events", .leader = (uint32_t)request->n_specs, .role = role };
        (void)snprintf(spec->name, sizeof(spec->name), "%s", name);
        request->n_specs++;
        return spec;
}

/* The switch happens in the kernel. */
static void sample_waits(struct recorded_waiting *w, bool sees_kernel, struct event_request *request)
{
        struct event_spec *spec;

        if (!sees_kernel) {
                (void)error_set(&w->no_stacks, -EACCES,
                                "where threads wait is unknown: samples of the "
                                "kernel are not permitted");
                return;
        }
        spec = add_spec(request, EVENT_ROLE_WAITS, "context-switches");
        if (!spec) {
                (void)error_set(&w->no_stacks, -EOVERFLOW, "where threads wait is unknown: too many events");
                return;
        }
        spec->type = PERF_TYPE_SOFTWARE;
        spec->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
}

static void sample_wakers(struct recorded_waiting *w, bool sees_kernel, struct event_request *request)
{
        struct event_spec *spec;
        uint32_t offset_bytes;
        uint64_t id;

        if (!sees_kernel) {
                (void)error_set(&w->no_wakers, -EACCES, "samples of the kernel are not permitted");
                return;
        }
        if (tracepoint_find(NULL, WAKING, strlen(WAKING), &id, &w->no_wakers) < 0 ||
            tracepoint_find_field(NULL, WAKING, "pid", &offset_bytes, &w->no_wakers) < 0)
                return;
        spec = add_spec(request, EVENT_ROLE_WAKERS, WAKING);
        if (!spec) {
                (void)error_set(&w->no_wakers, -EOVERFLOW, "too many events");
                return;
        }
        spec->type = PERF_TYPE_TRACEPOINT;
        spec->config = id;
        spec->is_tracepoint = true;
        spec->woken_offset_bytes = offset_bytes;
}

/* ---- either way ---------------------------------------------------------------------------------------- */

static void *load_program(void *context)
{
        struct recorded_waiting *w = context;
        const struct recorded_waiting_options *options = &w->options;
        long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
        struct switch_source_options bpf = {
                .stacks = options->off_cpu,
                .syscalls = options->syscalls,
                .idle = options->idle,
                .copy_bytes = options->copy_bytes,
                .python_fd = options->python_fd,
                .ring_bytes = ring_size_of_switches(options->off_cpu || options->syscalls,
                                                    n_cpus > 0 ? (size_t)n_cpus : 1),
        };

        if (switch_source_open(&bpf, &w->switches, &w->no_bpf) < 0)
                w->switches = NULL;
        return NULL;
}

void recorded_waiting_open(struct recorded_waiting *w, const struct recorded_waiting_options *options)
{
        *w = (struct recorded_waiting){ .options = *options,
                                        .off_cpu = options->off_cpu && !options->no_switches };
        if (options->no_switches)
                return;
        w->is_loading = helper_thread_start(&w->loader, "hyprof-loader", load_program, w) == 0;
        if (!w->is_loading)
                (void)load_program(w);
}

static void await_program(struct recorded_waiting *w)
{
        if (w->is_loading)
                (void)pthread_join(w->loader, NULL);
        w->is_loading = false;
}

bool recorded_waiting_choose(struct recorded_waiting *w, struct event_request *request)
{
        await_program(w);
        w->idle = w->switches && w->options.idle;
        w->by_perf = !w->switches && !w->options.no_switches;
        if (w->by_perf && w->options.off_cpu) {
                sample_waits(w, w->options.sees_kernel, request);
                sample_wakers(w, w->options.sees_kernel, request);
        }
        return w->by_perf;
}

int recorded_waiting_begin(struct recorded_waiting *w, struct recorded_scope *scope,
                           const struct cpu_list *cpus, bool delayed, struct error *err)
{
        bool everything = scope->request->whole_machine;
        int cgroup_fd = scope->kind == EVENT_SCOPE_CGROUP && !everything ? scope->cgroup.fd : -1;
        int r = 0;

        if (!w->switches)
                return 0;
        if (scope->command_pid != 0) {
                if (!delayed) /* BPF reports it before its execve(2) */
                        scope->filter.unborn_pid = scope->command_pid;
                r = switch_source_add_process(w->switches, scope->command_pid);
                if (r == 0 && !delayed)
                        r = switch_source_expect_program(w->switches, scope->command_pid);
        }
        return r < 0 ? error_set(err, r, "cannot name the command to BPF")
                     : switch_source_begin(w->switches, cgroup_fd, everything, cpus, err);
}

/*
 * Names processes to BPF before there are samples of them: otherwise a thread that is sampled, and whose
 * preemption BPF has missed, would seem to run on.
 */
void recorded_waiting_expect(struct recorded_waiting *w, const struct recorded_scope *scope)
{
        for (size_t i = 0; w->switches && i < scope->attachment.n_named; i++)
                (void)switch_source_add_process(w->switches, scope->attachment.named[i].pid);
}

/*
 * BPF follows the children of each process from now on.  Children that were born since the processes were
 * looked up are added at their fork records.  A process that BPF has no room for only has its samples, and
 * a loss is counted.
 */
void recorded_waiting_follow(struct recorded_waiting *w, const struct recorded_scope *scope,
                             struct kernel_side *samples)
{
        if (!w->switches)
                return;
        for (size_t i = 0; i < scope->attachment.n_found; i++)
                (void)switch_source_add_process(w->switches, scope->attachment.found[i].pid);
        samples->bpf_follows_ns = clock_raw_ns();
}

int recorded_waiting_describe(const struct recorded_waiting *w, struct trace_dictionary *dictionary)
{
        char words[2 * ERROR_TEXT_BYTES + 4];
        int r = w->off_cpu ? recording_facts_add_number(dictionary, "off_cpu", 1) : 0;

        if (r == 0 && w->idle)
                r = recording_facts_add_number(dictionary, "idle", 1);
        if (r == 0 && w->by_perf) {
                (void)snprintf(words, sizeof(words), "%s%s%s", w->no_bpf.text, w->no_stacks.code ? "; " : "",
                               w->no_stacks.text);
                r = recording_facts_add_notice(dictionary, TRACE_NOTICE_WAITING_BY_PERF, words);
        }
        if (r == 0 && w->no_wakers.code != 0)
                r = recording_facts_add_notice(dictionary, TRACE_NOTICE_NO_WAKERS, w->no_wakers.text);
        return r;
}

int recorded_waiting_describe_idle(const struct recorded_waiting *w, uint64_t start_ns, uint64_t end_ns,
                                   struct trace_dictionary *dictionary)
{
        struct byte_buffer text = { .data = NULL };
        int r = 0;

        if (!w->idle)
                return 0;
        switch_source_add_idle(w->switches, start_ns, end_ns, &text);
        if (text.used_bytes != 0) {
                byte_buffer_add(&text, "", 1);
                r = text.failed ? -ENOMEM
                                : recording_facts_add_meta(dictionary, "cpu_idle", (const char *)text.data);
        }
        byte_buffer_deinit(&text);
        return r;
}

void recorded_waiting_close(struct recorded_waiting *w)
{
        await_program(w);
        switch_source_close(w->switches);
        w->switches = NULL;
}
