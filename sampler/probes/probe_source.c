/* SPDX-License-Identifier: MIT */
#include "sampler/probes/probe_source.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "instrument/tick_clock.h"
#include "sampler/bpf/probe_layout.h"
#include "sampler/bpf/syscall_layout.h"
#include "sampler/kernel/bpf_programs.h"
#include "sampler/kernel/monotonic_clock.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/probes/probe_plan.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ABLE_KERNELS "Linux 5.15"
#define OWN_CALLS    32 /* of hyprof's own function, to measure a hit */
#define OWN_ROUNDS   8
#define BUSY_BIT     (UINT32_C(1) << 31) /* of the length before a record: it is being written */
#define DISCARD_BIT  (UINT32_C(1) << 30) /* the same: it is none */

static const char *const point_programs[PROBE_POINT_PROGRAMS] = { "on_tracepoint", "on_tracepoint_2",
                                                                  "on_tracepoint_3", "on_tracepoint_4" };

struct probe_source {
        struct probe_plan *plan;
        struct bpf_object *object;
        struct bpf_program *program;                      /* of uprobes */
        struct bpf_program *points[PROBE_POINT_PROGRAMS]; /* of tracepoints: each is at one at most once */
        struct bpf_link **links;              /* heap: of the plan's points; NULL = it is not set */
        int ring_fd, functions_fd, totals_fd; /* borrowed from `object` */
        unsigned long *consumer;              /* mappings of the ring, owned */
        unsigned long *producer;              /* only read */
        const uint8_t *data;                  /* behind `producer`, twice in a row */
        uint64_t at, until;                   /* where the next record is; what was there when we looked */
        uint64_t rate_max, hit_ns, point_ns;
        bool looked, has_record;
        struct perf_record record;
        struct probe_arguments arguments; /* scratch */
        struct byte_buffer text;          /* of the record */
        struct tick_clock clock;          /* its ticks are nanoseconds of CLOCK_MONOTONIC */
};

/* ---- opening ------------------------------------------------------------------------------------------- */

static struct bpf_map *map_of(const struct probe_source *s, const char *name)
{
        return bpf_object__find_map_by_name(s->object, name);
}

/* How many of the programs for tracepoints are needed. */
static size_t count_programs(const struct probe_plan *plan)
{
        size_t n_most = 0;

        for (size_t i = 0; i < plan->n_points; i++) {
                const char *tracepoint = plan->points[i].tracepoint;
                size_t n = tracepoint ? probe_plan_count_uses(plan, tracepoint) : 0;

                n_most = n > n_most ? n : n_most;
        }
        return n_most;
}

static int configure(struct probe_source *s, const struct probe_source_options *options)
{
        struct probe_settings settings = { .scope = options->cgroup_fd >= 0      ? PROBE_SCOPE_CGROUP
                                                    : options->processes_fd >= 0 ? PROBE_SCOPE_PROCESSES
                                                                                 : PROBE_SCOPE_ALL };
        size_t n_programs = count_programs(options->plan);
        int r;

        memcpy(settings.syscalls, options->plan->syscalls, sizeof(settings.syscalls));
        r = bpf_map__set_initial_value(map_of(s, ".rodata"), &settings, sizeof(settings));
        if (r == 0)
                r = bpf_program__set_autoload(s->program, s->plan->n_points > s->plan->n_tracepoints);
        for (size_t i = 0; r == 0 && i < PROBE_POINT_PROGRAMS; i++)
                r = bpf_program__set_autoload(s->points[i], i < n_programs);
        if (r == 0 && settings.scope == PROBE_SCOPE_PROCESSES)
                r = bpf_map__reuse_fd(map_of(s, "processes"), options->processes_fd);
        return r;
}

