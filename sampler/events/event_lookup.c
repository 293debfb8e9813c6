/* SPDX-License-Identifier: MIT */
#include "sampler/events/event_lookup.h"

#include "base/error.h"
#include "base/name_guess.h"
#include "sampler/events/event_library.h"
#include "sampler/events/event_places.h"
#include "sampler/events/event_pmu.h"
#include "sampler/events/event_spec.h"
#include "sampler/events/event_table.h"
#include "sampler/events/tracepoint.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define PRECISE_MAX         3
#define EXTENDED_TYPE_SHIFT 32 /* in the config of a generic event: the kind of core */

/* One name on its way. */
struct parse {
        const struct event_places *places;
        struct event_spec_list *list;
        struct event_spec spec; /* what all resulting events share: name, modifiers */
        const char *text;       /* the name without modifiers */
        size_t n_bytes;
        const char *event; /* the name without "PMU/", while the PMUs are searched */
        size_t event_bytes;
        struct error *err;
};

static int put(struct parse *p, const struct event_spec *spec)
{
        if (p->list->n_specs == p->list->n_specs_max)
                return error_set(p->err, -EOVERFLOW, "more than %zu events", p->list->n_specs_max);
        p->list->specs[p->list->n_specs++] = *spec;
        return 0;
}

/* ---- generic events on machines with several kinds of cores -------------------------------------------- */

static int count_core(void *context, const struct event_pmu *pmu, const char *event)
{
        unsigned *n = context;

        (void)event;
        *n += pmu->is_core;
        return 0;
}

/* Adds the kind of core to the name, as if it had been typed. */
static void name_core(struct event_spec *spec, const struct parse *p, const char *core)
{
        size_t core_bytes = strlen(core), name_bytes = strlen(p->spec.name);
        size_t event_bytes = p->n_bytes;

        if (core_bytes + name_bytes + 2 >= sizeof(spec->name) || event_bytes > name_bytes)
                return;
        memcpy(spec->name, core, core_bytes);
        spec->name[core_bytes] = '/';
        memcpy(spec->name + core_bytes + 1, p->spec.name, event_bytes);
        spec->name[core_bytes + 1 + event_bytes] = '/';
        memcpy(spec->name + core_bytes + 2 + event_bytes, p->spec.name + event_bytes,
               name_bytes - event_bytes + 1);
}

static int put_on_core(void *context, const struct event_pmu *pmu, const char *event)
{
        struct parse *p = context;
        struct event_spec spec = p->spec;
        int r;

        (void)event;
        if (!pmu->is_core)
                return 0;
        r = event_pmu_apply(pmu, "", 0, &spec, p->err); /* its CPUs */
        if (r < 0)
                return r;
        spec.unit = p->spec.unit;
        if (p->spec.type != PERF_TYPE_RAW) {
                spec.type = p->spec.type;
                spec.config |= (uint64_t)pmu->type << EXTENDED_TYPE_SHIFT;
        }
        name_core(&spec, p, pmu->name);
        return put(p, &spec);
}

/* The processor's events: one, or one for each kind of core. */
static int put_generic(struct parse *p)
{
        unsigned n_cores = 0;

        (void)event_pmu_visit(p->places, count_core, &n_cores);
        return n_cores < 2 ? put(p, &p->spec) : event_pmu_visit(p->places, put_on_core, p);
}

/* ---- the ways to name an event: 1 = understood, 0 = not this way, -errno ------------------------------- */

static int parse_known(struct parse *p)
{
        const struct event_table_row *row = event_table_find(p->text, p->n_bytes);
        int r;

        if (row) {
                p->spec.type = row->type;
                p->spec.config = row->config;
                p->spec.unit = row->unit;
                p->spec.is_clock = strcmp(row->unit, "ns") == 0;
        } else if (event_table_find_cache(p->text, p->n_bytes, &p->spec.config)) {
                p->spec.type = PERF_TYPE_HW_CACHE;
                p->spec.unit = "events";
        } else {
                return 0;
        }
        r = p->spec.type == PERF_TYPE_SOFTWARE ? put(p, &p->spec) : put_generic(p);
        return r < 0 ? r : 1;
}

/* "r01c2": up to 16 hexadecimal digits. */
static int parse_raw(struct parse *p)
{
        size_t n_digits = p->n_bytes - 1;
        char digits[17];
        int r;

        if (p->n_bytes < 2 || p->text[0] != 'r' || n_digits >= sizeof(digits))
                return 0;
        memcpy(digits, p->text + 1, n_digits);
        digits[n_digits] = '\0';
        if (strspn(digits, "0123456789abcdefABCDEF") != n_digits)
                return 0;
        p->spec.type = PERF_TYPE_RAW;
        p->spec.config = strtoull(digits, NULL, 16);
        p->spec.unit = "events";
        r = put_generic(p);
        return r < 0 ? r : 1;
}

static int put_of_pmu(struct parse *p, const struct event_pmu *pmu, bool names_it)
{
        struct event_spec spec = p->spec;
        int r = event_pmu_apply(pmu, p->event, p->event_bytes, &spec, p->err);

        if (names_it)
                name_core(&spec, p, pmu->name);
        return r < 0 ? r : put(p, &spec);
}

