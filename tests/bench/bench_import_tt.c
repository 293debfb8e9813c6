/* SPDX-License-Identifier: MIT */
/*
 * The cost of reading a device log of tt-metal: as many rows as an argument says, by default a million, in
 * rounds of 64 cores and 5 processors as the profiler appends them.  Nothing is made of the rows: the cost of
 * a trace comes on top.
 */
#include "base/clock.h"
#include "base/error.h"
#include "import/file/import_source.h"
#include "import/rows/import_rows.h"
#include "import/tt/import_tt_device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define N_ROWS       UINT64_C(1000000)
#define N_CORES      64
#define N_ROUND      20 /* operations between two read-outs */
#define RUN_CYCLES   20000
#define ROWS_PER_RUN 6
#define N_PROCESSORS (sizeof(PROCESSORS) / sizeof(PROCESSORS[0]))

static const struct {
        const char *name, *zone, *file;
} PROCESSORS[] = {
        { "BRISC", "BRISC", "tt_metal/hw/firmware/src/brisc.cc" },
        { "NCRISC", "NCRISC", "tt_metal/hw/firmware/src/ncrisc.cc" },
        { "TRISC_0", "TRISC", "tt_metal/hw/firmware/src/trisc.cc" },
        { "TRISC_1", "TRISC", "tt_metal/hw/firmware/src/trisc.cc" },
        { "TRISC_2", "TRISC", "tt_metal/hw/firmware/src/trisc.cc" },
};

struct import_rows {
        uint32_t n_ids;
        uint64_t n_rows, n_spans, n_others, cycles, n_wrong;
};

int import_rows_string(struct import_rows *rows, struct text_view text, uint32_t *ret_id, struct error *err)
{
        (void)text;
        (void)err;
        *ret_id = ++rows->n_ids;
        return 0;
}

int import_rows_clock(struct import_rows *rows, const struct import_clock *clock, uint32_t *ret_id,
                      struct error *err)
{
        (void)clock;
        (void)err;
        *ret_id = ++rows->n_ids;
        return 0;
}

int import_rows_reading(struct import_rows *rows, const struct import_reading *reading, struct error *err)
{
        (void)rows;
        (void)reading;
        (void)err;
        return 0;
}

int import_rows_track(struct import_rows *rows, const struct import_track *track, uint32_t *ret_id,
                      struct error *err)
{
        (void)track;
        (void)err;
        *ret_id = ++rows->n_ids;
        return 0;
}

int import_rows_span(struct import_rows *rows, const struct import_span *span, struct error *err)
{
        (void)err;
        rows->n_spans++;
        rows->cycles += span->end - span->begin;
        return 0;
}

int import_rows_value(struct import_rows *rows, const struct import_value *value, struct error *err)
{
        (void)value;
        (void)err;
        rows->n_others++;
        return 0;
}

int import_rows_instant(struct import_rows *rows, const struct import_instant *instant, struct error *err)
{
        (void)instant;
        (void)err;
        rows->n_others++;
        return 0;
}

int import_rows_file(struct import_rows *rows, const char *format, struct text_view version,
                     struct error *err)
{
        (void)rows;
        (void)format;
        (void)version;
        (void)err;
        return 0;
}

void import_rows_count_row(struct import_rows *rows)
{
        rows->n_rows++;
}

void import_rows_malformed(struct import_rows *rows, uint64_t at, const char *why)
{
        (void)at;
        (void)why;
        rows->n_wrong++;
}

void import_rows_left_out(struct import_rows *rows, const char *kind, uint64_t n)
{
        (void)kind;
        rows->n_wrong += n;
}

void import_rows_dropped(struct import_rows *rows, uint64_t n)
{
        rows->n_wrong += n;
}

void import_rows_cut(struct import_rows *rows, uint64_t at)
{
        (void)at;
        rows->n_wrong++;
}

static void write_row(FILE *file, unsigned core, size_t processor, uint64_t time, uint64_t run,
                      const char *kind, const char *type)
{
        (void)fprintf(file, "0,%u,%u,%s,%u,%" PRIu64 ",0,%" PRIu64 ",,,%s-%s,%s,%u,%s,\n", 1 + core % 8,
                      1 + core / 8, PROCESSORS[processor].name, 22845 + (unsigned)processor, time, run << 10,
                      PROCESSORS[processor].zone, kind, type, 396U, PROCESSORS[processor].file);
}

