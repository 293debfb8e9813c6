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
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>

#define DEAR_SHARE 20 /* more than this part of the programs' processor time is worth a warning: 5% */
#define NOTES_MAX  8  /* functions without zones that are named */

static const char *const option_names[] = { [PROBE_WISH_FUNCTION] = "--zone-function",
                                            [PROBE_WISH_STATIC_ZONE] = "--zone-usdt",
                                            [PROBE_WISH_MESSAGE] = "--usdt" };

static int add_location(struct probe_function *f, struct trace_dictionary *dictionary)
{
        struct trace_location row = { .line = f->line };
        int r = trace_dictionary_add_string(dictionary, f->name, strlen(f->name), &row.name);

        row.function = row.name;
        if (r == 0 && f->source)
                r = trace_dictionary_add_path(dictionary, f->source, strlen(f->source), &row.file);
        return r < 0 ? r : trace_dictionary_add(dictionary, TRACE_TABLE_LOCATIONS, &row, &f->location);
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
        bool raised;
        int r;

        if (p->plan.n_functions == 0)
                return 0;
        if (scope->kind == EVENT_SCOPE_CGROUP && !scope->request->whole_machine)
                options.cgroup_fd = scope->cgroup.fd;
        raised = !privileges_has(CAP_SYS_ADMIN) && privileges_raise(CAP_SYS_ADMIN);
        r = probe_source_open(&options, &p->source, err);
        if (raised)
                privileges_lower(CAP_SYS_ADMIN);
        return r < 0 ? error_prefix(err, r, "%s", option_names[request->wishes[0].kind]) : 0;
}

void recorded_probes_end(struct recorded_probes *p)
{
        probe_source_stop(p->source);
}

uint64_t recorded_probes_count_lost(const struct recorded_probes *p)
{
        struct probe_counts n = { .n_lost = 0 };

        if (p->source)
                probe_source_count(p->source, &n);
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

int recorded_probes_describe(const struct recorded_probes *p, const struct thread_sink *sink, uint64_t cpu_ns,
                             struct trace_dictionary *dictionary)
{
        struct probe_counts n;
        char words[512];
        uint64_t cost_ns;
        int used, r;

        if (!p->source)
                return 0;
        probe_source_count(p->source, &n);
        cost_ns = n.n_hits * n.hit_ns;
        used = snprintf(words, sizeof(words),
                        "%" PRIu64
                        " hits of %zu functions and static probes, about %.1f ms of the programs' time",
                        n.n_hits, p->plan.n_functions, (double)cost_ns / 1e6);
        if (cpu_ns > 0)
                used += snprintf(words + used, sizeof(words) - (size_t)used, ", %.1f%% of %.3g s",
                                 100 * (double)cost_ns / (double)cpu_ns, (double)cpu_ns / NS_PER_S);
        if (cpu_ns > 0 && cost_ns > cpu_ns / DEAR_SHARE)
                used += snprintf(
                        words + used, sizeof(words) - (size_t)used,
                        "; that is much: their times include it; choose functions that are called less often");
        if (sink->n_without_end > 0)
                used += snprintf(words + used, sizeof(words) - (size_t)used,
                                 "; %" PRIu64
                                 " calls did not return themselves: their zones end with a later one's",
                                 sink->n_without_end);
        if (n.n_others > 0)
                (void)snprintf(words + used, sizeof(words) - (size_t)used,
                               "; %" PRIu64 " hits of other programs", n.n_others);
        r = recording_facts_add_notice(dictionary, TRACE_NOTICE_PROBES, words);
        return r == 0 ? add_notes(p, dictionary) : r;
}

void recorded_probes_close(struct recorded_probes *p)
{
        probe_source_close(p->source);
        p->source = NULL;
        probe_plan_deinit(&p->plan);
}
