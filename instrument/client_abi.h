/* SPDX-License-Identifier: MIT */
/*
 * instrument/client_abi.h - the memory that a program and a recorder share
 *
 * Way of the data:  instrument/client -> [client_abi] -> client_region -> client_stream
 * Specification:    docs/client-abi.md
 *
 * One sealed memfd a process, called "hyprof-client":
 *
 *      0                  struct client_abi_header, in a page of its own
 *      slots_offset       n_slots  x struct client_abi_slot
 *      locations_offset   n_locations_max  x struct client_abi_location, id 1 comes first
 *      strings_offset     bytes that the locations point to
 *      rings_offset       n_slots  x ring_bytes, ring i belongs to slot i
 *
 * Fields are only ever appended, never moved, resized or reused.  Includes
 * nothing but <stdint.h>, so that a client in any language and of any age can
 * be built from this file alone.  Little endian; 32- and 64-bit atomics only.
 */
#ifndef INSTRUMENT_CLIENT_ABI_H
#define INSTRUMENT_CLIENT_ABI_H

#include <stdint.h>

#define CLIENT_ABI_MEMFD_NAME "hyprof-client"
#define CLIENT_ABI_MAGIC      UINT64_C(0x314e474552505948) /* "HYPREGN1" */
#define CLIENT_ABI_MAJOR      1                            /* a recorder refuses another major */
#define CLIENT_ABI_MINOR      0

/* The header has this much room, so that it is whole pages of its own whatever the page size. */
#define CLIENT_ABI_HEADER_ROOM_BYTES 65536

/*
 * The control word: families in the low 8 bits, none of them = nobody records; in the high 24 the number of the
 * session.  The number stays when a recording ends, so that the next one can take the next; 0 is none.
 */
#define CLIENT_ABI_FAMILY_ZONES    UINT32_C(0x01)
#define CLIENT_ABI_FAMILY_FRAMES   UINT32_C(0x02)
#define CLIENT_ABI_FAMILY_MESSAGES UINT32_C(0x04)
#define CLIENT_ABI_FAMILY_PLOTS    UINT32_C(0x08)
#define CLIENT_ABI_FAMILY_MEMORY   UINT32_C(0x10)
#define CLIENT_ABI_FAMILY_LOCKS    UINT32_C(0x20)
#define CLIENT_ABI_FAMILY_DEVICES  UINT32_C(0x40)
#define CLIENT_ABI_FAMILY_ALWAYS   UINT32_C(0x80) /* set with any other: names of threads, information */
#define CLIENT_ABI_FAMILIES        UINT32_C(0xff)
#define CLIENT_ABI_SESSION_SHIFT   8

/* What the ticks in the rings are; the numbers of enum trace_clock_kind. */
enum client_abi_clock {
        CLIENT_ABI_CLOCK_MONOTONIC_RAW = 1, /* nanoseconds */
        CLIENT_ABI_CLOCK_TSC = 2,
        CLIENT_ABI_CLOCK_CNTVCT = 3,
        CLIENT_ABI_CLOCK_RDTIME = 4,
};

struct client_abi_header {
        /* Set by the client before the memfd can be found, constant from then on. */
        uint64_t magic;
        uint16_t abi_major;
        uint16_t abi_minor;
        uint32_t header_bytes; /* sizeof this struct in the client */
        uint32_t pid;          /* getpid() of the client, in its own PID namespace */
        uint32_t clock_kind;   /* enum client_abi_clock */
        uint64_t region_bytes; /* of the memfd */
        uint64_t slots_offset;
        uint32_t slot_bytes; /* distance of two slots; at least sizeof(struct client_abi_slot) */
        uint32_t n_slots;
        uint64_t locations_offset;
        uint32_t location_bytes; /* distance of two locations */
        uint32_t n_locations_max;
        uint64_t strings_offset;
        uint64_t strings_bytes; /* room for strings */
        uint64_t rings_offset;
        uint64_t ring_bytes; /* of each ring; a power of two */
        uint8_t reserved_a[32];

        /* Offset 128: the recorder's line. */
        uint32_t control_word; /* atomic; what to record, see above */
        uint32_t recorder_pid; /* atomic; who set it, 0 = the client itself (HYPROF_RECORD) */
        uint8_t reserved_b[56];

