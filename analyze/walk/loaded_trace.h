/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/loaded_trace.h - a trace whose tables are all known before its events are read
 *
 * Way of the data:  trace_reader -> [loaded_trace] -> trace_filter, trace_walk -> reports, exports
 *
 * Names come after the events to which they belong, symbols at the end.  So the tables are read first,
 * stepping over the events; events are read in later passes, any number of times.  From a pipe the trace goes
 * through an unlinked file in $TMPDIR.  Memory: the tables, never the events.  Not thread-safe.
 */
#ifndef ANALYZE_WALK_LOADED_TRACE_H
#define ANALYZE_WALK_LOADED_TRACE_H

#include "base/error.h"
#include "base/intern.h"
#include "base/text_view.h"
#include "format/trace_reader.h"

#include <stdbool.h>
#include <stdint.h>

struct trace_dictionary;
struct trace_version;
struct trace_walk;

/*
 * The names of a process are those of its first thread, former ones included: that before an exec, or before
 * it renamed its thread.
 */
struct process_name {
        uint32_t process;
        uint32_t name; /* string */
};

/* A name that a thread had before its last one. */
struct former_name {
        uint32_t thread;
        uint32_t name; /* string */
};

struct loaded_trace {
        struct trace_reader *reader;
        const struct trace_dictionary *dictionary; /* the reader's, complete */
        uint32_t *thread_names;                    /* heap; strings by thread id - 1; see has_names */
        uint32_t n_threads;
        struct intern process_names; /* struct process_name, each once; see has_names */
        struct intern former_names;  /* struct former_name, the same; the first million */
        bool has_names;              /* loaded_trace_read_names() was here */
        /* of the recording; if META lacks them, of the first and last chunk of events */
        uint64_t start_ns, end_ns;
        const struct trace_version *version; /* the reader's: all chunks are counted */
        uint64_t n_unknown_events;           /* left out; valid after a walk */
        enum trace_ending ending;            /* valid after a walk */
        const char *ending_words;            /* its fault; "" if nothing */
        struct error damage; /* a chunk of events that could not be decoded; `ending_words` points into it */
};

/*
 * loaded_trace_open() - read the tables, and give different functions of one name different names
 * @path:  "-" for standard input
 * Returns 0, what trace_reader_open() returns, -errno of read(2) and of writing the temporary file, -ENOMEM.
 * The object is to be closed in any case.
 */
int loaded_trace_open(struct loaded_trace *ret, const char *path, struct error *err);
/* The same with the names of the file. */
int loaded_trace_open_plain(struct loaded_trace *ret, const char *path, struct error *err);
void loaded_trace_close(struct loaded_trace *t);

/* Takes a name that a thread was given.  Returns 0 or -errno. */
typedef int loaded_trace_name(void *context, uint32_t thread, uint32_t name);

/*
 * loaded_trace_each_name() - hand over the names in all chunks up to a place, from the beginning
 * Returns 0, -errno of read(2), -ENOMEM if @take fails.
 */
int loaded_trace_each_name(struct loaded_trace *t, uint64_t until_bytes, loaded_trace_name *take,
                           void *context, struct error *err);

/*
 * loaded_trace_walk() - hand all events to a walk, from the beginning
 * If a trace is cut off or damaged, hands over everything up to that point; `ending` states it.  Calls
 * trace_walk_finish().  Returns 0, what a sink returned, -errno of read(2), -ENOMEM.
 */
int loaded_trace_walk(struct loaded_trace *t, struct trace_walk *walk, struct error *err);

/*
 * After a walk with `devices_follow`, if the filter leaves no zone of a device: returns what
 * filter_miss_explain() returns if it left nothing else, or 0.
 */
int loaded_trace_check_found(struct loaded_trace *t, const struct trace_walk *walk, struct error *err);

/* The value of a key of META; empty, or 0, if it is not there or no number. */
struct text_view loaded_trace_meta(const struct loaded_trace *t, const char *key);
uint64_t loaded_trace_meta_number(const struct loaded_trace *t, const char *key);

/*
 * loaded_trace_read_names() - find the threads' names, which are between the events
 * Unpacks all events, about a second for 500 million; done once.  Returns 0 or -errno of read(2), -ENOMEM.
 */
int loaded_trace_read_names(struct loaded_trace *t, struct error *err);

/*
 * After that, in constant time: the last name of a thread, else of its process's first
 * thread with one; else empty.
 */
struct text_view loaded_trace_thread_name(const struct loaded_trace *t, uint32_t thread);

/* The pid of a thread's process. */
uint32_t loaded_trace_thread_pid(const struct loaded_trace *t, uint32_t thread);

#endif /* ANALYZE_WALK_LOADED_TRACE_H */
