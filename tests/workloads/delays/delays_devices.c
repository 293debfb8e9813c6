/* SPDX-License-Identifier: MIT */
/*
 * Kinds with a device: a queue that runs one piece of work after the other, each for as long as was asked
 * for.  Nothing runs in truth.  'irq' sleeps until the device would be done, as an interrupt would come then,
 * and writes to the descriptor of the thread that had asked; if no descriptor was given, no one does.
 */
#include "tests/workloads/delays/plant.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

BURN_FUNCTION(prepare);
BURN_FUNCTION(feed);
BURN_FUNCTION(hold);
BURN_FUNCTION(work);
BURN_FUNCTION(answer);

#define LAUNCH_NS  UINT64_C(10000) /* from the call to the beginning of the work, if the queue is empty */
#define N_READINGS 20

static struct hyprof_device gpu = HYPROF_DEVICE("gpu", 1.0, 0);
static struct hyprof_location submission = HYPROF_NAME("submission");
static struct hyprof_location matmul = HYPROF_NAME("matmul");
static struct hyprof_location convolve = HYPROF_NAME("convolve");

static struct {
        pthread_mutex_t mutex;
        uint64_t base_ns, free_ns; /* when tick 0 was; when all that was asked for is done */
        uint64_t n_asked;
        int jobs[2]; /* pipe: struct job, to 'irq' */
        pthread_t irq;
} device = { .mutex = PTHREAD_MUTEX_INITIALIZER };

struct job {
        uint64_t end_ns;
        int done; /* eventfd; -1 = the end */
};

static void sleep_until(uint64_t time_ns)
{
        for (uint64_t now_ns = hyprof_now_ns(); now_ns < time_ns; now_ns = hyprof_now_ns())
                nap_us((int)((time_ns - now_ns + 999) / 1000));
}

static void run_irq(void *unused)
{
        struct job job;

        (void)unused;
        while (read(device.jobs[0], &job, sizeof(job)) == (ssize_t)sizeof(job) && job.done >= 0) {
                sleep_until(job.end_ns);
                if (eventfd_write(job.done, 1) != 0)
                        plant_fail("eventfd_write");
        }
}

static void read_clock(void)
{
        uint64_t before_ns = hyprof_now_ns(), ticks = hyprof_now_ns() - device.base_ns;

        hyprof_device_calibrate_within(&gpu, ticks, before_ns, hyprof_now_ns());
}

static void start_device(void)
{
        device.base_ns = hyprof_now_ns();
        plant_pipe(device.jobs);
        device.irq = plant_thread("irq", run_irq, NULL);
        read_clock();
}

static void end_device(void)
{
        const struct job last = { .done = -1 };

        if (write(device.jobs[1], &last, sizeof(last)) != (ssize_t)sizeof(last))
                plant_fail("write");
        plant_join(device.irq);
        for (int i = 0; i < N_READINGS; i++)
                read_clock();
}

/*
 * Asks for @us of @kernel.  Returns when it will be done.
 * @done: is written to then; -1 = nothing is
 */
static uint64_t submit(struct hyprof_location *kernel, int us, int done)
{
        struct job job = { .done = done };
        uint64_t begin_ns;

        HYPROF_ZONE_BEGIN(zone, "submit");
        pthread_mutex_lock(&device.mutex);
        begin_ns = hyprof_now_ns() + LAUNCH_NS;
        if (begin_ns < device.free_ns)
                begin_ns = device.free_ns;
        job.end_ns = device.free_ns = begin_ns + (uint64_t)us * 1000;
        hyprof_zone_key(zone, &submission, ++device.n_asked);
        hyprof_device_keyed_span(&gpu, kernel, begin_ns - device.base_ns, job.end_ns - device.base_ns, 0,
                                 &submission, device.n_asked);
        if (done >= 0 && write(device.jobs[1], &job, sizeof(job)) != (ssize_t)sizeof(job))
                plant_fail("write");
        pthread_mutex_unlock(&device.mutex);
        HYPROF_ZONE_END(zone);
        return job.end_ns;
}

static int make_event(void)
{
        int fd = eventfd(0, EFD_CLOEXEC);

        if (fd < 0)
                plant_fail("eventfd");
        return fd;
}

static void wait_for(int event)
{
        eventfd_t n;

        if (eventfd_read(event, &n) != 0)
                plant_fail("eventfd_read");
}

/* dev-kernel: main prepares for 1 ms, and waits for a kernel of 4 ms. */
static void run_kernel(int n)
{
        int done = make_event();

        start_device();
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("frame");
                burn_us(prepare, 1000);
                submit(&matmul, 4000, done);
                wait_for(done);
        }
        end_device();
}

