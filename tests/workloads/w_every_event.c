/* SPDX-License-Identifier: MIT */
/*
 * w_every_event
 *
 * Truth: the thread "teller" of group -3 says one of everything that a program can say, in the order of the
 * functions below; another thread, "helper", goes on as a fiber in the middle of a zone that "teller" began
 * on it.  The program says of itself "free text" and mode = test, hands over the source text of generated.c,
 * and announces code called "jitted" with an image, which goes again.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>
#include <pthread.h>
#include <string.h>

#define LONG_TEXT_BYTES 100000

static struct hyprof_location space = HYPROF_NAME("submission"); /* of keys */

static struct hyprof_location location_of(const char *name)
{
        struct hyprof_location location = HYPROF_LOCATION(NULL, 0);

        location.name = name;
        return location;
}

static void say_zones(void)
{
        static struct hyprof_location outer = HYPROF_LOCATION("outer", 0x102030);
        static struct hyprof_location inner = HYPROF_LOCATION("inner", 0);
        static struct hyprof_location stacked = HYPROF_LOCATION("stacked", 0);
        hyprof_zone o = hyprof_zone_begin(&outer);
        hyprof_zone i = hyprof_zone_begin(&inner);
        hyprof_zone s;

        hyprof_zone_text(i, "first line", 10);
        hyprof_zone_text(i, "second line", 11);
        hyprof_zone_name(o, "outer of today", 14); /* not the innermost */
        hyprof_zone_value(o, -42);
        hyprof_zone_key(o, &space, UINT64_C(0xfedcba9876543210));
        hyprof_zone_color(i, 0xff0000);
        hyprof_flow_begin(&space, UINT64_C(0xfedcba9876543211));
        HYPROF_FLOW_STEP(3);
        HYPROF_FLOW_END(4);
        hyprof_zone_end(i);
        s = hyprof_zone_begin_callstack(&stacked, 8);
        hyprof_zone_end(s);
        hyprof_zone_end(o);
        hyprof_zone_text(o, "too late", 8); /* nothing: it has ended */
}

static void say_moments(void)
{
        static struct hyprof_location depth = HYPROF_NAME("depth"), load = HYPROF_NAME("load");
        static char text[LONG_TEXT_BYTES];

        memset(text, 'x', sizeof(text));
        HYPROF_MESSAGE("hello");
        HYPROF_MESSAGE_COLOR("a warning", HYPROF_SEVERITY_WARNING, 0xff8800);
        hyprof_message(text, sizeof(text), HYPROF_SEVERITY_DEBUG, 0);
        hyprof_plot_config(&depth, HYPROF_PLOT_BYTES, HYPROF_PLOT_STEP, 0x00ff00, "B");
        hyprof_plot_int(&depth, -7);
        hyprof_plot_double(&load, 0.25);
        HYPROF_FRAME();
        HYPROF_FRAME_NAMED("audio");
        HYPROF_FRAME_BEGIN("video");
        HYPROF_FRAME_END("video");
}

static void say_memory(void)
{
        const void *first = (const void *)0x1000, *second = (const void *)0x2000;

        HYPROF_ALLOC(first, 64);
        HYPROF_ALLOC_POOL("pool", second, 128);
        HYPROF_FREE(first);
        HYPROF_FREE_POOL("pool", second);
        HYPROF_DISCARD_POOL("pool");
}

static void say_locks(void)
{
        static struct hyprof_lock lock = HYPROF_LOCK("lock");
        static struct hyprof_location holder = HYPROF_LOCATION("holder", 0);

        hyprof_lock_wait(&lock);
        hyprof_lock_obtain(&lock);
        hyprof_lock_mark(&lock, &holder);
        hyprof_lock_release(&lock);
        hyprof_lock_wait_shared(&lock);
        hyprof_lock_obtain_shared(&lock);
        hyprof_lock_release_shared(&lock);
        hyprof_lock_name(&lock, "renamed", 7);
        hyprof_lock_gone(&lock);
}

static void say_devices(void)
{
        static struct hyprof_device queue = HYPROF_DEVICE("queue", 2.0, 5);
        static struct hyprof_location kernel = HYPROF_LOCATION("kernel", 0);
        static struct hyprof_location power = HYPROF_NAME("power");
        uint64_t before_ns = hyprof_now_ns();

        hyprof_device_calibrate(&queue, 1000, hyprof_now_ns());
        hyprof_device_zone_begin(&queue, &kernel, 1);
        hyprof_device_zone_end(&queue, 2);
        hyprof_device_time(&queue, 1, 1100);
        hyprof_device_time(&queue, 2, 1200);
        hyprof_device_span(&queue, &kernel, 1300, 1350, 3, 4);
        hyprof_device_calibrate_within(&queue, 2000, before_ns, before_ns + 800);
        hyprof_device_track(&queue, 7, HYPROF_NO_LANE, "core 0-1", HYPROF_TRACK_CORE);
        hyprof_device_track(&queue, 8, 7, "BRISC", HYPROF_TRACK_PROCESSOR);
        hyprof_device_keyed_span(&queue, &kernel, 1400, 1450, 8, &space, UINT64_C(0xfedcba9876543210));
        hyprof_device_instant(&queue, &kernel, 1420, 8, &space, 5);
        hyprof_device_value(&queue, &power, 1430, 7, 0.5);
        hyprof_device_value_int(&queue, &power, 1440, 7, -2);
}

static void say_program(void)
{
        static const char source[] = "int main(void);\n";
        static const char image[] = "no ELF image at all";

        hyprof_program_info("free text", 9);
        hyprof_program_value("mode", "test");
        hyprof_source_text("generated.c", 11, source, sizeof(source) - 1);
        hyprof_source_text("generated.c", 11, source, sizeof(source) - 1); /* kept once */
        hyprof_code_add((const void *)0x10000, 0x200, "jitted", 6, image, sizeof(image) - 1);
        hyprof_code_remove((const void *)0x10000, 0x200);
}

static const char fiber_name[] = "fiber";
static hyprof_zone fiber_zone;

static void *help(void *unused)
{
        hyprof_thread_name("helper");
        hyprof_fiber_enter(fiber_name);
        hyprof_zone_end(fiber_zone);
        hyprof_fiber_leave();
        return unused;
}

static void say_fibers(void)
{
        static struct hyprof_location on_fiber, on_thread;
        hyprof_zone own;
        pthread_t helper;

        on_fiber = location_of("on fiber");
        on_thread = location_of("on thread");
        own = hyprof_zone_begin(&on_thread);
        hyprof_fiber_enter(fiber_name);
        fiber_zone = hyprof_zone_begin(&on_fiber);
        hyprof_fiber_leave();
        if (pthread_create(&helper, NULL, help, NULL) == 0)
                (void)pthread_join(helper, NULL);
        hyprof_zone_end(own);
}

int main(void)
{
        hyprof_thread_name("teller");
        hyprof_thread_group(-3);
        say_zones();
        say_moments();
        say_memory();
        say_locks();
        say_devices();
        say_program();
        say_fibers();
        return EXIT_SUCCESS;
}
