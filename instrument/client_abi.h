/* SPDX-License-Identifier: MIT */
/*
 * instrument/client_abi.h - the memory that a program and a recorder share
 *
 * Way of the data:  instrument/client -> [client_abi] -> client_region -> client_stream
 * Specification:    docs/understand/client-abi.md
 *
 * One sealed memfd a process, called "hyprof-client":
 *
 *      0                  struct client_abi_header, in a page of its own; then which chunks
 *                         are free, and their links
 *      slots_offset       n_slots  x struct client_abi_slot
 *      locations_offset   n_locations_max  x struct client_abi_location, id 1 comes first
 *      strings_offset     bytes that the locations point to
 *      rings_offset       n_slots  x ring_bytes, ring i belongs to slot i
 *      blobs_offset       blobs_bytes of payloads that are too large for a ring
 *      chunks_offset      n_chunks x chunk_bytes, for what a full ring has no room for
 *
 * Fields are only ever appended, never moved, resized or reused.  Includes
 * nothing but <stdint.h>, so that a client in any language and of any age can
 * be built from this file alone.  Little endian; 32- and 64-bit atomics only.
 */
#ifndef INSTRUMENT_CLIENT_ABI_H
#define INSTRUMENT_CLIENT_ABI_H

#include <stdint.h>

/* The sizes of the region and atomics of 8 bytes: here for client and recorder alike. */
#if UINTPTR_MAX < UINT64_MAX && !defined(__LP64__)
#error "hyprof needs a machine of 64 bits: programs of 32 are sampled by a hyprof of 64, see docs/use/boards.md"
#endif

#define CLIENT_ABI_MEMFD_NAME     "hyprof-client"
#define CLIENT_ABI_ADDRESS_PREFIX "@hyprof-" /* followed by the recorder's PID in decimal, a dash, any text */
#define CLIENT_ABI_MAGIC          UINT64_C(0x314e474552505948) /* "HYPREGN1" */
#define CLIENT_ABI_MAJOR          1                            /* a recorder refuses another major */
#define CLIENT_ABI_MINOR          10

/* The header has this much room, so that it is whole pages of its own whatever the page size. */
#define CLIENT_ABI_HEADER_ROOM_BYTES 65536

/*
 * Chunks: memory of all threads of the process, into which a thread goes on whose ring is full; see
 * docs/understand/client-abi.md.  The header's room says, after the header, which chunks are free and where
 * each of the others continues.
 */
#define CLIENT_ABI_CHUNKS_MAX         3840
#define CLIENT_ABI_CHUNK_BYTES_MIN    UINT32_C(65536)
#define CLIENT_ABI_FREE_CHUNKS_OFFSET 512 /* CLIENT_ABI_CHUNKS_MAX bits, in words of 64 */
#define CLIENT_ABI_CHUNK_LINKS_OFFSET 4096
#define CLIENT_ABI_CHUNK_IS_RING      UINT32_MAX /* of a link: the thread goes on in its ring */

/*
 * The control word: families in the low 8 bits, 0 = no recorder; in the next 8 the families whose events are
 * to come with a callstack; in the high 16 the number of the session.  The number stays when a recording
 * ends, so that the next one can take the next; 0 is not used.
 */
#define CLIENT_ABI_FAMILY_ZONES    UINT32_C(0x01)
#define CLIENT_ABI_FAMILY_FRAMES   UINT32_C(0x02)
#define CLIENT_ABI_FAMILY_MESSAGES UINT32_C(0x04)
#define CLIENT_ABI_FAMILY_PLOTS    UINT32_C(0x08)
#define CLIENT_ABI_FAMILY_MEMORY   UINT32_C(0x10)
#define CLIENT_ABI_FAMILY_LOCKS    UINT32_C(0x20)
#define CLIENT_ABI_FAMILY_DEVICES  UINT32_C(0x40)
#define CLIENT_ABI_FAMILY_ALWAYS \
        UINT32_C(0x80) /* set with any other: threads, fibers, program, source, code */
#define CLIENT_ABI_FAMILIES        UINT32_C(0xff)
#define CLIENT_ABI_CALLSTACK_SHIFT 8 /* a family's bit, shifted by this: with callstacks */
#define CLIENT_ABI_CALLSTACKS      (CLIENT_ABI_FAMILIES << CLIENT_ABI_CALLSTACK_SHIFT)
#define CLIENT_ABI_SESSION_SHIFT   16

