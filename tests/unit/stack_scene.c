/* SPDX-License-Identifier: MIT */
#include "tests/unit/stack_scene.h"

#include "tests/unit/unit_test.h"

#include <string.h>

static bool find_code(const void *context, uint64_t avma, struct stack_walk_code *ret_code)
{
        const struct stack_scene *s = context;

        *ret_code = (struct stack_walk_code){ .table = NULL };
        if (avma - BIAS < 0x100000) {
                ret_code->table = s->table;
                ret_code->bias = BIAS;
                return true;
        }
        return avma >= JIT && avma < JIT_END;
}

void stack_scene_add(struct stack_scene *s, uint64_t svma, const uint8_t *instructions, size_t n_bytes)
{
        cfi_builder_add_fde(&s->builder, svma, 0x40, instructions, n_bytes);
}

void stack_scene_begin(struct stack_scene *s, const struct unwind_machine *machine)
{
        memset(s, 0, sizeof(*s));
        cfi_builder_init(&s->builder);
        s->walker = stack_walker_new(machine);
        ck_assert_ptr_nonnull(s->walker);
        s->space = (struct stack_walk_space){ .find = find_code, .context = s, .generation = 1 };
        s->input.pieces[0] = (struct stack_walk_piece){ .bytes = (const uint8_t *)s->words,
                                                        .start_avma = STACK,
                                                        .n_bytes = sizeof(s->words) };
        s->input.n_pieces = 1;
        s->input.registers.values[machine->sp] = STACK;
        s->input.registers.known = UINT32_MAX;
}

void stack_scene_begin_x86_64(struct stack_scene *s)
{
        static const struct cfi_builder_cie plain = { .version = 1 };
        static const struct cfi_builder_cie signal_frame = { .augmentation = "zRS" };

        stack_scene_begin(s, &unwind_machine_x86_64);
        cfi_builder_add_cie(&s->builder, &plain, CFI_BYTES(0x0c, 7, 8, 0x90, 1));
        stack_scene_add(s, PLAIN, CFI_BYTES(0x0e, 16));
        stack_scene_add(s, ROOT, CFI_BYTES(0x07, 16));
        stack_scene_add(s, FRAMED, CFI_BYTES(0x0c, 6, 16, 0x86, 2));
        stack_scene_add(s, EPILOGUE, CFI_BYTES(0x86, 2));
        stack_scene_add(s, PLT,
                        CFI_BYTES(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22));
        stack_scene_add(s, BY_RBX, CFI_BYTES(0x0c, 3, 8));
        stack_scene_add(s, SAVES, CFI_BYTES(0x0e, 24, 0x83, 2));
        stack_scene_add(s, BY_RDI, CFI_BYTES(0x0e, 0, 0x09, 16, 5));
        stack_scene_add(s, BY_MEMORY, CFI_BYTES(0x0f, 5, 0x77, 8, 0x06, 0x23, 8));
        stack_scene_add(s, ENDLESS, CFI_BYTES(0x0e, 0));
        stack_scene_add(s, FP_LOST, CFI_BYTES(0x07, 6));
        stack_scene_add(s, SAME_RA, CFI_BYTES(0x0e, 16, 0x08, 16));
        stack_scene_add(s, FAR_RA, CFI_BYTES(0x0e, 8, 0x05, 16, 0x88, 0x27)); /* 5000 words down */
        cfi_builder_add_cie(&s->builder, &signal_frame, CFI_BYTES(0x0c, 7, 8, 0x90, 1));
        /* One byte early, as the C library does, for those who look up return addresses. */
        cfi_builder_add_fde(&s->builder, SIGNAL - 1, 0x10, CFI_BYTES(0x0f, 4, 0x77, 0xa0, 1, 0x06));
        s->table = cfi_builder_table(&s->builder, &unwind_machine_x86_64);
        s->table->entry_svma = ENTRY;
}

void stack_scene_end(struct stack_scene *s)
{
        stack_walker_free(s->walker);
        unwind_table_free(s->table);
        cfi_builder_deinit(&s->builder);
}

void stack_scene_run(struct stack_scene *s, uint64_t pc)
{
        s->input.registers.pc = pc;
        stack_walk_run(s->walker, &s->space, &s->input, &s->walk);
}

/* Walks, and compares all frames with a list that ends in 0. */
void stack_scene_expect(struct stack_scene *s, uint64_t pc, enum stack_walk_end end_wanted,
                        const uint64_t *pcs)
{
        stack_scene_run(s, pc);
        for (uint32_t i = 0; i < s->walk.n_frames; i++)
                ck_assert_msg(pcs[i] == s->walk.frames[i].pc_avma, "frame %u is %#lx, not %#lx", i,
                              (unsigned long)s->walk.frames[i].pc_avma, (unsigned long)pcs[i]);
        ck_assert_uint_eq(pcs[s->walk.n_frames], 0);
        ck_assert_msg(s->walk.end == end_wanted, "%s", stack_walk_end_text(s->walk.end));
}

size_t stack_scene_read_jit_code(const void *context, uint64_t avma, uint8_t *bytes, size_t n_bytes)
{
        const struct stack_scene *s = context;
        size_t left = avma - JIT < s->jit_code_bytes ? s->jit_code_bytes - (size_t)(avma - JIT) : 0;
        size_t n = n_bytes < left ? n_bytes : left;

        ++*s->n_reads;
        if (n > 0)
                memcpy(bytes, s->jit_code + (avma - JIT), n);
        return n;
}
