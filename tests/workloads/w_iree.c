/* SPDX-License-Identifier: MIT */
/*
 * w_iree
 *
 * Uses each macro and function of IREE's tracing once, as IREE's sources do; in C, and in C++ when compiled
 * as that.  Truth: tests/integration/iree_provider.sh.
 */
#include "tests/workloads/iree_tracing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITE(variable)                                                                                   \
        static const iree_tracing_location_t TracyConcat(__tracy_source_location,                        \
                                                         __LINE__) = { HYPROF_NULL_, __func__, __FILE__, \
                                                                       (uint32_t)__LINE__, 0 };          \
        const iree_tracing_location_t *variable = &TracyConcat(__tracy_source_location, __LINE__)

#define POOL       "device-local"
#define LONG_BYTES 100000

IREE_TRACE(static const char *plot_name = "queue-depth";)

struct traced {
        int ordinary;
        IREE_TRACE(const char *trace_name;)
};

static int fails(int status)
{
        return status;
}

static int returns_early(void)
{
        IREE_TRACE_ZONE_BEGIN_NAMED(z0, "early");
        IREE_RETURN_AND_END_ZONE_IF_ERROR(z0, fails(0));
        IREE_RETURN_AND_END_ZONE_IF_ERROR(z0, fails(7));
        IREE_TRACE_ZONE_END(z0);
        return 0;
}

static int returns_late(int sum)
{
        IREE_TRACE_ZONE_BEGIN_NAMED(z0, "late");
        if (sum > 0)
                IREE_RETURN_AND_END_ZONE(z0, sum + 1);
        IREE_TRACE_ZONE_END(z0);
        return 0;
}

static void zones(void)
{
        const char *names[] = { "dispatch_a", "dispatch_b" };
        int i;

        (void)names;
        IREE_TRACE_ZONE_BEGIN(z0);
        IREE_TRACE_ZONE_APPEND_TEXT(z0, "a string");
        IREE_TRACE_ZONE_APPEND_TEXT(z0, "part of a string", 4);
        IREE_TRACE_ZONE_APPEND_VALUE_I64(z0, -5);
        IREE_TRACE_ZONE_APPEND_VALUE_I64(z0, 6u);
        IREE_TRACE_ZONE_SET_COLOR(z0, 0xff332211u);
        for (i = 0; i < 2; i++) {
                IREE_TRACE_ZONE_BEGIN_NAMED_DYNAMIC(z1, names[i], strlen(names[i]));
                IREE_TRACE_ZONE_END(z1);
        }
        {
                IREE_TRACE_ZONE_BEGIN_EXTERNAL(z1, "model.mlir", 10, 42, "matmul_and_more", 6, HYPROF_NULL_,
                                               0);
                IREE_TRACE_ZONE_END(z1);
        }
        {
                IREE_TRACE_ZONE_BEGIN_EXTERNAL(z1, "model.mlir", 10, 43, "matmul", 6, "named", 5);
                IREE_TRACE_ZONE_END(z1);
        }
        if (returns_early() != 7 || returns_late(1) != 2)
                exit(EXIT_FAILURE);
        {
                iree_zone_id_t none = 0;

                IREE_TRACE_ZONE_APPEND_TEXT(none, "to no zone");
                IREE_TRACE_ZONE_APPEND_VALUE_I64(none, 1);
                IREE_TRACE_ZONE_SET_COLOR(none, 1);
                IREE_TRACE_ZONE_END(none);
        }
        {
                IREE_TRACE_ZONE_BEGIN_NAMED(leaked, "leaked");
                (void)leaked;
        }
        IREE_TRACE_ZONE_END(z0);
}

