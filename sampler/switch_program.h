/* SPDX-License-Identifier: MIT */
/*
 * sampler/switch_program.h - the compiled BPF program, inside of our own binary
 *
 * Way of the data:  switch_events.bpf -> [switch_program] -> switch_source -> kernel
 */
#ifndef SAMPLER_SWITCH_PROGRAM_H
#define SAMPLER_SWITCH_PROGRAM_H

#include <stdint.h>

/* An ELF file of EM_BPF, from the first to the byte before the second. */
extern const uint8_t switch_program_begin[];
extern const uint8_t switch_program_end[];

#endif /* SAMPLER_SWITCH_PROGRAM_H */
