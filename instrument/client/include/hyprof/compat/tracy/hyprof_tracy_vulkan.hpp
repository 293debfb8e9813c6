// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/hyprof_tracy_vulkan.hpp - the context and the zones of TracyVulkan.hpp
 *
 * Way of the data:  program -> TracyVulkan.hpp -> [hyprof_tracy_vulkan.hpp] -> hyprof_tracy_device.hpp
 *
 * Included by TracyVulkan.hpp; not for callers.
 */
#ifndef HYPROF_COMPAT_HYPROF_TRACY_VULKAN_HPP
#define HYPROF_COMPAT_HYPROF_TRACY_VULKAN_HPP

#include "hyprof_tracy_device.hpp"

#define HYPROF_TRACY_VULKAN_INSTANCE_(X) X(vkGetPhysicalDeviceProperties)
#define HYPROF_TRACY_VULKAN_DEVICE_(X) \
        X(vkCreateQueryPool)           \
        X(vkDestroyQueryPool)          \
        X(vkBeginCommandBuffer)        \
        X(vkEndCommandBuffer)          \
        X(vkQueueSubmit)               \
        X(vkQueueWaitIdle)             \
        X(vkCmdResetQueryPool)         \
        X(vkCmdWriteTimestamp)         \
        X(vkGetQueryPoolResults)

namespace tracy
{

namespace detail
{

/* The driver's functions; the last three may be NULL. */
struct vulkan_functions {
#define X(name) PFN_##name name;
        HYPROF_TRACY_VULKAN_INSTANCE_(X)
        HYPROF_TRACY_VULKAN_DEVICE_(X)
#undef X
        PFN_vkResetQueryPoolEXT reset;
        PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT domains;
        PFN_vkGetCalibratedTimestampsEXT timestamps;
};

} // namespace detail

class VkCtx
{
      public:
        /* @queue, @cmdbuf: VK_NULL_HANDLE if the program resets queries from the host. */
        VkCtx(const detail::vulkan_functions &f, VkPhysicalDevice physdev, VkDevice device, VkQueue queue,
              VkCommandBuffer cmdbuf)
            : f_(f), device_(device), ring_(new detail::query_ring("Vulkan", period_of(f, physdev), 2))
        {
                VkQueryPoolCreateInfo info = {};

                info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
                info.queryType = VK_QUERY_TYPE_TIMESTAMP;
                info.queryCount = detail::query_ring::n_places;
                if (f_.vkCreateQueryPool(device_, &info, nullptr, &pool_) != VK_SUCCESS)
                        return;
                if (cmdbuf)
                        run(queue, cmdbuf, reset_all);
                else
                        f_.reset(device_, pool_, 0, detail::query_ring::n_places);
                has_clock_ = f_.domains && f_.timestamps && find_domain(physdev);
                if (has_clock_)
                        calibrate();
                else if (cmdbuf)
                        calibrate_by(queue, cmdbuf);
        }
        /* The device's events stay: what names it is never freed. */
        ~VkCtx()
        {
                if (pool_)
                        f_.vkDestroyQueryPool(device_, pool_, nullptr);
        }
        VkCtx(const VkCtx &) = delete;
        VkCtx &operator=(const VkCtx &) = delete;