static void plots_and_frames(void)
{
        char *name = (char *)malloc(16);

        if (!name)
                exit(EXIT_FAILURE);
        (void)snprintf(name, 16, "executor-%d", 1);
        IREE_TRACE_SET_PLOT_TYPE(name, IREE_TRACING_PLOT_TYPE_PERCENTAGE, /*step=*/true, /*fill=*/true,
                                 0xff1f883du);
        IREE_TRACE_SET_PLOT_TYPE(name, IREE_TRACING_PLOT_TYPE_PERCENTAGE, true, true, 0xff1f883du);
        IREE_TRACE_SET_PLOT_TYPE(plot_name, IREE_TRACING_PLOT_TYPE_NUMBER, false, false, 0);
        IREE_TRACE_SET_PLOT_TYPE("bytes", IREE_TRACING_PLOT_TYPE_MEMORY, true, false, 0);
        IREE_TRACE_PLOT_VALUE_F32(name, 0.5f);
        IREE_TRACE_PLOT_VALUE_I64(plot_name, -7);
        IREE_TRACE_PLOT_VALUE_F64("bytes", 0.25);
        free(name); /* IREE never does */

        IREE_TRACE_FRAME_MARK();
        IREE_TRACE_FRAME_MARK_NAMED("Iteration");
        IREE_TRACE_FRAME_MARK_BEGIN_NAMED("init");
        IREE_TRACE_FRAME_MARK_END_NAMED("init");
}

static void messages(void)
{
        char *text = (char *)malloc(LONG_BYTES);

        if (!text)
                exit(EXIT_FAILURE);
        memset(text, 'x', LONG_BYTES);
        IREE_TRACE_MESSAGE(ERROR, "an error");
        IREE_TRACE_MESSAGE(WARNING, "a warning");
        IREE_TRACE_MESSAGE(INFO, "an info");
        IREE_TRACE_MESSAGE(VERBOSE, "a detail");
        IREE_TRACE_MESSAGE(DEBUG, "a debug");
        IREE_TRACE_MESSAGE_COLORED(0xff123456u, "in color");
        IREE_TRACE_MESSAGE_DYNAMIC(WARNING, "dynamic and more", 7);
        IREE_TRACE_MESSAGE_DYNAMIC_COLORED(IREE_TRACING_MESSAGE_LEVEL_ERROR, text, LONG_BYTES);
        free(text);
}

static void memory(void)
{
        char *block = (char *)malloc(100);
        void *before = iree_tracing_obscure_ptr(block);
        char *larger;

        if (!block)
                exit(EXIT_FAILURE);
        IREE_TRACE_ALLOC(block, 100);
        larger = (char *)realloc(block, 200);
        if (!larger)
                exit(EXIT_FAILURE);
        IREE_TRACE_FREE(before);
        IREE_TRACE_ALLOC(larger, 200);
        (void)before;
        IREE_TRACE_FREE(larger);
        free(larger);
        IREE_TRACE_ALLOC_NAMED(POOL, (void *)0x1000, 4096);
        IREE_TRACE_FREE_NAMED(POOL, (void *)0x1000);
}

#if IREE_TRACING_FEATURES & (IREE_TRACING_FEATURE_SLOW_LOCKS | IREE_TRACING_FEATURE_FAST_LOCKS)
static uint32_t new_lock(void)
{
        uint32_t id = 0;

        SITE(site);
        iree_tracing_mutex_announce(site, &id);
        return id;
}

static void locks(void)
{
        uint32_t first = new_lock();
        uint32_t second = new_lock();
        uint32_t third;

        iree_tracing_mutex_before_lock(first);
        iree_tracing_mutex_after_lock(first);
        iree_tracing_mutex_after_unlock(first);
        iree_tracing_mutex_after_try_lock(second, false);
        iree_tracing_mutex_after_try_lock(second, true);
        iree_tracing_mutex_after_unlock(second);
        iree_tracing_mutex_terminate(first);
        third = new_lock(); /* takes the place of the first */
        if (first == 0 || second == 0 || first == second || third != first)
                exit(EXIT_FAILURE);
        iree_tracing_mutex_terminate(second);
        iree_tracing_mutex_terminate(third);
        iree_tracing_mutex_terminate(0);
}
#else
static void locks(void)
{
}
#endif

