/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_devices.h"

#include "analyze/devices/device_keys.h"
#include "analyze/devices/device_zones.h"
#include "analyze/diff/diff_names.h"
#include "analyze/diff/diff_run.h"
#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "format/trace_dictionary.h"

#include <errno.h>

struct taking {
        struct diff_run *run;
        struct diff_names *names;
        const struct trace_dictionary *dictionary;
        struct device_keys keys;
        struct device_zones zones;
};

/* Returns whether it is known. */
static bool find_delay(struct taking *t, const struct device_zone *zone, double *ret_ns)
{
        const struct device_key_zone *host = device_keys_find(&t->keys, zone);
        uint64_t from_ns = host ? host->begin_ns : zone->said_ns;

        if ((!host && zone->is_span) || from_ns > zone->begin_ns ||
            !t->zones.clocks.clocks[zone->device - 1].is_placed)
                return false;
        *ret_ns = (double)(zone->begin_ns - from_ns);
        return true;
}

static int add_zone(struct taking *t, const struct device_zone *zone)
{
        const struct trace_device *device = trace_dictionary_row(t->dictionary, TRACE_TABLE_DEVICES,
                                                                 zone->device);
        double length_ns = (double)(zone->end_ns - zone->begin_ns), delay_ns;
        uint32_t key = 0;
        int r = diff_names_add_kernel(
                t->names, t->dictionary,
                trace_dictionary_row(t->dictionary, TRACE_TABLE_LOCATIONS, zone->location), device, &key);

        if (r == -EOVERFLOW) {
                t->run->n_unnamed++;
                return 0;
        }
        if (r == 0)
                r = diff_run_add_zone(t->run, key, length_ns, length_ns, length_ns);
        if (r < 0)
                return r;
        t->run->n_kernels++;
        t->run->device_ns += length_ns;
        if (find_delay(t, zone, &delay_ns))
                diff_run_add_delay(t->run, key, delay_ns);
        return 0;
}

static int take_zone(void *context, const struct device_zone *zone, struct error *err)
{
        return add_zone(context, zone) < 0 ? error_set(err, -ENOMEM, "sums of zones of devices") : 0;
}

int diff_devices_take(struct diff_run *run, struct diff_names *names, struct loaded_trace *trace,
                      const struct trace_filter *filter, struct error *err)
{
        struct taking t = { .run = run, .names = names, .dictionary = trace->dictionary };
        int r;

        if (trace_dictionary_count(trace->dictionary, TRACE_TABLE_DEVICES) == 0)
                return 0;
        r = device_keys_take(&t.keys, trace, err);
        if (r == 0)
                r = device_zones_init(&t.zones, trace->dictionary, take_zone, &t) < 0
                            ? error_set(err, -ENOMEM, "sums of zones of devices")
                            : device_zones_take(&t.zones, trace, filter, err);
        device_keys_deinit(&t.keys);
        device_zones_deinit(&t.zones);
        return r;
}
