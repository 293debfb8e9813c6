/* SPDX-License-Identifier: MIT */
/*
 * w_pingpong [SWITCHES [tcp]]
 *
 * Two threads on one CPU hand a byte back and forth through pipes, or by TCP through the loopback device:
 * SWITCHES context switches (300,000) and nothing else.  Prints how many microseconds of processor time that
 * took: on a machine that does nothing else the time that passed.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct side {
        int from, to;
        long n_turns;
        bool begins;
};

static bool hand_on(const struct side *s)
{
        char byte = 0;

        return write(s->to, &byte, 1) == 1;
}

static bool wait_for_it(const struct side *s)
{
        char byte;

        return read(s->from, &byte, 1) == 1;
}

static void *play(void *context)
{
        const struct side *s = context;

        for (long i = 0; i < s->n_turns; i++)
                if (s->begins ? !hand_on(s) || !wait_for_it(s) : !wait_for_it(s) || !hand_on(s))
                        return NULL;
        return context;
}

/* Two descriptors with a connection between them. */
static bool connect_by_tcp(int ends[2])
{
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t address_bytes = sizeof(address);
        int listener = socket(AF_INET, SOCK_STREAM, 0), at_once = 1;

        ends[0] = socket(AF_INET, SOCK_STREAM, 0);
        if (listener < 0 || ends[0] < 0 || bind(listener, (struct sockaddr *)&address, address_bytes) < 0 ||
            listen(listener, 1) < 0 ||
            getsockname(listener, (struct sockaddr *)&address, &address_bytes) < 0 ||
            connect(ends[0], (struct sockaddr *)&address, address_bytes) < 0)
                return false;
        ends[1] = accept(listener, NULL, NULL);
        (void)close(listener);
        for (int i = 0; i < 2; i++)
                if (ends[i] < 0 ||
                    setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once)) < 0)
                        return false;
        return true;
}

int main(int argc, char **argv)
{
        bool is_tcp = argc > 2 && strcmp(argv[2], "tcp") == 0;
        long n_switches = argc > 1 ? strtol(argv[1], NULL, 10) : 300000;
        int there[2], back[2]; /* each: from, to */
        struct timespec begin, end;
        pthread_t thread;
        cpu_set_t one;
        void *result;

        CPU_ZERO(&one);
        CPU_SET(0, &one);
        if (sched_setaffinity(0, sizeof(one), &one) < 0)
                return 1;
        if (is_tcp ? !connect_by_tcp(there) || !connect_by_tcp(back) : pipe(there) < 0 || pipe(back) < 0)
                return 1;
        struct side first = { .from = back[0], .to = there[1], .n_turns = n_switches / 2, .begins = true };
        struct side second = { .from = there[0], .to = back[1], .n_turns = n_switches / 2 };
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
        if (pthread_create(&thread, NULL, play, &second) != 0 || !play(&first) ||
            pthread_join(thread, &result) != 0 || !result)
                return 1;
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        (void)printf("%ld\n", (end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000);
        return 0;
}