/* The unit of the ticks in the rings; the numbers of enum trace_clock_kind. */
enum client_abi_clock {
        CLIENT_ABI_CLOCK_MONOTONIC_RAW = 1, /* nanoseconds of the machine, in a time namespace too */
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
        uint64_t blobs_offset;
        uint64_t blobs_bytes;
        uint64_t chunks_offset; /* 1.1 */
        uint32_t chunk_bytes;   /* 1.1; of each; a power of two */
        uint32_t n_chunks;      /* 1.1; 0 = there are none */

        /* Offset 128: the recorder's line. */
        uint32_t control_word; /* atomic; what to record, see above */
        uint32_t recorder_pid; /* atomic; who set the word, 0 = the client itself (HYPROF_RECORD) */
        uint64_t
                blobs_freed_bytes; /* atomic; of all blobs that were copied out, and of the gaps; see below */
        uint32_t n_chunks_allowed; /* 1.1; atomic; chunks from this number on are not to be taken now */
        uint32_t recorder_beat;    /* 1.1; atomic; changes as long as a recorder reads */
        uint32_t wanted_word;      /* 1.2; atomic; the control word as it is without the client's pause */
        /*
         * 1.3; atomic; not 0: a client that takes a chunk of this number or a higher one stores 0, and wakes
         * the waiter (FUTEX_WAKE)
         */
        uint32_t wake_chunk;
        uint8_t reserved_b[32];

        /* Offset 192: the client's counters, atomic. */
        uint32_t n_locations;  /* ids 1 .. this were given out */
        uint32_t n_slots_used; /* slots 0 .. this - 1 were ever taken */
        uint64_t strings_used_bytes;
        uint64_t n_dropped_no_ring; /* events of threads without a slot, also while they take one */
        uint64_t blobs_used_bytes;  /* of all blobs ever, with the gaps at the end of the area */
        uint64_t n_refused_blobs;   /* payloads that found no room */
        uint32_t paused;            /* 1.2; 1 = the program has paused its events itself */
        uint8_t reserved_c[20];
};

/* Where a thread went on when it left its ring, or a chunk. */
struct client_abi_link {
        uint64_t at_bytes; /* the count of bytes at which it left; stored before `next` */
        /* atomic, stored with release; 0 = it has not left, a chunk's number + 1, or CHUNK_IS_RING */
        uint32_t next;
        uint32_t reserved;
};

/* One thread's ring.  Three cache lines: what the client writes often, what the recorder writes, the rest. */
struct client_abi_slot {
        uint64_t head_bytes; /* ever written; stored by the client with release after the bytes */
        uint32_t taken;      /* atomic; tid of the owner, 0 = free; a free ring may still hold unread bytes */
        uint8_t reserved_a[52];

        uint64_t tail_bytes; /* ever read; stored by the recorder with release */
        uint32_t tail_chunk; /* 1.1; the chunk that the tail is in, + 1; 0 = in the ring */
        uint8_t reserved_b[52];

        uint64_t n_dropped_zones; /* counters only grow; relaxed */
        uint64_t n_dropped_messages;
        uint64_t n_dropped_plots;
        uint64_t n_dropped_frames;
        uint64_t n_dropped_other; /* threads, fibers, program, source, code */
        uint64_t n_dropped_memory;
        uint64_t n_dropped_locks;
        uint64_t n_dropped_devices;

        struct client_abi_link ring_link; /* 1.1; where the thread went on when it left the ring */
        uint64_t n_dropped_deep_zones;    /* 1.4; inside of as many zones as may be open */
        uint64_t n_unrecorded_pictures;   /* 1.9; calls of other profilers' interfaces that have no event */
        uint64_t n_unrecorded_device_zones;
        uint64_t n_unrecorded_other;
        uint8_t reserved_d[16];
};

/*
 * Whatever events name by number: a source location, or one that only has a name: a plot, a sequence of
 * frames, a memory pool, a fiber, a lock (with the place where it is defined), a device.
 */
