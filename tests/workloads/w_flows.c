/* SPDX-License-Identifier: MIT */
/*
 * w_flows [CHILDREN | many N]
 *
 * Truth, of flows of the space "job", which go through pipes: "produce" begins 200, "route", of the thread
 * "router", says a step of each, and one of two threads "worker" ends it in "work".  "ask" begins flows of
 * the space "request", 50 for each of CHILDREN processes (2), which end them in "serve" and begin flows of
 * the same number of the space "reply", which "collect" ends.  Each child has 50 flows of the space "job" of
 * its own, with the numbers of the first ones, from "child begins" to "child ends".
 *
 * And of no space: three are begun outside of zones and never ended, one of these twice; two ends and one
 * step are of flows that were never begun.
 *
 * many N: N flows are begun, each of another number, and the last 1000 are ended.
 */
#include "hyprof/hyprof.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_JOBS     200
#define N_REQUESTS 50
#define N_WORKERS  2
#define N_CHILDREN 64

static int to_router[2], to_workers[2];

static void send_number(int fd, uint64_t number)
{
        if (write(fd, &number, sizeof(number)) != (ssize_t)sizeof(number))
                abort();
}

/* 0 = the other end is closed. */
static uint64_t receive_number(int fd)
{
        uint64_t number = 0;

        return read(fd, &number, sizeof(number)) == (ssize_t)sizeof(number) ? number : 0;
}

static void *route(void *unused)
{
        uint64_t number;

        hyprof_thread_name("router");
        while ((number = receive_number(to_router[0])) != 0) {
                HYPROF_ZONE("route");
                HYPROF_FLOW_STEP_OF("job", number);
                send_number(to_workers[1], number);
        }
        (void)close(to_workers[1]);
        return unused;
}

static void *work(void *unused)
{
        uint64_t number;

        hyprof_thread_name("worker");
        while ((number = receive_number(to_workers[0])) != 0) {
                HYPROF_ZONE("work");
                HYPROF_FLOW_END_OF("job", number);
        }
        return unused;
}

static void run_jobs(void)
{
        pthread_t router, workers[N_WORKERS];

        if (pipe(to_router) != 0 || pipe(to_workers) != 0 || pthread_create(&router, NULL, route, NULL) != 0)
                abort();
        for (int i = 0; i < N_WORKERS; i++)
                if (pthread_create(&workers[i], NULL, work, NULL) != 0)
                        abort();
        for (uint64_t number = 1; number <= N_JOBS; number++) {
                HYPROF_ZONE("produce");
                HYPROF_FLOW_BEGIN_OF("job", number);
                send_number(to_router[1], number);
        }
        (void)close(to_router[1]);
        (void)pthread_join(router, NULL);
        for (int i = 0; i < N_WORKERS; i++)
                (void)pthread_join(workers[i], NULL);
}

static void serve(int from, int to)
{
        uint64_t number;

        for (uint64_t i = 1; i <= N_REQUESTS; i++) {
                {
                        HYPROF_ZONE("child begins");
                        HYPROF_FLOW_BEGIN_OF("job", i);
                }
                HYPROF_ZONE("child ends");
                HYPROF_FLOW_END_OF("job", i);
        }
        while ((number = receive_number(from)) != 0) {
                HYPROF_ZONE("serve");
                HYPROF_FLOW_END_OF("request", number);
                HYPROF_FLOW_BEGIN_OF("reply", number);
                send_number(to, number);
        }
}

struct child {
        pid_t pid;
        int to, from;
};

static void start(struct child *c)
{
        int requests[2], replies[2];

        if (pipe(requests) != 0 || pipe(replies) != 0)
                abort();
        c->pid = fork();
        if (c->pid < 0)
                abort();
        if (c->pid == 0) {
                (void)close(requests[1]);
                serve(requests[0], replies[1]);
                exit(0);
        }
        (void)close(requests[0]);
        (void)close(replies[1]);
        c->to = requests[1];
        c->from = replies[0];
}

static void ask(const struct child *c, uint64_t number)
{
        {
                HYPROF_ZONE("ask");
                HYPROF_FLOW_BEGIN_OF("request", number);
                send_number(c->to, number);
        }
        if (receive_number(c->from) != number)
                abort();
        HYPROF_ZONE("collect");
        HYPROF_FLOW_END_OF("reply", number);
}

/* A child has the ends of pipes to the children before it, so they end when their parent says so: by 0. */
static void run_children(int n)
{
        struct child children[N_CHILDREN];

        for (int i = 0; i < n; i++)
                start(&children[i]);
        for (int i = 0; i < n; i++)
                for (uint64_t k = 1; k <= N_REQUESTS; k++)
                        ask(&children[i], (uint64_t)i << 32 | k);
        for (int i = 0; i < n; i++) {
                send_number(children[i].to, 0);
                (void)waitpid(children[i].pid, NULL, 0);
        }
}

static void say_nonsense(void)
{
        for (uint64_t i = 1; i <= 3; i++)
                HYPROF_FLOW_BEGIN(i);
        HYPROF_FLOW_BEGIN(1);
        HYPROF_ZONE("nonsense");
        HYPROF_FLOW_END(1001);
        HYPROF_FLOW_END(1002);
        HYPROF_FLOW_STEP(1003);
}

static void run_many(uint64_t n)
{
        HYPROF_ZONE("many");
        for (uint64_t i = 1; i <= n; i++)
                HYPROF_FLOW_BEGIN(i);
        for (uint64_t i = n - 999; i <= n; i++)
                HYPROF_FLOW_END(i);
}

int main(int argc, char **argv)
{
        int n_children = argc > 1 && strcmp(argv[1], "many") != 0 ? atoi(argv[1]) : 2;

        hyprof_thread_name("main");
        if (argc > 2) {
                run_many(strtoull(argv[2], NULL, 10));
                return 0;
        }
        run_children(n_children < N_CHILDREN ? n_children : N_CHILDREN);
        run_jobs();
        say_nonsense();
        return 0;
}
