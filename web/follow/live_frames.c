/* SPDX-License-Identifier: MIT */
#include "web/follow/live_trace.h"

#include "analyze/live/live_rows.h"
#include "analyze/live/live_shown.h"
#include "format/trace_dictionary.h"
#include "timeline/timeline_ghosts.h"
#include "view/document/json_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES       65536
#define INPUT_BYTES_MAX  (UINT32_C(1) << 23) /* longer than a row can be */
#define STEP_BYTES_MAX   (UINT32_C(1) << 22) /* of names that are taken in at a time */
#define STACK_FRAMES_MAX 4096                /* of one stack */

int live_frames_init(struct live_frames *f, const struct trace_dictionary *dictionary, int names_fd)
{
        const struct live_names_options naming = { .dictionary = dictionary, .is_off = true };

        *f = (struct live_frames){ .dictionary = dictionary, .names_fd = names_fd };
        live_names_init(&f->names, &naming);
        return live_labels_init(&f->labels, dictionary, &f->names, NULL);
}

void live_frames_deinit(struct live_frames *f)
{
        live_labels_deinit(&f->labels);
        live_shown_free(f->shown);
        live_names_deinit(&f->names);
        byte_buffer_deinit(&f->input);
        *f = (struct live_frames){ .names_fd = -1 };
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* Returns how many bytes came, 0 at the end, or -ENOMEM. */
static ssize_t read_bytes(struct live_frames *f)
{
        uint8_t *to = byte_buffer_reserve(&f->input, READ_BYTES);
        ssize_t got;

        if (!to)
                return -ENOMEM;
        got = read(f->names_fd, to, READ_BYTES);
        if (got > 0)
                f->input.used_bytes += (size_t)got;
        return got > 0 ? got : 0;
}

/* Returns 1 if there are new names, 0, -ENOMEM. */
static int feed(struct live_frames *f)
{
        ssize_t n_taken = live_names_feed(&f->names, f->input.data, f->input.used_bytes);

        if (n_taken <= 0)
                return (int)n_taken;
        f->input.used_bytes -= (size_t)n_taken;
        memmove(f->input.data, f->input.data + n_taken, f->input.used_bytes);
        return 1;
}

/* A row that is incomplete, or whose frame has not been read yet, stays in `input` for the next time. */
int live_frames_step(struct live_frames *f)
{
        int any = live_names_step(&f->names), r = 1;

        for (size_t n_bytes = 0; any >= 0 && r > 0 && f->names_fd >= 0 && n_bytes < STEP_BYTES_MAX;) {
                ssize_t got = f->input.used_bytes < INPUT_BYTES_MAX ? read_bytes(f) : 0;

                r = got < 0 ? -ENOMEM : feed(f);
                any |= r == 1;
                n_bytes += (size_t)got;
        }
        if (any < 0 || r < 0)
                return -ENOMEM;
        r = any ? live_shown_renew(f->dictionary, &f->names, &f->shown) : 0;
        if (any)
                live_labels_renew(&f->labels, f->shown);
        return r;
}

static int functions(void *context, uint32_t frame, uint32_t *labels, uint32_t n_max)
{
        struct live_frames *f = context;
        uint32_t n = 0;

        for (uint32_t i = live_labels_count(&f->labels, frame); i > 0 && n < n_max; i--) {
                int r = live_labels_find(&f->labels, frame, i - 1, &labels[n++]);

                if (r < 0)
                        return -ENOMEM;
        }
        return (int)n;
}

struct timeline_ghost_names live_frames_ghost_names(struct live_frames *f)
{
        return (struct timeline_ghost_names){ .functions = functions, .context = f };
}

/* ---- for the pages ------------------------------------------------------------------------------------- */

json_t *live_frames_list_functions(const struct live_frames *f)
{
        json_t *list = json_array();

        for (uint32_t i = 1; list && i <= live_labels_n(&f->labels); i++) {
                uint32_t frame = f->labels.origins[i - 1].frame;
                struct live_label label;
                json_t *item;

                live_labels_describe(&f->labels, i, &label);
                item = json_pack("{s:o*,s:o*,s:b}", "name", json_value_string(live_label_text(&label)),
                                 "module",
                                 frame == 0 ? json_string("")
                                            : json_value_string(live_labels_module(&f->labels, frame)),
                                 "is_kernel", (int)(frame != 0 && live_labels_is_kernel(&f->labels, frame)));
                if (item)
                        (void)json_array_append_new(list, item);
        }
        return list;
}

static json_t *make_place(const struct live_frames *f, uint32_t frame, uint32_t i)
{
        struct text_view file = { .n_bytes = 0 };
        struct byte_buffer place = { .data = NULL };
        char words[16];
        uint32_t line = 0;
        json_t *value;

        if (live_names_count(&f->names, frame) > i)
                file = live_names_file(&f->names, frame, i, &line);
        if (file.n_bytes == 0)
                return json_null();
        byte_buffer_add(&place, file.bytes, file.n_bytes);
        if (line != 0)
                byte_buffer_add(&place, words, (size_t)snprintf(words, sizeof(words), ":%" PRIu32, line));
        value = place.failed
                        ? NULL
                        : json_value_string((struct text_view){ (const char *)place.data, place.used_bytes });
        byte_buffer_deinit(&place);
        return value;
}

/* Describes the functions of the frame anew: a list for people adds no labels. */
static void append_live_frame(const struct live_frames *f, uint32_t frame, json_t *list)
{
        uint32_t n = live_labels_count(&f->labels, frame);

        for (uint32_t i = 0; i < n; i++) {
                struct live_label label;
                json_t *item;

                live_labels_describe_frame(&f->labels, frame, i, &label);
                item = json_pack("{s:o*,s:o*,s:o*,s:b,s:b}", "name",
                                 json_value_string(live_label_text(&label)), "module",
                                 json_value_string(live_labels_module(&f->labels, frame)), "place",
                                 make_place(f, frame, i), "is_inlined", (int)(i + 1 < n), "is_kernel",
                                 (int)live_labels_is_kernel(&f->labels, frame));
                if (item)
                        (void)json_array_append_new(list, item);
        }
}

json_t *live_frames_list_stack(const struct live_frames *f, uint32_t stack)
{
        uint32_t n_stacks = trace_dictionary_count(f->dictionary, TRACE_TABLE_STACKS);
        json_t *list = json_array();

        for (int i = 0; list && stack != 0 && stack <= n_stacks && i < STACK_FRAMES_MAX; i++) {
                const struct trace_stack *row = trace_dictionary_row(f->dictionary, TRACE_TABLE_STACKS,
                                                                     stack);

                append_live_frame(f, row->frame, list);
                stack = row->parent;
        }
        return list;
}
