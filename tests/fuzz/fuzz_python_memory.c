/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any memory of a program that pretends to be Python: its table of offsets, threads, frames,
 * code objects, strings and tables of lines; and any copies of code objects.  All reads lie in that memory,
 * their number is bounded, and what comes of them has its place in the tables of the trace.
 *
 * The input is the version, one byte; the thread's number, one byte; then memory from MEMORY_AVMA on, which
 * begins with _PyRuntime.
 */
#include "format/trace_dictionary.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/kernel/raw_stack.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/python/python_functions.h"
#include "sampler/python/python_late.h"
#include "sampler/python/python_layout.h"
#include "sampler/python/python_merge.h"
#include "sampler/python/python_objects.h"
#include "sampler/tracks/address_space.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define MEMORY_AVMA UINT64_C(0x10000)
#define PID         77
#define TIME_NS     UINT64_C(1000000000)
#define MODULE      3

/* Three for each step of the search for a thread, one a frame, some a function; tables may be long. */
#define READS_MAX      8192
#define READ_BYTES_MAX (UINT64_C(2) * PACE_PYTHON_WORK_BYTES)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static const uint8_t *memory;
static size_t memory_bytes;
static uint64_t n_reads, n_read_bytes;

/* Instead of the C library's: of the memory of the input. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long n_here, const struct iovec *there,
                         unsigned long n_there, unsigned long flags)
{
        uint8_t *to = here->iov_base;
        size_t n_room = here->iov_len, n_done = 0;

        if (pid != PID || n_here != 1 || flags != 0)
                abort();
        n_reads++;
        for (unsigned long i = 0; i < n_there; i++) {
                uint64_t offset = (uintptr_t)there[i].iov_base - MEMORY_AVMA;
                size_t n_there_bytes = there[i].iov_len, n;

                n = offset < memory_bytes ? memory_bytes - offset : 0;
                n = n < n_there_bytes ? n : n_there_bytes;
                n = n < n_room - n_done ? n : n_room - n_done;
                if (n > 0)
                        memcpy(to + n_done, memory + offset, n);
                n_done += n;
                if (n < n_there_bytes)
                        break;
        }
        n_read_bytes += n_done;
        errno = EFAULT;
        return n_done > 0 ? (ssize_t)n_done : -1;
}

static void check_frame(const struct trace_dictionary *dictionary, uint32_t frame)
{
        const struct trace_frame *row = trace_dictionary_row(dictionary, TRACE_TABLE_FRAMES, frame);
        const struct trace_module *module =
                row ? trace_dictionary_row(dictionary, TRACE_TABLE_MODULES, row->module) : NULL;

        if (!row || !module || module->kind != TRACE_MODULE_PYTHON)
                abort();
}

static void merge(const struct python_late_sample *read, const struct python_stack *stack)
{
        static struct call_chain chain, merged;
        const struct address_range range = { .start_avma = MEMORY_AVMA,
                                             .end_avma = MEMORY_AVMA + 65536,
                                             .module = MODULE };
        struct python_merge m = { .module = MODULE,
                                  .eval = { { MEMORY_AVMA, MEMORY_AVMA + 4096 }, { 1, 4096 } } };
        struct address_space space;
        uint32_t n_kept = 0;

        address_space_init(&space);
        if (address_space_add(&space, &range) < 0)
                abort();
        m.space = &space;
        chain.n_frames = 0;
        chain.state = read->sample.flags & PYTHON_FLAG_CUT ? TRACE_STACK_TRUNCATED : TRACE_STACK_COMPLETE;
        for (uint32_t i = 0; i < read->sample.n_frames && i < CALL_CHAIN_FRAMES_MAX; i++)
                chain.frames[chain.n_frames++] =
                        (struct call_frame){ .avma = read->sample.frames[i].instruction };
        (void)python_merge_fits(&m, stack, &chain);
        python_merge_run(&m, stack, &chain, &merged);
        for (uint32_t i = 0; i < stack->n_frames; i++)
                n_kept += stack->frames[i] != 0;
        if (merged.n_frames > CALL_CHAIN_FRAMES_MAX ||
            (merged.n_frames < n_kept && merged.n_frames < CALL_CHAIN_FRAMES_MAX))
                abort();
        address_space_deinit(&space);
}

static void find_functions(const struct python_layout *layout, const struct python_late_sample *read)
{
        struct trace_dictionary dictionary;
        struct recorder_pace pace = { .rest_ns = 0 };
        struct python_functions *functions;
        static struct python_stack stack;

        trace_dictionary_init(&dictionary, 0);
        if (python_functions_new(&dictionary, &pace, &functions) < 0)
                abort();
        stack.n_frames = read->sample.n_frames;
        for (uint32_t i = 0; i < read->sample.n_frames; i++) {
                const struct python_raw_frame *frame = &read->sample.frames[i];
                const struct python_place place = { .pid = PID,
                                                    .code_avma = frame->code & ~UINT64_C(1),
                                                    .instruction_avma = frame->instruction,
                                                    .identity = frame->identity,
                                                    .objects = &layout->objects };

                if (python_functions_find(functions, &place, TIME_NS + i, &stack.frames[i]) == -ENOMEM)
                        abort();
                stack.is_entry[i] = (frame->code & 1) != 0;
                if (stack.frames[i] != 0)
                        check_frame(&dictionary, stack.frames[i]);
        }
        merge(read, &stack);
        python_functions_free(functions);
        trace_dictionary_deinit(&dictionary);
}

/* The memory is pieces as well, the first of them a code object. */
static void learn_copies(const struct python_layout *layout)
{
        const struct python_copies copies = { .pieces = memory, .n_bytes = memory_bytes };
        struct python_place place = { .pid = PID, .identity = 1, .objects = &layout->objects };
        struct trace_dictionary dictionary;
        struct recorder_pace pace = { .rest_ns = 0 };
        struct python_functions *functions;
        struct python_code code;
        struct python_reader reader = { .pieces = memory, .n_bytes = memory_bytes };
        uint32_t frame;

        trace_dictionary_init(&dictionary, 0);
        if (python_functions_new(&dictionary, &pace, &functions) < 0)
                abort();
        if (memory_bytes >= sizeof(place.code_avma))
                memcpy(&place.code_avma, memory, sizeof(place.code_avma));
        if (python_code_read(&reader, &layout->objects, place.code_avma, &code) == 0)
                place.identity = code.identity;
        if (python_functions_learn(functions, &place, &copies, TIME_NS) < 0 ||
            python_functions_find(functions, &place, TIME_NS, &frame) == -ENOMEM)
                abort();
        if (frame != 0)
                check_frame(&dictionary, frame);
        python_functions_free(functions);
        trace_dictionary_deinit(&dictionary);
}

