/* SPDX-License-Identifier: MIT */
/*
 * tests/bench/bench_merge.c - what a zone costs the recorder: processor time of the collector
 * and of the writer, bytes
 *
 * Way of the data:  client -> zone_source -> zone_merge -> event_encoder -> writer_thread -> [bench_merge]
 *
 * This program records itself, without a kernel: rounds of zones into its own
 * ring, each followed by a cycle of the merge.  Only processor time is counted,
 * so that neighbours on the machine matter little.
 */
#include "base/clock.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_writer.h"
#include "instrument/client_abi.h"
#include "instrument/region_finder.h"
#include "instrument/region_inbox.h"
#include "sampler/events/event_set.h"
#include "sampler/merge/collector.h"
#include "sampler/merge/writer_thread.h"
#include "sampler/stacks/stack_unwinder.h"
#include "tests/unit/fixed_random.h"

#include <fcntl.h>
#include <hyprof/hyprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_ROUNDS    20
#define N_ZONES     400000 /* of a round: they fit in the ring */
#define N_LOCATIONS 64
#define RING_BYTES  "16777216"
#define LAG_NS      (3 * NS_PER_MS) /* what is older than this is merged by the next cycle */

struct bench {
        struct trace_writer *writer;
        struct writer_thread *thread;
        struct trace_dictionary dictionary;
        struct event_set events;
        struct region_inbox inbox;
        struct collector merge;
};

static uint64_t cpu_ns(clockid_t clock)
{
        struct timespec t;

        (void)clock_gettime(clock, &t);
        return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void fail(const char *what, const struct error *err)
{
        (void)fprintf(stderr, "bench_merge: %s: %s\n", what, err->text);
        exit(EXIT_FAILURE);
}

/* Ends when everything that this program has done is old enough for a cycle. */
static void age(void)
{
        uint64_t end_ns = clock_raw_ns() + LAG_NS;

        while (clock_raw_ns() < end_ns)
                ;
}

static void cycle(struct bench *b, bool final)
{
        struct error err = ERROR_NONE;

        if (collector_cycle(&b->merge, final, &err) < 0)
                fail("merge", &err);
}

static void set_up(struct bench *b)
{
        const struct recording recording = {
                .dictionary = &b->dictionary,
                .events = &b->events,
        };
        struct collector_options options = {
                .unwinder = { .mode = UNWIND_FP },
                .families = CLIENT_ABI_FAMILIES,
                .inbox = &b->inbox,
        };
        struct error err = ERROR_NONE;
        struct thread_track *self;
        uint32_t pid = (uint32_t)getpid();
        int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

        memset(b, 0, sizeof(*b));
        b->inbox.fd = -1;
        trace_dictionary_init(&b->dictionary, 0);
        if (fd < 0 || trace_writer_new(fd, &b->writer, &err) < 0 ||
            writer_thread_start(b->writer, -1, -1, &b->thread, &err) < 0)
                fail("writer", &err);
        options.writer = b->thread;
        if (collector_init(&b->merge, &recording, &options, &err) < 0 ||
            process_table_add_thread(&b->merge.processes, pid, pid, 0, clock_raw_ns(), &self) < 0 ||
            region_finder_open(pid, &fd, &err) < 0 || zone_source_receive(&b->merge.zones, pid, fd) < 0)
                fail("start", &err);
        cycle(b, false);
}

static void tear_down(struct bench *b)
{
        cycle(b, true);
        (void)writer_thread_join(b->thread, NULL);
        collector_deinit(&b->merge);
        trace_dictionary_deinit(&b->dictionary);
        trace_writer_free(b->writer);
}

/* ---- patterns ------------------------------------------------------------------------------------------ */

static void emit_tight(void)
{
        for (int i = 0; i < N_ZONES; i++) {
                HYPROF_ZONE("tight");
                __asm__ volatile("");
        }
}

static void emit_nested(void)
{
        for (int i = 0; i < N_ZONES / 8; i++) {
                HYPROF_ZONE("nested 1");
                HYPROF_ZONE("nested 2");
                HYPROF_ZONE("nested 3");
                HYPROF_ZONE("nested 4");
                HYPROF_ZONE("nested 5");
                HYPROF_ZONE("nested 6");
                HYPROF_ZONE("nested 7");
                HYPROF_ZONE("nested 8");
                __asm__ volatile("");
        }
}

/* Durations of up to some hundred nanoseconds, and a text in every thirty-third zone. */
static void emit_random(void)
{
        static struct hyprof_location locations[N_LOCATIONS];
        static uint64_t random_state = 1;
        static char names[N_LOCATIONS][16];

        for (uint32_t i = 0; i < N_LOCATIONS; i++) {
                (void)snprintf(names[i], sizeof(names[i]), "random %u", i);
                locations[i].name = names[i];
        }
        for (int i = 0; i < N_ZONES; i++) {
                uint64_t n = fixed_random_next(&random_state);
                hyprof_zone zone = hyprof_zone_begin(&locations[n % N_LOCATIONS]);

                for (uint64_t spin = n >> 56; spin > 0; spin--)
                        __asm__ volatile("");
                if (i % 33 == 0) {
                        char text[32];
                        int n_bytes = snprintf(text, sizeof(text), "item %d of %u", i, (unsigned)(n >> 40));

                        hyprof_zone_text(zone, text, (size_t)n_bytes);
                }
                hyprof_zone_end(zone);
        }
}

static void measure(const char *name, void (*emit)(void))
{
        uint64_t collector_ns = 0, all_ns, n_before, n_bytes;
        static struct bench b;
        double n_zones;

        set_up(&b);
        n_bytes = writer_thread_count_bytes(b.thread);
        for (int round = 0; round < N_ROUNDS; round++) {
                emit();
                age();
                n_before = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
                cycle(&b, false);
                collector_ns += cpu_ns(CLOCK_THREAD_CPUTIME_ID) - n_before;
        }
        n_zones = (double)b.merge.n_zones;
        all_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns(CLOCK_THREAD_CPUTIME_ID);
        n_bytes = writer_thread_count_bytes(b.thread) - n_bytes;
        printf("%-8s %10.0f zones: collector %6.2f ns (%5.1f M zones/s), writer %6.2f ns, %5.3f bytes a zone\n",
               name, n_zones, (double)collector_ns / n_zones, n_zones * 1e3 / (double)collector_ns,
               (double)all_ns / n_zones, (double)n_bytes / n_zones);
        tear_down(&b);
}

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                void (*emit)(void);
        } patterns[] = { { "tight", emit_tight }, { "nested", emit_nested }, { "random", emit_random } };

        /*
         * The client has read its settings before main(); one process a pattern, so that the
         * writer's time is its own.
         */
        if (argc < 2) {
                (void)setenv("HYPROF_RING", RING_BYTES, 1);
                for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
                        char command[512];

                        (void)snprintf(command, sizeof(command), "%s %s", argv[0], patterns[i].name);
                        if (system(command) != 0)
                                return EXIT_FAILURE;
                }
                return EXIT_SUCCESS;
        }
        for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
                if (strcmp(argv[1], patterns[i].name) == 0)
                        measure(patterns[i].name, patterns[i].emit);
        return EXIT_SUCCESS;
}
