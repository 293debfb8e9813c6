/* SPDX-License-Identifier: MIT */
#include "view/why/why_wait_words.h"

#include "analyze/trace/zone_pattern.h"
#include "analyze/walk/loaded_trace.h"
#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"
#include "view/text/name_short.h"
#include "view/why/why_words.h"

#include <string.h>

/* A smaller part of a thread's time is not mentioned. */
#define STARVED_MIN 0.2

/* Longer names of works and devices are cut, as those of functions are. */
#define NAME_COLUMNS_MAX 80

static void add_thread(const struct loaded_trace *trace, struct byte_buffer *out, uint32_t thread)
{
        struct text_view name = loaded_trace_thread_name(trace, thread);

        byte_buffer_add_format(out, "thread t%u", thread);
        if (name.n_bytes != 0) {
                byte_buffer_add_format(out, " ");
                why_words_add_quoted(out, name);
        }
        /* Threads of several processes may have one name. */
        if (trace_dictionary_count(trace->dictionary, TRACE_TABLE_PROCESSES) > 1)
                byte_buffer_add_format(out, " of process %u", loaded_trace_thread_pid(trace, thread));
}

struct text_view why_wait_words_device(const struct why *w, const struct why_step *step)
{
        const struct trace_device *device;
        struct text_view name = { .bytes = "device", .n_bytes = strlen("device") };

        if (step->device == 0)
                return (struct text_view){ .n_bytes = 0 };
        device = trace_dictionary_row(w->dictionary, TRACE_TABLE_DEVICES, step->device);
        return trace_dictionary_text(w->dictionary, device->name).n_bytes != 0
                       ? trace_dictionary_text(w->dictionary, device->name)
                       : name;
}

struct text_view why_wait_words_work(const struct why *w, const struct why_step *step)
{
        return step->location != 0 ? zone_pattern_name_of(w->dictionary, step->location)
                                   : (struct text_view){ .n_bytes = 0 };
}

static void add_name(struct byte_buffer *out, struct text_view name)
{
        name_short(out, name.bytes, name.n_bytes, NAME_COLUMNS_MAX);
}

/*
 * " for matmul on gpu", " for gpu, which did earlier work in its queue: copy", " for gpu, which had not begun
 * matmul yet", " for gpu".
 */
static void add_device(const struct why *w, const struct why_step *step, struct byte_buffer *out)
{
        bool is_named = step->location != 0;

        if (w->meanwhile.works.clocks[step->device - 1].bound_ns > DEVICE_WORKS_LATE_NS)
                byte_buffer_add_format(out, " probably");
        byte_buffer_add_format(out, " for ");
        if (is_named && step->doing == WHY_DOING_DEVICE) {
                add_name(out, why_wait_words_work(w, step));
                byte_buffer_add_format(out, " on ");
        }
        add_name(out, why_wait_words_device(w, step));
        if (!is_named || step->doing == WHY_DOING_DEVICE)
                return;
        byte_buffer_add_format(out, step->doing == WHY_DOING_LAUNCH
                                            ? ", which had not begun "
                                            : ", which did earlier work in its queue: ");
        add_name(out, why_wait_words_work(w, step));
        byte_buffer_add_format(out, step->doing == WHY_DOING_LAUNCH ? " yet" : "");
}

/* ", which waited in ask_disk() for thread t3 'disk', which ran flush_disk()". */
static void add_steps(const struct why *w, const struct loaded_trace *trace, const struct why_steps *steps,
                      struct byte_buffer *out)
{
        for (uint32_t i = 0; i < steps->n; i++) {
                const struct why_step *step = &steps->steps[i];

                if (why_doing_is_of_device(step->doing)) {
                        add_device(w, step, out);
                        return;
                }
                if (i > 0) {
                        byte_buffer_add_format(out, " for ");
                        add_thread(trace, out, step->thread);
                }
                if (step->doing == WHY_DOING_UNKNOWN)
                        return;
                byte_buffer_add_format(out, ", which %s", why_words_doing(step->doing));
                if (step->label != 0) {
                        byte_buffer_add_format(out, step->doing == WHY_DOING_RUN ? " " : " in ");
                        why_words_add_function(out, why_words_function(w, step->label));
                }
                if (step->label != 0 && step->caller != 0) {
                        byte_buffer_add_format(out, " from ");
                        why_words_add_function(out, why_words_function(w, step->caller));
                }
                if (step->doing != WHY_DOING_PREEMPTED && step->preempted >= STARVED_MIN) {
                        byte_buffer_add_format(out, ", ready to run without a CPU for ");
                        why_words_add_share(out, step->preempted);
                        byte_buffer_add_format(out, " of that time");
                }
        }
}

