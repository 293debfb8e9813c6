/* SPDX-License-Identifier: MIT */
/*
 * w_tracy_c
 *
 * A program that knows Tracy alone: every macro of TracyC.h, and the functions
 * after them as bindings of other languages call them.  Without TRACY_ENABLE
 * it prints the same.
 *
 * Truth: what tests/integration/tracy_compat.sh lists, on the thread
 * "tracy c main", in the order of the source.
 */
#include <tracy/TracyC.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef TRACY_ENABLE
#if TRACY_COMPAT_API < 1400
#define NOT_SECURE , 0 /* an argument of those revisions */
#else
#define NOT_SECURE
#endif
#endif

static int n_done;

static void zones(void)
{
        static const char never[] = "never";

        TracyCZone(plain, 1);
        TracyCZoneN(named, "c named", 1);
        TracyCZoneC(coloured, 0x123456, 1);
        TracyCZoneNC(both, "c both", 0x654321, 1);
        TracyCZoneN(off, never, 0);
        TracyCZoneText(named, "c text", 6);
        TracyCZoneTextF(named, "c text %d", 2);
        TracyCZoneName(named, "c name", 6);
        TracyCZoneNameF(named, "c name %d", 2);
        TracyCZoneColor(both, 0xabcdef);
        TracyCZoneValue(both, 42);
        TracyCZoneText(off, never, 5);
        TracyCZoneEnd(off);
        TracyCZoneEnd(both);
        TracyCZoneEnd(coloured);
        TracyCZoneEnd(named);
        TracyCZoneEnd(plain);
        n_done += never[0] == 'n';
}

static void zones_with_callstack(void)
{
        TracyCZoneS(plain, 8, 1);
        TracyCZoneNS(named, "c stack named", 8, 1);
        TracyCZoneCS(coloured, 0x123456, 8, 1);
        TracyCZoneNCS(both, "c stack both", 0x654321, 8, 1);
        TracyCZoneEnd(both);
        TracyCZoneEnd(coloured);
        TracyCZoneEnd(named);
        TracyCZoneEnd(plain);
        n_done++;
}

static const unsigned char pixels[4 * 4 * 4] = { 255 };

static void moments(void)
{
        static const char *const made = "c run-time plot";

        TracyCFrameMark;
        TracyCFrameMarkNamed("c audio");
        TracyCFrameMarkStart("c physics");
        TracyCFrameMarkEnd("c physics");
        TracyCFrameImage(pixels, 4, 4, 0, 0);
        TracyCFrameImage(pixels, 3, 4, 0, 0);
        TracyCPlotConfig("c bytes", TracyPlotFormatMemory, 1, 0, 0xff0000);
        TracyCPlotI("c bytes", -3);
        TracyCPlotF("c float", 0.5f);
        TracyCPlot("c double", 0.25);
        TracyCPlotI(made, 1);
        TracyCMessage("c with a length", 15);
        TracyCMessageL("c literal");
        TracyCMessageC("c red", 5, 0xff0000);
        TracyCMessageLC("c green", 0x00ff00);
        TracyCMessageS("c stack", 7, 8);
        TracyCMessageLS("c stack literal", 8);
        TracyCMessageCS("c stack red", 11, 0xff0000, 8);
        TracyCMessageLCS("c stack green", 0x00ff00, 8);
        TracyCAppInfo("c version 3", 11);
        n_done += made[0] == 'c';
}

static void memory(void)
{
        static char block[64];
        static const char *const pool = "c arena";

        TracyCAlloc(block, 64);
        TracyCFree(block);
        TracyCAllocN(block, 32, "c pool");
        TracyCFreeN(block, "c pool");
        TracyCAllocN(block, 16, pool);
        TracyCMemoryDiscard(pool);
        TracyCAllocS(block, 63, 8);
        TracyCFreeS(block, 8);
        TracyCAllocNS(block, 31, 8, "c pool");
        TracyCFreeNS(block, 8, "c pool");
        TracyCMemoryDiscardS(pool, 8);
        TracyCSecureAlloc(block, 61);
        TracyCSecureFree(block);
        TracyCSecureAllocN(block, 29, "c pool");
        TracyCSecureFreeN(block, "c pool");
        TracyCSecureAllocS(block, 59, 8);
        TracyCSecureFreeS(block, 8);
        TracyCSecureAllocNS(block, 27, 8, "c pool");
        TracyCSecureFreeNS(block, 8, "c pool");
        TracyCSecureMemoryDiscard(pool);
        TracyCSecureMemoryDiscardS(pool, 8);
        n_done += block[0] == 0 && pool[0] == 'c';
}

