/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/tracy/moment_calls.c - Tracy's functions for frames, plots, messages,
 * fibers and the program
 */
#include "instrument/compat/tracy/tracy_api.h"

#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static uint32_t flag(int32_t condition, uint32_t bit)
{
        return condition ? bit : 0;
}

void ___tracy_emit_frame_mark(const char *name)
{
        hyprof_tracy_frame_mark_(hyprof_tracy_pool_(name));
}

void ___tracy_emit_frame_mark_start(const char *name)
{
        hyprof_tracy_frame_begin_(hyprof_tracy_pool_(name));
}

void ___tracy_emit_frame_mark_end(const char *name)
{
        hyprof_tracy_frame_end_(hyprof_tracy_pool_(name));
}

void ___tracy_emit_frame_image(const void *image, uint16_t w, uint16_t h, uint8_t offset, int32_t flip)
{
        hyprof_frame_picture(image, w, h, offset, flip);
}

void ___tracy_emit_plot(const char *name, double val)
{
        hyprof_tracy_plot_double_(hyprof_tracy_pool_(name), val);
}

void ___tracy_emit_plot_float(const char *name, float val)
{
        hyprof_tracy_plot_double_(hyprof_tracy_pool_(name), (double)val);
}

void ___tracy_emit_plot_int(const char *name, int64_t val)
{
        hyprof_tracy_plot_int_(hyprof_tracy_pool_(name), val);
}

void ___tracy_emit_plot_config(const char *name, int32_t type, int32_t step, int32_t fill, uint32_t color)
{
        hyprof_tracy_plot_config_(hyprof_tracy_pool_(name), (uint32_t)type,
                                  flag(step, HYPROF_PLOT_STEP) | flag(fill, HYPROF_PLOT_FILL), color);
}

void ___tracy_emit_logString(int8_t severity, int32_t color, int32_t callstack_depth, size_t size,
                             const char *txt)
{
        hyprof_tracy_message_(txt, size, (uint32_t)severity, (uint32_t)color, callstack_depth);
}

void ___tracy_emit_logStringL(int8_t severity, int32_t color, int32_t callstack_depth, const char *txt)
{
        ___tracy_emit_logString(severity, color, callstack_depth, strlen(txt), txt);
}

void ___tracy_emit_messageC(const char *txt, size_t size, uint32_t color, int32_t callstack_depth)
{
        hyprof_tracy_message_(txt, size, TracyMessageSeverityInfo, color, callstack_depth);
}

void ___tracy_emit_message(const char *txt, size_t size, int32_t callstack_depth)
{
        ___tracy_emit_messageC(txt, size, 0, callstack_depth);
}

void ___tracy_emit_messageLC(const char *txt, uint32_t color, int32_t callstack_depth)
{
        ___tracy_emit_messageC(txt, strlen(txt), color, callstack_depth);
}

void ___tracy_emit_messageL(const char *txt, int32_t callstack_depth)
{
        ___tracy_emit_messageC(txt, strlen(txt), 0, callstack_depth);
}

void ___tracy_emit_message_appinfo(const char *txt, size_t size)
{
        hyprof_program_info(txt, size);
}

/* Names the thread for the system as well, as Tracy does: top and gdb show the first 15 bytes. */
void ___tracy_set_thread_name(const char *name)
{
        (void)prctl(PR_SET_NAME, name);
        hyprof_thread_name(name);
}

void ___tracy_fiber_enter(const char *fiber)
{
        hyprof_fiber_enter(fiber);
}

void ___tracy_fiber_leave(void)
{
        hyprof_fiber_leave();
}

/* There is nothing to start or to end: the recorder does that. */
void ___tracy_startup_profiler(void)
{
}

void ___tracy_shutdown_profiler(void)
{
}

int32_t ___tracy_profiler_started(void)
{
        return 1;
}

int32_t ___tracy_connected(void)
{
        return hyprof_is_recording();
}

int ___tracy_begin_sampling_profiling(void)
{
        return hyprof_is_recording();
}

void ___tracy_end_sampling_profiling(void)
{
}

int ___tracy_begin_sampling_profiler(void)
{
        return ___tracy_begin_sampling_profiling();
}

void ___tracy_end_sampling_profiler(void)
{
}

/* Nanoseconds of the clock of recordings, also without a recorder. */
int64_t ___tracy_get_time(void)
{
        struct timespec now = { .tv_sec = 0 };

        (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
        return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
