/* SPDX-License-Identifier: MIT */
#include "sampler/kernel/switch_source.h"

#include "base/error.h"
#include "base/io.h"
#include "instrument/tick_clock.h"
#include "sampler/bpf/switch_layout.h"
#include "sampler/kernel/bpf_words.h"
#include "sampler/kernel/cpu_list.h"
#include "sampler/kernel/kernel_types.h"
#include "sampler/kernel/monotonic_clock.h"
#include "sampler/kernel/switch_program.h"
#include "sampler/kernel/switch_record.h"
#include "sampler/kernel/switch_ring.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define RING_BYTES_MIN (UINT64_C(1) << 16) /* of a CPU: several records with a stack */
#define WAKE_SHARES    4
#define PROGRAMS_MAX   5
#define ABLE_KERNELS   "Linux 5.15 with BTF"
#define HOOK_SECTION   "tp_btf/"      /* then the name of the hook */
#define PAGE_BYTES     UINT64_C(4096) /* of all machines that we know, at least */
#define SKIPPED_FRAMES \
        2 /* on top of a kernel's call stack: the BPF program and its caller; next is the scheduler */
/* A PID namespace of its own: the program sees other numbers than we do.  PROC_PID_INIT_INO of the kernel. */
#define INITIAL_PID_NAMESPACE UINT64_C(0xeffffffc)

/* The ring of a CPU, and the record of it that waits for its turn. */
struct cpu_ring {
        struct switch_ring ring;
        size_t record_bytes; /* 0 = none is decoded */
        unsigned n_given;    /* of its records */
        struct switch_record record;
};

struct switch_source {
        int python_fd; /* borrowed while the program is loaded; -1 = none */
        struct bpf_object *object;
        struct bpf_link *links[PROGRAMS_MAX];
        size_t n_links;
        struct switch_settings settings;
        struct switch_scope scope;
        struct cpu_ring *cpus; /* heap, owned */
        size_t n_cpus;
        struct cpu_ring *turn; /* of switch_source_peek() */
        void *map;             /* of all rings; owned */
        size_t map_bytes, stride_bytes;
        int processes_fd;             /* borrowed from `object` */
        int wake_fd;                  /* the same */
        unsigned long *wake_consumer; /* mappings of the ring that wakes us, owned */
        unsigned long *wake_head;     /* the same */
        bool looked;                  /* since the last time that nothing was left */
        uint64_t n_garbage;           /* records that made no sense */
        struct tick_clock clock;      /* its ticks are nanoseconds of CLOCK_MONOTONIC */
};

/* ---- opening ------------------------------------------------------------------------------------------- */

static int check_namespace(struct error *err)
{
        struct stat own;

        if (stat("/proc/self/ns/pid", &own) == 0 && own.st_ino != INITIAL_PID_NAMESPACE)
                return error_set(
                        err, -ENOTSUP,
                        "BPF: hyprof runs in its own PID namespace, so its PIDs differ from those of BPF");
        return 0;
}

/* As with perf's events, a CPU that comes later has none. */
static int switch_source_count_cpus(struct switch_source *s, struct error *err)
{
        int r = cpu_list_count_places(&s->n_cpus, err);

        if (r == 0 && s->n_cpus > 0)
                s->cpus = calloc(s->n_cpus, sizeof(*s->cpus));
        return r < 0 ? r : s->cpus ? 0 : error_set(err, -ENOMEM, "no memory for context switches");
}

/* Since Linux 5.18.  To look it up in the kernel's types would take as long as to load the program. */
static bool tells_prev_state(void)
{
        unsigned major = 0, minor = 0;
        struct utsname system;

        if (uname(&system) < 0 ||
            sscanf(system.release, "%u.%u", &major, &minor) != 2) /* NOLINT(cert-err34-c) */
                return false;
        return major > 5 || (major == 5 && minor >= 18);
}