struct client_abi_location {
        uint64_t name; /* strings: offset in the string area in the low 40 bits, bytes in the high 24 */
        uint64_t function;
        uint64_t file;
        uint32_t line;
        uint32_t color;  /* 0xRRGGBB, 0 = none */
        uint32_t ready;  /* atomic; 1 once the rest is written */
        uint32_t format; /* of a plot: enum client_abi_plot_format; of a device: its kind, free to choose */
        uint64_t unit;   /* string; of a plot: "ms" */
        uint64_t period; /* of a device: bits of a double, nanoseconds a tick; 0 = unknown */
        uint32_t flags;  /* of a plot: CLIENT_ABI_PLOT_* */
        uint32_t reserved;
};

/* How the values of a plot are to be shown. */
enum client_abi_plot_format {
        CLIENT_ABI_PLOT_NUMBER = 0,
        CLIENT_ABI_PLOT_BYTES = 1,
        CLIENT_ABI_PLOT_PERCENT = 2,
        CLIENT_ABI_PLOT_WATTS = 3,
};

#define CLIENT_ABI_PLOT_STEP UINT32_C(1) /* the value stays until the next one, else a line between them */
#define CLIENT_ABI_PLOT_FILL UINT32_C(2) /* the area below is filled */
#define CLIENT_ABI_PLOT_SET \
        UINT32_C(4) /* the program said how: format, unit, color and flags are worth reading */

#define CLIENT_ABI_STRING_OFFSET_BITS 40
#define CLIENT_ABI_STRING_BYTES_MAX   UINT32_C(65535) /* a client cuts longer ones */

/*
 * The rings hold words of 8 bytes, little endian:
 *
 *      bits  0 .. 31   low 32 bits of the time stamp in ticks
 *      bits 32 .. 55   argument
 *      bits 56 .. 63   event, below
 *
 * and then the event's payload, rounded up to whole words.  The high 32 bits
 * of the time stamp are those of the last CLIENT_ABI_EVENT_TIME; the client
 * writes one whenever they change.  An event wraps at the end of the ring: its index is the count of bytes
 * modulo ring_bytes.
 *
 * From 16 on the number of an event gives the length of its payload, so that a recorder can skip unknown
 * events:
 *
 *      16 .. 63     no payload
 *      64 .. 95     one word
 *      96 .. 127    two words
 *      128 .. 255   the argument is the payload's number of bytes, before rounding up
 *
 * A prefix (ZONE_AT, BLOB, CALLSTACK, STACK_COPY) belongs to the next event of its ring that is not a prefix,
 * and is published together with it.
 */
enum client_abi_event {
        /* Bits 0 .. 31 hold the high half of the ticks instead. */
        CLIENT_ABI_EVENT_TIME = 1,
        /*
         * Word 1: the tid of the thread that writes the events after this one; every zone of this ring is
         * closed.
         */
        CLIENT_ABI_EVENT_THREAD = 2,
        /* Argument: location. */
        CLIENT_ABI_EVENT_ZONE_BEGIN = 3,
        /* Events about the innermost open zone. */
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

        /* Frames with gaps between them.  Argument: location with the name. */
        CLIENT_ABI_EVENT_FRAME_BEGIN = 16,
        CLIENT_ABI_EVENT_FRAME_END = 17,
        /* Argument: 0xRRGGBB for the innermost open zone. */
        CLIENT_ABI_EVENT_ZONE_COLOR = 18,
        /* Prefix.  Argument: the next event is about the open zone at this depth, 1 = the outermost. */
        CLIENT_ABI_EVENT_ZONE_AT = 19,
        /* Argument: location of the lock. */
        CLIENT_ABI_EVENT_LOCK_WAIT = 20,
        CLIENT_ABI_EVENT_LOCK_OBTAIN = 21,
        CLIENT_ABI_EVENT_LOCK_RELEASE = 22,
        CLIENT_ABI_EVENT_LOCK_WAIT_SHARED = 23,
        CLIENT_ABI_EVENT_LOCK_OBTAIN_SHARED = 24,
        CLIENT_ABI_EVENT_LOCK_RELEASE_SHARED = 25,
        CLIENT_ABI_EVENT_LOCK_GONE = 26,
        /* Everything in a pool is free.  Argument: location with its name; 0 = the main pool. */
        CLIENT_ABI_EVENT_MEMORY_DISCARD = 27,
        CLIENT_ABI_EVENT_FIBER_LEAVE = 28,
        /* Argument: location of a plot whose format, unit, color or flags have changed. */
        CLIENT_ABI_EVENT_PLOT_CONFIG = 29,

