/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/bpf_programs.h - the compiled BPF programs, inside of our own binary, and why one could not
 * be loaded, in words of ours
 *
 * Way of the data:  switch_events.bpf, python_frames.bpf -> [bpf_programs] -> switch_source, python_source
 *                   -> kernel
 *                   libbpf's code -> [bpf_programs] -> struct error of switch_source, python_source
 */
#ifndef SAMPLER_KERNEL_BPF_PROGRAMS_H
#define SAMPLER_KERNEL_BPF_PROGRAMS_H

#include <stdint.h>

struct error;

/* ELF files of EM_BPF.  The one that reports context switches: */
extern const uint8_t switch_program[];
extern const uint64_t switch_program_bytes;

/* and the one that reads Python's frames. */
extern const uint8_t python_program[];
extern const uint64_t python_program_bytes;

/* libbpf writes to stderr what is said here; for the whole process, from any thread. */
void bpf_words_silence_libbpf(void);

/*
 * bpf_words_explain() - what `code` (-errno) means when a program could not be `what` ("load the program")
 *
 * `able`: the kernels that can, such as "Linux 5.17".
 * Returns a code for callers: -EPERM, -ENOTSUP, or `code`.
 */
int bpf_words_explain(int code, const char *what, const char *able, struct error *err);

#endif /* SAMPLER_KERNEL_BPF_PROGRAMS_H */
