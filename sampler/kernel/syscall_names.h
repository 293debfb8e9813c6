/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/syscall_names.h - the names of this machine's system calls
 *
 * Way of the data:  libseccomp -> [syscall_names] -> sample_stacks, syscall_sums, tracepoint_zones
 *
 * Numbers are those of syscall_layout.h.  Allocates for the time of a call.
 */
#ifndef SAMPLER_KERNEL_SYSCALL_NAMES_H
#define SAMPLER_KERNEL_SYSCALL_NAMES_H

#include "sampler/bpf/syscall_layout.h"

#include <stdbool.h>
#include <stdint.h>

#define SYSCALL_NAME_BYTES 32

struct syscall_name {
        char text[SYSCALL_NAME_BYTES]; /* "write"; "syscall_471", if that number has no known name */
};

struct syscall_name syscall_names_find(uint32_t number);

/* The number of a call of 64-bit programs, or of 32-bit ones; SYSCALL_NUMBER_MAX = none has that name. */
uint32_t syscall_names_number(const char *name, bool is_32_bit);

/* Does the call return how many bytes it has read, written, sent, received or copied? */
bool syscall_names_is_transfer(const struct syscall_name *name);

#endif /* SAMPLER_KERNEL_SYSCALL_NAMES_H */
