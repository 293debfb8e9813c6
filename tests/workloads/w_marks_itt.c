/* SPDX-License-Identifier: MIT */
/*
 * w_marks_itt - acts as a program with ITT: it loads the library that INTEL_LIBITTNOTIFY64 names, hands it
 * a list of slots, and calls what it finds there.  The layouts are declared here from ITT's documentation.
 *
 *      w_marks_itt N      N tasks of each kind; then code as of a JIT compiler, which runs and is taken away
 *      w_marks_itt lie    states a list that it does not have, and goes on
 *      w_marks_itt own N  sets the variables itself first, to nothing
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct domain {
        int flags;
        const char *name;
        void *reserved[4];
};

struct string {
        const char *text;
        void *reserved[4];
};

struct id {
        unsigned long long d1, d2, d3;
};

struct function {
        const char *name;
        void *slot, *first, *none;
        int group;
};

struct copy {
        unsigned char magic[8];
        unsigned long version[3];
        long state[3];
        pthread_mutex_t mutex;
        void *library, *error_handler, *path;
        struct function *functions;
        void *rest[16];
};

/* One slot a function: its name, and the type of what is there. */
#define FUNCTIONS(X)                                                                                     \
        X(domain_create, struct domain *, (const char *))                                                \
        X(string_handle_create, struct string *, (const char *))                                         \
        X(task_begin, void, (struct domain *, struct id, struct id, struct string *))                    \
        X(task_end, void, (struct domain *))                                                             \
        X(task_begin_overlapped, void, (struct domain *, struct id, struct id, struct string *))         \
        X(task_end_overlapped, void, (struct domain *, struct id))                                       \
        X(region_begin, void, (struct domain *, struct id, struct id, struct string *))                  \
        X(region_end, void, (struct domain *, struct id))                                                \
        X(frame_begin_v3, void, (struct domain *, struct id *))                                          \
        X(frame_end_v3, void, (struct domain *, struct id *))                                            \
        X(frame_submit_v3, void, (struct domain *, struct id *, unsigned long long, unsigned long long)) \
        X(get_timestamp, unsigned long long, (void))                                                     \
        X(marker, void, (struct domain *, struct id, struct string *, int))                              \
        X(metadata_add, void, (struct domain *, struct id, struct string *, int, size_t, const void *))  \
        X(metadata_str_add, void, (struct domain *, struct id, struct string *, const char *, size_t))   \
        X(counter_create, void *, (const char *, const char *))                                          \
        X(counter_create_typed, void *, (const char *, const char *, int))                               \
        X(counter_inc, void, (void *))                                                                   \
        X(counter_dec_delta, void, (void *, unsigned long long))                                         \
        X(counter_set_value, void, (void *, const void *))                                               \
        X(counter_inc_v3, void, (struct domain *, struct string *))                                      \
        X(sync_create, void, (void *, const char *, const char *, int))                                  \
        X(sync_destroy, void, (void *))                                                                  \
        X(sync_prepare, void, (void *))                                                                  \
        X(sync_cancel, void, (void *))                                                                   \
        X(sync_acquired, void, (void *))                                                                 \
        X(sync_releasing, void, (void *))                                                                \
        X(event_create, int, (const char *, int))                                                        \
        X(event_start, int, (int))                                                                       \
        X(event_end, int, (int))                                                                         \
        X(thread_set_name, void, (const char *))                                                         \
        X(pause, void, (void))                                                                           \
        X(resume, void, (void))

#define X(name, result, arguments) result(*name) arguments;
static struct slots {
        FUNCTIONS(X)
} itt;
#undef X

#define X(name, result, arguments) { "__itt_" #name, (void *)&itt.name, NULL, NULL, 0 },
static struct function functions[] = { FUNCTIONS(X){ "__itt_of_the_future", NULL, NULL, NULL, 0 },
                                       { NULL, NULL, NULL, NULL, 0 } };
#undef X

static struct copy copy = { .magic = { 0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30 },
                            .version = { 3, 0, 1 },
                            .functions = functions };

static struct domain *domain;
static struct string *task, *inner, *apart, *key;
static const struct id no_id;

static void *load(const char *variable)
{
        const char *path = getenv(variable);

        return path && *path ? dlopen(path, RTLD_LAZY) : NULL;
}

/* Returns whether there is a collector. */
static int attach(int is_lying)
{
        static void *future;
        void *library = load("INTEL_LIBITTNOTIFY64");
        void (*begin)(struct copy *, int) = NULL;

        functions[sizeof(functions) / sizeof(functions[0]) - 2].slot = (void *)&future;
        if (is_lying)
                copy.functions = (struct function *)16; /* nothing is there */
        if (library)
                *(void **)&begin = dlsym(library, "__itt_api_init");
        if (begin)
                begin(&copy, 0);
        return itt.task_begin != NULL;
}

static struct id id_of(int number)
{
        return (struct id){ .d1 = (uintptr_t)&copy, .d2 = (unsigned long long)number };
}

