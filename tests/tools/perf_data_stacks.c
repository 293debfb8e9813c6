/* SPDX-License-Identifier: MIT */
/*
 * Unwinds the samples of a file of perf's, recorded with --call-graph dwarf, by unwind/.
 *
 *      perf_data_stacks FILE             prints each stack as `perf script -F ip` does; a summary on stderr
 *      perf_data_stacks --cut BYTES FILE
 *              cuts the copies to BYTES, joins what ends there to the thread's stack before, and compares
 *              with what the whole copy says.  Prints: samples, complete when cut, joined, whole copy
 *              complete, checked (joined, and complete in the whole copy), right of these
 *
 * Only the process with the most samples counts.  Samples are taken in the order of time.
 */
#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "tests/unit/live_stacks.h"
#include "unwind/stack_stitch.h"
#include "unwind/stack_walk.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC       UINT64_C(0x32454c4946524550) /* "PERFILE2" */
#define THREADS_MAX 64
#define BEFORE_REGISTERS                                                                                   \
        (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | \
         PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |                   \
         PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_DATA_SRC)

struct sample {
        uint64_t time_ns;
        uint32_t pid, tid;
        struct unwind_registers registers;
        const uint8_t *stack; /* in the file */
        uint64_t n_stack_bytes;
};

struct perf_data {
        const char *path;
        const uint8_t *bytes; /* mapped */
        size_t n_bytes;
        struct byte_reader records;
        uint64_t sample_type, registers;
        struct sample *samples; /* heap, owned */
        size_t n_samples, capacity;
        uint32_t pid;
        struct live_stacks stacks; /* the mappings alone */
};

static void fail(const struct perf_data *d, const char *what)
{
        (void)fprintf(stderr, "perf_data_stacks: %s: %s\n", d->path, what);
        exit(2);
}

