/* SPDX-License-Identifier: MIT */
#include "sampler/python/python_source.h"

#include "base/error.h"
#include "base/io.h"
#include "instrument/tick_clock.h"
#include "sampler/bpf/switch_layout.h"
#include "sampler/kernel/bpf_programs.h"
#include "sampler/kernel/monotonic_clock.h"
#include "sampler/proc/cpu_list.h"
#include "sampler/switches/switch_ring.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RING_BYTES_MIN (UINT64_C(1) << 16)
#define RING_BYTES_MAX (UINT64_C(1) << 22)
#define PAGE_BYTES     UINT64_C(4096)

#define LINKS_MAX    4 /* programs that run at tracepoints */
#define ABLE_KERNELS "Linux 5.17"

struct python_source {
        struct switch_ring *rings; /* heap, owned; by CPU */
        size_t n_rings;
        uint64_t ring_bytes;
        size_t stride_bytes;
        void *map; /* of all rings; owned */
        size_t map_bytes;
        struct python_processes *processes; /* a mapping, owned */
        int program_fd;                     /* owned; keeps the program, which keeps its maps */
        int map_fd;                         /* of the processes; owned; -1 = forgotten */
        struct bpf_link *links[LINKS_MAX];  /* owned */
        size_t n_links;
        struct bpf_object *object; /* owned until the program is loaded */
        unsigned hooks;            /* PYTHON_HOOK_* */
        pthread_t loader;
        bool is_loading;         /* by the thread */
        int load_error;          /* 0 or -errno */
        struct tick_clock clock; /* its ticks are nanoseconds of CLOCK_MONOTONIC */
        uint64_t n_garbage;
};

static int count_rings(struct python_source *s, struct error *err)
{
        int r = cpu_list_count_places(&s->n_rings, err);

        if (r == 0 && s->n_rings > 0)
                s->rings = calloc(s->n_rings, sizeof(*s->rings));
        return r < 0 ? r : s->rings ? 0 : error_set(err, -ENOMEM, "no memory for Python's frames");
}

static void choose_size(struct python_source *s, size_t ring_bytes)
{
        s->ring_bytes = RING_BYTES_MIN;
        while (s->ring_bytes * 2 * s->n_rings <= ring_bytes && s->ring_bytes < RING_BYTES_MAX)
                s->ring_bytes *= 2;
        s->stride_bytes = SWITCH_RING_HEAD_BYTES + s->ring_bytes +
                          ((PYTHON_RECORD_BYTES + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1));
        s->map_bytes = s->stride_bytes * s->n_rings;
}

static int set_sizes(const struct python_source *s, struct bpf_object *object)
{
        struct bpf_map *rings = bpf_object__find_map_by_name(object, "rings");
        struct bpf_map *constants = bpf_object__find_map_by_name(object, ".rodata");
        const struct python_settings settings = { .ring_bytes = s->ring_bytes };
        int r = rings && constants && s->stride_bytes <= UINT32_MAX ? 0 : -EINVAL;

        if (r == 0)
                r = bpf_map__set_initial_value(constants, &settings, sizeof(settings));
        if (r == 0)
                r = bpf_map__set_value_size(rings, (uint32_t)s->stride_bytes);
        return r == 0 ? bpf_map__set_max_entries(rings, (uint32_t)s->n_rings) : r;
}

/* The table exists before the program does, so that another program can be loaded with it meanwhile. */
static int create_table(struct python_source *s, struct bpf_object *object)
{
        const struct bpf_map_create_opts options = { .sz = sizeof(options), .map_flags = BPF_F_MMAPABLE };
        struct bpf_map *map = bpf_object__find_map_by_name(object, "processes");

        if (!map)
                return -EINVAL;
        s->map_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "processes", sizeof(uint32_t), sizeof(*s->processes),
                                   1, &options);
        return s->map_fd < 0 ? -errno : bpf_map__reuse_fd(map, s->map_fd);
}

static void *map_memory(struct bpf_object *object, const char *name, size_t n_bytes)
{
        struct bpf_map *map = bpf_object__find_map_by_name(object, name);
        void *at = map ? mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0)
                       : MAP_FAILED;

        return at == MAP_FAILED ? NULL : at;
}

/*
 * A recorder has few descriptors to spare: of all that were opened to load the programs, only those of one
 * program and one map are kept.
 */
static int keep_program(struct python_source *s, struct bpf_object *object)
{
        s->map = map_memory(object, "rings", s->map_bytes);
        s->processes = map_memory(object, "processes", sizeof(*s->processes));
        if (!s->map || !s->processes)
                return -ENOMEM;
        s->program_fd = fcntl(bpf_program__fd(bpf_object__find_program_by_name(object, "on_sample")),
                              F_DUPFD_CLOEXEC, 0);
        return s->program_fd < 0 ? -errno : 0;
}

/*
 * Attaches the programs that can be attached; where one is missing, waits have no Python frames.  The hook
 * of on_return is missing in older kernels, where nothing needs it.
 */