        /* Word 1: a number for the innermost open zone. */
        CLIENT_ABI_EVENT_ZONE_VALUE = 64,
        /*
         * The thread goes on as a fiber.  Argument: location of the fiber; word 1: how many zones are open on
         * it; if a recorder knows of more, their ends were lost.
         */
        CLIENT_ABI_EVENT_FIBER_ENTER = 65,
        /* Argument: pool; word 1: address. */
        CLIENT_ABI_EVENT_MEMORY_FREE = 66,
        /* Argument: location of the lock; word 1: location of the place in the source that holds it now. */
        CLIENT_ABI_EVENT_LOCK_MARK = 67,
        /* Word 1: a signed number; threads of one group belong together. */
        CLIENT_ABI_EVENT_THREAD_GROUP = 68,
        /* Argument: location of the device; word 1: the query that will tell when. */
        CLIENT_ABI_EVENT_DEVICE_ZONE_END = 69,
        /* 1.5.  Argument: location whose name is the text; word 1: as in MESSAGE. */
        CLIENT_ABI_EVENT_MESSAGE_NAMED = 70,
        /* 1.8.  Argument: location whose name is the space; word 1: a key of the innermost open zone. */
        CLIENT_ABI_EVENT_ZONE_KEY = 71,
        /* 1.10.  Argument: location whose name is the space; word 1: the number of a flow. */
        CLIENT_ABI_EVENT_FLOW_BEGIN = 72,
        CLIENT_ABI_EVENT_FLOW_STEP = 73,
        CLIENT_ABI_EVENT_FLOW_END = 74,

        /* Argument: pool; words: address, bytes. */
        CLIENT_ABI_EVENT_MEMORY_ALLOC = 96,
        /*
         * Prefix.  Words: offset as counted by blobs_used_bytes, bytes: the rest of the next event's payload.
         */
        CLIENT_ABI_EVENT_BLOB = 97,
        /* Argument: device; words: query, location. */
        CLIENT_ABI_EVENT_DEVICE_ZONE_BEGIN = 98,
        /* Argument: device; words: query, ticks of the device. */
        CLIENT_ABI_EVENT_DEVICE_TIME = 99,
        /*
         * Argument: device; words: ticks of the device, nanoseconds of
         * the machine's CLOCK_MONOTONIC_RAW at the same moment.
         */
        CLIENT_ABI_EVENT_DEVICE_CALIBRATION = 100,
        /* Words: address, bytes of code that is not there any more. */
        CLIENT_ABI_EVENT_CODE_GONE = 101,

