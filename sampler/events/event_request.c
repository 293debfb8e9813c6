/* SPDX-License-Identifier: MIT */
#include "sampler/events/event_request.h"

#include "base/error.h"
#include "sampler/events/event_lookup.h"
#include "sampler/events/event_table.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#define N_STAT 8

/* ---- lists --------------------------------------------------------------------------------------------- */

/*
 * The length of the first item, up to a comma that is neither within braces nor between the slashes of
 * PMU/terms/.  SIZE_MAX if the braces are unbalanced.
 */
static size_t first_item(const char *list, size_t n_bytes)
{
        bool in_terms = false;
        int depth = 0;

        for (size_t i = 0; i < n_bytes; i++) {
                if (list[i] == '/')
                        in_terms = !in_terms;
                else if (!in_terms && list[i] == '{')
                        depth++;
                else if (!in_terms && list[i] == '}' && --depth < 0)
                        return SIZE_MAX;
                else if (!in_terms && list[i] == ',' && depth == 0)
                        return i;
        }
        return depth == 0 ? n_bytes : SIZE_MAX;
}

/* Adds "NAME" on its own; on success @ret_first .. n_specs are its events. */
static int add_events(struct event_request *request, const char *text, size_t n_bytes, size_t *ret_first,
                      struct error *err)
{
        struct event_spec_list list = { .specs = request->specs,
                                        .n_specs = request->n_specs,
                                        .n_specs_max = EVENT_REQUEST_SPECS_MAX };
        int r = event_spec_parse(text, n_bytes, request->places, &list, err);

        if (r < 0)
                return r;
        *ret_first = request->n_specs;
        for (size_t i = request->n_specs; i < list.n_specs; i++)
                request->specs[i].leader = (uint32_t)i;
        request->n_specs = list.n_specs;
        return 0;
}

/* ---- groups -------------------------------------------------------------------------------------------- */

/* A group as it was typed, before it becomes one group, or one group for each kind of core. */
struct group {
        struct event_spec specs[EVENT_REQUEST_SPECS_MAX]; /* of all members, one after the other */
        size_t ends[EVENT_REQUEST_SPECS_MAX];             /* where the specs of a member end */
        size_t n_members;
        size_t n_groups; /* of each kind of core one */
        const char *modifiers;
        size_t modifiers_bytes;
        bool reads; /* ":S" */
};

/* "cycles" in "{...}:u" is "cycles:u" to people. */
static void add_to_name(struct event_spec *spec, const char *modifiers, size_t n_bytes)
{
        size_t used = strlen(spec->name);
        bool has_some = strchr(spec->name, ':') != NULL && !spec->is_tracepoint;

        if (used + n_bytes + 2 > sizeof(spec->name))
                return;
        if (!has_some)
                spec->name[used++] = ':';
        memcpy(spec->name + used, modifiers, n_bytes);
        spec->name[used + n_bytes] = '\0';
}

/* The modifiers after the brace, without the S that is the group's own. */
static int modify_group(struct group *g, size_t n_specs, struct error *err)
{
        char letters[EVENT_SPEC_NAME_BYTES];
        size_t n_letters = 0;

        for (size_t i = 0; i < g->modifiers_bytes; i++) {
                g->reads = g->reads || g->modifiers[i] == 'S';
                if (g->modifiers[i] != 'S' && n_letters < sizeof(letters))
                        letters[n_letters++] = g->modifiers[i];
        }
        for (size_t i = 0; n_letters > 0 && i < n_specs; i++) {
                int r = event_spec_modify(&g->specs[i], letters, n_letters, err);

                if (r < 0)
                        return r;
                add_to_name(&g->specs[i], letters, n_letters);
        }
        return 0;
}

static int parse_member(struct group *g, struct event_spec_list *list, const struct event_request *request,
                        const char *text, size_t n_bytes, struct error *err)
{
        size_t n_before = list->n_specs, n;
        int r;

        if (memchr(text, '{', n_bytes))
                return error_set(err, -EINVAL, "a group within a group");
        r = event_spec_parse(text, n_bytes, request->places, list, err);
        if (r < 0)
                return r;
        n = list->n_specs - n_before;
        if (n > 1 && g->n_groups > 1 && n != g->n_groups)
                return error_set(err, -EINVAL,
                                 "'%.*s' is not on the same kinds of cores as the group's others",
                                 (int)n_bytes, text);
        if (n > g->n_groups)
                g->n_groups = n;
        g->ends[g->n_members++] = list->n_specs;
        return 0;
}

