/* SPDX-License-Identifier: MIT */
/* Replaces python_source.c where hyprof is built without BPF (HYPROF_NO_BPF=1, or no clang). */
#include "base/error.h"
#include "sampler/python/python_source.h"

#include <errno.h>

int python_source_begin(size_t ring_bytes, unsigned hooks, struct python_source **ret_source,
                        struct error *err)
{
        (void)ring_bytes;
        (void)hooks;
        (void)ret_source;
        return error_set(err, -ENOTSUP, "hyprof was built without BPF");
}

int python_source_finish(struct python_source *s, struct error *err)
{
        (void)s;
        return error_set(err, -ENOTSUP, "hyprof was built without BPF");
}

void python_source_close(struct python_source *s)
{
        (void)s;
}

int python_source_program(const struct python_source *s)
{
        (void)s;
        return -1;
}

int python_source_map(const struct python_source *s)
{
        (void)s;
        return -1;
}

void python_source_forget_map(struct python_source *s)
{
        (void)s;
}

struct python_processes *python_source_processes(struct python_source *s)
{
        (void)s;
        return NULL;
}

void python_source_look(struct python_source *s)
{
        (void)s;
}

int python_source_find(struct python_source *s, const struct python_sample_key *key, uint32_t flag,
                       const struct python_copies_sink *sink, struct python_sample *ret_sample)
{
        (void)s;
        (void)key;
        (void)flag;
        (void)sink;
        (void)ret_sample;
        return 0;
}

uint64_t python_source_count_lost(const struct python_source *s)
{
        (void)s;
        return 0;
}
