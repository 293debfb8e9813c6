/* SPDX-License-Identifier: MIT */
/*
 * sampler/zones/event_translator.h - a program's events -> the trace's events
 *
 * Way of the data:  client_stream -> [event_translator] -> trace event -> zone_merge
 *                                    [event_translator] -> trace_dictionary, attachment_store
 *
 * Numbers of the program become ids of the trace's tables; the bytes of blobs are fetched; facts about the
 * program itself become rows.  Used by the collector's thread.
 */
#ifndef SAMPLER_ZONES_EVENT_TRANSLATOR_H
#define SAMPLER_ZONES_EVENT_TRANSLATOR_H

#include "base/byte_buffer.h"
#include "sampler/keep/attachment_store.h"
#include "sampler/tracks/latest_rows.h"

#include <stdint.h>

struct client_event;
struct recording;
struct trace_event;
struct zone_region;

struct event_translator {
        const struct recording *recording; /* borrowed; without `regions`, announced code only becomes rows */
        struct attachment_store attachments;
        struct latest_rows plots, program_info;
        struct intern lanes; /* a device and a lane each: the ids are those of their rows of TRACKS */
        /*
         * location for zones whose own location makes no sense, which keeps the nesting right; 0 = not made
         * yet
         */
        uint32_t nameless;
        struct byte_buffer payload; /* of the last event, if that did not lie in the ring in one piece */
};

void event_translator_init(struct event_translator *t, const struct recording *recording);
void event_translator_deinit(struct event_translator *t);

/* To be called before anything is translated.  Returns 0, -ENOMEM, -EOVERFLOW. */
int event_translator_start(struct event_translator *t);

/*
 * event_translator_run() - translate one event
 * @from:       not THREAD, FIBER_ENTER or FIBER_LEAVE, which say whose events follow
 * @time_ns:    of the event
 * @ret_event:  its op and operands, but for levels of zones; texts are valid until the next call
 * Returns 1 for an event, 0 for something that is in a table now, or made no sense and was counted; -ENOMEM.
 */
int event_translator_run(struct event_translator *t, struct zone_region *region,
                         const struct client_event *from, uint64_t time_ns, struct trace_event *ret_event);

/* An unwanted event: counts it, and gives the room of its blob back. */
void event_translator_drop(struct event_translator *t, struct zone_region *region,
                           const struct client_event *from);

/* The same for an event that does not count as lost: only gives back the room of its blob. */
void event_translator_pass(struct zone_region *region, const struct client_event *from);

/*
 * event_translator_gather() - put the payload together in `payload`
 * The room of its blob is free then.  Returns 1, 0 if it is lost, -ENOMEM.
 */
int event_translator_gather(struct event_translator *t, struct zone_region *region,
                            const struct client_event *from);

/*
 * sampler/zones/frame_pictures.c - pictures of frames: packed to an eighth (DXT1), and kept as attachments
 *
 * Way of the data:  client_stream -> event_translator -> [frame_pictures] -> attachment_store
 */

/* Returns 1 for an event, 0 if the picture was lost or left out, which is counted, -ENOMEM. */
int event_translator_picture(struct event_translator *t, struct zone_region *region,
                             const struct client_event *from, struct trace_event *event);

#endif /* SAMPLER_ZONES_EVENT_TRANSLATOR_H */
