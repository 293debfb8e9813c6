/* SPDX-License-Identifier: MIT */
/*
 * format/trace_follow.h - whole chunks of a trace that is still being written: a file that grows, or a pipe
 *
 * Way of the data:  file, pipe -> [trace_follow] -> live_stats, timeline_builder
 *
 * trace_follow_next() hands out a chunk once all of its bytes are there, and returns 0 when there is none;
 * trace_follow_state() then tells a pause from an end.  Tables are taken into the dictionary, which grows.
 * Nothing blocks.  Memory: one chunk, and the dictionary.
 *
 * A file ends
 *   - whole, when its index and trailer are there;
 *   - cut off, when no process holds its lock (format/trace_lock.h) any more; if no process ever held it,
 *     when the file has not grown for TRACE_FOLLOW_QUIET_NS;
 *   - truncated, when bytes that were read are gone or have changed;
 *   - replaced, when its name leads to another file and no process holds this one's lock.
 * A pipe ends with its last writer.  Not thread-safe.
 */
#ifndef FORMAT_TRACE_FOLLOW_H
#define FORMAT_TRACE_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#define TRACE_FOLLOW_LOOK_MS  100                   /* the caller looks at a file again after this time */
#define TRACE_FOLLOW_QUIET_NS UINT64_C(10000000000) /* see above */

struct error;
struct trace_dictionary;
struct trace_follow;
struct trace_item;
struct trace_version;

enum trace_follow_state {
        TRACE_FOLLOW_PAUSED, /* all whole chunks were read, and more may come */
        TRACE_FOLLOW_WHOLE,
        TRACE_FOLLOW_CUT_OFF,
        TRACE_FOLLOW_DAMAGED, /* a chunk is malformed or fails its checksum; nothing after it is read */
        TRACE_FOLLOW_TRUNCATED,
        TRACE_FOLLOW_REPLACED,
};

struct trace_follow_options {
        const char *path;   /* "-" = standard input */
        int fd;             /* > 0: follow this; owned after a successful open; `path` is then for messages */
        bool leaves_events; /* hands out only chunks of tables, and steps over all others unchecked */
        uint64_t quiet_ns;  /* 0 = TRACE_FOLLOW_QUIET_NS */
};

/*
 * trace_follow_open()
 * The file may be empty still.  Returns 0, -errno of open(2), -EISDIR, -ENOMEM.
 */
int trace_follow_open(const struct trace_follow_options *options, struct trace_follow **ret_follow,
                      struct error *err);
void trace_follow_close(struct trace_follow *follow);

/*
 * trace_follow_next() - the next chunk of whatever kind, if all of it is there
 * Returns 1; 0 if there is no chunk now, see trace_follow_state(); -EBADMSG if this is no trace, -ENOTSUP for
 * another major version, -errno of read(2), -ENOMEM.  After a failure it is only good for
 * trace_follow_close().  The item's bytes are borrowed until the next call.
 */
int trace_follow_next(struct trace_follow *follow, struct trace_item *ret_item, struct error *err);

/*
 * Call it after trace_follow_next() has returned 0.  @ret_words: the end in words, "" for a whole trace or a
 * pause.
 */
enum trace_follow_state trace_follow_state(const struct trace_follow *follow, const char **ret_words);

/* The descriptor to poll for more, or -1: then look again after TRACE_FOLLOW_LOOK_MS. */
int trace_follow_fd(const struct trace_follow *follow);

/* Whether a recorder still holds the file, or has the pipe open: if so, the recorder itself is pausing. */
bool trace_follow_is_held(const struct trace_follow *follow);

/* The bytes of the whole chunks that were handed out or stepped over. */
uint64_t trace_follow_count_bytes(const struct trace_follow *follow);

/*
 * The version of the trace, 0.0 before its first chunk, and how many chunks of unknown kinds it had so far.
 * Borrowed, as the next.
 */
const struct trace_version *trace_follow_version(const struct trace_follow *follow);

/* All rows so far; borrowed, lives as long as @follow, and grows with trace_follow_next(). */
const struct trace_dictionary *trace_follow_dictionary(const struct trace_follow *follow);

#endif /* FORMAT_TRACE_FOLLOW_H */