static void read_thread(const struct python_layout *layout, uint32_t tid)
{
        static struct python_late_sample read;
        const struct raw_stack raw = { .registers = memory,
                                       .registers_bytes = memory_bytes < 144 ? 0 : 144,
                                       .copy = memory,
                                       .copy_bytes = memory_bytes };
        struct python_process process = { .pid = PID, .owner_entry = layout->owner_entry };
        struct python_late *late;

        if (python_late_new(&late) < 0)
                abort();
        process.interpreters_avma = MEMORY_AVMA + layout->interpreters;
        process.offsets = layout->walk;
        if (python_late_read(late, &process, tid, TIME_NS, &read) == 1) {
                if (read.sample.n_frames > PYTHON_FRAMES_MAX)
                        abort();
                (void)python_late_fits(&read, &raw);
                find_functions(layout, &read);
        }
        python_late_free(late);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        uint8_t head[PYTHON_LAYOUT_HEAD_BYTES] = { 0 };
        struct python_layout layout;

        if (n_bytes < 2)
                return 0;
        memory = data + 2;
        memory_bytes = n_bytes - 2;
        n_reads = n_read_bytes = 0;
        (void)python_lines_find(memory, memory_bytes, data[1], data[0] * UINT64_C(16));
        memcpy(head, memory, memory_bytes < sizeof(head) ? memory_bytes : sizeof(head));
        if (python_layout_find(UINT64_C(0x030b0000) + ((uint64_t)(data[0] & 3) << 16), head, &layout) == 0) {
                read_thread(&layout, data[1]);
                learn_copies(&layout);
        }
        if (n_reads > READS_MAX || n_read_bytes > READ_BYTES_MAX)
                abort();
        return 0;
}
