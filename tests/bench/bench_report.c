/* SPDX-License-Identifier: MIT */
/*
 * bench_report [ZONES=10000000 [LARGE=100000000]] - what zones cost their reader
 *
 * Traces of half of ZONES, of ZONES and of LARGE (0 = none) on 4 threads, with a sample for every 100 zones,
 * are written to /tmp and read: by the decoder alone, by report_load(), and by tracy_csv_write(), statistics
 * and every zone.  Each is done three times, LARGE once, and the fastest is shown: seconds that passed,
 * seconds of processor time, and the target.  On a busy machine look at the latter.
 */
#include "analyze/report/report.h"
#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "export/tables/tracy_csv.h"
#include "format/event_decoder.h"
#include "format/trace_reader.h"
#include "tests/bench/zone_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define N_ZONES       UINT64_C(10000000)
#define N_ZONES_LARGE UINT64_C(100000000)
#define N_TRIES       3
#define N_THREADS     4

static void must(int r, const struct error *err)
{
        if (r >= 0)
                return;
        (void)fprintf(stderr, "bench_report: %s\n", err->text);
        abort();
}

struct bench_case {
        const char *path;
        uint64_t n_zones;
};

struct bench_time {
        double passed_s, processor_s;
};

static double seconds_of(clockid_t clock)
{
        struct timespec t;

        if (clock_gettime(clock, &t) != 0)
                abort();
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Reads and decodes without looking at anything. */
static void decode(const struct bench_case *c)
{
        struct trace_reader *reader;
        struct error err = ERROR_NONE;
        struct trace_item item;

        must(trace_reader_open(c->path, &reader, &err), &err);
        while (trace_reader_next(reader, &item, &err) == 1) {
                struct event_decoder decoder;
                struct trace_event event;
                struct event_run run;

                if (item.header.kind != TRACE_CHUNK_EVENTS)
                        continue;
                must(event_decoder_init(&decoder, trace_reader_dictionary(reader), item.body, item.body_bytes,
                                        &err),
                     &err);
                while (event_decoder_next_run(&decoder, &run, &err) == 1)
                        while (event_decoder_next(&decoder, &event, &err) == 1)
                                ;
        }
        trace_reader_close(reader);
}

static void report(const struct bench_case *c)
{
        struct report *report;
        struct error err = ERROR_NONE;

        must(report_load(c->path, NULL, &report, &err), &err);
        if (report->n_zone_events < c->n_zones)
                must(-1, &(struct error){ .text = "zones are missing" });
        report_free(report);
}

/* Lines of CSV, thrown away. */
static void write_csv(const struct bench_case *c, bool every_zone)
{
        struct tracy_csv_options options = { .unwrap = every_zone, .separator = ',' };
        FILE *out = fopen("/dev/null", "w");
        struct loaded_trace trace;
        struct error err = ERROR_NONE;

        must(out ? 0 : -1, &(struct error){ .text = "/dev/null cannot be opened" });
        must(loaded_trace_open(&trace, c->path, &err), &err);
        must(tracy_csv_write(&trace, &options, out, &err), &err);
        loaded_trace_close(&trace);
        (void)fclose(out);
}

static void statistics(const struct bench_case *c)
{
        write_csv(c, false);
}

static void every_zone(const struct bench_case *c)
{
        write_csv(c, true);
}

static struct bench_time measure(void (*work)(const struct bench_case *c), const struct bench_case *c,
                                 int n_tries)
{
        struct bench_time best = { .passed_s = 0 };

        for (int i = 0; i < n_tries; i++) {
                double passed_s = seconds_of(CLOCK_MONOTONIC_RAW);
                double processor_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID);

                work(c);
                passed_s = seconds_of(CLOCK_MONOTONIC_RAW) - passed_s;
                processor_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - processor_s;
                if (i == 0 || processor_s < best.processor_s)
                        best.processor_s = processor_s;
                if (i == 0 || passed_s < best.passed_s)
                        best.passed_s = passed_s;
        }
        return best;
}

static void show(const struct bench_case *c, const char *what, struct bench_time t, const char *target)
{
        (void)printf("%11" PRIu64 "  %-22s %8.3f s %8.3f s %8.1f   %s\n", c->n_zones, what, t.passed_s,
                     t.processor_s, t.processor_s * 1e9 / (double)c->n_zones, target);
        (void)fflush(stdout);
}

static void make_trace(char *path, uint64_t n_zones)
{
        struct stat status;
        int fd = mkstemp(path);

        if (fd < 0) {
                perror(path);
                exit(EXIT_FAILURE);
        }
        zone_trace_write(fd, n_zones, N_THREADS, ZONE_TRACE_ZONES_PER_SAMPLE);
        if (fstat(fd, &status) == 0)
                (void)printf("%11" PRIu64 "  trace of %.0f MB\n", n_zones, (double)status.st_size / 1e6);
        (void)close(fd);
}

/* Returns the processor time of the report. */
static double bench_zones(uint64_t n_zones, bool is_whole)
{
        char path[] = "/tmp/bench_report.XXXXXX";
        struct bench_case c = { .path = path, .n_zones = n_zones };
        struct bench_time report_time;

        make_trace(path, n_zones);
        show(&c, "decoding alone", measure(decode, &c, N_TRIES), "");
        report_time = measure(report, &c, N_TRIES);
        show(&c, "report", report_time, "");
        if (is_whole) {
                show(&c, "csv, statistics", measure(statistics, &c, N_TRIES), "0.5 s for 10,000,000");
                show(&c, "csv, every zone", measure(every_zone, &c, N_TRIES), "5 s for 10,000,000");
        }
        (void)unlink(path);
        return report_time.processor_s;
}

static void bench_large(uint64_t n_zones)
{
        char path[] = "/tmp/bench_report.XXXXXX";
        struct bench_case c = { .path = path, .n_zones = n_zones };

        make_trace(path, n_zones);
        show(&c, "report", measure(report, &c, 1), "10 s for 100,000,000 with 1,000,000 samples");
        (void)unlink(path);
}

int main(int argc, char **argv)
{
        uint64_t n_zones = argc > 1 ? strtoull(argv[1], NULL, 10) : N_ZONES;
        uint64_t n_large = argc > 2 ? strtoull(argv[2], NULL, 10) : N_ZONES_LARGE;
        double half_s, whole_s;
        struct rusage usage;

        (void)printf("%11s  %-22s %10s %10s %8s   %s\n", "zones", "", "passed", "processor", "ns each",
                     "target");
        half_s = bench_zones(n_zones / 2, false);
        whole_s = bench_zones(n_zones, true);
        (void)printf("twice the zones take %.2f times as long; target: 2.2\n", whole_s / half_s);
        if (n_large != 0)
                bench_large(n_large);
        if (getrusage(RUSAGE_SELF, &usage) == 0)
                (void)printf("memory at most: %.1f MiB; target: 512\n", (double)usage.ru_maxrss / 1024);
        return EXIT_SUCCESS;
}
