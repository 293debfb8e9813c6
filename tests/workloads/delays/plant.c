/* SPDX-License-Identifier: MIT */
#include "tests/workloads/delays/plant.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALIBRATION_NS 200000
#define CHUNK_NS       200000 /* between two looks at the clock, which cost about 1 us */
#define REST_NS        1000   /* that many are not worth another round */

struct named_thread {
        char name[16];
        void (*run)(void *argument);
        void *argument;
};

static double rounds_per_ns;

/* As plant_change() was told; set before there are threads. */
static struct {
        char name[64];
        double factor;
} change;

void plant_calibrate(double rounds_per_us)
{
        rounds_per_ns = rounds_per_us > 0 ? rounds_per_us / 1e3
                                          : (double)burn_rounds_of(CALIBRATION_NS) / CALIBRATION_NS;
}

double plant_rounds_per_us(void)
{
        return rounds_per_ns * 1e3;
}

int plant_change(const char *name_and_factor)
{
        const char *factor = strchr(name_and_factor, '=');

        if (factor == NULL || factor == name_and_factor)
                return -1;
        snprintf(change.name, sizeof(change.name), "%.*s", (int)(factor - name_and_factor), name_and_factor);
        change.factor = strtod(factor + 1, NULL);
        return 0;
}

void plant_burn(const char *name, void (*burn)(uint64_t n_rounds), double us)
{
        int64_t end_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + (int64_t)(us * 1e3);
        int64_t left_ns;

        if (strcmp(name, change.name) == 0)
                end_ns -= (int64_t)(us * (1 - change.factor) * 1e3);
        while ((left_ns = end_ns - burn_clock_ns(CLOCK_THREAD_CPUTIME_ID)) > REST_NS)
                burn((uint64_t)((double)(left_ns < CHUNK_NS ? left_ns : CHUNK_NS) * rounds_per_ns) + 1);
}

void nap_us(int us)
{
        struct timespec left = { us / 1000000, us % 1000000 * 1000L };

        while (nanosleep(&left, &left) != 0 && errno == EINTR)
                continue;
}

void plant_skip(const char *why)
{
        printf("skip: %s\n", why);
        fflush(stdout);
        _exit(77);
}

void plant_fail(const char *what)
{
        fprintf(stderr, "w_delays: %s: %s\n", what, strerror(errno));
        _exit(1);
}

static void *run_named(void *argument)
{
        struct named_thread thread = *(struct named_thread *)argument;

        free(argument);
        prctl(PR_SET_NAME, thread.name);
        thread.run(thread.argument);
        return NULL;
}

pthread_t plant_thread(const char *name, void (*run)(void *argument), void *argument)
{
        struct named_thread *thread = calloc(1, sizeof(*thread));
        pthread_t id;

        if (thread == NULL)
                plant_fail("no memory");
        snprintf(thread->name, sizeof(thread->name), "%s", name);
        thread->run = run;
        thread->argument = argument;
        if ((errno = pthread_create(&id, NULL, run_named, thread)) != 0)
                plant_fail("pthread_create");
        return id;
}

void plant_join(pthread_t thread)
{
        if ((errno = pthread_join(thread, NULL)) != 0)
                plant_fail("pthread_join");
}

pid_t plant_process(const char *name, void (*run)(void *argument), void *argument)
{
        pid_t child = fork();

        if (child < 0)
                plant_fail("fork");
        if (child > 0)
                return child;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, name);
        run(argument);
        _exit(0);
}

void plant_reap(void)
{
        int status;

        while (wait(&status) > 0)
                if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                        plant_fail("a child did not end well");
}

void plant_pin(int which)
{
        cpu_set_t may, one;
        int n = 0;

        if (sched_getaffinity(0, sizeof(may), &may) != 0)
                plant_fail("sched_getaffinity");
        for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
                if (!CPU_ISSET(cpu, &may) || n++ != which)
                        continue;
                CPU_ZERO(&one);
                CPU_SET(cpu, &one);
                if (sched_setaffinity(0, sizeof(one), &one) != 0)
                        plant_fail("sched_setaffinity");
                return;
        }
        plant_skip("the program has fewer than two CPUs");
}

void plant_pipe(int fds[2])
{
        if (pipe2(fds, O_CLOEXEC) != 0)
                plant_fail("pipe2");
}

void send_byte(int fd)
{
        if (write(fd, "x", 1) != 1)
                plant_fail("write");
}

int receive_byte(int fd)
{
        char byte;
        ssize_t n = read(fd, &byte, 1);

        if (n < 0)
                plant_fail("read");
        return n == 1;
}

void box_put(struct box *box, int item)
{
        pthread_mutex_lock(&box->mutex);
        while (box->n == box->n_max)
                pthread_cond_wait(&box->emptied, &box->mutex);
        box->items[(box->head + box->n++) % BOX_ITEMS_MAX] = item;
        pthread_cond_signal(&box->filled);
        pthread_mutex_unlock(&box->mutex);
}

int box_take(struct box *box)
{
        int item;

        pthread_mutex_lock(&box->mutex);
        while (box->n == 0)
                pthread_cond_wait(&box->filled, &box->mutex);
        item = box->items[box->head];
        box->head = (box->head + 1) % BOX_ITEMS_MAX;
        box->n--;
        pthread_cond_signal(&box->emptied);
        pthread_mutex_unlock(&box->mutex);
        return item;
}
