/* SPDX-License-Identifier: MIT */
/*
 * sampler/zones/zone_merge.c: what programs say is in the streams that it belongs to, in order; fibers
 * take their zones along
 */
#include "base/clock.h"
#include "instrument/client_abi.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/merged_program.h"
#include "tests/unit/unit_test.h"

static struct merged_program f;

static void setup(void)
{
        merged_program_set_up(&f);
}

static void teardown(void)
{
        merged_program_tear_down(&f);
}

/* ---- zones --------------------------------------------------------------------------------------------- */

static void put_depth(uint64_t at_ns, uint32_t depth)
{
        merged_program_put(&f, at_ns, CLIENT_ABI_EVENT_ZONE_AT, depth, 0, 0);
}

START_TEST(test_zone_details)
{
        uint32_t zone;

        zone = fake_program_name(&f.program, "zone");
        for (uint64_t i = 1; i <= 3; i++)
                fake_program_begin(&f.program, 0, f.start_ns + i, zone);
        merged_program_put_text(&f, 10, CLIENT_ABI_EVENT_ZONE_TEXT, 0, "innermost");
        put_depth(11, 1);
        merged_program_put_text(&f, 11, CLIENT_ABI_EVENT_ZONE_NAME, 0, "outermost");
        put_depth(12, 2);
        merged_program_put(&f, 12, CLIENT_ABI_EVENT_ZONE_VALUE, 0, (uint64_t)-5, 0);
        put_depth(13, 3);
        merged_program_put(&f, 13, CLIENT_ABI_EVENT_ZONE_COLOR, 0x102030, 0, 0);
        put_depth(14, 4); /* no such zone */
        merged_program_put(&f, 14, CLIENT_ABI_EVENT_ZONE_COLOR, 1, 0, 0);
        for (uint64_t i = 0; i < 3; i++)
                fake_program_finish(&f.program, 0, f.start_ns + 20 + i);
        merged_program_put(&f, 30, CLIENT_ABI_EVENT_ZONE_COLOR, 1, 0, 0); /* no zone at all */
        merged_program_finish(&f);

        ck_assert_str_eq(merged_program_get(&f, 1, 3, TRACE_OP_ZONE_TEXT)->text, "innermost");
        ck_assert_uint_eq(merged_program_get(&f, 1, 3, TRACE_OP_ZONE_TEXT)->zone_text.level, 0);
        ck_assert_str_eq(merged_program_get(&f, 1, 4, TRACE_OP_ZONE_NAME)->text, "outermost");
        ck_assert_uint_eq(merged_program_get(&f, 1, 4, TRACE_OP_ZONE_NAME)->zone_name.level, 2);
        ck_assert_int_eq(merged_program_get(&f, 1, 5, TRACE_OP_ZONE_VALUE)->zone_value.value, -5);
        ck_assert_uint_eq(merged_program_get(&f, 1, 5, TRACE_OP_ZONE_VALUE)->zone_value.level, 1);
        ck_assert_uint_eq(merged_program_get(&f, 1, 6, TRACE_OP_ZONE_COLOR)->zone_color.color, 0x102030);
        ck_assert_uint_eq(merged_program_get(&f, 1, 6, TRACE_OP_ZONE_COLOR)->zone_color.level, 0);
        (void)merged_program_get(&f, 1, 7, TRACE_OP_ZONE_END);
        merged_program_expect_no_more(&f, 1, 10);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_ZONE_UNBALANCED], 2);
        ck_assert_uint_eq(f.merge.n_zones, 3);
}
END_TEST

/* The code of the process; its frames are bytes of a file. */
static void add_code(void)
{
        struct trace_module module = { .kind = TRACE_MODULE_FILE };
        struct address_range range = { .start_avma = 0x400000, .end_avma = 0x401000 };

        ck_assert_int_eq(trace_dictionary_add(&f.dictionary, TRACE_TABLE_MODULES, &module, &range.module), 0);
        ck_assert_int_eq(address_space_add(&f.threads[0]->process->space, &range), 0);
}