static void choose_settings(struct switch_source *s, const struct switch_source_options *options)
{
        uint64_t ring_bytes = RING_BYTES_MIN;

        s->settings.has_prev_state = tells_prev_state();
        s->settings.python = options->python_fd >= 0;
        s->python_fd = options->python_fd;

        s->settings.frame_pointers = options->stacks && options->copy_bytes == 0;
        if (s->settings.frame_pointers)
                s->settings.copy_bytes = SWITCH_USER_FRAMES * sizeof(uint64_t);
        else if (options->stacks) {
                s->settings.copy_bytes = options->copy_bytes < SWITCH_COPY_BYTES_MAX
                                                 ? options->copy_bytes
                                                 : SWITCH_COPY_BYTES_MAX - 8;
                s->settings.copy_bytes &= ~UINT64_C(7);
                while (ring_bytes < 4 * s->settings.copy_bytes)
                        ring_bytes *= 2;
        }
        while (ring_bytes * 2 * s->n_cpus <= options->ring_bytes)
                ring_bytes *= 2;
        s->settings.ring_bytes = ring_bytes;
        s->settings.wake_shift = (unsigned)__builtin_ctzll(ring_bytes / WAKE_SHARES);
        s->settings.stacks = options->stacks;
        s->settings.n_skipped_frames = SKIPPED_FRAMES;
        /* A record sticks out by at most itself; the last piece of a copy is tried whole. */
        s->stride_bytes = SWITCH_RING_HEAD_BYTES + ring_bytes + PAGE_BYTES +
                          (options->stacks ? (s->settings.copy_bytes + UINT64_C(2) * SWITCH_PIECE_BYTES) &
                                                     ~(PAGE_BYTES - 1)
                                           : 0);
        s->map_bytes = s->stride_bytes * s->n_cpus;
}

static int size_map(struct switch_source *s, const char *name, uint32_t n_entries)
{
        struct bpf_map *map = bpf_object__find_map_by_name(s->object, name);

        return map ? bpf_map__set_max_entries(map, n_entries) : -ENOENT;
}

/* Without that table the map is not looked into, and any will do. */
static int share_python(struct switch_source *s)
{
        struct bpf_map *map = bpf_object__find_map_by_name(s->object, "python");

        if (!map)
                return -ENOENT;
        return s->python_fd >= 0 ? bpf_map__reuse_fd(map, s->python_fd)
                                 : bpf_map__set_value_size(map, sizeof(uint64_t));
}

/* Sets sizes and constants, and leaves out unneeded parts. */
static int configure(struct switch_source *s)
{
        struct bpf_map *rings = bpf_object__find_map_by_name(s->object, "rings");
        struct bpf_map *constants = bpf_object__find_map_by_name(s->object, ".rodata");
        int r = rings && constants && s->stride_bytes <= UINT32_MAX ? 0 : -EINVAL;

        if (r != 0)
                goto done;
        r = bpf_map__set_initial_value(constants, &s->settings, sizeof(s->settings));
        if (r != 0)
                goto done;
        r = bpf_map__set_value_size(rings, (uint32_t)s->stride_bytes);
        if (r != 0)
                goto done;
        r = size_map(s, "rings", (uint32_t)s->n_cpus);
        if (r != 0)
                goto done;
        r = size_map(s, "threads", s->settings.stacks ? SWITCH_THREAD_SLOTS : 1);
        if (r == 0)
                r = share_python(s);

done:
        if (!s->settings.stacks)
                (void)bpf_program__set_autoload(bpf_object__find_program_by_name(s->object, "on_waking"),
                                                false);
        return r;
}

static int map_rings(struct switch_source *s)
{
        struct bpf_map *rings = bpf_object__find_map_by_name(s->object, "rings");
        struct bpf_map *wake = bpf_object__find_map_by_name(s->object, "wake");
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        void *at = mmap(NULL, s->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(rings), 0);

        if (at == MAP_FAILED)
                return -errno;
        s->map = at;
        for (size_t i = 0; i < s->n_cpus; i++)
                switch_ring_init(&s->cpus[i].ring, (uint8_t *)at + i * s->stride_bytes,
                                 s->settings.ring_bytes, s->stride_bytes - SWITCH_RING_HEAD_BYTES);
        s->wake_fd = bpf_map__fd(wake);
        at = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->wake_fd, 0);
        if (at == MAP_FAILED)
                return -errno;
        s->wake_consumer = at;
        at = mmap(NULL, page_bytes, PROT_READ, MAP_SHARED, s->wake_fd, (off_t)page_bytes);
        if (at == MAP_FAILED)
                return -errno;
        s->wake_head = at;
        s->processes_fd = bpf_map__fd(bpf_object__find_map_by_name(s->object, "processes"));
        return 0;
}

