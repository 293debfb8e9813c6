/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/build_id_note.h - the build-id of an ELF file
 *
 * Way of the data:  image_reader, file_versions, memory_image -> [build_id_note] -> the same
 *
 * For code that has to tell files apart and must not parse them: looks at the header, the segments of notes
 * and nothing else.  The bytes are the profiled program's.
 */
#ifndef SAMPLER_KEEP_BUILD_ID_NOTE_H
#define SAMPLER_KEEP_BUILD_ID_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether these are the first bytes of an ELF file. */
bool build_id_note_is_elf(const uint8_t *bytes, size_t n_bytes);

/* A segment of notes, as the header says. */
struct build_id_segment {
        uint64_t offset_bytes, size_bytes;
};

/*
 * build_id_note_next() - the next segment of notes, which may lie anywhere in the file
 * @bytes:  the first ones of the file
 * @at:     0 at first, then as it was left
 * Returns false when there are no more.
 */
bool build_id_note_next(const uint8_t *bytes, size_t n_bytes, uint16_t *at, struct build_id_segment *ret);

/*
 * build_id_note_find_in() - the build-id in the bytes of such a segment, whether its notes are
 * aligned to 4 bytes or to 8
 * @ret_id:  borrows @notes
 * Returns its length, or 0.
 */
size_t build_id_note_find_in(const uint8_t *notes, size_t n_bytes, const uint8_t **ret_id);

/*
 * build_id_note_find() - the build-id, if it lies within these first bytes
 * @ret_id:  borrows @bytes
 * Returns its length, or 0: there is no note, or not here.
 */
size_t build_id_note_find(const uint8_t *bytes, size_t n_bytes, const uint8_t **ret_id);

#define BUILD_ID_NOTE_FIRST_BYTES \
        16384 /* for the first few thousand bytes, which have headers and notes, or for notes elsewhere */
#define BUILD_ID_NOTE_SCRATCH_BYTES ((size_t)2 * BUILD_ID_NOTE_FIRST_BYTES)

/*
 * build_id_note_read() - the build-id of a file, wherever its notes are
 * @fd:       read with offsets of our own; may block as long as the file's file system does
 * @scratch:  overwritten
 * @ret_id:   borrows @scratch
 * Returns its length, 0 if the file has none, -ENOEXEC if it is no ELF file, -errno.
 */
int build_id_note_read(int fd, uint8_t scratch[BUILD_ID_NOTE_SCRATCH_BYTES], const uint8_t **ret_id);

#endif /* SAMPLER_KEEP_BUILD_ID_NOTE_H */
