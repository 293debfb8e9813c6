/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/recorded_scope.h - what is recorded, and the best way to record it that is permitted
 *
 * Way of the data:  event_scope, command -> [recorded_scope] -> event_set, attachment, process_filter
 *
 * Tries the scopes in turn, unless one was asked for:
 *   a command          CGROUP, of its own; then CPUS; then THREADS
 *   -p, -t             CPUS; then THREADS
 *   -a                 CPUS
 *   --cgroup           CGROUP; then THREADS, of the processes that are in it
 * Used by the collector's thread.
 */
#ifndef SAMPLER_RECORDING_RECORDED_SCOPE_H
#define SAMPLER_RECORDING_RECORDED_SCOPE_H

#include "base/error.h"
#include "sampler/events/event_scope.h"
#include "sampler/proc/process_filter.h"
#include "sampler/recording/attachment.h"
#include "sampler/recording/command_cgroup.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct event_set;
struct event_set_options;
struct kernel_side;
struct trace_dictionary;
struct zone_source;

struct recorded_scope {
        const struct event_scope_request *request; /* borrowed */
        enum event_scope_kind kind;                /* the scope that was chosen; AUTO = nothing is open yet */
        /* why the scope is not a better one; "" = it is the best */
        char why_not[192];
        struct command_cgroup cgroup; /* the command's cgroup, or the one that was named */
        struct error no_cgroup;       /* why the command has none, once that was tried */
        struct attachment attachment;
        struct process_filter filter;
        bool is_command_inside; /* the command was started in its cgroup */
        /* recorded processes run before they are recorded: see recorded_scope_begin() */
        bool joins;
        uint32_t command_pid; /* 0 = the command is not recorded, or there is none */
        uint64_t enabled_ns;  /* when recorded_scope_begin() had enabled all events */
};

/* Is something named that runs already? */
bool recorded_scope_is_attaching(const struct event_scope_request *request);

/*
 * recorded_scope_open() - hold the named processes
 * Returns 0; -ESRCH, -EINVAL, -EACCES as running_process_check(), -ENOENT (no such cgroup), -ENOMEM, -errno.
 * recorded_scope_close() is due in any case.
 */
int recorded_scope_open(struct recorded_scope *s, const struct event_scope_request *request,
                        struct error *err);

/*
 * Adds a helper process of hyprof's, which is not recorded, unless --self asks for it.  Returns 0 or
 * -ENOMEM.
 */
int recorded_scope_add_own(struct recorded_scope *s, pid_t pid);

/* Moves the command's remaining processes up and removes its cgroup.  The events are closed before that. */
void recorded_scope_close(struct recorded_scope *s);

/*
 * recorded_scope_open_cgroup() - make the cgroup in which the command can be started, if one may be wanted
 * To be called while there is one thread only.  An error is reported when the events are opened.  Returns the
 * descriptor of the cgroup's folder, borrowed; 0 = there is none.
 */
int recorded_scope_open_cgroup(struct recorded_scope *s);

/*
 * recorded_scope_open_events() - choose the scope, and open the events
 * @command_pid:  waits to be released; 0 = there is no command, or it is not to be recorded
 * @delayed:      it is released first, and joined later
 * @options:      all but what the scope decides
 * May be called again, after event_set_close().  With THREADS, recorded_scope_join() opens the events of
 * joined processes.
 * Returns 0; -ESRCH if the command was killed; as event_set_open().
 */
int recorded_scope_open_events(struct recorded_scope *s, pid_t command_pid, bool delayed,
                               const struct event_set_options *options, struct event_set *events,
                               struct error *err);

/*
 * Before the rings are watched: opens the events of all threads that run already.  Returns 0; -ESRCH; -errno.
 */
int recorded_scope_join(struct recorded_scope *s, struct event_set *events, struct error *err);

/*
 * recorded_scope_begin() - enable the events, and report the processes that run already
 * @time_ns:  before the first record
 * Returns 0, -ENOMEM, -errno.
 */
int recorded_scope_begin(struct recorded_scope *s, struct event_set *events, struct kernel_side *samples,
                         struct zone_source *zones, uint64_t time_ns, struct error *err);

/* Adds what is recorded, the scope, and the number of descriptors to @dictionary.  Returns 0 or -errno. */
int recorded_scope_describe(const struct recorded_scope *s, const struct event_set *events, char **argv,
                            struct trace_dictionary *dictionary, struct error *err);

/* True if all named processes have ended; the command is not considered. */
bool recorded_scope_has_ended(struct recorded_scope *s);

#endif /* SAMPLER_RECORDING_RECORDED_SCOPE_H */