static int map_ring(struct probe_source *s)
{
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        void *at;

        s->ring_fd = bpf_map__fd(map_of(s, "probe_ring"));
        at = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->ring_fd, 0);
        if (at == MAP_FAILED)
                return -errno;
        s->consumer = at;
        at = mmap(NULL, page_bytes + 2 * PROBE_RING_BYTES, PROT_READ, MAP_SHARED, s->ring_fd,
                  (off_t)page_bytes);
        if (at == MAP_FAILED)
                return -errno;
        s->producer = at;
        s->data = (const uint8_t *)at + page_bytes;
        return 0;
}

static int load(struct probe_source *s, const struct probe_source_options *options, struct error *err)
{
        const struct bpf_object_open_opts opts = { .sz = sizeof(opts), .object_name = "hyprof_probes" };
        const uint32_t key = 0;
        int r;

        bpf_words_silence_libbpf();
        s->object = bpf_object__open_mem(probe_program, probe_program_bytes, &opts);
        if (!s->object)
                return bpf_words_explain(-errno, "read the program of function zones", ABLE_KERNELS, err);
        s->program = bpf_object__find_program_by_name(s->object, "on_probe");
        for (size_t i = 0; i < PROBE_POINT_PROGRAMS; i++)
                s->points[i] = bpf_object__find_program_by_name(s->object, point_programs[i]);
        r = configure(s, options);
        if (r == 0)
                r = bpf_object__load(s->object);
        if (r == 0)
                r = map_ring(s);
        if (r == 0 && options->cgroup_fd >= 0 &&
            bpf_map_update_elem(bpf_map__fd(map_of(s, "cgroups")), &key, &options->cgroup_fd, BPF_ANY) < 0)
                r = -errno;
        if (r < 0)
                return bpf_words_explain(r, "load the program of function zones", ABLE_KERNELS, err);
        for (uint32_t i = 0; i < s->plan->n_specs; i++)
                if (bpf_map_update_elem(bpf_map__fd(map_of(s, "specs")), &i, &s->plan->specs[i], BPF_ANY) < 0)
                        return bpf_words_explain(-errno, "describe arguments", ABLE_KERNELS, err);
        s->functions_fd = bpf_map__fd(map_of(s, "functions"));
        s->totals_fd = bpf_map__fd(map_of(s, ".bss"));
        return 0;
}

static struct bpf_link *set_tracepoint(const struct probe_source *s, const char *tracepoint, uint64_t cookie)
{
        const struct bpf_tracepoint_opts opts = { .sz = sizeof(opts), .bpf_cookie = cookie };
        const char *colon = strchr(tracepoint, ':');
        struct bpf_link *link = NULL;
        char group[128];

        (void)snprintf(group, sizeof(group), "%.*s", (int)(colon - tracepoint), tracepoint);
        errno = EEXIST;
        for (size_t i = 0; !link && errno == EEXIST && i < PROBE_POINT_PROGRAMS; i++)
                link = bpf_program__attach_tracepoint_opts(s->points[i], group, colon + 1, &opts);
        return link;
}

/* Sets one probe, in all programs that map the file. */
static struct bpf_link *set_probe(const struct probe_source *s, int fd, const struct probe_point *point)
{
        const struct bpf_uprobe_opts opts = { .sz = sizeof(opts),
                                              .bpf_cookie = point->cookie,
                                              .ref_ctr_offset = point->semaphore_off };
        char path[32];

        if (point->tracepoint)
                return set_tracepoint(s, point->tracepoint, point->cookie);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        return bpf_program__attach_uprobe_opts(s->program, -1, path, point->file_off, &opts);
}

static void unset_function(struct probe_source *s, uint32_t function)
{
        for (size_t i = 0; i < s->plan->n_points; i++) {
                if (s->plan->points[i].function != function || !s->links[i])
                        continue;
                (void)bpf_link__destroy(s->links[i]);
                s->links[i] = NULL;
        }
}