/* Adds an event that the user named without a PMU, once for each PMU that has it in sysfs. */
static int put_if_named(void *context, const struct event_pmu *pmu, const char *event)
{
        struct parse *p = context;

        (void)event;
        return event_pmu_has_event(pmu, p->event, p->event_bytes) ? put_of_pmu(p, pmu, true) : 0;
}

static int parse_sysfs(struct parse *p)
{
        size_t n_before = p->list->n_specs;
        int r;

        p->event = p->text;
        p->event_bytes = p->n_bytes;
        r = event_pmu_visit(p->places, put_if_named, p);
        return r < 0 ? r : p->list->n_specs > n_before;
}

/* "raw_syscalls:sys_enter" and "syscalls:sys_exit_write", and the like. */
static bool is_of_syscalls(const char *text, size_t n_bytes)
{
        static const char *const systems[] = { "raw_syscalls:sys_", "syscalls:sys_" };

        for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
                if (n_bytes > strlen(systems[i]) && memcmp(text, systems[i], strlen(systems[i])) == 0)
                        return true;
        return false;
}

/*
 * If there is no tracefs, or no such group in it, libpfm4 may still know the name: the error is kept in
 * @ret_failure.  If the group is right, libpfm4 would only say that an attribute is wrong.
 */
static int parse_tracepoint(struct parse *p, struct error *ret_failure)
{
        int r;

        if (!memchr(p->text, ':', p->n_bytes) || memmem(p->text, p->n_bytes, "::", 2))
                return 0;
        r = tracepoint_find(p->places, p->text, p->n_bytes, &p->spec.config, ret_failure);
        if (r == -ESRCH)
                return error_set(p->err, -EINVAL, "%s", ret_failure->text);
        if (r < 0)
                return 0;
        p->spec.type = PERF_TYPE_TRACEPOINT;
        p->spec.unit = "events";
        p->spec.is_tracepoint = true;
        p->spec.is_syscall = is_of_syscalls(p->text, p->n_bytes);
        r = put(p, &p->spec);
        return r < 0 ? r : 1;
}

static int parse_library(struct parse *p)
{
        const struct event_table_row *row;
        char name[EVENT_SPEC_NAME_BYTES];
        int r;

        if (p->places && p->places->without_library)
                return 0;
        memcpy(name, p->text, p->n_bytes);
        name[p->n_bytes] = '\0';
        r = event_library_encode(name, &p->spec, p->err);
        if (r <= 0)
                return r;
        /* libpfm4 also has names for events that every kernel knows. */
        row = event_table_find_config(p->spec.type, p->spec.config);
        p->spec.unit = row ? row->unit : "events";
        p->spec.is_clock = strcmp(p->spec.unit, "ns") == 0;
        r = put(p, &p->spec);
        return r < 0 ? r : 1;
}

/* ---- PMU/terms/modifiers ------------------------------------------------------------------------------- */

static int offer_pmu(void *context, const struct event_pmu *pmu, const char *event)
{
        (void)event;
        name_guess_offer(context, pmu->name);
        return 0;
}

static int refuse_pmu(const struct parse *p, size_t pmu_bytes)
{
        struct name_guess guess;

        name_guess_init(&guess, p->text, pmu_bytes);
        (void)event_pmu_visit(p->places, offer_pmu, &guess);
        return error_set(p->err, -ENOENT, "this machine has no PMU named '%.*s'%s%s%s", (int)pmu_bytes,
                         p->text, guess.best[0] ? "; did you mean '" : " (virtual machine?)", guess.best,
                         guess.best[0] ? "'?" : "");
}

