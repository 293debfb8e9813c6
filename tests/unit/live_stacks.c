/* SPDX-License-Identifier: MIT */
#include "tests/unit/live_stacks.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/elf/elf_image.h"
#include "unwind/unwind_module.h"
#include "unwind/unwind_table.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RING_PAGES  1024 /* 4 MiB, a power of two */
#define SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

struct live_ring {
        int fd;
        uint8_t *base; /* the control page, then the ring */
};

static size_t page_bytes(void)
{
        return (size_t)sysconf(_SC_PAGESIZE);
}

static int open_ring(struct live_ring *ring, pid_t pid, int cpu, const struct live_options *options)
{
        struct perf_event_attr attr = {
                .type = PERF_TYPE_SOFTWARE,
                .size = sizeof(attr),
                .config = PERF_COUNT_SW_CPU_CLOCK,
                .sample_period = options->period_ns,
                .sample_type = SAMPLE_TYPE,
                .sample_regs_user = unwind_machine_own()->perf_registers,
                .sample_stack_user = options->stack_bytes,
                .disabled = options->starts_with_exec,
                .enable_on_exec = options->starts_with_exec,
                .inherit = 1,
                .exclude_hv = 1,
                .watermark = 1,
                .wakeup_watermark = (uint32_t)(RING_PAGES * page_bytes() / 4),
        };
        void *base;

        ring->fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
        if (ring->fd < 0)
                return -errno;
        base = mmap(NULL, (RING_PAGES + 1) * page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
        if (base == MAP_FAILED)
                return -errno;
        ring->base = base;
        return 0;
}

int live_stacks_open(struct live_stacks *s, pid_t pid, const struct live_options *options)
{
        int n_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
        int r = 0;

        *s = (struct live_stacks){ .pid = pid, .generation = 1 };
        unwind_cache_init(&s->cache, 0);
        s->rings = calloc((size_t)n_cpus, sizeof(*s->rings));
        if (!s->rings)
                return -ENOMEM;
        for (int cpu = 0; r == 0 && cpu < n_cpus; cpu++) {
                s->rings[cpu].fd = -1;
                s->n_rings++;
                r = open_ring(&s->rings[cpu], pid, cpu, options);
        }
        return r;
}

void live_stacks_close(struct live_stacks *s)
{
        for (int i = 0; i < s->n_rings; i++) {
                if (s->rings[i].base)
                        (void)munmap(s->rings[i].base, (RING_PAGES + 1) * page_bytes());
                io_close(&s->rings[i].fd);
        }
        for (size_t i = 0; i < s->n_samples; i++)
                free(s->samples[i].stack);
        free(s->samples);
        free(s->mappings);
        free(s->rings);
        unwind_cache_deinit(&s->cache);
}

/* ---------------------------------------------------------------- mappings */

const struct live_mapping *live_stacks_find(const struct live_stacks *s, uint64_t avma)
{
        size_t low = 0, high = s->n_mappings;

        while (low < high) {
                size_t middle = (low + high) / 2;

                if (s->mappings[middle].end_avma <= avma)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < s->n_mappings && s->mappings[low].start_avma <= avma ? &s->mappings[low] : NULL;
}

static int open_image(const char *path, struct unwind_cache_key *ret_key, struct elf_image **ret_image,
                      int *ret_fd)
{
        struct stat status;

        if (strcmp(path, "[vdso]") == 0) {
                *ret_key = unwind_cache_key_of_build_id("vdso", 4);
                return elf_image_open_vdso(ret_image, NULL);
        }
        if (path[0] != '/' || regular_file_open(path, ret_fd, NULL) < 0 || fstat(*ret_fd, &status) < 0)
                return -ENOENT;
        *ret_key = unwind_cache_key_of_file(status.st_dev, status.st_ino, (uint64_t)status.st_size, 0);
        return elf_image_open_unmapped(*ret_fd, ret_image, NULL);
}

/* The module of a file that is not in the cache yet; without memory, or room, it has none. */
static void build(struct live_stacks *s, uint32_t id, const struct elf_image *image)
{
        uint64_t began_ns = clock_raw_ns();
        struct unwind_module *module = NULL;

        if (unwind_module_build(image, &module, NULL) == 0)
                (void)unwind_cache_put(&s->cache, id, module);
        s->n_built_ns += clock_raw_ns() - began_ns;
}

void live_stacks_load(struct live_stacks *s, struct live_mapping *m)
{
        struct elf_image *image = NULL;
        struct unwind_cache_key key;
        uint32_t id = 0;
        int fd = -1;

        if (open_image(m->path, &key, &image, &fd) == 0 && unwind_cache_add(&s->cache, &key, &id, NULL) == 1)
                build(s, id, image);
        m->module = unwind_cache_get(&s->cache, id);
        if (m->module && !unwind_module_find_bias(m->module, m->start_avma, m->file_off,
                                                  m->end_avma - m->start_avma, &m->bias))
                m->module = NULL;
        elf_image_close(image);
        io_close(&fd);
}

static int compare_mappings(const void *a, const void *b)
{
        const struct live_mapping *x = a, *y = b;

        return (x->start_avma > y->start_avma) - (x->start_avma < y->start_avma);
}

bool live_mapping_parse(const char *line, struct live_mapping *ret_mapping)
{
        char rights[8];

        *ret_mapping = (struct live_mapping){ .start_avma = 0 };
        return sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %255s", &ret_mapping->start_avma,
                      &ret_mapping->end_avma, rights, &ret_mapping->file_off, ret_mapping->path) >= 4 &&
               rights[2] == 'x';
}

int live_stacks_add(struct live_stacks *s, const struct live_mapping *mapping)
{
        struct live_mapping m = *mapping;
        int r = array_reserve(&s->mappings, &s->mappings_capacity, s->n_mappings + 1, sizeof(m));

        if (r < 0)
                return r;
        live_stacks_load(s, &m);
        s->mappings[s->n_mappings++] = m;
        qsort(s->mappings, s->n_mappings, sizeof(m), compare_mappings);
        s->generation++;
        return 0;
}

/* A mapping stays known when it is gone, unless another one comes there. */
static int read_mappings(struct live_stacks *s)
{
        char path[64], line[512];
        FILE *file;
        int r = 0;

        (void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)s->pid);
        file = fopen(path, "re");
        if (!file)
                return 0;
        while (r == 0 && fgets(line, sizeof(line), file)) {
                struct live_mapping m;

                if (live_mapping_parse(line, &m) && !live_stacks_find(s, m.start_avma))
                        r = live_stacks_add(s, &m);
        }
        (void)fclose(file);
        return r;
}

