/* SPDX-License-Identifier: MIT */
/*
 * Kinds in which a thread waits for another one of its process to hand something over: queues, conditions,
 * semaphores, descriptors, signals.
 */
#include "tests/workloads/delays/plant.h"

#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <unistd.h>

BURN_FUNCTION(produce);
BURN_FUNCTION(consume);
BURN_FUNCTION(parse);
BURN_FUNCTION(transform);
BURN_FUNCTION(store);
BURN_FUNCTION(make_item);
BURN_FUNCTION(use_item);
BURN_FUNCTION(prepare);
BURN_FUNCTION(handle);
BURN_FUNCTION(background);
BURN_FUNCTION(note);
BURN_FUNCTION(compute);
BURN_FUNCTION(slow_callback);
BURN_FUNCTION(fast_callback);

static struct box requests = BOX(4), replies = BOX(4), others = BOX(4);

/* starve: 'producer' takes 3 ms for an item, main 0.5 ms to use it. */
static void starve_producer(void *n_items)
{
        for (int i = 0; i < *(int *)n_items; i++) {
                burn_us(produce, 3000);
                box_put(&replies, 1);
        }
}

static void run_starve(int n)
{
        pthread_t producer = plant_thread("producer", starve_producer, &n);

        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("item");
                box_take(&replies);
                burn_us(consume, 500);
        }
        plant_join(producer);
}

/*
 * stages: a pipeline of three threads with queues of two: main parses 1 ms, 'stage2' transforms 3 ms,
 * 'stage3' stores 0.1 ms.  A full queue stops main: it waits for the second stage.
 */
static struct box to_transform = BOX(2), to_store = BOX(2);

static void stages_transform(void *unused)
{
        (void)unused;
        while (box_take(&to_transform)) {
                burn_us(transform, 3000);
                box_put(&to_store, 1);
        }
        box_put(&to_store, 0);
}

static void stages_store(void *unused)
{
        (void)unused;
        while (box_take(&to_store))
                burn_us(store, 100);
}

static void run_stages(int n)
{
        pthread_t stage2 = plant_thread("stage2", stages_transform, NULL);
        pthread_t stage3 = plant_thread("stage3", stages_store, NULL);

        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("batch");
                burn_us(parse, 1000);
                box_put(&to_transform, 1);
        }
        box_put(&to_transform, 0);
        plant_join(stage2);
        plant_join(stage3);
}

/*
 * herd: main and four others wait for an item that 'maker' takes 3 ms to make.  Each item wakes all of them,
 * and one gets it; the others have woken in vain.
 */
#define N_HERD 5
static struct {
        pthread_mutex_t mutex;
        pthread_cond_t made;
        int n_items, ends;
} herd = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };

static void herd_maker(void *n_items)
{
        for (int i = 0; i < *(int *)n_items; i++) {
                burn_us(make_item, 3000);
                pthread_mutex_lock(&herd.mutex);
                herd.n_items++;
                herd.ends = i + 1 == *(int *)n_items;
                pthread_mutex_unlock(&herd.mutex);
                pthread_cond_broadcast(&herd.made);
        }
}

static int take_one(void)
{
        int is_taken;

        HYPROF_ZONE("item");
        pthread_mutex_lock(&herd.mutex);
        while (herd.n_items == 0 && !herd.ends)
                pthread_cond_wait(&herd.made, &herd.mutex);
        is_taken = herd.n_items > 0;
        herd.n_items -= is_taken;
        pthread_mutex_unlock(&herd.mutex);
        if (is_taken)
                burn_us(use_item, 50);
        return is_taken;
}

static void herd_consumer(void *unused)
{
        (void)unused;
        while (take_one())
                continue;
}

static void run_herd(int n)
{
        pthread_t maker = plant_thread("maker", herd_maker, &n);
        pthread_t consumers[N_HERD - 1];

        for (int i = 0; i < N_HERD - 1; i++)
                consumers[i] = plant_thread("consumer", herd_consumer, NULL);
        herd_consumer(NULL);
        for (int i = 0; i < N_HERD - 1; i++)
                plant_join(consumers[i]);
        plant_join(maker);
}

/*
 * asks: main asks 'server', which sleeps until then, and waits 3 ms; then it wakes 'logger', and asks
 * 'meter', which never sleeps and looks for a question every 2 ms, on average 1 ms after it was asked.  Both
 * answers come through one queue: main waits at the same place, but not for the same thread.
 */
