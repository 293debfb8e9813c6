/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_devices.c, why_meanwhile.c: a wait that a device ended is for the work of the device in
 * which slow instances wait longer, and for nothing of a device where they do not
 */
#include "base/byte_buffer.h"
#include "format/trace_event.h"
#include "tests/unit/asked_why.h"
#include "tests/unit/path_lab.h"
#include "tests/unit/unit_test.h"

#include <string.h>

#define N_FRAMES   400
#define N_MANY     3000 /* where they differ by less */
#define SLOW_EVERY 20
#define US         UINT64_C(1000)

/* Parts of a frame, in microseconds: the thread m works, and then waits for the rest. */
struct frame {
        uint64_t work;    /* of m */
        uint64_t copy;    /* of the thread "other", on the lane before */
        uint64_t own;     /* "pack" of m, likewise */
        uint64_t idle;    /* until the kernel begins */
        uint64_t kernel;  /* "matmul" */
        uint64_t handled; /* irq runs handle() after that */
};

enum how {
        BY_THREAD,    /* irq sleeps until the device is done, and wakes m */
        BY_INTERRUPT, /* no recorded thread wakes m */
        BY_LOOKING,   /* m sleeps again and again */
        BY_RUNNER,    /* m waits for "runner", which has asked the device and waits for an interrupt */
};

static const struct why_case {
        enum how how;
        struct frame usual, slow;
        const char *answer; /* a part of it; NULL = it does not name the device */
        const char
                *row; /* of the first waker: what the device did, with what; "" = the device is not named */
        uint64_t error_ns; /* of the device's clock */
        uint64_t n_frames;
} cases[] = {
        { BY_THREAD,
          { 200, 0, 0, 0, 300, 3 },
          { 200, 0, 0, 0, 1300, 3 },
          ") for matmul on gpu",
          "ran matmul",
          100,
          N_FRAMES },
        { BY_INTERRUPT,
          { 200, 0, 0, 0, 300, 0 },
          { 200, 0, 0, 0, 1300, 0 },
          ") for matmul on gpu",
          "ran matmul",
          100,
          N_FRAMES },
        { BY_LOOKING,
          { 200, 0, 0, 0, 300, 0 },
          { 200, 0, 0, 0, 1300, 0 },
          ") for matmul on gpu",
          "ran matmul",
          100,
          N_FRAMES },
        { BY_RUNNER,
          { 200, 0, 0, 0, 300, 3 },
          { 200, 0, 0, 0, 1300, 3 },
          "'runner', which waited in ask_gpu() from main() for matmul on gpu",
          "",
          100,
          N_FRAMES },
        { BY_THREAD,
          { 200, 0, 0, 0, 300, 3 },
          { 200, 1000, 0, 0, 300, 3 },
          ") for gpu, which did earlier work in its queue: copy",
          "earlier copy",
          100,
          N_FRAMES },
        { BY_THREAD,
          { 200, 0, 0, 0, 300, 3 },
          { 200, 0, 0, 1000, 300, 3 },
          ") for gpu, which had not begun matmul yet",
          "launch matmul",
          100,
          N_FRAMES },
        /* its own earlier work is not another one's */
        { BY_THREAD,
          { 200, 0, 10, 0, 300, 3 },
          { 200, 0, 1000, 0, 300, 3 },
          ") for pack on gpu",
          "ran pack",
          100,
          N_FRAMES },
        /* the earlier work is the extra time, though the kernel has most of the wait */
        { BY_THREAD,
          { 1000, 0, 0, 0, 700, 3 },
          { 1000, 600, 0, 0, 700, 3 },
          ") for gpu, which did earlier work in its queue: copy",
          "ran matmul",
          100,
          N_MANY },
        /* no one of them has half */
        { BY_THREAD,
          { 200, 0, 0, 0, 300, 3 },
          { 200, 400, 0, 350, 550, 3 },
          ") for gpu",
          "ran ",
          100,
          N_FRAMES },
        { BY_THREAD,
          { 200, 0, 0, 0, 300, 3 },
          { 200, 0, 0, 0, 1300, 3 },
          ") probably for matmul on gpu",
          "ran matmul",
          300000,
          N_FRAMES },
        /* a clock that proves nothing */
        { BY_THREAD, { 200, 0, 0, 0, 300, 3 }, { 200, 0, 0, 0, 1300, 3 }, NULL, "", 5000000, N_FRAMES },
        /* the device has most of the wait, but not of the extra time */
        { BY_THREAD,
          { 1000, 0, 0, 0, 800, 3 },
          { 1000, 0, 0, 0, 800, 700 },
          NULL,
          "ran matmul",
          100,
          N_MANY },
        /* it has the extra time, but less than half of the wait */
        { BY_THREAD, { 600, 0, 0, 0, 10, 600 }, { 600, 0, 0, 0, 510, 600 }, NULL, "", 100, N_MANY },
        /* neither */
        { BY_THREAD, { 200, 0, 0, 0, 300, 3 }, { 200, 0, 0, 0, 310, 700 }, NULL, "", 100, N_FRAMES },
        /* kernels are alike, and frames take longer by themselves */
        { BY_THREAD, { 200, 0, 0, 0, 300, 3 }, { 1200, 0, 0, 0, 300, 3 }, NULL, "ran matmul", 100, N_FRAMES },
        { BY_INTERRUPT,
          { 200, 0, 0, 0, 300, 0 },
          { 1200, 0, 0, 0, 300, 0 },
          NULL,
          "ran matmul",
          100,
          N_FRAMES },
        { BY_LOOKING,
          { 200, 0, 0, 0, 300, 0 },
          { 1200, 0, 0, 0, 300, 0 },
          NULL,
          "ran matmul",
          100,
          N_FRAMES },
};

