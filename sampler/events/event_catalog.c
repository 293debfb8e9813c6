/* SPDX-License-Identifier: MIT */
#include "sampler/events/event_catalog.h"

#include "base/array.h"
#include "sampler/events/event_library.h"
#include "sampler/events/event_places.h"
#include "sampler/events/event_pmu.h"
#include "sampler/events/event_spec.h"
#include "sampler/events/event_table.h"
#include "sampler/events/tracepoint.h"

#include <errno.h>
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNIT_TRIES_MAX 16 /* names of a unit that are looked up until one can be tried */

/* One reading. */
struct search {
        struct event_catalog *catalog;
        const char *word; /* or NULL */
};

static bool is_wanted(const struct search *s, const char *name)
{
        if (!s->word)
                return true;
        if (strpbrk(s->word, "*?["))
                return fnmatch(s->word, name, FNM_CASEFOLD) == 0;
        return strcasestr(name, s->word) != NULL;
}

/* *@ret_row is NULL if it is not asked for.  Returns 0 or -ENOMEM. */
static int add(struct search *s, enum event_catalog_kind kind, const char *group, const char *name,
               struct event_catalog_row **ret_row)
{
        struct event_catalog *c = s->catalog;

        *ret_row = NULL;
        if (!is_wanted(s, name))
                return 0;
        if (array_reserve(&c->rows, &c->capacity, c->n_rows + 1, sizeof(*c->rows)) < 0)
                return -ENOMEM;
        *ret_row = &c->rows[c->n_rows++];
        **ret_row = (struct event_catalog_row){ .kind = kind };
        (void)snprintf((*ret_row)->group, sizeof((*ret_row)->group), "%s", group);
        (void)snprintf((*ret_row)->name, sizeof((*ret_row)->name), "%s", name);
        return 0;
}

/* Whether an event can be opened: 0 or -errno. */
static int try_event(uint32_t type, uint64_t config)
{
        struct perf_event_attr attr = { .size = sizeof(attr),
                                        .type = type,
                                        .config = config,
                                        .disabled = 1,
                                        .exclude_kernel = 1,
                                        .exclude_hv = 1 };
        long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

        if (fd < 0 && errno == EINVAL) { /* counters that can leave nothing out */
                attr.exclude_kernel = attr.exclude_hv = 0;
                fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        }
        if (fd < 0)
                return -errno;
        (void)close((int)fd);
        return 0;
}

static int add_generic(struct search *s)
{
        char name[EVENT_TABLE_CACHE_NAME_BYTES];
        const struct event_table_row *known;
        struct event_catalog_row *row;
        uint64_t config;
        int r = 0;

        for (size_t i = 0; r == 0 && (known = event_table_row(i)) != NULL; i++) {
                struct search alias = { .catalog = s->catalog };

                r = add(known->alias && is_wanted(s, known->alias) ? &alias : s,
                        known->type == PERF_TYPE_HARDWARE ? EVENT_CATALOG_HARDWARE : EVENT_CATALOG_SOFTWARE,
                        "", known->name, &row);
                if (!row)
                        continue;
                row->alias = known->alias;
                row->error = try_event(known->type, known->config);
        }
        for (size_t i = 0; r == 0 && event_table_cache_name(i, name, &config); i++) {
                r = add(s, EVENT_CATALOG_CACHE, "", name, &row);
                if (row)
                        row->error = try_event(PERF_TYPE_HW_CACHE, config);
        }
        return r;
}

static int add_pmu(void *context, const struct event_pmu *pmu, const char *event)
{
        char name[2 * EVENT_PMU_NAME_BYTES + 2];
        struct event_catalog_row *row;
        int r;

        (void)snprintf(name, sizeof(name), "%s/%s%s", pmu->name, event ? event : "", event ? "/" : "");
        if (strlen(name) >= sizeof(row->name))
                return 0; /* on no machine the name of an event */
        r = add(context, event ? EVENT_CATALOG_PMU_EVENT : EVENT_CATALOG_PMU, pmu->name, name, &row);
        return r < 0 || event ? r : event_pmu_visit_events(pmu, add_pmu, context);
}

static int add_tracepoint(void *context, const char *subsystem, const char *name)
{
        struct event_catalog_row *row;
        char text[EVENT_SPEC_NAME_BYTES];

        if (snprintf(text, sizeof(text), "%s:%s", subsystem, name) >= (int)sizeof(text))
                return 0; /* the same */
        return add(context, EVENT_CATALOG_TRACEPOINT, subsystem, text, &row);
}

static int add_of_library(void *context, const char *pmu, const char *event)
{
        struct event_catalog_row *row;
        char text[EVENT_SPEC_NAME_BYTES];

        if (snprintf(text, sizeof(text), "%s::%s", pmu, event) >= (int)sizeof(text))
                return 0;
        return add(context, EVENT_CATALOG_LIBRARY, pmu, text, &row);
}

/*
 * Whether the events of a unit that the library knows can be opened: the library recognises a processor by
 * its model, even where a hypervisor withholds the counters.  Some names need further words to be an event,
 * and some units do not count for a single task: neither means that there is no counter.
 */
static int try_unit(const struct event_catalog_row *rows, size_t n)
{
        int r = try_event(PERF_TYPE_RAW, 0);

        for (size_t i = 0; i < n && i < UNIT_TRIES_MAX; i++) {
                struct event_spec spec = { .type = 0 };

                if (event_library_encode(rows[i].name, &spec, NULL) != 1)
                        continue;
                r = try_event(spec.type, spec.config);
                break;
        }
        return r == -EINVAL ? 0 : r;
}

/* Rows of a unit follow each other. */
static void try_units(struct event_catalog *c)
{
        for (size_t i = 0, n; i < c->n_rows; i += n) {
                struct event_catalog_row *rows = &c->rows[i];
                int error = 0;

                for (n = 1; i + n < c->n_rows && rows[n].kind == rows[0].kind; n++)
                        if (strcmp(rows[n].group, rows[0].group) != 0)
                                break;
                if (rows[0].kind == EVENT_CATALOG_LIBRARY)
                        error = try_unit(rows, n);
                for (size_t k = 0; k < n && error < 0; k++)
                        rows[k].error = error;
        }
}

static int compare(const void *a, const void *b)
{
        const struct event_catalog_row *left = a, *right = b;
        int order = (int)left->kind - (int)right->kind;

        if (order == 0)
                order = strcmp(left->group, right->group);
        return order != 0 ? order : strcmp(left->name, right->name);
}

int event_catalog_read(struct event_catalog *catalog, const struct event_places *places, const char *word,
                       struct error *err)
{
        struct search s = { .catalog = catalog, .word = word };
        int r;

        *catalog = (struct event_catalog){ .rows = NULL };
        r = add_generic(&s);
        if (r != 0)
                goto done;
        r = event_pmu_visit(places, add_pmu, &s);
        if (r != 0)
                goto done;
        if (tracepoint_visit(places, add_tracepoint, &s, &catalog->tracing) == -ENOMEM)
                r = -ENOMEM;
        if (r != 0)
                goto done;
        if (!(places && places->without_library))
                r = event_library_visit(add_of_library, &s);

done:
        if (r < 0) {
                event_catalog_deinit(catalog);
                return error_set(err, r, "no memory for the list of events");
        }
        if (catalog->n_rows > 0)
                qsort(catalog->rows, catalog->n_rows, sizeof(*catalog->rows), compare);
        try_units(catalog);
        return 0;
}

void event_catalog_deinit(struct event_catalog *catalog)
{
        free(catalog->rows);
        catalog->rows = NULL;
        catalog->n_rows = 0;
}