/* A function is probed at all of its points or not at all.  -EPERM comes without words. */
static int set_probes(struct probe_source *s, struct error *err)
{
        struct probe_plan *plan = s->plan;
        size_t n_set = 0;
        int last = 0;

        for (size_t i = 0; i < plan->n_points; i++) {
                const struct probe_point *p = &plan->points[i];
                struct probe_function *f = &plan->functions[p->function];

                if (f->is_off)
                        continue;
                s->links[i] = set_probe(s, plan->files[f->file].fd, p);
                if (s->links[i])
                        continue;
                last = errno;
                f->is_off = true;
                unset_function(s, p->function);
                byte_buffer_add_format(&plan->notes,
                                       "%s has no zones: the kernel cannot set a probe at %s (errno %d)\n",
                                       f->name, p->tracepoint ? p->tracepoint : "an instruction of it", last);
        }
        for (size_t i = 0; i < plan->n_functions; i++)
                n_set += !plan->functions[i].is_off;
        if (n_set > 0)
                return 0;
        if (last == EPERM || last == EACCES)
                return -EPERM;
        return error_set(err, -ENOENT, "the kernel cannot set a probe in any of these functions (errno %d)",
                         last);
}

/* ---- what a hit costs ---------------------------------------------------------------------------------- */

static __attribute__((noinline)) void own_function(void)
{
        __asm__ volatile("" ::: "memory");
}

struct own_place {
        uint64_t file_off;
};

static int find_own(struct dl_phdr_info *info, size_t n_bytes, void *context)
{
        struct own_place *place = context;
        uint64_t at = (uint64_t)(uintptr_t)own_function - info->dlpi_addr;

        (void)n_bytes;
        for (size_t i = 0; i < info->dlpi_phnum; i++)
                if (info->dlpi_phdr[i].p_type == PT_LOAD &&
                    at - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_filesz)
                        place->file_off = at - info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_offset;
        return 1; /* the first one is the program */
}

static void own_syscall(void)
{
        (void)syscall(SYS_getppid);
}

/* How long a call takes.  The shortest round counts: nothing disturbed it. */
static uint64_t measure_calls(void (*call)(void))
{
        uint64_t best_ns = UINT64_MAX;

        for (int round = 0; round < OWN_ROUNDS; round++) {
                uint64_t ns = clock_raw_ns();

                for (int i = 0; i < OWN_CALLS; i++)
                        call();
                ns = (clock_raw_ns() - ns) / OWN_CALLS;
                best_ns = ns < best_ns ? ns : best_ns;
        }
        return best_ns;
}

static uint64_t measure_hit(const struct probe_source *s)
{
        struct own_place place = { .file_off = 0 };
        uint64_t ns;
        struct bpf_link *link;
        char path[] = "/proc/self/exe";
        const struct bpf_uprobe_opts opts = { .sz = sizeof(opts),
                                              .bpf_cookie = probe_cookie(PROBE_OWN, PROBE_BEGIN, 0, 0, 0) };

        (void)dl_iterate_phdr(find_own, &place);
        link = place.file_off ? bpf_program__attach_uprobe_opts(s->program, -1, path, place.file_off, &opts)
                              : NULL;
        if (!link)
                return 0;
        ns = measure_calls(own_function);
        (void)bpf_link__destroy(link);
        return ns;
}

/* By what a system call takes longer with a tracepoint at its begin. */
static uint64_t measure_point(const struct probe_source *s)
{
        uint64_t without_ns = measure_calls(own_syscall), ns;
        struct bpf_link *link = set_tracepoint(s, "raw_syscalls:sys_enter",
                                               probe_cookie(PROBE_OWN, PROBE_BEGIN, 0, PROBE_OWN_SPEC, 0));

        if (!link)
                return 0;
        ns = measure_calls(own_syscall);
        (void)bpf_link__destroy(link);
        return ns > without_ns ? ns - without_ns : 0;
}

int probe_source_open(const struct probe_source_options *options, struct probe_source **ret_source,
                      struct error *err)
{
        struct probe_source *s = calloc(1, sizeof(*s));
        int code;