static void *end_apart(void *n)
{
        itt.thread_set_name("ender");
        for (int i = 0; i < *(int *)n; i++)
                itt.task_end_overlapped(domain, id_of(i));
        return NULL;
}

static void put_tasks(int n)
{
        pthread_t ender;

        for (int i = 0; i < n; i++) {
                const int32_t numbers[] = { i, -7 };

                itt.task_begin(domain, id_of(1000 + i), no_id, task);
                itt.metadata_add(domain, no_id, key, 4, 2, numbers);
                itt.task_begin(domain, no_id, no_id, inner);
                itt.metadata_str_add(domain, no_id, key, "words", 5);
                itt.task_end(domain);
                itt.task_end(domain);
        }
        for (int i = 0; i < n; i++)
                itt.task_begin_overlapped(domain, id_of(i), id_of(1000), apart);
        if (pthread_create(&ender, NULL, end_apart, &n) == 0)
                (void)pthread_join(ender, NULL);
        itt.region_begin(domain, id_of(1), no_id, apart);
        itt.region_end(domain, id_of(1));
}

static void put_moments(int n)
{
        void *counter = itt.counter_create("items", "made"),
             *real = itt.counter_create_typed("load", "made", 8);
        const double value = 2.5;
        int event = itt.event_create("event", 5);

        for (int i = 0; i < n; i++) {
                itt.frame_begin_v3(domain, NULL);
                itt.frame_end_v3(domain, NULL);
                itt.counter_inc(counter);
                itt.counter_inc_v3(domain, key);
                (void)itt.event_start(event);
                (void)itt.event_end(event);
        }
        itt.frame_submit_v3(domain, NULL, itt.get_timestamp(), UINT64_MAX);
        itt.counter_dec_delta(counter, 2);
        itt.counter_set_value(real, &value);
        itt.marker(domain, no_id, task, 1);
        itt.pause();
        itt.task_begin(domain, no_id, no_id, task);
        itt.task_end(domain);
        itt.resume();
}

static void put_waits(int n)
{
        static char mutex, barrier, unknown;

        itt.sync_create(&mutex, "mutex", "queue", 2);
        itt.sync_create(&barrier, "barrier", "all", 1);
        for (int i = 0; i < n; i++) {
                itt.sync_prepare(&mutex);
                itt.sync_acquired(&mutex);
                itt.sync_releasing(&mutex);
                itt.sync_releasing(&barrier);
                itt.sync_prepare(&barrier);
                itt.sync_acquired(&barrier);
                itt.sync_releasing(&unknown); /* without a wait */
                itt.sync_acquired(&unknown);
        }
        itt.sync_prepare(&mutex);
        itt.sync_cancel(&mutex);
        itt.sync_destroy(&mutex);
}

/* ---- a JIT compiler ------------------------------------------------------------------------------------ */

struct line {
        unsigned end, line;
};

struct method {
        unsigned id;
        const char *name;
        void *address;
        unsigned bytes, n_lines;
        const struct line *lines;
        const char *class_name, *file, *module;
};

static void run_made_code(int (*notify)(int, const void *))
{
#ifdef __x86_64__
        /* mov ecx, edi; then dec ecx, and jnz to that; ret */
        static const unsigned char bytes[] = { 0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
        static const struct line lines[] = { { 2, 10 }, { 6, 11 }, { 7, 12 } };
        void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct method method = { .id = 1,
                                 .name = "made_loop",
                                 .address = code,
                                 .bytes = sizeof(bytes),
                                 .n_lines = 3,
                                 .lines = lines,
                                 .file = "made.source" };
        void (*run)(unsigned);

        if (code == MAP_FAILED)
                return;
        memcpy(code, bytes, sizeof(bytes));
        *(void **)&run = code;
        (void)notify(21, &method);
        run(400000000);
        (void)notify(14, &method.id);
#else
        (void)notify;
#endif
}

int main(int argc, char **argv)
{
        int is_own = argc > 1 && strcmp(argv[1], "own") == 0;
        int n = argc > 1 + is_own ? atoi(argv[1 + is_own]) : 1;
        int (*notify)(int, const void *) = NULL;
        void *profiler;

        if (is_own) {
                (void)setenv("INTEL_LIBITTNOTIFY64", "", 1);
                (void)setenv("INTEL_JIT_PROFILER64", "", 1);
        }
        if (!attach(argc > 1 && strcmp(argv[1], "lie") == 0)) {
                (void)printf("no collector\n");
                return 0;
        }
        domain = itt.domain_create("a domain");
        task = itt.string_handle_create("task");
        inner = itt.string_handle_create("inner");
        apart = itt.string_handle_create("apart");
        key = itt.string_handle_create("key");
        itt.thread_set_name("the main one");
        put_tasks(n);
        put_moments(n);
        put_waits(n);
        profiler = load("INTEL_JIT_PROFILER64");
        if (profiler)
                *(void **)&notify = dlsym(profiler, "NotifyEvent");
        if (notify)
                run_made_code(notify);
        (void)printf("%d of each; the same handle again: %d\n", n, itt.string_handle_create("task") == task);
        return 0;
}
