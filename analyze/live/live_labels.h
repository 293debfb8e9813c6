/* SPDX-License-Identifier: MIT */
/*
 * analyze/live/live_labels.h - the frames of a trace that grows -> functions, with their present names
 *
 * Way of the data:  trace_dictionary (frames, modules), live_names -> [live_labels] -> live_rows
 *
 * Names come while the trace grows.  So the caller makes the labels anew for each list, or keeps and renews
 * them when there are new names.  When it renews them, earlier labels stay valid, and the label of a frame
 * that had no name gets the name.  Frames that were looked up and have no function share one label in each
 * module.  A frame that was not looked up yet has a label of its own, with module and offset.
 */
#ifndef ANALYZE_LIVE_LIVE_LABELS_H
#define ANALYZE_LIVE_LIVE_LABELS_H

#include "base/intern.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_NAME_BYTES 64 /* of a made name: "libfoo.so+0x1a20" */

#define LIVE_LABEL_NO_STACK 1 /* the label of samples without a call stack */

struct live_names;
struct live_shown;
struct trace_dictionary;

/* The name of a place in the code. */
struct live_label {
        struct text_view name;      /* the function; empty = none yet: see `made` */
        struct text_view module;    /* the file's name without its folder */
        char made[LIVE_NAME_BYTES]; /* with an empty name: module and offset, or words in its place */
};

/* The function from which a label was made. */
struct live_label_origin {
        uint32_t frame, i; /* frame 0: samples without a call stack */
};

struct live_labels {
        const struct trace_dictionary *dictionary; /* borrowed */
        const struct live_names *names;            /* borrowed; NULL = none */
        const struct live_shown *shown;    /* borrowed; different names for functions of one name; or NULL */
        struct intern keys;                /* the module, whether it has a name, the name or the frame */
        struct live_label_origin *origins; /* heap; by label - 1 */
        size_t origins_capacity;
        uint32_t *of_frame; /* heap; by frame - 1: the label of its innermost function; 0 = not made yet */
        size_t frames_capacity;
};

/* @shown: may be NULL.  Returns 0 or -ENOMEM; to be deinitialised in any case. */
int live_labels_init(struct live_labels *l, const struct trace_dictionary *dictionary,
                     const struct live_names *names, const struct live_shown *shown);
void live_labels_deinit(struct live_labels *l);

/* Call this when there are new names: all frames are looked up again, and may get other labels. */
void live_labels_renew(struct live_labels *l, const struct live_shown *shown);

/* How many functions a frame has, inlined into each other: 1 at least. */
uint32_t live_labels_count(const struct live_labels *l, uint32_t frame);

/* The label of its function number @i, the innermost first.  Returns 0, -ENOMEM, -EOVERFLOW. */
int live_labels_find(struct live_labels *l, uint32_t frame, uint32_t i, uint32_t *ret_label);

static inline uint32_t live_labels_n(const struct live_labels *l)
{
        return l->keys.n_items;
}

/* Describes a label in @ret, for people. */
void live_labels_describe(const struct live_labels *l, uint32_t label, struct live_label *ret);

/* Describes function number @i of a frame in the same way, without a label. */
void live_labels_describe_frame(const struct live_labels *l, uint32_t frame, uint32_t i,
                                struct live_label *ret);

/* Whether a frame is the kernel's code; whether it is a mark, and no code. */
bool live_labels_is_kernel(const struct live_labels *l, uint32_t frame);
bool live_labels_is_mark(const struct live_labels *l, uint32_t frame);

/* The path of the module of a frame; empty without one. */
struct text_view live_labels_module(const struct live_labels *l, uint32_t frame);

/* The bytes to show of a label. */
static inline struct text_view live_label_text(const struct live_label *l)
{
        size_t n = 0;

        if (l->name.n_bytes > 0)
                return l->name;
        while (n < sizeof(l->made) && l->made[n] != '\0')
                n++;
        return (struct text_view){ .bytes = l->made, .n_bytes = n };
}

#endif /* ANALYZE_LIVE_LIVE_LABELS_H */
