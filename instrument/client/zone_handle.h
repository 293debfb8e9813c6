/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/zone_handle.h - what a program holds while a zone is open
 *
 * Way of the data:  zone_events -> [zone_handle] -> program -> zone_events
 *
 *      bits  0 .. 11   depth: how many zones are open on its track, with itself
 *      bits 12 .. 23   track, in which zones nest: a thread's, by its slot, or a fiber's, by its location
 *      bits 24 .. 31   which session, modulo 255, and never 0: so is no handle
 *
 * A thread keeps the handle of its innermost zone, of depth 0 if none is open.
 * The next begin adds 1 to it, an end compares with it and takes 1 away.
 */
#ifndef INSTRUMENT_CLIENT_ZONE_HANDLE_H
#define INSTRUMENT_CLIENT_ZONE_HANDLE_H

#include <stdint.h>

#define ZONE_HANDLE_DEPTH_MAX     UINT32_C(0xfff)
#define ZONE_HANDLE_TRACK_SHIFT   12
#define ZONE_HANDLE_TRACK_MAX     UINT32_C(0xfff)
#define ZONE_HANDLE_SESSION_SHIFT 24
#define ZONE_HANDLE_SESSIONS      255

/* The handle for a track without open zones.  @track may be any number. */
static inline uint32_t zone_handle_of_track(uint32_t session, uint32_t track)
{
        return (session % ZONE_HANDLE_SESSIONS + 1) << ZONE_HANDLE_SESSION_SHIFT |
               (track & ZONE_HANDLE_TRACK_MAX) << ZONE_HANDLE_TRACK_SHIFT;
}

static inline uint32_t zone_handle_depth(uint32_t handle)
{
        return handle & ZONE_HANDLE_DEPTH_MAX;
}

/* 0 = not even the session is the same. */
static inline int zone_handle_is_of_session(uint32_t handle, uint32_t session)
{
        return handle >> ZONE_HANDLE_SESSION_SHIFT == session % ZONE_HANDLE_SESSIONS + 1;
}

/*
 * zone_handle_find() - look for an open zone
 * @top:  the handle of the innermost zone of the track
 * Returns its depth, or 0 if it is not open there: it has ended, or is another track's or session's.
 */
static inline uint32_t zone_handle_find(uint32_t handle, uint32_t top)
{
        if ((handle ^ top) & ~ZONE_HANDLE_DEPTH_MAX || handle > top)
                return 0;
        return zone_handle_depth(handle);
}

#endif /* INSTRUMENT_CLIENT_ZONE_HANDLE_H */
