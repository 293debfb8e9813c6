/* SPDX-License-Identifier: MIT */
#include "sampler/tracks/kept_copy.h"

#include "sampler/kernel/raw_stack.h"
#include "unwind/unwind_machine.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 16 /* machine, and which registers */

static char *put_u64(char *at, uint64_t value)
{
        for (unsigned i = 0; i < sizeof(value); i++)
                *at++ = (char)(value >> 8 * i);
        return at;
}

int kept_copy_new(const struct raw_stack *raw, size_t *total_bytes, struct kept_copy **ret_copy)
{
        const struct unwind_machine *machine = unwind_machine_own();
        size_t n_bytes = HEAD_BYTES + raw->registers_bytes + raw->copy_bytes;
        struct kept_copy *copy;
        char *at;

        *ret_copy = NULL;
        if (!machine || !raw->registers || raw->is_32_bit)
                return 0;
        if (*total_bytes + n_bytes > KEPT_COPY_BYTES_MAX)
                return -EOVERFLOW;
        copy = malloc(sizeof(*copy) + n_bytes);
        if (!copy)
                return -ENOMEM;
        *copy = (struct kept_copy){ .total_bytes = total_bytes, .n_bytes = n_bytes };
        at = put_u64(copy->bytes, machine->elf_machine);
        at = put_u64(at, machine->perf_registers);
        memcpy(at, raw->registers, raw->registers_bytes);
        if (raw->copy_bytes > 0)
                memcpy(at + raw->registers_bytes, raw->copy, raw->copy_bytes);
        *total_bytes += n_bytes;
        *ret_copy = copy;
        return 0;
}

void kept_copy_free(struct kept_copy *copy)
{
        if (!copy)
                return;
        *copy->total_bytes -= copy->n_bytes;
        free(copy);
}
