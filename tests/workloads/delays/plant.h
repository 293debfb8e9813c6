/* SPDX-License-Identifier: MIT */
/*
 * tests/workloads/delays/plant.h - what programs with a known delay have in common
 *
 * A kind is one program of `w_delays NAME`: threads or processes that burn processor time in functions of
 * known names and wait for each other in a known way.  truth.tsv says which thread and function delay its
 * zones, and by how much.
 *
 * burn_us() takes processor time of the calling thread, not rounds: what a thread runs is the same on a
 * machine that shares its cores, so that only waiting depends on the load.
 */
#ifndef TESTS_WORKLOADS_DELAYS_PLANT_H
#define TESTS_WORKLOADS_DELAYS_PLANT_H

#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

struct delay_kind {
        const char *name;
        int n_instances; /* of its zone, unless the command line says another number */
        void (*run)(int n_instances);
};

/* The families; each list ends with a kind without a name. */
extern const struct delay_kind lock_delays[];
extern const struct delay_kind queue_delays[];
extern const struct delay_kind pool_delays[];
extern const struct delay_kind process_delays[];
extern const struct delay_kind timer_delays[];
extern const struct delay_kind machine_delays[];
extern const struct delay_kind device_delays[];
extern const struct delay_kind no_delays[]; /* nulls: each delays itself */

/*
 * Finds out how fast this machine is: once, before any burn_us().
 * @rounds_per_us:  as another process found it, or 0
 */
void plant_calibrate(double rounds_per_us);
double plant_rounds_per_us(void);

/*
 * burn_us(function, us) - runs a function of BURN_FUNCTION() for so much processor time of this thread
 * plant_change() makes a function by its name take other times: "load=0.5", half of what it has to.  Returns
 * 0, or -1 if these are other words.
 */
#define burn_us(function, us) plant_burn(#function, (function), (us))
void plant_burn(const char *name, void (*burn)(uint64_t n_rounds), double us);
int plant_change(const char *name_and_factor);
void nap_us(int us);

/* The kind cannot be had here: says why and ends the program with 77.  fail: with 1, and errno's words. */
__attribute__((noreturn)) void plant_skip(const char *why);
__attribute__((noreturn)) void plant_fail(const char *what);

/* A thread or process with this name runs @run(@argument).  Processes end with _exit(0) after it. */
pthread_t plant_thread(const char *name, void (*run)(void *argument), void *argument);
void plant_join(pthread_t thread);
pid_t plant_process(const char *name, void (*run)(void *argument), void *argument);
/* Waits for all children. */
void plant_reap(void);

/* The calling thread stays on CPU 0 or 1 of those that the program may use; skips the kind if it has one. */
void plant_pin(int which);

/* Descriptors by which a byte is sent; receive_byte() returns 0 at the end of the stream. */
void plant_pipe(int fds[2]);
void send_byte(int fd);
int receive_byte(int fd);

/* A bounded queue.  Initialise with BOX(how many it holds). */
#define BOX_ITEMS_MAX 16
struct box {
        pthread_mutex_t mutex;
        pthread_cond_t filled, emptied;
        int n_max, n, head;
        int items[BOX_ITEMS_MAX];
};
/* clang-format off */
#define BOX(max) { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, (max), 0, 0, { 0 } }
/* clang-format on */
void box_put(struct box *box, int item);
int box_take(struct box *box);

#endif /* TESTS_WORKLOADS_DELAYS_PLANT_H */
