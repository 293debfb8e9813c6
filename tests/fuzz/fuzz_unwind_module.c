/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes as an unwind_module give one that is sorted and within its bounds, or an error;
 * and walks with it, from every row over whatever stack, end.  The bytes of the stack are the module's own.
 */
#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "unwind/stack_walk.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_module.h"
#include "unwind/unwind_table.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STACK_AVMA UINT64_C(0x7ffd00000000)
#define WALKS_MAX  64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static bool find_code(const void *context, uint64_t avma, struct stack_walk_code *ret_code)
{
        *ret_code = (struct stack_walk_code){ .table = context };
        return avma < STACK_AVMA;
}

static void check_table(const struct unwind_table *table)
{
        for (uint32_t i = 1; i < table->n_rows; i++)
                if (table->pcs[i] <= table->pcs[i - 1])
                        abort();
        for (uint32_t i = 0; i < table->n_rows && i < 1000; i++) {
                const struct unwind_rule *rule = unwind_table_find(table, table->base_svma + table->pcs[i]);

                for (unsigned number = 0; rule && number < UNWIND_REGISTERS_MAX; number++)
                        (void)unwind_table_saved(table, rule, number);
        }
        (void)unwind_table_find(table, UINT64_MAX);
}

static void walk_stacks(const struct unwind_table *table, const uint8_t *data, size_t n_bytes)
{
        const struct stack_walk_space space = { .find = find_code, .context = table, .generation = 1 };
        const struct unwind_machine *machine = table->machine;
        struct stack_walker *walker = stack_walker_new(machine);
        struct byte_reader in = byte_reader_of(data, n_bytes);
        struct stack_walk_input input;
        static struct stack_walk walk;

        if (!walker)
                return;
        memset(&input, 0, sizeof(input));
        for (size_t i = 0; i < UNWIND_REGISTERS_MAX; i++)
                input.registers.values[i] = STACK_AVMA + bytes_u16(&in);
        input.registers.known = UINT64_MAX;
        input.registers.values[machine->sp] = STACK_AVMA;
        input.n_pieces = 1;
        input.pieces[0] =
                (struct stack_walk_piece){ .bytes = data, .start_avma = STACK_AVMA, .n_bytes = n_bytes };
        for (uint32_t i = 0; i < table->n_rows && i < WALKS_MAX; i++) {
                input.registers.pc = table->base_svma + table->pcs[i];
                stack_walk_run(walker, &space, &input, &walk);
                if (walk.n_frames > STACK_WALK_FRAMES_MAX || walk.end >= STACK_WALK_N_ENDS)
                        abort();
        }
        stack_walker_free(walker);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        struct byte_buffer again = { .data = NULL };
        struct unwind_module *module = NULL;
        uint64_t bias;

        if (unwind_module_decode(data, n_bytes, &module, NULL) < 0)
                return 0;
        /* The decoded rows give the same once more. */
        unwind_module_encode(module, &again);
        if (!again.failed && (again.used_bytes != n_bytes || memcmp(again.data, data, n_bytes) != 0))
                abort();
        byte_buffer_deinit(&again);
        (void)unwind_module_find_bias(module, 0x1000, 0, UINT64_MAX, &bias);
        if (module->table) {
                check_table(module->table);
                walk_stacks(module->table, data, n_bytes);
        }
        unwind_module_free(module);
        return 0;
}
