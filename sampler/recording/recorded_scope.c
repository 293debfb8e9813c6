/* SPDX-License-Identifier: MIT */
#include "sampler/recording/recorded_scope.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "sampler/events/event_set.h"
#include "sampler/recording/recording_facts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool recorded_scope_is_attaching(const struct event_scope_request *request)
{
        return request->n_pids > 0 || request->n_tids > 0 || request->whole_machine || request->cgroup;
}

/* ---- what it is about ---------------------------------------------------------------------------------- */

static struct attachment_options attachment_options_of(struct recorded_scope *s)
{
        return (struct attachment_options){
                .whole_machine = s->request->whole_machine,
                .cgroup_path = s->request->cgroup ? s->cgroup.path : NULL,
                .pids = s->request->pids,
                .tids = s->request->tids,
                .n_pids = s->request->n_pids,
                .n_tids = s->request->n_tids,
                .no_children = s->request->no_children,
                .filter = &s->filter,
        };
}

int recorded_scope_open(struct recorded_scope *s, const struct event_scope_request *request,
                        struct error *err)
{
        struct attachment_options options;
        int r;

        *s = (struct recorded_scope){ .request = request };
        command_cgroup_init(&s->cgroup);
        process_filter_init(&s->filter);
        s->filter.no_children = request->no_children;
        r = recorded_scope_add_own(s, getpid());
        if (r < 0)
                return error_set(err, r, "no memory for a list of processes");
        s->joins = recorded_scope_is_attaching(request);
        if (request->cgroup)
                r = command_cgroup_find(&s->cgroup, request->cgroup, err);
        options = attachment_options_of(s);
        if (r == 0 && s->joins)
                r = attachment_open(&s->attachment, &options, err);
        return r;
}

int recorded_scope_add_own(struct recorded_scope *s, pid_t pid)
{
        if (pid <= 0 || s->request->with_self)
                return 0;
        return process_filter_add_own(&s->filter, (uint32_t)pid);
}

void recorded_scope_close(struct recorded_scope *s)
{
        if (!s->request)
                return;
        attachment_close(&s->attachment);
        process_filter_deinit(&s->filter);
        command_cgroup_close(&s->cgroup);
        *s = (struct recorded_scope){ .request = NULL };
}

/* ---- the scope ----------------------------------------------------------------------------------------- */

/* Sets everything that follows from the choice of a scope: the filter, and how events are opened. */
static void prepare_kind(struct recorded_scope *s, enum event_scope_kind kind, bool delayed,
                         struct event_set_options *options)
{
        const struct event_scope_request *request = s->request;
        options->scope = kind;
        options->cgroup_fd = s->cgroup.fd;
        options->cpus = request->cpus;
        options->attr.cpu_wide = kind == EVENT_SCOPE_CPUS;
        options->attr.disabled = kind != EVENT_SCOPE_THREADS;
        options->attr.inherit = kind == EVENT_SCOPE_THREADS;
        options->attr.threads_only = request->no_children;
        options->attr.single = kind == EVENT_SCOPE_THREADS && request->n_tids > 0 && request->n_pids == 0;
        options->attr.enable_on_exec = kind == EVENT_SCOPE_THREADS && !s->joins && !delayed;
        /*
         * The filter takes everything where the kernel chooses, and chooses where the kernel reports all
         * processes, or children and threads beside the recorded ones.
         */
        s->filter.everything = request->whole_machine || request->cgroup ||
                               (kind != EVENT_SCOPE_CPUS && !request->no_children && request->n_tids == 0);
}

/* The cgroup is not tried again: its keeper moves the command out. */
static void give_up_cgroup(struct recorded_scope *s, const struct error *why)
{
        if (s->cgroup.fd >= 0 && why)
                s->no_cgroup = *why;
        command_cgroup_close(&s->cgroup);
}

static int open_kind(struct recorded_scope *s, enum event_scope_kind kind, bool delayed,
                     const struct event_set_options *common, struct event_set *events, struct error *err)
{
        struct event_set_options options = *common;
        int r = 0;

        if (kind == EVENT_SCOPE_CGROUP && !s->request->cgroup) {
                if (s->command_pid == 0)
                        return error_set(err, -EINVAL, "a cgroup is for a command, or for --cgroup");
                if (s->cgroup.fd < 0) /* with a keeper, which can only be forked before there are threads */
                        return error_set(err, s->no_cgroup.code, "%s", s->no_cgroup.text);
                if (!s->is_command_inside)
                        r = command_cgroup_add(&s->cgroup, (pid_t)s->command_pid, err);
                if (r == 0)
                        r = recorded_scope_add_own(s, s->cgroup.keeper_pid);
        }
        prepare_kind(s, kind, delayed, &options);
        if (r == 0)
                r = event_set_open(events, &options, err);
        if (r == 0)
                s->kind = kind;
        else if (!s->request->cgroup)
                give_up_cgroup(s, err);
        return r;
}

