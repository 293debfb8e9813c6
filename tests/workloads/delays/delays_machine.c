/* SPDX-License-Identifier: MIT */
/*
 * Kinds in which a thread could run but has no CPU: run queues, priorities, quotas; and those in which it
 * runs only to wait.
 */
#include "tests/workloads/delays/plant.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

BURN_FUNCTION(task);
BURN_FUNCTION(answer);
BURN_FUNCTION(churn);
BURN_FUNCTION(hold);
BURN_FUNCTION(compute);
BURN_FUNCTION(frame_work);

static struct box jobs = BOX(4), results = BOX(4), disturbances = BOX(4);

/* runqueue: six threads that never wait, three on each of two CPUs: another one runs for two thirds. */
#define N_RUNNERS 6

static int n_tasks;

static void run_tasks(void *which)
{
        plant_pin((int)(intptr_t)which);
        for (int i = 0; i < n_tasks; i++) {
                HYPROF_ZONE("task");
                burn_us(task, 20000);
        }
}

static void run_runqueue(int n)
{
        pthread_t threads[N_RUNNERS];
        char name[] = "t0";

        n_tasks = n;
        for (intptr_t i = 0; i < N_RUNNERS; i++) {
                name[1] = (char)('0' + i);
                threads[i] = plant_thread(name, run_tasks, (void *)(i % 2));
        }
        for (int i = 0; i < N_RUNNERS; i++)
                plant_join(threads[i]);
}

static void take_priority(int policy, int priority)
{
        struct sched_param parameter = { priority };

        if (sched_setscheduler(0, policy, &parameter) != 0)
                plant_skip("the program may not have a real-time priority");
}

/*
 * prioinv: 'low' has an ordinary priority and holds the mutex; 'medium', of a higher one, takes its CPU for 8
 * ms; main, of the highest, waits for the mutex on the other CPU.
 * outranked: no lock: 'reader' has the policy for idle time, 'hog' the ordinary one.
 */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void prioinv_low(void *unused)
{
        (void)unused;
        take_priority(SCHED_OTHER, 0);
        plant_pin(0);
        while (box_take(&jobs)) {
                pthread_mutex_lock(&mutex);
                box_put(&results, 1);
                box_put(&disturbances, 1);
                burn_us(hold, 1000);
                pthread_mutex_unlock(&mutex);
        }
}

static void prioinv_medium(void *unused)
{
        (void)unused;
        take_priority(SCHED_FIFO, 20);
        plant_pin(0);
        while (box_take(&disturbances))
                burn_us(churn, 8000);
}

static void prioinv_request(void)
{
        HYPROF_ZONE("request");
        pthread_mutex_lock(&mutex);
        burn_us(answer, 300);
        pthread_mutex_unlock(&mutex);
}

static void run_prioinv(int n)
{
        pthread_t low, medium;

        take_priority(SCHED_FIFO, 30);
        plant_pin(1);
        low = plant_thread("low", prioinv_low, NULL);
        medium = plant_thread("medium", prioinv_medium, NULL);
        for (int i = 0; i < n; i++) {
                box_put(&jobs, 1);
                box_take(&results);
                prioinv_request();
                nap_us(1000); /* so that the kernel does not stop real-time threads for others */
        }
        box_put(&jobs, 0);
        plant_join(low);
        box_put(&disturbances, 0);
        plant_join(medium);
}

static void outranked_reader(void *unused)
{
        (void)unused;
        take_priority(SCHED_IDLE, 0);
        plant_pin(0);
        while (box_take(&jobs)) {
                box_put(&disturbances, 1);
                burn_us(hold, 1000);
                box_put(&results, 1);
        }
}

static void outranked_hog(void *unused)
{
        (void)unused;
        plant_pin(0);
        while (box_take(&disturbances))
                burn_us(churn, 8000);
}

static void run_outranked(int n)
{
        pthread_t reader, hog;

        plant_pin(1);
        reader = plant_thread("reader", outranked_reader, NULL);
        hog = plant_thread("hog", outranked_hog, NULL);
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("request");
                box_put(&jobs, 1);
                box_take(&results);
                burn_us(answer, 300);
        }
        box_put(&jobs, 0);
        plant_join(reader);
        box_put(&disturbances, 0);
        plant_join(hog);
}

/*
 * spin: main spins with a pause until 'w' has computed 6 ms, then runs 2 ms.
 * yieldspin: it yields its CPU instead.
 */