static int parse_pmu(struct parse *p, const char *slash)
{
        size_t pmu_bytes = (size_t)(slash - p->text);
        const char *end = memrchr(p->text, '/', p->n_bytes);
        size_t modifiers_bytes = (size_t)(p->text + p->n_bytes - end - 1);
        const char *modifiers = end + 1;
        struct event_pmu pmu;
        int r = 0;

        if (end == slash)
                return error_set(p->err, -EINVAL, "event '%s': the second / is missing", p->spec.name);
        if (modifiers_bytes > 0 && *modifiers == ':') {
                modifiers++;
                if (--modifiers_bytes == 0)
                        return event_spec_modify(&p->spec, modifiers, 0, p->err);
        }
        if (modifiers_bytes > 0)
                r = event_spec_modify(&p->spec, modifiers, modifiers_bytes, p->err);
        if (r < 0)
                return r;
        r = event_pmu_open(&pmu, p->places, p->text, pmu_bytes, p->err);
        if (r < 0)
                return r == -ENOENT ? refuse_pmu(p, pmu_bytes) : r;
        p->event = slash + 1;
        p->event_bytes = (size_t)(end - slash) - 1;
        r = put_of_pmu(p, &pmu, false);
        event_pmu_close(&pmu);
        return r;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static int offer_event(void *context, const struct event_pmu *pmu, const char *event)
{
        if (!event)
                return event_pmu_visit_events(pmu, offer_event, context);
        name_guess_offer(context, event);
        return 0;
}

static int refuse(const struct parse *p)
{
        char name[EVENT_TABLE_CACHE_NAME_BYTES];
        struct name_guess guess;
        uint64_t config;

        name_guess_init(&guess, p->text, p->n_bytes);
        for (size_t i = 0; event_table_row(i); i++) {
                name_guess_offer(&guess, event_table_row(i)->name);
                if (event_table_row(i)->alias)
                        name_guess_offer(&guess, event_table_row(i)->alias);
        }
        for (size_t i = 0; event_table_cache_name(i, name, &config); i++)
                name_guess_offer(&guess, name);
        (void)event_pmu_visit(p->places, offer_event, &guess);
        return error_set(p->err, -EINVAL, "unknown event '%s'%s%s%s", p->spec.name,
                         guess.best[0] ? "; did you mean '" : "", guess.best, guess.best[0] ? "'?" : "");
}

static bool is_modifiers(const char *text, size_t n_bytes)
{
        for (size_t i = 0; i < n_bytes; i++)
                if (!strchr("ukhpS", text[i]) || text[i] == '\0')
                        return false;
        return n_bytes > 0;
}

/* Takes the modifiers away from the end of the name. */
static int cut_modifiers(struct parse *p)
{
        const char *colon = memrchr(p->text, ':', p->n_bytes);
        size_t name_bytes = colon ? (size_t)(colon - p->text) : p->n_bytes;

        if (!colon || !is_modifiers(colon + 1, p->n_bytes - name_bytes - 1))
                return 0;
        p->n_bytes = name_bytes;
        return event_spec_modify(&p->spec, colon + 1, strlen(colon + 1), p->err);
}

/* Wrong modifiers of a right name. */
static int refuse_modifiers(struct parse *p)
{
        if (!memchr(p->text, ':', p->n_bytes) || !event_table_find(p->text, strcspn(p->text, ":")))
                return 0;
        return event_spec_modify(&p->spec, "?", 1, p->err);
}

static int parse_name(struct parse *p)
{
        /* These are tried one after the other, until one knows the name (returns 1) or refuses it. */
        static int (*const ways[])(struct parse *) = {
                cut_modifiers, parse_known, parse_raw, parse_sysfs, refuse_modifiers,
        };
        struct error untraced = ERROR_NONE;
        int r = 0;

        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
                r = ways[i](p);
                if (r != 0)
                        return r < 0 ? r : 0;
        }
        r = parse_tracepoint(p, &untraced);
        if (r == 0)
                r = parse_library(p);
        if (r != 0)
                return r < 0 ? r : 0;
        return untraced.code != 0 ? error_set(p->err, untraced.code, "%s", untraced.text) : refuse(p);
}

int event_spec_parse(const char *text, size_t n_bytes, const struct event_places *places,
                     struct event_spec_list *list, struct error *err)
{
        struct parse p = { .places = places, .list = list, .n_bytes = n_bytes, .err = err };
        size_t n_before = list->n_specs;
        const char *slash;
        int r;

        if (n_bytes == 0 || n_bytes >= sizeof(p.spec.name) || memchr(text, '\0', n_bytes))
                return error_set(err, -EINVAL, "unknown event '%.*s'", n_bytes > 80 ? 80 : (int)n_bytes,
                                 text);
        memcpy(p.spec.name, text, n_bytes);
        p.text = p.spec.name;
        slash = strchr(p.text, '/');
        r = slash ? parse_pmu(&p, slash) : parse_name(&p);
        if (r < 0)
                list->n_specs = n_before;
        return r;
}

int event_spec_modify(struct event_spec *spec, const char *modifiers, size_t n_bytes, struct error *err)
{
        bool user = false, kernel = false, hypervisor = false, good = n_bytes > 0;
        unsigned precise = 0;

        for (size_t i = 0; i < n_bytes; i++) {
                user = user || modifiers[i] == 'u';
                kernel = kernel || modifiers[i] == 'k';
                hypervisor = hypervisor || modifiers[i] == 'h';
                precise += modifiers[i] == 'p';
                good = good && modifiers[i] != '\0' && strchr("ukhp", modifiers[i]);
        }
        if (memchr(modifiers, 'S', n_bytes))
                return error_set(err, -EINVAL, "event '%s': S is for groups: {...}:S", spec->name);
        if (!good || precise > PRECISE_MAX)
                return error_set(
                        err, -EINVAL,
                        "event '%s': the modifiers are u (user), k (kernel), h, and p, pp or ppp (precise)",
                        spec->name);
        if (hypervisor && !user && !kernel)
                return error_set(err, -EINVAL, "event '%s': cannot record only the hypervisor", spec->name);
        /*
         * Modes that are named are counted, other modes are not; a group's modifiers come on top of its
         * members'.
         */
        if ((user || kernel) && !spec->exclude_user && !spec->exclude_kernel)
                spec->exclude_user = spec->exclude_kernel = true;
        if (user)
                spec->exclude_user = false;
        if (kernel)
                spec->exclude_kernel = false;
        if (precise > 0)
                spec->precise = (uint8_t)precise;
        return 0;
}