/* The text between the braces. */
static int parse_members(struct group *g, const struct event_request *request, const char *text,
                         size_t n_bytes, struct error *err)
{
        struct event_spec_list list = { .specs = g->specs, .n_specs_max = EVENT_REQUEST_SPECS_MAX };

        g->n_groups = 1;
        while (true) {
                size_t n = first_item(text, n_bytes);
                int r = n == 0 || n == SIZE_MAX
                                ? error_set(err, -EINVAL, "a group without an event, or unbalanced braces")
                                : parse_member(g, &list, request, text, n, err);

                if (r < 0)
                        return r;
                if (n == n_bytes)
                        return modify_group(g, list.n_specs, err);
                text += n + 1;
                n_bytes -= n + 1;
        }
}

/*
 * The CPUs of kind of core @number, taken from a member that has several kinds.  Without kinds: the CPUs of
 * the leader, as no member can count where its leader does not.
 */
static const uint64_t *cpus_of_kind(const struct group *g, size_t number)
{
        for (size_t i = 0, first = 0; i < g->n_members; first = g->ends[i], i++)
                if (g->ends[i] - first > 1)
                        return g->specs[first + number].cpus;
        return g->specs[0].on_some_cpus ? g->specs[0].cpus : NULL;
}

/* Adds one group; @number: of which kind of core. */
static int put_group(struct event_request *request, const struct group *g, size_t number, struct error *err)
{
        const uint64_t *cpus = cpus_of_kind(g, number);
        size_t leader = request->n_specs;

        if (g->n_members > EVENT_REQUEST_SPECS_MAX - request->n_specs)
                return error_set(err, -EINVAL, "more than %d events", EVENT_REQUEST_SPECS_MAX);
        for (size_t i = 0, first = 0; i < g->n_members; first = g->ends[i], i++) {
                struct event_spec *spec = &request->specs[request->n_specs++];

                *spec = g->specs[g->ends[i] - first > 1 ? first + number : first];
                spec->leader = (uint32_t)leader;
                spec->only_counts = g->reads && i > 0;
                spec->reads_group = g->reads && i == 0;
                if (cpus && !spec->on_some_cpus) { /* software counts wherever the others do */
                        spec->on_some_cpus = true;
                        memcpy(spec->cpus, cpus, sizeof(spec->cpus));
                }
        }
        return 0;
}

static int add_group(struct event_request *request, const char *text, size_t n_bytes, struct error *err)
{
        const char *end = memrchr(text, '}', n_bytes);
        struct group g = { .modifiers = end + 1, .modifiers_bytes = (size_t)(text + n_bytes - end - 1) };
        int r;

        if (g.modifiers_bytes > 0 && (g.modifiers[0] != ':' || g.modifiers_bytes == 1))
                return error_set(err, -EINVAL, "expected :S or other modifiers after }");
        g.modifiers += g.modifiers_bytes > 0;
        g.modifiers_bytes -= g.modifiers_bytes > 0;
        r = parse_members(&g, request, text + 1, (size_t)(end - text) - 1, err);
        for (size_t i = 0; r == 0 && i < g.n_groups; i++)
                r = put_group(request, &g, i, err);
        return r;
}

int event_request_add(struct event_request *request, const char *list, struct error *err)
{
        size_t n_bytes = strlen(list), n_before = request->n_specs, ignored;
        int r = 0;

        while (r == 0) {
                size_t n = first_item(list, n_bytes);

                if (n == SIZE_MAX)
                        r = error_set(err, -EINVAL, "unbalanced braces");
                else if (n > 0 && list[0] == '{')
                        r = add_group(request, list, n, err);
                else
                        r = add_events(request, list, n, &ignored, err);
                if (r < 0 || n == n_bytes)
                        break;
                list += n + 1;
                n_bytes -= n + 1;
        }
        if (r < 0)
                request->n_specs = n_before;
        return r;
}

/* ---- implied events ------------------------------------------------------------------------------------ */