static atomic_int meter_asked, meter_ends;

static void asks_server(void *unused)
{
        (void)unused;
        while (box_take(&requests)) {
                burn_us(handle, 3000);
                box_put(&replies, 1);
        }
}

static void asks_logger(void *unused)
{
        (void)unused;
        while (box_take(&others))
                burn_us(note, 20);
}

static void asks_meter(void *unused)
{
        (void)unused;
        while (!atomic_load(&meter_ends)) {
                burn_us(background, 2000);
                if (atomic_exchange(&meter_asked, 0))
                        box_put(&replies, 1);
        }
}

static void run_asks(int n)
{
        pthread_t server = plant_thread("server", asks_server, NULL);
        pthread_t logger = plant_thread("logger", asks_logger, NULL);
        pthread_t meter = plant_thread("meter", asks_meter, NULL);

        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("request");
                box_put(&requests, 1);
                box_take(&replies);
                box_put(&others, 1);
                atomic_store(&meter_asked, 1);
                box_take(&replies);
        }
        box_put(&requests, 0);
        box_put(&others, 0);
        atomic_store(&meter_ends, 1);
        plant_join(server);
        plant_join(logger);
        plant_join(meter);
}

/*
 * condtimed: main waits at most 1 ms at a time for what 'worker' computes in 5 ms: four waits end by the
 * timer and one by the worker, which is the cause of all.
 * lost: the worker has computed after 7 ms but tells main nothing: each wait of 10 ms is ended by main's own
 * timer.
 */
static struct {
        pthread_mutex_t mutex;
        pthread_cond_t changed;
        int is_done;
        int compute_us, is_silent;
} result = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0 };

static void result_worker(void *unused)
{
        (void)unused;
        while (box_take(&requests)) {
                burn_us(compute, result.compute_us);
                pthread_mutex_lock(&result.mutex);
                result.is_done = 1;
                if (!result.is_silent)
                        pthread_cond_signal(&result.changed);
                pthread_mutex_unlock(&result.mutex);
        }
}

static __attribute__((noinline)) void await_result(long timeout_ns)
{
        struct timespec until;

        pthread_mutex_lock(&result.mutex);
        while (!result.is_done) {
                clock_gettime(CLOCK_MONOTONIC, &until);
                until.tv_nsec += timeout_ns;
                until.tv_sec += until.tv_nsec / 1000000000;
                until.tv_nsec %= 1000000000;
                pthread_cond_clockwait(&result.changed, &result.mutex, CLOCK_MONOTONIC, &until);
        }
        result.is_done = 0;
        pthread_mutex_unlock(&result.mutex);
}

static void await_results(int n, long timeout_ns)
{
        pthread_t worker = plant_thread("worker", result_worker, NULL);

        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("await");
                box_put(&requests, 1);
                await_result(timeout_ns);
        }
        box_put(&requests, 0);
        plant_join(worker);
}

static void run_condtimed(int n)
{
        result.compute_us = 5000;
        await_results(n, 1000000);
}

static void run_lost(int n)
{
        result.compute_us = 7000;
        result.is_silent = 1;
        await_results(n, 10000000);
}

/* semaphore, eventfd, msgqueue, signal: main prepares 1 ms, asks 'server' and waits 3 ms. */
static sem_t asked, answered;

static void semaphore_server(void *n_requests)
{
        for (int i = 0; i < *(int *)n_requests; i++) {
                sem_wait(&asked);
                burn_us(handle, 3000);
                sem_post(&answered);
        }
}

static void run_semaphore(int n)
{
        pthread_t server;

        sem_init(&asked, 0, 0);
        sem_init(&answered, 0, 0);
        server = plant_thread("server", semaphore_server, &n);
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("call");
                burn_us(prepare, 1000);
                sem_post(&asked);
                sem_wait(&answered);
        }
        plant_join(server);
}

static struct {
        int ask, answer;
} events;

static void post_event(int fd)
{
        if (eventfd_write(fd, 1) != 0)
                plant_fail("eventfd_write");
}

static void take_event(int fd)
{
        eventfd_t n;

        if (eventfd_read(fd, &n) != 0)
                plant_fail("eventfd_read");
}