#if IREE_TRACING_FEATURES & IREE_TRACING_FEATURE_INSTRUMENTATION_DEVICE
static void device(void)
{
        int64_t now = iree_tracing_time();
        uint8_t queue = iree_tracing_gpu_context_allocate(IREE_TRACING_GPU_CONTEXT_TYPE_VULKAN,
                                                          "queue-0 and more", 7,
                                                          /*is_calibrated=*/false, (uint64_t)now, 1000, 1.0f);

        if (iree_tracing_frequency() != 1000000000 || now <= 0)
                exit(EXIT_FAILURE);
        SITE(site);
        iree_tracing_gpu_zone_begin(queue, 1, site);
        iree_tracing_gpu_zone_begin_external(queue, 2, "gpu.mlir", 8, 7, "kernel", 6, HYPROF_NULL_, 0);
        iree_tracing_gpu_zone_end(queue, 3);
        iree_tracing_gpu_zone_end(queue, 4);
        iree_tracing_gpu_zone_begin(queue, 5, site); /* never submitted */
        iree_tracing_gpu_zone_end(queue, 6);
        iree_tracing_gpu_zone_notify(queue, 1, 2000);
        iree_tracing_gpu_zone_notify(queue, 2, 3000);
        iree_tracing_gpu_zone_notify(queue, 3, 4000);
        iree_tracing_gpu_zone_notify(queue, 4, 5000);
        iree_tracing_gpu_zone_notify(queue, 5, 0);
        iree_tracing_gpu_zone_notify(queue, 6, 0);
        iree_tracing_gpu_context_calibrate(queue, 1000, now + 1000, 2000);
}
#else
static void device(void)
{
}
#endif

static void fibers(void)
{
        char *invocation = (char *)malloc(16);

        if (!invocation)
                exit(EXIT_FAILURE);
        (void)snprintf(invocation, 16, "invoke-%04d", 3);
        {
                IREE_TRACE_FIBER_ENTER((intptr_t)invocation);
                IREE_TRACE_ZONE_BEGIN_NAMED(on_fiber, "on the fiber");
                IREE_TRACE_FIBER_LEAVE();
                {
                        IREE_TRACE_ZONE_BEGIN_NAMED(on_thread, "on the thread");
                        IREE_TRACE_ZONE_END(on_thread);
                }
                IREE_TRACE_FIBER_ENTER((intptr_t)invocation);
                IREE_TRACE_ZONE_END(on_fiber);
                IREE_TRACE_FIBER_LEAVE();
        }
        free(invocation); /* IREE never does */
}

#ifdef __cplusplus
static void scopes()
{
        IREE_TRACE_SCOPE();
        {
                IREE_TRACE_SCOPE_NAMED("inner scope");
                IREE_TRACE_ZONE_APPEND_TEXT(IREE_TRACE_SCOPE_ID, "of the inner scope");
                IREE_TRACE_ZONE_APPEND_VALUE_I64(IREE_TRACE_SCOPE_ID, 8);
        }
        IREE_TRACE_ZONE_APPEND_TEXT(IREE_TRACE_SCOPE_ID, "of the outer", 12);
}
#endif

int main(void)
{
        static const char source[] = "module { func.func @main() { return } }\n";
        struct traced t;

        t.ordinary = 0;
        IREE_TRACE(t.trace_name = "traced");
        IREE_TRACE_APP_ENTER();
        IREE_TRACE_SET_APP_INFO("w_iree, version 1 and more", 17);
        IREE_TRACE_SET_THREAD_NAME("iree-main");
        IREE_TRACE_PUBLISH_SOURCE_FILE("model.mlir", 10, (const void *)source, sizeof(source) - 1);
        zones();
        plots_and_frames();
        messages();
        memory();
        locks();
        device();
        fibers();
#ifdef __cplusplus
        scopes();
#endif
        IREE_TRACE_APP_EXIT(t.ordinary);
        return (void)source, t.ordinary;
}
