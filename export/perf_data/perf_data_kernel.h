/* SPDX-License-Identifier: MIT */
/*
 * export/perf_data/perf_data_kernel.h - where the kernel lies, and which one it is, so that perf finds the
 * names of its functions
 *
 * Way of the data:  /proc/kallsyms, /sys/kernel/notes -> [perf_data_kernel] -> export_perf_data
 *
 * A trace has the addresses of the kernel's functions, not where the kernel begins, nor its build-id.
 * Both are found on the machine that recorded, until it is booted again.  perf compares the build-id,
 * and takes a shift of the kernel into account: where there is another kernel, functions have
 * addresses and no wrong names.
 */
#ifndef EXPORT_PERF_DATA_PERF_DATA_KERNEL_H
#define EXPORT_PERF_DATA_PERF_DATA_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_DATA_KERNEL_ID_MAX 20

struct byte_buffer;
struct trace_dictionary;

struct perf_data_kernel {
        bool is_known;
        uint64_t text_avma, end_avma; /* its functions, without those of modules */
        uint8_t build_id[PERF_DATA_KERNEL_ID_MAX];
        size_t build_id_bytes;
};

/*
 * The facts about the kernel of a trace; `is_known` is false if it is that of another machine or boot, or
 * hidden from us.
 */
struct perf_data_kernel perf_data_kernel_find(const struct trace_dictionary *dictionary);

/* The build-id in ELF notes.  Returns its length, or 0; @ret_id: PERF_DATA_KERNEL_ID_MAX bytes. */
size_t perf_data_kernel_parse_notes(const uint8_t *notes, size_t n_bytes, uint8_t *ret_id);

/* The address of a symbol in the text of /proc/kallsyms; 0 = it is not there, or hidden. */
uint64_t perf_data_kernel_parse_symbol(const char *text, size_t n_bytes, const char *name);

#endif /* EXPORT_PERF_DATA_PERF_DATA_KERNEL_H */
