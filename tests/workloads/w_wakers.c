/* SPDX-License-Identifier: MIT */
/*
 * w_wakers sleep|loopback|child|join|share|early [ROUNDS=50]
 *
 * Truth: what ends the waits of the first thread, ROUNDS times.
 *
 *   mode      it waits in    ended by
 *   sleep     nap()          a timer, after 2 ms
 *   loopback  ask()          the thread "server", which sends through 127.0.0.1 in answer()
 *   child     reap()         the end of a process "child", which runs burn_child() for 2 ms
 *   join      await_end()    the end of a thread "worker", which runs burn_worker() for 2 ms
 *   share     -              it does not wait: it shares a CPU with the thread "other"; both burn ROUNDS ms
 *                            there, and preempt each other
 *   early     -              timers of 1 ns, most of which are over before it has begun to wait
 */
#include "tests/workloads/burn.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define NS_PER_MS 1000000

BURN_FUNCTION(burn_answer);
BURN_FUNCTION(burn_child);
BURN_FUNCTION(burn_worker);
BURN_FUNCTION(burn_share);

static int n_rounds;
static uint64_t rounds_of_ms;

static void check(int good)
{
        if (!good)
                abort();
}

/* Before all else: the recorder has time to read the code of the call stacks. */
static __attribute__((noinline)) void settle(void)
{
        (void)usleep(100000);
}

static void start(pthread_t *thread, void *(*run)(void *), void *context)
{
        check(pthread_create(thread, NULL, run, context) == 0);
}

/* ---- sleep and early ----------------------------------------------------------------------------------- */

static __attribute__((noinline)) void nap(long ns)
{
        const struct timespec pause = { .tv_nsec = ns };

        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

static void run_sleep(void)
{
        for (int i = 0; i < n_rounds; i++)
                nap(2 * NS_PER_MS);
}

static void run_early(void)
{
        check(prctl(PR_SET_TIMERSLACK, 1) == 0);
        for (int i = 0; i < n_rounds; i++)
                nap(1);
}

/* ---- loopback ------------------------------------------------------------------------------------------ */

static void make_pair(int fds[2])
{
        struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) } };
        socklen_t n_bytes = sizeof(at);
        int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

        check(listener >= 0 && bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0);
        check(listen(listener, 1) == 0 && getsockname(listener, (struct sockaddr *)&at, &n_bytes) == 0);
        fds[0] = socket(AF_INET, SOCK_STREAM, 0);
        check(fds[0] >= 0 && connect(fds[0], (struct sockaddr *)&at, sizeof(at)) == 0);
        fds[1] = accept(listener, NULL, NULL);
        check(fds[1] >= 0 && close(listener) == 0);
        for (int i = 0; i < 2; i++)
                check(setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0);
}

static __attribute__((noinline)) void ask(int fd)
{
        char byte = 'q';

        check(write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 1);
}

static __attribute__((noinline)) void *answer(void *context)
{
        int fd = *(int *)context;
        char byte;

        check(pthread_setname_np(pthread_self(), "server") == 0);
        for (int i = 0; i < n_rounds; i++) {
                check(read(fd, &byte, 1) == 1);
                burn_answer(rounds_of_ms);
                check(write(fd, &byte, 1) == 1);
        }
        return NULL;
}

static void run_loopback(void)
{
        pthread_t server;
        int fds[2];

        make_pair(fds);
        start(&server, answer, &fds[1]);
        for (int i = 0; i < n_rounds; i++)
                ask(fds[0]);
        check(pthread_join(server, NULL) == 0);
}

/* ---- child and join ------------------------------------------------------------------------------------ */

static __attribute__((noinline)) void reap(pid_t child)
{
        check(waitpid(child, NULL, 0) == child);
}

static void run_child(void)
{
        for (int i = 0; i < n_rounds; i++) {
                pid_t child = fork();

                check(child >= 0);
                if (child == 0) {
                        (void)prctl(PR_SET_NAME, "child");
                        burn_child(2 * rounds_of_ms);
                        _exit(0);
                }
                reap(child);
        }
}

static void *work(void *context)
{
        (void)context;
        check(pthread_setname_np(pthread_self(), "worker") == 0);
        burn_worker(2 * rounds_of_ms);
        return NULL;
}

static __attribute__((noinline)) void await_end(pthread_t thread)
{
        check(pthread_join(thread, NULL) == 0);
}

static void run_join(void)
{
        for (int i = 0; i < n_rounds; i++) {
                pthread_t worker;

                start(&worker, work, NULL);
                await_end(worker);
        }
}

/* ---- share --------------------------------------------------------------------------------------------- */

static void *burn_other(void *context)
{
        (void)context;
        check(pthread_setname_np(pthread_self(), "other") == 0);
        burn_share((uint64_t)n_rounds * rounds_of_ms);
        return NULL;
}

static void run_share(void)
{
        cpu_set_t allowed, one;
        pthread_t other;
        size_t cpu = 0;

        check(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
        while (!CPU_ISSET(cpu, &allowed))
                cpu++;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        check(sched_setaffinity(0, sizeof(one), &one) == 0); /* the thread inherits it */
        start(&other, burn_other, NULL);
        burn_share((uint64_t)n_rounds * rounds_of_ms);
        check(pthread_join(other, NULL) == 0);
}

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                void (*run)(void);
        } modes[] = { { "sleep", run_sleep }, { "loopback", run_loopback }, { "child", run_child },
                      { "join", run_join },   { "share", run_share },       { "early", run_early } };

        n_rounds = (int)burn_argument(argc, argv, 2, 50);
        rounds_of_ms = burn_rounds_of(NS_PER_MS);
        for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
                if (strcmp(argv[1], modes[i].name) == 0) {
                        settle();
                        modes[i].run();
                        return 0;
                }
        (void)fprintf(stderr, "usage: w_wakers sleep|loopback|child|join|share|early [ROUNDS]\n");
        return 2;
}
