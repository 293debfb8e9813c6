/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/inject/ompt_bridge.c - OpenMP's regions, loops, waits and tasks as zones, its locks
 *
 * Way of the data:  runtime of OpenMP -> ompt_abi -> [ompt_bridge] -> libhyprof
 *
 * OMPT knows places in the program by return addresses.  A region gets its function, file and line from
 * libomp's frames, which begin right after it (omp_region.h); where they say nothing, and for everything
 * else, the location names the module and the offset in it.
 */
#include "instrument/compat/inject/itt_abi.h"
#include "instrument/compat/inject/omp_region.h"
#include "instrument/compat/inject/ompt_abi.h"
#include "instrument/compat/inject/range_stack.h"
#include "instrument/compat/inject/word_map.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES    512
#define RECENT_THINGS 512

/*
 * A place in the program, a parallel region, or a lock; lives as long as the process.  Threads look them up
 * all the time, so those that were found lately are found without a lock.
 */
struct omp_thing {
        struct word_key key;              /* an address or a number, and what it is of */
        struct hyprof_location *location; /* of a region: of the thread that begins it */
        struct hyprof_location *team;     /* of each thread in a region */
        struct hyprof_lock lock;
};

static struct word_map things;
static struct omp_thing *recent[RECENT_THINGS]; /* atomic */
static const void *runtime_base;                /* of the library that reports; NULL = none */
static unsigned n_workers;                      /* atomic; that were started */

/* Tags of ranges whose ends do not say which one ends; only the addresses count. */
static const char parallel_tag[8], team_tag[8], wait_tag[8], work_tag[8], lock_tag[8];

/* A region that this thread is about to begin, whose name has not come yet. */
static _Thread_local const void *unnamed_address __attribute__((tls_model("initial-exec")));

