/* SPDX-License-Identifier: MIT */
/*
 * instrument/client_region.h - a program's region, from the recorder's side
 *
 * Way of the data:  instrument/client -> memfd -> [client_region] -> client_stream -> merge
 * Specification:    docs/understand/client-abi.md
 *
 * The region belongs to a program that may be hostile and may change any byte
 * at any time.  Its layout is copied once, checked and never read again; only
 * the header and the slots are mapped (the seal against shrinking is demanded,
 * so that a read cannot fault); everything else is copied out by pread(2)
 * before it is judged.  Used by one thread.
 */
#ifndef INSTRUMENT_CLIENT_REGION_H
#define INSTRUMENT_CLIENT_REGION_H

#include "instrument/location_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits on what a region may make a recorder allocate or map. */
#define CLIENT_REGION_SLOTS_MAX       UINT32_C(65536)
#define CLIENT_REGION_MAPPED_MAX      (UINT64_C(1) << 28) /* header and slots */
#define CLIENT_REGION_RING_BYTES_MAX  (UINT64_C(1) << 30)
#define CLIENT_REGION_ENTRY_BYTES_MAX UINT32_C(4096) /* of a slot, of a location */
#define CLIENT_REGION_TABLE_BYTES_MAX \
        (UINT64_C(1) << 30) /* of all entries of locations, which may be walked through */

struct byte_buffer;
struct client_region;
struct error;

/* Counters of dropped events of one slot: see client_region_drops(). */
struct client_drops {
        uint64_t n_zones, n_deep_zones, n_messages, n_plots, n_frames, n_memory, n_locks, n_devices, n_other;
        uint64_t n_no_pictures, n_no_device_zones, n_no_events; /* hyprof has no event for them */
};

/*
 * client_region_measure() - how much memory a region may take here, in bytes, before anything of it is
 * touched
 * Counts its slots, as the program may come to use them all, and the memory for each on this side.  Returns
 * 0, or what client_region_open() would return.
 */
int client_region_measure(int fd, uint64_t *ret_bytes, struct error *err);

/*
 * client_region_open() - take over a region's descriptor
 * @fd:  of the memfd, opened for reading and writing; owned by the region on success, else still the caller's
 * Returns 0; -EPERM if it is not sealed against shrinking, -EBADMSG if the layout makes no sense,
 * -ENOTSUP for another major version, -errno.
 */
int client_region_open(int fd, struct client_region **ret_region, struct error *err);

/* Ends recording if this side began it, and frees everything.  NULL is fine. */
void client_region_close(struct client_region *region);

/*
 * client_region_enable() - start recording
 * @word:  CLIENT_ABI_FAMILY_*, and the same shifted by CLIENT_ABI_CALLSTACK_SHIFT for those with callstacks
 * A client that started itself (HYPROF_RECORD in its environment) is adopted with what its rings
 * hold already; otherwise a new session begins, and old bytes and blobs are passed over.
 * Returns 0, or -EBUSY if another living recorder has the region (@err names its PID).
 * A recorder in another PID namespace cannot be told from a dead one.
 */
int client_region_enable(struct client_region *region, uint32_t word, struct error *err);

/*
 * client_region_allow_spare() - how much all threads of the program together may write into chunks
 * @bytes:  0 = nothing, as at first; a program of ABI 1.0 has none
 * Holds from client_region_enable() on, or at once.
 */
void client_region_allow_spare(struct client_region *region, uint64_t bytes);

/* For how many of the allowed bytes the program has chunks; 0 before ABI 1.1. */
uint64_t client_region_spare_bytes(const struct client_region *region);

/*
 * client_region_room_bytes() - all chunks that the program made, whether it may fill them or not
 * The program's own limits (RLIMIT_AS, RLIMIT_FSIZE) make them fewer.  UINT64_MAX before ABI 1.1, which has
 * rings alone.
 */
uint64_t client_region_room_bytes(const struct client_region *region);

/*
 * client_region_arm() - the program is to wake its recorder when it has filled many of its chunks
 * @ret_value:     the value of the word until then
 * @inout_rearmed: set if the word had another value: the program has changed it, or the bound was different
 * Returns the word, shared with the program and mapped until client_region_close(): the thread that waits on
 * it (futex) never reads it.  NULL if there is no word: the program has no chunks, or is of an ABI before
 * 1.3.
 */
uint32_t *client_region_arm(struct client_region *region, uint32_t *ret_value, bool *inout_rearmed);