        void Name(const char *name, uint16_t name_bytes)
        {
                ring_->set_name(name, name_bytes);
        }
        /* Takes the results that are there, and resets their queries by @cmdbuf, or from the host. */
        void Collect(VkCommandBuffer cmdbuf)
        {
                const uint32_t first = ring_->oldest();
                const uint32_t n = pool_ ? ring_->waiting() : 0;
                uint32_t n_there = 0;

                if (has_clock_ && ring_->is_calibration_due())
                        calibrate();
                while (n_there < n) {
                        uint64_t result[2 * 64];
                        const uint32_t part = n - n_there < 64 ? n - n_there : 64;

                        const VkResult got = f_.vkGetQueryPoolResults(
                                device_, pool_, first + n_there, part, sizeof(result), result,
                                2 * sizeof(result[0]),
                                VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
                        uint32_t i = 0;
                        if (got != VK_SUCCESS && got != VK_NOT_READY)
                                break;
                        for (; i < part && result[2 * i + 1] != 0; i++)
                                ring_->tell_result(i, result[2 * i]);
                        ring_->free_places(i);
                        n_there += i;
                        if (i < part)
                                break;
                }
                if (n_there == 0)
                        return;
                if (cmdbuf)
                        f_.vkCmdResetQueryPool(cmdbuf, pool_, first, n_there);
                else if (f_.reset)
                        f_.reset(device_, pool_, first, n_there);
        }
        /* Returns false if the zone is not recorded. */
        bool begin(VkCommandBuffer cmdbuf, struct hyprof_location *location, int32_t depth)
        {
                const uint64_t number = pool_ && location ? ring_->take_begin() : detail::query_ring::none;

                if (number == detail::query_ring::none)
                        return false;
                f_.vkCmdWriteTimestamp(cmdbuf, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool_,
                                       detail::query_ring::place(number));
                ring_->begin(location, number, depth);
                return true;
        }
        void end(VkCommandBuffer cmdbuf)
        {
                const uint64_t number = ring_->take_end();

                f_.vkCmdWriteTimestamp(cmdbuf, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_,
                                       detail::query_ring::place(number));
                ring_->end(number);
        }

      private:
        enum commands { reset_all, write_first, reset_first };

        static double period_of(const detail::vulkan_functions &f, VkPhysicalDevice physdev)
        {
                VkPhysicalDeviceProperties properties;

                f.vkGetPhysicalDeviceProperties(physdev, &properties);
                return static_cast<double>(properties.limits.timestampPeriod);
        }
        /* Can the driver compare its clock with the recording's, or with one that goes beside it? */
        bool find_domain(VkPhysicalDevice physdev)
        {
                VkTimeDomainEXT domains[16];
                uint32_t n = 16;
                bool is_found = false;

                const VkResult got = f_.domains(physdev, &n, domains);
                if (got != VK_SUCCESS && got != VK_INCOMPLETE)
                        return false;
                for (uint32_t i = 0; i < n; i++) {
                        const bool is_raw = domains[i] == VK_TIME_DOMAIN_CLOCK_MONOTONIC_RAW_EXT;

                        if (!is_raw && (is_found || domains[i] != VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT))
                                continue;
                        domain_ = domains[i];
                        is_found = true;
                }
                return is_found;
        }
        void calibrate()
        {
                VkCalibratedTimestampInfoEXT clocks[2] = {};
                uint64_t times[2] = { 0, 0 };
                uint64_t deviation_ns = 0;

                for (VkCalibratedTimestampInfoEXT &clock : clocks)
                        clock.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT;
                clocks[0].timeDomain = VK_TIME_DOMAIN_DEVICE_EXT;
                clocks[1].timeDomain = domain_;
                if (f_.timestamps(device_, 2, clocks, times, &deviation_ns) != VK_SUCCESS)
                        return;
                uint64_t begin_ns = times[1] - deviation_ns, end_ns = times[1] + deviation_ns;
                if (domain_ == VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT) {
                        struct timespec now;
                        const uint64_t before = detail::device_now_ns();

                        clock_gettime(CLOCK_MONOTONIC, &now);
                        const uint64_t after = detail::device_now_ns();
                        const uint64_t there = static_cast<uint64_t>(now.tv_sec) * 1000000000 +
                                               static_cast<uint64_t>(now.tv_nsec);
                        begin_ns += before - there;
                        end_ns += after - there;
                }
                ring_->calibrate(times[0], begin_ns, end_ns);
        }
        /* Once, by a query that is waited for. */
        void calibrate_by(VkQueue queue, VkCommandBuffer cmdbuf)
        {
                const uint64_t before = detail::device_now_ns();
                uint64_t ticks = 0;

                run(queue, cmdbuf, write_first);
                const uint64_t after = detail::device_now_ns();
                if (f_.vkGetQueryPoolResults(device_, pool_, 0, 1, sizeof(ticks), &ticks, sizeof(ticks),
                                             VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT) == VK_SUCCESS)
                        ring_->calibrate(ticks, before, after);
                run(queue, cmdbuf, reset_first);
        }
        void run(VkQueue queue, VkCommandBuffer cmdbuf, commands what)
        {
                VkCommandBufferBeginInfo begin = {};
                VkSubmitInfo submit = {};

                begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
                begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
                submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
                submit.commandBufferCount = 1;
                submit.pCommandBuffers = &cmdbuf;
                f_.vkBeginCommandBuffer(cmdbuf, &begin);
                if (what == write_first)
                        f_.vkCmdWriteTimestamp(cmdbuf, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool_, 0);
                else
                        f_.vkCmdResetQueryPool(cmdbuf, pool_, 0,
                                               what == reset_all ? detail::query_ring::n_places : 1);
                f_.vkEndCommandBuffer(cmdbuf);
                f_.vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE);
                f_.vkQueueWaitIdle(queue);
        }

