/* SPDX-License-Identifier: MIT */
#include "sampler/recording/recorded_probes.h"

#include "base/clock.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "sampler/probes/probe_source.h"
#include "sampler/recording/command.h"
#include "sampler/recording/recorded_scope.h"
#include "sampler/recording/recording_facts.h"
#include "sampler/rights/privileges.h"
#include "sampler/switches/switch_source.h"
#include "sampler/tracks/thread_track.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>

#define DEAR_SHARE 20 /* more than this part of the programs' processor time is worth a warning: 5% */
#define NOTES_MAX  8  /* functions without zones that are named */

static const char *const option_names[] = { [PROBE_WISH_FUNCTION] = "--zone-function",
                                            [PROBE_WISH_STATIC_ZONE] = "--zone-usdt",
                                            [PROBE_WISH_MESSAGE] = "--usdt",
                                            [PROBE_WISH_TRACEPOINT] = "--zone-tracepoint",
                                            [PROBE_WISH_SYSCALLS] = "--zone-syscalls" };

/* Zones that overlap, and end on other threads, are of a device whose clock is that of the trace. */
static int add_device(struct probe_function *f, uint32_t name, struct trace_dictionary *dictionary)
{
        const double ns_a_tick = 1;
        struct trace_device row = { .name = name };
        struct trace_device_clock clock = { .ticks = clock_raw_ns(), .error_ns = 1 };
        uint32_t id;
        int r;

        memcpy(&row.period_bits, &ns_a_tick, sizeof(row.period_bits));
        r = trace_dictionary_add(dictionary, TRACE_TABLE_DEVICES, &row, &f->device);
        clock.raw_ns = clock.ticks;
        clock.device = f->device;
        return r < 0 ? r : trace_dictionary_add(dictionary, TRACE_TABLE_DEVICE_CLOCKS, &clock, &id);
}

static int add_location(struct probe_function *f, struct trace_dictionary *dictionary)
{
        struct trace_location row = { .line = f->line };
        int r = trace_dictionary_add_string(dictionary, f->name, strlen(f->name), &row.name);

        row.function = row.name;
        if (r == 0 && f->source)
                r = trace_dictionary_add_path(dictionary, f->source, strlen(f->source), &row.file);
        if (r == 0)
                r = trace_dictionary_add(dictionary, TRACE_TABLE_LOCATIONS, &row, &f->location);
        return r == 0 && f->is_joined ? add_device(f, row.name, dictionary) : r;
}

/* Under sudo, only root may read tracefs. */
static int add_tracepoints(struct recorded_probes *p, const struct probe_wish *wish, struct error *err)
{
        bool raised = privileges_raise(CAP_DAC_READ_SEARCH);
        int r = wish->kind == PROBE_WISH_SYSCALLS ? syscall_zones_add(&p->plan, wish->words, err)
                                                  : tracepoint_zones_add(&p->plan, wish->words, err);

        if (raised)
                privileges_lower(CAP_DAC_READ_SEARCH);
        return r;
}

int recorded_probes_plan(struct recorded_probes *p, const struct recorded_probes_request *request,
                         struct trace_dictionary *dictionary, struct error *err)
{
        char program[PATH_MAX];
        bool has_program = request->command && command_find_file(request->command, program, NULL) == 0;
        int r = 0;

        for (size_t i = 0; i < request->n_wishes; i++) {
                const struct probe_wish *wish = &request->wishes[i];
                const struct probe_plan_request one = { .kind = wish->kind,
                                                        .words = wish->words,
                                                        .program = has_program ? program : NULL,
                                                        .pid = request->pid,
                                                        .uid = request->uid,
                                                        .gid = request->gid };

                if (wish->kind == PROBE_WISH_TRACEPOINT || wish->kind == PROBE_WISH_SYSCALLS)
                        r = add_tracepoints(p, wish, err);
                else
                        r = probe_plan_add(&p->plan, &one, err);
                /* The file's refusal, and not that of the kernel's events, for which there is advice. */
                if (r == -EACCES || r == -EPERM)
                        r = -EINVAL;
                if (r < 0)
                        return error_prefix(err, r, "%s '%s'", option_names[wish->kind], wish->words);
        }
        for (size_t i = 0; r == 0 && i < p->plan.n_functions; i++)
                r = add_location(&p->plan.functions[i], dictionary);
        return r < 0 ? error_set(err, r, "no memory for the names of functions") : 0;
}

int recorded_probes_begin(struct recorded_probes *p, const struct recorded_probes_request *request,
                          const struct recorded_scope *scope, const struct switch_source *switches,
                          struct error *err)
{
        struct probe_source_options options = { .plan = &p->plan,
                                                .cgroup_fd = -1,
                                                .processes_fd = switch_source_processes(switches),
                                                .rate_max = request->rate_max };
        bool raised, reads;
        int r;

