/* SPDX-License-Identifier: MIT */
/*
 * cli/on_host/host_session.h - what passes between the command here and the attendant of the recorder there
 *
 * Way of the data:  host_attendant (what the program prints, its end) -> [host_session] -> host_record
 *                   host_record (input, signals) -> [host_session] -> host_attendant
 *
 * Frames: a kind and a length, 32 bits each, little endian, then so many bytes.  Frames from the host are
 * counted: after a cut the side here says which it has, by the number of their bytes, and the rest comes
 * again.  The attendant keeps the last of them for that.  Input that was on its way at a cut is lost.
 */
#ifndef CLI_ON_HOST_HOST_SESSION_H
#define CLI_ON_HOST_HOST_SESSION_H

#include "base/byte_buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOST_FRAME_HEADER_BYTES 8
#define HOST_FRAME_BYTES_MAX    ((size_t)65536) /* of its body */
#define HOST_KEPT_BYTES         ((size_t)1 << 20)

enum host_frame_kind {
        /* from here */
        HOST_FRAME_HELLO,     /* u64: the position up to which the frames have come; the first frame */
        HOST_FRAME_INPUT,     /* bytes for the program */
        HOST_FRAME_INPUT_END, /* its input has ended */
        HOST_FRAME_SIGNAL,    /* u64: SIGINT for the recorder and the program, SIGTERM for the recorder */
        HOST_FRAME_BYE,       /* the end has come: the attendant removes all, and ends */
        /* from the host; the first two are not counted */
        HOST_FRAME_WELCOME, /* u64: the position from which the frames come; the answer to HELLO */
        HOST_FRAME_GONE,    /* no attendant is there */
        HOST_FRAME_OUT,     /* what the program printed on standard output */
        HOST_FRAME_ERR,     /* and on standard error; hyprof there prints there, too */
        HOST_FRAME_END,     /* u64: the exit status of the recorder, as shells have it; the last frame */
        HOST_N_FRAME_KINDS
};

struct host_frame {
        enum host_frame_kind kind;
        const uint8_t *bytes; /* borrowed */
        size_t n_bytes;
        size_t frame_bytes; /* with its header */
};

/*
 * host_frame_decode() - the frame at the beginning of @bytes
 * Returns 1; 0 if it is not whole; -EBADMSG.
 */
int host_frame_decode(const uint8_t *bytes, size_t n_bytes, struct host_frame *ret);
void host_frame_encode(struct byte_buffer *b, enum host_frame_kind kind, const void *bytes, size_t n_bytes);

void host_frame_encode_number(struct byte_buffer *b, enum host_frame_kind kind, uint64_t number);

/* The number in a frame; 0 if it has none. */
uint64_t host_frame_number(const struct host_frame *frame);
bool host_frame_is_counted(enum host_frame_kind kind);

/* The last frames, for a side that may come back.  Zero-initialised is empty. */
struct host_output {
        struct byte_buffer frames; /* whole ones */
        uint64_t base;             /* the position of the first */
        uint64_t sent;             /* up to where they were sent, on this connection */
};

void host_output_deinit(struct host_output *o);

/* The oldest are dropped beyond HOST_KEPT_BYTES, also unsent ones: see host_output_has_room(). */
void host_output_add(struct host_output *o, enum host_frame_kind kind, const void *bytes, size_t n_bytes);

/* Whether a frame can be added, and another one, without dropping one that was not sent. */
bool host_output_has_room(const struct host_output *o);

/*
 * host_output_resume() - a side that has all frames before @position
 * Frames are sent from there on, or from the first one that is left: `sent`.  Returns 0; -EBADMSG if no
 * frame begins there.
 */
int host_output_resume(struct host_output *o, uint64_t position);

/* The bytes to be sent next, borrowed.  Returns their number. */
size_t host_output_rest(const struct host_output *o, const uint8_t **ret_bytes);

#endif /* CLI_ON_HOST_HOST_SESSION_H */
