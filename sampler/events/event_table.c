/* SPDX-License-Identifier: MIT */
#include "sampler/events/event_table.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

static const struct event_table_row rows[] = {
        { "cpu-clock", NULL, PERF_COUNT_SW_CPU_CLOCK, "ns", PERF_TYPE_SOFTWARE, false },
        { "task-clock", NULL, PERF_COUNT_SW_TASK_CLOCK, "ns", PERF_TYPE_SOFTWARE, false },
        { "page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, "faults", PERF_TYPE_SOFTWARE, false },
        { "minor-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MIN, "faults", PERF_TYPE_SOFTWARE, false },
        { "major-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MAJ, "faults", PERF_TYPE_SOFTWARE, false },
        { "context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, "switches", PERF_TYPE_SOFTWARE, true },
        { "cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, "migrations", PERF_TYPE_SOFTWARE,
          true },
        { "cgroup-switches", NULL, PERF_COUNT_SW_CGROUP_SWITCHES, "switches", PERF_TYPE_SOFTWARE, true },
        { "alignment-faults", NULL, PERF_COUNT_SW_ALIGNMENT_FAULTS, "faults", PERF_TYPE_SOFTWARE, false },
        { "emulation-faults", NULL, PERF_COUNT_SW_EMULATION_FAULTS, "faults", PERF_TYPE_SOFTWARE, false },
        { "cycles", "cpu-cycles", PERF_COUNT_HW_CPU_CYCLES, "cycles", PERF_TYPE_HARDWARE, false },
        { "instructions", NULL, PERF_COUNT_HW_INSTRUCTIONS, "instructions", PERF_TYPE_HARDWARE, false },
        { "ref-cycles", NULL, PERF_COUNT_HW_REF_CPU_CYCLES, "cycles", PERF_TYPE_HARDWARE, false },
        { "cache-references", NULL, PERF_COUNT_HW_CACHE_REFERENCES, "references", PERF_TYPE_HARDWARE, false },
        { "cache-misses", NULL, PERF_COUNT_HW_CACHE_MISSES, "misses", PERF_TYPE_HARDWARE, false },
        { "branches", "branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches",
          PERF_TYPE_HARDWARE, false },
        { "branch-misses", NULL, PERF_COUNT_HW_BRANCH_MISSES, "misses", PERF_TYPE_HARDWARE, false },
        { "bus-cycles", NULL, PERF_COUNT_HW_BUS_CYCLES, "cycles", PERF_TYPE_HARDWARE, false },
        { "stalled-cycles-frontend", "idle-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, "cycles",
          PERF_TYPE_HARDWARE, false },
        { "stalled-cycles-backend", "idle-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "cycles",
          PERF_TYPE_HARDWARE, false },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static bool equals(const char *name, const char *text, size_t n_bytes)
{
        return name && strlen(name) == n_bytes && memcmp(name, text, n_bytes) == 0;
}

const struct event_table_row *event_table_row(size_t i)
{
        return i < N_ROWS ? &rows[i] : NULL;
}

const struct event_table_row *event_table_find(const char *text, size_t n_bytes)
{
        for (size_t i = 0; i < N_ROWS; i++)
                if (equals(rows[i].name, text, n_bytes) || equals(rows[i].alias, text, n_bytes))
                        return &rows[i];
        return NULL;
}

const struct event_table_row *event_table_find_config(uint32_t type, uint64_t config)
{
        for (size_t i = 0; i < N_ROWS; i++)
                if (rows[i].type == type && rows[i].config == config)
                        return &rows[i];
        return NULL;
}

/* ---- caches -------------------------------------------------------------------------------------------- */

enum { LOADS = 1, STORES = 2, PREFETCHES = 4 };

static const struct {
        const char *name;
        uint64_t cache;
        unsigned operations; /* that such a cache has */
} caches[] = {
        { "L1-dcache", PERF_COUNT_HW_CACHE_L1D, LOADS | STORES | PREFETCHES },
        { "L1-icache", PERF_COUNT_HW_CACHE_L1I, LOADS | PREFETCHES },
        { "LLC", PERF_COUNT_HW_CACHE_LL, LOADS | STORES | PREFETCHES },
        { "dTLB", PERF_COUNT_HW_CACHE_DTLB, LOADS | STORES | PREFETCHES },
        { "iTLB", PERF_COUNT_HW_CACHE_ITLB, LOADS },
        { "branch", PERF_COUNT_HW_CACHE_BPU, LOADS },
        { "node", PERF_COUNT_HW_CACHE_NODE, LOADS | STORES | PREFETCHES },
};

static const struct {
        const char *plural, *singular;
        uint64_t operation;
} operations[] = {
        { "loads", "load", PERF_COUNT_HW_CACHE_OP_READ },
        { "stores", "store", PERF_COUNT_HW_CACHE_OP_WRITE },
        { "prefetches", "prefetch", PERF_COUNT_HW_CACHE_OP_PREFETCH },
};

#define N_OPERATIONS (sizeof(operations) / sizeof(operations[0]))
#define N_CACHES     (sizeof(caches) / sizeof(caches[0]))

bool event_table_cache_name(size_t i, char ret_name[EVENT_TABLE_CACHE_NAME_BYTES], uint64_t *ret_config)
{
        size_t at = 0;

        for (size_t c = 0; c < N_CACHES; c++)
                for (size_t o = 0; o < N_OPERATIONS; o++)
                        for (uint64_t missed = 0; missed < 2; missed++) {
                                if ((caches[c].operations & 1u << o) == 0 || at++ != i)
                                        continue;
                                (void)snprintf(ret_name, EVENT_TABLE_CACHE_NAME_BYTES, "%s-%s%s",
                                               caches[c].name,
                                               missed ? operations[o].singular : operations[o].plural,
                                               missed ? "-misses" : "");
                                *ret_config = caches[c].cache | operations[o].operation << 8 | missed << 16;
                                return true;
                        }
        return false;
}

bool event_table_find_cache(const char *text, size_t n_bytes, uint64_t *ret_config)
{
        char name[EVENT_TABLE_CACHE_NAME_BYTES];
        uint64_t config;

        for (size_t i = 0; event_table_cache_name(i, name, &config); i++)
                if (equals(name, text, n_bytes)) {
                        *ret_config = config;
                        return true;
                }
        return false;
}
