/* SPDX-License-Identifier: MIT */
#include "sampler/kernel/ring_size.h"

#include "base/io.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRACKER_BYTES       (UINT32_C(1) << 17)
#define TRACKER_BYTES_ROOT  (UINT32_C(1) << 21)
#define TRACKER_BYTES_ALL   (UINT32_C(1) << 22)
#define TRACKERS_BYTES_ROOT (UINT32_C(1) << 26) /* of all CPUs together */
#define TRACKERS_BYTES_ALL  (UINT32_C(1) << 28)

#define SWITCHES_BYTES        (UINT32_C(1) << 20) /* of a CPU */
#define SWITCHES_BYTES_STACKS (UINT32_C(1) << 22) /* the same, with copies of stacks */
#define SWITCHES_BYTES_MAX    (UINT32_C(1) << 28) /* of all CPUs together */

#define RATE_UNKNOWN_HZ   10000
#define SHARE_OF_A_SECOND 4
#define SHARE_AT_LEAST    10 /* of a second, with shorter copies where there are many CPUs */
#define SHARE_OF_MEMORY   16
#define SAMPLE_BYTES      512 /* of a record without the copy of its stack: numbers, registers, some frames */
#define ALLOWED_MIN       (UINT32_C(1) << 15)

uint64_t ring_size_need(const struct ring_size_wanted *wanted)
{
        uint64_t rate_hz = wanted->rate_hz ? wanted->rate_hz : RATE_UNKNOWN_HZ;
        uint64_t need_bytes;

        if (__builtin_mul_overflow(rate_hz, wanted->n_events, &need_bytes) ||
            __builtin_mul_overflow(need_bytes, SAMPLE_BYTES + wanted->copy_bytes, &need_bytes))
                need_bytes = UINT64_MAX;
        return need_bytes / SHARE_OF_A_SECOND;
}

static size_t halve_until_all_fit(size_t bytes, size_t least_bytes, uint64_t n_cpus, uint64_t all_bytes)
{
        while (bytes > least_bytes && n_cpus > 0 && bytes > all_bytes / n_cpus)
                bytes /= 2;
        return bytes;
}

size_t ring_size_find(const struct ring_size_wanted *wanted)
{
        uint64_t need_bytes = ring_size_need(wanted);
        uint64_t all_bytes = RING_SIZE_ALL_BYTES;
        uint64_t bytes = RING_SIZE_BYTES_USUAL;

        if (wanted->memory_bytes > 0 && wanted->memory_bytes / SHARE_OF_MEMORY < all_bytes)
                all_bytes = wanted->memory_bytes / SHARE_OF_MEMORY;
        while (bytes < need_bytes && bytes < RING_SIZE_BYTES_MAX)
                bytes *= 2;
        return halve_until_all_fit((size_t)bytes, RING_SIZE_BYTES_MIN, wanted->n_cpus, all_bytes);
}

uint32_t ring_size_copy(const struct ring_size_wanted *wanted, size_t ring_bytes)
{
        struct ring_size_wanted shorter = *wanted;

        while (wanted->rate_hz > 0 && shorter.copy_bytes / 2 >= RING_SIZE_COPY_MIN &&
               ring_size_need(&shorter) / SHARE_AT_LEAST * SHARE_OF_A_SECOND > ring_bytes)
                shorter.copy_bytes /= 2;
        return (uint32_t)shorter.copy_bytes;
}

/* Maps one ring as the recording will map it; NULL if that is not allowed. */
static void *map_ring(size_t bytes)
{
        struct perf_event_attr attr = { .size = sizeof(attr),
                                        .type = PERF_TYPE_SOFTWARE,
                                        .config = PERF_COUNT_SW_DUMMY,
                                        .exclude_kernel = 1,
                                        .exclude_hv = 1,
                                        .disabled = 1 };
        int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        void *map = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

        io_close(&fd); /* the mapping holds the event */
        return map == MAP_FAILED ? NULL : map;
}

/* Maps all rings at the same time, because the limit applies to all of them together. */
static bool is_allowed(size_t bytes, size_t others_bytes, size_t n_cpus, void **maps)
{
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        bool allowed = true;

        for (size_t i = 0; i < 2 * n_cpus; i++) {
                maps[i] = allowed ? map_ring(page_bytes + (i % 2 ? bytes : others_bytes)) : NULL;
                allowed = maps[i] != NULL;
        }
        for (size_t i = 0; i < 2 * n_cpus; i++)
                if (maps[i])
                        (void)munmap(maps[i], page_bytes + (i % 2 ? bytes : others_bytes));
        return allowed;
}

size_t ring_size_find_allowed(size_t bytes, size_t others_bytes, size_t n_cpus)
{
        void **maps = calloc(2 * n_cpus, sizeof(*maps));

        while (maps && bytes > ALLOWED_MIN && !is_allowed(bytes, others_bytes, n_cpus, maps))
                bytes /= 2;
        free(maps);
        return bytes;
}

size_t ring_size_of_tracker(bool locks_memory, bool whole_machine, size_t n_cpus)
{
        if (!locks_memory)
                return TRACKER_BYTES;
        return whole_machine
                       ? halve_until_all_fit(TRACKER_BYTES_ALL, TRACKER_BYTES, n_cpus, TRACKERS_BYTES_ALL)
                       : halve_until_all_fit(TRACKER_BYTES_ROOT, TRACKER_BYTES, n_cpus, TRACKERS_BYTES_ROOT);
}

size_t ring_size_of_switches(bool stacks, size_t n_cpus)
{
        size_t cpu_bytes = stacks ? SWITCHES_BYTES_STACKS : SWITCHES_BYTES;

        return n_cpus < SWITCHES_BYTES_MAX / cpu_bytes ? cpu_bytes * n_cpus : SWITCHES_BYTES_MAX;
}

uint64_t ring_size_machine_memory(void)
{
        long n_pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);

        return n_pages > 0 && page_bytes > 0 ? (uint64_t)n_pages * (uint64_t)page_bytes : 0;
}
