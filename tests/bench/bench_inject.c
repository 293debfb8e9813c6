/* SPDX-License-Identifier: MIT */
/*
 * tests/bench/bench_inject.c - what a push and pop of NVTX and a task of ITT cost a program
 *
 * Way of the data:  [bench_inject] -> libhyprof_inject.so, if the environment names it
 *
 * Processor time of this thread, the best of all rounds; bench_zone measures hyprof's own zones in this way.
 */
#include "instrument/compat/inject/itt_abi.h"
#include "instrument/compat/inject/nvtx_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N_PAIRS  20000
#define N_ROUNDS 100
#define N_SLOTS  16

static nvtx_function *core[N_SLOTS], *core2[N_SLOTS];
static nvtx_function **core_slots[N_SLOTS], **core2_slots[N_SLOTS];

static struct itt_domain *(*itt_domain_create)(const char *);
static struct itt_string *(*itt_string_create)(const char *);
static void (*itt_task_begin)(struct itt_domain *, struct itt_id, struct itt_id, struct itt_string *);
static void (*itt_task_end)(struct itt_domain *);

static int get_table(uint32_t module, nvtx_function ****ret_slots, unsigned *ret_n)
{
        *ret_slots = module == NVTX_MODULE_CORE ? core_slots : core2_slots;
        *ret_n = N_SLOTS;
        return module == NVTX_MODULE_CORE || module == NVTX_MODULE_CORE2;
}

static const void *get_export_table(uint32_t table)
{
        static const struct nvtx_callbacks callbacks = { sizeof(callbacks), get_table };

        return table == NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

static void attach(void)
{
        static struct itt_function functions[] = {
                { .name = "__itt_domain_create", .slot = (void **)&itt_domain_create },
                { .name = "__itt_string_handle_create", .slot = (void **)&itt_string_create },
                { .name = "__itt_task_begin", .slot = (void **)&itt_task_begin },
                { .name = "__itt_task_end", .slot = (void **)&itt_task_end },
                { .name = NULL },
        };
        static struct itt_global global = { .magic = { 0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30 },
                                            .version_major = ITT_VERSION_MAJOR,
                                            .functions = functions };
        const char *path = getenv("NVTX_INJECTION64_PATH"); /* NOLINT(concurrency-mt-unsafe): one thread */
        void *library = path ? dlopen(path, RTLD_NOW) : NULL;
        int (*begin_nvtx)(nvtx_get_export_table *);
        void (*begin_itt)(struct itt_global *, int);

        for (int i = 0; i < N_SLOTS; i++) {
                core_slots[i] = &core[i];
                core2_slots[i] = &core2[i];
        }
        if (!library)
                return;
        *(void **)&begin_nvtx = dlsym(library, "InitializeInjectionNvtx2");
        *(void **)&begin_itt = dlsym(library, "__itt_api_init");
        if (begin_nvtx)
                (void)begin_nvtx(get_export_table);
        if (begin_itt)
                begin_itt(&global, 0);
}

/* As the headers of NVTX and ITT call it: through a slot, which may be empty. */
#define CALL(slot, type, ...)                        \
        do {                                         \
                if (slot)                            \
                        ((type)(slot))(__VA_ARGS__); \
        } while (0)

static void push_and_pop(void)
{
        CALL(core[NVTX_CORE_RANGE_PUSH_A], int (*)(const char *), "measured");
        CALL(core[NVTX_CORE_RANGE_POP], int (*)(void), );
}

static void *domain;
static struct nvtx_event event;

static void push_and_pop_registered(void)
{
        CALL(core2[NVTX_CORE2_RANGE_PUSH_EX], int (*)(void *, const struct nvtx_event *), domain, &event);
        CALL(core2[NVTX_CORE2_RANGE_POP], int (*)(void *), domain);
}

static struct itt_domain *tasks;
static struct itt_string *task;

static void begin_and_end(void)
{
        static const struct itt_id none;

        if (tasks && tasks->flags) {
                itt_task_begin(tasks, none, none, task);
                itt_task_end(tasks);
        }
}

static uint64_t now_ns(void)
{
        struct timespec now;

        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void measure(const char *what, void (*pair)(void))
{
        double least = 0;

        for (int round = 0; round < N_ROUNDS; round++) {
                uint64_t begin_ns = now_ns();
                double ns;

                for (int i = 0; i < N_PAIRS; i++)
                        pair();
                ns = (double)(now_ns() - begin_ns) / N_PAIRS;
                if (least == 0 || ns < least)
                        least = ns;
        }
        (void)printf("%-32s %6.1f ns\n", what, least);
}

int main(void)
{
        attach();
        event = (struct nvtx_event){ .version = 3, .size_bytes = sizeof(event) };
        if (core2[NVTX_CORE2_DOMAIN_CREATE_A]) {
                domain = ((void *(*)(const char *))core2[NVTX_CORE2_DOMAIN_CREATE_A])("domain");
                event.message = ((void *(*)(void *, const char *))core2[NVTX_CORE2_REGISTER_STRING_A])(
                        domain, "measured");
                event.message_type = NVTX_MESSAGE_REGISTERED;
        }
        if (itt_task_begin) {
                tasks = itt_domain_create("domain");
                task = itt_string_create("measured");
        }
        measure("NVTX, a text", push_and_pop);
        measure("NVTX, a registered string", push_and_pop_registered);
        measure("ITT, a task", begin_and_end);
        return 0;
}