/* Lists the kinds in the order in which they are tried; AUTO ends the list. */
static void list_kinds(const struct recorded_scope *s, enum event_scope_kind *kinds)
{
        size_t n = 0;

        if (s->request->kind != EVENT_SCOPE_AUTO) {
                kinds[n++] = s->request->kind;
        } else {
                if (s->request->cgroup || !s->joins)
                        kinds[n++] = EVENT_SCOPE_CGROUP;
                if (!s->request->cgroup)
                        kinds[n++] = EVENT_SCOPE_CPUS;
                if (!s->request->whole_machine)
                        kinds[n++] = EVENT_SCOPE_THREADS;
        }
        kinds[n] = EVENT_SCOPE_AUTO;
}

/*
 * The next kind is tried after a refusal, and after any error with cgroups.  Any other error would come
 * again with the next kind.
 */
static bool tries_next(enum event_scope_kind kind, int code)
{
        return kind == EVENT_SCOPE_CGROUP || code == -EACCES || code == -EPERM;
}

int recorded_scope_open_cgroup(struct recorded_scope *s)
{
        enum event_scope_kind kinds[4];

        list_kinds(s, kinds);
        if (kinds[0] != EVENT_SCOPE_CGROUP || s->request->cgroup)
                return 0;
        return command_cgroup_open(&s->cgroup, &s->no_cgroup) == 0 ? s->cgroup.fd : 0;
}

static int choose_kind(struct recorded_scope *s, bool delayed, const struct event_set_options *options,
                       struct event_set *events, struct error *err)
{
        enum event_scope_kind kinds[4];
        int r = 0;

        list_kinds(s, kinds);
        if (kinds[0] == EVENT_SCOPE_THREADS)
                (void)snprintf(s->why_not, sizeof(s->why_not), "--scope=threads");
        for (size_t i = 0; kinds[i] != EVENT_SCOPE_AUTO; i++) {
                struct error why = ERROR_NONE;

                r = open_kind(s, kinds[i], delayed, options, events, &why);
                if (r < 0 && kinds[i + 1] != EVENT_SCOPE_AUTO && tries_next(kinds[i], r)) {
                        (void)snprintf(s->why_not, sizeof(s->why_not), "%.*s", (int)sizeof(s->why_not) - 1,
                                       why.text);
                        continue;
                }
                if (r < 0 && err)
                        *err = why;
                break;
        }
        return r;
}

int recorded_scope_open_events(struct recorded_scope *s, pid_t command_pid, bool delayed,
                               const struct event_set_options *options, struct event_set *events,
                               struct error *err)
{
        int r;

        s->command_pid = (uint32_t)command_pid;
        r = choose_kind(s, delayed, options, events, err);
        if (r < 0 || command_pid == 0 || delayed)
                return r;
        if (process_filter_add_process(&s->filter, s->command_pid) < 0)
                return error_set(err, -ENOMEM, "no memory for a list of processes");
        if (s->kind == EVENT_SCOPE_THREADS) {
                r = event_set_add(events, &s->command_pid, 1, err);
                return r == 0 ? error_set(err, -ESRCH, "the command was killed before it began")
                              : (r < 0 ? r : 0);
        }
        s->filter.unborn_pid = s->command_pid;
        return 0;
}

/* ---- what runs already --------------------------------------------------------------------------------- */

/* Attaches to a command that ran before the recording began, as to a process that the user named. */
static int name_command(struct recorded_scope *s, struct error *err)
{
        struct attachment_options options = { .filter = &s->filter,
                                              .pids = &s->command_pid,
                                              .n_pids = 1,
                                              .no_children = s->request->no_children };

        s->joins = true;
        return attachment_open(&s->attachment, &options, err);
}

int recorded_scope_join(struct recorded_scope *s, struct event_set *events, struct error *err)
{
        int r = s->joins ? 0 : name_command(s, err);

        if (r == 0 && s->kind == EVENT_SCOPE_THREADS)
                r = attachment_add_events(&s->attachment, events, err);
        return r;
}

