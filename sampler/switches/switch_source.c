/* SPDX-License-Identifier: MIT */
#include "sampler/switches/switch_source.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "instrument/tick_clock.h"
#include "sampler/bpf/switch_layout.h"
#include "sampler/bpf/syscall_layout.h"
#include "sampler/kernel/bpf_programs.h"
#include "sampler/kernel/kernel_types.h"
#include "sampler/kernel/monotonic_clock.h"
#include "sampler/pace/pace.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/proc/cpu_list.h"
#include "sampler/proc/idle_stat.h"
#include "sampler/switches/switch_rings.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define RING_BYTES_MIN (UINT64_C(1) << 16) /* of a CPU: room for several records with a stack */
#define LATE_SHARES    2                   /* the ring of long waits' stacks is smaller by this factor */
#define PROGRAMS_MAX   8
#define ABLE_KERNELS   "Linux 5.15 with BTF"
#define HOOK_SECTION   "tp_btf/"       /* then the name of the hook */
#define LATE_HOOK      "sched_exit_tp" /* since Linux 6.16 */
#define PAGE_BYTES     UINT64_C(4096)  /* the smallest page size of all machines that we know */
#define SKIPPED_FRAMES \
        2 /* frames on top of a kernel's call stack: the BPF program and its caller; next is the scheduler */
/*
 * The initial PID namespace (the kernel's PROC_PID_INIT_INO): if we are in another one, the BPF program
 * sees other PIDs than we do.
 */
#define INITIAL_PID_NAMESPACE UINT64_C(0xeffffffc)

/* The rings of all CPUs, which are one map of the program. */
struct ring_table {
        const char *name;
        uint64_t ring_bytes;
        size_t stride_bytes, map_bytes;
        void *map; /* owned */
};

enum { TABLE_RINGS, TABLE_LATE, N_TABLES }; /* the second has the stacks of long waits */

