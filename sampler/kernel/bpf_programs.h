/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/bpf_programs.h - the compiled BPF programs, inside of our own binary
 *
 * Way of the data:  switch_events.bpf, python_frames.bpf -> [bpf_programs] -> switch_source, python_source
 *                   -> kernel
 */
#ifndef SAMPLER_KERNEL_BPF_PROGRAMS_H
#define SAMPLER_KERNEL_BPF_PROGRAMS_H

#include <stdint.h>

/* ELF files of EM_BPF.  The one that reports context switches: */
extern const uint8_t switch_program[];
extern const uint64_t switch_program_bytes;

/* and the one that reads Python's frames. */
extern const uint8_t python_program[];
extern const uint64_t python_program_bytes;

#endif /* SAMPLER_KERNEL_BPF_PROGRAMS_H */
