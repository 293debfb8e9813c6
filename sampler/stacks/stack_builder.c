/* SPDX-License-Identifier: MIT */
#include "sampler/stacks/stack_builder.h"

#include "format/trace_dictionary.h"
#include "sampler/keep/code_keeper.h"
#include "sampler/keep/kernel_code.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/tracks/address_space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_BITS      14 /* entries of 16 bytes: most stay in the second-level cache */
#define FRAME_BITS       14
#define CACHE_LINE_BYTES 64
#define ENTRIES_OF_LINE  (CACHE_LINE_BYTES / sizeof(struct memory_entry))
#define EVERY_GENERATION UINT64_MAX

/* A remembered row of the trace's table of stacks, which is the same for every process. */
struct memory_entry {
        uint32_t parent;
        uint32_t frame;
        uint32_t stack; /* 0 = this entry is empty */
        uint32_t reserved;
};

_Static_assert(CACHE_LINE_BYTES % sizeof(struct memory_entry) == 0, "an entry lies in one line of the cache");

/* A frame, independent of its caller: most frames of a new call stack are known already. */
struct frame_entry {
        uint64_t avma, generation;
        uint32_t kind;
        uint32_t frame; /* 0 = this entry is empty */
};

/* The results of the previous call stack, from its root inwards: most of the next one is the same. */
struct path_entry {
        uint64_t avma;
        uint32_t kind;
        uint32_t stack;
};

struct stack_memory {
        _Alignas(CACHE_LINE_BYTES) struct memory_entry entries[1U << MEMORY_BITS];
        struct frame_entry frames[1U << FRAME_BITS];
        struct path_entry path[CALL_CHAIN_FRAMES_MAX];
        uint32_t found[CALL_CHAIN_FRAMES_MAX +
                       1]; /* frames of the call stack that is being added, from the root on */
        uint32_t n_path;
        uint64_t path_generation; /* of the address space in which the path lies */
        uint64_t path_kernel_epoch;
};

static struct stack_memory *stack_memory_new(void)
{
        struct stack_memory *memory = aligned_alloc(CACHE_LINE_BYTES, sizeof(*memory));

        if (memory)
                memset(memory, 0, sizeof(*memory));
        return memory;
}

static uint32_t kind_of(const struct call_frame *at)
{
        return (at->in_kernel ? 1U : 0U) | (at->return_address ? 2U : 0U) | (at->is_row ? 4U : 0U);
}

static uint64_t kernel_epoch_of(const struct stack_builder *b)
{
        return b->kernel_code ? b->kernel_code->epoch : 0;
}

/* The kernel's frames, and rows, are the same in every process. */
static uint64_t generation_of(const struct stack_builder *b, const struct address_space *space,
                              const struct call_frame *at)
{
        if (at->in_kernel)
                return EVERY_GENERATION - kernel_epoch_of(b);
        return at->is_row ? EVERY_GENERATION : space->generation;
}

/* The cache line that holds a row, if the row is remembered; the most recently used entry comes first. */
static struct memory_entry *line_of(struct stack_memory *memory, uint32_t parent, uint32_t frame)
{
        uint64_t mixed = frame * UINT64_C(0x9e3779b97f4a7c15) + parent * UINT64_C(0xd6e8feb86659fd93);

        return &memory->entries[(mixed >> (64 - MEMORY_BITS)) / ENTRIES_OF_LINE * ENTRIES_OF_LINE];
}

/* Puts @entry first; the entries before its old place @at (or before the last place) move on by one. */
static void remember_row(struct memory_entry *line, size_t at, struct memory_entry entry)
{
        for (; at > 0; at--)
                line[at] = line[at - 1];
        line[0] = entry;
}

/* Adds a module that is not a file, if that is not done yet; @module keeps its id. */
static int add_module(struct stack_builder *b, enum trace_module_kind kind, const char *name,
                      uint32_t *module)
{
        struct trace_module row = { .kind = (uint32_t)kind };
        int r;

        if (*module != 0)
                return 0;
        r = trace_dictionary_add_string(b->dictionary, name, strlen(name), &row.path);
        return r < 0 ? r : trace_dictionary_add(b->dictionary, TRACE_TABLE_MODULES, &row, module);
}

