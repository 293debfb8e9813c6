/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/kernel_code.h - code that the kernel made while it ran: where it is now, and its names
 *
 * Way of the data:  perf_record (KSYMBOL), the kernel's BPF programs -> [kernel_code] -> stack_builder
 *
 * /proc/kallsyms, which is read at the end, has what is there then: a BPF program that was unloaded has its
 * neighbour's name there, or that of the one which took its place.  So the kernel's records say from when
 * to when a piece of memory is which code.  Frames in such memory belong to a module of their own, by the
 * number of pieces of code that were there so far (its generation), and have the name that a record gives.
 * A program that was loaded before the recording is known by its place alone: it has its name when it is
 * unloaded, or at the end.  Classic BPF, as of seccomp filters, is in neither list: it has no name.
 *
 * Threads: the collector's.
 */
#ifndef SAMPLER_KEEP_KERNEL_CODE_H
#define SAMPLER_KEEP_KERNEL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_kernel_code;
struct trace_dictionary;

/* pieces, removed ones included; beyond that, all of this memory is unknown */
#define KERNEL_CODE_PIECES_MAX 65536

struct kernel_code_piece;
struct kernel_code_frame;

/* Zero-initialised is empty and valid. */
struct kernel_code {
        struct kernel_code_piece *pieces; /* heap, by address, without overlaps */
        size_t n_pieces, capacity;
        struct kernel_code_frame *frames; /* heap: of code that has no name yet */
        size_t n_frames, frames_capacity;
        uint64_t epoch; /* grows with each change */
};

void kernel_code_deinit(struct kernel_code *k);

/*
 * kernel_code_read_programs() - the BPF programs that were loaded before a moment and are there still
 * @until_boot_ns:  CLOCK_BOOTTIME
 * Some microseconds a program.  Programs that it is not permitted to see, or has no room for, are not known.
 */
void kernel_code_read_programs(struct kernel_code *k, uint64_t until_boot_ns);

/* Code that was there before the recording; its name is not known.  Returns 0 or -ENOMEM. */
int kernel_code_add(struct kernel_code *k, uint64_t start_avma, uint64_t n_bytes);

/*
 * kernel_code_note() - code was put there or removed
 * Gives earlier frames a name if the record does.
 * Returns 0 or -ENOMEM.
 */
int kernel_code_note(struct kernel_code *k, struct trace_dictionary *dictionary,
                     const struct perf_kernel_code *record);

/*
 * kernel_code_find() - the code at an address of the kernel's
 * @ret_generation:  of the module "[kernel]"; 0 = the kernel's own code, TRACE_MODULE_KERNEL_GONE = nothing
 *                   that has a name
 * @ret_name:        string; 0 = none is known yet
 */
void kernel_code_find(const struct kernel_code *k, uint64_t avma, uint32_t *ret_generation,
                      uint32_t *ret_name);

/* A frame whose code has no name yet.  Without memory for the note, it never has one. */
void kernel_code_note_frame(struct kernel_code *k, uint64_t avma, uint32_t frame);

/* Was code removed where the record says that new code is? */
bool kernel_code_is_replaced(const struct kernel_code *k, const struct perf_kernel_code *record);

#endif /* SAMPLER_KEEP_KERNEL_CODE_H */