struct switch_source {
        int python_fd; /* borrowed while the program is loaded; -1 = none */
        struct bpf_object *object;
        struct bpf_link *links[PROGRAMS_MAX];
        size_t n_links;
        struct switch_settings settings;
        bool copies;   /* stacks are copied: of waits, or of system calls */
        bool syscalls; /* their sums are wanted */
        struct switch_scope scope;
        struct ring_table tables[N_TABLES];
        size_t n_tables;           /* that are in use */
        struct switch_rings rings; /* of all CPUs, table by table */
        size_t n_cpus;
        uint64_t *idle_before_ns; /* heap, owned: by CPU, of /proc/stat at the beginning; NULL = not wanted */
        int processes_fd;         /* borrowed from `object` */
        int wake_fd;              /* the same */
        unsigned long *wake_consumer; /* mappings of the ring that wakes us, owned */
        unsigned long *wake_head;     /* the same */
        bool looked;                  /* the heads were read since all records were taken last */
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

/* A CPU that comes online later has no ring, just as it has no perf events. */
static int count_cpus(struct switch_source *s, struct error *err)
{
        int r = cpu_list_count_places(&s->n_cpus, err);

        if (r == 0 && switch_rings_init(&s->rings, N_TABLES * s->n_cpus) < 0)
                r = error_set(err, -ENOMEM, "no memory for context switches");
        return r;
}

/*
 * True since Linux 5.18.  Looking this up in the kernel's types would take as long as loading the program.
 */
static bool tells_prev_state(void)
{
        unsigned major = 0, minor = 0;
        struct utsname system;

        if (uname(&system) < 0 ||
            sscanf(system.release, "%u.%u", &major, &minor) != 2) /* NOLINT(cert-err34-c) */
                return false;
        return major > 5 || (major == 5 && minor >= 18);
}

/*
 * A record extends past its ring's end by at most its own size; a copy's last piece is tried at full size.
 */
static void choose_ring_table(struct switch_source *s, struct ring_table *table, const char *name,
                              uint64_t ring_bytes)
{
        size_t out_bytes = s->copies ? s->settings.copy_bytes + UINT64_C(2) * SWITCH_PIECE_BYTES : 0;

        table->name = name;
        table->ring_bytes = ring_bytes;
        table->stride_bytes = SWITCH_RING_HEAD_BYTES + ring_bytes + PAGE_BYTES +
                              (out_bytes & ~(PAGE_BYTES - 1));
        table->map_bytes = table->stride_bytes * s->n_cpus;
}

static void choose_settings(struct switch_source *s, const struct switch_source_options *options)
{
        uint64_t ring_bytes = RING_BYTES_MIN;

        s->settings.has_prev_state = tells_prev_state();
        s->settings.python = options->python_fd >= 0;
        s->python_fd = options->python_fd;

        s->syscalls = options->syscalls;
        s->copies = options->stacks || options->syscalls;
        s->settings.frame_pointers = s->copies && options->copy_bytes == 0;
        if (s->settings.frame_pointers)
                s->settings.copy_bytes = SWITCH_USER_FRAMES * sizeof(uint64_t);
        else if (s->copies) {
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
        s->settings.stacks = options->stacks;
        s->settings.idle = options->idle;
        s->settings.n_skipped_frames = SKIPPED_FRAMES;
        s->settings.late_bytes = RING_BYTES_MIN;
        while (s->settings.late_bytes < ring_bytes / LATE_SHARES ||
               s->settings.late_bytes < 4 * s->settings.copy_bytes)
                s->settings.late_bytes *= 2;
        choose_ring_table(s, &s->tables[TABLE_RINGS], "rings", ring_bytes);
        choose_ring_table(s, &s->tables[TABLE_LATE], "late_rings", s->settings.late_bytes);
}

/*
 * Older kernels have no hook for a thread that resumes: on these, the stacks of all waits are taken by
 * rate.
 */
static void choose_late_stacks(struct switch_source *s, bool has_hook)
{
        s->settings.late_stacks = s->settings.stacks && has_hook;
        s->n_tables = s->settings.late_stacks || s->syscalls ? N_TABLES : TABLE_LATE;
        s->rings.n_items = s->n_tables * s->n_cpus;
}

static int size_map(struct switch_source *s, const char *name, uint32_t n_entries)
{
        struct bpf_map *map = bpf_object__find_map_by_name(s->object, name);

        return map ? bpf_map__set_max_entries(map, n_entries) : -ENOENT;
}

static int size_table(struct switch_source *s, const struct ring_table *table)
{
        struct bpf_map *map = bpf_object__find_map_by_name(s->object, table->name);
        int r = map && table->stride_bytes <= UINT32_MAX ? 0 : -EINVAL;

        if (r == 0)
                r = bpf_map__set_value_size(map, (uint32_t)table->stride_bytes);
        return r == 0 ? bpf_map__set_max_entries(map, (uint32_t)s->n_cpus) : r;
}

/* Without a Python table the program does not read the map, so that any map will do. */
static int share_python(struct switch_source *s)
{
        struct bpf_map *map = bpf_object__find_map_by_name(s->object, "python");

        if (!map)
                return -ENOENT;
        return s->python_fd >= 0 ? bpf_map__reuse_fd(map, s->python_fd)
                                 : bpf_map__set_value_size(map, sizeof(uint64_t));
}

static void leave_program_out(const struct switch_source *s, const char *program, bool is_unneeded)
{
        if (is_unneeded)
                (void)bpf_program__set_autoload(bpf_object__find_program_by_name(s->object, program), false);
}

static int leave_syscalls_out(const struct switch_source *s)
{
        static const char *const maps[] = { "syscall_tasks", "syscall_sums", "syscall_rest",
                                            "syscall_states" };
        int r = 0;

        leave_program_out(s, "on_syscall", true);
        leave_program_out(s, "on_syscall_end", true);
        for (size_t i = 0; r == 0 && i < sizeof(maps) / sizeof(maps[0]); i++)
                r = bpf_map__set_autocreate(bpf_object__find_map_by_name(s->object, maps[i]), false);
        return r;
}

/* Sets sizes and constants, and leaves out unneeded parts. */
static int configure(struct switch_source *s)
{
        struct bpf_map *constants = bpf_object__find_map_by_name(s->object, ".rodata");
        int r = constants ? bpf_map__set_initial_value(constants, &s->settings, sizeof(s->settings))
                          : -EINVAL;

        for (size_t i = 0; r == 0 && i < s->n_tables; i++)
                r = size_table(s, &s->tables[i]);
        if (r == 0)
                r = size_map(s, "threads", s->settings.stacks ? SWITCH_THREAD_SLOTS : 1);
        if (r == 0)
                r = share_python(s);
        if (r == 0 && !s->syscalls)
                r = leave_syscalls_out(s);
        leave_program_out(s, "on_waking", !s->settings.stacks);
        leave_program_out(s, "on_exit", !s->settings.late_stacks);
        return r;
}

static int map_table(struct switch_source *s, struct ring_table *table, struct cpu_ring *cpus)
{
        void *at = mmap(NULL, table->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                        bpf_map__fd(bpf_object__find_map_by_name(s->object, table->name)), 0);

        if (at == MAP_FAILED)
                return -errno;
        table->map = at;
        for (size_t i = 0; i < s->n_cpus; i++) {
                cpus[i].cpu = (uint32_t)i;
                switch_ring_init(&cpus[i].ring, (uint8_t *)at + i * table->stride_bytes, table->ring_bytes,
                                 table->stride_bytes - SWITCH_RING_HEAD_BYTES);
        }
        return 0;
}

static int map_rings(struct switch_source *s)
{
        struct bpf_map *wake = bpf_object__find_map_by_name(s->object, "wake");
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        void *at;
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->n_tables; i++)
                r = map_table(s, &s->tables[i], s->rings.items + i * s->n_cpus);
        if (r < 0)
                return r;
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

/* Prepares as libbpf would, but with the known type id of the hook. */
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
 * libbpf reads all types of the kernel for any program of this type.  Until it is loaded, the program is
 * therefore a raw tracepoint, which has the same argument.
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

static bool has_late_hook(const struct hooks *hooks)
{
        for (size_t i = 0; i < hooks->n_items; i++)
                if (strcmp(hooks->items[i].name, LATE_HOOK) == 0)
                        return hooks->items[i].id != 0;
        return false;
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

/*
 * Loads the program with only the kernel types that it needs, which saves most of the time.  Returns 0 or
 * -errno.
 */
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
                choose_late_stacks(s, has_late_hook(&hooks));
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
        choose_late_stacks(s, false); /* whether the kernel has the hook is not known */
        if (!s->object)
                return bpf_words_explain(-errno, "read the program", ABLE_KERNELS, err);
        r = configure(s);
        if (r < 0)
                return bpf_words_explain(r, "set up the program", ABLE_KERNELS, err);
        r = bpf_object__load(s->object);
        return r < 0 ? bpf_words_explain(r, "load the program", ABLE_KERNELS, err) : 0;
}

static int load(struct switch_source *s, struct error *err)
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
                code = count_cpus(s, err);
        if (code < 0)
                goto fail;
        choose_settings(s, options);
        code = load(s, err);
        if (code < 0)
                goto fail;
        *ret_source = s;
        return 0;

fail:
        switch_source_close(s);
        return code;
}

/* Programs that follow processes are needed only in that scope. */
static bool is_needed(const struct switch_source *s, struct bpf_program *program)
{
        const char *name = bpf_program__name(program);

        return bpf_program__autoload(program) &&
               (s->scope.filter == SWITCH_FILTER_PROCESSES ||
                (strcmp(name, "on_fork") != 0 && strcmp(name, "on_free") != 0));
}

/* The scope is the BPF program's only variable, so its map of variables has nothing else. */
static int set_scope(const struct switch_source *s)
{
        struct bpf_map *variables = bpf_object__find_map_by_name(s->object, ".bss");
        const uint32_t key = 0;

        if (!variables || bpf_map__value_size(variables) != sizeof(s->scope))
                return -EINVAL;
        return bpf_map_update_elem(bpf_map__fd(variables), &key, &s->scope, BPF_ANY) < 0 ? -errno : 0;
}

static int begin_idle(struct switch_source *s)
{
        struct timespec now;

        if (!s->settings.idle)
                return 0;
        s->idle_before_ns = calloc(s->n_cpus, sizeof(*s->idle_before_ns));
        if (!s->idle_before_ns)
                return -ENOMEM;
        idle_stat_read(s->idle_before_ns, s->n_cpus);
        if (clock_gettime(CLOCK_MONOTONIC, &now) < 0)
                return -errno;
        s->scope.began_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
        return 0;
}

static void choose_cpus(struct switch_source *s, const struct cpu_list *cpus)
{
        for (size_t cpu = 0; cpu < s->n_cpus; cpu++) {
                bool is_wanted = false;

                for (size_t i = 0; i < cpus->n_cpus; i++)
                        is_wanted |= (size_t)cpus->cpus[i] == cpu;
                switch_ring_set_off(&s->rings.items[cpu].ring, !is_wanted);
        }
}

int switch_source_begin(struct switch_source *s, int cgroup_fd, bool everything, const struct cpu_list *cpus,
                        struct error *err)
{
        struct bpf_program *program;
        struct stat cgroup;
        int r;