/* Adds a frame in code that the kernel made while it ran: it has its name now, or never. */
static int add_kernel_code_frame(struct stack_builder *b, const struct call_frame *at, uint32_t generation,
                                 uint32_t name, uint32_t *ret_frame)
{
        uint32_t n_before = trace_dictionary_count(b->dictionary, TRACE_TABLE_FRAMES), id;
        struct trace_module module = *(const struct trace_module *)trace_dictionary_row(
                b->dictionary, TRACE_TABLE_MODULES, b->kernel_module);
        struct trace_frame frame = { .offset = at->avma,
                                     .flags = at->return_address ? TRACE_FRAME_RETURN_ADDRESS : 0 };
        struct trace_symbol symbol = { .function = name };
        int r;

        module.generation = generation;
        r = trace_dictionary_add(b->dictionary, TRACE_TABLE_MODULES, &module, &frame.module);
        if (r == 0)
                r = trace_dictionary_add(b->dictionary, TRACE_TABLE_FRAMES, &frame, ret_frame);
        if (r < 0 || *ret_frame <= n_before || generation == TRACE_MODULE_KERNEL_GONE)
                return r;
        symbol.frame = *ret_frame;
        if (name == 0)
                kernel_code_note_frame(b->kernel_code, at->avma - at->return_address, *ret_frame);
        else if (trace_dictionary_add(b->dictionary, TRACE_TABLE_SYMBOLS, &symbol, &id) == -ENOMEM)
                r = -ENOMEM;
        return r;
}

static int add_kernel_frame(struct stack_builder *b, const struct call_frame *at, uint32_t *ret_frame)
{
        struct trace_frame frame = { .offset = at->avma,
                                     .flags = at->return_address ? TRACE_FRAME_RETURN_ADDRESS : 0 };
        uint32_t generation = 0, name = 0;
        int r = add_module(b, TRACE_MODULE_KERNEL, "[kernel]", &b->kernel_module);

        if (r < 0)
                return r;
        if (b->kernel_code)
                kernel_code_find(b->kernel_code, at->avma - at->return_address, &generation, &name);
        if (generation != 0)
                return add_kernel_code_frame(b, at, generation, name, ret_frame);
        frame.module = b->kernel_module;
        return trace_dictionary_add(b->dictionary, TRACE_TABLE_FRAMES, &frame, ret_frame);
}

static int add_frame(struct stack_builder *b, const struct address_space *space, const struct call_frame *at,
                     uint32_t *ret_frame)
{
        struct trace_frame frame = { .offset = at->avma,
                                     .flags = at->return_address ? TRACE_FRAME_RETURN_ADDRESS : 0 };
        const struct address_range *range;
        const struct trace_module *module;

        if (at->is_row) {
                *ret_frame = (uint32_t)at->avma;
                return 0;
        }
        if (at->in_kernel)
                return add_kernel_frame(b, at, ret_frame);
        range = address_space_find(space, at->avma);
        if (range) {
                frame.module = range->module;
                if (b->keeper)
                        code_keeper_note_place(b->keeper, range->module);
                module = trace_dictionary_row(b->dictionary, TRACE_TABLE_MODULES, range->module);
                if (module->kind != TRACE_MODULE_ANONYMOUS)
                        frame.offset = at->avma - range->start_avma + range->file_offset_bytes;
        }
        return trace_dictionary_add(b->dictionary, TRACE_TABLE_FRAMES, &frame, ret_frame);
}

/* The same, remembered.  Returns as trace_dictionary_add(). */
static int find_frame(struct stack_builder *b, const struct address_space *space, const struct call_frame *at,
                      uint32_t *ret_frame)
{
        uint64_t generation = generation_of(b, space, at);
        struct frame_entry *entry;
        int r;

        if (generation == 0)
                return add_frame(b, space, at, ret_frame);
        entry = &b->memory->frames[at->avma * UINT64_C(0x9e3779b97f4a7c15) >> (64 - FRAME_BITS)];
        if (entry->frame != 0 && entry->avma == at->avma && entry->generation == generation &&
            entry->kind == kind_of(at)) {
                *ret_frame = entry->frame;
                return 0;
        }
        r = add_frame(b, space, at, ret_frame);
        if (r >= 0)
                *entry = (struct frame_entry){
                        .avma = at->avma, .generation = generation, .kind = kind_of(at), .frame = *ret_frame
                };
        return r;
}

/* Adds the mark that stands for missing callers. */
static int add_mark(struct stack_builder *b, uint32_t *ret_frame)
{
        int r = add_module(b, TRACE_MODULE_MARK, "[truncated]", &b->mark_module);
        struct trace_frame frame = { .module = b->mark_module };

        return r < 0 ? r : trace_dictionary_add(b->dictionary, TRACE_TABLE_FRAMES, &frame, ret_frame);
}

/*
 * Adds one frame below its callers @stack.  @is_new: the callers were in no row until now, so this row is
 * new as well, and an expensive lookup in the table is saved.  Returns as trace_dictionary_add().
 */
