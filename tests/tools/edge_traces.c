/* SPDX-License-Identifier: MIT */
/*
 * edge_traces FOLDER - traces that a reader must not stumble over, as FOLDER/NAME.hyp
 *
 *      empty     nothing but the beginning and the end
 *      one       one message, no samples and no zones
 *      samples   1,000 samples in one thread, half in each of two functions, and no zones
 *      zones     1,000 zones of 1 us, each in one of 10 of 200 us, and no samples
 *      unclosed  3 zones in each other that never end, and 10 samples in them
 */
#include "tests/unit/trace_builder.h"

#include "base/io.h"
#include "format/trace_event.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_NS 1000000000
#define US       1000
#define MS       1000000

static uint32_t add_event(struct trace_builder *b)
{
        struct trace_sample_event row = {
                .name = trace_builder_string(b, "cpu-clock"),
                .rate = 1000,
                .mode = TRACE_SAMPLE_MODE_FREQUENCY_HZ,
                .unit = trace_builder_string(b, "ns"),
        };

        return trace_builder_row(b, TRACE_TABLE_SAMPLE_EVENTS, &row);
}

/* main -> @function */
static uint32_t add_stack(struct trace_builder *b, const char *function, uint64_t offset)
{
        uint32_t module = trace_builder_module(b, "/usr/bin/edge");
        uint32_t outer = trace_builder_frame(b, module, 16);
        uint32_t inner = trace_builder_frame(b, module, offset);
        uint32_t stack = trace_builder_stack(b, 0, outer);

        trace_builder_symbol(b, outer, "main", 0);
        trace_builder_symbol(b, inner, function, 0);
        return trace_builder_stack(b, stack, inner);
}

static void add_sample(struct trace_builder *b, uint64_t time_ns, uint32_t event, uint32_t path,
                       uint32_t stack)
{
        struct trace_event sample = { .time_ns = time_ns, .op = TRACE_OP_SAMPLE };

        sample.sample.event = event;
        sample.sample.path = path;
        sample.sample.stack = stack;
        sample.sample.weight = MS;
        event_encoder_add(&b->encoder, &sample);
}

static void build_empty(struct trace_builder *b)
{
        trace_builder_meta(b, "command", "edge");
}

static void build_one(struct trace_builder *b)
{
        struct trace_event message = { .time_ns = START_NS, .op = TRACE_OP_MESSAGE };

        message.message.text = trace_builder_string(b, "the only one");
        trace_builder_begin_run(b, trace_builder_thread(b, 1, 1));
        event_encoder_add(&b->encoder, &message);
        trace_builder_end_run(b);
}

static void build_samples(struct trace_builder *b)
{
        uint32_t event = add_event(b), odd = add_stack(b, "odd", 32), even = add_stack(b, "even", 48);

        trace_builder_begin_run(b, trace_builder_thread(b, 1, 1));
        for (uint64_t i = 1; i <= 1000; i++)
                add_sample(b, START_NS + i * MS, event, 0, i % 2 != 0 ? odd : even);
        trace_builder_end_run(b);
}

static void build_zones(struct trace_builder *b)
{
        uint32_t outer = trace_builder_location(b, "outer"), inner = trace_builder_location(b, "inner");
        uint64_t now_ns = START_NS;

        trace_builder_begin_run(b, trace_builder_thread(b, 1, 1));
        for (int i = 0; i < 10; i++) {
                trace_builder_begin_zone(b, now_ns, outer);
                for (int k = 0; k < 100; k++) {
                        trace_builder_begin_zone(b, now_ns, inner);
                        trace_builder_event(b, now_ns + US, TRACE_OP_ZONE_END);
                        now_ns += 2 * US;
                }
                trace_builder_event(b, now_ns, TRACE_OP_ZONE_END);
        }
        trace_builder_end_run(b);
}

static void build_unclosed(struct trace_builder *b)
{
        uint32_t event = add_event(b), stack = add_stack(b, "inside", 32);
        static const char *const names[] = { "first", "second", "third" };
        uint32_t path = 0;

        trace_builder_begin_run(b, trace_builder_thread(b, 1, 1));
        for (uint64_t i = 0; i < 3; i++) {
                uint32_t location = trace_builder_location(b, names[i]);

                trace_builder_begin_zone(b, START_NS + i, location);
                path = trace_builder_path(b, path, location);
        }
        for (uint64_t i = 1; i <= 10; i++)
                add_sample(b, START_NS + i * MS, event, path, stack);
        trace_builder_end_run(b);
}

static const struct edge_trace {
        const char *name;
        void (*build)(struct trace_builder *b);
} edge_traces[] = {
        { "empty", build_empty }, { "one", build_one },           { "samples", build_samples },
        { "zones", build_zones }, { "unclosed", build_unclosed },
};

static void must(int code, const char *what)
{
        if (code >= 0)
                return;
        (void)fprintf(stderr, "edge_traces: %s: %s\n", what, strerror(errno));
        exit(2);
}

static void save(const struct trace_builder *b, const char *folder, const char *name)
{
        char path[512], block[1024];
        off_t offset = 0;
        ssize_t n;
        int fd;

        (void)snprintf(path, sizeof(path), "%s/%s.hyp", folder, name);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        must(fd, path);
        while ((n = pread(b->fd, block, sizeof(block), offset)) > 0) {
                must(io_write_all(fd, block, (size_t)n, NULL), path);
                offset += n;
        }
        (void)close(fd);
}

/* The builder's checks want to be in a test. */
START_TEST(build_all)
{
        const struct edge_trace *edge = &edge_traces[_i];
        struct trace_builder b;

        trace_builder_init(&b);
        edge->build(&b);
        trace_builder_finish(&b);
        save(&b, getenv("EDGE_FOLDER"), edge->name);
        trace_builder_deinit(&b);
}
END_TEST

int main(int argc, char **argv)
{
        Suite *suite = suite_create("edge_traces");
        TCase *tests = tcase_create("edge_traces");
        SRunner *runner = srunner_create(suite);
        int n_failed;

        must(argc == 2 ? setenv("EDGE_FOLDER", argv[1], 1) : -1, "FOLDER");
        must(unsetenv("CK_TAP_LOG_FILE_NAME"), "the environment"); /* which is for the test that calls */
        suite_add_tcase(suite, tests);
        tcase_add_loop_test(tests, build_all, 0, (int)(sizeof(edge_traces) / sizeof(edge_traces[0])));
        srunner_set_fork_status(runner, CK_NOFORK);
        srunner_run_all(runner, CK_SILENT);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed > 0;
}