        s->scope.filter = everything ? SWITCH_FILTER_NONE : SWITCH_FILTER_PROCESSES;
        s->scope.cgroup_serial = SWITCH_SERIAL_UNKNOWN;
        if (!everything && cgroup_fd >= 0) {
                if (fstat(cgroup_fd, &cgroup) < 0)
                        return error_errno(err, "cgroup");
                s->scope.filter = SWITCH_FILTER_CGROUP;
                s->scope.cgroup_id = cgroup.st_ino;
        }
        r = begin_idle(s);
        if (r == 0)
                r = set_scope(s);
        if (r < 0)
                return bpf_words_explain(r, "choose the recorded switches", ABLE_KERNELS, err);
        choose_cpus(s, cpus);
        /* The time of every switch, even of the first, lies between two readings of the clocks. */
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

static int map_fd_of(const struct switch_source *s, const char *name)
{
        return bpf_map__fd(bpf_object__find_map_by_name(s->object, name));
}

int switch_source_expect_program(struct switch_source *s, uint32_t pid)
{
        const struct syscall_state state = { .unborn_pid = pid };
        const uint32_t key = 0;

        if (!s->syscalls)
                return 0;
        return bpf_map_update_elem(map_fd_of(s, "syscall_states"), &key, &state, BPF_ANY) < 0 ? -errno : 0;
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
        for (size_t i = 0; i < N_TABLES; i++)
                if (s->tables[i].map)
                        (void)munmap(s->tables[i].map, s->tables[i].map_bytes);
        bpf_object__close(s->object);
        free(s->idle_before_ns);
        switch_rings_deinit(&s->rings);
        free(s);
}

int switch_source_add_process(struct switch_source *s, uint32_t pid)
{
        const uint8_t value = 1;

        if (!s || s->scope.filter == SWITCH_FILTER_CGROUP)
                return 0;
        return bpf_map_update_elem(s->processes_fd, &pid, &value, BPF_ANY) < 0 ? -errno : 0;
}

int switch_source_processes(const struct switch_source *s)
{
        return s && s->scope.filter == SWITCH_FILTER_PROCESSES ? s->processes_fd : -1;
}

int switch_source_fd(const struct switch_source *s)
{
        return s ? s->wake_fd : -1;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* Reads the heads of all rings, and then the clocks: each record is older than the last reading. */
static void look(struct switch_source *s)
{
        switch_rings_look(&s->rings);
        monotonic_clock_pair(&s->clock);
        /* Pairs with the release of the kernel's ring buffer. */
        __atomic_store_n(s->wake_consumer, __atomic_load_n(s->wake_head, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
        switch_rings_fill(&s->rings, &s->clock);
        s->looked = true;
}

void switch_source_note_rings(const struct switch_source *s, struct recorder_pace *pace)
{
        uint64_t ring_bytes, n_unread = s ? switch_rings_find_fullest(&s->rings, &ring_bytes) : 0;

        if (n_unread > 0)
                recorder_pace_note_ring(pace, n_unread, ring_bytes);
}

int switch_source_peek(struct switch_source *s, uint64_t until_ns, const struct perf_record **ret_record)
{
        if (!s)
                return 0;
        if (!s->looked)
                look(s);
        if (switch_rings_peek(&s->rings, until_ns, ret_record))
                return 1;
        switch_rings_release(&s->rings);
        s->looked = false;
        return 0;
}

void switch_source_consume(struct switch_source *s)
{
        if (s)
                switch_rings_consume(&s->rings, &s->clock);
}

size_t switch_source_count_bytes(const struct switch_source *s)
{
        size_t n_bytes = 0;

        for (size_t i = 0; s && i < s->n_tables; i++)
                n_bytes += s->tables[i].map_bytes;
        return n_bytes;
}

static uint64_t count_lost_of(const struct switch_source *s, size_t table)
{
        uint64_t n_lost = 0;

        for (size_t i = table * s->n_cpus; table < s->n_tables && i < (table + 1) * s->n_cpus; i++)
                n_lost += switch_ring_count_lost(&s->rings.items[i].ring);
        return n_lost;
}

/* Reads the sums in batches: reading them one by one would take a system call each. */
static int read_sums(int fd, switch_source_sum_taker *take, void *context)
{
        struct syscall_key *keys = calloc(PACE_SYSCALLS_SUMS, sizeof(*keys));
        struct syscall_sum *sums = calloc(PACE_SYSCALLS_SUMS, sizeof(*sums));
        uint32_t at, *from = NULL;
        bool is_over = false;
        int r = keys && sums ? 0 : -ENOMEM;

        while (r == 0 && !is_over) {
                uint32_t n = PACE_SYSCALLS_SUMS;

                if (bpf_map_lookup_batch(fd, from, &at, keys, sums, &n, NULL) < 0) {
                        is_over = errno == ENOENT;
                        r = is_over ? 0 : -errno;
                }
                for (uint32_t i = 0; r == 0 && i < n; i++)
                        r = take(context, &keys[i], &sums[i]);
                from = &at;
        }
        free(keys);
        free(sums);
        return r;
}

int switch_source_read_syscalls(const struct switch_source *s, switch_source_sum_taker *take, void *context,
                                uint64_t *ret_n_missed)
{
        struct syscall_state state = { .n_missed = 0 };
        struct syscall_key key = { .thread = 0 };
        const uint32_t zero = 0;
        int r;

        if (!s || !s->syscalls)
                return -ENOTSUP;
        r = read_sums(map_fd_of(s, "syscall_sums"), take, context);
        for (; r == 0 && key.number < SYSCALL_NUMBERS; key.number++) {
                struct syscall_sum sum;

                if (bpf_map_lookup_elem(map_fd_of(s, "syscall_rest"), &key.number, &sum) < 0)
                        r = -errno;
                else
                        r = take(context, &key, &sum);
        }
        if (r == 0 && bpf_map_lookup_elem(map_fd_of(s, "syscall_states"), &zero, &state) < 0)
                r = -errno;
        *ret_n_missed = state.n_missed;
        return r;
}

/* For how long a CPU was idle after its last record, at most as long as the recording lasted. */
static uint64_t idle_ns_of(struct switch_source *s, size_t cpu, uint64_t from_ns, uint64_t until_ns,
                           uint64_t stat_ns)
{
        const struct switch_ring *ring = &s->rings.items[cpu].ring;
        uint64_t limit_ns = until_ns > from_ns ? until_ns - from_ns : 0;
        uint64_t idle_ns = ring->idle_ns, since_ns;

        if (ring->idle_since_ns == 0) {
                idle_ns = stat_ns > s->idle_before_ns[cpu] ? stat_ns - s->idle_before_ns[cpu] : 0;
        } else if (ring->idle_since_ns != SWITCH_IDLE_BUSY) {
                since_ns = tick_clock_to_ns(&s->clock, ring->idle_since_ns);
                if (until_ns > since_ns + SWITCH_IDLE_NS)
                        idle_ns += until_ns - since_ns;
        }
        return idle_ns < limit_ns ? idle_ns : limit_ns;
}

void switch_source_add_idle(struct switch_source *s, uint64_t from_ns, uint64_t until_ns,
                            struct byte_buffer *text)
{
        uint64_t *stat_ns = s && s->idle_before_ns ? calloc(s->n_cpus, sizeof(*stat_ns)) : NULL;
        uint64_t idle_ns;
        char words[48];

        if (!stat_ns)
                return;
        idle_stat_read(stat_ns, s->n_cpus);
        for (size_t i = 0; i < s->n_cpus; i++) {
                idle_ns = idle_ns_of(s, i, from_ns, until_ns, stat_ns[i]);
                if (idle_ns == 0 || switch_ring_is_off(&s->rings.items[i].ring))
                        continue;
                (void)snprintf(words, sizeof(words), "%zu=%" PRIu64 ";", i, idle_ns);
                byte_buffer_add(text, words, strlen(words));
        }
        free(stat_ns);
}

uint64_t switch_source_count_lost_stacks(const struct switch_source *s)
{
        return s ? count_lost_of(s, TABLE_LATE) : 0;
}

uint64_t switch_source_count_lost(const struct switch_source *s)
{
        return s ? s->rings.n_garbage + count_lost_of(s, TABLE_RINGS) : 0;
}