START_TEST(test_callstacks)
{
        static const uint64_t addresses[] = { 0x400010, 0x400020, 0x400030, 0x999999 };
        struct fake_event stack = { .kind = CLIENT_ABI_EVENT_CALLSTACK,
                                    .text = addresses,
                                    .text_bytes = sizeof(addresses) };
        const struct trace_stack *at;
        const struct trace_frame *frame;
        const struct trace_module *module;
        uint32_t zone;

        add_code();
        zone = fake_program_name(&f.program, "zone");
        stack.time_ns = f.start_ns + 5;
        fake_program_put(&f.program, 0, &stack);
        fake_program_begin(&f.program, 0, f.start_ns + 5, zone);
        fake_program_finish(&f.program, 0, f.start_ns + 6);
        fake_program_put(&f.program, 0, &stack);
        fake_program_finish(&f.program, 0, f.start_ns + 7); /* of nothing: no stack without its event */
        merged_program_finish(&f);

        ck_assert_uint_eq(merged_program_get(&f, 1, 0, TRACE_OP_CALLSTACK)->time_ns, f.start_ns + 5);
        ck_assert_uint_eq(merged_program_get(&f, 1, 1, TRACE_OP_ZONE_BEGIN)->time_ns, f.start_ns + 5);
        (void)merged_program_get(&f, 1, 2, TRACE_OP_ZONE_END);
        merged_program_expect_no_more(&f, 1, 3);
        at = merged_program_row(&f, TRACE_TABLE_STACKS,
                                merged_program_get(&f, 1, 0, TRACE_OP_CALLSTACK)->callstack.stack);
        for (uint64_t offset = 0x10; offset <= 0x30; offset += 0x10) {
                frame = merged_program_row(&f, TRACE_TABLE_FRAMES, at->frame);
                ck_assert_uint_eq(frame->offset, offset);
                ck_assert_uint_eq(frame->flags, TRACE_FRAME_RETURN_ADDRESS);
                if (offset < 0x30)
                        at = merged_program_row(&f, TRACE_TABLE_STACKS, at->parent);
        }
        /* The next is no code: callers are missing. */
        at = merged_program_row(&f, TRACE_TABLE_STACKS, at->parent);
        ck_assert_uint_eq(at->parent, 0);
        frame = merged_program_row(&f, TRACE_TABLE_FRAMES, at->frame);
        module = merged_program_row(&f, TRACE_TABLE_MODULES, frame->module);
        ck_assert_uint_eq(module->kind, TRACE_MODULE_MARK);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_STACK_LEFT_CODE], 2);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_ZONE_UNBALANCED], 1);
}
END_TEST

/* ---- losses -------------------------------------------------------------------------------------------- */

START_TEST(test_drops_by_kind)
{
        static const enum trace_loss_reason reasons[] = {
                TRACE_LOSS_DROPPED_ZONES,  TRACE_LOSS_DROPPED_MESSAGES, TRACE_LOSS_DROPPED_PLOTS,
                TRACE_LOSS_DROPPED_FRAMES, TRACE_LOSS_CLIENT_RING_FULL, TRACE_LOSS_DROPPED_MEMORY,
                TRACE_LOSS_DROPPED_LOCKS,  TRACE_LOSS_DROPPED_DEVICES,
        };
        const struct trace_loss *loss;
        struct client_abi_slot *slot;
        uint32_t id;

        id = merged_program_thread_row(&f, 1);
        slot = fake_region_slot(&f.program.region, 1);
        for (uint64_t i = 0; i < 8; i++)
                (&slot->n_dropped_zones)[i] = i + 1;
        slot->n_dropped_deep_zones = 9;
        for (int i = 0; i < 2; i++) /* each once */
                ck_assert_int_eq(zone_source_count_drops(&f.zones, true), 0);
        for (uint64_t i = 0; i < 8; i++)
                ck_assert_uint_eq(f.losses.totals[reasons[i]], i + 1);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_ZONE_TOO_DEEP], 9);
        ck_assert_uint_eq(loss_counter_total(&f.losses), 45);
        /* Larger rings help against the others: they lacked room for so much. */
        ck_assert_uint_eq(f.zones.need.bytes, client_region_spare_bytes(f.zones.regions[0].region) + 36 * 32);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_LOSSES), 9);
        for (uint32_t i = 1; i <= 9; i++) {
                loss = merged_program_row(&f, TRACE_TABLE_LOSSES, i);
                ck_assert_uint_eq(loss->thread, id);
        }
        slot->n_dropped_zones++; /* counted when its thread has ended: it is still that thread's */
        ck_assert_uint_eq(process_table_forget_thread(&f.processes, f.threads[1]), 0);
        merged_program_cycle(&f, UINT64_MAX, false);
        ck_assert_int_eq(zone_source_count_drops(&f.zones, true), 0);
        loss = merged_program_row(&f, TRACE_TABLE_LOSSES, 10);
        ck_assert_uint_eq(loss->reason, TRACE_LOSS_DROPPED_ZONES);
        ck_assert_uint_eq(loss->thread, id);
        ck_assert_uint_eq(loss->count, 1);

        /* While this process stands still for seconds, programs stop to fill the room that they have. */
        f.zones.cycled_ns -= 2 * NS_PER_S;
        slot->n_dropped_zones += 1000;
        merged_program_cycle(&f, f.start_ns, false);
        ck_assert_int_eq(zone_source_count_drops(&f.zones, true), 0);
        ck_assert_uint_eq(loss_counter_total(&f.losses), 1046);
        ck_assert_uint_eq(f.zones.need.bytes, client_region_spare_bytes(f.zones.regions[0].region) + 37 * 32);
        slot->n_dropped_zones++;
        ck_assert_int_eq(zone_source_count_drops(&f.zones, true), 0);
        ck_assert_uint_eq(f.zones.need.bytes, client_region_spare_bytes(f.zones.regions[0].region) + 38 * 32);
}
END_TEST

/* ---- fibers -------------------------------------------------------------------------------------------- */

/* The row of a fiber in THREADS, by its number. */
static uint32_t fiber_row(uint32_t number)
{
        for (uint32_t id = 1; id <= trace_dictionary_count(&f.dictionary, TRACE_TABLE_THREADS); id++) {
                const struct trace_thread *thread = merged_program_row(&f, TRACE_TABLE_THREADS, id);

                if (thread->kind == TRACE_THREAD_FIBER && thread->fiber == number) {
                        ck_assert_uint_eq(thread->tid, 0);
                        ck_assert_uint_eq(thread->process, 1);
                        return id;
                }
        }
        ck_abort_msg("there is no fiber %u", number);
        return 0;
}

