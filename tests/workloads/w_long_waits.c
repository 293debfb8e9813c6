/* SPDX-License-Identifier: MIT */
/*
 * w_long_waits [QUESTIONS=8000]
 *
 * Truth: the first thread asks another one QUESTIONS times through a pipe and waits for the answer.  Each
 * 40th answer takes 2.5 ms, all others come at once.  The questions are asked from stacks of different
 * depth and contents, so that hardly two waits in a row are at the same place: a recorder that copies
 * stacks by rate alone has spent what it may when a long wait comes.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define EACH    40
#define LONG_NS 2500000

struct pipes {
        int questions[2], answers[2];
};

static void *answer(void *context)
{
        const struct timespec pause = { .tv_nsec = LONG_NS };
        const struct pipes *p = context;
        char kind;

        while (read(p->questions[0], &kind, 1) == 1) {
                if (kind == 's')
                        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
                if (write(p->answers[1], &kind, 1) != 1)
                        abort();
        }
        return NULL;
}

/* @salt makes the words of the stack others each time. */
__attribute__((noinline)) static void ask(const struct pipes *p, char kind, unsigned depth, unsigned salt)
{
        unsigned words[8];

        for (unsigned i = 0; i < 8; i++)
                words[i] = salt * (i + 3);
        __asm__ volatile("" : : "r"(words) : "memory");
        if (depth > 0)
                ask(p, kind, depth - 1, salt + 1);
        else if (write(p->questions[1], &kind, 1) != 1 || read(p->answers[0], &kind, 1) != 1)
                abort();
        __asm__ volatile("" : : "r"(words) : "memory");
}

__attribute__((noinline)) static void ask_slow(const struct pipes *p, unsigned i)
{
        ask(p, 's', i % 5, i);
        __asm__ volatile("");
}

__attribute__((noinline)) static void ask_quick(const struct pipes *p, unsigned i)
{
        ask(p, 'q', i % 7, i);
        __asm__ volatile("");
}

int main(int argc, char **argv)
{
        unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 8000;
        struct pipes p;
        pthread_t thread;

        if (pipe(p.questions) < 0 || pipe(p.answers) < 0 || pthread_create(&thread, NULL, answer, &p) != 0)
                return 1;
        for (unsigned i = 0; i < n; i++) {
                if (i % EACH == EACH - 1)
                        ask_slow(&p, i);
                else
                        ask_quick(&p, i);
        }
        (void)close(p.questions[1]);
        (void)pthread_join(thread, NULL);
        printf("long %u\n", 2 * (n / EACH));
        return 0;
}