/* dev-poll: the same, but main looks each 50 us whether the kernel is done. */
static void run_poll(int n)
{
        start_device();
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("frame");
                burn_us(prepare, 1000);
                for (uint64_t end_ns = submit(&matmul, 4000, -1); hyprof_now_ns() < end_ns;)
                        nap_us(50);
        }
        end_device();
}

/*
 * dev-queue: 'other' keeps the queue full with kernels of 4 ms; main needs 1 ms of the device, and waits for
 * those before.
 */
static struct {
        int fd, ends;
} other;

static void queue_other(void *unused)
{
        int done = make_event();

        (void)unused;
        while (!__atomic_load_n(&other.ends, __ATOMIC_RELAXED)) {
                submit(&convolve, 4000, done);
                wait_for(done);
        }
}

static void run_queue(int n)
{
        int done = make_event();
        pthread_t thread;

        start_device();
        thread = plant_thread("other", queue_other, NULL);
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("frame");
                burn_us(prepare, 500);
                submit(&matmul, 1000, done);
                wait_for(done);
        }
        __atomic_store_n(&other.ends, 1, __ATOMIC_RELAXED);
        plant_join(thread);
        end_device();
}

/* dev-late: 'feeder' takes 3 ms before it asks for a kernel of 1 ms, and tells main, which waits for it. */
static struct {
        int asked, answered;
} feeder;

static void feed_device(void *n_frames)
{
        int done = make_event();

        for (int i = 0; i < *(int *)n_frames; i++) {
                wait_for(feeder.asked);
                burn_us(feed, 3000);
                submit(&matmul, 1000, done);
                wait_for(done);
                eventfd_write(feeder.answered, 1);
        }
}

static void run_late(int n)
{
        pthread_t thread;

        feeder.asked = make_event();
        feeder.answered = make_event();
        start_device();
        thread = plant_thread("feeder", feed_device, &n);
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("frame");
                eventfd_write(feeder.asked, 1);
                wait_for(feeder.answered);
        }
        plant_join(thread);
        end_device();
}

/*
 * dev-lock: a kernel of main runs meanwhile, between 1 and 3 ms long, and main does not wait for it: it waits
 * for the lock, which 'holder' keeps for 4 ms.
 */
static struct {
        pthread_mutex_t mutex;
        int asked, held, ends;
} lock = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static void hold_lock(void *unused)
{
        (void)unused;
        for (;;) {
                wait_for(lock.asked);
                if (__atomic_load_n(&lock.ends, __ATOMIC_RELAXED))
                        return;
                pthread_mutex_lock(&lock.mutex);
                eventfd_write(lock.held, 1);
                burn_us(hold, 4000);
                pthread_mutex_unlock(&lock.mutex);
        }
}

static void run_lock(int n)
{
        pthread_t thread;

        lock.asked = make_event();
        lock.held = make_event();
        start_device();
        thread = plant_thread("holder", hold_lock, NULL);
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("request");
                eventfd_write(lock.asked, 1);
                wait_for(lock.held);
                submit(&matmul, 1000 + i * 377 % 2000, -1);
                pthread_mutex_lock(&lock.mutex);
                pthread_mutex_unlock(&lock.mutex);
                burn_us(answer, 500);
        }
        __atomic_store_n(&lock.ends, 1, __ATOMIC_RELAXED);
        eventfd_write(lock.asked, 1);
        plant_join(thread);
        end_device();
}

/* dev-sleep: the same, but main sleeps, for 5 ms, by its own timer: it is done with the device by chance. */
static void run_sleep(int n)
{
        start_device();
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("request");
                submit(&matmul, 4000 + i * 377 % 1000, -1);
                nap_us(5000);
                burn_us(answer, 500);
        }
        end_device();
}

/* dev-own, a null: the device works meanwhile, and main waits for no thread. */
static void run_own(int n)
{
        start_device();
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("step");
                submit(&matmul, 1000 + i * 377 % 2000, -1);
                burn_us(work, 3000);
        }
        end_device();
}

const struct delay_kind device_delays[] = {
        { "dev-kernel", 100, run_kernel }, { "dev-poll", 100, run_poll },
        { "dev-queue", 100, run_queue },   { "dev-late", 100, run_late },
        { "dev-lock", 100, run_lock },     { "dev-sleep", 100, run_sleep },
        { "dev-own", 100, run_own },       { NULL, 0, NULL },
};