static void eventfd_server(void *n_requests)
{
        for (int i = 0; i < *(int *)n_requests; i++) {
                take_event(events.ask);
                burn_us(handle, 3000);
                post_event(events.answer);
        }
}

static void run_eventfd(int n)
{
        pthread_t server;

        events.ask = eventfd(0, EFD_CLOEXEC);
        events.answer = eventfd(0, EFD_CLOEXEC);
        if (events.ask < 0 || events.answer < 0)
                plant_fail("eventfd");
        server = plant_thread("server", eventfd_server, &n);
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("call");
                burn_us(prepare, 1000);
                post_event(events.ask);
                take_event(events.answer);
        }
        plant_join(server);
}

static int message_queue;

static void send_message(long type)
{
        struct msgbuf message = { type, "" };

        if (msgsnd(message_queue, &message, 1, 0) != 0)
                plant_fail("msgsnd");
}

static void take_message(long type)
{
        struct msgbuf message;

        if (msgrcv(message_queue, &message, 1, type, 0) < 0)
                plant_fail("msgrcv");
}

static void msgqueue_server(void *n_requests)
{
        for (int i = 0; i < *(int *)n_requests; i++) {
                take_message(1);
                burn_us(handle, 3000);
                send_message(2);
        }
}

static void run_msgqueue(int n)
{
        pthread_t server;

        message_queue = msgget(IPC_PRIVATE, 0600);
        if (message_queue < 0)
                plant_skip("there are no message queues");
        server = plant_thread("server", msgqueue_server, &n);
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("call");
                burn_us(prepare, 1000);
                send_message(1);
                take_message(2);
        }
        plant_join(server);
        msgctl(message_queue, IPC_RMID, NULL);
}

static pthread_t main_thread;

static void signal_server(void *n_requests)
{
        for (int i = 0; i < *(int *)n_requests; i++) {
                sem_wait(&asked);
                burn_us(handle, 3000);
                pthread_kill(main_thread, SIGUSR1);
        }
}

static void run_signal(int n)
{
        sigset_t set;
        pthread_t server;
        int number;

        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        sem_init(&asked, 0, 0);
        main_thread = pthread_self();
        server = plant_thread("server", signal_server, &n);
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("call");
                burn_us(prepare, 1000);
                sem_post(&asked);
                sigwait(&set, &number);
        }
        plant_join(server);
}

/*
 * epoll: 'loop' serves two pipes.  main writes into both, to the slow one first: the callback of 5 ms delays
 * the answer of the fast one, of 1 ms, for which main waits.
 */
static struct {
        int slow[2], fast[2], back[2];
} loop;

static void watch(int epoll, int fd)
{
        struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

        if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
                plant_fail("epoll_ctl");
}

static void epoll_loop(void *unused)
{
        struct epoll_event event;
        int epoll = epoll_create1(EPOLL_CLOEXEC);

        (void)unused;
        if (epoll < 0)
                plant_fail("epoll_create1");
        watch(epoll, loop.slow[0]);
        watch(epoll, loop.fast[0]);
        for (;;) {
                if (epoll_wait(epoll, &event, 1, -1) != 1)
                        plant_fail("epoll_wait");
                if (!receive_byte(event.data.fd))
                        break;
                if (event.data.fd == loop.slow[0]) {
                        burn_us(slow_callback, 5000);
                } else {
                        burn_us(fast_callback, 1000);
                        send_byte(loop.back[1]);
                }
        }
        close(epoll);
}

static void run_epoll(int n)
{
        pthread_t thread;

        plant_pipe(loop.slow);
        plant_pipe(loop.fast);
        plant_pipe(loop.back);
        thread = plant_thread("loop", epoll_loop, NULL);
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("request");
                send_byte(loop.slow[1]);
                send_byte(loop.fast[1]);
                receive_byte(loop.back[0]);
        }
        close(loop.slow[1]);
        plant_join(thread);
}

const struct delay_kind queue_delays[] = {
        { "starve", 350, run_starve },       { "stages", 350, run_stages },
        { "herd", 350, run_herd },           { "asks", 250, run_asks },
        { "condtimed", 220, run_condtimed }, { "lost", 110, run_lost },
        { "semaphore", 280, run_semaphore }, { "eventfd", 280, run_eventfd },
        { "msgqueue", 280, run_msgqueue },   { "signal", 280, run_signal },
        { "epoll", 190, run_epoll },         { NULL, 0, NULL },
};
