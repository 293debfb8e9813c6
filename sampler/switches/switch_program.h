/* SPDX-License-Identifier: MIT */
/*
 * sampler/switches/switch_program.h - the compiled BPF program, inside of our own binary
 *
 * Way of the data:  switch_events.bpf -> [switch_program] -> switch_source -> kernel
 */
#ifndef SAMPLER_SWITCHES_SWITCH_PROGRAM_H
#define SAMPLER_SWITCHES_SWITCH_PROGRAM_H

#include <stdint.h>

/* An ELF file of EM_BPF. */
extern const uint8_t switch_program[];
extern const uint64_t switch_program_bytes;

#endif /* SAMPLER_SWITCHES_SWITCH_PROGRAM_H */