/* loop test: the ring of the thread that has the fiber first is read first, or last */
START_LOOP_TEST(test_fiber_moves, 0, 2)
{
        uint32_t first = _i ? 2 : 0, second = _i ? 0 : 2;
        uint32_t fiber, outer, inner, id;
        size_t n = 0;

        fiber = fake_program_name(&f.program, "fiber");
        outer = fake_program_name(&f.program, "outer");
        inner = fake_program_name(&f.program, "inner");
        fake_program_enter(&f.program, first, f.start_ns + 10, fiber, 0);
        fake_program_begin(&f.program, first, f.start_ns + 11, outer);
        fake_program_leave(&f.program, first, f.start_ns + 12);
        fake_program_begin(&f.program, first, f.start_ns + 13, inner); /* of the thread itself */
        fake_program_enter(&f.program, second, f.start_ns + 20, fiber, 1);
        fake_program_begin(&f.program, second, f.start_ns + 21, inner);
        fake_program_leave(&f.program, second, f.start_ns + 22);
        fake_program_finish(&f.program, first, f.start_ns + 25);
        fake_program_enter(&f.program, first, f.start_ns + 30, fiber, 2);
        fake_program_finish(&f.program, first, f.start_ns + 31);
        fake_program_finish(&f.program, first, f.start_ns + 32);
        fake_program_leave(&f.program, first, f.start_ns + 33);
        merged_program_finish(&f);

        id = fiber_row(fiber);
        merged_program_expect_string(
                &f, merged_program_get(&f, id, n, TRACE_OP_THREAD_NAME)->thread_name.name, "fiber");
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_THREAD_NAME)->time_ns, f.start_ns + 10);
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_SWITCH_IN)->time_ns, f.start_ns + 10);
        merged_program_expect_name(
                &f, merged_program_get(&f, id, n++, TRACE_OP_ZONE_BEGIN)->zone_begin.location, "outer");
        ck_assert_uint_eq(merged_program_get(&f, id, n, TRACE_OP_SWITCH_OUT)->switch_out.preempted, 0);
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_SWITCH_OUT)->time_ns, f.start_ns + 12);
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_SWITCH_IN)->time_ns, f.start_ns + 20);
        merged_program_expect_name(
                &f, merged_program_get(&f, id, n++, TRACE_OP_ZONE_BEGIN)->zone_begin.location, "inner");
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_SWITCH_OUT)->time_ns, f.start_ns + 22);
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_SWITCH_IN)->time_ns, f.start_ns + 30);
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_ZONE_END)->time_ns, f.start_ns + 31);
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_ZONE_END)->time_ns, f.start_ns + 32);
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_SWITCH_OUT)->time_ns, f.start_ns + 33);
        merged_program_expect_no_more(&f, id, n);

        n = 0;
        id = merged_program_thread_row(&f, first);
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_FIBER_ENTER)->fiber_enter.fiber,
                          fiber_row(fiber));
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_FIBER_LEAVE)->time_ns, f.start_ns + 12);
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_ZONE_BEGIN)->time_ns, f.start_ns + 13);
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_ZONE_END)->time_ns, f.start_ns + 25);
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_FIBER_ENTER)->time_ns, f.start_ns + 30);
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_FIBER_LEAVE)->time_ns, f.start_ns + 33);
        merged_program_expect_no_more(&f, id, n);
        merged_program_expect_no_loss(&f);
        ck_assert_uint_eq(f.zones.held_bytes, 0);
}
END_TEST

/* An event that is too young waits, also after the beginning of a fiber; nothing is done twice. */
START_TEST(test_fiber_over_cycles)
{
        uint32_t fiber, zone, id;

        fiber = fake_program_name(&f.program, "fiber");
        zone = fake_program_name(&f.program, "zone");
        fake_program_enter(&f.program, 0, f.start_ns + 10, fiber, 0);
        fake_program_begin(&f.program, 0, f.start_ns + 11, zone);
        fake_program_leave(&f.program, 0, f.start_ns + 12);
        fake_program_enter(&f.program, 1, f.start_ns + 20, fiber, 1);
        fake_program_finish(&f.program, 1, f.start_ns + 21);
        for (uint64_t until = 0; until < 25; until++) {
                merged_program_cycle(&f, f.start_ns + until, false);
                ck_assert_uint_eq(f.threads[0]->fiber != NULL, until >= 10 && until < 12);
                ck_assert_uint_eq(f.threads[1]->fiber != NULL, until >= 20);
        }
        merged_program_finish(&f);
        id = fiber_row(fiber);
        ck_assert_uint_eq(merged_program_get(&f, id, 2, TRACE_OP_ZONE_BEGIN)->time_ns, f.start_ns + 11);
        ck_assert_uint_eq(merged_program_get(&f, id, 5, TRACE_OP_ZONE_END)->time_ns, f.start_ns + 21);
        merged_program_expect_no_more(&f, id, 6);
        merged_program_expect_no_loss(&f);
}
END_TEST