static atomic_int is_ready;

static void spin_worker(void *unused)
{
        (void)unused;
        while (box_take(&jobs)) {
                burn_us(compute, 6000);
                atomic_store(&is_ready, 1);
        }
}

static inline void pause_cpu(void)
{
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#else
        __asm__ volatile(".insn i 0x0f, 0, x0, x0, 0x010"); /* RISC-V's pause */
#endif
}

static __attribute__((noinline)) void spin_wait(void)
{
        while (!atomic_load_explicit(&is_ready, memory_order_acquire))
                pause_cpu();
}

static __attribute__((noinline)) void yield_wait(void)
{
        while (!atomic_load_explicit(&is_ready, memory_order_acquire))
                sched_yield();
}

static void run_spinning(int n, void (*wait)(void))
{
        pthread_t w = plant_thread("w", spin_worker, NULL);

        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("request");
                atomic_store(&is_ready, 0);
                box_put(&jobs, 1);
                wait();
                burn_us(answer, 2000);
        }
        box_put(&jobs, 0);
        plant_join(w);
}

static void run_spin(int n)
{
        run_spinning(n, spin_wait);
}

static void run_yieldspin(int n)
{
        run_spinning(n, yield_wait);
}

/*
 * quota: the program puts itself into a cgroup that may run 10 of each 40 ms, and wants to run all the time.
 * So it is kept from running for three quarters of it, while the CPU is idle.
 */
struct quota_group {
        char folder[4352];
        char parent[4224];
};

static int write_text(const char *folder, const char *name, const char *text)
{
        char path[4608];
        ssize_t n;
        int fd;

        snprintf(path, sizeof(path), "%s/%s", folder, name);
        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                return -1;
        n = write(fd, text, strlen(text));
        close(fd);
        return n == (ssize_t)strlen(text) ? 0 : -1;
}

/* The folder of the program's own group in cgroup v1's controller cpu, or in cgroup v2. */
static void find_own_group(int version, char *ret_folder, size_t folder_bytes)
{
        char line[4096];
        FILE *file = fopen("/proc/self/cgroup", "re");
        const char *path;

        if (file == NULL)
                plant_skip("there are no cgroups");
        ret_folder[0] = '\0';
        while (fgets(line, sizeof(line), file) != NULL) {
                line[strcspn(line, "\n")] = '\0';
                path = strrchr(line, ':');
                if (path == NULL ||
                    (version == 1 ? strstr(line, ":cpu:") == NULL && strstr(line, ":cpu,") == NULL
                                  : strncmp(line, "0::", 3) != 0))
                        continue;
                path = strcmp(path + 1, "/") == 0 ? "" : path + 1;
                snprintf(ret_folder, folder_bytes, "/sys/fs/cgroup%s%s", version == 1 ? "/cpu" : "", path);
        }
        fclose(file);
}

static int enter_group(int version, struct quota_group *group)
{
        int is_limited;

        find_own_group(version, group->parent, sizeof(group->parent));
        snprintf(group->folder, sizeof(group->folder), "%s/hyprof-delays-%d", group->parent, (int)getpid());
        if (group->parent[0] == '\0' || mkdir(group->folder, 0755) != 0)
                return -1;
        if (version == 1)
                is_limited = write_text(group->folder, "cpu.cfs_period_us", "40000") == 0 &&
                             write_text(group->folder, "cpu.cfs_quota_us", "10000") == 0;
        else
                is_limited = write_text(group->folder, "cpu.max", "10000 40000") == 0;
        if (is_limited && write_text(group->folder, "cgroup.procs", "0") == 0)
                return 0;
        rmdir(group->folder);
        return -1;
}

static void run_quota(int n)
{
        struct quota_group group;

        if (enter_group(1, &group) != 0 && enter_group(2, &group) != 0)
                plant_skip("the program may not make a cgroup with a quota");
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("frame");
                burn_us(frame_work, 5000);
        }
        if (write_text(group.parent, "cgroup.procs", "0") == 0)
                rmdir(group.folder);
}

const struct delay_kind machine_delays[] = {
        { "runqueue", 25, run_runqueue },
        { "prioinv", 120, run_prioinv },
        { "outranked", 120, run_outranked },
        { "spin", 150, run_spin },
        { "yieldspin", 150, run_yieldspin },
        { "quota", 70, run_quota },
        { NULL, 0, NULL },
};