/* @types: a path; NULL = libbpf finds and searches all of the kernel's types itself. */
static struct bpf_object *open_program(const char *types)
{
        const struct bpf_object_open_opts options = { .sz = sizeof(options),
                                                      .object_name = "hyprof",
                                                      .btf_custom_path = types };

        return bpf_object__open_mem(switch_program, switch_program_bytes, &options);
}

/* The hooks of the program, and their types in the kernel. */
struct hooks {
        struct kernel_hook items[PROGRAMS_MAX];
        size_t n_items;
};

/* As libbpf would do, but that the number is known. */
static int prepare_load(struct bpf_program *program, struct bpf_prog_load_opts *options, long cookie)
{
        const struct hooks *hooks = (const struct hooks *)cookie; /* NOLINT(performance-no-int-to-ptr) */
        const char *name = bpf_program__section_name(program) + sizeof(HOOK_SECTION) - 1;

        for (size_t i = 0; i < hooks->n_items; i++)
                if (strcmp(hooks->items[i].name, name) == 0)
                        options->attach_btf_id = hooks->items[i].id;
        return bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);
}

/*
 * libbpf reads all types of the kernel for any program of this type.  So it is a simpler one until it is
 * loaded; that has the same argument.
 */
static int open_with_types(struct switch_source *s, const char *types, struct hooks *hooks)
{
        const struct libbpf_prog_handler_opts handler = { .sz = sizeof(handler),
                                                          .cookie = (long)hooks,
                                                          .prog_prepare_load_fn = prepare_load };
        int r, id = libbpf_register_prog_handler(HOOK_SECTION, BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_TRACE_RAW_TP,
                                                 &handler);

        if (id < 0)
                return id;
        s->object = open_program(types);
        r = s->object ? configure(s) : -errno;
        if (r == 0)
                r = bpf_object__load(s->object);
        (void)libbpf_unregister_prog_handler(id);
        return r;
}

static void list_hooks(struct bpf_object *object, struct hooks *hooks)
{
        struct bpf_program *program;

        bpf_object__for_each_program(program, object)
        {
                if (hooks->n_items < PROGRAMS_MAX)
                        hooks->items[hooks->n_items++].name = bpf_program__section_name(program) +
                                                              sizeof(HOOK_SECTION) - 1;
        }
}