/* Ends that had no room in the ring: the word of the next beginning tells. */
START_TEST(test_lost_ends)
{
        uint32_t fiber, zone, id;

        fiber = fake_program_name(&f.program, "fiber");
        zone = fake_program_name(&f.program, "zone");
        fake_program_enter(&f.program, 0, f.start_ns + 10, fiber, 0);
        for (uint64_t i = 0; i < 3; i++)
                fake_program_begin(&f.program, 0, f.start_ns + 11 + i, zone);
        fake_program_leave(&f.program, 0, f.start_ns + 20);
        fake_program_enter(&f.program, 0, f.start_ns + 30, fiber, 1);
        fake_program_finish(&f.program, 0, f.start_ns + 31);
        fake_program_finish(&f.program, 0, f.start_ns + 32); /* of nothing */
        merged_program_finish(&f);
        id = fiber_row(fiber);
        ck_assert_uint_eq(merged_program_get(&f, id, 5, TRACE_OP_SWITCH_OUT)->time_ns, f.start_ns + 20);
        ck_assert_uint_eq(merged_program_get(&f, id, 6, TRACE_OP_ZONE_END)->time_ns, f.start_ns + 20);
        ck_assert_uint_eq(merged_program_get(&f, id, 7, TRACE_OP_ZONE_END)->time_ns, f.start_ns + 20);
        ck_assert_uint_eq(merged_program_get(&f, id, 8, TRACE_OP_SWITCH_IN)->time_ns, f.start_ns + 30);
        ck_assert_uint_eq(merged_program_get(&f, id, 9, TRACE_OP_ZONE_END)->time_ns, f.start_ns + 31);
        merged_program_expect_no_more(&f, id, 10);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_ZONE_UNBALANCED], 1);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLOCK_CORRECTED], 0);
}
END_TEST

/* loop test over both orders of the rings: a thread never says that it left; another goes on as the fiber */
START_LOOP_TEST(test_lost_leave, 0, 2)
{
        uint32_t first = _i ? 1 : 0, second = _i ? 0 : 1;
        uint32_t fiber, zone, id;

        fiber = fake_program_name(&f.program, "fiber");
        zone = fake_program_name(&f.program, "zone");
        fake_program_leave(&f.program, first, f.start_ns + 9); /* nor that it entered */
        fake_program_enter(&f.program, first, f.start_ns + 10, fiber, 0);
        fake_program_enter(&f.program, second, f.start_ns + 20, fiber, 0);
        fake_program_begin(&f.program, second, f.start_ns + 21, zone);
        fake_program_enter(&f.program, second, f.start_ns + 40, fiber, 1); /* once more, without leaving */
        merged_program_finish(&f);
        id = fiber_row(fiber);
        (void)merged_program_get(&f, id, 1, TRACE_OP_SWITCH_IN);
        (void)merged_program_get(&f, id, 2, TRACE_OP_SWITCH_OUT);
        (void)merged_program_get(&f, id, 3, TRACE_OP_SWITCH_IN);
        (void)merged_program_get(&f, id, 4, TRACE_OP_ZONE_BEGIN);
        ck_assert_uint_eq(merged_program_get(&f, id, 5, TRACE_OP_SWITCH_OUT)->time_ns, f.start_ns + 40);
        (void)merged_program_get(&f, id, 6, TRACE_OP_SWITCH_IN);
        merged_program_expect_no_more(&f, id, 7);
        id = merged_program_thread_row(&f, first);
        (void)merged_program_get(&f, id, 0, TRACE_OP_FIBER_ENTER);
        ck_assert_uint_eq(merged_program_get(&f, id, 1, TRACE_OP_FIBER_LEAVE)->time_ns, f.start_ns + 10);
        merged_program_expect_no_more(&f, id, 2);
        ck_assert_ptr_eq(f.threads[second]->fiber->carrier, f.threads[second]);
        merged_program_expect_no_loss(&f);
}
END_TEST

static void add_pending(uint32_t thread, uint64_t at_ns, enum trace_op op, uint64_t cpu)
{
        struct pending_event pending = { .event = { .op = op, .time_ns = f.start_ns + at_ns } };

        if (op == TRACE_OP_SAMPLE) {
                pending.event.sample.event = 1;
                pending.event.sample.cpu = cpu;
        } else if (op != TRACE_OP_THREAD_EXIT) {
                pending.event.operand[0] = cpu;
        }
        ck_assert_int_eq(process_table_add_pending(&f.processes, f.threads[thread], &pending), 0);
}

static void write_pending(uint32_t thread)
{
        ck_assert_int_eq(zone_merge_write_pending(&f.merge, f.threads[thread], UINT64_MAX), 0);
}

/*
 * Facts about a zone have the time of the event before them; events of the kernel in
 * between are no correction.
 */
