/* SPDX-License-Identifier: MIT */
#include "sampler/merge/syscall_frames.h"

#include "format/trace_dictionary.h"
#include "sampler/kernel/call_chain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MODULE_NAME "[syscalls]"

/*
 * Adds the module of system calls, whose addresses are numbers of calls: no list of the kernel's symbols
 * has them.
 */
static int add_syscall_module(struct syscall_frames *f, struct trace_dictionary *d)
{
        struct trace_module row = { .kind = TRACE_MODULE_KERNEL, .generation = TRACE_MODULE_KERNEL_GONE };
        int r;

        if (f->module != 0)
                return 0;
        r = trace_dictionary_add_string(d, MODULE_NAME, strlen(MODULE_NAME), &row.path);
        return r < 0 ? r : trace_dictionary_add(d, TRACE_TABLE_MODULES, &row, &f->module);
}

static int add_syscall_frame(struct syscall_frames *f, struct trace_dictionary *d, uint32_t number)
{
        struct syscall_name name = syscall_names_find(number);
        struct trace_frame frame = { .offset = number };
        struct trace_symbol symbol = { .function = 0 };
        char words[sizeof(name.text) + 8];
        uint32_t id;
        int r = add_syscall_module(f, d);

        (void)snprintf(words, sizeof(words), "sys_%s", name.text);
        frame.module = f->module;
        if (r >= 0)
                r = trace_dictionary_add_string(d, words, strlen(words), &symbol.function);
        if (r >= 0)
                r = trace_dictionary_add(d, TRACE_TABLE_FRAMES, &frame, &symbol.frame);
        if (r >= 0)
                r = trace_dictionary_add(d, TRACE_TABLE_SYMBOLS, &symbol, &id);
        if (r >= 0)
                f->frames[number] = symbol.frame;
        return r;
}

int syscall_frames_find(struct syscall_frames *f, struct trace_dictionary *dictionary, uint32_t number,
                        uint32_t *ret_frame)
{
        int r = 0;

        number &= SYSCALL_NUMBERS - 1;
        if (f->frames[number] == 0)
                r = add_syscall_frame(f, dictionary, number);
        *ret_frame = f->frames[number];
        return r == -ENOMEM ? r : 0;
}

void syscall_frames_leave_kernel(struct call_chain *chain)
{
        uint32_t n = 0;

        for (uint32_t i = 0; i < chain->n_frames; i++)
                if (!chain->frames[i].in_kernel)
                        chain->frames[n++] = chain->frames[i];
        chain->n_frames = n;
}

int syscall_frames_put(struct trace_dictionary *dictionary, uint32_t frame, uint32_t *stack)
{
        const struct trace_stack row = { .parent = *stack, .frame = frame };
        int r = trace_dictionary_add(dictionary, TRACE_TABLE_STACKS, &row, stack);

        return r == -ENOMEM ? r : 0;
}
