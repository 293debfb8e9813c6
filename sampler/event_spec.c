/* SPDX-License-Identifier: MIT */
#include "sampler/event_spec.h"

#include "base/error.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

struct known_event {
        const char *name;
        const char *alias; /* or NULL */
        uint32_t type;
        uint64_t config;
        const char *unit;
};

static const struct known_event known_events[] = {
        { "cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "ns" },
        { "task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "ns" },
        { "page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "faults" },
        { "minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, "faults" },
        { "major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, "faults" },
        { "context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, "switches" },
        { "cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, "migrations" },
        { "alignment-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, "faults" },
        { "emulation-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, "faults" },
        { "cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles" },
        { "instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions" },
        { "ref-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, "cycles" },
        { "cache-references", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, "references" },
        { "cache-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, "misses" },
        { "branches", "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
          "branches" },
        { "branch-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "misses" },
        { "bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, "cycles" },
        { "stalled-cycles-frontend", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
          "cycles" },
        { "stalled-cycles-backend", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
          "cycles" },
};

#define N_KNOWN (sizeof(known_events) / sizeof(known_events[0]))

static bool equals(const char *name, const char *text, size_t n_bytes)
{
        return name && strlen(name) == n_bytes && memcmp(name, text, n_bytes) == 0;
}

/* Levenshtein distance; both are at most EVENT_SPEC_NAME_BYTES long. */
static unsigned distance(const char *a, const char *b, size_t b_bytes)
{
        unsigned row[EVENT_SPEC_NAME_BYTES + 1];

        for (size_t j = 0; j <= b_bytes; j++)
                row[j] = (unsigned)j;
        for (size_t i = 1; a[i - 1] != '\0'; i++) {
                unsigned diagonal = row[0];

                row[0] = (unsigned)i;
                for (size_t j = 1; j <= b_bytes; j++) {
                        unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);
                        unsigned best = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

                        diagonal = row[j];
                        row[j] = best < replaced ? best : replaced;
                }
        }
        return row[b_bytes];
}

static const char *nearest(const char *text, size_t n_bytes)
{
        unsigned best = UINT32_MAX;
        const char *name = NULL;

        for (size_t i = 0; i < N_KNOWN; i++) {
                unsigned d = distance(known_events[i].name, text, n_bytes);

                if (d < best) {
                        best = d;
                        name = known_events[i].name;
                }
        }
        return name;
}

static bool parse_raw(const char *text, size_t n_bytes, struct event_spec *spec)
{
        char digits[EVENT_SPEC_NAME_BYTES];
        char *end;

        if (n_bytes < 2 || text[0] != 'r')
                return false;
        memcpy(digits, text + 1, n_bytes - 1);
        digits[n_bytes - 1] = '\0';
        if (strspn(digits, "0123456789abcdefABCDEF") != n_bytes - 1 || n_bytes - 1 > 16)
                return false;
        spec->type = PERF_TYPE_RAW;
        spec->config = strtoull(digits, &end, 16);
        spec->unit = "events";
        return *end == '\0';
}

static bool parse_known(const char *text, size_t n_bytes, struct event_spec *spec)
{
        for (size_t i = 0; i < N_KNOWN; i++) {
                const struct known_event *known = &known_events[i];

                if (!equals(known->name, text, n_bytes) && !equals(known->alias, text, n_bytes))
                        continue;
                spec->type = known->type;
                spec->config = known->config;
                spec->unit = known->unit;
                spec->is_clock = strcmp(known->unit, "ns") == 0;
                return true;
        }
        return false;
}

static bool parse_modifiers(const char *text, size_t n_bytes, struct event_spec *spec)
{
        bool user = memchr(text, 'u', n_bytes) != NULL;
        bool kernel = memchr(text, 'k', n_bytes) != NULL;

        for (size_t i = 0; i < n_bytes; i++)
                if (text[i] != 'u' && text[i] != 'k')
                        return false;
        spec->exclude_kernel = user && !kernel;
        spec->exclude_user = kernel && !user;
        return n_bytes > 0;
}

int event_spec_parse(const char *text, size_t n_bytes, struct event_spec *ret_spec, struct error *err)
{
        const char *colon = memchr(text, ':', n_bytes);
        size_t name_bytes = colon ? (size_t)(colon - text) : n_bytes;
        struct event_spec spec = { .name = "" };

        if (n_bytes == 0 || n_bytes >= sizeof(spec.name))
                return error_set(err, -EINVAL, "unknown event '%.*s'", n_bytes > 80 ? 80 : (int)n_bytes,
                                 text);
        memcpy(spec.name, text, n_bytes);
        if (colon && !parse_modifiers(colon + 1, n_bytes - name_bytes - 1, &spec))
                return error_set(err, -EINVAL, "event '%s': the modifiers are u (user) and k (kernel)",
                                 spec.name);
        if (!parse_known(text, name_bytes, &spec) && !parse_raw(text, name_bytes, &spec))
                return error_set(err, -EINVAL, "unknown event '%s'; did you mean '%s'?", spec.name,
                                 nearest(text, name_bytes));
        *ret_spec = spec;
        return 0;
}
