/* SPDX-License-Identifier: MIT */
/*
 * Kinds in which no thread ends the wait: timers and the disk.  In some, 'bystander' runs
 * on main's CPU whenever main does not: the timer's interrupt comes while it runs, which must not make it the
 * cause.
 */
#include "tests/workloads/delays/plant.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

BURN_FUNCTION(work);
BURN_FUNCTION(compute);
BURN_FUNCTION(prepare);
BURN_FUNCTION(stand_by);

static atomic_int bystander_ends;

static void run_bystander(void *unused)
{
        const struct sched_param ordinary = { 0 };

        (void)unused;
        sched_setscheduler(0, SCHED_OTHER, &ordinary);
        while (!atomic_load(&bystander_ends))
                burn_us(stand_by, 1000);
}

/* Inherits main's CPU. */
static pthread_t start_bystander(void)
{
        plant_pin(0);
        return plant_thread("bystander", run_bystander, NULL);
}

static void end_bystander(pthread_t bystander)
{
        atomic_store(&bystander_ends, 1);
        plant_join(bystander);
}

/* poll: main looks every 5 ms whether 'w' has computed 7 ms: it sleeps for 10 ms, by its own timer. */
static struct box jobs = BOX(4);
static atomic_int is_done;

static void poll_worker(void *unused)
{
        (void)unused;
        while (box_take(&jobs)) {
                burn_us(compute, 7000);
                atomic_store(&is_done, 1);
        }
}

static __attribute__((noinline)) void poll_until_done(void)
{
        while (!atomic_load(&is_done))
                nap_us(5000);
}

static void run_poll(int n)
{
        pthread_t w = plant_thread("w", poll_worker, NULL);

        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("await");
                atomic_store(&is_done, 0);
                box_put(&jobs, 1);
                poll_until_done();
        }
        box_put(&jobs, 0);
        plant_join(w);
}

/* paced: main works 2 ms, then sleeps until a time that is 4 ms later. */
static __attribute__((noinline)) void sleep_until(int64_t ns)
{
        struct timespec until = { ns / 1000000000, ns % 1000000000 };

        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
                continue;
}

static void run_paced(int n)
{
        pthread_t bystander = start_bystander();

        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("frame");
                burn_us(work, 2000);
                sleep_until(burn_clock_ns(CLOCK_MONOTONIC) + 4000000);
        }
        end_bystander(bystander);
}

/* timedfutex: nothing ever wakes the futex: each wait ends after 4 ms.  main works 1 ms. */
static __attribute__((noinline)) void wait_for_futex(const uint32_t *word)
{
        static const struct timespec timeout = { 0, 4000000 };

        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, &timeout, NULL, 0);
}

static void run_timedfutex(int n)
{
        static const uint32_t word;
        pthread_t bystander = start_bystander();

        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("request");
                burn_us(work, 1000);
                wait_for_futex(&word);
        }
        end_bystander(bystander);
}

/* selfsignal: main's own timer sends it a signal after 4 ms, for which it waits. */
static void run_selfsignal(int n)
{
        static const struct itimerspec once = { .it_value.tv_nsec = 4000000 };
        struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
        pthread_t bystander;
        sigset_t set;
        timer_t timer;
        int number;

        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
                plant_fail("timer_create");
        bystander = start_bystander();
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("request");
                burn_us(work, 1000);
                timer_settime(timer, 0, &once, NULL);
                sigwait(&set, &number);
        }
        end_bystander(bystander);
        timer_delete(timer);
}

/* timerfd: an event loop whose only event is a timer, 4 ms later. */
static void run_timerfd(int n)
{
        static const struct itimerspec once = { .it_value.tv_nsec = 4000000 };
        int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), epoll = epoll_create1(EPOLL_CLOEXEC);
        struct epoll_event event = { .events = EPOLLIN };
        pthread_t bystander = start_bystander();
        uint64_t n_times;

        if (timer < 0 || epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event) != 0)
                plant_fail("timerfd");
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("request");
                burn_us(work, 1000);
                timerfd_settime(timer, 0, &once, NULL);
                if (epoll_wait(epoll, &event, 1, -1) != 1 || read(timer, &n_times, sizeof(n_times)) < 0)
                        plant_fail("epoll_wait");
        }
        end_bystander(bystander);
}

/*
 * fsync: main prepares 0.1 ms, writes 2 MiB past the page cache and waits until they are on the
 * disk.
 * saver: the same, but 'saver' does it, and main waits for that.
 * How long a disk takes is the machine's: the program measures it and prints the truth.
 */
#define COMMIT_BYTES (2 << 20)
static struct {
        int file;
        int64_t all_ns, disk_ns, save_ns; /* of the clock; in save() asleep, and awake */
        struct box saved;
} disk = { -1, 0, 0, 0, BOX(2) };

static void open_file(void)
{
        const char *folder = getenv("TMPDIR");
        char path[4096];

        snprintf(path, sizeof(path), "%s/delays-XXXXXX", folder != NULL ? folder : "/var/tmp");
        disk.file = mkstemp(path);
        if (disk.file < 0)
                plant_fail(path);
        if (fcntl(disk.file, F_SETFL, O_DIRECT) != 0)
                plant_skip("the file system has no O_DIRECT");
        unlink(path);
}

static __attribute__((noinline)) void save(void)
{
        static const char bytes[COMMIT_BYTES] __attribute__((aligned(4096)));
        int64_t begin_ns = burn_clock_ns(CLOCK_MONOTONIC), ran_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID);

        if (pwrite(disk.file, bytes, sizeof(bytes), 0) != sizeof(bytes) || fdatasync(disk.file) != 0)
                plant_fail("fdatasync");
        ran_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) - ran_ns;
        disk.save_ns += ran_ns;
        disk.disk_ns += burn_clock_ns(CLOCK_MONOTONIC) - begin_ns - ran_ns;
}

static void print_truth(void)
{
        int64_t share = 100 * disk.disk_ns / disk.all_ns, save_share = 100 * disk.save_ns / disk.all_ns;

        if (share < 40)
                plant_skip("the disk takes too little time: is it memory?");
        printf("truth: [disk]=%d save=%d\n", (int)share, (int)save_share);
}

static void run_fsync(int n)
{
        int64_t begin_ns;

        open_file();
        begin_ns = burn_clock_ns(CLOCK_MONOTONIC);
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("commit");
                burn_us(prepare, 100);
                save();
        }
        disk.all_ns = burn_clock_ns(CLOCK_MONOTONIC) - begin_ns;
        print_truth();
}

static void run_saver_thread(void *unused)
{
        (void)unused;
        while (box_take(&jobs)) {
                save();
                box_put(&disk.saved, 1);
        }
}

static void run_saver(int n)
{
        pthread_t saver = plant_thread("saver", run_saver_thread, NULL);
        int64_t begin_ns;

        open_file();
        begin_ns = burn_clock_ns(CLOCK_MONOTONIC);
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("commit");
                burn_us(prepare, 100);
                box_put(&jobs, 1);
                box_take(&disk.saved);
        }
        disk.all_ns = burn_clock_ns(CLOCK_MONOTONIC) - begin_ns;
        box_put(&jobs, 0);
        plant_join(saver);
        print_truth();
}

const struct delay_kind timer_delays[] = {
        { "poll", 120, run_poll },
        { "paced", 200, run_paced },
        { "timedfutex", 230, run_timedfutex },
        { "selfsignal", 230, run_selfsignal },
        { "timerfd", 230, run_timerfd },
        { "fsync", 500, run_fsync },
        { "saver", 500, run_saver },
        { NULL, 0, NULL },
};
