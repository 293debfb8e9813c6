/* SPDX-License-Identifier: MIT */
/* Replaces switch_source.c where hyprof is built without BPF (HYPROF_NO_BPF=1, or no clang). */
#include "base/error.h"
#include "sampler/switches/switch_source.h"

#include <errno.h>

int switch_source_open(const struct switch_source_options *options, struct switch_source **ret_source,
                       struct error *err)
{
        (void)options;
        (void)ret_source;
        return error_set(err, -ENOTSUP, "hyprof was built without BPF");
}

int switch_source_begin(struct switch_source *s, int cgroup_fd, bool everything, const struct cpu_list *cpus,
                        struct error *err)
{
        (void)s;
        (void)cgroup_fd;
        (void)everything;
        (void)cpus;
        (void)err;
        return 0;
}

int switch_source_expect_program(struct switch_source *s, uint32_t pid)
{
        (void)s;
        (void)pid;
        return 0;
}

void switch_source_close(struct switch_source *s)
{
        (void)s;
}

int switch_source_add_process(struct switch_source *s, uint32_t pid)
{
        (void)s;
        (void)pid;
        return 0;
}

int switch_source_processes(const struct switch_source *s)
{
        (void)s;
        return -1;
}

int switch_source_fd(const struct switch_source *s)
{
        (void)s;
        return -1;
}

void switch_source_note_rings(const struct switch_source *s, struct recorder_pace *pace)
{
        (void)s;
        (void)pace;
}

int switch_source_peek(struct switch_source *s, uint64_t until_ns, const struct perf_record **ret_record)
{
        (void)s;
        (void)until_ns;
        (void)ret_record;
        return 0;
}

void switch_source_consume(struct switch_source *s)
{
        (void)s;
}

int switch_source_read_syscalls(const struct switch_source *s, switch_source_sum_taker *take, void *context,
                                uint64_t *ret_n_missed)
{
        (void)s;
        (void)take;
        (void)context;
        *ret_n_missed = 0;
        return -ENOTSUP;
}

void switch_source_add_idle(struct switch_source *s, uint64_t from_ns, uint64_t until_ns,
                            struct byte_buffer *text)
{
        (void)s;
        (void)from_ns;
        (void)until_ns;
        (void)text;
}

size_t switch_source_count_bytes(const struct switch_source *s)
{
        (void)s;
        return 0;
}

uint64_t switch_source_count_lost_stacks(const struct switch_source *s)
{
        (void)s;
        return 0;
}

uint64_t switch_source_count_lost(const struct switch_source *s)
{
        (void)s;
        return 0;
}
