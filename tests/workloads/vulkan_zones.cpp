// SPDX-License-Identifier: MIT
//
// vulkan_zones N plain|calibrated|host [late]
//
// Fills a buffer by Vulkan N times, each in a zone of the GPU inside of the zone "frame", without a window:
// Mesa's software renderer will do.  "late": once a recording has begun.  Exit status 77: there is no device
// of Vulkan, or it lacks what was asked for.  tests/integration/tracy_gpu.sh compiles it, also with
// TRACY_VK_USE_SYMBOL_TABLE.
#include <vulkan/vulkan.h>

#include <tracy/Tracy.hpp>
#include <tracy/TracyVulkan.hpp>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct machine {
        VkInstance instance;
        VkPhysicalDevice physical;
        VkDevice device;
        VkQueue queue;
        VkCommandBuffer commands, setup;
        VkBuffer buffer;
};

static bool make_device(machine *m)
{
        const char *extensions[] = { VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME };
        const float priority = 1;
        uint32_t n = 1;

        VkApplicationInfo application = {};
        application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
        application.apiVersion = VK_API_VERSION_1_2;
        VkInstanceCreateInfo instance = {};
        instance.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
        instance.pApplicationInfo = &application;
        if (vkCreateInstance(&instance, nullptr, &m->instance) != VK_SUCCESS)
                return false;
        vkEnumeratePhysicalDevices(m->instance, &n, &m->physical);
        if (n == 0)
                return false;
        VkDeviceQueueCreateInfo queue = {};
        queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
        queue.queueCount = 1;
        queue.pQueuePriorities = &priority;
        VkPhysicalDeviceVulkan12Features features = {};
        features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
        features.hostQueryReset = VK_TRUE;
        VkDeviceCreateInfo device = {};
        device.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
        device.pNext = &features;
        device.queueCreateInfoCount = 1;
        device.pQueueCreateInfos = &queue;
        device.enabledExtensionCount = 1;
        device.ppEnabledExtensionNames = extensions;
        if (vkCreateDevice(m->physical, &device, nullptr, &m->device) != VK_SUCCESS)
                return false;
        vkGetDeviceQueue(m->device, 0, 0, &m->queue);
        return true;
}

static bool make_commands(machine *m)
{
        VkCommandBuffer buffers[2];

        VkCommandPoolCreateInfo pool_info = {};
        pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        pool_info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
        VkCommandPool pool;
        if (vkCreateCommandPool(m->device, &pool_info, nullptr, &pool) != VK_SUCCESS)
                return false;
        VkCommandBufferAllocateInfo allocate = {};
        allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        allocate.commandPool = pool;
        allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        allocate.commandBufferCount = 2;
        if (vkAllocateCommandBuffers(m->device, &allocate, buffers) != VK_SUCCESS)
                return false;
        m->commands = buffers[0];
        m->setup = buffers[1];
        return true;
}

static bool make_buffer(machine *m)
{
        VkMemoryRequirements needs;
        VkDeviceMemory memory;

        VkBufferCreateInfo info = {};
        info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
        info.size = 65536;
        info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
        if (vkCreateBuffer(m->device, &info, nullptr, &m->buffer) != VK_SUCCESS)
                return false;
        vkGetBufferMemoryRequirements(m->device, m->buffer, &needs);
        VkMemoryAllocateInfo allocate = {};
        allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
        allocate.allocationSize = needs.size;
        return vkAllocateMemory(m->device, &allocate, nullptr, &memory) == VK_SUCCESS &&
               vkBindBufferMemory(m->device, m->buffer, memory, 0) == VK_SUCCESS;
}

static TracyVkCtx make_context(const machine *m, const char *kind)
{
        const auto domains = reinterpret_cast<PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT>(
                vkGetInstanceProcAddr(m->instance, "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT"));
        const auto timestamps = reinterpret_cast<PFN_vkGetCalibratedTimestampsEXT>(
                vkGetDeviceProcAddr(m->device, "vkGetCalibratedTimestampsEXT"));
        const auto reset = reinterpret_cast<PFN_vkResetQueryPoolEXT>(
                vkGetDeviceProcAddr(m->device, "vkResetQueryPool"));

#ifdef TRACY_VK_USE_SYMBOL_TABLE
        (void)domains, (void)timestamps, (void)reset;
        if (strcmp(kind, "host") == 0)
                return TracyVkContextHostCalibrated(m->instance, m->physical, m->device,
                                                    vkGetInstanceProcAddr, vkGetDeviceProcAddr);
        if (strcmp(kind, "calibrated") == 0)
                return TracyVkContextCalibrated(m->instance, m->physical, m->device, m->queue, m->setup,
                                                vkGetInstanceProcAddr, vkGetDeviceProcAddr);
        return TracyVkContext(m->instance, m->physical, m->device, m->queue, m->setup, vkGetInstanceProcAddr,
                              vkGetDeviceProcAddr);
#else
        if (strcmp(kind, "host") == 0)
                return TracyVkContextHostCalibrated(m->physical, m->device, reset, domains, timestamps);
        if (strcmp(kind, "calibrated") == 0)
                return TracyVkContextCalibrated(m->physical, m->device, m->queue, m->setup, domains,
                                                timestamps);
        return TracyVkContext(m->physical, m->device, m->queue, m->setup);
#endif
}

static void submit(const machine *m)
{
        VkSubmitInfo info = {};

        info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
        info.commandBufferCount = 1;
        info.pCommandBuffers = &m->commands;
        vkQueueSubmit(m->queue, 1, &info, VK_NULL_HANDLE);
        vkQueueWaitIdle(m->queue);
}

static void frame(const machine *m, TracyVkCtx context, const char *kind, int i)
{
        VkCommandBufferBeginInfo info = {};

        info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
        vkBeginCommandBuffer(m->commands, &info);
        if (strcmp(kind, "host") == 0) {
                TracyVkCollectHost(context);
        } else {
                TracyVkCollect(context, m->commands);
        }
        {
                TracyVkNamedZoneC(context, whole, m->commands, "frame", 0x00ff00, true);
                {
                        TracyVkZone(context, m->commands, "fill");
                        vkCmdFillBuffer(m->commands, m->buffer, 0, VK_WHOLE_SIZE, static_cast<uint32_t>(i));
                }
                TracyVkNamedZone(context, odd, m->commands, "odd", i % 2 == 1);
                TracyVkZoneTransient(context, made, m->commands, i % 2 ? "made one" : "made two", true);
        }
        vkEndCommandBuffer(m->commands);
        submit(m);
}

int main(int argc, char **argv)
{
        const int n = argc > 1 ? atoi(argv[1]) : 100;
        const char *kind = argc > 2 ? argv[2] : "plain";
        machine m = {};

        if (!make_device(&m) || !make_commands(&m) || !make_buffer(&m))
                return 77;
        TracyVkCtx context = make_context(&m, kind);
        TracyVkContextName(context, "vulkan queue", 12);
        while (argc > 3 && !TracyIsConnected)
                usleep(1000);
        for (int i = 0; i < n; i++)
                frame(&m, context, kind, i);
        VkCommandBufferBeginInfo info = {};
        info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
        vkBeginCommandBuffer(m.commands, &info);
        TracyVkCollect(context, m.commands);
        vkEndCommandBuffer(m.commands);
        submit(&m);
        TracyVkDestroy(context);
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(m.physical, &properties);
        printf("%s\n", properties.deviceName);
        return 0;
}