START_TEST(test_details_after_kernel_events)
{
        uint32_t zone;

        zone = fake_program_name(&f.program, "zone");
        fake_program_begin(&f.program, 0, f.start_ns + 10, zone);
        add_pending(0, 20, TRACE_OP_SAMPLE, 0);
        merged_program_cycle(&f, f.start_ns + 30, false);
        write_pending(0);
        merged_program_put_text(&f, 10, CLIENT_ABI_EVENT_ZONE_TEXT, 0, "text");
        merged_program_put_text(&f, 10, CLIENT_ABI_EVENT_ZONE_NAME, 0, "name");
        merged_program_put(&f, 10, CLIENT_ABI_EVENT_ZONE_VALUE, 0, 5, 0);
        merged_program_put(&f, 10, CLIENT_ABI_EVENT_ZONE_COLOR, 0x102030, 0, 0);
        fake_program_finish(&f.program, 0, f.start_ns + 40);
        merged_program_finish(&f);
        ck_assert_uint_eq(merged_program_get(&f, 1, 1, TRACE_OP_SAMPLE)->time_ns, f.start_ns + 20);
        ck_assert_uint_eq(merged_program_get(&f, 1, 2, TRACE_OP_ZONE_TEXT)->time_ns, f.start_ns + 20);
        ck_assert_uint_eq(merged_program_get(&f, 1, 3, TRACE_OP_ZONE_NAME)->time_ns, f.start_ns + 20);
        ck_assert_uint_eq(merged_program_get(&f, 1, 4, TRACE_OP_ZONE_VALUE)->time_ns, f.start_ns + 20);
        ck_assert_uint_eq(merged_program_get(&f, 1, 5, TRACE_OP_ZONE_COLOR)->time_ns, f.start_ns + 20);
        ck_assert_uint_eq(merged_program_get(&f, 1, 6, TRACE_OP_ZONE_END)->time_ns, f.start_ns + 40);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLOCK_CORRECTED], 0);
}
END_TEST

/* A sample of the nanosecond in which a zone begins was taken before it. */
START_TEST(test_sample_at_a_begin)
{
        uint32_t zone;

        zone = fake_program_name(&f.program, "zone");
        fake_program_begin(&f.program, 0, f.start_ns + 10, zone);
        fake_program_finish(&f.program, 0, f.start_ns + 11);
        fake_program_begin(&f.program, 0, f.start_ns + 20, zone); /* known by now: the short way */
        add_pending(0, 20, TRACE_OP_SAMPLE, 0);
        merged_program_finish(&f);
        ck_assert_uint_eq(merged_program_get(&f, 1, 2, TRACE_OP_SAMPLE)->sample.path, 0);
        ck_assert_uint_eq(merged_program_get(&f, 1, 3, TRACE_OP_ZONE_BEGIN)->time_ns, f.start_ns + 20);
        merged_program_expect_no_loss(&f);
}
END_TEST

/*
 * Where the time is up before a ring is empty, the kernel's events of the process wait
 * for what is left in it.
 */
START_TEST(test_time_is_up)
{
        uint32_t zone;

        zone = fake_program_name(&f.program, "zone");
        fake_program_begin(&f.program, 0, f.start_ns + 10, zone);
        merged_program_cycle(&f, f.start_ns + 30, false);
        ck_assert_uint_eq(f.threads[0]->process->stalled_ns, UINT64_MAX);
        fake_program_begin(&f.program, 0, f.start_ns + 20, zone);
        f.merge.last_ns = 1; /* the end of the final run, long ago */
        merged_program_cycle(&f, UINT64_MAX, true);
        ck_assert_uint_le(f.threads[0]->process->stalled_ns, f.start_ns + 10);
        ck_assert(f.merge.is_behind);
        ck_assert_uint_gt(f.losses.totals[TRACE_LOSS_CLIENT_UNREAD], 0);
}
END_TEST

/*
 * loop test: a sample waits for its unwind table, early, between two zones or late; the zones from then on
 * wait with it, the short way and the long one.
 */
START_LOOP_TEST(test_zones_are_held, 0, 3)
{
        uint64_t held_at = 10 + 15 * (uint64_t)_i;
        uint32_t zone = fake_program_name(&f.program, "zone");

        for (uint64_t at = 10; at <= 40; at += 10) {
                fake_program_begin(&f.program, 0, f.start_ns + at, zone);
                fake_program_finish(&f.program, 0, f.start_ns + at + 5);
        }
        f.threads[0]->process->held_ns = f.start_ns + held_at;
        merged_program_cycle(&f, f.start_ns + 100, false);
        ck_assert_uint_lt(f.threads[0]->last_ns, f.start_ns + held_at);
        ck_assert_uint_eq(f.merge.n_zones, held_at / 10 - 1 + (held_at % 10 > 0));
        f.threads[0]->process->held_ns = UINT64_MAX;
        merged_program_finish(&f);
        ck_assert_uint_eq(f.merge.n_zones, 4);
        merged_program_expect_no_loss(&f);
}
END_TEST

/*
 * Samples stay with the thread and know the fiber's zones; switches are in both; the end of
 * the thread ends its part.
 */