static void write_run(FILE *file, unsigned core, size_t processor, uint64_t run)
{
        uint64_t at = UINT64_C(2170884415953) + run * RUN_CYCLES;

        write_row(file, core, processor, at, run, "FW", "ZONE_START");
        write_row(file, core, processor, at + 700, run, "KERNEL", "ZONE_START");
        (void)fprintf(file,
                      "0,%u,%u,%s,7385,%" PRIu64 ",%" PRIu64 ",%" PRIu64
                      ",,,,TS_DATA,0,,{\"noc\":1;\"dst_addr\":4096}\n",
                      1 + core % 8, 1 + core / 8, PROCESSORS[processor].name, at + 705, run, run << 10);
        (void)fprintf(file,
                      "0,%u,%u,%s,42543,%" PRIu64 ",972,%" PRIu64
                      ",,,CB-COMPUTE-WAIT-FRONT,ZONE_TOTAL,12,cb_api.h,\n",
                      1 + core % 8, 1 + core / 8, PROCESSORS[processor].name, at + 9000, run << 10);
        write_row(file, core, processor, at + 9100, run, "KERNEL", "ZONE_END");
        write_row(file, core, processor, at + 11600, run, "FW", "ZONE_END");
}

static int write_log(uint64_t n_rows, char *path, size_t path_bytes)
{
        int fd = memfd_create("log", MFD_CLOEXEC);
        FILE *file = fd >= 0 ? fdopen(dup(fd), "w") : NULL;
        uint64_t run = 1;

        if (!file)
                return -1;
        (void)fputs(
                "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
                "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
                "run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n",
                file);
        for (uint64_t n = 0; n < n_rows; run += N_ROUND)
                for (unsigned core = 0; core < N_CORES; core++)
                        for (size_t i = 0; i < N_PROCESSORS; i++)
                                for (uint64_t j = 0; j < N_ROUND && n < n_rows; j++, n += ROWS_PER_RUN)
                                        write_run(file, core, i, run + j);
        if (fclose(file) != 0)
                return -1;
        (void)lseek(fd, 0, SEEK_SET);
        (void)snprintf(path, path_bytes, "/proc/self/fd/%d", fd);
        return 0;
}

int main(int argc, char **argv)
{
        uint64_t n_rows = argc > 1 ? strtoull(argv[1], NULL, 10) : N_ROWS, begin_ns, taken_ns;
        struct import_rows rows = { .n_ids = 0 };
        struct import_source *source;
        struct rusage before, after;
        struct error err = ERROR_NONE;
        char path[64];

        if (write_log(n_rows, path, sizeof(path)) < 0)
                return 1;
        (void)getrusage(RUSAGE_SELF, &before);
        begin_ns = clock_raw_ns();
        if (import_source_open(&source, path, &err) < 0 || import_tt_device_read(source, &rows, &err) < 0) {
                (void)fprintf(stderr, "%s\n", err.text);
                return 1;
        }
        taken_ns = clock_raw_ns() - begin_ns;
        (void)getrusage(RUSAGE_SELF, &after);
        printf("device log of tt-metal: %" PRIu64
               " rows, %.1f MB in %.3f s: %.2f million rows/s, %.0f MB/s\n",
               rows.n_rows, (double)import_source_offset(source) / 1e6, (double)taken_ns / 1e9,
               (double)rows.n_rows * 1e3 / (double)taken_ns,
               (double)import_source_offset(source) * 1e3 / (double)taken_ns);
        printf("  %" PRIu64 " spans, %" PRIu64 " cycles, %" PRIu64 " others, %" PRIu64
               " wrong; resident memory grew by %.1f MB\n",
               rows.n_spans, rows.cycles, rows.n_others, rows.n_wrong,
               (double)(after.ru_maxrss - before.ru_maxrss) / 1e3);
        import_source_close(source);
        return rows.n_wrong == 0 ? 0 : 1;
}