/* The events of `perf stat`; the hardware events come last. */
static const struct {
        const char *name;
        bool is_hardware;
} stat_events[N_STAT] = {
        { "task-clock", false },     { "context-switches", false },
        { "cpu-migrations", false }, { "page-faults", false },
        { "cycles", true },          { "instructions", true },
        { "branches", true },        { "branch-misses", true },
};

/* A sampled event is counted as well; a part of it, such as user code alone, is a different event. */
static bool has_whole(const struct event_request *request, const struct event_spec *wanted)
{
        for (size_t i = 0; i < request->n_specs; i++) {
                const struct event_spec *spec = &request->specs[i];

                if (spec->type == wanted->type && spec->config == wanted->config && !spec->exclude_user &&
                    !spec->exclude_kernel)
                        return true;
        }
        return false;
}

static int add_stat(struct event_request *request, const char *name, struct error *err)
{
        size_t first = 0, n_kept;
        int r = add_events(request, name, strlen(name), &first, err);

        if (r < 0)
                return r;
        n_kept = first;
        for (size_t i = first; i < request->n_specs; i++) {
                struct event_spec spec = request->specs[i];
                size_t n_all = request->n_specs;
                bool there;

                request->n_specs = first; /* to look at those before */
                there = has_whole(request, &spec);
                request->n_specs = n_all;
                if (there)
                        continue;
                spec.only_counts = true;
                spec.leader = (uint32_t)n_kept;
                request->specs[n_kept++] = spec;
        }
        request->n_specs = n_kept;
        return 0;
}

/* The default event: cycles, and the CPU clock where they cannot be sampled. */
int event_request_complete(struct event_request *request, enum event_hardware hardware, bool *ret_fallback,
                           struct error *err)
{
        bool samples = hardware == EVENT_HARDWARE_SAMPLES;
        int r = 0;

        *ret_fallback = request->n_specs == 0 && !samples && !request->no_samples;
        if (request->n_specs == 0 && !request->no_samples)
                r = event_request_add(request, samples ? "cycles" : "cpu-clock", err);
        for (size_t i = 0; r == 0 && request->wants_totals && i < N_STAT; i++)
                if (hardware != EVENT_HARDWARE_NONE || !stat_events[i].is_hardware)
                        r = add_stat(request, stat_events[i].name, err);
        return r;
}

static bool is_in_kernel(const struct event_spec *spec)
{
        const struct event_table_row *row = event_table_find_config(spec->type, spec->config);

        return spec->is_tracepoint || (row && row->in_kernel);
}

int event_request_leave_kernel(struct event_request *request, struct error *err)
{
        size_t n_kept = 0;

        for (size_t i = 0; i < request->n_specs; i++) {
                struct event_spec *spec = &request->specs[i];
                bool is_stat = event_spec_is_total(spec, (uint32_t)i);

                if (is_in_kernel(spec) && is_stat)
                        continue;
                if (is_in_kernel(spec) || spec->exclude_user)
                        return error_set(err, -EACCES,
                                         "not permitted to record the event %s: it is in the kernel; "
                                         "'hyprof doctor' shows what would allow it",
                                         spec->name);
                spec->exclude_kernel = true;
                if (spec->leader == i)
                        spec->leader =
                                (uint32_t)n_kept; /* events of --stat come last: groups stay as they are */
                request->specs[n_kept++] = *spec;
        }
        request->n_specs = n_kept;
        return 0;
}

bool event_request_reads_groups(const struct event_request *request)
{
        for (size_t i = 0; i < request->n_specs; i++)
                if (request->specs[i].reads_group)
                        return true;
        return false;
}

void event_request_name_sampled(const struct event_request *request, char *ret_names, size_t names_bytes,
                                bool *ret_has_rate)
{
        size_t used = 0;

        for (size_t i = 0; i < request->n_specs && used < names_bytes; i++) {
                const struct event_spec *spec = &request->specs[i];
                bool is_each = spec->is_tracepoint && request->rate_is_default;

                if (spec->only_counts)
                        continue;
                used += (size_t)snprintf(ret_names + used, names_bytes - used, "%s%s%s", used ? ", " : "",
                                         is_each ? "each " : "", spec->name);
                *ret_has_rate |= !is_each;
        }
}