int recorded_scope_begin(struct recorded_scope *s, struct event_set *events, struct kernel_side *samples,
                         struct zone_source *zones, uint64_t time_ns, struct error *err)
{
        int r = event_set_enable(events, err);

        s->enabled_ns = clock_raw_ns();
        /*
         * From now on the kernel reports changes, so that the facts read from /proc next do not go out of
         * date.
         */
        if (r == 0 && s->joins)
                r = attachment_add_processes(&s->attachment, samples, zones, time_ns, err);
        return r;
}

bool recorded_scope_has_ended(struct recorded_scope *s)
{
        return s->joins && attachment_has_ended(&s->attachment);
}

/* ---- what the trace says of the scope ------------------------------------------------------------------ */

static int describe_processes(const uint32_t *pids, size_t n_pids, struct trace_dictionary *dictionary,
                              struct error *err)
{
        int r = recording_facts_add_processes(dictionary, pids, n_pids, err);

        return r < 0 ? r : recording_facts_add_environment(dictionary, pids, n_pids, err);
}

static int describe_subject(const struct recorded_scope *s, char **argv, struct trace_dictionary *dictionary,
                            struct error *err)
{
        const struct event_scope_request *request = s->request;
        struct byte_buffer words = { .data = NULL };
        int r = -ENOMEM;

        if (!recorded_scope_is_attaching(request)) {
                r = recording_facts_add_command(dictionary, argv, err);
                return r < 0 ? r : recording_facts_add_environment(dictionary, NULL, 0, err);
        }
        if (request->n_pids > 0)
                return describe_processes(request->pids, request->n_pids, dictionary, err);
        if (request->n_tids > 0)
                return describe_processes(request->tids, request->n_tids, dictionary, err);
        attachment_add_words(&s->attachment, &words);
        byte_buffer_add_u8(&words, '\0');
        if (!words.failed)
                r = recording_facts_add_meta(dictionary, "command", (const char *)words.data);
        byte_buffer_deinit(&words);
        return r < 0 ? error_set(err, r, "no memory to describe the recording") : 0;
}

/* The notices that a report of this recording has to show first. */
static int describe_joining(const struct recorded_scope *s, struct trace_dictionary *dictionary)
{
        struct byte_buffer words = { .data = NULL };
        int r = -ENOMEM;

        attachment_add_words(&s->attachment, &words);
        byte_buffer_add_u8(&words, '\0');
        if (!words.failed)
                r = recording_facts_add_notice(dictionary, TRACE_NOTICE_ATTACHED, (const char *)words.data);
        byte_buffer_deinit(&words);
        return r;
}

/* The open descriptors of events and of BPF; 0 = /proc is not mounted. */
static uint64_t count_descriptors(void)
{
        static const char *const kinds[] = { "anon_inode:[perf_event]", "anon_inode:bpf", "anon_inode:btf" };
        DIR *folder = opendir("/proc/self/fd");
        struct dirent *entry;
        uint64_t n = 0;

        /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is of this thread alone */
        while (folder && (entry = readdir(folder))) {
                char link[32] = ""; /* of longer ones the beginning is enough */

                if (readlinkat(dirfd(folder), entry->d_name, link, sizeof(link) - 1) <= 0)
                        continue;
                for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
                        n += strncmp(link, kinds[i], strlen(kinds[i])) == 0;
        }
        if (folder)
                (void)closedir(folder);
        return n;
}

int recorded_scope_describe(const struct recorded_scope *s, const struct event_set *events, char **argv,
                            struct trace_dictionary *dictionary, struct error *err)
{
        uint64_t n_descriptors = count_descriptors();
        int r = describe_subject(s, argv, dictionary, err);

        if (r < 0)
                return r;
        r = recording_facts_add_meta(dictionary, "scope", event_scope_name(s->kind));
        if (r < 0)
                goto fail;
        r = recording_facts_add_number(dictionary, "descriptors",
                                       n_descriptors != 0 ? n_descriptors : events->n_handles);
        if (r == 0 && s->joins)
                r = describe_joining(s, dictionary);
        if (r < 0)
                goto fail;
        if (s->kind == EVENT_SCOPE_THREADS)
                r = recording_facts_add_notice(dictionary, TRACE_NOTICE_SHORT_CHILDREN,
                                               s->why_not[0] != '\0' ? s->why_not : NULL);
        if (r == 0)
                return 0;
fail:
        return error_set(err, r, "no memory to describe the recording");
}
