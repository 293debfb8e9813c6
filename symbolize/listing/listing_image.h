/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/listing_image.h - the ELF image that a listing is made of, and where code is in it
 *
 * Way of the data:  image_spool, or image_finder -> [listing_image] -> listing_reader, pause_loops
 *
 * Reads files that the profiled program controls: for a process without rights.  Not thread-safe.
 */
#ifndef SYMBOLIZE_LISTING_LISTING_IMAGE_H
#define SYMBOLIZE_LISTING_LISTING_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disassembler;
struct elf_image;
struct elf_image_segment;
struct error;
struct listing_request;

struct listing_image {
        const struct listing_request *request; /* borrowed */
        struct elf_image *image;               /* owned; NULL = none is open */
        int fd;                                /* that the image is read from; -1 */
        char *path;                            /* heap: of that file; NULL */
        uint16_t machine;                      /* EM_* */
        bool is_64_bit, is_big_endian;
        const uint8_t *file; /* all bytes of the image */
        size_t file_bytes;
};

/* Returns 0 or what listing_reader_run() does; to be closed in any case. */
int listing_image_open(struct listing_image *i, const struct listing_request *request, struct error *err);
void listing_image_close(struct listing_image *i);

/* The address in the image of a sampled place of the request; false = there is none. */
bool listing_image_find_svma(const struct listing_image *i, uint64_t offset, uint64_t *ret_svma);

/* The executable segment that an address is loaded from; NULL = there is none. */
const struct elf_image_segment *listing_image_find_segment(const struct listing_image *i, uint64_t svma);

/* As disassembler_open(), for its code. */
int listing_image_open_disassembler(const struct listing_image *i, struct disassembler **ret_disassembler,
                                    struct error *err);

#endif /* SYMBOLIZE_LISTING_LISTING_IMAGE_H */
