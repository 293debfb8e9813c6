/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/inject/itt_jit.c - what JIT compilers say of their code: its names and lines
 *
 * Way of the data:  program -> itt_abi -> [itt_jit] -> libhyprof
 */
#include "instrument/compat/inject/itt_abi.h"
#include "instrument/compat/inject/word_map.h"

#include <stdlib.h>

#define LINES_MAX 65536 /* of one method */

struct loaded_method {
        void *address;
        size_t n_bytes;
        struct loaded_method *next; /* another piece of the method */
};

static struct word_map methods; /* id -> struct loaded_method */

/* Hands the lines on from where each begins. */
static void add_code(const struct itt_jit_method *m, struct inject_text file)
{
        uint32_t n = m->lines && file.n_bytes > 0 ? m->n_lines : 0, begin_bytes = 0;
        struct hyprof_code_line *lines;
        struct inject_text name = inject_text_of(m->name);
        struct hyprof_location *location = hyprof_location_of(name.at, name.n_bytes, NULL, 0, file.at,
                                                              file.n_bytes, 0, 0);

        if (n > LINES_MAX)
                n = LINES_MAX;
        lines = n > 0 ? malloc(n * sizeof(*lines)) : NULL;
        for (uint32_t i = 0; lines && i < n; i++) {
                lines[i] = (struct hyprof_code_line){ .offset_bytes = begin_bytes, .line = m->lines[i].line };
                begin_bytes = m->lines[i].end_bytes;
        }
        hyprof_code_add_lines(m->address, m->n_bytes, location, lines, lines ? n : 0);
        free(lines);
}

static void remember(const struct itt_jit_method *m)
{
        struct word_key key = { .a = m->id };
        struct loaded_method *loaded = malloc(sizeof(*loaded));

        if (!loaded)
                return;
        *loaded = (struct loaded_method){ .address = m->address, .n_bytes = m->n_bytes };
        loaded->next = word_map_take(&methods, key);
        if (!word_map_put(&methods, key, loaded))
                free(loaded);
}

static void load(const struct itt_jit_method *m, const char *file)
{
        if (!hyprof_is_recording() || m->id == 0 || !m->name || !m->address || m->n_bytes == 0)
                return;
        add_code(m, inject_text_of(file));
        remember(m);
}

static void unload(unsigned id)
{
        struct loaded_method *m = word_map_take(&methods, (struct word_key){ .a = id }), *next;

        for (; m; m = next) {
                next = m->next;
                hyprof_code_remove(m->address, m->n_bytes);
                free(m);
        }
}

/* A program looks for these in the library that INTEL_JIT_PROFILER64 names. */
/* NOLINTBEGIN(readability-identifier-naming): the names that it looks for */
INJECT_EXPORT unsigned Initialize(void);
INJECT_EXPORT int NotifyEvent(int event, const void *data);
/* NOLINTEND(readability-identifier-naming) */

unsigned Initialize(void)
{
        if (!inject_wants(INJECT_ITT))
                return 0;
        inject_announce("ITT for JIT compilers", __builtin_return_address(0));
        return ITT_JIT_IS_WANTED;
}

/* Inlined functions count as the one that they are in. */
int NotifyEvent(int event, const void *data)
{
        if (!data || !inject_wants(INJECT_ITT))
                return 0;
        switch (event) {
        case ITT_JIT_LOADED:
                load(data, ((const struct itt_jit_method_1 *)data)->file);
                return 1;
        case ITT_JIT_LOADED_2:
        case ITT_JIT_LOADED_3:
                load(data, ((const struct itt_jit_method_2 *)data)->file);
                return 1;
        case ITT_JIT_UNLOAD:
                unload(*(const unsigned *)data);
                return 1;
        default:
                return 0;
        }
}
