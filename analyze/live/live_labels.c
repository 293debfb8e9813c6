/* SPDX-License-Identifier: MIT */
#include "analyze/live/live_labels.h"

#include "analyze/live/live_shown.h"
#include "base/array.h"
#include "format/trace_dictionary.h"
#include "symbolize/process/live_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX    2048 /* of a name that tells functions apart */
#define MADE_MODULE_BYTES 40

enum { KEY_NAMED, KEY_NO_NAME, KEY_NOT_YET, KEY_NO_STACK };

struct live_label_key {
        /* cppcheck-suppress unusedStructMember ; compared as bytes */
        uint32_t module; /* string: its path */
        uint32_t kind;
        uint32_t frame; /* of KEY_NOT_YET */
        char name[NAME_BYTES_MAX];
};

#define KEY_BYTES offsetof(struct live_label_key, name)

static int add_key(struct live_labels *l, const struct live_label_key *key, size_t n_name,
                   struct live_label_origin origin, uint32_t *ret_label)
{
        int r = intern_add(&l->keys, key, KEY_BYTES + n_name, ret_label);

        if (r <= 0)
                return r;
        r = array_reserve(&l->origins, &l->origins_capacity, *ret_label, sizeof(*l->origins));
        if (r == 0)
                l->origins[*ret_label - 1] = origin;
        return r;
}

int live_labels_init(struct live_labels *l, const struct trace_dictionary *dictionary,
                     const struct live_names *names, const struct live_shown *shown)
{
        const struct live_label_key no_stack = { .kind = KEY_NO_STACK };
        uint32_t label;

        *l = (struct live_labels){ .dictionary = dictionary, .names = names, .shown = shown };
        intern_init(&l->keys, 0, 0);
        return add_key(l, &no_stack, 0, (struct live_label_origin){ .frame = 0 }, &label);
}

void live_labels_deinit(struct live_labels *l)
{
        intern_deinit(&l->keys);
        free(l->origins);
        free(l->of_frame);
        *l = (struct live_labels){ .of_frame = NULL };
}

void live_labels_renew(struct live_labels *l, const struct live_shown *shown)
{
        l->shown = shown;
        if (l->of_frame)
                memset(l->of_frame, 0, l->frames_capacity * sizeof(*l->of_frame));
}

static struct text_view function(const struct live_labels *l, uint32_t frame, uint32_t i)
{
        struct text_view name = live_shown_function(l->shown, frame, i);

        return name.n_bytes > 0 ? name : live_names_function(l->names, frame, i);
}

/* Makes room for all frames that the dictionary has by now. */
static int reserve(struct live_labels *l)
{
        size_t before = l->frames_capacity;

        if (array_reserve(&l->of_frame, &l->frames_capacity,
                          trace_dictionary_count(l->dictionary, TRACE_TABLE_FRAMES),
                          sizeof(*l->of_frame)) < 0)
                return -ENOMEM;
        memset(l->of_frame + before, 0, (l->frames_capacity - before) * sizeof(*l->of_frame));
        return 0;
}

static const struct trace_module *module_of_frame(const struct live_labels *l, uint32_t frame)
{
        const struct trace_frame *row = trace_dictionary_row(l->dictionary, TRACE_TABLE_FRAMES, frame);

        return row->module == 0 ? NULL
                                : trace_dictionary_row(l->dictionary, TRACE_TABLE_MODULES, row->module);
}

bool live_labels_is_kernel(const struct live_labels *l, uint32_t frame)
{
        return trace_dictionary_is_kernel_frame(l->dictionary, frame);
}

bool live_labels_is_mark(const struct live_labels *l, uint32_t frame)
{
        const struct trace_module *module = module_of_frame(l, frame);

        return module && module->kind == TRACE_MODULE_MARK;
}

struct text_view live_labels_module(const struct live_labels *l, uint32_t frame)
{
        const struct trace_module *module = module_of_frame(l, frame);

        return trace_dictionary_text(l->dictionary, module ? module->path : 0);
}

uint32_t live_labels_count(const struct live_labels *l, uint32_t frame)
{
        uint32_t n = l->names ? live_names_count(l->names, frame) : 0;

        return n > 0 ? n : 1;
}

static int make_label(struct live_labels *l, uint32_t frame, uint32_t i, uint32_t *ret_label)
{
        const struct trace_module *module = module_of_frame(l, frame);
        struct live_label_key key = { .module = module ? module->path : 0, .kind = KEY_NOT_YET };
        struct text_view name = { .n_bytes = 0 };

        if (l->names && live_names_count(l->names, frame) > 0) {
                name = function(l, frame, i);
                key.kind = name.n_bytes > 0 ? KEY_NAMED : KEY_NO_NAME;
        } else {
                key.frame = frame;
        }
        if (name.n_bytes > NAME_BYTES_MAX)
                name.n_bytes = NAME_BYTES_MAX;
        if (name.n_bytes > 0)
                memcpy(key.name, name.bytes, name.n_bytes);
        return add_key(l, &key, name.n_bytes, (struct live_label_origin){ frame, i }, ret_label);
}

int live_labels_find(struct live_labels *l, uint32_t frame, uint32_t i, uint32_t *ret_label)
{
        int r;

        if (i > 0)
                return make_label(l, frame, i, ret_label);
        if (frame > l->frames_capacity && reserve(l) < 0)
                return -ENOMEM;
        if (l->of_frame[frame - 1] == 0) {
                r = make_label(l, frame, 0, &l->of_frame[frame - 1]);
                if (r < 0)
                        return r;
        }
        *ret_label = l->of_frame[frame - 1];
        return 0;
}

/* The file's name without its folders. */
static struct text_view short_name(struct text_view path)
{
        const char *slash = path.n_bytes != 0 ? memrchr(path.bytes, '/', path.n_bytes) : NULL;
        size_t n_before = slash ? (size_t)(slash + 1 - path.bytes) : 0;

        return (struct text_view){ .bytes = path.bytes + n_before, .n_bytes = path.n_bytes - n_before };
}

void live_labels_describe_frame(const struct live_labels *l, uint32_t frame, uint32_t i,
                                struct live_label *ret)
{
        const struct trace_frame *row = trace_dictionary_row(l->dictionary, TRACE_TABLE_FRAMES, frame);

        *ret = (struct live_label){ .module = short_name(live_labels_module(l, frame)) };
        if (live_labels_is_mark(l, frame)) {
                ret->name = live_labels_module(l, frame);
                return;
        }
        if (!l->names || live_names_count(l->names, frame) == 0) {
                (void)snprintf(ret->made, sizeof(ret->made), "%.*s+0x%" PRIx64,
                               (int)(ret->module.n_bytes < MADE_MODULE_BYTES ? ret->module.n_bytes
                                                                             : MADE_MODULE_BYTES),
                               ret->module.n_bytes ? ret->module.bytes : "", row->offset);
                return;
        }
        ret->name = function(l, frame, i);
        if (ret->name.n_bytes == 0)
                (void)snprintf(ret->made, sizeof(ret->made), "[no symbol]");
}

void live_labels_describe(const struct live_labels *l, uint32_t label, struct live_label *ret)
{
        struct live_label_origin origin = l->origins[label - 1];

        if (origin.frame != 0) {
                live_labels_describe_frame(l, origin.frame, origin.i, ret);
                return;
        }
        *ret = (struct live_label){ .name = { .n_bytes = 0 } };
        (void)snprintf(ret->made, sizeof(ret->made), "[no call stack]");
}