static void attach_tracepoints(struct python_source *s, struct bpf_object *object)
{
        static const char *const names[LINKS_MAX] = { "on_switch", "on_waking", "on_return", "on_call_end" };

        for (size_t i = 0; i < LINKS_MAX; i++) {
                struct bpf_program *program = bpf_object__find_program_by_name(object, names[i]);
                struct bpf_link *link = program ? bpf_program__attach(program) : NULL;

                if (link)
                        s->links[s->n_links++] = link;
        }
}

static void choose_programs(struct bpf_object *object, unsigned hooks)
{
        struct bpf_program *program;

        bpf_object__for_each_program(program,
                                     object) if (bpf_program__type(program) != BPF_PROG_TYPE_PERF_EVENT)(void)
                bpf_program__set_autoload(program,
                                          hooks & (strcmp(bpf_program__name(program), "on_call_end") == 0
                                                           ? PYTHON_HOOK_CALLS
                                                           : PYTHON_HOOK_WAITS));
}

static int open_program(struct python_source *s, struct error *err)
{
        const struct bpf_object_open_opts options = { .sz = sizeof(options), .object_name = "hyprof_python" };
        int r;

        bpf_words_silence_libbpf();
        s->object = bpf_object__open_mem(python_program, python_program_bytes, &options);
        if (!s->object)
                return bpf_words_explain(-errno, "read the program for Python", ABLE_KERNELS, err);
        choose_programs(s->object, s->hooks);
        r = set_sizes(s, s->object);
        if (r == 0)
                r = create_table(s, s->object);
        return r < 0 ? bpf_words_explain(r, "set up the program for Python", ABLE_KERNELS, err) : 0;
}

static void *load_program(void *context)
{
        struct python_source *s = context;

        s->load_error = bpf_object__load(s->object);
        return NULL;
}

int python_source_begin(size_t ring_bytes, unsigned hooks, struct python_source **ret_source,
                        struct error *err)
{
        struct python_source *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return error_set(err, -ENOMEM, "no memory for Python's frames");
        s->program_fd = s->map_fd = -1;
        s->hooks = hooks;
        r = count_rings(s, err);
        if (r == 0) {
                choose_size(s, ring_bytes);
                r = open_program(s, err);
        }
        if (r < 0) {
                python_source_close(s);
                return r;
        }
        s->is_loading = pthread_create(&s->loader, NULL, load_program, s) == 0;
        if (!s->is_loading)
                (void)load_program(s);
        *ret_source = s;
        return 0;
}

static int await_program(struct python_source *s)
{
        if (s->is_loading)
                (void)pthread_join(s->loader, NULL);
        s->is_loading = false;
        return s->load_error;
}

int python_source_finish(struct python_source *s, struct error *err)
{
        int r = await_program(s);

        if (r == 0)
                r = keep_program(s, s->object);
        if (r == 0 && s->hooks != 0)
                attach_tracepoints(s, s->object);
        bpf_object__close(s->object);
        s->object = NULL;
        if (r < 0)
                return bpf_words_explain(r, "load the program for Python", ABLE_KERNELS, err);
        for (size_t i = 0; i < s->n_rings; i++)
                switch_ring_init(&s->rings[i], (uint8_t *)s->map + i * s->stride_bytes, s->ring_bytes,
                                 s->stride_bytes - SWITCH_RING_HEAD_BYTES);
        monotonic_clock_pair(&s->clock);
        return 0;
}

void python_source_close(struct python_source *s)
{
        if (!s)
                return;
        (void)await_program(s);
        bpf_object__close(s->object);
        for (size_t i = 0; i < s->n_links; i++)
                (void)bpf_link__destroy(s->links[i]);
        if (s->map)
                (void)munmap(s->map, s->map_bytes);
        if (s->processes)
                (void)munmap(s->processes, sizeof(*s->processes));
        io_close(&s->program_fd);
        io_close(&s->map_fd);
        free(s->rings);
        free(s);
}

int python_source_program(const struct python_source *s)
{
        return s ? s->program_fd : -1;
}

int python_source_map(const struct python_source *s)
{
        return s ? s->map_fd : -1;
}

void python_source_forget_map(struct python_source *s)
{
        if (s)
                io_close(&s->map_fd);
}

struct python_processes *python_source_processes(struct python_source *s)
{
        return s ? s->processes : NULL;
}

void python_source_look(struct python_source *s)
{
        if (!s)
                return;
        for (size_t i = 0; i < s->n_rings; i++) {
                switch_ring_release(&s->rings[i]);
                switch_ring_look(&s->rings[i]);
        }
        monotonic_clock_pair(&s->clock); /* each record lies before this reading */
}

int python_source_find(struct python_source *s, const struct python_sample_key *key, uint32_t flag,
                       const struct python_copies_sink *sink, struct python_sample *ret_sample)
{
        int r = s && key->cpu < s->n_rings
                        ? python_ring_find(&s->rings[key->cpu], &s->clock, key, flag, sink, ret_sample)
                        : 0;

        if (r < 0)
                s->n_garbage++;
        return r > 0;
}

uint64_t python_source_count_lost(const struct python_source *s)
{
        uint64_t n_lost = s ? s->n_garbage : 0;

        for (size_t i = 0; s && i < s->n_rings; i++)
                n_lost += switch_ring_count_lost(&s->rings[i]);
        return n_lost;
}
