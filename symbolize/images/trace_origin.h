/* SPDX-License-Identifier: MIT */
/*
 * symbolize/images/trace_origin.h - where and when a trace was recorded, and whether this machine still is
 * that one
 *
 * Way of the data:  META -> [trace_origin] -> image_finder, symbolizer, `hyprof symbolize`
 *
 * Addresses of the kernel, and devices and inodes, mean something only on the
 * machine that recorded, until it is booted again; the kernel has a number for
 * that time.
 */
#ifndef SYMBOLIZE_IMAGES_TRACE_ORIGIN_H
#define SYMBOLIZE_IMAGES_TRACE_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

#define TRACE_ORIGIN_BOOT_ID_BYTES 64 /* with its NUL; 37 is usual */

struct trace_dictionary;

/* "0f6e6c8e-...", or "" if the kernel does not tell. */
void trace_origin_read_boot_id(char ret_boot_id[TRACE_ORIGIN_BOOT_ID_BYTES]);

enum trace_origin {
        TRACE_ORIGIN_UNKNOWN, /* the trace does not say */
        TRACE_ORIGIN_HERE,    /* this machine, and it was not booted since */
        TRACE_ORIGIN_OTHER,
};

enum trace_origin trace_origin_of(const struct trace_dictionary *dictionary);

/*
 * trace_origin_find_realtime() - CLOCK_REALTIME when @module was first mapped, in nanoseconds
 * Returns false if the trace does not tell.
 */
bool trace_origin_find_realtime(const struct trace_dictionary *dictionary, uint32_t module, uint64_t *ret_ns);

#endif /* SYMBOLIZE_IMAGES_TRACE_ORIGIN_H */
