/* SPDX-License-Identifier: MIT */
/*
 * analyze/zones/trace_totals.c, report.c, report_waits.c, report_cpus.c, analyze/cores/wall_shares.c,
 * idle_cores.c: any body of events, and any file, gives a report or is refused; never a crash
 */
#include "analyze/cores/idle_cores.h"
#include "analyze/cores/wall_shares.h"
#include "analyze/report/report.h"
#include "analyze/report/report_parts.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/zones/trace_totals.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add(struct trace_dictionary *d, enum trace_table table, const void *row)
{
        uint32_t id;

        if (trace_dictionary_add(d, table, row, &id) < 0)
                abort();
}

/* Two of what events refer to: bodies with any checksum never come this far in a whole file. */
static void fuzz_body(const uint8_t *data, size_t size)
{
        struct trace_item item = { .header = { .kind = TRACE_CHUNK_EVENTS },
                                   .body = data,
                                   .body_bytes = size };
        struct trace_dictionary dictionary;
        struct report_waits waits = { .places = NULL };
        struct python_stacks python;
        struct report_cpus cpus = { .rows = NULL };
        struct trace_totals totals;

        trace_dictionary_init(&dictionary, 0);
        add(&dictionary, TRACE_TABLE_PROCESSES, &(struct trace_process){ .pid = 1 });
        for (uint32_t i = 1; i <= 2; i++) {
                uint32_t string;

                if (trace_dictionary_add_string(&dictionary, "ab", i, &string) < 0)
                        abort();
                add(&dictionary, TRACE_TABLE_THREADS, &(struct trace_thread){ .process = 1, .tid = i });
                add(&dictionary, TRACE_TABLE_LOCATIONS, &(struct trace_location){ .line = i });
                add(&dictionary, TRACE_TABLE_ZONE_PATHS, &(struct trace_zone_path){ i - 1, i });
                add(&dictionary, TRACE_TABLE_MODULES,
                    &(struct trace_module){ .kind = i == 1 ? TRACE_MODULE_MARK : TRACE_MODULE_KERNEL });
                add(&dictionary, TRACE_TABLE_FRAMES, &(struct trace_frame){ .offset = i, .module = i });
                add(&dictionary, TRACE_TABLE_STACKS, &(struct trace_stack){ i - 1, i });
                add(&dictionary, TRACE_TABLE_SAMPLE_EVENTS,
                    &(struct trace_sample_event){ .rate = i, .mode = i + 1, .leader = i - 1 });
        }
        trace_totals_init(&totals);
        totals.wants_waits = totals.wants_cpus = true;
        if (trace_totals_start_plain(&totals, &dictionary) < 0)
                abort();
        (void)trace_walk_chunk(&totals.walk, &item, NULL);
        if (trace_walk_finish(&totals.walk, UINT64_MAX, NULL) < 0 ||
            trace_totals_finish(&totals, UINT64_MAX) < 0)
                abort();
        if (python_stacks_init(&python, &dictionary) < 0)
                abort();
        if (report_waits_fill(&waits, &totals, &dictionary, &python, REPORT_WAITS_AS_MOST) < 0 ||
            report_cpus_fill(&cpus, &totals, &dictionary) < 0)
                abort();
        python_stacks_deinit(&python);
        report_waits_deinit(&waits);
        report_cpus_deinit(&cpus);
        trace_totals_deinit(&totals);
        trace_dictionary_deinit(&dictionary);
}

/* The shares of the wall time and the idle cores are a whole each, and so are the steps of these. */
static void fuzz_cores(const char *path)
{
        struct trace_filter filter = { .to_ns = UINT64_MAX, .is_empty = true };
        const struct wall_shares_request request = { .filter = &filter };
        const struct idle_cores_request idle = { .filter = &filter, .n_steps = 13 };
        struct wall_shares shares = { .rows = NULL };
        struct idle_cores cores = { .rows = NULL };
        struct loaded_trace trace;
        double sum = 0;

        if (loaded_trace_open(&trace, path, NULL) == 0 && loaded_trace_read_names(&trace, NULL) == 0) {
                if (wall_shares_take(&shares, &trace, &request, NULL) == 0)
                        for (uint32_t i = 0; i < shares.n_rows; i++)
                                sum += shares.rows[shares.order[i] - 1].share;
                if (shares.n_rows != 0 && !(sum > 0.999 && sum < 1.001))
                        abort();
                wall_shares_deinit(&shares);
                sum = 0;
                if (idle_cores_take(&cores, &trace, &idle, NULL) == 0)
                        for (uint32_t i = 0; i < cores.n_rows; i++)
                                sum += cores.rows[cores.order[i] - 1].cores;
                if (!(fabs(sum - cores.cores - cores.others) <= 1 + 0.001 * sum))
                        abort();
                for (uint32_t i = 0; i < cores.steps.n_steps; i++)
                        for (uint32_t cause = 0; cause < IDLE_CAUSES; cause++)
                                sum -= cores.steps.steps[i].cores[cause];
                if (cores.n_rows != 0 && sum != 0)
                        abort();
                idle_cores_deinit(&cores);
        }
        loaded_trace_close(&trace);
}

static void fuzz_file(const uint8_t *data, size_t size)
{
        int fd = memfd_create("trace", MFD_CLOEXEC);
        const struct report_options options = {
                .wants_waits = true, .wants_cpus = true, .wants_ready = true, .wants_syscalls = true
        };
        struct report *report;
        struct error err = ERROR_NONE;
        char path[40];

        if (fd < 0 || write(fd, data, size) != (ssize_t)size)
                abort();
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (report_load(path, &options, &report, &err) == 0)
                report_free(report);
        else if (err.text[0] == '\0')
                abort();
        fuzz_cores(path);
        (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        fuzz_body(data, size);
        fuzz_file(data, size);
        return 0;
}