        if (!s)
                return error_set(err, -ENOMEM, "no memory for zones of functions");
        s->ring_fd = -1;
        s->plan = options->plan;
        s->rate_max = options->rate_max;
        s->links = calloc(s->plan->n_points + 1, sizeof(*s->links)); /* NOLINT(bugprone-sizeof-expression) */
        code = s->links ? load(s, options, err) : error_set(err, -ENOMEM, "no memory for zones of functions");
        if (code == 0) {
                monotonic_clock_pair(&s->clock);
                if (s->plan->n_points > s->plan->n_tracepoints)
                        s->hit_ns = measure_hit(s);
                if (s->plan->n_tracepoints > 0)
                        s->point_ns = measure_point(s);
                code = set_probes(s, err);
        }
        if (code == -EPERM)
                code = error_set(err, -ENOTSUP, "BPF: only root may set probes (CAP_SYS_ADMIN); use sudo");
        if (code < 0) {
                probe_source_close(s);
                return code;
        }
        *ret_source = s;
        return 0;
}

void probe_source_stop(struct probe_source *s)
{
        for (size_t i = 0; s && i < s->plan->n_points; i++) {
                if (s->links[i])
                        (void)bpf_link__destroy(s->links[i]);
                s->links[i] = NULL;
        }
}

void probe_source_close(struct probe_source *s)
{
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

        if (!s)
                return;
        if (s->links)
                probe_source_stop(s);
        if (s->consumer)
                (void)munmap(s->consumer, page_bytes);
        if (s->producer)
                (void)munmap(s->producer, page_bytes + 2 * PROBE_RING_BYTES);
        bpf_object__close(s->object);
        byte_buffer_deinit(&s->text);
        free(s->links);
        free(s);
}

