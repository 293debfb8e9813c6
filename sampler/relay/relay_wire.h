/* SPDX-License-Identifier: MIT */
/*
 * sampler/relay/relay_wire.h - what recorder and taker say to each other beside the trace itself
 *
 * Way of the data:  relay_server <-> [relay_wire] <-> relay_intake
 *
 * The taker says which recording it has, and up to where; the recorder answers from where on it goes; then
 * the chunks of the trace follow as they would be in a file, up to the INDEX chunk.  The taker sends the
 * position up to which it has written everything, again and again.  A position is a number of bytes in the
 * recorder's stream.  All numbers are little endian.
 *
 * A taker may ask for the recorder's clock if the recorder's hello says that it answers.  The question is a
 * position with its highest bit set, which holds the taker's time; the answer is a chunk of another kind that
 * is in no file, and counts for no position.
 *
 * Chunks that are not there any more are described by a GAP: a chunk of a kind that is in no file.  It says
 * how many events were in them and where the stream goes on.
 */
#ifndef SAMPLER_RELAY_RELAY_WIRE_H
#define SAMPLER_RELAY_RELAY_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define RELAY_HELLO_BYTES 40
#define RELAY_ACK_BYTES   8
#define RELAY_GAP_KIND    0xfff0              /* a kind of chunk on connections, never in files */
#define RELAY_GAP_BYTES   24                  /* of its body */
#define RELAY_TIME_KIND   0xfff1              /* the answer to a question, likewise */
#define RELAY_TIME_BYTES  24                  /* of its body */
#define RELAY_ASKS        (UINT64_C(1) << 63) /* of a position: it is a question, the rest is a time */

enum relay_status {
        RELAY_FRESH,   /* the trace follows from its beginning, as far as it is still there */
        RELAY_RESUMED, /* from the position that was asked for */
        RELAY_BUSY,    /* another taker is connected */
        RELAY_STALE,   /* another recording, or another taker has gone on with it */
        RELAY_FOREIGN, /* the recorder refuses the taker's user */
        RELAY_CROWDED, /* too many connections have not said who they are */
};

/* Bits of `features`: these the sender understands; older versions send 0. */
#define RELAY_FEATURE_TIME UINT64_C(1) /* the recorder answers questions */

/* Both directions; a taker sends status 0. */
struct relay_hello {
        uint64_t recording;  /* a random number for it; 0 = the taker has none */
        uint32_t generation; /* of takers that began anew */
        uint32_t status;     /* enum relay_status */
        uint64_t position;
        uint64_t features; /* RELAY_FEATURE_* */
};

/* An answer: when the taker asked, by its clock; when the recorder read that and answered, by its own. */
struct relay_time {
        uint64_t asked_ns, heard_ns, answered_ns;
};

struct relay_gap {
        uint64_t n_dropped; /* events that no taker has, dropped for want of room */
        uint64_t n_taken;   /* events that an earlier taker has */
        uint64_t position;  /* of what follows */
        uint64_t first_ns, last_ns;
};

void relay_hello_encode(const struct relay_hello *hello, int from_taker, uint8_t bytes[RELAY_HELLO_BYTES]);

/* Returns 0 or -EBADMSG. */
int relay_hello_decode(const uint8_t bytes[RELAY_HELLO_BYTES], int from_taker, struct relay_hello *ret);

void relay_position_encode(uint64_t position, uint8_t bytes[RELAY_ACK_BYTES]);
uint64_t relay_position_decode(const uint8_t bytes[RELAY_ACK_BYTES]);

#endif /* SAMPLER_RELAY_RELAY_WIRE_H */
