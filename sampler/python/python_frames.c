/* SPDX-License-Identifier: MIT */
#include "sampler/python/python_frames.h"

#include "base/clock.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/pace/pace.h"
#include "sampler/python/python_functions.h"
#include "sampler/python/python_interpreters.h"
#include "sampler/python/python_late.h"
#include "sampler/python/python_merge.h"
#include "sampler/python/python_source.h"
#include "sampler/tracks/address_space.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/recording.h"
#include "symbolize/images/module_landmarks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MAX 1024 /* samples whose native stacks wait */

/* The frames of one sample. */
struct taken_frames {
        uint32_t pid, tid; /* pid 0 = no Python process */
        uint64_t time_ns;
        enum trace_loss_reason why; /* there are none */
        bool is_late;               /* read after the sample */
        bool is_sample;             /* no switch or wake-up */
        /*
         * The interpreter's code, noted here because the process may have ended by the time that the native
         * stack is there.
         */
        uint32_t module;
        struct python_code_range eval[PYTHON_EVAL_PARTS];
        struct python_stack stack;
};

struct python_frames {
        const struct recording *recording; /* borrowed */
        struct python_interpreters interpreters;
        struct python_functions *functions; /* owned */
        struct python_late *late;           /* owned; NULL = BPF reads the frames */
        bool keep_c;
        uint64_t n_samples, n_bare;     /* in Python code; without Python functions */
        uint32_t flags;                 /* of what was taken last */
        uint64_t now_ns;                /* the time of the sample */
        int copies_error;               /* 0, or -ENOMEM: from a copy of a code object */
        struct python_late_sample read; /* scratch */
        struct taken_frames taken;
        struct taken_frames *kept; /* heap, owned: KEPT_MAX, used in turn; NULL = none was needed yet */
        size_t next_kept;
        struct call_chain merged; /* scratch */
};

int python_frames_new(const struct recording *recording, bool keep_c, struct python_frames **ret_frames)
{
        struct python_frames *p = calloc(1, sizeof(*p));

        if (!p || python_functions_new(recording->dictionary, recording->pace, &p->functions) < 0 ||
            (!recording->python_source && python_late_new(&p->late) < 0)) {
                python_frames_free(p);
                return -ENOMEM;
        }
        p->recording = recording;
        p->keep_c = keep_c;
        p->interpreters.dictionary = recording->dictionary;
        p->interpreters.table = python_source_processes(recording->python_source);
        *ret_frames = p;
        return 0;
}

void python_frames_free(struct python_frames *p)
{
        if (!p)
                return;
        python_interpreters_deinit(&p->interpreters);
        python_functions_free(p->functions);
        python_late_free(p->late);
        free(p->kept);
        free(p);
}

static struct python_code_range code_range(uint64_t bias, uint64_t svma, uint64_t n_bytes)
{
        return svma != 0 ? (struct python_code_range){ bias + svma, bias + svma + n_bytes }
                         : (struct python_code_range){ 0, 0 };
}

static struct python_landmarks landmarks_of(const struct python_mapping *mapping,
                                            const struct module_landmarks *found)
{
        uint64_t bias = mapping->bias;

        return (struct python_landmarks){
                .runtime_avma = bias + found->python_runtime_svma,
                .version_avma = bias + found->python_version_svma,
                .eval = { code_range(bias, found->python_eval_svma, found->python_eval_bytes),
                          code_range(bias, found->python_rest_svma, found->python_rest_bytes) },
                .mapped_ns = mapping->time_ns,
                .module = mapping->module
        };
}

int python_frames_note(struct python_frames *p, const struct python_mapping *mapping,
                       const struct module_landmarks *found)
{
        const struct python_landmarks landmarks = landmarks_of(mapping, found);

        if (!p)
                return 0;
        if (found->python_is_old)
                return python_interpreters_note_old(&p->interpreters);
        if (found->python_is_stripped)
                return python_interpreters_note_stripped(&p->interpreters);
        return found->python_runtime_svma != 0
                       ? python_interpreters_add(&p->interpreters, mapping->pid, &landmarks)
                       : 0;
}

