/* SPDX-License-Identifier: MIT */
/*
 * bench_timeline [ZONES=10000000 [LARGE=100000000]] - what the index of the time line costs
 *
 * Traces of half of ZONES, of ZONES and of LARGE (0 = none) on 12 threads, with a sample for every 100
 * zones, are written to /tmp (HYPROF_BENCH_FOLDER) and made into an index, which is saved, opened again
 * and asked for 1,000 random views: each of all lanes but those of ghost zones, 2,000 pixels wide, from
 * the whole trace to one microsecond.  Shown are seconds that passed, seconds of processor time, and the
 * target.  With `taskset -c 0` it is one core.
 */
#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "base/io.h"
#include "tests/bench/zone_trace.h"
#include "timeline/timeline_builder.h"
#include "timeline/timeline_directory.h"
#include "timeline/timeline_query.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define N_ZONES       UINT64_C(10000000)
#define N_ZONES_LARGE UINT64_C(100000000)
#define N_THREADS     12
#define N_VIEWS       1000
#define PIXELS        2000.0

struct bench_times {
        double passed_s, processor_s;
};

static void must(int r, const struct error *err)
{
        if (r >= 0)
                return;
        (void)fprintf(stderr, "bench_timeline: %s\n", err->text);
        exit(EXIT_FAILURE);
}

