/* SPDX-License-Identifier: MIT */
/*
 * web/follow/live_symbols.h - the process that finds the names of a trace while it is still being written
 *
 * Way of the data:  file -> [live_symbols] (trace_follow, live_names, fork) -> file -> live_frames
 *
 * A child of the viewer reads the tables of the trace as they come, and writes the names that its symbolizer
 * finds into a file without a name, in rows of live_names_feed().  The recorder does nothing for it.
 */
#ifndef WEB_FOLLOW_LIVE_SYMBOLS_H
#define WEB_FOLLOW_LIVE_SYMBOLS_H

#include <sys/types.h>

struct error;
struct index_cache;

struct live_symbols {
        pid_t pid;    /* 0 = none */
        int names_fd; /* the file, to be read from its beginning; -1 = none; owned */
};

/*
 * live_symbols_start()
 * @cache:  of indexes; NULL = none
 * The caller has one thread (it forks).  Returns 0 or -errno; to be stopped in any case.
 */
int live_symbols_start(struct live_symbols *s, const char *trace, const struct index_cache *cache,
                       struct error *err);
void live_symbols_stop(struct live_symbols *s);

#endif /* WEB_FOLLOW_LIVE_SYMBOLS_H */
