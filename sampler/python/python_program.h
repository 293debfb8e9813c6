/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_program.h - the compiled BPF program that reads Python's frames, inside of our own
 * binary
 *
 * Way of the data:  python_frames.bpf -> [python_program] -> python_source -> kernel
 */
#ifndef SAMPLER_PYTHON_PYTHON_PROGRAM_H
#define SAMPLER_PYTHON_PYTHON_PROGRAM_H

#include <stdint.h>

/* An ELF file of EM_BPF. */
extern const uint8_t python_program[];
extern const uint64_t python_program_bytes;

#endif /* SAMPLER_PYTHON_PYTHON_PROGRAM_H */
