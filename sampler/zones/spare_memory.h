/* SPDX-License-Identifier: MIT */
/*
 * sampler/zones/spare_memory.h - how much memory a program may fill with events that are not read yet
 *
 * Way of the data:  the machine's memory, cgroups -> [spare_memory] -> zone_source, the command's environment
 *
 * Events that a program writes when its rings are full lie in memory that is charged to the program.  So the
 * default is a small part of the machine's memory, and of what the program's own cgroups allow.
 */
#ifndef SAMPLER_ZONES_SPARE_MEMORY_H
#define SAMPLER_ZONES_SPARE_MEMORY_H

#include "sampler/proc/cgroup_folder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPARE_MEMORY_RING_BYTES (UINT64_C(1) << 20) /* what a thread's ring has anyhow */
#define SPARE_MEMORY_BYTES_MAX  (UINT64_C(960) << 20)

/* All programs of a recording together may fill as much as this many programs alone. */
#define SPARE_MEMORY_PROGRAMS 2

struct spare_memory {
        uint64_t wanted_bytes;     /* what the user said; 0 = nothing */
        struct cgroup_mount mount; /* mount of the hierarchy that limits memory: cgroup v1, or else cgroup2 */
        bool has_mount;
};

/* @wanted_bytes: the size of rings and spare memory of each thread, 0 = the default.  Reads files. */
void spare_memory_init(struct spare_memory *m, uint64_t wanted_bytes);

/* For a process; 0 = this one.  Reads a few files.  Returns 0 if programs are to have rings alone. */
uint64_t spare_memory_of_process(const struct spare_memory *m, uint32_t pid);

/* The part of @bytes, a lone program's memory, that each of @n_programs may have. */
uint64_t spare_memory_share(uint64_t bytes, size_t n_programs);

/*
 * The size of a ring for clients that have rings alone: a power of two up to @wanted_bytes, and up to their
 * limit.
 */
uint64_t spare_memory_old_ring_bytes(uint64_t wanted_bytes);

/* A program that lost events because its rings were full. */
struct spare_lack {
        uint64_t had_bytes;   /* its share, which it filled */
        uint64_t lost_bytes;  /* bytes of its memory that the lost events would have taken */
        size_t n_programs;    /* that were recorded at once, with it */
        uint64_t group_bytes; /* bytes that its cgroups' limits left to it; UINT64_MAX = no limit */
        uint64_t room_bytes;  /* bytes that its own limits left to it; likewise */
};

/* The value of --client-ring that would have been enough for the program that lacked the most. */
struct spare_need {
        uint64_t bytes;         /* 0 = nothing was lost; UINT64_MAX = more than any number */
        uint64_t program_bytes; /* the share of that program, */
        uint64_t group_bytes;   /* and its limits: as in struct spare_lack */
        uint64_t room_bytes;
};

void spare_need_add(struct spare_need *need, const struct spare_lack *lack);

/*
 * spare_memory_round_up() - rounds a need up to a size that can be advised
 * Returns a power of two from 16 MiB on, or SPARE_MEMORY_BYTES_MAX; 0 if that is not enough either.
 */
uint64_t spare_memory_round_up(uint64_t bytes);

/*
 * The memory that the limits of a process's cgroups leave; @pid 0 = this process.  UINT64_MAX if there is
 * no limit.
 */
uint64_t spare_memory_left_by_group(const struct spare_memory *m, uint32_t pid);

/*
 * spare_memory_of_group() - the memory that the limits of a cgroup and its parents leave
 * @folder:  of the cgroup
 * @top:     of the topmost one that is looked at
 * Returns UINT64_MAX where there is no limit.
 */
uint64_t spare_memory_of_group(const char *folder, const char *top);

#endif /* SAMPLER_ZONES_SPARE_MEMORY_H */