static double seconds_of(clockid_t clock)
{
        struct timespec t;

        if (clock_gettime(clock, &t) != 0)
                abort();
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct bench_times now(void)
{
        return (struct bench_times){ seconds_of(CLOCK_MONOTONIC_RAW), seconds_of(CLOCK_PROCESS_CPUTIME_ID) };
}

static struct bench_times since(struct bench_times t)
{
        return (struct bench_times){ seconds_of(CLOCK_MONOTONIC_RAW) - t.passed_s,
                                     seconds_of(CLOCK_PROCESS_CPUTIME_ID) - t.processor_s };
}

static void show(uint64_t n_zones, const char *what, struct bench_times t, const char *target)
{
        (void)printf("%11" PRIu64 "  %-22s %8.3f s %8.3f s %8.1f   %s\n", n_zones, what, t.passed_s,
                     t.processor_s, t.processor_s * 1e9 / (double)n_zones, target);
        (void)fflush(stdout);
}

static int open_file(const char *path)
{
        int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        if (fd < 0) {
                perror(path);
                exit(EXIT_FAILURE);
        }
        return fd;
}

static void make_index(const char *trace_path, const char *index_path)
{
        struct timeline_identity identity;
        struct error err = ERROR_NONE;
        struct timeline_index index;
        struct loaded_trace trace;
        int fd = open(trace_path, O_RDONLY | O_CLOEXEC);

        must(timeline_identity_read(fd, &identity, &err), &err);
        (void)close(fd);
        must(loaded_trace_open(&trace, trace_path, &err), &err);
        must(timeline_index_init(&index, open_file(index_path), trace.start_ns,
                                 trace.end_ns - trace.start_ns),
             &err);
        must(timeline_builder_build(&index, &trace, NULL, &err), &err);
        must(timeline_directory_save(&index, &identity, &err), &err);
        timeline_index_deinit(&index);
        loaded_trace_close(&trace);
}

static uint64_t next_random(uint64_t *state)
{
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static int compare_times(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

/* Every zoom is as likely as any other. */
static struct timeline_view random_view(const struct timeline_index *index, uint64_t *random)
{
        double part = (double)(next_random(random) >> 11) / 9007199254740992.0;
        double duration = (double)index->duration_ns;
        double length = 1000 * pow(duration / 1000, part);
        struct timeline_view view = { .from_ns = next_random(random) %
                                                 (index->duration_ns - (uint64_t)length + 1) };

        view.to_ns = view.from_ns + (uint64_t)length;
        while (length / (double)(UINT64_C(1) << view.bucket_log2) > PIXELS)
                view.bucket_log2++;
        return view;
}

static void bench_views(const char *index_path, uint64_t n_zones)
{
        static double times[N_VIEWS];
        struct timeline_columns columns = { .n = 0 };
        struct error err = ERROR_NONE;
        struct timeline_index index;
        uint64_t random = 7, n_items = 0;
        uint32_t n_lanes = 0;
        struct bench_times t = now();

        must(timeline_directory_open(&index, open(index_path, O_RDONLY | O_CLOEXEC), NULL, &err), &err);
        show(n_zones, "opened again", since(t), "1 s for 100,000,000");
        for (int i = 0; i < N_VIEWS; i++) {
                struct timeline_view view = random_view(&index, &random);

                t = now();
                for (view.lane = 0; view.lane < index.n_lanes; view.lane++) {
                        if (timeline_index_lane_facts(&index, view.lane).kind == TIMELINE_LANE_GHOSTS)
                                continue;
                        must(timeline_query_view(&index, &view, &columns, &err), &err);
                        n_items += columns.n;
                }
                times[i] = since(t).passed_s * 1e3;
        }
        for (uint32_t i = 0; i < index.n_lanes; i++)
                n_lanes += timeline_index_lane_facts(&index, i).kind != TIMELINE_LANE_GHOSTS;
        qsort(times, N_VIEWS, sizeof(times[0]), compare_times);
        (void)printf("%11" PRIu64 "  views of %" PRIu32
                     " lanes      median %.2f ms, 99 of 100 below %.2f ms, "
                     "longest %.2f ms, %" PRIu64 " items each; target: 20 ms with the reply\n",
                     n_zones, n_lanes, times[N_VIEWS / 2], times[N_VIEWS * 99 / 100], times[N_VIEWS - 1],
                     n_items / N_VIEWS);
        timeline_columns_deinit(&columns);
        timeline_index_deinit(&index);
}

static uint64_t size_of(const char *path)
{
        struct stat status;

        return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* Returns the processor time of the index. */
static double bench_zones(const char *folder, uint64_t n_zones, const char *target)
{
        char trace_path[512], index_path[512];
        struct bench_times t;
        int fd;

        (void)snprintf(trace_path, sizeof(trace_path), "%s/bench_timeline.%ld.hyp", folder, (long)getpid());
        (void)snprintf(index_path, sizeof(index_path), "%s/bench_timeline.%ld.index", folder, (long)getpid());
        fd = open_file(trace_path);
        zone_trace_write(fd, n_zones, N_THREADS, ZONE_TRACE_ZONES_PER_SAMPLE);
        (void)close(fd);
        t = now();
        make_index(trace_path, index_path);
        t = since(t);
        show(n_zones, "built and saved", t, target);
        (void)printf("%11" PRIu64
                     "  %.1f million zones a second of processor time; trace %.0f MB, index %.0f MB\n",
                     n_zones, (double)n_zones / t.processor_s / 1e6, (double)size_of(trace_path) / 1e6,
                     (double)size_of(index_path) / 1e6);
        bench_views(index_path, n_zones);
        (void)unlink(trace_path);
        (void)unlink(index_path);
        return t.processor_s;
}

int main(int argc, char **argv)
{
        uint64_t n_zones = argc > 1 ? strtoull(argv[1], NULL, 10) : N_ZONES;
        uint64_t n_large = argc > 2 ? strtoull(argv[2], NULL, 10) : N_ZONES_LARGE;
        const char *folder = getenv("HYPROF_BENCH_FOLDER");
        double half_s, whole_s;
        struct rusage usage;

        folder = folder ? folder : "/tmp";
        (void)printf("%11s  %-22s %10s %10s %8s   %s\n", "zones", "", "passed", "processor", "ns each",
                     "target");
        half_s = bench_zones(folder, n_zones / 2, "");
        whole_s = bench_zones(folder, n_zones, "10,000,000 zones a second");
        (void)printf("twice the zones take %.2f times as long; target: 2.2\n", whole_s / half_s);
        if (n_large != 0)
                (void)bench_zones(folder, n_large, "15 s for 100,000,000 with 1,000,000 samples");
        if (getrusage(RUSAGE_SELF, &usage) == 0)
                (void)printf("memory at most: %.1f MiB; target: 512\n", (double)usage.ru_maxrss / 1024);
        return EXIT_SUCCESS;
}