        if (p->plan.n_functions == 0)
                return 0;
        if (scope->kind == EVENT_SCOPE_CGROUP && !scope->request->whole_machine)
                options.cgroup_fd = scope->cgroup.fd;
        raised = !privileges_has(CAP_SYS_ADMIN) && privileges_raise(CAP_SYS_ADMIN);
        reads = p->plan.n_tracepoints > 0 && privileges_raise(CAP_DAC_READ_SEARCH);
        r = probe_source_open(&options, &p->source, err);
        if (reads)
                privileges_lower(CAP_DAC_READ_SEARCH);
        if (raised)
                privileges_lower(CAP_SYS_ADMIN);
        return r < 0 ? error_prefix(err, r, "%s", option_names[request->wishes[0].kind]) : 0;
}

void recorded_probes_end(struct recorded_probes *p)
{
        probe_source_stop(p->source);
}

uint64_t recorded_probes_count_lost(const struct recorded_probes *p, uint64_t *ret_n_full)
{
        struct probe_counts n = { .n_lost = 0 };

        if (p->source)
                probe_source_count(p->source, &n);
        *ret_n_full = n.n_full;
        return n.n_lost;
}

static int add_notes(const struct recorded_probes *p, struct trace_dictionary *dictionary)
{
        const char *at = (const char *)p->plan.notes.data, *end = at + p->plan.notes.used_bytes;
        size_t n_notes = 0;
        int r = 0;

        while (r == 0 && at < end) {
                const char *line = memchr(at, '\n', (size_t)(end - at));
                char words[512];

                if (!line)
                        break;
                (void)snprintf(words, sizeof(words), "%.*s", (int)(line - at), at);
                if (n_notes++ < NOTES_MAX)
                        r = recording_facts_add_notice(dictionary, TRACE_NOTICE_NO_PROBE, words);
                at = line + 1;
        }
        return r;
}

/* Adds words to a note, as far as it has room. */
__attribute__((format(printf, 3, 4))) static void say(char *words, size_t n_bytes, const char *format, ...)
{
        size_t used = strlen(words);
        va_list list;

        va_start(list, format);
        (void)vsnprintf(words + used, n_bytes - used, format, list);
        va_end(list);
}

static void say_hits(const struct recorded_probes *p, const struct probe_counts *n, char *words,
                     size_t n_bytes)
{
        size_t n_points = 0;

        for (size_t i = 0; i < p->plan.n_functions; i++)
                n_points += p->plan.functions[i].kind == PROBE_WISH_TRACEPOINT ||
                            p->plan.functions[i].kind == PROBE_WISH_SYSCALLS;
        if (n_points < p->plan.n_functions)
                say(words, n_bytes, "%" PRIu64 " hits of %zu functions and static probes%s", n->n_hits,
                    p->plan.n_functions - n_points, n_points > 0 ? ", " : "");
        if (n_points > 0)
                say(words, n_bytes, "%" PRIu64 " hits of %zu tracepoints", n->n_points, 2 * n_points);
}

/* Zones that lack an end or a begin. */
static void say_halves(const struct thread_sink *sink, const struct probe_counts *n, char *words,
                       size_t n_bytes)
{
        uint64_t n_begins = sink->n_points_without_end + n->n_begins;
        uint64_t n_ends = sink->n_points_without_begin + n->n_ends;

        if (sink->n_without_end > 0)
                say(words, n_bytes,
                    "; %" PRIu64 " calls did not return themselves: their zones end with a later one's",
                    sink->n_without_end);
        if (n_begins > 0)
                say(words, n_bytes, "; %" PRIu64 " begins of tracepoints had no end", n_begins);
        if (n_ends > 0)
                say(words, n_bytes, "; %" PRIu64 " ends of tracepoints had no begin in the recorded programs",
                    n_ends);
        if (n->n_others > 0)
                say(words, n_bytes, "; %" PRIu64 " hits of other programs", n->n_others);
}

int recorded_probes_describe(const struct recorded_probes *p, const struct thread_sink *sink, uint64_t cpu_ns,
                             struct trace_dictionary *dictionary)
{
        struct probe_counts n;
        char words[512] = "";
        uint64_t cost_ns;
        int r;

        if (!p->source)
                return 0;
        probe_source_count(p->source, &n);
        cost_ns = n.n_hits * n.hit_ns + n.n_points * n.point_ns;
        say_hits(p, &n, words, sizeof(words));
        say(words, sizeof(words), ", about %.1f ms of the programs' time", (double)cost_ns / 1e6);
        if (cpu_ns > 0)
                say(words, sizeof(words), ", %.1f%% of %.3g s", 100 * (double)cost_ns / (double)cpu_ns,
                    (double)cpu_ns / NS_PER_S);
        if (cpu_ns > 0 && cost_ns > cpu_ns / DEAR_SHARE)
                say(words, sizeof(words),
                    "; that is much: their times include it; choose what is called less often");
        say_halves(sink, &n, words, sizeof(words));
        r = recording_facts_add_notice(dictionary, TRACE_NOTICE_PROBES, words);
        return r == 0 ? add_notes(p, dictionary) : r;
}

void recorded_probes_close(struct recorded_probes *p)
{
        probe_source_close(p->source);
        p->source = NULL;
        probe_plan_deinit(&p->plan);
}
