/* SPDX-License-Identifier: MIT */
#include "sampler/events/event_library.h"

#include "base/error.h"
#include "sampler/events/event_spec.h"

#include <errno.h>
#include <perfmon/pfmlib_perf_event.h> /* with a struct perf_event_attr of its own */
#include <stdbool.h>
#include <string.h>

static int take(const struct perf_event_attr *attr, struct event_spec *spec)
{
        spec->type = attr->type;
        spec->config = attr->config;
        spec->config1 = attr->config1;
        spec->config2 = attr->config2;
        spec->exclude_user = spec->exclude_user || attr->exclude_user;
        spec->exclude_kernel = spec->exclude_kernel || attr->exclude_kernel;
        if (attr->precise_ip > spec->precise)
                spec->precise = (uint8_t)attr->precise_ip;
        spec->unit = "events";
        return 1;
}

int event_library_encode(const char *name, struct event_spec *spec, struct error *err)
{
        struct perf_event_attr attr;
        pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
        int code, r = 0;

        memset(&attr, 0, sizeof(attr));
        if (pfm_initialize() != PFM_SUCCESS)
                return 0;
        code = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
        if (code == PFM_SUCCESS)
                r = take(&attr, spec);
        else if (code != PFM_ERR_NOTFOUND && code != PFM_ERR_NOTSUPP && code != PFM_ERR_INVAL)
                r = error_set(err, -EINVAL, "event '%.80s': libpfm4 says: %s", name, pfm_strerror(code));
        pfm_terminate();
        return r;
}

/* Events that the kernel itself translates are in event_table.c. */
static bool is_processors(const pfm_pmu_info_t *pmu)
{
        return pmu->is_present && pmu->pmu != PFM_PMU_PERF_EVENT && pmu->pmu != PFM_PMU_PERF_EVENT_RAW;
}

static int visit_pmu(const pfm_pmu_info_t *pmu, event_library_taker *taker, void *context)
{
        int r = 0;

        for (int i = pmu->first_event; i >= 0 && r == 0; i = pfm_get_event_next(i)) {
                pfm_event_info_t event;

                memset(&event, 0, sizeof(event));
                event.size = sizeof(event);
                if (pfm_get_event_info(i, PFM_OS_PERF_EVENT_EXT, &event) == PFM_SUCCESS)
                        r = taker(context, pmu->name, event.name);
        }
        return r;
}

int event_library_visit(event_library_taker *taker, void *context)
{
        int r = 0;

        if (pfm_initialize() != PFM_SUCCESS)
                return 0;
        for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX && r == 0; i++) {
                pfm_pmu_info_t pmu;

                memset(&pmu, 0, sizeof(pmu));
                pmu.size = sizeof(pmu);
                if (pfm_get_pmu_info((pfm_pmu_t)i, &pmu) == PFM_SUCCESS && is_processors(&pmu))
                        r = visit_pmu(&pmu, taker, context);
        }
        pfm_terminate();
        return r;
}
