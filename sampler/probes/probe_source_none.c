/* SPDX-License-Identifier: MIT */
/* This takes the place of probe_source.c where hyprof is built without BPF. */
#include "sampler/probes/probe_source.h"

#include "base/error.h"

#include <errno.h>

int probe_source_open(const struct probe_source_options *options, struct probe_source **ret_source,
                      struct error *err)
{
        (void)options;
        *ret_source = NULL;
        return error_set(err, -ENOTSUP, "this hyprof was built without BPF, which probes need");
}

void probe_source_close(struct probe_source *s)
{
        (void)s;
}

int probe_source_fd(const struct probe_source *s)
{
        (void)s;
        return -1;
}

int probe_source_peek(struct probe_source *s, uint64_t until_ns, const struct perf_record **ret_record)
{
        (void)s;
        (void)until_ns;
        (void)ret_record;
        return 0;
}

void probe_source_consume(struct probe_source *s)
{
        (void)s;
}

void probe_source_stop(struct probe_source *s)
{
        (void)s;
}

void probe_source_count(const struct probe_source *s, struct probe_counts *ret_counts)
{
        (void)s;
        *ret_counts = (struct probe_counts){ .n_hits = 0 };
}

size_t probe_source_count_bytes(const struct probe_source *s)
{
        (void)s;
        return 0;
}