int probe_source_fd(const struct probe_source *s)
{
        return s ? s->ring_fd : -1;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* Too many calls: the function is no longer probed; those that are open end with their callers. */
static void limit(struct probe_source *s, struct probe_function *f, uint32_t function, uint64_t now_ns)
{
        struct probe_function_state state = { .is_off = 1 };

        if (now_ns - f->since_ns >= NS_PER_S) {
                f->since_ns = now_ns;
                f->n_taken = 0;
        }
        if (++f->n_taken <= 2 * s->rate_max || f->is_off)
                return;
        f->is_off = true;
        if (bpf_map_lookup_elem(s->functions_fd, &function, &state) == 0) {
                state.is_off = 1;
                (void)bpf_map_update_elem(s->functions_fd, &function, &state, BPF_ANY);
        }
        unset_function(s, function);
        byte_buffer_add_format(&s->plan->notes, "%s was switched off: more than %llu calls in a second\n",
                               f->name, (unsigned long long)s->rate_max);
}

/* Bytes that people can read, and something at all. */
static bool is_text(const char *bytes, int32_t n_bytes)
{
        if (n_bytes < 2 || n_bytes > PROBE_TEXT_BYTES)
                return false;
        for (int32_t i = 0; i < n_bytes - 1; i++)
                if ((unsigned char)bytes[i] < ' ' && !strchr("\t\n\r", bytes[i]))
                        return false;
        return true;
}

static void put_enumerator(struct byte_buffer *to, const char *names, int64_t value)
{
        char wanted[32];
        int n = snprintf(wanted, sizeof(wanted), "%" PRId64 " ", value);

        while (names && *names) {
                size_t length = strcspn(names, ",");

                if (strncmp(names, wanted, (size_t)n) == 0) {
                        byte_buffer_add(to, names + n, length - (size_t)n);
                        return;
                }
                names += length + (names[length] == ',');
        }
        byte_buffer_add_format(to, "%" PRId64, value);
}

/* Text of the program's: bytes that are no text become dots.  @max: of an array; 0 = up to its NUL. */
static void put_text(struct byte_buffer *to, const char *bytes, int32_t n_bytes, uint32_t max)
{
        if (n_bytes == PROBE_TEXT_NONE)
                byte_buffer_add_format(to, "(null)");
        else if (n_bytes <= 0 || n_bytes > PROBE_TEXT_BYTES)
                byte_buffer_add_format(to, "(unreadable)");
        for (int32_t i = 0; n_bytes <= PROBE_TEXT_BYTES && i < n_bytes - 1; i++) {
                if (max > 0 && (uint32_t)i == max)
                        break;
                byte_buffer_add_u8(to, (unsigned char)bytes[i] < ' ' ? '.' : (uint8_t)bytes[i]);
        }
}

/* A floating-point number has the bits of `value`, as many as it has bytes. */
static void put_floating(struct byte_buffer *to, uint64_t value, uint32_t size)
{
        uint32_t bits = (uint32_t)value;
        double number;
        float small;

        memcpy(&number, &value, sizeof(number));
        memcpy(&small, &bits, sizeof(small));
        byte_buffer_add_format(to, "%.9g", size == sizeof(small) ? (double)small : number);
}

/* A function's argument, as its debug information describes it. */
static void put_argument(struct probe_source *s, const struct probe_function *f,
                         const struct probe_arguments *from, uint32_t i)
{
        uint64_t value = from->values[i];

        if (f->styles[i] == PROBE_STYLE_TEXT) {
                put_text(&s->text, from->texts[i], from->text_bytes[i], f->text_max[i]);
                return;
        }
        if (from->text_bytes[i] == PROBE_TEXT_UNKNOWN) {
                byte_buffer_add_format(&s->text, "(unreadable)");
                return;
        }
        switch (f->styles[i]) {
        case PROBE_STYLE_UNSIGNED:
                byte_buffer_add_format(&s->text, "%" PRIu64, value);
                return;
        case PROBE_STYLE_HEX:
                byte_buffer_add_format(&s->text, "0x%" PRIx64, value);
                return;
        case PROBE_STYLE_BOOL:
                if (value > 1)
                        break;
                byte_buffer_add_format(&s->text, "%s", value == 1 ? "true" : "false");
                return;
        case PROBE_STYLE_CHARACTER:
                if (value <= ' ' || value >= 127)
                        break;
                byte_buffer_add_format(&s->text, "'%c'", (int)value);
                return;
        case PROBE_STYLE_ENUM:
                put_enumerator(&s->text, f->enumerators[i], (int64_t)value);
                return;
        case PROBE_STYLE_FLOATING:
                put_floating(&s->text, value, f->sizes[i]);
                return;
        default:
                break;
        }
        byte_buffer_add_format(&s->text, "%" PRId64, (int64_t)value);
}

/* The arguments as words: a text that one points to, else its number. */
static void put_arguments(struct probe_source *s, const struct probe_function *f,
                          const struct probe_arguments *from, uint32_t n_args)
{
        for (uint32_t i = 0; i < n_args; i++) {
                if (s->text.used_bytes > 0)
                        byte_buffer_add(&s->text, i == 0 ? ": " : ", ", 2);
                if (f->fields[i])
                        byte_buffer_add_format(&s->text, "%s=", f->fields[i]);
                if (f->has_arguments)
                        put_argument(s, f, from, i);
                else if (from->text_bytes[i] == PROBE_TEXT_UNKNOWN)
                        byte_buffer_add(&s->text, "?", 1);
                else if (is_text(from->texts[i], from->text_bytes[i]))
                        byte_buffer_add(&s->text, from->texts[i], (size_t)from->text_bytes[i] - 1);
                else if (from->values[i] >= PROBE_USER_MIN && from->text_bytes[i] != 0)
                        byte_buffer_add_format(&s->text, "0x%" PRIx64, (uint64_t)from->values[i]);
                else
                        byte_buffer_add_format(&s->text, "%" PRId64, (int64_t)from->values[i]);
        }
}

/* A system call returned a number, an address, or an error, which has a name. */
static void put_result(struct probe_source *s, int64_t result)
{
        const char *name = result < 0 && result >= -SYSCALL_ERRNO_MAX ? strerrorname_np((int)-result) : NULL;

        switch (-result) { /* the kernel's own: it repeats the call after a signal */
        case 512:
                name = "ERESTARTSYS";
                break;
        case 513:
                name = "ERESTARTNOINTR";
                break;
        case 514:
                name = "ERESTARTNOHAND";
                break;
        case 516:
                name = "ERESTART_RESTARTBLOCK";
                break;
        default:
                break;
        }
        if (name)
                byte_buffer_add(&s->text, name, strlen(name));
        else if (result > UINT32_MAX || result < -SYSCALL_ERRNO_MAX)
                byte_buffer_add_format(&s->text, "0x%" PRIx64, (uint64_t)result);
        else
                byte_buffer_add_format(&s->text, "%" PRId64, result);
}

static uint32_t syscall_number(const struct probe_arguments *from, bool is_32_bit)
{
        uint64_t number = from->values[0] < SYSCALL_NUMBER_MAX ? from->values[0] : SYSCALL_NUMBER_MAX;

        return (uint32_t)number + (is_32_bit ? SYSCALL_32_BIT : 0);
}

/* Writes the text of the record, from the bytes that follow it. */
static void decode_arguments(struct probe_source *s, const struct probe_function *f,
                             const struct probe_record *from, const uint8_t *bytes, size_t n_bytes)
{
        if (n_bytes < PROBE_SHORT_BYTES - sizeof(*from))
                return;
        memset(s->arguments.text_bytes, 0, sizeof(s->arguments.text_bytes));
        memcpy(&s->arguments, bytes, n_bytes < sizeof(s->arguments) ? n_bytes : sizeof(s->arguments));
        if (f->kind != PROBE_WISH_SYSCALLS)
                put_arguments(s, f, &s->arguments, from->n_args);
        else if (from->kind == PROBE_END)
                put_result(s, (int64_t)s->arguments.values[1]);
}

/* Reads the record at `at`.  Returns false if it is not to be taken. */
static bool decode(struct probe_source *s, const uint8_t *bytes, uint32_t n_bytes)
{
        struct probe_record from;
        struct probe_function *f;

        if (n_bytes < sizeof(from))
                return false;
        memcpy(&from, bytes, sizeof(from));
        if (from.function >= s->plan->n_functions || from.n_args > PROBE_ARGS_MAX)
                return false;
        f = &s->plan->functions[from.function];
        byte_buffer_clear(&s->text);
        if (from.kind == (PROBE_MARK | PROBE_IS_STATIC))
                byte_buffer_add(&s->text, f->name, strlen(f->name));
        if (from.n_args > 0)
                decode_arguments(s, f, &from, bytes + sizeof(from), n_bytes - sizeof(from));
        s->record = (struct perf_record){ .kind = PERF_RECORD_KIND_PROBE,
                                          .pid = from.pid,
                                          .tid = from.tid,
                                          .time_ns = tick_clock_to_ns(&s->clock, from.time_ns) };
        s->record.probe.frame_avma = from.frame;
        s->record.probe.location = f->location;
        s->record.probe.ends = (from.kind & ~PROBE_IS_STATIC) == PROBE_END;
        s->record.probe.is_message = (from.kind & ~PROBE_IS_STATIC) == PROBE_MARK;
        s->record.probe.is_point = f->kind == PROBE_WISH_TRACEPOINT || f->kind == PROBE_WISH_SYSCALLS;
        s->record.probe.is_static = ((from.kind & PROBE_IS_STATIC) != 0 && !f->has_arguments) ||
                                    s->record.probe.is_point;
        s->record.probe.is_syscall = f->kind == PROBE_WISH_SYSCALLS;
        if (s->record.probe.is_syscall && from.kind == PROBE_BEGIN)
                s->record.probe.number = syscall_number(&s->arguments, from.is_32_bit != 0);
        if (from.kind == PROBE_SPAN) {
                s->record.probe.device = f->device;
                s->record.probe.begin_ns = tick_clock_to_ns(&s->clock, from.frame);
        }
        s->record.probe.text = (const char *)s->text.data;
        s->record.probe.text_bytes = s->text.failed ? 0 : s->text.used_bytes;
        limit(s, f, from.function, s->record.time_ns);
        return true;
}

static void look(struct probe_source *s)
{
        /* Pairs with the release of the kernel's ring buffer. */
        s->until = __atomic_load_n(s->producer, __ATOMIC_ACQUIRE);
        monotonic_clock_pair(&s->clock);
        s->looked = true;
}

/* Goes to the next whole record.  Returns whether there is one. */
static bool fill(struct probe_source *s)
{
        while (!s->has_record && s->at < s->until) {
                const uint8_t *head = s->data + (s->at & (PROBE_RING_BYTES - 1));
                /* Pairs with the kernel's exchange when a record is whole. */
                uint32_t length = __atomic_load_n((const uint32_t *)(const void *)head, __ATOMIC_ACQUIRE);
                uint32_t n_bytes = length & ~(BUSY_BIT | DISCARD_BIT);

                if (length & BUSY_BIT)
                        return false;
                s->has_record = !(length & DISCARD_BIT) && decode(s, head + PROBE_RING_HEAD_BYTES, n_bytes);
                s->at += (n_bytes + PROBE_RING_HEAD_BYTES + 7) & ~UINT64_C(7);
        }
        return s->has_record;
}

int probe_source_peek(struct probe_source *s, uint64_t until_ns, const struct perf_record **ret_record)
{
        if (!s)
                return 0;
        if (!s->looked)
                look(s);
        if (fill(s) && s->record.time_ns <= until_ns) {
                *ret_record = &s->record;
                return 1;
        }
        /* Pairs with the acquire of the kernel's reservation; a record that waits was copied out. */
        __atomic_store_n(s->consumer, s->at, __ATOMIC_RELEASE);
        s->looked = false;
        return 0;
}

void probe_source_consume(struct probe_source *s)
{
        s->has_record = false;
}

/* Begins that wait for an end with their key. */
static uint64_t count_opened(const struct probe_source *s)
{
        int fd = bpf_map__fd(map_of(s, "opened"));
        struct probe_key key, *last = NULL;
        uint64_t n = 0;

        while (n < PROBE_OPEN_MAX && bpf_map_get_next_key(fd, last, &key) == 0) {
                last = &key;
                n++;
        }
        return n;
}

void probe_source_count(const struct probe_source *s, struct probe_counts *ret_counts)
{
        struct probe_totals totals = { .n_lost = 0 };
        struct probe_function_state state;
        const uint32_t key = 0;

        *ret_counts = (struct probe_counts){ .hit_ns = s->hit_ns, .point_ns = s->point_ns };
        if (bpf_map_lookup_elem(s->totals_fd, &key, &totals) == 0) {
                ret_counts->n_lost = totals.n_lost;
                ret_counts->n_full = totals.n_full;
                ret_counts->n_others = totals.n_others;
                ret_counts->n_ends = totals.n_ends;
                ret_counts->n_begins = totals.n_begins + count_opened(s);
        }
        for (uint32_t i = 0; i < s->plan->n_functions; i++) {
                const struct probe_function *f = &s->plan->functions[i];

                if (bpf_map_lookup_elem(s->functions_fd, &i, &state) < 0)
                        continue;
                if (f->kind == PROBE_WISH_TRACEPOINT || f->kind == PROBE_WISH_SYSCALLS)
                        ret_counts->n_points += state.n_hits;
                else
                        ret_counts->n_hits += state.n_hits;
        }
}

size_t probe_source_count_bytes(const struct probe_source *s)
{
        return s ? PROBE_RING_BYTES : 0;
}
