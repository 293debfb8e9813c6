/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/bpf_words.h - why a BPF program could not be loaded, in words of ours
 *
 * Way of the data:  libbpf's code -> [bpf_words] -> struct error of switch_source, python_source
 */
#ifndef SAMPLER_KERNEL_BPF_WORDS_H
#define SAMPLER_KERNEL_BPF_WORDS_H

struct error;

/* libbpf writes to stderr what is said here; for the whole process, from any thread. */
void bpf_words_silence_libbpf(void);

/*
 * bpf_words_explain() - what `code` (-errno) means when a program could not be `what` ("load the program")
 *
 * `able`: the kernels that can, such as "Linux 5.17".
 * Returns a code for callers: -EPERM, -ENOTSUP, or `code`.
 */
int bpf_words_explain(int code, const char *what, const char *able, struct error *err);

#endif /* SAMPLER_KERNEL_BPF_WORDS_H */