static void locks(void)
{
        TracyCLockCtx lock = NULL;
        TracyCSharedLockCtx shared = NULL;

        TracyCLockAnnounce(lock);
        TracyCLockBeforeLock(lock);
        TracyCLockAfterLock(lock);
        TracyCLockMark(lock);
        TracyCLockCustomName(lock, "c lock", 6);
        TracyCLockAfterUnlock(lock);
        TracyCLockAfterTryLock(lock, 0);
        TracyCLockAfterTryLock(lock, 1);
        TracyCLockAfterUnlock(lock);
        TracyCLockTerminate(lock);
        TracyCSharedLockAnnounce(shared);
        TracyCSharedLockBeforeLock(shared);
        TracyCSharedLockAfterLock(shared);
        TracyCSharedLockMark(shared);
        TracyCSharedLockCustomName(shared, "c shared", 8);
        TracyCSharedLockAfterUnlock(shared);
        TracyCSharedLockAfterTryLock(shared, 1);
        TracyCSharedLockAfterUnlock(shared);
        TracyCSharedLockBeforeSharedLock(shared);
        TracyCSharedLockAfterSharedLock(shared);
        TracyCSharedLockAfterSharedUnlock(shared);
        TracyCSharedLockAfterTrySharedLock(shared, 1);
        TracyCSharedLockAfterSharedUnlock(shared);
        TracyCSharedLockTerminate(shared);
        (void)lock;
        (void)shared;
}

/* The semicolons are in the macros. */
/* clang-format off */
static void fibers(void)
{
        TracyCFiberEnter("c fiber")
        TracyCZoneN(zone, "c on a fiber", 1)
        TracyCFrameMark
        TracyCPlotI("c bytes", 4)
        TracyCZoneEnd(zone)
        TracyCFiberLeave
        n_done++;
}
/* clang-format on */

/* As bindings do it: constant locations, and those that are made at run time. */
static void functions(void)
{
#ifdef TRACY_ENABLE
        static const struct ___tracy_source_location_data place = { "f static", "functions", "file.c", 12,
                                                                    0x010203 };
        uint64_t made, made_named;
        TracyCZoneCtx zones[4], off;

        for (int i = 0; i < 2; i++) {
                zones[0] = ___tracy_emit_zone_begin(&place, 1);
                ___tracy_emit_zone_text(zones[0], "f text", 6);
                ___tracy_emit_zone_name(zones[0], "f name", 6);
                ___tracy_emit_zone_color(zones[0], 0x0a0b0c);
                ___tracy_emit_zone_value(zones[0], 3);
                ___tracy_emit_zone_end(zones[0]);
        }
        zones[0] = ___tracy_emit_zone_begin_callstack(&place, 8, 1);
        off = ___tracy_emit_zone_begin(&place, 0);
        made = ___tracy_alloc_srcloc(13, "made.py", 7, "made", 4, 0);
        zones[1] = ___tracy_emit_zone_begin_alloc(made, 1);
        made_named = ___tracy_alloc_srcloc_name(14, "made.py", 7, "made", 4, "f made", 6, 0x040506);
        zones[2] = ___tracy_emit_zone_begin_alloc(made_named, 1);
        made_named = ___tracy_alloc_srcloc_name(14, "made.py", 7, "made", 4, "f made", 6, 0x040506);
        zones[3] = ___tracy_emit_zone_begin_alloc_callstack(made_named, 8, 1);
        ___tracy_emit_zone_text_fmt(zones[3], "f text %s", "printed");
        ___tracy_emit_zone_name_fmt(zones[3], "f name %s", "printed");
        ___tracy_emit_zone_end(off);
        ___tracy_emit_zone_end(zones[3]);
        ___tracy_emit_zone_end(zones[2]);
        ___tracy_emit_zone_end(zones[1]);
        ___tracy_emit_zone_end(zones[0]);

        ___tracy_emit_frame_mark(NULL);
        ___tracy_emit_frame_mark("f frames");
        ___tracy_emit_frame_mark_start("f frames");
        ___tracy_emit_frame_mark_end("f frames");
        ___tracy_emit_frame_image(pixels, 4, 4, 0, 1);
        ___tracy_emit_plot_config("f plot", TracyPlotFormatPercentage, 0, 1, 0);
        ___tracy_emit_plot("f plot", 0.25);
        ___tracy_emit_plot_float("f plot", 0.5f);
        ___tracy_emit_plot_int("f plot", 7);
        ___tracy_emit_logString(TracyMessageSeverityError, 0x00ff00, 0, 7, "f error of this only");
        ___tracy_emit_logStringL(TracyMessageSeverityDebug, 0, 8, "f debug");
        ___tracy_emit_message("f message", 9, 0);
        ___tracy_emit_messageL("f literal", 0);
        ___tracy_emit_messageC("f red", 5, 0xff0000, 0);
        ___tracy_emit_messageLC("f green", 0x00ff00, 8);
        ___tracy_emit_message_appinfo("f version", 9);

        ___tracy_emit_memory_alloc(zones, 64 NOT_SECURE);
        ___tracy_emit_memory_free(zones NOT_SECURE);
        ___tracy_emit_memory_alloc_callstack(zones, 63, 8 NOT_SECURE);
        ___tracy_emit_memory_free_callstack(zones, 8 NOT_SECURE);
        ___tracy_emit_memory_alloc_named(zones, 62 NOT_SECURE, "f pool");
        ___tracy_emit_memory_free_named(zones NOT_SECURE, "f pool");
        ___tracy_emit_memory_alloc_callstack_named(zones, 61, 8 NOT_SECURE, "f pool");
        ___tracy_emit_memory_free_callstack_named(zones, 8 NOT_SECURE, "f pool");
        ___tracy_emit_memory_discard("f pool" NOT_SECURE);
        ___tracy_emit_memory_discard_callstack("f pool" NOT_SECURE, 8);

        ___tracy_fiber_enter("f fiber");
        ___tracy_fiber_leave();
        ___tracy_startup_profiler();
        ___tracy_end_sampling_profiling();
        n_done += ___tracy_profiler_started() && ___tracy_connected() <= 1 && ___tracy_get_time() > 0 &&
                  ___tracy_begin_sampling_profiling() <= 1;
        ___tracy_shutdown_profiler();
#else
        n_done++;
#endif
}