void why_wait_words_add_holder(const struct why *w, const struct loaded_trace *trace, uint32_t lock,
                               struct byte_buffer *out)
{
        const struct why_holder *holder = why_find_holder(w, lock);

        if (!holder)
                return;
        byte_buffer_add_format(out, ", held by ");
        add_thread(trace, out, holder->thread);
        if (holder->did.n != 0 && holder->did.steps[0].doing == WHY_DOING_RUN &&
            holder->did.steps[0].label != 0) {
                byte_buffer_add_format(out, " in ");
                why_words_add_function(out, why_words_function(w, holder->did.steps[0].label));
        } else {
                add_steps(w, trace, &holder->did, out);
        }
}

/* Adds " (pthread_mutex_lock, futex_wait)": the library's function without leading '_', then the kernel's. */
static void add_what_for(const struct why *w, uint32_t place, struct byte_buffer *out)
{
        struct text_view kernel = why_words_kernel(w, place);
        struct text_view call = why_words_function(w, w->waits.names[place - 1].call);

        while (call.n_bytes > 1 && call.bytes[0] == '_') {
                call.bytes++;
                call.n_bytes--;
        }
        if (call.n_bytes == 0 && kernel.n_bytes == 0)
                return;
        byte_buffer_add_format(out, " (");
        byte_buffer_add(out, call.bytes, call.n_bytes);
        byte_buffer_add_format(out, call.n_bytes != 0 && kernel.n_bytes != 0 ? ", " : "");
        byte_buffer_add(out, kernel.bytes, kernel.n_bytes);
        byte_buffer_add_format(out, ")");
}

void why_wait_words_add(const struct why *w, uint32_t place, struct byte_buffer *out)
{
        struct text_view name = why_words_name(w, WHY_CAUSE_WAIT, place);
        uint32_t inner = w->waits.names[place - 1].inner;

        byte_buffer_add_format(out, "wait");
        if (name.n_bytes != 0 && name.bytes[0] != '[') {
                byte_buffer_add_format(out, " in ");
                why_words_add_function(out, name);
        }
        if (inner != 0) {
                byte_buffer_add_format(out, ", mostly in ");
                why_words_add_function(out, why_words_function(w, inner));
        }
        add_what_for(w, place, out);
}

void why_wait_words_add_waker(const struct why *w, const struct loaded_trace *trace,
                              const struct why_cause *cause, struct byte_buffer *out)
{
        const struct why_waker *waker = why_find_waker(w, WHY_CAUSE_WAIT, cause->id);
        enum why_doing doing = waker && waker->did.n != 0 ? waker->did.steps[0].doing : WHY_DOING_UNKNOWN;

        if (cause->device.device != 0) {
                add_device(w, &cause->device, out);
                return;
        }
        if (!waker || waker->thread == 0)
                return;
        if (doing != WHY_DOING_UNKNOWN && !why_doing_is_of_device(doing)) {
                byte_buffer_add_format(out, " for ");
                add_thread(trace, out, waker->thread);
                add_steps(w, trace, &waker->did, out);
                return;
        }
        byte_buffer_add_format(out, ", which ");
        add_thread(trace, out, waker->thread);
        byte_buffer_add_format(out, " ended");
        if (waker->label != 0) {
                byte_buffer_add_format(out, " in ");
                why_words_add_function(out, why_words_function(w, waker->label));
        }
}