int python_frames_announce(struct python_frames *p, const struct python_mapping *mapping,
                           const struct module_landmarks *found)
{
        const struct python_landmarks landmarks = landmarks_of(mapping, found);

        return p && found->python_runtime_svma != 0
                       ? python_interpreters_announce(&p->interpreters, mapping->pid, &landmarks)
                       : 0;
}

int python_frames_note_unready(struct python_frames *p)
{
        return p ? python_interpreters_note_unready(&p->interpreters) : 0;
}

void python_frames_look(struct python_frames *p)
{
        if (p && p->interpreters.n_entered > 0)
                python_source_look(p->recording->python_source);
}

int python_frames_fork(struct python_frames *p, uint32_t parent_pid, uint32_t pid, uint64_t time_ns)
{
        return p ? python_interpreters_fork(&p->interpreters, parent_pid, pid, time_ns) : 0;
}

void python_frames_forget(struct python_frames *p, uint32_t pid, uint64_t time_ns)
{
        bool has_frames = p && python_interpreters_find(&p->interpreters, pid);

        if (p)
                python_interpreters_forget(&p->interpreters, pid, time_ns);
        if (!has_frames)
                return;
        python_functions_forget(p->functions, pid);
        python_late_forget(p->late, pid);
}

bool python_frames_are_late(const struct python_frames *p)
{
        return p && p->late && p->interpreters.n_items > 0;
}

/* ---- samples ------------------------------------------------------------------------------------------- */

/* Reads the frames late, into `read`.  Returns false if there are none, and notes why. */
static bool read_late(struct python_frames *p, const struct python_interpreter *interpreter,
                      const struct python_sample_key *key, const struct raw_stack *raw)
{
        uint64_t now_ns = clock_raw_ns();

        p->taken.is_late = true;
        p->taken.why = TRACE_LOSS_PYTHON_LATE;
        if (now_ns > key->time_ns + PACE_PYTHON_LATE_NS)
                return false;
        p->taken.why = TRACE_LOSS_PYTHON_UNFIT;
        return python_late_read(p->late, &interpreter->process, key->tid, now_ns, &p->read) == 1 &&
               python_late_match(p->late, &interpreter->process, raw, &p->read);
}

/* Learns each code object that the record has a copy of. */
static void take_copies(void *context, const struct python_copies *copies)
{
        struct python_frames *p = context;
        const struct python_interpreter *interpreter = python_interpreters_find(&p->interpreters,
                                                                                copies->pid);
        struct python_place place = { .pid = copies->pid };
        struct python_raw_frame frame;

        if (!interpreter)
                return;
        place.objects = &interpreter->layout.objects;
        for (uint32_t i = 0; p->copies_error == 0 && i < copies->n_frames; i++) {
                memcpy(&frame, copies->frames + i * sizeof(frame), sizeof(frame));
                if ((frame.code & PYTHON_CODE_COPIED) == 0)
                        continue;
                place.code_avma = python_code_of(frame.code);
                place.identity = frame.identity;
                p->copies_error = python_functions_learn(p->functions, &place, copies, p->now_ns);
        }
}

static bool read_frames(struct python_frames *p, const struct python_interpreter *interpreter,
                        const struct python_sample_key *key, uint32_t flag, const struct raw_stack *raw)
{
        const struct python_copies_sink sink = { .take = take_copies, .context = p };

        p->taken.is_late = false;
        p->taken.why = TRACE_LOSS_PYTHON_MISSED;
        if (p->late)
                return read_late(p, interpreter, key, raw);
        p->now_ns = key->time_ns;
        p->copies_error = 0;
        return python_source_find(p->recording->python_source, key, flag, &sink, &p->read.sample) == 1;
}

static enum trace_loss_reason why_no_function(int error)
{
        switch (error) {
        case -EAGAIN:
                return TRACE_LOSS_PYTHON_TOO_MANY;
        case -EOVERFLOW:
                return TRACE_LOSS_NAMES_FULL;
        default:
                return TRACE_LOSS_PYTHON_GONE;
        }
}

