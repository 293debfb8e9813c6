/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/bpf_programs.h - the compiled BPF programs, inside hyprof's own binary, and in words why
 * one could not be loaded
 *
 * Way of the data:  switch_events.bpf, python_frames.bpf, function_probes.bpf -> [bpf_programs]
 *                   -> switch_source, python_source, probe_source -> kernel
 *                   libbpf's code -> [bpf_programs] -> struct error of switch_source, python_source
 */
#ifndef SAMPLER_KERNEL_BPF_PROGRAMS_H
#define SAMPLER_KERNEL_BPF_PROGRAMS_H

#include <stdint.h>

struct error;

/* ELF files of EM_BPF: the program that reports context switches, */
extern const uint8_t switch_program[];
extern const uint64_t switch_program_bytes;

/* the one that reads Python's frames. */
extern const uint8_t python_program[];
extern const uint64_t python_program_bytes;

/* and the one at the begins and ends of functions. */
extern const uint8_t probe_program[];
extern const uint64_t probe_program_bytes;

/* Keeps libbpf from writing to stderr; for the whole process, from any thread. */
void bpf_words_silence_libbpf(void);

/*
 * bpf_words_explain() - says why a step failed with `code` (-errno)
 *
 * `what`: the step, such as "load the program".
 * `able`: the kernels that can, such as "Linux 5.17".
 * Returns a code for callers: -EPERM, -ENOTSUP, or `code`.
 */
int bpf_words_explain(int code, const char *what, const char *able, struct error *err);

#endif /* SAMPLER_KERNEL_BPF_PROGRAMS_H */