        /* Offset 192: the client's counters, atomic. */
        uint32_t n_locations;  /* ids 1 .. this were given out */
        uint32_t n_slots_used; /* slots 0 .. this - 1 were ever taken */
        uint64_t strings_used_bytes;
        uint64_t n_dropped_no_ring; /* events of threads that found no slot */
        uint8_t reserved_c[40];
};

/* One thread's ring.  Three cache lines: what the client writes often, what the recorder writes, the rest. */
struct client_abi_slot {
        uint64_t head_bytes; /* ever written; stored by the client with release after the bytes */
        uint32_t taken;      /* atomic; tid of the owner, 0 = free; a free ring may still hold unread bytes */
        uint8_t reserved_a[52];

        uint64_t tail_bytes; /* ever read; stored by the recorder with release */
        uint8_t reserved_b[56];

        uint64_t n_dropped_zones; /* counters only grow; relaxed */
        uint64_t n_dropped_messages;
        uint64_t n_dropped_plots;
        uint64_t n_dropped_frames;
        uint64_t n_dropped_other;
        uint8_t reserved_c[24];

        uint8_t reserved_d[64];
};

/* A static source location, or the name of a plot or a frame (then only `name` is set). */
struct client_abi_location {
        uint64_t name; /* strings: offset in the string area in the low 40 bits, bytes in the high 24 */
        uint64_t function;
        uint64_t file;
        uint32_t line;
        uint32_t color; /* 0xRRGGBB, 0 = none */
        uint32_t ready; /* atomic; 1 once the rest is written */
        uint8_t reserved[28];
};

#define CLIENT_ABI_STRING_OFFSET_BITS 40
#define CLIENT_ABI_STRING_BYTES_MAX   UINT32_C(65535) /* a client cuts what is longer */

/*
 * The rings hold words of 8 bytes, little endian:
 *
 *      bits  0 .. 31   low 32 bits of the time stamp in ticks
 *      bits 32 .. 55   argument
 *      bits 56 .. 63   event, below
 *
 * and then the event's payload, rounded up to whole words.  The high 32 bits
 * of the time stamp are those of the last CLIENT_ABI_EVENT_TIME; the client
 * writes one whenever they change.  Wraps at the end of the ring like the
 * bytes do: index = count of bytes modulo ring_bytes.
 *
 * Events that a later minor version adds have numbers that tell their length,
 * so that a recorder steps over what it does not know:
 *
 *      16 .. 63     no payload
 *      64 .. 127    one word
 *      128 .. 255   the argument is the payload's number of bytes, before rounding up
 */
enum client_abi_event {
        /* Bits 0 .. 31 hold the high half of the ticks instead. */
        CLIENT_ABI_EVENT_TIME = 1,
        /* Word 1: the tid of the thread that what follows comes from; every zone of this ring is closed. */
        CLIENT_ABI_EVENT_THREAD = 2,
        /* Argument: location. */
        CLIENT_ABI_EVENT_ZONE_BEGIN = 3,
        /* Of the innermost open zone. */
        CLIENT_ABI_EVENT_ZONE_END = 4,
        /* Argument: bytes of text; word 1: color | severity << 32; then the text. */
        CLIENT_ABI_EVENT_MESSAGE = 5,
        /* Argument: location with the name; word 1: the value. */
        CLIENT_ABI_EVENT_PLOT_I64 = 6,
        /* The same, word 1: bits of a double. */
        CLIENT_ABI_EVENT_PLOT_F64 = 7,
        /* Argument: location with the name; 0 = the main frames. */
        CLIENT_ABI_EVENT_FRAME_MARK = 8,
        /* Argument: bytes of text; then the text. */
        CLIENT_ABI_EVENT_THREAD_NAME = 9,
};

#define CLIENT_ABI_EVENT_NEW_WORD  64  /* from here on one word of payload */
#define CLIENT_ABI_EVENT_NEW_BYTES 128 /* from here on `argument` bytes of payload */
#define CLIENT_ABI_EVENT_NEW_FIRST 16

#define CLIENT_ABI_WORD_BYTES     8
#define CLIENT_ABI_ARG_SHIFT      32
#define CLIENT_ABI_ARG_MAX        UINT32_C(0xffffff)
#define CLIENT_ABI_EVENT_SHIFT    56
#define CLIENT_ABI_TEXT_BYTES_MAX UINT32_C(1048576) /* of one event; a longer text is dropped and counted */

#endif /* INSTRUMENT_CLIENT_ABI_H */
