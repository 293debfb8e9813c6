/* SPDX-License-Identifier: MIT */
/*
 * format/trace_follow.c, analyze/live, symbolize/process/live_names.c: a file that grows in pieces has the
 * chunks that it has as a whole; its last seconds, and names of another process, are taken or refused
 */
#include "analyze/live/live_stats.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_follow.h"
#include "format/trace_reader.h"
#include "symbolize/process/live_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CUT_BYTES    2 /* of the length of a piece */
#define CUTS_MAX     32
#define FRAMES_ASKED 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* All that a follower has seen of a trace. */
struct sight {
        uint64_t n_chunks, sum, n_bytes;
        int code; /* of the last trace_follow_next() */
        enum trace_follow_state state;
};

static void require(bool holds)
{
        if (!holds)
                abort();
}

static void take_names(const struct trace_follow *follow, const uint8_t *bytes, size_t n_bytes)
{
        const struct live_names_options options = { .dictionary = trace_follow_dictionary(follow),
                                                    .is_off = true };
        struct live_names names;
        ssize_t n_taken;

        live_names_init(&names, &options);
        if (live_names_step(&names) >= 0) {
                n_taken = live_names_feed(&names, bytes, n_bytes);
                require(n_taken <= (ssize_t)n_bytes);
                for (uint32_t frame = 0; frame < FRAMES_ASKED; frame++)
                        for (uint32_t i = 0; i < live_names_count(&names, frame) && i < FRAMES_ASKED; i++) {
                                (void)live_names_function(&names, frame, i);
                                (void)live_names_describe(&names, frame, i);
                        }
        }
        live_names_deinit(&names);
}

/* Reads what there is.  @stats: NULL = not wanted. */
static int read_chunks(struct trace_follow *follow, struct live_stats *stats, struct sight *sight)
{
        struct trace_item item;
        struct error err = ERROR_NONE;
        int r;

        while ((r = trace_follow_next(follow, &item, &err)) == 1) {
                sight->n_chunks++;
                for (size_t i = 0; i < item.body_bytes; i++)
                        sight->sum = sight->sum * 31 + item.body[i];
                if (stats && live_stats_add(stats, &item, &err) < 0)
                        stats = NULL;
        }
        require(r == 0 || (err.code == r && err.text[0] != '\0'));
        return r;
}

/* The trace comes in @n_cuts + 1 pieces. */
static struct sight follow_pieces(const uint8_t *trace, size_t n_bytes, const uint8_t *cuts, size_t n_cuts,
                                  const uint8_t *names, size_t n_names)
{
        int fd = memfd_create("trace", MFD_CLOEXEC);
        struct trace_follow_options options = { .fd = 0 };
        struct trace_follow *follow;
        struct sight sight = { .code = 0 };
        struct live_stats stats;
        char path[40];
        size_t at = 0;
        bool has_stats;

        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        options.path = path;
        require(fd >= 0 && trace_follow_open(&options, &follow, NULL) == 0);
        has_stats = n_cuts > 0 && live_stats_init(&stats, trace_follow_dictionary(follow)) == 0;
        for (size_t i = 0; i <= n_cuts && sight.code == 0; i++) {
                size_t left = n_bytes - at, n = left;
                const char *words = NULL;

                if (i < n_cuts)
                        n = (size_t)cuts[i * CUT_BYTES] | (size_t)cuts[i * CUT_BYTES + 1] << 8;
                n = n < left ? n : left;
                require(write(fd, trace + at, n) == (ssize_t)n);
                at += n;
                sight.code = read_chunks(follow, has_stats ? &stats : NULL, &sight);
                if (sight.code < 0)
                        break;
                sight.state = trace_follow_state(follow, &words);
                require(words && trace_follow_count_bytes(follow) <= at);
                if (sight.state != TRACE_FOLLOW_PAUSED)
                        break;
        }
        sight.n_bytes = trace_follow_count_bytes(follow);
        if (sight.code == 0)
                take_names(follow, names, n_names);
        if (has_stats)
                live_stats_deinit(&stats);
        trace_follow_close(follow);
        (void)close(fd);
        return sight;
}

/* How many pieces, their lengths, how many bytes of names, these bytes, the trace. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        size_t n_cuts = n_bytes > 0 ? data[0] % CUTS_MAX : 0, at = 2 + n_cuts * CUT_BYTES, n_names;
        struct sight once, pieces;

        if (at > n_bytes)
                return 0;
        n_names = data[at - 1];
        if (n_names > n_bytes - at)
                return 0;
        once = follow_pieces(data + at + n_names, n_bytes - at - n_names, NULL, 0, data + at, n_names);
        pieces = follow_pieces(data + at + n_names, n_bytes - at - n_names, data + 1, n_cuts, data + at,
                               n_names);
        if (once.code == 0 && pieces.code == 0)
                require(once.state == pieces.state && once.n_chunks == pieces.n_chunks &&
                        once.sum == pieces.sum && once.n_bytes == pieces.n_bytes);
        return 0;
}