START_TEST(test_kernel_events_in_fiber)
{
        const struct trace_zone_path *path;
        uint32_t fiber, zone, id;
        size_t n = 2;

        fiber = fake_program_name(&f.program, "fiber");
        zone = fake_program_name(&f.program, "zone");
        add_pending(0, 5, TRACE_OP_SWITCH_IN, 7);
        fake_program_enter(&f.program, 0, f.start_ns + 10, fiber, 0);
        fake_program_begin(&f.program, 0, f.start_ns + 11, zone);
        add_pending(0, 12, TRACE_OP_SAMPLE, 7);
        add_pending(0, 13, TRACE_OP_SWITCH_OUT, 7);
        add_pending(0, 14, TRACE_OP_SWITCH_IN, 8);
        merged_program_put_text(&f, 15, CLIENT_ABI_EVENT_THREAD_NAME, 0, "thread");
        add_pending(0, 20, TRACE_OP_THREAD_EXIT, 0);
        merged_program_cycle(&f, UINT64_MAX, true);
        write_pending(0);
        merged_program_read_back(&f);

        id = fiber_row(fiber);
        ck_assert_uint_eq(merged_program_get(&f, id, 1, TRACE_OP_SWITCH_IN)->switch_in.cpu, 7);
        (void)merged_program_get(&f, id, n++, TRACE_OP_ZONE_BEGIN);
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_SWITCH_OUT)->time_ns, f.start_ns + 13);
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_SWITCH_IN)->switch_in.cpu, 8);
        ck_assert_uint_eq(merged_program_get(&f, id, n, TRACE_OP_SWITCH_OUT)->switch_out.cpu, 8);
        ck_assert_uint_eq(merged_program_get(&f, id, n++, TRACE_OP_SWITCH_OUT)->time_ns, f.start_ns + 20);
        merged_program_expect_no_more(&f, id, n);

        id = merged_program_thread_row(&f, 0);
        (void)merged_program_get(&f, id, 0, TRACE_OP_SWITCH_IN);
        (void)merged_program_get(&f, id, 1, TRACE_OP_FIBER_ENTER);
        path = merged_program_row(&f, TRACE_TABLE_ZONE_PATHS,
                                  merged_program_get(&f, id, 2, TRACE_OP_SAMPLE)->sample.path);
        merged_program_expect_name(&f, path->location, "zone");
        (void)merged_program_get(&f, id, 3, TRACE_OP_SWITCH_OUT);
        (void)merged_program_get(&f, id, 4, TRACE_OP_SWITCH_IN);
        (void)merged_program_get(&f, id, 5, TRACE_OP_THREAD_NAME);
        ck_assert_uint_eq(merged_program_get(&f, id, 6, TRACE_OP_FIBER_LEAVE)->time_ns, f.start_ns + 20);
        (void)merged_program_get(&f, id, 7, TRACE_OP_THREAD_EXIT);
        merged_program_expect_no_more(&f, id, 8);
        ck_assert(f.threads[0]->exited);
        ck_assert_ptr_null(f.threads[0]->fiber);
        merged_program_expect_no_loss(&f);
}
END_TEST

/* A new program in the same process: the fibers of the old one have ended, and numbers mean others. */
START_TEST(test_exec_ends_fibers)
{
        struct pending_event exec = { .event = { .op = TRACE_OP_THREAD_NAME }, .closes_zones = true };
        uint32_t fiber, id;

        fiber = fake_program_name(&f.program, "fiber");
        fake_program_enter(&f.program, 0, f.start_ns + 10, fiber, 0);
        fake_program_enter(&f.program, 1, f.start_ns + 11, fake_program_name(&f.program, "other"), 0);
        merged_program_cycle(&f, UINT64_MAX, false);
        exec.event.time_ns = f.start_ns + 20;
        ck_assert_int_eq(process_table_add_pending(&f.processes, f.threads[0], &exec), 0);
        fake_program_enter(&f.program, 0, f.start_ns + 30, fiber, 0);
        merged_program_finish(&f);
        id = fiber_row(fiber);
        (void)merged_program_get(&f, id, 1, TRACE_OP_SWITCH_IN);
        (void)merged_program_get(&f, id, 2, TRACE_OP_SWITCH_OUT);
        ck_assert_uint_eq(merged_program_get(&f, id, 3, TRACE_OP_THREAD_EXIT)->time_ns, f.start_ns + 20);
        merged_program_expect_no_more(&f, id, 4);
        (void)merged_program_get(&f, fiber_row(fiber + 1), 3, TRACE_OP_THREAD_EXIT);
        ck_assert_ptr_null(f.threads[1]->fiber);
        ck_assert_uint_ne(f.threads[0]->fiber->thread, id);
        ck_assert_uint_eq(f.processes.n_fibers, 1);
        merged_program_expect_no_loss(&f);
}
END_TEST

/*
 * Both programs' events are there at once: those of the one that was replaced come first,
 * whichever region has its turn.
 */
