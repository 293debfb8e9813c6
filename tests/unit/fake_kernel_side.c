/* SPDX-License-Identifier: MIT */
#include "tests/unit/fake_kernel_side.h"

#include "base/error.h"
#include "sampler/kernel/unwind_request.h"
#include "sampler/stacks/stack_unwinder.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/unit_test.h"

#include <linux/perf_event.h>
#include <string.h>

static const uint32_t sample_events[] = { 1, 2 };
static const struct unwind_request by_frame_pointers = { .mode = UNWIND_FP };

void fake_kernel_side_open(struct fake_kernel_side *f, uint32_t n_rows_max)
{
        memset(f, 0, sizeof(*f));
        f->recording = (struct recording){ .dictionary = &f->dictionary,
                                           .events = &f->events,
                                           .sample_events = sample_events,
                                           .pace = &f->pace,
                                           .losses = &f->losses,
                                           .processes = &f->processes };
        recorder_pace_init(&f->pace, 0);
        f->pace.kernel_max_ns = UINT64_MAX;
        f->pace.throttle.share_max = 1;
        fake_events_open(&f->events, PERF_RECORD_SAMPLE_TYPE | PERF_SAMPLE_CALLCHAIN);
        trace_dictionary_init(&f->dictionary, n_rows_max);
        process_table_init(&f->processes, &f->dictionary);
        ck_assert_int_eq(stack_unwinder_new(&by_frame_pointers, NULL, &f->pace, &f->losses,
                                            &f->recording.unwinder, NULL),
                         0);
        ck_assert_int_eq(kernel_side_init(&f->source, &f->recording), 0);
}

void fake_kernel_side_close(struct fake_kernel_side *f)
{
        kernel_side_deinit(&f->source);
        stack_unwinder_free(f->recording.unwinder);
        process_table_deinit(&f->processes);
        trace_dictionary_deinit(&f->dictionary);
        event_set_close(&f->events);
        byte_buffer_deinit(&f->record);
}

struct kernel_record_identity fake_kernel_side_at(uint32_t tid, uint64_t time_ns)
{
        return (struct kernel_record_identity){
                .pid = FAKE_PID, .tid = tid, .time_ns = time_ns, .cpu = 1, .event = FAKE_EVENT_TRACKER
        };
}

void fake_kernel_side_put(struct fake_kernel_side *f, size_t ring)
{
        fake_ring_take(&f->events.rings[ring], &f->record);
}

void fake_kernel_side_run(struct fake_kernel_side *f, uint64_t until_ns)
{
        struct error err = ERROR_NONE;

        ck_assert_msg(kernel_side_run(&f->source, until_ns, &err) == 0, "%s", err.text);
}