/* A bit for each reason. */
static uint64_t missing_bit(int error)
{
        return UINT64_C(1) << why_no_function(error);
}

_Static_assert(TRACE_LOSS_PYTHON_GONE < 64 && TRACE_LOSS_PYTHON_TOO_MANY < 64 && TRACE_LOSS_NAMES_FULL < 64,
               "reasons are bits of a word");

/*
 * One frame stands for those that were left out.  If the walk did not reach the outermost frames, the
 * frames kept in their places are from the middle, and are left out as well.
 */
static int name_gap(struct python_frames *p, struct python_sample *sample)
{
        struct python_stack *stack = &p->taken.stack;
        bool is_cut = (sample->flags & PYTHON_FLAG_CUT) != 0;
        uint32_t row;
        int r;

        stack->gap_at = 0;
        stack->n_gap_entries = 0;
        if (sample->n_left_out == 0)
                return 0;
        r = python_functions_find_gap(p->functions, &row);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        stack->gap_at = PYTHON_INNER_FRAMES;
        stack->n_gap_entries = is_cut ? 0 : sample->n_left_out_entries;
        stack->frames[stack->gap_at] = row;
        stack->is_entry[stack->gap_at] = stack->n_gap_entries > 0;
        if (is_cut)
                sample->n_frames = PYTHON_INNER_FRAMES;
        else
                loss_counter_add(p->recording->losses, TRACE_LOSS_PYTHON_MIDDLE, 1);
        return 0;
}

/* Names the functions of the frames that were read, and counts those that are missing. */
static int name_frames(struct python_frames *p, const struct python_interpreter *interpreter, uint64_t now_ns)
{
        struct python_sample *sample = &p->read.sample;
        struct python_stack *stack = &p->taken.stack;
        struct python_place place = { .pid = interpreter->pid, .objects = &interpreter->layout.objects };
        uint64_t missing = 0; /* bits of the reasons */
        uint32_t n_named = 0;
        int r = p->copies_error < 0 ? p->copies_error : name_gap(p, sample);

        for (uint32_t i = 0; r == 0 && i < sample->n_frames; i++) {
                const struct python_raw_frame *frame = &sample->frames[i];
                uint32_t at = i + (stack->gap_at > 0 && i >= stack->gap_at);

                place.code_avma = python_code_of(frame->code);
                place.instruction_avma = frame->instruction;
                place.identity = frame->identity;
                stack->is_entry[at] = (frame->code & PYTHON_CODE_ENTRY) != 0;
                r = python_functions_find(p->functions, &place, now_ns, &stack->frames[at]);
                n_named += r == 0;
                if (r < 0 && r != -ENOMEM) {
                        missing |= missing_bit(r);
                        r = 0;
                }
        }
        if (r < 0)
                return r;
        if (stack->gap_at > 0 && n_named == 0) /* nothing but a gap */
                stack->frames[stack->gap_at] = 0;
        stack->n_frames = sample->n_frames + (stack->gap_at > 0);
        loss_counter_add(p->recording->losses, TRACE_LOSS_PYTHON_CUT, (sample->flags & PYTHON_FLAG_CUT) != 0);
        for (; missing != 0; missing &= missing - 1)
                loss_counter_add(p->recording->losses, (enum trace_loss_reason)__builtin_ctzll(missing), 1);
        return 0;
}

int python_frames_take(struct python_frames *p, const struct python_sample_key *key, uint32_t flag,
                       const struct raw_stack *raw)
{
        const struct python_interpreter *interpreter =
                p ? python_interpreters_find(&p->interpreters, key->pid) : NULL;

        if (!p)
                return 0;
        p->flags = 0;
        p->taken.pid = 0;
        p->taken.stack.n_frames = 0;
        if (!interpreter)
                return 0;
        p->taken.pid = key->pid;
        p->taken.is_sample = flag == 0;
        p->taken.module = interpreter->module;
        memcpy(p->taken.eval, interpreter->eval, sizeof(p->taken.eval));
        if (!read_frames(p, interpreter, key, flag, raw))
                return p->copies_error;
        p->flags = p->read.sample.flags;
        return name_frames(p, interpreter, key->time_ns);
}