START_TEST(test_exec_in_one_cycle)
{
        struct pending_event exec = { .event = { .op = TRACE_OP_THREAD_NAME }, .closes_zones = true };
        static struct fake_program second;
        uint32_t before, id;

        before = fake_program_name(&f.program, "before");
        fake_program_begin(&f.program, 0, f.start_ns + 10, before);
        fake_program_finish(&f.program, 0, f.start_ns + 11);
        fake_program_begin(&f.program, 0, f.start_ns + 12, before);
        exec.event.time_ns = f.start_ns + 20;
        ck_assert_int_eq(process_table_add_pending(&f.processes, f.threads[0], &exec), 0);
        fake_program_start(&second, MERGED_PROGRAM_PID);
        ck_assert_int_eq(zone_source_receive(&f.zones, MERGED_PROGRAM_PID, fake_program_fd(&second)), 0);
        fake_program_thread(&second, 0, f.start_ns + 25, MERGED_PROGRAM_PID);
        fake_program_begin(&second, 0, f.start_ns + 30, fake_program_name(&second, "after"));
        fake_program_finish(&second, 0, f.start_ns + 31);
        merged_program_finish(&f);
        id = merged_program_thread_row(&f, 0);
        ck_assert_uint_eq(merged_program_get(&f, id, 0, TRACE_OP_ZONE_BEGIN)->time_ns, f.start_ns + 10);
        (void)merged_program_get(&f, id, 1, TRACE_OP_ZONE_END);
        (void)merged_program_get(&f, id, 2, TRACE_OP_ZONE_BEGIN);
        ck_assert_uint_eq(merged_program_get(&f, id, 3, TRACE_OP_ZONES_GONE)->time_ns, f.start_ns + 20);
        (void)merged_program_get(&f, id, 4, TRACE_OP_THREAD_NAME);
        ck_assert_uint_eq(merged_program_get(&f, id, 5, TRACE_OP_ZONE_BEGIN)->time_ns, f.start_ns + 30);
        (void)merged_program_get(&f, id, 6, TRACE_OP_ZONE_END);
        merged_program_expect_no_loss(&f);
        fake_program_end(&second);
}
END_TEST

/*
 * loop test: samples of the program that was replaced wait for a table, or its last events are too young, of
 * a fiber as well; its region stays until they are merged, however many cycles that takes
 */
START_LOOP_TEST(test_exec_while_events_wait, 0, 4)
{
        static struct fake_program second;
        bool is_held = _i % 2 == 0, has_fiber = _i / 2 == 1;
        uint64_t until_ns;
        uint32_t before;

        until_ns = is_held ? UINT64_MAX : f.start_ns + 14;
        before = fake_program_name(&f.program, "before");
        for (uint64_t at = 10; at <= 20; at += 5) {
                fake_program_begin(&f.program, 0, f.start_ns + at, before);
                fake_program_finish(&f.program, 0, f.start_ns + at + 2);
        }
        if (has_fiber) {
                fake_program_enter(&f.program, 1, f.start_ns + 30, fake_program_name(&f.program, "fiber"), 0);
                fake_program_begin(&f.program, 1, f.start_ns + 31, before);
                fake_program_finish(&f.program, 1, f.start_ns + 32);
        }
        if (is_held)
                f.threads[0]->process->held_ns = f.start_ns + 14;
        fake_program_start(&second, MERGED_PROGRAM_PID);
        ck_assert_int_eq(zone_source_receive(&f.zones, MERGED_PROGRAM_PID, fake_program_fd(&second)), 0);
        for (int i = 0; i < 5; i++) {
                merged_program_cycle(&f, until_ns, false);
                ck_assert_uint_eq(f.zones.n_regions, 2);
        }
        ck_assert_uint_eq(f.merge.n_zones, 1);
        f.threads[0]->process->held_ns = UINT64_MAX;
        for (int i = 0; i < 3; i++)
                merged_program_cycle(&f, UINT64_MAX, false);
        ck_assert_uint_eq(f.zones.n_regions, 1);
        merged_program_finish(&f);
        ck_assert_uint_eq(f.merge.n_zones, has_fiber ? 4 : 3);
        merged_program_expect_no_loss(&f);
        fake_program_end(&second);
}
END_TEST

/*
 * The same, told by a thread that emits nothing itself: the new program's fibers are not
 * taken for the old one's.
 */
START_TEST(test_exec_of_a_silent_thread)
{
        struct pending_event exec = { .event = { .op = TRACE_OP_THREAD_NAME }, .closes_zones = true };
        uint32_t fiber, zone;

        fiber = fake_program_name(&f.program, "fiber");
        zone = fake_program_name(&f.program, "zone");
        fake_program_enter(&f.program, 1, f.start_ns + 10, fiber, 0);
        merged_program_cycle(&f, UINT64_MAX, false);
        for (uint64_t at_ns = 20; at_ns <= 25; at_ns += 5) { /* a second one is found after the first */
                exec.event.time_ns = f.start_ns + at_ns;
                ck_assert_int_eq(process_table_add_pending(&f.processes, f.threads[0], &exec), 0);
        }
        exec.event.time_ns = f.start_ns + 50;
        ck_assert_int_eq(process_table_add_pending(&f.processes, f.threads[0], &exec), 0);
        fake_program_enter(&f.program, 2, f.start_ns + 30, fiber, 0);
        fake_program_begin(&f.program, 2, f.start_ns + 31, zone);
        fake_program_finish(&f.program, 2, f.start_ns + 32);
        merged_program_cycle(&f, UINT64_MAX, false);
        ck_assert(f.threads[0]->process->exec_waits);
        ck_assert_int_eq((int)f.threads[0]->n_pending, 1);
        ck_assert_int_eq(zone_merge_write_pending(&f.merge, f.threads[0], UINT64_MAX), 0);
        ck_assert(!f.threads[0]->process->exec_waits);
        merged_program_finish(&f);
        /* The first one was left at 25 at the latest, and the other one lives until 50. */
        ck_assert_uint_eq(merged_program_get(&f, fiber_row(fiber), 3, TRACE_OP_THREAD_EXIT)->time_ns,
                          f.start_ns + 25);
        merged_program_expect_no_more(&f, fiber_row(fiber), 4);
        ck_assert_uint_eq(merged_program_get(&f, fiber_row(fiber) + 1, 5, TRACE_OP_THREAD_EXIT)->time_ns,
                          f.start_ns + 50);
        ck_assert_uint_eq(f.processes.n_fibers, 0);
        merged_program_expect_no_loss(&f);
}
END_TEST