/*
 * client_region_beat() - shows the program that its recorder reads, and gives back the memory of chunks
 * @now_ns:  CLOCK_MONOTONIC_RAW
 * To be called several times a second: the program uses no chunks for a recorder that was
 * silent for two seconds.
 */
void client_region_beat(struct client_region *region, uint64_t now_ns);

/*
 * True if client_region_enable() found a client that had started itself: it is recorded
 * from its first event on.
 */
bool client_region_is_self_started(const struct client_region *region);

/*
 * client_region_pause() - while the region is paused, nothing new is recorded
 * Zones that are open may end, and what is always recorded (threads, fibers, code) goes on, so that what was
 * recorded before and after fits together.
 */
void client_region_pause(struct client_region *region, bool paused);

/* Stops recording: the program's instrumentation returns to its idle cost.  Unread bytes stay readable. */
void client_region_disable(struct client_region *region);

uint32_t client_region_pid(const struct client_region *region);        /* as the client saw itself */
uint32_t client_region_clock_kind(const struct client_region *region); /* enum client_abi_clock */
uint64_t client_region_ring_bytes(const struct client_region *region); /* of each ring */

/* How many slots may hold something now: slots 0 .. this - 1. */
uint32_t client_region_count_slots(const struct client_region *region);

/*
 * client_region_drain() - copy what a slot's ring holds and give the space back
 * @slot:      below client_region_count_slots()
 * @max_bytes: copy at most this (a multiple of 8); the rest stays in the ring
 * @pending:   the bytes are appended, always whole words
 * Returns the number of bytes, or -EBADMSG if the indices are impossible (later calls for this slot return
 * 0), -ENOMEM, -errno (nothing was taken from the ring).  About 1 us and a copy.
 */
int64_t client_region_drain(struct client_region *region, uint32_t slot, size_t max_bytes,
                            struct byte_buffer *pending, struct error *err);

/*
 * Bytes that the slot's threads wrote and that were not drained.  The program states it: it may be any
 * number.
 */
uint64_t client_region_count_unread(const struct client_region *region, uint32_t slot);

/*
 * Events that the slot's threads dropped since client_region_open(); for an adopted client, since its start.
 */
struct client_drops client_region_drops(const struct client_region *region, uint32_t slot);
/* Events of threads that found no slot, since the same moment. */
uint64_t client_region_drops_no_ring(const struct client_region *region);

/* Payloads that found no room in the blob area, since the same moment. */
uint64_t client_region_blobs_refused(const struct client_region *region);

/*
 * client_region_location() - look up a location by the id that an event carries
 * @ret_location:  its strings are valid until the next call of this or of client_region_next_plot()
 * Returns 0 with *ret_location filled, -EBADMSG if there is no such location, -ENOMEM, -errno.  Callers keep
 * the answers: each call reads again, by a few system calls, or fewer if ids follow each other.  After
 * CLIENT_ABI_EVENT_PLOT_CONFIG it returns the present settings.
 */
int client_region_location(struct client_region *region, uint32_t id, struct client_location *ret_location,
                           struct error *err);

/*
 * client_region_next_plot() - the plots for which the program said how they are to be shown
 * @inout_id:      0 at first, then as the last call left it; gets the plot's id
 * @ret_location:  as of client_region_location()
 * To be called after client_region_enable(): later changes come as events as well.  Returns 1, 0 at the end,
 * -ENOMEM, -errno.  Reads the table of all locations once.
 */
int client_region_next_plot(struct client_region *region, uint32_t *inout_id,
                            struct client_location *ret_location);

/*
 * client_region_read_blob() - copy a payload out of the blob area and give its room back
 * @at, @n_bytes:  as struct client_prefix says
 * @to:            the bytes are appended; after -ENOMEM, its `failed` is set
 * Each byte that the program put into the area is read or given back once: a program that names a blob again
 * and again cannot make us copy it again and again.
 * Returns 0; -EBADMSG if there can be no such blob, of more than CLIENT_ABI_BLOB_BYTES_MAX for example;
 * -ESTALE if something else was written there meanwhile: the room is given back then as well; -ENOMEM or
 * -errno: the blob stays as it was.  May take some milliseconds for a large one.
 */
int client_region_read_blob(struct client_region *region, uint64_t at, uint64_t n_bytes,
                            struct byte_buffer *to, struct error *err);

/* Gives back the room of a blob that no one needs.  Nothing happens if there can be no such blob. */
void client_region_free_blob(struct client_region *region, uint64_t at, uint64_t n_bytes);

#endif /* INSTRUMENT_CLIENT_REGION_H */
