/* SPDX-License-Identifier: MIT */
/*
 * w_turns [THREADS=2000 [TURN_US=1500 [ROUNDS=3]]]
 *
 * Truth: of THREADS threads, named turn-0, turn-1, ..., one at a time runs, for TURN_US of processor time in
 * take_turn(), and hands on to the next, round and round: until standard input ends, and then ROUNDS rounds
 * more.  "ready" is printed when all are there.
 */
#include "tests/workloads/burn.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

#define STACK_BYTES (UINT32_C(1) << 16)

struct worker {
        pthread_t thread;
        sem_t turn;
        struct worker *next;
        uint64_t n_rounds;
        atomic_int *n_left; /* rounds; of the first thread, which counts them; else NULL */
};

BURN_FUNCTION(take_turn);

static void *work(void *argument)
{
        struct worker *w = argument;

        while (1) {
                while (sem_wait(&w->turn) != 0)
                        ;
                if (w->n_left && atomic_load(w->n_left) >= 0 && atomic_fetch_sub(w->n_left, 1) == 0)
                        return NULL;
                take_turn(w->n_rounds);
                (void)sem_post(&w->next->turn);
        }
}

static int begin(struct worker *w, struct worker *next, int number, uint64_t n_rounds)
{
        char name[24]; /* of at most 15 letters, as there are some thousand workers */
        pthread_attr_t attr;

        w->next = next;
        w->n_rounds = n_rounds;
        (void)snprintf(name, sizeof(name), "turn-%d", number);
        if (sem_init(&w->turn, 0, 0) != 0 || pthread_attr_init(&attr) != 0 ||
            pthread_attr_setstacksize(&attr, STACK_BYTES) != 0 ||
            pthread_create(&w->thread, &attr, work, w) != 0)
                return -1;
        (void)pthread_attr_destroy(&attr);
        return pthread_setname_np(w->thread, name);
}

int main(int argc, char **argv)
{
        int n = (int)burn_argument(argc, argv, 1, 2000);
        uint64_t n_rounds = burn_rounds_of((int64_t)(burn_argument(argc, argv, 2, 1500) * 1000));
        int n_last_rounds = (int)burn_argument(argc, argv, 3, 3);
        atomic_int n_left = -1; /* without end */
        struct worker *workers = n > 0 ? calloc((size_t)n, sizeof(*workers)) : NULL;

        if (!workers)
                return EXIT_FAILURE;
        workers[0].n_left = &n_left;
        for (int i = 0; i < n; i++)
                if (begin(&workers[i], &workers[(i + 1) % n], i, n_rounds) != 0)
                        return EXIT_FAILURE;
        (void)printf("ready\n");
        (void)fflush(stdout);
        (void)sem_post(&workers[0].turn);
        while (getchar() != EOF)
                ;
        atomic_store(&n_left, n_last_rounds);
        (void)pthread_join(workers[0].thread, NULL);
        _Exit(EXIT_SUCCESS); /* the others wait for their turn */
}
