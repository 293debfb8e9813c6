/* SPDX-License-Identifier: MIT */
/*
 * web/server/view_front.h - the command `hyprof view` while it runs: starts the server, the answers and the
 * browser, and ends all
 *
 * Way of the data:  cli -> [view_front] -> fork -> view_server (confined); answer_process (confined) ->
 *                   view_server; live_symbols
 *
 * The front itself reads no trace and no request: it opens the socket, starts processes for the closed table
 * of questions, lists the traces of the folder (nearby_traces) and starts another server for a chosen one,
 * and waits for signals.  When it ends, however that happens, all that it started ends.
 */
#ifndef WEB_SERVER_VIEW_FRONT_H
#define WEB_SERVER_VIEW_FRONT_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct index_cache;
struct timeline_cache;
struct web_answers;

struct view_front_options {
        const char *trace;                  /* path; of a comparison: the one after */
        const char *before;                 /* path; NULL = no comparison */
        const struct timeline_cache *cache; /* where indexes are kept; NULL = nowhere */
        const struct index_cache *symbols;  /* indexes for names of one that grows; NULL = none are kept */
        const char *kept;                   /* folder of notes and pins; NULL = none are kept */
        uint16_t port;                      /* 0 = any */
        bool opens_browser;
        bool follows; /* `trace` is still being written, and shown as it grows */
        /*
         * > 0: a pipe, borrowed.  Until its writer closes it, even a whole trace may change: names are added
         * to it, and another file takes its place.
         */
        int names_come_fd;
        const struct web_answers *answers;
        /* Called once, when the address works.  `url` has the token in it. */
        void (*ready)(void *context, const char *url, uint16_t port);
        void *context;
};

/*
 * view_front_run() - serve until SIGINT, SIGTERM or SIGHUP
 * One thread.  Returns 0 after a signal; -errno with words if it cannot begin or cannot go on.
 */
int view_front_run(const struct view_front_options *options, struct error *err);

#endif /* WEB_SERVER_VIEW_FRONT_H */