/* The file's header, and the attributes of the first event. */
static void open_file(struct perf_data *d)
{
        struct perf_event_attr attr = { .type = 0 };
        int fd = open(d->path, O_RDONLY | O_CLOEXEC);
        uint64_t attrs_off, data_off, n_data, n_attr_bytes;
        struct byte_reader in;
        struct stat status;
        void *bytes;

        if (fd < 0 || fstat(fd, &status) < 0)
                fail(d, "cannot be opened");
        d->n_bytes = (size_t)status.st_size;
        bytes = mmap(NULL, d->n_bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
        (void)close(fd);
        if (bytes == MAP_FAILED)
                fail(d, "cannot be mapped");
        d->bytes = bytes;
        in = byte_reader_of(bytes, d->n_bytes);
        if (bytes_u64(&in) != MAGIC)
                fail(d, "not a file of perf record");
        (void)bytes_u64(&in); /* of this header */
        n_attr_bytes = bytes_u64(&in);
        attrs_off = bytes_u64(&in);
        (void)bytes_u64(&in);
        data_off = bytes_u64(&in);
        n_data = bytes_u64(&in);
        if (in.short_read || attrs_off > d->n_bytes || n_attr_bytes > d->n_bytes - attrs_off ||
            data_off > d->n_bytes || n_data > d->n_bytes - data_off)
                fail(d, "cut off");
        memcpy(&attr, d->bytes + attrs_off, n_attr_bytes < sizeof(attr) ? n_attr_bytes : sizeof(attr));
        d->sample_type = attr.sample_type;
        d->registers = attr.sample_regs_user;
        if ((d->sample_type & ~(uint64_t)BEFORE_REGISTERS) != 0 || !(d->sample_type & PERF_SAMPLE_STACK_USER))
                fail(d, "not recorded with --call-graph dwarf, or with more than that");
        d->records = byte_reader_of(d->bytes + data_off, n_data);
}

static void skip(struct byte_reader *in, const struct perf_data *d, uint64_t what)
{
        if (d->sample_type & what)
                (void)bytes_u64(in);
}

static void take_sample(struct perf_data *d, struct byte_reader in)
{
        const struct unwind_machine *machine = unwind_machine_own();
        size_t n_registers = 8 * (size_t)__builtin_popcountll(d->registers);
        struct sample s = { .time_ns = 0 };
        const uint8_t *registers;
        uint64_t n_stack;

        skip(&in, d, PERF_SAMPLE_IDENTIFIER);
        skip(&in, d, PERF_SAMPLE_IP);
        s.pid = bytes_u32(&in);
        s.tid = bytes_u32(&in);
        if (d->sample_type & PERF_SAMPLE_TIME)
                s.time_ns = bytes_u64(&in);
        skip(&in, d, PERF_SAMPLE_ADDR);
        skip(&in, d, PERF_SAMPLE_ID);
        skip(&in, d, PERF_SAMPLE_STREAM_ID);
        skip(&in, d, PERF_SAMPLE_CPU);
        skip(&in, d, PERF_SAMPLE_PERIOD);
        if (d->sample_type & PERF_SAMPLE_CALLCHAIN)
                (void)bytes_take(&in, 8 * (size_t)bytes_u64(&in));
        if (bytes_u64(&in) != PERF_SAMPLE_REGS_ABI_64)
                return; /* a thread of the kernel, or one that is ending */
        registers = bytes_take(&in, n_registers);
        n_stack = bytes_u64(&in);
        s.stack = bytes_take(&in, n_stack);
        s.n_stack_bytes = n_stack > 0 ? bytes_u64(&in) : 0;
        if (in.short_read || s.n_stack_bytes > n_stack ||
            !unwind_registers_decode(machine, d->registers, registers, n_registers, &s.registers) ||
            array_reserve(&d->samples, &d->capacity, d->n_samples + 1, sizeof(s)) < 0)
                fail(d, "a sample is cut off");
        d->samples[d->n_samples++] = s;
}

static void take_mapping(struct perf_data *d, struct byte_reader in, size_t n_bytes)
{
        struct live_mapping m = { .start_avma = 0 };
        uint64_t length_bytes;
        uint32_t rights;

        if (bytes_u32(&in) != d->pid)
                return;
        (void)bytes_u32(&in);
        m.start_avma = bytes_u64(&in);
        length_bytes = bytes_u64(&in);
        m.end_avma = m.start_avma + length_bytes;
        m.file_off = bytes_u64(&in);
        (void)bytes_take(&in, 24); /* which file it is */
        rights = bytes_u32(&in);
        (void)bytes_u32(&in);
        (void)snprintf(m.path, sizeof(m.path), "%.*s", (int)(in.left < n_bytes ? in.left : n_bytes),
                       (const char *)in.at);
        if ((rights & PROT_EXEC) && !in.short_read && !live_stacks_find(&d->stacks, m.start_avma) &&
            live_stacks_add(&d->stacks, &m) < 0)
                fail(d, "out of memory");
}

/* Twice: for the samples, and then for the mappings of the one process. */
static void read_records(struct perf_data *d, bool for_mappings)
{
        struct byte_reader all = d->records;

        while (all.left >= sizeof(struct perf_event_header)) {
                uint32_t type = bytes_u32(&all);
                uint16_t misc = bytes_u16(&all), n_bytes = bytes_u16(&all);
                const uint8_t *body;

                if (n_bytes < sizeof(struct perf_event_header))
                        fail(d, "a record without length");
                body = bytes_take(&all, n_bytes - sizeof(struct perf_event_header));
                if (!body)
                        break;
                n_bytes = (uint16_t)(n_bytes - sizeof(struct perf_event_header));
                if (type == PERF_RECORD_SAMPLE && !for_mappings)
                        take_sample(d, byte_reader_of(body, n_bytes));
                else if (type == PERF_RECORD_MMAP2 && for_mappings)
                        take_mapping(d, byte_reader_of(body, n_bytes), n_bytes);
                else if (type == PERF_RECORD_COMM && for_mappings && (misc & PERF_RECORD_MISC_COMM_EXEC)) {
                        struct byte_reader in = byte_reader_of(body, n_bytes);

                        if (bytes_u32(&in) == d->pid)
                                d->stacks.n_mappings = 0;
                }
        }
}

static int compare_samples(const void *a, const void *b)
{
        const struct sample *x = a, *y = b;

        return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* The process that has the most samples; the others' are left out. */
static void choose_process(struct perf_data *d)
{
        size_t n_most = 0, n_kept = 0;

        for (size_t i = 0; i < d->n_samples; i++) {
                size_t n = 0;

                if (i > 0 && d->samples[i].pid == d->samples[i - 1].pid)
                        continue;
                for (size_t k = 0; k < d->n_samples; k++)
                        n += d->samples[k].pid == d->samples[i].pid;
                if (n > n_most) {
                        n_most = n;
                        d->pid = d->samples[i].pid;
                }
        }
        for (size_t i = 0; i < d->n_samples; i++)
                if (d->samples[i].pid == d->pid)
                        d->samples[n_kept++] = d->samples[i];
        d->n_samples = n_kept;
        if (n_kept > 0)
                qsort(d->samples, n_kept, sizeof(*d->samples), compare_samples);
}

static struct stack_walk_input input_of(const struct sample *s, uint64_t n_bytes_max)
{
        return (struct stack_walk_input){
                .registers = s->registers,
                .pieces[0] = { .bytes = s->stack,
                               .start_avma = s->registers.values[unwind_machine_own()->sp],
                               .n_bytes = s->n_stack_bytes < n_bytes_max ? s->n_stack_bytes : n_bytes_max },
                .n_pieces = 1,
        };
}

/* printf(3) takes longer than unwinding. */
static void print_address(uint64_t avma)
{
        char line[18] = "                \n";
        int at = 16;

        do {
                line[--at] = "0123456789abcdef"[avma & 15];
                avma >>= 4;
        } while (avma > 0 && at > 0);
        (void)fwrite_unlocked(line, 1, 17, stdout);
}

static void print_stacks(const struct perf_data *d, struct stack_walker *walker)
{
        const struct stack_walk_space space = live_stacks_space(&d->stacks);
        static struct stack_walk walk;
        size_t n_frames = 0, n_roots = 0;

        for (size_t i = 0; i < d->n_samples; i++) {
                const struct stack_walk_input input = input_of(&d->samples[i], UINT64_MAX);

                stack_walk_run(walker, &space, &input, &walk);
                for (uint32_t k = 0; k < walk.n_frames; k++)
                        print_address(walk.frames[k].pc_avma);
                (void)putchar_unlocked('\n');
                n_frames += walk.n_frames;
                n_roots += walk.end == STACK_WALK_END_ROOT;
        }
        (void)fprintf(stderr, "%zu %zu %zu\n", d->n_samples, n_frames, n_roots);
}

/* ----------------------------------------------------------- cut and joined */

struct thread {
        uint32_t tid;
        struct stack_stitch stitch;
};

struct joins {
        struct thread threads[THREADS_MAX];
        size_t n_threads;
        size_t n_short_complete, n_joined, n_whole_complete, n_checked, n_right;
};

static struct thread *thread_of(struct joins *j, uint32_t tid)
{
        for (size_t i = 0; i < j->n_threads; i++)
                if (j->threads[i].tid == tid)
                        return &j->threads[i];
        if (j->n_threads == THREADS_MAX)
                return NULL;
        j->threads[j->n_threads] = (struct thread){ .tid = tid };
        return &j->threads[j->n_threads++];
}

static bool is_same(const struct stack_walk *a, const struct stack_walk *b)
{
        if (a->n_frames != b->n_frames)
                return false;
        for (uint32_t i = 0; i < a->n_frames; i++)
                if (a->frames[i].pc_avma != b->frames[i].pc_avma)
                        return false;
        return true;
}

static void join(const struct perf_data *d, struct stack_walker *walker, uint64_t n_cut_bytes)
{
        const struct stack_walk_space space = live_stacks_space(&d->stacks);
        static struct stack_walk whole, cut;
        struct joins j = { .n_threads = 0 };

        for (size_t i = 0; i < d->n_samples; i++) {
                const struct stack_walk_input all = input_of(&d->samples[i], UINT64_MAX);
                const struct stack_walk_input some = input_of(&d->samples[i], n_cut_bytes);
                struct thread *thread = thread_of(&j, d->samples[i].tid);

                stack_walk_run(walker, &space, &all, &whole);
                stack_walk_run(walker, &space, &some, &cut);
                j.n_whole_complete += whole.end == STACK_WALK_END_ROOT;
                j.n_short_complete += cut.end == STACK_WALK_END_ROOT;
                if (thread && cut.end == STACK_WALK_END_CUT &&
                    stack_stitch_join(&thread->stitch, &cut, space.generation)) {
                        j.n_joined++;
                        j.n_checked += whole.end == STACK_WALK_END_ROOT;
                        j.n_right += whole.end == STACK_WALK_END_ROOT && is_same(&cut, &whole);
                }
                if (thread && cut.end == STACK_WALK_END_ROOT)
                        stack_stitch_keep(&thread->stitch, &cut, space.generation, false);
        }
        for (size_t i = 0; i < j.n_threads; i++)
                stack_stitch_deinit(&j.threads[i].stitch);
        printf("%zu %zu %zu %zu %zu %zu\n", d->n_samples, j.n_short_complete, j.n_joined, j.n_whole_complete,
               j.n_checked, j.n_right);
}

int main(int argc, char **argv)
{
        bool is_cut = argc == 4 && strcmp(argv[1], "--cut") == 0;
        struct perf_data d = { .path = argv[argc - 1] };
        struct stack_walker *walker;

        if (argc != 2 && !is_cut) {
                (void)fprintf(stderr, "Usage: perf_data_stacks [--cut BYTES] FILE\n");
                return 2;
        }
        walker = unwind_machine_own() ? stack_walker_new(unwind_machine_own()) : NULL;
        if (!walker)
                return 77;
        d.stacks.generation = 1;
        unwind_cache_init(&d.stacks.cache, 0);
        open_file(&d);
        read_records(&d, false);
        choose_process(&d);
        read_records(&d, true);
        if (is_cut)
                join(&d, walker, strtoull(argv[2], NULL, 10));
        else
                print_stacks(&d, walker);
        free(d.samples);
        free(d.stacks.mappings);
        unwind_cache_deinit(&d.stacks.cache);
        stack_walker_free(walker);
        (void)munmap((void *)(uintptr_t)d.bytes, d.n_bytes);
        return 0;
}