        /* Text for the innermost open zone; each adds a line. */
        CLIENT_ABI_EVENT_ZONE_TEXT = 128,
        /* Another name for the innermost open zone. */
        CLIENT_ABI_EVENT_ZONE_NAME = 129,
        /* Prefix: return addresses of 8 bytes, the innermost first. */
        CLIENT_ABI_EVENT_CALLSTACK = 130,
        /* Prefix: pc, sp and frame pointer of 8 bytes each, then the stack from sp on. */
        CLIENT_ABI_EVENT_STACK_COPY = 131,
        /* About the program.  4 bytes: length of the key, 4: zero; the key (none = free text); the value. */
        CLIENT_ABI_EVENT_PROGRAM_INFO = 132,
        /* Source text.  4 bytes: length of the file's name, 4: zero; the name; the text. */
        CLIENT_ABI_EVENT_SOURCE_TEXT = 133,
        /*
         * Code that the program made.  8 bytes: address, 8: length, 4: bytes of the name, 4:
         * zero; name; ELF image.
         */
        CLIENT_ABI_EVENT_CODE = 134,
        /* 4 bytes: location of the lock, 4: zero; its name from now on. */
        CLIENT_ABI_EVENT_LOCK_NAME = 135,
        /* A whole zone.  4 bytes: device, 4: location, 8: begin, 8: end in device ticks, 4: lane, 4: key. */
        CLIENT_ABI_EVENT_DEVICE_SPAN = 136,
        /*
         * 1.8.  4 bytes: device, 4: zero, 8: ticks of the device, 8 and 8: nanoseconds of the machine's
         * CLOCK_MONOTONIC_RAW before and after that moment.
         */
        CLIENT_ABI_EVENT_DEVICE_BRACKET = 137,
        /* 1.8.  4 bytes: device, 4: lane, 4: lane of the parent, UINT32_MAX = none, 4: kind; the name. */
        CLIENT_ABI_EVENT_DEVICE_TRACK = 138,
        /* 1.8.  As DEVICE_SPAN, but after the lane 4: location whose name is the key's space, 8: key. */
        CLIENT_ABI_EVENT_DEVICE_KEYED_SPAN = 139,
        /* 1.8.  4 bytes: device, 4: plot, 8: ticks, 4: lane, 4: enum client_abi_value, 8: bits. */
        CLIENT_ABI_EVENT_DEVICE_VALUE = 140,
        /* 1.8.  4 bytes: device, 4: location, 8: ticks, 4: lane, 4: as of DEVICE_KEYED_SPAN, 8: key. */
        CLIENT_ABI_EVENT_DEVICE_INSTANT = 141,
        /*
         * 1.9.  Code as of CODE, with its lines.  8 bytes: address, 8: length, 4: location with its name and
         * file, 4: zero; then 4 and 4 for each line, upwards: where its code begins, as an offset; the line.
         */
        CLIENT_ABI_EVENT_CODE_LINES = 142,
        /*
         * 1.10.  The picture of a main frame.  2 bytes: width, 2: height, multiples of 4; 4: frames back from
         * the one that runs, | 256 if the lowest row comes first; then the rows: 4 bytes a pixel, red first.
         */
        CLIENT_ABI_EVENT_FRAME_PICTURE = 143,
};

#define CLIENT_ABI_PICTURE_SIDE_MAX UINT32_C(2048) /* of a FRAME_PICTURE */
#define CLIENT_ABI_PICTURE_FLIPPED  UINT32_C(256)

/* The kind of the bits of a DEVICE_VALUE; the numbers of enum trace_value_kind. */
enum client_abi_value {
        CLIENT_ABI_VALUE_DOUBLE = 0,
        CLIENT_ABI_VALUE_SIGNED = 1,
};

#define CLIENT_ABI_NO_LANE UINT32_MAX

#define CLIENT_ABI_EVENT_NEW_FIRST     16
#define CLIENT_ABI_EVENT_NEW_WORD      64  /* from here on one word of payload */
#define CLIENT_ABI_EVENT_NEW_TWO_WORDS 96  /* from here on two */
#define CLIENT_ABI_EVENT_NEW_BYTES     128 /* from here on `argument` bytes of payload */

#define CLIENT_ABI_WORD_BYTES  8
#define CLIENT_ABI_ARG_SHIFT   32
#define CLIENT_ABI_ARG_MAX     UINT32_C(0xffffff)
#define CLIENT_ABI_EVENT_SHIFT 56
#define CLIENT_ABI_TEXT_BYTES_MAX \
        UINT32_C(1048576) /* of one event in a ring; longer contents lie in a blob */

#define CLIENT_ABI_CALLSTACK_FRAMES_MAX    64
#define CLIENT_ABI_STACK_COPY_BYTES_MAX    UINT32_C(8192)
#define CLIENT_ABI_STACK_COPY_HEADER_BYTES 24

/*
 * A blob: 8 bytes with its own offset, as a check that nothing else was written there meanwhile, then its
 * bytes, rounded up to whole words.  It lies at its offset modulo blobs_bytes and never crosses the end of
 * the area: a blob that would cross it begins at the front.  The gap counts as used, and the client that
 * leaves it adds it to blobs_freed_bytes at once.  A client writes no blob while more than
 * BLOBS_UNREAD_BYTES_MAX are not freed yet; the difference of the two counts is signed.
 */
#define CLIENT_ABI_BLOB_HEADER_BYTES      8
#define CLIENT_ABI_BLOB_BYTES_MAX         (UINT64_C(1) << 27)
#define CLIENT_ABI_BLOBS_UNREAD_BYTES_MAX (UINT64_C(1) << 28)

#endif /* INSTRUMENT_CLIENT_ABI_H */
