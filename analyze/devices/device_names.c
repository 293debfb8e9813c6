/* SPDX-License-Identifier: MIT */
#include "analyze/devices/device_names.h"

#include "analyze/devices/device_zones.h"
#include "analyze/trace/zone_pattern.h"
#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "base/name_guess.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct names {
        const struct trace_dictionary *dictionary;
        bool *have; /* heap; by location: devices have zones of it */
        uint32_t n_locations;
};

static int take_zone(void *context, const struct device_zone *zone, struct error *err)
{
        struct names *n = context;

        (void)err;
        n->have[zone->location] = true;
        return 0;
}

static int take_names(struct names *n, struct loaded_trace *trace, struct error *err)
{
        struct device_zones zones;
        int r = device_zones_init(&zones, trace->dictionary, take_zone, n);

        *n = (struct names){ .dictionary = trace->dictionary,
                             .n_locations = trace_dictionary_count(trace->dictionary,
                                                                   TRACE_TABLE_LOCATIONS) };
        n->have = calloc((size_t)n->n_locations + 1, sizeof(*n->have));
        if (r < 0 || !n->have)
                r = error_set(err, -ENOMEM, "looking up the zones of devices: out of memory");
        else if (trace_dictionary_count(trace->dictionary, TRACE_TABLE_DEVICES) != 0)
                r = device_zones_take(&zones, trace, NULL, err);
        device_zones_deinit(&zones);
        return r;
}

/* Nesting is not looked at. */
static bool has(const struct names *n, const struct zone_pattern *pattern)
{
        for (uint32_t i = 1; i <= n->n_locations; i++)
                if (n->have[i] && zone_pattern_names(pattern, n->dictionary, i))
                        return true;
        return false;
}

static int say_nearest(const struct names *n, const char *wanted, struct error *err)
{
        struct name_guess guess;

        name_guess_init(&guess, wanted, strlen(wanted));
        for (uint32_t i = 1; i <= n->n_locations; i++) {
                struct text_view name = zone_pattern_name_of(n->dictionary, i);

                if (n->have[i])
                        name_guess_offer_bytes(&guess, name.bytes, name.n_bytes);
        }
        return error_set(err, -ENOENT, "no zone of a device is called '%s'%s%s%s", wanted,
                         guess.best[0] != '\0' ? "; did you mean '" : "", guess.best,
                         guess.best[0] != '\0' ? "'?" : "");
}

int device_names_explain_missing(struct loaded_trace *trace, const struct zone_pattern *pattern,
                                 const char *wanted, struct error *err)
{
        struct names n;
        int r = take_names(&n, trace, err);

        if (r == 0)
                r = has(&n, pattern)
                            ? error_set(err, -ENOENT, "no zone '%s' of a device passes the filters", wanted)
                            : say_nearest(&n, wanted, err);
        free(n.have);
        return r;
}

int device_names_explain_other(struct loaded_trace *trace, const struct zone_pattern *pattern,
                               const char *wanted, struct error *err)
{
        struct error failure = ERROR_NONE;
        struct names n;
        int r = take_names(&n, trace, &failure);

        if (r < 0)
                r = error_set(err, r, "%s", failure.text);
        else if (has(&n, pattern))
                r = error_set(err, -ENOENT,
                              "no thread has a zone '%s', but devices do: hyprof why --zone compares those",
                              wanted);
        else
                r = -ENOENT;
        free(n.have);
        return r;
}
