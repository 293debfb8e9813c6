/* SPDX-License-Identifier: MIT */
/*
 * wait_trace OUT WAITS [join|dense] - writes a trace of threads that wait for each other, for benchmarks
 *
 * A dispatcher asks four workers one after the other in each "request" of a millisecond; two of them ask a
 * helper each.  That is twelve waits a request.  With "join" another thread, the first of the process, waits
 * for all of it.  A worker has a sample of each of its parts, and so has the dispatcher.  With "dense" all is
 * 32 times as fast, under a CPU quota, and the first thread is ready to run all along.
 */
#include "format/trace_event.h"
#include "format/trace_rows.h"
#include "tests/unit/trace_builder.h"

#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define N_WORKERS          4
#define N_THREADS          (2 + N_WORKERS + 2)
#define WAITS_OF_REQUEST   12
#define REQUEST_NS         UINT64_C(1000000)
#define REQUESTS_PER_CHUNK 20
#define DENSITY            32
#define EVENTS_MAX         (32 * REQUESTS_PER_CHUNK) /* of a thread, in a chunk */

enum { MAIN = 1, DISPATCHER, FIRST_WORKER, FIRST_HELPER = FIRST_WORKER + N_WORKERS };

struct made {
        struct trace_builder b;
        struct trace_event events[N_THREADS][EVENTS_MAX];
        size_t n_events[N_THREADS];
        uint32_t names[N_THREADS];
        uint32_t request, path, event, module, waits, works, serves;
        uint64_t density; /* all times are so much shorter */
};

static struct made made;

static struct trace_event *add(uint32_t thread, uint64_t time_ns, enum trace_op op)
{
        struct trace_event *event;

        if (made.n_events[thread - 1] == EVENTS_MAX)
                abort();
        event = &made.events[thread - 1][made.n_events[thread - 1]++];
        *event = (struct trace_event){ .time_ns = time_ns / made.density, .op = op };
        return event;
}

static void add_out(uint32_t thread, uint64_t time_ns)
{
        struct trace_event *event = add(thread, time_ns, TRACE_OP_SWITCH_OUT);

        event->switch_out.cpu = thread;
        event->switch_out.wait = TRACE_WAIT_SLEEPING;
        event->switch_out.stack = made.waits;
        event->switch_out.stack_state = TRACE_STACK_COMPLETE;
}

/* The thread is woken, and runs 2 us later. */
static void add_in(uint32_t thread, uint64_t time_ns, uint32_t waker)
{
        struct trace_event *event = add(thread, time_ns, TRACE_OP_WAKEUP);

        event->wakeup.cpu = waker;
        event->wakeup.waker = waker;
        event->wakeup.name = made.names[waker - 1];
        add(thread, time_ns + 2000, TRACE_OP_SWITCH_IN)->switch_in.cpu = thread;
}

static void add_sample(uint32_t thread, uint64_t time_ns, uint32_t stack, uint32_t path)
{
        struct trace_event *event = add(thread, time_ns, TRACE_OP_SAMPLE);

        event->sample.event = made.event;
        event->sample.cpu = thread;
        event->sample.stack = stack;
        event->sample.path = path;
        event->sample.weight = 200000;
}

static void add_question(uint64_t t, uint32_t k)
{
        uint32_t worker = FIRST_WORKER + k, helper = FIRST_HELPER + k / 2;

        add_sample(DISPATCHER, t + 3000, made.serves, made.path);
        add_in(worker, t + 5000, DISPATCHER);
        add_out(DISPATCHER, t + 10000);
        add_sample(worker, t + 30000, made.works, 0);
        if (k % 2 == 1) {
                add_in(helper, t + 50000, worker);
                add_out(worker, t + 60000);
                add_sample(helper, t + 100000, made.works, 0);
                add_in(worker, t + 150000, helper);
                add_out(helper, t + 155000);
        }
        add_in(DISPATCHER, t + 200000, worker);
        add_out(worker, t + 205000);
}

static void add_request(uint64_t t)
{
        add(DISPATCHER, t, TRACE_OP_ZONE_BEGIN)->zone_begin.location = made.request;
        for (uint32_t k = 0; k < N_WORKERS; k++)
                add_question(t + 1000 + 240000 * (uint64_t)k, k);
        (void)add(DISPATCHER, t + REQUEST_NS - 10000, TRACE_OP_ZONE_END);
}

/* One thread's events after the other's, as recorders write them. */
static void write_chunk(void)
{
        for (uint32_t i = 0; i < N_THREADS; i++) {
                trace_builder_begin_run(&made.b, i + 1);
                for (size_t k = 0; k < made.n_events[i]; k++)
                        event_encoder_add(&made.b.encoder, &made.events[i][k]);
                trace_builder_end_run(&made.b);
                made.n_events[i] = 0;
        }
        trace_builder_flush(&made.b);
}

