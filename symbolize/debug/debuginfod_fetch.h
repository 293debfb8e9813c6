/* SPDX-License-Identifier: MIT */
/*
 * symbolize/debug/debuginfod_fetch.h - gets debug files and executables by build-id from debuginfod servers
 *
 * Way of the data:  build-ids of modules -> [debuginfod_fetch] -> files in the client's cache -> symbolizer
 *
 * The environment states the servers and the cache, as for every client of debuginfod: DEBUGINFOD_URLS,
 * DEBUGINFOD_CACHE_PATH, DEBUGINFOD_TIMEOUT, DEBUGINFOD_MAXSIZE.  Only a child, which has no capabilities and
 * belongs to the user, talks to the network and loads libdebuginfod, and libcurl with it.  A file whose
 * build-id is not the wanted one is thrown away.
 * Call it before there are threads.  Blocks.
 */
#ifndef SYMBOLIZE_DEBUG_DEBUGINFOD_FETCH_H
#define SYMBOLIZE_DEBUG_DEBUGINFOD_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEBUGINFOD_REQUESTS_MAX   65536
#define DEBUGINFOD_FILE_BYTES_MAX (UINT64_C(8) << 30)
#define DEBUGINFOD_FILE_TIMEOUT_S 600 /* for one file, whatever the server sends */

struct error;

enum debuginfod_kind {
        DEBUGINFOD_DEBUGINFO,
        DEBUGINFOD_EXECUTABLE,
};

enum debuginfod_state {
        DEBUGINFOD_NOT_TRIED = 0, /* the fetch ended before it */
        DEBUGINFOD_FOUND,         /* `path` is the file */
        DEBUGINFOD_NOT_FOUND,     /* no server has it */
        DEBUGINFOD_FAILED,        /* no server answered, or the file was too large or too slow: see `code` */
        DEBUGINFOD_WRONG,         /* the server sent a file that lacks this build-id */
};

struct debuginfod_request {
        const uint8_t *build_id; /* borrowed */
        size_t build_id_bytes;   /* 1 to ELF_IMAGE_BUILD_ID_MAX */
        enum debuginfod_kind kind;

        /* Filled by debuginfod_fetch_run(). */
        enum debuginfod_state state;
        int code;   /* -errno of DEBUGINFOD_FAILED */
        char *path; /* heap; NULL if it was not found */
};

/* Called with each step of a download: bytes that came, and of how many (0 = not known). */
typedef void debuginfod_progress(void *context, size_t request, uint64_t got_bytes, uint64_t total_bytes);

/* All zero is fine, but for `stop_fd`. */
struct debuginfod_options {
        uint32_t run_as_uid; /* when root: become this user; 0 = stay, without capabilities */
        uint32_t run_as_gid;
        uint32_t file_timeout_s; /* 0 = DEBUGINFOD_FILE_TIMEOUT_S */
        uint64_t file_bytes_max; /* 0 = DEBUGINFOD_FILE_BYTES_MAX */
        debuginfod_progress *progress;
        void *context;
        int stop_fd; /* when it can be read, the fetch stops; -1 = never */
};

/* True if the user has named servers. */
bool debuginfod_fetch_is_wanted(void);

/*
 * debuginfod_fetch_open_cache() - the folder in which the client keeps what it gets; made if it is missing
 * For a process that may change files in such folders alone from then on.  Returns an O_PATH descriptor, the
 * caller's to close, or -1.
 */
int debuginfod_fetch_open_cache(void);

/*
 * debuginfod_fetch_run() - get the files, one after the other
 * After a server that does not answer, the remaining files are not tried.
 * Returns 0, whatever was found; -ENOTSUP without libdebuginfod, -ENODATA if the user named no server, -EINTR
 * when stopped, -EPROTO if the child died, -ENOMEM.  Results up to then stay, and are freed as always.
 */
int debuginfod_fetch_run(struct debuginfod_request *requests, size_t n_requests,
                         const struct debuginfod_options *options, struct error *err);

/* Frees the paths. */
void debuginfod_fetch_deinit(struct debuginfod_request *requests, size_t n_requests);

#endif /* SYMBOLIZE_DEBUG_DEBUGINFOD_FETCH_H */
