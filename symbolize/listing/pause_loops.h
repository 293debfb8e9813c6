/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/pause_loops.h - whether sampled instructions lie in small loops that pause: in code that
 * runs in order to wait
 *
 * Way of the data:  code of a module -> [pause_loops] -> listing_process -> path_spins
 *
 * Compilers and libraries put an instruction into loops that wait for another thread, which spares the CPU:
 * PAUSE of x86; YIELD, WFE and ISB of AArch64; PAUSE of RISC-V.  An instruction lies in such a loop if the
 * smallest loop around the pause contains it: work that merely has a lock in its midst does not.  Loops of
 * other machines, and loops without a pause, are not found.  Functions are not looked for, so that it costs a
 * few microseconds a place.
 */
#ifndef SYMBOLIZE_LISTING_PAUSE_LOOPS_H
#define SYMBOLIZE_LISTING_PAUSE_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAUSE_LOOPS_BYTES_MAX 256 /* of a loop; larger ones do more than to wait */

struct code_listing;
struct error;
struct listing_request;

/* How many bytes the instruction at the start of @bytes has, 1 .. @n_bytes; 0 = it is none. */
typedef size_t pause_loops_measure(void *context, uint64_t svma, const uint8_t *bytes, size_t n_bytes);

/* Code without gaps; everything is borrowed. */
struct pause_code {
        uint16_t machine; /* EM_* of the ELF header */
        uint64_t svma;    /* of the first of @n_bytes */
        const uint8_t *bytes;
        size_t n_bytes;
        pause_loops_measure *measure; /* of x86; NULL = its instructions cannot be told apart */
        void *context;
};

struct pause_place {
        uint64_t pause_svma; /* the loop's instruction that pauses */
        bool is_at_pause;    /* the place is that instruction, or the next one, which samples show instead */
};

/* pause_loops_find() - look at one instruction, at @svma.  Bounded; allocates nothing. */
bool pause_loops_find(const struct pause_code *code, uint64_t svma, struct pause_place *ret_place);

/* Whether some bytes near @svma may be such an instruction: a first look, which is cheap. */
bool pause_loops_may_be(const struct pause_code *code, uint64_t svma);

#define PAUSE_LOOPS_AT_PAUSE UINT32_C(1) /* in the flags of a part, instead of LISTING_PART_*: is_at_pause */

/*
 * pause_loops_list() - a listing_process_task: which of the places of the request spin
 * @ret_listing:  has a part for each of them, without instructions: `file_off` is the place, `svma` that of
 *                the loop's pause.  At most CODE_LISTING_PARTS_MAX.
 * Needs request->image or request->finder.  x86 needs the disassembler, which is loaded when a first look has
 * found something.  Returns what listing_reader_run() does.
 */
int pause_loops_list(const struct listing_request *request, struct code_listing *ret_listing,
                     struct error *err);

#endif /* SYMBOLIZE_LISTING_PAUSE_LOOPS_H */
