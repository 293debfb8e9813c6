/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes as unwind information give a table or an error, and a walk over any stack with
 * that table ends.  The first byte chooses the machine and the kind of section, the next two how many
 * bytes of the rest are the section; what is after it is registers and stack.
 */
#include "base/bytes.h"
#include "unwind/stack_walk.h"
#include "unwind/unwind_table.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SECTION_SVMA 0x10000
#define CODE_END     0x200000
#define STACK_AVMA   UINT64_C(0x7ffd00000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static bool find_code(const void *context, uint64_t avma, struct stack_walk_code *ret_code)
{
        *ret_code = (struct stack_walk_code){ .table = context };
        if (avma >= CODE_END && avma < 2 * CODE_END)
                ret_code->table = NULL;
        return avma < 2 * CODE_END;
}

static void check_walk(const struct stack_walk *walk)
{
        if (walk->n_frames == 0 || walk->n_frames > STACK_WALK_FRAMES_MAX || walk->end >= STACK_WALK_N_ENDS ||
            !stack_walk_end_text(walk->end))
                abort();
}

static void walk_stacks(const struct unwind_machine *machine, const struct unwind_table *table,
                        struct byte_reader *in)
{
        const struct stack_walk_space space = { .find = find_code, .context = table, .generation = 1 };
        struct stack_walker *walker = stack_walker_new(machine);
        struct stack_walk_input input;
        static struct stack_walk walk;

        if (!walker)
                return;
        memset(&input, 0, sizeof(input));
        for (size_t i = 0; i < UNWIND_REGISTERS_MAX; i++)
                input.registers.values[i] = bytes_u64(in);
        input.registers.pc = bytes_u64(in) % (2 * CODE_END);
        input.registers.known = ~bytes_u64(in) | UINT64_C(1) << machine->sp;
        input.registers.values[machine->sp] = STACK_AVMA;
        input.registers.values[machine->fp] = STACK_AVMA + input.registers.values[machine->fp] % 4096;
        in->short_read = false;
        input.pieces[0] = (struct stack_walk_piece){ .bytes = in->at,
                                                     .start_avma = STACK_AVMA,
                                                     .n_bytes = in->left / 2 };
        input.n_pieces = 1;
        stack_walk_run(walker, &space, &input, &walk);
        check_walk(&walk);
        input.pieces[1] = (struct stack_walk_piece){ .bytes = in->at + in->left / 2,
                                                     .start_avma = STACK_AVMA + in->left / 2,
                                                     .n_bytes = in->left - in->left / 2 };
        input.n_pieces = 2;
        stack_walk_resume(walker, &space, &input, &walk);
        check_walk(&walk);
        /* From each rule once: what a stack of these few bytes leads to is not much. */
        for (uint32_t i = 0; i < table->n_rows && i < 64; i++) {
                input.registers.pc = table->base_svma + table->pcs[i];
                stack_walk_run(walker, &space, &input, &walk);
                check_walk(&walk);
        }
        stack_walker_free(walker);
}

static void check_table(const struct unwind_table *table)
{
        for (uint32_t i = 1; i < table->n_rows; i++)
                if (table->pcs[i] <= table->pcs[i - 1] || table->rule_ids[i] >= table->n_rules)
                        abort();
        for (uint32_t i = 0; i < table->n_rows && i < 1000; i++) {
                const struct unwind_rule *rule = unwind_table_find(table, table->base_svma + table->pcs[i]);

                if (rule != (table->rule_ids[i] ? &table->rules[table->rule_ids[i]] : NULL))
                        abort();
                for (unsigned number = 0; rule && number < UNWIND_REGISTERS_MAX; number++)
                        (void)unwind_table_saved(table, rule, number);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        static const struct unwind_machine *const machines[] = { &unwind_machine_x86_64,
                                                                 &unwind_machine_aarch64,
                                                                 &unwind_machine_riscv64,
                                                                 &unwind_machine_x86_64 };
        const struct unwind_code_range code = { .start_svma = 0x1000, .end_svma = CODE_END };
        struct byte_reader in = byte_reader_of(data, n_bytes);
        uint8_t kind = bytes_u8(&in);
        size_t n_section = bytes_u16(&in);
        struct cfi_section frames;
        struct unwind_table_source source = { .machine = machines[kind & 3],
                                              .sections = &frames,
                                              .n_sections = 1,
                                              .code = &code,
                                              .n_code = 1,
                                              .entry_svma = 0x3000 };
        struct unwind_table *table = NULL;
        uint8_t *section;

        if (in.short_read)
                return 0;
        if (n_section > in.left)
                n_section = in.left;
        /* In memory of its own, so that a sanitizer sees what is read past it. */
        section = malloc(n_section + 1);
        if (!section)
                return 0;
        memcpy(section, bytes_take(&in, n_section), n_section);
        section = realloc(section, n_section > 0 ? n_section : 1);
        if (!section)
                abort();
        frames = (struct cfi_section){ .bytes = section,
                                       .n_bytes = n_section,
                                       .svma = SECTION_SVMA,
                                       .is_debug_frame = kind & 4,
                                       .ends_at_zero = kind & 8 };
        if (unwind_table_build(&source, &table, NULL) == 0) {
                check_table(table);
                walk_stacks(source.machine, table, &in);
        }
        unwind_table_free(table);
        free(section);
        return 0;
}