static const void *base_of(const void *address)
{
        Dl_info info;

        return dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

bool ompt_bridge_covers(const void *address)
{
        return runtime_base && base_of(address) == runtime_base;
}

/* ---- what is known of the program ---------------------------------------------------------------------- */

static struct omp_thing **recent_place(struct word_key key)
{
        return &recent[((key.a ^ key.b << 7) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % RECENT_THINGS];
}

static struct omp_thing *find_thing(struct word_key key)
{
        struct omp_thing **place = recent_place(key), *thing = __atomic_load_n(place, __ATOMIC_ACQUIRE);

        if (thing && thing->key.a == key.a && thing->key.b == key.b)
                return thing;
        thing = word_map_find(&things, key);
        if (thing)
                __atomic_store_n(place, thing, __ATOMIC_RELEASE);
        return thing;
}

/* Returns what is known by then, perhaps by another thread; NULL for a lack of memory. */
static struct omp_thing *add_thing(const struct omp_thing *thing)
{
        struct omp_thing *copy = inject_allocate(sizeof(*copy));

        if (!copy)
                return NULL;
        *copy = *thing;
        return word_map_keep(&things, copy->key, copy);
}

/* "module+0x1234", or the function if the module exports it. */
static struct hyprof_location *make_location(const char *what, const void *address)
{
        char text[NAME_BYTES];
        Dl_info info;
        const char *slash;
        int n;

        if (!address || dladdr(address, &info) == 0 || !info.dli_fname)
                return hyprof_name_of(what);
        slash = strrchr(info.dli_fname, '/');
        n = snprintf(text, sizeof(text), "%s+0x%zx", slash ? slash + 1 : info.dli_fname,
                     (size_t)((const char *)address - (const char *)info.dli_fbase));
        return hyprof_location_of(what, strlen(what), text, n < NAME_BYTES ? (size_t)n : NAME_BYTES - 1, NULL,
                                  0, 0, 0);
}

/* @what: a literal, known by its address */
static struct hyprof_location *location_of(const char *what, const void *address)
{
        struct omp_thing thing = { .key = { (uintptr_t)address, (uintptr_t)what } };
        const struct omp_thing *known;

        if (!HYPROF_WANTED_(HYPROF_FAMILY_ZONES_))
                return NULL;
        known = find_thing(thing.key);
        if (known)
                return known->location;
        thing.location = make_location(what, address);
        if (thing.location)
                (void)add_thing(&thing);
        return thing.location;
}

/* ---- regions ------------------------------------------------------------------------------------------- */

static struct word_key key_of_region(const void *address)
{
        return (struct word_key){ (uintptr_t)address, (uintptr_t)parallel_tag };
}

static const struct omp_thing *add_region(const void *address, struct hyprof_location *parallel,
                                          struct hyprof_location *team)
{
        const struct omp_thing region = { .key = key_of_region(address), .location = parallel, .team = team };

        return parallel && team ? add_thing(&region) : NULL;
}

static void begin_region(const struct omp_thing *region)
{
        unnamed_address = NULL;
        (void)range_stack_begin((uintptr_t)parallel_tag, region ? region->location : NULL);
}

void ompt_bridge_name_region(const char *domain)
{
        const void *address = unnamed_address;
        struct omp_region_name name;

        if (address && omp_region_parse(domain, &name) && name.line != 0)
                begin_region(add_region(address, omp_region_location("parallel", &name),
                                        omp_region_location("team", &name)));
}

/* No name has come for it. */
static void begin_unnamed(void)
{
        const void *address = unnamed_address;

        if (address)
                begin_region(add_region(address, location_of("omp parallel", address),
                                        location_of("omp team", address)));
}

static void parallel_begin(union ompt_data *task, const void *frame, union ompt_data *parallel,
                           unsigned n_wanted, int flags, const void *address)
{
        const struct omp_thing *region;

        (void)task;
        (void)frame;
        (void)n_wanted;
        (void)flags;
        begin_unnamed();
        parallel->value = (uintptr_t)address;
        region = find_thing(key_of_region(address));
        if (region || !HYPROF_WANTED_(HYPROF_FAMILY_ZONES_) || !address)
                begin_region(region);
        else
                unnamed_address = address;
}

static void parallel_end(union ompt_data *parallel, union ompt_data *task, int flags, const void *address)
{
        (void)parallel;
        (void)task;
        (void)flags;
        (void)address;
        begin_unnamed();
        (void)range_stack_end((uintptr_t)parallel_tag);
}

static void implicit_task(enum ompt_endpoint endpoint, union ompt_data *parallel, union ompt_data *task,
                          unsigned n_threads, unsigned index, int flags)
{
        const struct omp_thing *region;

        (void)n_threads;
        (void)index;
        if (flags & OMPT_TASK_INITIAL)
                return;
        if (endpoint != OMPT_BEGIN) {
                (void)range_stack_end((uintptr_t)team_tag);
                return;
        }
        begin_unnamed();
        if (task)
                task->value = 0;
        region = parallel ? find_thing(key_of_region(parallel->pointer)) : NULL;
        (void)range_stack_begin((uintptr_t)team_tag, region ? region->team : NULL);
}

/* ---- in a region --------------------------------------------------------------------------------------- */

static void work(int kind, enum ompt_endpoint endpoint, union ompt_data *parallel, union ompt_data *task,
                 uint64_t count, const void *address)
{
        static const char *const kinds[] = { "omp work",       "omp loop",           "omp sections",
                                             "omp single",     "omp single (other)", "omp workshare",
                                             "omp distribute", "omp taskloop" };
        const char *name = kind > 0 && kind < (int)(sizeof(kinds) / sizeof(kinds[0])) ? kinds[kind]
                                                                                      : kinds[0];
        hyprof_zone zone;

        (void)parallel;
        (void)task;
        if (endpoint != OMPT_BEGIN) {
                (void)range_stack_end((uintptr_t)work_tag);
                return;
        }
        zone = hyprof_zone_begin(location_of(name, address));
        if (count > 1)
                hyprof_zone_value(zone, (int64_t)count);
        (void)range_stack_push((uintptr_t)work_tag, zone);
}

static const char *name_of_wait(int kind)
{
        switch (kind) {
        case OMPT_SYNC_TASKWAIT:
                return "omp taskwait";
        case OMPT_SYNC_TASKGROUP:
                return "omp taskgroup wait";
        case OMPT_SYNC_REDUCTION:
                return "omp reduction wait";
        default:
                return "omp barrier wait";
        }
}

/*
 * A worker's wait at the end of a region, which has no address, lasts until the next region begins: from here
 * on the thread is no longer in the region.
 */
static void sync_wait(int kind, enum ompt_endpoint endpoint, union ompt_data *parallel, union ompt_data *task,
                      const void *address)
{
        bool is_end_of_region = !address &&
                                (kind == OMPT_SYNC_BARRIER_IMPLICIT || kind == OMPT_SYNC_BARRIER_PARALLEL);

        (void)parallel;
        (void)task;
        if (endpoint != OMPT_BEGIN) {
                (void)range_stack_end((uintptr_t)wait_tag);
                return;
        }
        if (is_end_of_region)
                (void)range_stack_end((uintptr_t)team_tag);
        (void)range_stack_begin(
                (uintptr_t)wait_tag,
                location_of(is_end_of_region ? "omp wait for work" : name_of_wait(kind), address));
}

/* ---- tasks --------------------------------------------------------------------------------------------- */

/* An explicit task keeps the address of its source; the low bit says that it has begun. */
static void task_create(union ompt_data *creator, const void *frame, union ompt_data *task, int flags,
                        int has_dependences, const void *address)
{
        (void)creator;
        (void)frame;
        (void)has_dependences;
        if (task)
                task->value = flags & OMPT_TASK_EXPLICIT ? (uint64_t)(uintptr_t)address << 1 : 0;
}

static void task_schedule(union ompt_data *before, int status, union ompt_data *next)
{
        if (before && before->value & 1 && (status == OMPT_TASK_COMPLETE || status == OMPT_TASK_CANCEL)) {
                (void)range_stack_end((uintptr_t)before);
                before->value = 0;
        }
        if (next && next->value != 0 && !(next->value & 1)) {
                /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the program's code */
                const void *address = (const void *)(uintptr_t)(next->value >> 1);

                (void)range_stack_begin((uintptr_t)next, location_of("omp task", address));
                next->value |= 1;
        }
}

/* ---- locks --------------------------------------------------------------------------------------------- */

static struct hyprof_lock *find_lock(int kind, uint64_t id)
{
        static const char *const names[] = { "omp lock",      "omp lock",     "omp lock",   "omp nest lock",
                                             "omp nest lock", "omp critical", "omp atomic", "omp ordered" };
        struct omp_thing thing = { .key = { id, (uintptr_t)lock_tag } };
        struct omp_thing *known;

        if (!HYPROF_WANTED_(HYPROF_FAMILY_LOCKS_))
                return NULL;
        known = find_thing(thing.key);
        if (!known) {
                hyprof_lock_init(&thing.lock,
                                 &(struct hyprof_location)HYPROF_NAME(
                                         names[kind >= 0 && kind <= OMPT_MUTEX_ORDERED ? kind : 0]));
                known = add_thing(&thing);
        }
        return known ? &known->lock : NULL;
}

static void mutex_acquire(int kind, unsigned hint, unsigned implementation, uint64_t id, const void *address)
{
        struct hyprof_lock *lock = find_lock(kind, id);

        (void)hint;
        (void)implementation;
        (void)address;
        if (lock)
                hyprof_lock_wait(lock);
}

static void mutex_acquired(int kind, uint64_t id, const void *address)
{
        struct hyprof_lock *lock = find_lock(kind, id);

        (void)address;
        if (lock)
                hyprof_lock_obtain(lock);
}

static void mutex_released(int kind, uint64_t id, const void *address)
{
        struct hyprof_lock *lock = find_lock(kind, id);

        (void)address;
        if (lock)
                hyprof_lock_release(lock);
}

/* ---- the beginning ------------------------------------------------------------------------------------- */

static void thread_begin(int kind, union ompt_data *thread)
{
        char name[32];

        (void)thread;
        if (kind != OMPT_THREAD_WORKER)
                return;
        (void)snprintf(name, sizeof(name), "OpenMP worker %u",
                       __atomic_add_fetch(&n_workers, 1, __ATOMIC_RELAXED));
        hyprof_thread_name(name);
}

static int initialize(ompt_lookup *lookup, int device, union ompt_data *tool)
{
        static const struct {
                enum ompt_callback number;
                ompt_function *function;
        } callbacks[] = {
                { OMPT_THREAD_BEGIN, (ompt_function *)thread_begin },
                { OMPT_PARALLEL_BEGIN, (ompt_function *)parallel_begin },
                { OMPT_PARALLEL_END, (ompt_function *)parallel_end },
                { OMPT_TASK_CREATE, (ompt_function *)task_create },
                { OMPT_TASK_SCHEDULE, (ompt_function *)task_schedule },
                { OMPT_IMPLICIT_TASK, (ompt_function *)implicit_task },
                { OMPT_SYNC_WAIT, (ompt_function *)sync_wait },
                { OMPT_WORK, (ompt_function *)work },
                { OMPT_MUTEX_ACQUIRE, (ompt_function *)mutex_acquire },
                { OMPT_MUTEX_ACQUIRED, (ompt_function *)mutex_acquired },
                { OMPT_MUTEX_RELEASED, (ompt_function *)mutex_released },
        };
        ompt_set_callback *set = lookup ? (ompt_set_callback *)lookup("ompt_set_callback") : NULL;

        (void)device;
        (void)tool;
        if (!set)
                return 0;
        for (size_t i = 0; i < sizeof(callbacks) / sizeof(callbacks[0]); i++)
                (void)set((int)callbacks[i].number, callbacks[i].function);
        return 1; /* it goes on */
}

static void finalize(union ompt_data *tool)
{
        (void)tool;
}

/* A runtime looks for this in the libraries that OMP_TOOL_LIBRARIES names.  Returns NULL to be left alone. */
INJECT_EXPORT struct ompt_tool *ompt_start_tool(unsigned version, const char *runtime);

struct ompt_tool *ompt_start_tool(unsigned version, const char *runtime)
{
        static struct ompt_tool tool = { .initialize = initialize, .finalize = finalize };

        (void)version;
        (void)runtime;
        if (!inject_wants(INJECT_OMPT))
                return NULL;
        runtime_base = base_of(__builtin_return_address(0));
        inject_announce("OMPT", __builtin_return_address(0));
        return &tool;
}