        detail::vulkan_functions f_;
        VkDevice device_;
        VkQueryPool pool_ = VK_NULL_HANDLE;
        bool has_clock_ = false;
        VkTimeDomainEXT domain_ = VK_TIME_DOMAIN_DEVICE_EXT;
        detail::query_ring *ring_;
};

class VkCtxScope
{
      public:
        VkCtxScope(VkCtx *context, const SourceLocationData *srcloc, VkCommandBuffer cmdbuf, bool is_active)
            : VkCtxScope(context, srcloc, cmdbuf, TRACY_CALLSTACK, is_active)
        {
        }
        VkCtxScope(VkCtx *context, const SourceLocationData *srcloc, VkCommandBuffer cmdbuf, int32_t depth,
                   bool is_active)
            : VkCtxScope(context, detail::location_of(srcloc), cmdbuf, depth, is_active)
        {
        }
        VkCtxScope(VkCtx *context, struct hyprof_location *location, VkCommandBuffer cmdbuf, int32_t depth,
                   bool is_active)
            : context_(is_active ? context : nullptr), cmdbuf_(cmdbuf)
        {
                if (context_ && !context_->begin(cmdbuf, location, depth))
                        context_ = nullptr;
        }
        ~VkCtxScope()
        {
                if (context_)
                        context_->end(cmdbuf_);
        }
        VkCtxScope(const VkCtxScope &) = delete;
        VkCtxScope &operator=(const VkCtxScope &) = delete;

      private:
        VkCtx *context_;
        VkCommandBuffer cmdbuf_;
};

namespace detail
{

inline void destroy_vulkan(VkCtx *context)
{
        delete context;
}

#ifdef TRACY_VK_USE_SYMBOL_TABLE
/* NULL if the driver lacks a function that is needed. */
inline VkCtx *make_vulkan(VkInstance instance, VkPhysicalDevice physdev, VkDevice device, VkQueue queue,
                          VkCommandBuffer cmdbuf, PFN_vkGetInstanceProcAddr of_instance,
                          PFN_vkGetDeviceProcAddr of_device, bool is_calibrated)
{
        vulkan_functions f = {};
        bool is_whole = true;

#define X(name) is_whole = (f.name = reinterpret_cast<PFN_##name>(of_instance(instance, #name))) && is_whole;
        HYPROF_TRACY_VULKAN_INSTANCE_(X)
#undef X
#define X(name) is_whole = (f.name = reinterpret_cast<PFN_##name>(of_device(device, #name))) && is_whole;
        HYPROF_TRACY_VULKAN_DEVICE_(X)
#undef X
        f.reset = reinterpret_cast<PFN_vkResetQueryPoolEXT>(of_device(device, "vkResetQueryPool"));
        if (is_calibrated) {
                f.domains = reinterpret_cast<PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT>(
                        of_instance(instance, "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT"));
                f.timestamps = reinterpret_cast<PFN_vkGetCalibratedTimestampsEXT>(
                        of_device(device, "vkGetCalibratedTimestampsEXT"));
        }
        return is_whole && (cmdbuf || f.reset) ? new VkCtx(f, physdev, device, queue, cmdbuf) : nullptr;
}
#else
inline vulkan_functions linked_functions()
{
        vulkan_functions f = {};

#define X(name) f.name = ::name;
        HYPROF_TRACY_VULKAN_INSTANCE_(X)
        HYPROF_TRACY_VULKAN_DEVICE_(X)
#undef X
        return f;
}

inline VkCtx *make_vulkan(VkPhysicalDevice physdev, VkDevice device, VkQueue queue, VkCommandBuffer cmdbuf,
                          PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT domains,
                          PFN_vkGetCalibratedTimestampsEXT timestamps)
{
        vulkan_functions f = linked_functions();

        f.domains = domains;
        f.timestamps = timestamps;
        return new VkCtx(f, physdev, device, queue, cmdbuf);
}

inline VkCtx *make_vulkan_of_host(VkPhysicalDevice physdev, VkDevice device, PFN_vkResetQueryPoolEXT reset,
                                  PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT domains,
                                  PFN_vkGetCalibratedTimestampsEXT timestamps)
{
        vulkan_functions f = linked_functions();

        f.reset = reset;
        f.domains = domains;
        f.timestamps = timestamps;
        return reset ? new VkCtx(f, physdev, device, VK_NULL_HANDLE, VK_NULL_HANDLE) : nullptr;
}
#endif

} // namespace detail

} // namespace tracy

#endif // HYPROF_COMPAT_HYPROF_TRACY_VULKAN_HPP