/* A device with a clock of 2 ns a tick: two zones, the second within the first, reported when all is over. */
static void gpu(void)
{
#ifdef TRACY_ENABLE
        static const struct ___tracy_source_location_data place = { "g outer", "gpu", "gpu.c", 1, 0 };
        uint64_t inner = ___tracy_alloc_srcloc_name(2, "gpu.c", 5, "gpu", 3, "g inner", 7, 0);

        ___tracy_emit_gpu_new_context_serial((struct ___tracy_gpu_new_context_data){
                .gpuTime = 1000, .period = 2.0f, .context = 5, .flags = 1, .type = 2 });
        ___tracy_emit_gpu_context_name_serial(
                (struct ___tracy_gpu_context_name_data){ .context = 5, .name = "the gpu!", .len = 7 });
        ___tracy_emit_gpu_zone_begin_serial((struct ___tracy_gpu_zone_begin_data){
                .srcloc = (uintptr_t)&place, .queryId = 0, .context = 5 });
        ___tracy_emit_gpu_zone_begin_alloc_callstack_serial((struct ___tracy_gpu_zone_begin_callstack_data){
                .srcloc = inner, .depth = 8, .queryId = 1, .context = 5 });
        ___tracy_emit_gpu_zone_end_serial((struct ___tracy_gpu_zone_end_data){ .queryId = 2, .context = 5 });
        ___tracy_emit_gpu_zone_end_serial((struct ___tracy_gpu_zone_end_data){ .queryId = 3, .context = 5 });
        for (uint16_t i = 0; i < 4; i++)
                ___tracy_emit_gpu_time_serial((struct ___tracy_gpu_time_data){
                        .gpuTime = 2000 + 500 * i, .queryId = i, .context = 5 });
        ___tracy_emit_gpu_calibration_serial(
                (struct ___tracy_gpu_calibration_data){ .gpuTime = 4000, .cpuDelta = 1, .context = 5 });
        ___tracy_emit_gpu_time_sync_serial(
                (struct ___tracy_gpu_time_sync_data){ .gpuTime = 5000, .context = 5 });

        /* A context that was never made: nothing. */
        ___tracy_emit_gpu_time((struct ___tracy_gpu_time_data){ .gpuTime = 1, .queryId = 1, .context = 9 });
#endif
        n_done++;
}

int main(void)
{
        TracyCSetThreadName("tracy c main");
        zones();
        zones_with_callstack();
        moments();
        memory();
        locks();
        fibers();
        functions();
        gpu();
        if (TracyCIsConnected && TracyCIsStarted && TracyCBeginSamplingProfiling())
                n_done += 0;
        TracyCEndSamplingProfiling();
        printf("%d done\n", n_done);
        return 0;
}
