/* SPDX-License-Identifier: MIT */
/*
 * w_client_memory alone | locked | children | messages | crowd
 *
 * Truth: a million zones are begun and ended at full speed while the recorder is
 * stopped, so that they need 15 MiB beyond the thread's ring.  Then the recorder
 * goes on, and the program waits until it has its memory back.  "locked" calls
 * mlockall() before.  In "children" seven children do it at once, with 4 million
 * zones each, when all of them and their parent are being recorded.  "messages" emits 50,000
 * messages of 500 bytes instead of zones, and "crowd" 300,000 zones while it has 19 children at rest,
 * which are recorded as well: both lose some where they may fill 4 MiB.
 *
 * Prints "zones N" that were emitted, "peak_kb N" of shared memory in use while
 * the recorder was stopped, of all processes, "returned_ms N" until less than 4 MB
 * were left in each (or -1 after a minute), and "locked_kb N", in use after
 * mlockall(), or "unlocked" if that is not allowed.
 */
#include <hyprof/hyprof.h>

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_CHILDREN      7
#define ZONES_ALONE     1000000
#define ZONES_OF_CHILD  4000000
#define N_MESSAGES      50000
#define MESSAGE_BYTES   500
#define N_CROWD         19
#define ZONES_OF_CROWD  300000
#define LEFT_KB_MAX     4096
#define WAIT_MS         60000
#define CHUNKS_OF_CHILD 16 /* of --client-ring 16M, shared by eight programs */

/* Words of the control page. */
#define CONTROL_RECORDER_PID 33
#define CONTROL_N_CHUNKS     36

/* Shared with the children. */
static struct shared {
        atomic_uint n_ready, n_done, n_empty;
        atomic_bool go, read;
        atomic_long n_zones, peak_kb, returned_ms;
} * shared;

static uint32_t control(unsigned word)
{
        return __atomic_load_n(&hyprof_control[word], __ATOMIC_RELAXED);
}

static long used_kb(void)
{
        char line[256];
        long kb = -1;
        FILE *file = fopen("/proc/self/status", "re");

        while (file && fgets(line, sizeof(line), file))
                if (strncmp(line, "RssShmem:", 9) == 0)
                        kb = strtol(line + 9, NULL, 10);
        if (file)
                (void)fclose(file);
        return kb;
}

static void wait_ms(long ms)
{
        struct timespec pause = { .tv_nsec = ms * 1000000 };

        (void)nanosleep(&pause, NULL);
}

static void emit_zones(long n)
{
        for (long i = 0; i < n; i++) {
                HYPROF_ZONE("one of many");
        }
        atomic_fetch_add(&shared->n_zones, n);
}

/* Until the recorder has given this process its memory back. */
static void wait_for_memory(void)
{
        long ms = 0;

        for (; used_kb() > LEFT_KB_MAX && ms < WAIT_MS; ms += 10)
                wait_ms(10);
        if (ms >= WAIT_MS)
                atomic_store(&shared->returned_ms, -1);
        else if (atomic_load(&shared->returned_ms) >= 0 && ms > atomic_load(&shared->returned_ms))
                atomic_store(&shared->returned_ms, ms);
}

/* Until a recorder is there, and with children: until each has its share. */
static void wait_for_recorder(bool with_children)
{
        emit_zones(1);
        for (long ms = 0; ms < WAIT_MS; ms += 1) {
                if (control(CONTROL_RECORDER_PID) != 0 &&
                    (!with_children || control(CONTROL_N_CHUNKS) == CHUNKS_OF_CHILD))
                        return;
                wait_ms(1);
        }
}

static void emit_messages(void)
{
        char text[MESSAGE_BYTES];

        memset(text, 'm', sizeof(text));
        for (int i = 0; i < N_MESSAGES; i++)
                hyprof_message(text, sizeof(text), HYPROF_SEVERITY_INFO, 0);
}

/* So many zones, or messages for 0, while the recorder does not read. */
static void run_alone(long n_zones)
{
        pid_t recorder;

        wait_for_recorder(false);
        recorder = (pid_t)control(CONTROL_RECORDER_PID);
        (void)kill(recorder, SIGSTOP);
        if (n_zones > 0)
                emit_zones(n_zones - 1);
        else
                emit_messages();
        atomic_store(&shared->peak_kb, used_kb());
        (void)kill(recorder, SIGCONT);
        wait_for_memory();
}

static void run_crowd(void)
{
        int end[2];
        char none;

        wait_for_recorder(false);
        if (pipe(end) < 0)
                return;
        for (int i = 0; i < N_CROWD; i++) {
                if (fork() != 0)
                        continue;
                wait_for_recorder(false);
                atomic_fetch_add(&shared->n_ready, 1);
                (void)close(end[1]);
                _exit(read(end[0], &none, 1) != 0);
        }
        for (long ms = 0; ms < WAIT_MS && atomic_load(&shared->n_ready) < N_CROWD; ms++)
                wait_ms(1);
        run_alone(ZONES_OF_CROWD);
        (void)close(end[1]);
        while (wait(NULL) > 0)
                ;
}

static void run_child(void)
{
        wait_for_recorder(true);
        atomic_fetch_add(&shared->n_ready, 1);
        while (!atomic_load(&shared->go))
                wait_ms(1);
        emit_zones(ZONES_OF_CHILD - 1);
        atomic_fetch_add(&shared->peak_kb, used_kb());
        atomic_fetch_add(&shared->n_done, 1);
        while (!atomic_load(&shared->read))
                wait_ms(1);
        wait_for_memory();
        _exit(0);
}

static void wait_for_all(const atomic_uint *counter)
{
        for (long ms = 0; ms < 2 * WAIT_MS && atomic_load(counter) < N_CHILDREN; ms++)
                wait_ms(1);
}

static void run_children(void)
{
        pid_t recorder;

        wait_for_recorder(false);
        for (int i = 0; i < N_CHILDREN; i++)
                if (fork() == 0)
                        run_child();
        wait_for_all(&shared->n_ready);
        recorder = (pid_t)control(CONTROL_RECORDER_PID);
        (void)kill(recorder, SIGSTOP);
        atomic_store(&shared->go, true);
        wait_for_all(&shared->n_done);
        (void)kill(recorder, SIGCONT);
        atomic_store(&shared->read, true);
        while (wait(NULL) > 0)
                ;
}

int main(int argc, char **argv)
{
        const char *mode = argc > 1 ? argv[1] : "alone";
        bool with_children = strcmp(mode, "children") == 0;
        bool is_crowd = strcmp(mode, "crowd") == 0;

        shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED)
                return 1;
        if (strcmp(mode, "locked") == 0) {
                if (mlockall(MCL_CURRENT | MCL_FUTURE) < 0)
                        (void)puts("unlocked");
                else
                        printf("locked_kb %ld\n", used_kb());
        }
        if (with_children)
                run_children();
        else if (is_crowd)
                run_crowd();
        else
                run_alone(strcmp(mode, "messages") == 0 ? 0 : ZONES_ALONE);
        printf("zones %ld\n", atomic_load(&shared->n_zones));
        printf("peak_kb %ld\nreturned_ms %ld\n", atomic_load(&shared->peak_kb),
               atomic_load(&shared->returned_ms));
        return 0;
}
