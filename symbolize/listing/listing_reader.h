/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/listing_reader.h - finds the functions that sampled places are in, and lists their
 * instructions
 *
 * Way of the data:  image_spool, or image_finder -> [listing_reader] -> code_listing
 *
 * Reads ELF files, debug information and code that the profiled program controls; run it in a child
 * without rights: symbolize/listing/listing_process.h.
 */
#ifndef SYMBOLIZE_LISTING_LISTING_READER_H
#define SYMBOLIZE_LISTING_LISTING_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LISTING_PART_BYTES_MAX (UINT64_C(4) << 20) /* of code; the rest is cut off */

struct code_listing;
struct error;
struct image_finder;
struct symbol_search;

/* Where the code is: the first of these that is there.  Everything is borrowed. */
struct listing_request {
        /* 1. Bytes alone, without a file around them. */
        const uint8_t *code;
        size_t code_bytes;
        uint64_t code_avma;  /* of the first of them; then `offsets` are addresses, too */
        const char *name;    /* of the function that they are; may be NULL */
        const char *machine; /* what uname(2) called the machine: "x86_64" */
        /* 2. An ELF image in memory. */
        const uint8_t *image;
        size_t image_bytes;
        uint64_t region_avma;  /* of an image that a program announced: where its code lies; */
        uint64_t region_bytes; /* then `offsets` are addresses there.  0 = a module's image */
        /* 3. The files for a module of a trace: a file that is certainly the same, this machine's vdso. */
        const struct image_finder *finder;
        uint32_t module;

        const char
                *path; /* of 2 and 3: as the trace has it, to look for debug files beside it; may be NULL */

        const struct symbol_search *search; /* NULL = the machine's own folders */
        const uint64_t *offsets; /* sampled places of the functions, ascending: bytes in the file */
        size_t n_offsets;
        bool intel_syntax; /* of x86 */
};

/*
 * listing_reader_run() - list the code around the sampled places
 * @ret_listing:  fresh; to be deinitialised by the caller, after a failure too
 * Each part is a function in which at least one of the places lies, with the bounds that the module states.
 * Returns 0; -ENOENT without a disassembler or a file, -ESTALE if the file is another one now or
 * nothing tells whether it is, -ENOTSUP for code of an unknown machine, -EBADMSG for a damaged
 * image, -ENOMEM, -errno.
 */
int listing_reader_run(const struct listing_request *request, struct code_listing *ret_listing,
                       struct error *err);

#endif /* SYMBOLIZE_LISTING_LISTING_READER_H */