void python_frames_count(const struct python_frames *p, uint64_t *ret_samples, uint64_t *ret_bare)
{
        *ret_samples = p ? p->n_samples : 0;
        *ret_bare = p ? p->n_bare : 0;
}

int python_frames_hold_gil(const struct python_frames *p)
{
        if (!p || (p->flags & (PYTHON_FLAG_HAS_GIL | PYTHON_FLAG_NO_GIL)) == 0)
                return -1;
        return (p->flags & PYTHON_FLAG_HAS_GIL) != 0;
}

static void copy_taken(struct taken_frames *to, const struct taken_frames *from)
{
        to->pid = from->pid;
        to->tid = from->tid;
        to->time_ns = from->time_ns;
        to->why = from->why;
        to->is_late = from->is_late;
        to->is_sample = from->is_sample;
        to->module = from->module;
        memcpy(to->eval, from->eval, sizeof(to->eval));
        to->stack.n_frames = from->stack.n_frames;
        to->stack.gap_at = from->stack.gap_at;
        to->stack.n_gap_entries = from->stack.n_gap_entries;
        memcpy(to->stack.frames, from->stack.frames, from->stack.n_frames * sizeof(from->stack.frames[0]));
        memcpy(to->stack.is_entry, from->stack.is_entry,
               from->stack.n_frames * sizeof(from->stack.is_entry[0]));
}

void python_frames_keep(struct python_frames *p, const struct python_sample_key *key)
{
        struct taken_frames *kept;

        if (!p || p->taken.pid == 0)
                return;
        if (!p->kept)
                p->kept = calloc(KEPT_MAX, sizeof(*p->kept));
        if (p->kept) {
                kept = &p->kept[p->next_kept++ % KEPT_MAX];
                copy_taken(kept, &p->taken);
                kept->tid = key->tid;
                kept->time_ns = key->time_ns;
        }
        p->taken.pid = 0;
}

void python_frames_recall(struct python_frames *p, uint32_t tid, uint64_t time_ns)
{
        if (!p)
                return;
        p->taken.pid = 0;
        for (size_t i = 0; p->kept && i < KEPT_MAX; i++)
                if (p->kept[i].pid != 0 && p->kept[i].tid == tid && p->kept[i].time_ns == time_ns) {
                        copy_taken(&p->taken, &p->kept[i]);
                        p->kept[i].pid = 0;
                        return;
                }
}

void python_frames_merge(struct python_frames *p, const struct address_space *space, struct call_chain *chain)
{
        struct python_merge merge = { .space = space,
                                      .dictionary = p ? p->recording->dictionary : NULL,
                                      .keep_c = p && p->keep_c };

        if (!p || p->taken.pid == 0)
                return;
        p->taken.pid = 0;
        merge.module = p->taken.module;
        memcpy(merge.eval, p->taken.eval, sizeof(merge.eval));
        if (p->taken.is_late && p->taken.stack.n_frames > 0 &&
            !python_merge_fits(&merge, &p->taken.stack, chain))
                p->taken.stack.n_frames = 0;
        if (p->taken.stack.n_frames > 0) {
                p->n_samples += p->taken.is_sample;
                python_merge_run(&merge, &p->taken.stack, chain, &p->merged);
                memcpy(chain->frames, p->merged.frames, p->merged.n_frames * sizeof(chain->frames[0]));
                chain->n_frames = p->merged.n_frames;
                if (p->taken.is_late &&
                    (chain->state == TRACE_STACK_COMPLETE || chain->state == TRACE_STACK_STITCHED))
                        chain->state = TRACE_STACK_APPROXIMATE;
        } else if (python_merge_count_evals(&merge, chain) > 0) {
                p->n_samples += p->taken.is_sample;
                p->n_bare += p->taken.is_sample;
                loss_counter_add(p->recording->losses, p->taken.why, 1);
        }
}