static struct asked_why a;
static uint32_t m, irq, other, runner, gpu; /* threads, the device */
static uint32_t working, computing, waiting, asking, handling, napping;

static void setup(void)
{
        memset(&a, 0, sizeof(a));
        path_lab_init();
        m = path_lab_thread("m", 0);
        irq = path_lab_thread("irq", 1);
        other = path_lab_thread("other", 2);
        runner = path_lab_thread("runner", 3);
        working = path_lab_function("work");
        computing = path_lab_function("compute");
        waiting = path_lab_kernel(path_lab_function("wait_here"), "eventfd_read");
        asking = path_lab_kernel(path_lab_function("ask_gpu"), "eventfd_read");
        handling = path_lab_function("handle");
        napping = path_lab_kernel(path_lab_call(path_lab_function("poll_it"), "nanosleep"), "do_nanosleep");
}

static void teardown(void)
{
        asked_why_deinit(&a);
        path_lab_deinit();
}

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);

/* Until the device is done at @end_ns.  Returns when it noticed. */
static uint64_t wait_for_device(enum how how, const struct frame *f, uint64_t at_ns, uint64_t end_ns)
{
        uint64_t noticed_ns = end_ns + 5 * US, woken_ns = noticed_ns + f->handled * US;

        switch (how) {
        case BY_THREAD:
                path_lab_wait(irq, at_ns - 20 * US, noticed_ns, noticed_ns, 0, napping);
                path_lab_samples(irq, noticed_ns + US, woken_ns, 20 * US, handling);
                path_lab_wait(m, at_ns, woken_ns, woken_ns, irq, waiting);
                break;
        case BY_INTERRUPT:
                path_lab_wait(m, at_ns, woken_ns, woken_ns, 0, waiting);
                break;
        case BY_LOOKING:
                for (woken_ns = at_ns; woken_ns < end_ns; woken_ns += 60 * US)
                        path_lab_wait(m, woken_ns, woken_ns + 50 * US, woken_ns + 50 * US, 0, napping);
                break;
        case BY_RUNNER:
                path_lab_wait(runner, at_ns - 5 * US, noticed_ns, noticed_ns, 0, asking);
                path_lab_wait(m, at_ns, woken_ns, woken_ns, runner, waiting);
                break;
        }
        return woken_ns;
}

