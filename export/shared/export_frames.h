/* SPDX-License-Identifier: MIT */
/*
 * export/shared/export_frames.h - the functions of a callstack, outermost first, as other tools show them
 *
 * Way of the data:  trace_dictionary (STACKS, SYMBOLS), zone_paths -> [export_frames] -> export_*
 *
 * Functions that were inlined at one address are frames of their own, each inside of the one that it was
 * inlined into.  A zone path in front of a callstack is a frame for each zone.  With `folds` native frames
 * below and between Python functions are left out.  Made once for a trace whose tables are all known.  Not
 * thread-safe.
 */
#ifndef EXPORT_SHARED_EXPORT_FRAMES_H
#define EXPORT_SHARED_EXPORT_FRAMES_H

#include "analyze/samples/function_table.h"
#include "base/byte_buffer.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct python_stacks;
struct trace_dictionary;
struct zone_paths;

/* Outer frames of deeper stacks are left out: a hostile trace may have a stack of all its rows. */
#define EXPORT_FRAMES_DEPTH_MAX 8192

/* One function of a callstack.  No padding: compared as bytes. */
struct export_frame {
        uint32_t frame;        /* in FRAMES; 0 = a zone, or no callstack was recorded */
        uint32_t symbol;       /* in SYMBOLS: its name, file and line; 0 = not known */
        uint32_t label;        /* of its function in function_table; of a zone 0 */
        uint32_t location;     /* of a zone, in LOCATIONS; else 0 */
        uint32_t inline_depth; /* 0 = the code is its own; 1 .. = inlined into the frame before */
};

struct export_frames {
        const struct trace_dictionary *dictionary; /* borrowed */
        const struct python_stacks *folds;         /* borrowed; NULL = call stacks are whole */
        struct function_table functions;
        uint32_t *first_symbols;    /* heap; by frame: the first row of SYMBOLS that counts; 0 = none */
        struct export_frame *items; /* heap; of the last question, outermost first */
        size_t n_items, capacity;
        uint32_t *ids; /* heap; way to the root */
        size_t ids_capacity;
        struct byte_buffer name;
        uint64_t n_cut; /* outermost frames that were left out, in all calls */
};

/* Zero-initialised is valid for export_frames_deinit().  Returns 0, -ENOMEM, -EOVERFLOW. */
int export_frames_init(struct export_frames *f, const struct trace_dictionary *dictionary);
void export_frames_deinit(struct export_frames *f);

/*
 * export_frames_of() - fills `items`
 * @paths, @path:  the zones in front; path 0 = none
 * @stack:         0 = none was recorded: one frame that says so
 * Returns 0 or -ENOMEM.
 */
int export_frames_of(struct export_frames *f, const struct zone_paths *paths, uint32_t path, uint32_t stack);

/* Fills `items` with the functions of one frame alone.  Returns 0 or -ENOMEM. */
int export_frames_of_frame(struct export_frames *f, uint32_t frame);

/*
 * export_frames_name() - what people call it: "main", "zone:update", "[libc.so.6]"
 * without a name, "[truncated]"
 * Returns bytes of any encoding, borrowed until the next call or from the trace; NULL without memory.
 */
const char *export_frames_name(struct export_frames *f, const struct export_frame *frame, size_t *ret_bytes);

/* The name of a location's zones: its name, else the function it is in. */
struct text_view export_frames_zone_name(const struct trace_dictionary *d, uint32_t location);

/* The module of a frame; 0 = none. */
uint32_t export_frames_module(const struct export_frames *f, const struct export_frame *frame);

/* Whether its code is the kernel's. */
bool export_frames_is_kernel(const struct export_frames *f, const struct export_frame *frame);

/* The source file (a string) and line; 0 = not known. */
uint32_t export_frames_file(const struct export_frames *f, const struct export_frame *frame,
                            uint32_t *ret_line);

/* Where its code is, in the module; of a caller the last byte of its call. */
uint64_t export_frames_address(const struct export_frames *f, const struct export_frame *frame);

#endif /* EXPORT_SHARED_EXPORT_FRAMES_H */