/* Fibers that cannot be: what they do is left out and counted, not put on the thread. */
START_TEST(test_too_many_fibers)
{
        uint32_t fiber, zone;

        fiber = fake_program_name(&f.program, "fiber");
        zone = fake_program_name(&f.program, "zone");
        f.processes.n_fibers = PROCESS_TABLE_FIBERS_MAX;
        fake_program_enter(&f.program, 0, f.start_ns + 10, fiber, 0);
        fake_program_begin(&f.program, 0, f.start_ns + 11, zone);
        fake_program_leave(&f.program, 0, f.start_ns + 12);
        fake_program_begin(&f.program, 0, f.start_ns + 13, zone);
        fake_program_enter(&f.program, 0, f.start_ns + 14, 99, 0); /* a location that is none */
        fake_program_finish(&f.program, 0, f.start_ns + 15);
        merged_program_finish(&f);
        f.processes.n_fibers = 0;
        ck_assert_uint_eq(
                merged_program_get(&f, merged_program_thread_row(&f, 0), 0, TRACE_OP_ZONE_BEGIN)->time_ns,
                f.start_ns + 13);
        merged_program_expect_no_more(&f, 0, 1);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_GARBAGE], 4 * sizeof(uint64_t));
}
END_TEST

struct model_fiber {
        uint32_t number;
        uint64_t depth;
        int slot; /* of the thread that goes on as it; -1 = none */
};

/*
 * Fibers that wander over three threads at random, in steps of one nanosecond,
 * while cycles end anywhere: all of each fiber's zones are in its stream, in order.
 * loop test, by seed
 */
START_LOOP_TEST(test_random_moves, 0, 20)
{
        struct model_fiber fibers[3] = { { .slot = -1 }, { .slot = -1 }, { .slot = -1 } };
        uint64_t random = (uint64_t)_i + 1, now = 1, n_begins = 0, n_found = 0;
        uint32_t zone;

        zone = fake_program_name(&f.program, "zone");
        for (size_t i = 0; i < 3; i++)
                fibers[i].number = fake_program_name(&f.program, "fiber");
        for (int step = 0; step < 2000; step++, now++) {
                struct model_fiber *fiber = &fibers[fixed_random_next(&random) % 3];
                uint32_t slot = (uint32_t)(fixed_random_next(&random) % MERGED_PROGRAM_THREADS);
                bool is_free = true;

                for (size_t i = 0; i < 3; i++)
                        is_free = is_free && fibers[i].slot != (int)slot;
                if (fiber->slot < 0 && is_free) {
                        fake_program_enter(&f.program, slot, f.start_ns + now, fiber->number, fiber->depth);
                        fiber->slot = (int)slot;
                } else if (fiber->slot >= 0 && fixed_random_next(&random) % 4 == 0) {
                        fake_program_leave(&f.program, (uint32_t)fiber->slot, f.start_ns + now);
                        fiber->slot = -1;
                } else if (fiber->slot >= 0 && fiber->depth > 0 && fixed_random_next(&random) % 2 == 0) {
                        fake_program_finish(&f.program, (uint32_t)fiber->slot, f.start_ns + now);
                        fiber->depth--;
                } else if (fiber->slot >= 0) {
                        fake_program_begin(&f.program, (uint32_t)fiber->slot, f.start_ns + now, zone);
                        fiber->depth++;
                        n_begins++;
                }
                if (fixed_random_next(&random) % 32 == 0)
                        merged_program_cycle(&f, f.start_ns + now - fixed_random_next(&random) % 40, false);
        }
        merged_program_finish(&f);
        merged_program_expect_no_loss(&f);
        for (size_t i = 0; i < 3; i++) {
                uint32_t id = fiber_row(fibers[i].number);
                const struct trace_event *event;
                uint64_t last_ns = 0, depth = 0;

                for (size_t n = 0; (event = event_list_get(&f.list, id, n)) != NULL; n++) {
                        ck_assert_uint_ge(event->time_ns, last_ns);
                        last_ns = event->time_ns;
                        depth += event->op == TRACE_OP_ZONE_BEGIN;
                        depth -= event->op == TRACE_OP_ZONE_END;
                        n_found += event->op == TRACE_OP_ZONE_BEGIN;
                }
                ck_assert_uint_eq(depth, fibers[i].depth);
        }
        ck_assert_uint_eq(n_found, n_begins);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
