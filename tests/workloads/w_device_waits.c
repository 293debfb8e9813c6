/* SPDX-License-Identifier: MIT */
/*
 * w_device_waits REASON
 *
 * Truth: the thread "main" runs the zone "frame" 300 times.  It works 0.5 ms in prepare(), hands a kernel of
 * 1 ms to a device in the zone "submit", which says its key, and waits for the thread "irq", which sleeps
 * until the device is done.  Each 20th frame takes 40 ms more, as REASON says:
 *
 *      kernel  the kernel "matmul" takes longer
 *      queue   before, the thread "copier" hands "copy" to the device, which comes first on the lane
 *      poll    as kernel, 20 ms, but "main" itself sleeps again and again, 150 us each, until it is done
 *      own     "main" works longer, in compute(); kernels are alike
 *
 * The device's clock is the host's.
 */
#include "hyprof/hyprof.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define N_FRAMES   300
#define SLOW_EVERY 20
#define US         UINT64_C(1000)
#define EXTRA_NS   (40000 * US)

static struct hyprof_device gpu = HYPROF_DEVICE("gpu", 1.0, 0);
static struct hyprof_location submission = HYPROF_NAME("submission");
static struct hyprof_location matmul = HYPROF_NAME("matmul");
static struct hyprof_location copy = HYPROF_NAME("copy");

/* The thread that uses it may be another one at each time, but there is one at each time. */
static struct {
        uint64_t free_ns, n_keys; /* when the lane is free */
        uint64_t end_ns;          /* when irq has to say that the device is done */
        bool is_over;
        int asked, done;           /* eventfds: of irq */
        int copy_asked, copy_done; /* and of copier */
} device;

__attribute__((always_inline)) static inline void burn(uint64_t for_ns)
{
        uint64_t end_ns = hyprof_now_ns() + for_ns;

        while (hyprof_now_ns() < end_ns)
                for (volatile int i = 0; i < 100; i++)
                        ;
}

__attribute__((noinline)) static void prepare(void)
{
        burn(500 * US);
}

static uint64_t ran_ns(void)
{
        struct timespec ran;

        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
        return (uint64_t)ran.tv_sec * 1000 * 1000 * US + (uint64_t)ran.tv_nsec;
}

/* Processor time: where other programs have the CPUs, these frames are still the slow ones. */
__attribute__((noinline)) static void compute(void)
{
        uint64_t end_ns = ran_ns() + EXTRA_NS;

        while (ran_ns() < end_ns)
                for (volatile int i = 0; i < 100000; i++)
                        ;
}

static void sleep_until(uint64_t end_ns)
{
        for (uint64_t now_ns = hyprof_now_ns(); now_ns < end_ns; now_ns = hyprof_now_ns())
                (void)usleep((useconds_t)((end_ns - now_ns) / US + 1));
}

static void wait_at(int fd)
{
        eventfd_t value;

        (void)eventfd_read(fd, &value);
}

static void submit(struct hyprof_location *work, uint64_t for_ns)
{
        uint64_t begin_ns;
        HYPROF_ZONE_BEGIN(zone, "submit");

        hyprof_zone_key(zone, &submission, ++device.n_keys);
        begin_ns = hyprof_now_ns() + 10 * US;
        if (begin_ns < device.free_ns)
                begin_ns = device.free_ns;
        device.free_ns = begin_ns + for_ns;
        hyprof_device_keyed_span(&gpu, work, begin_ns, device.free_ns, 0, &submission, device.n_keys);
        HYPROF_ZONE_END(zone);
}

static void *look_after(void *unused)
{
        hyprof_thread_name("irq");
        for (;;) {
                wait_at(device.asked);
                if (device.is_over)
                        return unused;
                sleep_until(device.end_ns);
                (void)eventfd_write(device.done, 1);
        }
}

static void *copy_data(void *unused)
{
        hyprof_thread_name("copier");
        for (;;) {
                wait_at(device.copy_asked);
                if (device.is_over)
                        return unused;
                submit(&copy, EXTRA_NS);
                (void)eventfd_write(device.copy_done, 1);
        }
}

__attribute__((noinline)) static void wait_for_it(bool looks)
{
        if (looks) {
                while (hyprof_now_ns() < device.free_ns)
                        (void)usleep(150);
                return;
        }
        device.end_ns = device.free_ns;
        (void)eventfd_write(device.asked, 1);
        wait_at(device.done);
}

/* The best of some readings counts: the thread may lose its CPU in one. */
static void read_clock(void)
{
        for (int i = 0; i < 20; i++) {
                uint64_t before_ns = hyprof_now_ns(), ticks = hyprof_now_ns();

                hyprof_device_calibrate_within(&gpu, ticks, before_ns, hyprof_now_ns());
        }
}

static void run_frame(const char *reason, bool is_slow)
{
        bool looks = strcmp(reason, "poll") == 0;
        HYPROF_ZONE_BEGIN(zone, "frame");

        prepare();
        if (is_slow && strcmp(reason, "own") == 0)
                compute();
        if (is_slow && strcmp(reason, "queue") == 0) {
                (void)eventfd_write(device.copy_asked, 1);
                wait_at(device.copy_done);
        }
        if (is_slow && looks)
                submit(&matmul, 1000 * US + EXTRA_NS / 2);
        else
                submit(&matmul, 1000 * US + (is_slow && strcmp(reason, "kernel") == 0 ? EXTRA_NS : 0));
        wait_for_it(looks);
        HYPROF_ZONE_END(zone);
}

int main(int argc, char **argv)
{
        pthread_t threads[2];

        if (argc != 2)
                return EXIT_FAILURE;
        device.asked = eventfd(0, 0);
        device.done = eventfd(0, 0);
        device.copy_asked = eventfd(0, 0);
        device.copy_done = eventfd(0, 0);
        read_clock();
        if (pthread_create(&threads[0], NULL, look_after, NULL) != 0 ||
            pthread_create(&threads[1], NULL, copy_data, NULL) != 0)
                return EXIT_FAILURE;
        for (int i = 0; i < N_FRAMES; i++)
                run_frame(argv[1], i % SLOW_EVERY == 7);
        read_clock();
        device.is_over = true;
        (void)eventfd_write(device.asked, 1);
        (void)eventfd_write(device.copy_asked, 1);
        for (int i = 0; i < 2; i++)
                (void)pthread_join(threads[i], NULL);
        return EXIT_SUCCESS;
}