static void add_frame(enum how how, const struct frame *f, uint64_t at_ns)
{
        uint64_t work = f->work == 1200 ? 200 : f->work; /* the rest is in compute() */
        uint64_t asked_ns = at_ns + f->work * US - 10 * US, begin_ns = asked_ns + US;
        uint64_t copied_ns = begin_ns + f->copy * US, packed_ns = copied_ns + f->own * US;
        uint64_t kernel_ns = packed_ns + f->idle * US, end_ns = kernel_ns + f->kernel * US;

        path_lab_samples(m, at_ns + US, at_ns + work * US, 50 * US, working);
        path_lab_samples(m, at_ns + work * US + US, at_ns + f->work * US, 50 * US, computing);
        if (f->copy != 0)
                path_lab_work(other, at_ns + US, gpu, 0, "copy", begin_ns, copied_ns);
        if (f->own != 0)
                path_lab_work(m, asked_ns - 100, gpu, 0, "pack", copied_ns, packed_ns);
        path_lab_work(how == BY_RUNNER ? runner : m, asked_ns, gpu, 0, "matmul", kernel_ns, end_ns);
        PATH_LAB_EVENT(m, wait_for_device(how, f, at_ns + f->work * US, end_ns) + 2 * US, ZONE_END, 0);
}

static void ask(const struct why_case *c)
{
        static const struct why_request request = { .zone = "frame",
                                                    .slowest = 1.0 / SLOW_EVERY,
                                                    .by = WHY_BY_AUTOMATIC };
        uint32_t zone = trace_builder_location(&path_lab.b, "frame");

        gpu = path_lab_device("gpu", c->error_ns);
        for (uint64_t i = 0; i < c->n_frames; i++) {
                uint64_t at_ns = (i + 1) * 5000 * US;

                PATH_LAB_EVENT(m, at_ns, ZONE_BEGIN, zone);
                add_frame(c->how, i % SLOW_EVERY == 7 ? &c->slow : &c->usual, at_ns);
        }
        path_lab_write();
        asked_why_ask(&a, path_lab.b.path, &request);
}

/* "ran matmul", if the step is a device's; else "". */
static void say_device(const struct why_step *step, struct byte_buffer *out)
{
        const struct trace_location *row;
        struct text_view name = { .bytes = "", .n_bytes = 0 };

        if (step->location != 0) {
                row = trace_dictionary_row(path_lab.trace.dictionary, TRACE_TABLE_LOCATIONS, step->location);
                name = trace_dictionary_text(path_lab.trace.dictionary, row->name);
        }
        if (step->device != 0)
                byte_buffer_add_format(out, "%s %.*s",
                                       step->doing == WHY_DOING_DEVICE    ? "ran"
                                       : step->doing == WHY_DOING_EARLIER ? "earlier"
                                                                          : "launch",
                                       (int)name.n_bytes, name.bytes);
        byte_buffer_add(out, "", 1);
}

START_LOOP_TEST(test_the_device_is_named, 0, sizeof(cases) / sizeof(cases[0]))
{
        const struct why_case *c = &cases[_i];
        struct byte_buffer row = { .data = NULL };
        size_t n;

        ask(c);
        ck_assert_ptr_nonnull(why_find_answer(&a.why));
        ck_assert_int_eq(why_find_answer(&a.why)->confidence, WHY_CONFIDENCE_HIGH);
        n = c->answer ? strlen(c->answer) : 0;
        if (c->answer)
                ck_assert_msg(strlen(a.answer) > n && strcmp(a.answer + strlen(a.answer) - n, c->answer) == 0,
                              "%s", a.answer);
        else
                ck_assert_msg(strstr(a.answer, "gpu") == NULL, "%s", a.answer);
        ck_assert_uint_gt(a.why.n_wakers, 0);
        say_device(&a.why.waker_rows[0].did.steps[0], &row);
        ck_assert_str_eq((const char *)row.data, c->row);
        byte_buffer_deinit(&row);
}
END_TEST

/* The rows and works that a step takes are those of the instances that are followed, and of no more. */
START_TEST(test_the_others_are_sampled)
{
        ask(&cases[0]);
        ck_assert_uint_ge(a.why.meanwhile.n_typical, 50);
        ck_assert_uint_le(a.why.meanwhile.n_typical, 200);
        ck_assert_uint_eq(a.why.meanwhile.works.n_works, N_FRAMES);
        ck_assert_uint_eq(a.why.meanwhile.n_left_out, 0);
}
END_TEST