static int find_stack(struct stack_builder *b, uint32_t frame, bool is_new, uint32_t *stack)
{
        const struct trace_stack row = { .parent = *stack, .frame = frame };
        struct memory_entry *line = line_of(b->memory, *stack, frame);
        int r;

        for (size_t i = 0; !is_new && i < ENTRIES_OF_LINE; i++) {
                if (line[i].parent != *stack || line[i].frame != frame || line[i].stack == 0)
                        continue;
                *stack = line[i].stack;
                if (i > 0)
                        remember_row(line, i, line[i]);
                return 0;
        }
        r = is_new ? trace_dictionary_add_new(b->dictionary, TRACE_TABLE_STACKS, &row, stack)
                   : trace_dictionary_add(b->dictionary, TRACE_TABLE_STACKS, &row, stack);
        if (r >= 0)
                remember_row(line, ENTRIES_OF_LINE - 1,
                             (struct memory_entry){ .parent = row.parent, .frame = frame, .stack = *stack });
        return r;
}

/*
 * Puts the frames of a call stack, except the first @n_same from the root on, into `found`.  This comes
 * before the rows of stacks: the lookups of frames are independent, so the processor waits for memory once.
 * Returns the number of frames, or -errno; *ret_is_cut: the table has no room for the others.
 */
static int find_frames(struct stack_builder *b, const struct address_space *space,
                       const struct call_chain *chain, uint32_t n_same, bool *ret_is_cut)
{
        uint32_t *frames = b->memory->found;
        uint32_t n = 0;
        int r = 0;

        if (chain->state >= TRACE_STACK_TRUNCATED)
                r = add_mark(b, &frames[n++]);
        for (uint32_t i = chain->n_frames - n_same; r >= 0 && i-- > 0;)
                r = find_frame(b, space, &chain->frames[i], &frames[n++]);
        *ret_is_cut = r == -EOVERFLOW;
        return r >= 0 ? (int)n : r == -EOVERFLOW ? (int)n - 1 : r;
}

/*
 * Counts the frames from the root on that are equal in the previous call stack.  A call stack without its
 * root has no path.
 */
static uint32_t follow_path(struct stack_memory *memory, uint64_t generation, const struct call_chain *chain)
{
        uint32_t n = 0;

        if (memory->path_generation != generation)
                memory->n_path = 0;
        memory->path_generation = generation;
        while (n < memory->n_path && n < chain->n_frames) {
                const struct call_frame *at = &chain->frames[chain->n_frames - 1 - n];

                if (memory->path[n].avma != at->avma || memory->path[n].kind != kind_of(at))
                        break;
                n++;
        }
        memory->n_path = n;
        return n;
}

/* Appends the next frame of @chain, from the root on, and its row to the path. */
static void put_path(struct stack_memory *memory, const struct call_chain *chain, uint32_t stack)
{
        const struct call_frame *at = &chain->frames[chain->n_frames - 1 - memory->n_path];

        memory->path[memory->n_path++] =
                (struct path_entry){ .avma = at->avma, .kind = kind_of(at), .stack = stack };
}

int stack_builder_add(struct stack_builder *b, const struct address_space *space,
                      const struct call_chain *chain, uint32_t *ret_stack)
{
        uint32_t n_known = trace_dictionary_count(b->dictionary, TRACE_TABLE_STACKS);
        uint32_t stack = 0, n_same = 0;
        bool has_path, is_cut;
        int n;

        if (!b->memory)
                b->memory = stack_memory_new();
        if (!b->memory)
                return -ENOMEM;
        has_path = space->generation != 0 && chain->state < TRACE_STACK_TRUNCATED;
        if (b->memory->path_kernel_epoch != kernel_epoch_of(b))
                b->memory->n_path = 0;
        b->memory->path_kernel_epoch = kernel_epoch_of(b);
        if (has_path)
                n_same = follow_path(b->memory, space->generation, chain);
        if (n_same > 0)
                stack = b->memory->path[n_same - 1].stack;
        n = find_frames(b, space, chain, n_same, &is_cut);
        /* From the root inwards, so that stacks with the same callers share them. */
        for (int i = 0; i < n; i++) {
                int r = find_stack(b, b->memory->found[i], stack > n_known, &stack);

                if (r == -EOVERFLOW) {
                        is_cut = true;
                        break;
                }
                if (r < 0)
                        return r;
                if (has_path)
                        put_path(b->memory, chain, stack);
        }
        b->n_cut += is_cut;
        *ret_stack = stack;
        return n < 0 ? n : 0;
}

void stack_builder_deinit(struct stack_builder *b)
{
        free(b->memory);
        b->memory = NULL;
}