static void add_tables(void)
{
        static const char *const names[N_THREADS] = {
                "main", "dispatcher", "w1", "w2", "w3", "w4", "h1", "h2"
        };
        uint32_t kernel = trace_builder_module_of(&made.b, TRACE_MODULE_KERNEL, "[kernel]");

        for (uint32_t i = 0; i < N_THREADS; i++) {
                (void)trace_builder_thread(&made.b, 10, 10 + i);
                made.names[i] = trace_builder_string(&made.b, names[i]);
                add(i + 1, made.density, TRACE_OP_THREAD_NAME)->thread_name.name = made.names[i];
        }
        made.module = trace_builder_module(&made.b, "/bin/program");
        made.event = trace_builder_sample_event(&made.b, "task-clock");
        made.request = trace_builder_location(&made.b, "request");
        made.path = trace_builder_path(&made.b, 0, made.request);
        made.works = trace_builder_push(&made.b, 0, made.module, 16, "work");
        made.serves = trace_builder_push(&made.b, 0, made.module, 32, "serve");
        made.waits = trace_builder_push(&made.b, made.serves, kernel, 48, "pipe_read");
        trace_builder_meta(&made.b, "start_raw_ns", "1");
        trace_builder_meta(&made.b, "cpus", "8");
        trace_builder_meta(&made.b, "off_cpu", "1");
}

/* Half of the time, up to where all have ended. */
static void add_quota(uint64_t end_ns)
{
        char words[64];

        (void)snprintf(words, sizeof(words), "1+%" PRIu64 "=%" PRIu64 ";", end_ns / 1000, end_ns / 2000);
        trace_builder_meta(&made.b, "cpu_throttled", words);
        trace_builder_meta(&made.b, "cpu_quota", "50000/100000");
}

static void write_trace(uint64_t n_requests, bool joins, bool is_dense)
{
        uint64_t end_ns = REQUEST_NS * (n_requests + 1);
        char end[24];

        made.density = is_dense ? DENSITY : 1;
        add_tables();
        if (is_dense)
                add_quota(end_ns / DENSITY);
        for (uint32_t i = FIRST_WORKER; i <= N_THREADS; i++)
                add_out(i, 2 * made.density);
        add_out(MAIN, 3 * made.density);
        if (is_dense)
                add(MAIN, 4 * made.density, TRACE_OP_WAKEUP)->wakeup.name = made.names[DISPATCHER - 1];
        for (uint64_t i = 1; i <= n_requests; i++) {
                add_request(REQUEST_NS * i);
                if (i % REQUESTS_PER_CHUNK == 0)
                        write_chunk();
        }
        if (joins)
                add_in(MAIN, end_ns, DISPATCHER);
        if (is_dense)
                add(MAIN, end_ns, TRACE_OP_SWITCH_IN)->switch_in.cpu = DISPATCHER;
        add(DISPATCHER, end_ns, TRACE_OP_THREAD_EXIT);
        write_chunk();
        (void)snprintf(end, sizeof(end), "%" PRIu64, end_ns / made.density);
        trace_builder_meta(&made.b, "end_raw_ns", end);
        trace_builder_finish(&made.b);
}

static int copy(int from, const char *path)
{
        int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        off_t at = 0;

        if (to < 0)
                return -1;
        while (sendfile(to, from, &at, 1 << 30) > 0)
                ;
        return close(to);
}

static char **arguments; /* OUT, WAITS, "join", "dense" or NULL */

/* The builder's checks want to be in a test. */
START_TEST(build)
{
        uint64_t n_waits = strtoull(arguments[1], NULL, 10);

        trace_builder_init(&made.b);
        write_trace(n_waits / WAITS_OF_REQUEST, arguments[2] && strcmp(arguments[2], "join") == 0,
                    arguments[2] && strcmp(arguments[2], "dense") == 0);
        ck_assert_int_eq(copy(made.b.fd, arguments[0]), 0);
        trace_builder_deinit(&made.b);
}
END_TEST

int main(int argc, char **argv)
{
        Suite *suite = suite_create("wait_trace");
        TCase *tests = tcase_create("wait_trace");
        SRunner *runner = srunner_create(suite);
        int n_failed;

        if (argc < 3) {
                (void)fprintf(stderr, "usage: wait_trace OUT WAITS [join|dense]\n");
                return 2;
        }
        arguments = argv + 1;
        suite_add_tcase(suite, tests);
        tcase_add_test(tests, build);
        srunner_set_fork_status(runner, CK_NOFORK);
        srunner_run_all(runner, CK_NORMAL);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed > 0;
}
