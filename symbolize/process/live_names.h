/* SPDX-License-Identifier: MIT */
/*
 * symbolize/process/live_names.h - names of a trace's frames while it is still being written
 *
 * Way of the data:  trace_follow (dictionary) -> [live_names] (fork) -> symbol_process -> live_rows, web
 *
 * A recorder names frames at its end.  Until then a child of this process, at low priority, symbolizes the
 * frames that are new, every half second at most, with the symbolizer's own children, and then rests three
 * times as long as that took.  The code has to be on this machine.  Once the trace itself has names, those
 * come first.  Nothing blocks.  Its memory grows with the names.  The process must have one thread whenever
 * it calls live_names_step().  Not thread-safe.
 */
#ifndef SYMBOLIZE_PROCESS_LIVE_NAMES_H
#define SYMBOLIZE_PROCESS_LIVE_NAMES_H

#include "base/byte_buffer.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LIVE_NAMES_PERIOD_NS     UINT64_C(500000000)   /* from one child to the next, at least */
#define LIVE_NAMES_REST          3                     /* and this many times what the last one took */
#define LIVE_NAMES_BYTES_MAX     (UINT64_C(256) << 20) /* that one child may send */
#define LIVE_NAMES_ROW_BYTES_MAX (3 * (UINT32_C(1) << 20) + 40) /* of one row */

struct byte_reader;
struct error;
struct index_cache;
struct symbol_search;
struct trace_dictionary;

struct live_names_options {
        const struct trace_dictionary *dictionary; /* borrowed, as all here; grows */
        const struct index_cache *cache;           /* NULL = none */
        const struct symbol_search *search;        /* NULL = all zero */
        int kallsyms_fd;                           /* <= 0 = opened when it is needed */
        uint32_t run_as_uid, run_as_gid;           /* when root; 0 = stay */
        bool is_off; /* start no children: only the trace's own names, and those of live_names_feed() */
        /* Gets all that a child has sent, for live_names_feed() of another process; NULL = not wanted. */
        void (*pass_on)(void *context, const uint8_t *bytes, size_t n_bytes);
        void *context;
};

/* The names of a frame: functions inlined into each other, the innermost first. */
struct live_name {
        uint32_t function_at, n_function; /* place and bytes in `text`, or a string of the dictionary and 0 */
        uint32_t file_at, n_file;
        uint32_t declared_at, n_declared; /* the file in which the function is declared */
        uint32_t line, flags;             /* as in the row of SYMBOLS, like the next ones */
        uint32_t declared_line, instance;
        uint64_t start_svma;
        bool is_of_trace; /* the first numbers are strings of the dictionary */
};

struct live_frame_names {
        uint32_t first; /* in `names`, plus 1; 0 = none yet */
        uint32_t n;
};

struct live_names {
        struct live_names_options options;
        struct live_frame_names *frames; /* heap; by frame - 1 */
        size_t frames_capacity;
        uint32_t n_frames;
        struct live_name *names; /* heap */
        size_t names_capacity;
        uint32_t n_names;
        struct byte_buffer text;  /* of the names that children found */
        uint32_t n_symbols;       /* rows of the dictionary's SYMBOLS that were taken in */
        uint32_t open_frame;      /* whose group the next of these rows may continue; 0 = none */
        uint32_t n_asked;         /* frames up to here were given to a child */
        pid_t child;              /* 0 = none */
        int child_fd;             /* its pipe; -1 = none */
        struct byte_buffer input; /* what it has sent so far */
        uint64_t started_ns;      /* when the last child was */
        uint64_t next_ns;         /* no child before */
        uint32_t fed_frame;       /* whose group the next row of live_names_feed() may continue; 0 = none */
        bool has_places;          /* a name says where its function is declared or begins */
};

void live_names_init(struct live_names *n, const struct live_names_options *options);
void live_names_deinit(struct live_names *n);

/*
 * live_names_step() - take in what the dictionary and the child have, start a child if it is time
 * Returns 1 if there are new names, 0, or -ENOMEM.  A child that fails costs names.
 */
int live_names_step(struct live_names *n);

/* A row as a child sends it. */
struct live_names_row {
        uint32_t frame, flags, line; /* as in the row of SYMBOLS, like all here */
        uint32_t declared_line, instance;
        uint64_t start_svma;
        struct text_view function, file, declared_file; /* borrowed from the bytes */
};

/* Returns 1, or 0 if the bytes are not all there. */
int live_names_row_decode(struct byte_reader *in, struct live_names_row *ret);

/*
 * live_names_feed() - names that another process found
 * Takes whole rows of frames that the dictionary has by now; the rest is to be fed again, with what follows.
 * Returns how many bytes it took, or -ENOMEM.
 */
ssize_t live_names_feed(struct live_names *n, const uint8_t *bytes, size_t n_bytes);

/* The descriptor to poll for input before the next step; -1 = none. */
int live_names_fd(const struct live_names *n);

/* How many functions a frame has; 0 = it has no name yet. */
uint32_t live_names_count(const struct live_names *n, uint32_t frame);

/* The function @i of a frame, from the innermost on; empty if the symbolizer found none. */
struct text_view live_names_function(const struct live_names *n, uint32_t frame, uint32_t i);

/* All that is known of the function @i, as a row. */
struct live_names_row live_names_describe(const struct live_names *n, uint32_t frame, uint32_t i);

/* The source file of the function @i; empty if it is not known.  @ret_line: 0 if it is not known. */
struct text_view live_names_file(const struct live_names *n, uint32_t frame, uint32_t i, uint32_t *ret_line);

/*
 * live_names_file_take() - names that were found while a trace grows, as rows of SYMBOLS for the frames of @d
 * that have none
 * For a process that reads the trace once, in the middle of the recording: until its end the trace has no
 * names.
 * @fd:  the file, borrowed; its position stays, others may write to its end meanwhile
 * Rows of frames that @d does not have are left out, and so are incomplete rows.  Returns 0, -ENOMEM, -errno
 * of pread(2).
 */
int live_names_file_take(struct trace_dictionary *d, int fd, struct error *err);

#endif /* SYMBOLIZE_PROCESS_LIVE_NAMES_H */