/* With the few types that the program needs, all that takes long is left out.  Returns 0 or -errno. */
static int load_quickly(struct switch_source *s)
{
        struct bpf_object *first = open_program(NULL);
        struct hooks hooks = { .n_items = 0 };
        struct kernel_types_request request = { .local = bpf_object__btf(first), .hooks = hooks.items };
        char path[32];
        int r, fd;

        if (!first)
                return -errno;
        list_hooks(first, &hooks);
        request.n_hooks = hooks.n_items;
        r = fd = kernel_types_open(&request, NULL);
        if (fd >= 0) {
                (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
                r = open_with_types(s, path, &hooks);
        }
        io_close(&fd);
        bpf_object__close(first);
        return r;
}

static int load_slowly(struct switch_source *s, struct error *err)
{
        int r;

        bpf_object__close(s->object);
        s->object = open_program(NULL);
        if (!s->object)
                return bpf_words_explain(-errno, "read the program", ABLE_KERNELS, err);
        r = configure(s);
        if (r < 0)
                return bpf_words_explain(r, "set up the program", ABLE_KERNELS, err);
        r = bpf_object__load(s->object);
        return r < 0 ? bpf_words_explain(r, "load the program", ABLE_KERNELS, err) : 0;
}

static int switch_source_load(struct switch_source *s, struct error *err)
{
        int r;

        bpf_words_silence_libbpf();
        r = load_quickly(s);
        if (r == -EPERM || r == -EACCES)
                return bpf_words_explain(r, "load the program", ABLE_KERNELS, err);
        if (r < 0)
                r = load_slowly(s, err);
        if (r < 0)
                return r;
        r = map_rings(s);
        return r < 0 ? bpf_words_explain(r, "map its rings", ABLE_KERNELS, err) : 0;
}

int switch_source_open(const struct switch_source_options *options, struct switch_source **ret_source,
                       struct error *err)
{
        struct switch_source *s = calloc(1, sizeof(*s));
        int code;

        if (!s)
                return error_set(err, -ENOMEM, "no memory for context switches");
        s->wake_fd = s->processes_fd = -1;
        code = check_namespace(err);
        if (code == 0)
                code = switch_source_count_cpus(s, err);
        if (code < 0)
                goto fail;
        choose_settings(s, options);
        code = switch_source_load(s, err);
        if (code < 0)
                goto fail;
        *ret_source = s;
        return 0;

fail:
        switch_source_close(s);
        return code;
}

/* Those that follow processes only where that matters. */
static bool is_needed(const struct switch_source *s, struct bpf_program *program)
{
        const char *name = bpf_program__name(program);

        return bpf_program__autoload(program) &&
               (s->scope.filter == SWITCH_FILTER_PROCESSES ||
                (strcmp(name, "on_fork") != 0 && strcmp(name, "on_free") != 0));
}

/* The program's variable is all that its map of variables has. */
static int set_scope(const struct switch_source *s)
{
        struct bpf_map *variables = bpf_object__find_map_by_name(s->object, ".bss");
        const uint32_t key = 0;

        if (!variables || bpf_map__value_size(variables) != sizeof(s->scope))
                return -EINVAL;
        return bpf_map_update_elem(bpf_map__fd(variables), &key, &s->scope, BPF_ANY) < 0 ? -errno : 0;
}

static void choose_cpus(struct switch_source *s, const struct cpu_list *cpus)
{
        for (size_t cpu = 0; cpu < s->n_cpus; cpu++) {
                bool is_wanted = false;

                for (size_t i = 0; i < cpus->n_cpus; i++)
                        is_wanted |= (size_t)cpus->cpus[i] == cpu;
                switch_ring_set_off(&s->cpus[cpu].ring, !is_wanted);
        }
}

int switch_source_begin(struct switch_source *s, int cgroup_fd, bool everything, const struct cpu_list *cpus,
                        struct error *err)
{
        struct bpf_program *program;
        struct stat cgroup;
        int r;

        s->scope.filter = everything ? SWITCH_FILTER_NONE : SWITCH_FILTER_PROCESSES;
        if (!everything && cgroup_fd >= 0) {
                if (fstat(cgroup_fd, &cgroup) < 0)
                        return error_errno(err, "cgroup");
                s->scope.filter = SWITCH_FILTER_CGROUP;
                s->scope.cgroup_id = cgroup.st_ino;
        }
        r = set_scope(s);
        if (r < 0)
                return bpf_words_explain(r, "choose the recorded switches", ABLE_KERNELS, err);
        choose_cpus(s, cpus);
        /* From the first switch on its time lies between two readings. */
        monotonic_clock_pair(&s->clock);
        bpf_object__for_each_program(program, s->object)
        {
                struct bpf_link *link;

                if (!is_needed(s, program))
                        continue;
                if (s->n_links == PROGRAMS_MAX)
                        return bpf_words_explain(-E2BIG, "attach the program", ABLE_KERNELS, err);
                link = bpf_program__attach_trace(program);
                if (!link)
                        return bpf_words_explain(-errno, "attach the program", ABLE_KERNELS, err);
                s->links[s->n_links++] = link;
        }
        return 0;
}

void switch_source_close(struct switch_source *s)
{
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

        if (!s)
                return;
        for (size_t i = 0; i < s->n_links; i++)
                (void)bpf_link__destroy(s->links[i]);
        if (s->wake_head)
                (void)munmap(s->wake_head, page_bytes);
        if (s->wake_consumer)
                (void)munmap(s->wake_consumer, page_bytes);
        if (s->map)
                (void)munmap(s->map, s->map_bytes);
        bpf_object__close(s->object);
        free(s->cpus);
        free(s);
}

int switch_source_add_process(struct switch_source *s, uint32_t pid)
{
        const uint8_t value = 1;

        if (!s || s->scope.filter == SWITCH_FILTER_CGROUP)
                return 0;
        return bpf_map_update_elem(s->processes_fd, &pid, &value, BPF_ANY) < 0 ? -errno : 0;
}

int switch_source_fd(const struct switch_source *s)
{
        return s ? s->wake_fd : -1;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/*
 * Everything that is there now, and then the clocks: so each record lies before
 * the last reading.
 */
static void switch_source_look(struct switch_source *s)
{
        for (size_t i = 0; i < s->n_cpus; i++)
                switch_ring_look(&s->cpus[i].ring);
        monotonic_clock_pair(&s->clock);
        /* Pairs with the release of the kernel's ring buffer. */
        __atomic_store_n(s->wake_consumer, __atomic_load_n(s->wake_head, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
        s->looked = true;
}

/* Decodes the oldest record of a ring, if that is not done yet. */
static bool switch_source_fill(struct switch_source *s, size_t cpu)
{
        struct cpu_ring *c = &s->cpus[cpu];
        const uint8_t *bytes;
        uint64_t time_ns;
        size_t n_bytes;
        int r;

        while (c->record_bytes == 0) {
                r = switch_ring_peek(&c->ring, &bytes, &n_bytes, NULL);
                if (r < 0) { /* nothing in it can be found any more */
                        s->n_garbage++;
                        switch_ring_clear(&c->ring);
                }
                if (r <= 0)
                        return false;
                if (switch_record_decode(bytes, n_bytes, (uint32_t)cpu, &c->record, NULL) < 0 ||
                    c->record.n_records == 0) {
                        s->n_garbage++;
                        switch_ring_consume(&c->ring, n_bytes);
                        continue;
                }
                c->record_bytes = n_bytes;
                c->n_given = 0;
                time_ns = tick_clock_to_ns(&s->clock, c->record.records[0].time_ns);
                for (unsigned i = 0; i < c->record.n_records; i++)
                        c->record.records[i].time_ns = time_ns;
        }
        return true;
}

static void switch_source_give_back(struct switch_source *s)
{
        for (size_t i = 0; i < s->n_cpus; i++)
                switch_ring_release(&s->cpus[i].ring);
        s->looked = false;
}

int switch_source_peek(struct switch_source *s, uint64_t until_ns, const struct perf_record **ret_record)
{
        struct cpu_ring *oldest = NULL;
        uint64_t oldest_ns = 0;

        if (!s)
                return 0;
        if (!s->looked)
                switch_source_look(s);
        for (size_t i = 0; i < s->n_cpus; i++) {
                struct cpu_ring *c = &s->cpus[i];

                if (switch_source_fill(s, i) && (!oldest || c->record.records[0].time_ns < oldest_ns)) {
                        oldest = c;
                        oldest_ns = c->record.records[0].time_ns;
                }
        }
        if (!oldest || oldest_ns > until_ns) {
                switch_source_give_back(s);
                return 0;
        }
        s->turn = oldest;
        *ret_record = &oldest->record.records[oldest->n_given];
        return 1;
}

void switch_source_consume(struct switch_source *s)
{
        struct cpu_ring *c = s ? s->turn : NULL;

        if (!c || ++c->n_given < c->record.n_records)
                return;
        switch_ring_consume(&c->ring, c->record_bytes);
        c->record_bytes = 0;
}

uint64_t switch_source_count_lost(const struct switch_source *s)
{
        uint64_t n_lost = s ? s->n_garbage : 0;

        for (size_t i = 0; s && i < s->n_cpus; i++)
                n_lost += switch_ring_count_lost(&s->cpus[i].ring);
        return n_lost;
}