static bool find_code(const void *context, uint64_t avma, struct stack_walk_code *ret_code)
{
        const struct live_mapping *m = live_stacks_find(context, avma);

        if (!m)
                return false;
        *ret_code = (struct stack_walk_code){ .table = m->module ? m->module->table : NULL, .bias = m->bias };
        return true;
}

struct stack_walk_space live_stacks_space(const struct live_stacks *s)
{
        return (struct stack_walk_space){ .find = find_code, .context = s, .generation = s->generation };
}

void live_stacks_input(const struct live_sample *sample, struct stack_walk_input *ret_input)
{
        ret_input->registers = sample->registers;
        ret_input->pieces[0] = (struct stack_walk_piece){
                .bytes = sample->stack,
                .start_avma = sample->registers.values[unwind_machine_own()->sp],
                .n_bytes = sample->n_stack_bytes,
        };
        ret_input->n_pieces = 1;
}

/* ----------------------------------------------------------------- samples */

/* pid, tid; the ABI and the registers; the size of the copy, the copy, and how much of it is good. */
static int take_sample(struct live_stacks *s, const uint8_t *bytes, size_t n_bytes)
{
        const struct unwind_machine *machine = unwind_machine_own();
        size_t n_registers = 8 * (size_t)__builtin_popcountll(machine->perf_registers);
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        struct live_sample sample = { .stack = NULL };
        const uint8_t *registers, *stack;
        uint64_t abi, n_stack;
        int r;

        (void)bytes_u32(&in);
        sample.tid = bytes_u32(&in);
        abi = bytes_u64(&in);
        if (abi != PERF_SAMPLE_REGS_ABI_64)
                return 0; /* a thread of the kernel, or one that is ending */
        registers = bytes_take(&in, n_registers);
        n_stack = bytes_u64(&in);
        stack = bytes_take(&in, n_stack);
        sample.n_stack_bytes = n_stack > 0 ? bytes_u64(&in) : 0;
        if (in.short_read || sample.n_stack_bytes > n_stack ||
            !unwind_registers_decode(machine, machine->perf_registers, registers, n_registers,
                                     &sample.registers))
                return -EBADMSG;
        r = array_reserve(&s->samples, &s->samples_capacity, s->n_samples + 1, sizeof(sample));
        sample.stack = malloc(sample.n_stack_bytes + 1);
        if (r < 0 || !sample.stack) {
                free(sample.stack);
                return -ENOMEM;
        }
        memcpy(sample.stack, stack, sample.n_stack_bytes);
        s->samples[s->n_samples++] = sample;
        return 0;
}

/* @n bytes of the ring from @at on, which may go around its end. */
static void copy_out(const struct live_ring *ring, uint64_t at, void *to, size_t n)
{
        size_t n_ring = RING_PAGES * page_bytes();
        size_t first = (size_t)(at % n_ring);
        size_t n_first = n < n_ring - first ? n : n_ring - first;

        memcpy(to, ring->base + page_bytes() + first, n_first);
        memcpy((uint8_t *)to + n_first, ring->base + page_bytes(), n - n_first);
}

static int drain_ring(struct live_stacks *s, struct live_ring *ring)
{
        struct perf_event_mmap_page *page = (void *)ring->base;
        uint64_t head = __atomic_load_n(&page->data_head,
                                        __ATOMIC_ACQUIRE); /* pairs with the kernel's release */
        uint64_t tail = page->data_tail;
        static uint8_t record[UINT16_MAX + 1];
        int r = 0;

        while (r == 0 && tail < head) {
                struct perf_event_header header;

                copy_out(ring, tail, &header, sizeof(header));
                if (header.size < sizeof(header))
                        return -EBADMSG;
                copy_out(ring, tail, record, header.size);
                tail += header.size;
                if (header.type == PERF_RECORD_SAMPLE)
                        r = take_sample(s, record + sizeof(header), header.size - sizeof(header));
                else if (header.type == PERF_RECORD_LOST)
                        s->n_lost++;
        }
        __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE); /* pairs with the kernel's acquire */
        return r;
}

int live_stacks_drain(struct live_stacks *s)
{
        int r = read_mappings(s);

        for (int i = 0; r == 0 && i < s->n_rings; i++)
                r = drain_ring(s, &s->rings[i]);
        return r;
}

void live_stacks_wait(struct live_stacks *s, int timeout_ms)
{
        struct pollfd *polls = calloc((size_t)s->n_rings, sizeof(*polls));

        if (!polls)
                return;
        for (int i = 0; i < s->n_rings; i++)
                polls[i] = (struct pollfd){ .fd = s->rings[i].fd, .events = POLLIN };
        (void)poll(polls, (nfds_t)s->n_rings, timeout_ms);
        free(polls);
}
