/* SPDX-License-Identifier: MIT */
/*
 * hyprof/flow.h - work that goes from one zone to another: of other threads, processes and devices
 *
 * Way of the data:  program -> [flow.h] -> libhyprof -> shared memory -> hyprof record
 *
 *      HYPROF_ZONE("submit");                  HYPROF_ZONE("serve");
 *      HYPROF_FLOW_BEGIN(request->number);     request = queue_take(queue);
 *      queue_put(queue, request);              HYPROF_FLOW_END(request->number);
 *
 * Say BEGIN before the work is handed over and END after it was taken, each within the zone that it is about.
 * Between them any thread may say STEP: it takes the work over and hands it on.  The timeline has an arrow
 * from each to the next, `hyprof report --flows` how long that took, and `hyprof path` goes on at the thread
 * that handed over what a thread had waited for.
 *
 * Numbers.  Any 64 bits: a counter, an address, a hash.  One number is one flow from its BEGIN to its END;
 * then it may begin another one.  A STEP or END belongs to the flow of its own process with that number, else
 * to the one that another process of the recording began last.  Flows of different spaces are different; no
 * space is one as well.  Numbers that several processes hand to each other must differ between them, as
 * (uint64_t)getpid() << 32 | n does.  Spans of devices that have the space and number as their key
 * (hyprof_device_keyed_span()) get an arrow from the zone of the flow.
 *
 * Any thread may say anything of any flow.  Cost while recording: one time stamp and 16 bytes a call, as a
 * value of a plot; recorded wherever zones are.
 *
 * Included by <hyprof/hyprof.h>.
 */
#ifndef HYPROF_FLOW_H
#define HYPROF_FLOW_H

#include "location.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The thread hands work over, passes it on, or takes it for good; numbers of the shared memory. */
enum hyprof_flow_phase_ {
        HYPROF_FLOW_PHASE_BEGIN_ = 0,
        HYPROF_FLOW_PHASE_STEP_ = 1,
        HYPROF_FLOW_PHASE_END_ = 2
};

/* The slow half of the functions below; call those instead. */
HYPROF_API_ void hyprof_emit_flow(struct hyprof_location *space, uint64_t id, enum hyprof_flow_phase_ phase);

/*
 * hyprof_flow_begin() - this thread hands work over
 * @space:  what kind of number @id is, a static HYPROF_NAME("request"); equal names are equal spaces; NULL =
 *          none
 */
static inline void hyprof_flow_begin(struct hyprof_location *space, uint64_t id)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ZONES_)))
                hyprof_emit_flow(space, id, HYPROF_FLOW_PHASE_BEGIN_);
}

/* It takes the work over, and hands it on. */
static inline void hyprof_flow_step(struct hyprof_location *space, uint64_t id)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ZONES_)))
                hyprof_emit_flow(space, id, HYPROF_FLOW_PHASE_STEP_);
}

/* It takes the work over, and the flow is over. */
static inline void hyprof_flow_end(struct hyprof_location *space, uint64_t id)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ZONES_)))
                hyprof_emit_flow(space, id, HYPROF_FLOW_PHASE_END_);
}

#ifdef __cplusplus
}
#endif

#ifndef HYPROF_DISABLE

/* HYPROF_FLOW_BEGIN(id), HYPROF_FLOW_STEP(id), HYPROF_FLOW_END(id) - of no space */
#define HYPROF_FLOW_BEGIN(id) hyprof_flow_begin(HYPROF_NULL_, (id))
#define HYPROF_FLOW_STEP(id)  hyprof_flow_step(HYPROF_NULL_, (id))
#define HYPROF_FLOW_END(id)   hyprof_flow_end(HYPROF_NULL_, (id))

/* HYPROF_FLOW_BEGIN_OF("space", id) and so on - of that space */
#define HYPROF_FLOW_AT_(function, space, id)                                     \
        do {                                                                     \
                static struct hyprof_location hyprof_name_ = HYPROF_NAME(space); \
                function(&hyprof_name_, (id));                                   \
        } while (0)
#define HYPROF_FLOW_BEGIN_OF(space, id) HYPROF_FLOW_AT_(hyprof_flow_begin, space, id)
#define HYPROF_FLOW_STEP_OF(space, id)  HYPROF_FLOW_AT_(hyprof_flow_step, space, id)
#define HYPROF_FLOW_END_OF(space, id)   HYPROF_FLOW_AT_(hyprof_flow_end, space, id)

#else /* HYPROF_DISABLE */

#define HYPROF_FLOW_BEGIN(id)           HYPROF_UNEVALUATED_(id)
#define HYPROF_FLOW_STEP(id)            HYPROF_UNEVALUATED_(id)
#define HYPROF_FLOW_END(id)             HYPROF_UNEVALUATED_(id)
#define HYPROF_FLOW_BEGIN_OF(space, id) HYPROF_UNEVALUATED_(id)
#define HYPROF_FLOW_STEP_OF(space, id)  HYPROF_UNEVALUATED_(id)
#define HYPROF_FLOW_END_OF(space, id)   HYPROF_UNEVALUATED_(id)

#endif /* HYPROF_DISABLE */

#endif /* HYPROF_FLOW_H */
