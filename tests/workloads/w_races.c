/* SPDX-License-Identifier: MIT */
/*
 * w_races KIND N [LIBRARY]
 *
 * Truth: so many zones as are printed in the end, "zones N", with those of children.  Two threads emit
 * some all the time; meanwhile, N times:
 *
 *      fork     a child emits ten and ends
 *      exec     a child emits ten and becomes this program once more, which emits ten
 *      exit     a child has four threads, which emit ten each and end while the process does
 *      dlclose  LIBRARY, this file compiled with -DRACED_LIBRARY and its own client, is loaded, emits ten and
 *               is unloaded, by each of two threads
 *      places   a zone of a place of its own is emitted
 *      modules  a file of its own is mapped as code, and unmapped
 */
#include <hyprof/hyprof.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_ZONES   10
#define N_THREADS 4

static void emit_ten(void)
{
        for (int i = 0; i < N_ZONES; i++) {
                HYPROF_ZONE("raced");
        }
}

#ifdef RACED_LIBRARY
void raced_library_emit(void);
void raced_library_emit(void)
{
        emit_ten();
}
#else

static atomic_long n_zones;
static atomic_bool is_over;
static const char *library;

static void *emit_all_the_time(void *unused)
{
        struct timespec pause = { .tv_nsec = 200000 };

        while (!atomic_load(&is_over)) {
                emit_ten();
                atomic_fetch_add(&n_zones, N_ZONES);
                (void)nanosleep(&pause, NULL);
        }
        return unused;
}

static atomic_int n_done;

static void *emit_once(void *unused)
{
        emit_ten();
        atomic_fetch_add(&n_done, 1);
        return unused;
}

/* The threads give their rings back, or do not come to it, while the process ends. */
static void end_with_threads(void)
{
        pthread_t thread;

        for (int i = 0; i < N_THREADS; i++)
                if (pthread_create(&thread, NULL, emit_once, NULL) != 0)
                        abort();
        while (atomic_load(&n_done) < N_THREADS)
                (void)sched_yield();
}

static void *load_and_unload(void *unused)
{
        void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        void (*emit)(void) = NULL;

        if (handle)
                *(void **)&emit = dlsym(handle, "raced_library_emit");
        if (!emit)
                abort();
        emit();
        (void)dlclose(handle);
        return unused;
}

/* Memory of the program until its end, as that of static places is. */
static void emit_of_new_place(void)
{
        struct hyprof_location *place = calloc(1, sizeof(*place));

        if (!place)
                abort();
        place->name = "place";
        place->line = (uint32_t)atomic_load(&n_zones);
        hyprof_zone_end(hyprof_zone_begin(place));
}

static void map_new_module(void)
{
        static unsigned n;
        char name[32];
        void *code;
        int fd;

        (void)snprintf(name, sizeof(name), "module-%u", n++);
        fd = memfd_create(name, MFD_CLOEXEC);
        if (fd < 0 || ftruncate(fd, 1) < 0)
                abort();
        code = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
        if (code == MAP_FAILED || munmap(code, 1) < 0 || close(fd) < 0)
                abort();
}

/* Returns how many zones there were. */
static long race(const char *kind)
{
        static char self[] = "/proc/self/exe", again[] = "again";
        char *words[] = { self, again, NULL };
        pthread_t thread;
        pid_t child;
        int status;

        if (strcmp(kind, "dlclose") == 0) {
                if (pthread_create(&thread, NULL, load_and_unload, NULL) != 0)
                        abort();
                (void)load_and_unload(NULL);
                (void)pthread_join(thread, NULL);
                return 2L * N_ZONES;
        }
        if (strcmp(kind, "places") == 0) {
                emit_of_new_place();
                return 1;
        }
        if (strcmp(kind, "modules") == 0) {
                map_new_module();
                return 0;
        }
        child = fork();
        if (child == 0) {
                if (strcmp(kind, "exit") == 0)
                        end_with_threads();
                else
                        emit_ten();
                if (strcmp(kind, "exec") == 0)
                        (void)execv(self, words);
                _exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
                abort();
        if (strcmp(kind, "exit") == 0)
                return (long)N_THREADS * N_ZONES;
        return strcmp(kind, "exec") == 0 ? 2L * N_ZONES : N_ZONES;
}

int main(int argc, char **argv)
{
        pthread_t threads[2];
        long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

        if (argc == 2) {
                emit_ten();
                return 0;
        }
        library = argc > 3 ? argv[3] : NULL;
        for (int i = 0; i < 2; i++)
                if (pthread_create(&threads[i], NULL, emit_all_the_time, NULL) != 0)
                        abort();
        for (long i = 0; i < n; i++)
                atomic_fetch_add(&n_zones, race(argv[1]));
        atomic_store(&is_over, true);
        for (int i = 0; i < 2; i++)
                (void)pthread_join(threads[i], NULL);
        (void)printf("zones %ld\n", atomic_load(&n_zones));
        return 0;
}
#endif
