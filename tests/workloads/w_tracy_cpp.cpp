// SPDX-License-Identifier: MIT
//
// w_tracy_cpp
//
// A program that knows Tracy alone: every macro of Tracy.hpp.  Without
// TRACY_ENABLE it prints the same.
//
// Truth: what tests/integration/tracy_compat.sh lists, on the thread
// "tracy main", in the order of the source; one more thread, "tracy helper" in
// group 7, holds the lock "contended" while the main one waits for it.
#include <tracy/Tracy.hpp>
#include <tracy/TracyCUDA.hpp>
#include <tracy/TracyD3D11.hpp>
#include <tracy/TracyD3D12.hpp>
#include <tracy/TracyOpenCL.hpp>
#include <tracy/TracyOpenGL.hpp>
#include <tracy/TracyWebGPU.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

#if __cplusplus >= 201703L
#include <shared_mutex>
#else
/* C++11 has no lock to share; this one will do. */
namespace std
{
struct shared_mutex {
        void lock()
        {
        }
        bool try_lock()
        {
                return true;
        }
        void unlock()
        {
        }
        void lock_shared()
        {
        }
        bool try_lock_shared()
        {
                return true;
        }
        void unlock_shared()
        {
        }
};
} // namespace std
#endif

static int n_done;

static void zones()
{
        const std::string text = "from a string";
        {
                ZoneScoped;
                ZoneText("words", 5);
                ZoneText(text.data(), text.size());
                ZoneTextF("number %d", 7);
                ZoneTextF("no arguments");
                n_done++;
        }
        {
                ZoneScopedN("named");
                ZoneName("renamed", 7);
                ZoneNameF("renamed %s", "again");
                ZoneColor(0x123456);
                ZoneValue(42);
                if (ZoneIsActive) {
                        ZoneText("is active", 9);
                }
                n_done++;
                {
                        ZoneScopedNC("inner", tracy::Color::SlateBlue);
                        ZoneText("of the inner one", 16);
                        n_done++;
                }
                ZoneText("of the outer one", 16);
        }
        {
                ZoneScopedC(tracy::Color::Red4);
                n_done++;
        }
        {
                ZoneNamed(one, true);
                ZoneNamedN(two, "two", true);
                ZoneNamedC(three, 0x010203, true);
                ZoneNamedNC(four, "four", tracy::Color::Tomato, true);
                ZoneNamedN(none, "never", false);
                ZoneTextV(two, "of two", 6);
                ZoneTextVF(two, "of %s", "two, printed");
                ZoneNameV(one, "the first", 9);
                ZoneNameVF(one, "the %s", "first again");
                ZoneColorV(three, 0x040506);
                ZoneValueV(four, UINT64_MAX);
                ZoneTextV(none, "never", 5);
                if (ZoneIsActiveV(none)) {
                        ZoneTextV(two, "never", 5);
                }
                n_done++;
        }
        {
                const std::string name = "made of " + std::to_string(3);
                ZoneTransient(plain, true);
                ZoneTransientN(made, name.c_str(), true);
                ZoneTransientNC(coloured, "made and coloured", 0x112233, true);
                ZoneTransientN(never, name.c_str(), false);
                n_done++;
        }
        {
                const std::string line(100000, 'x');
                ZoneScopedN("long text");
                ZoneText(line.data(), line.size());
                ZoneTextF("%s", line.c_str());
                n_done += static_cast<int>(line.size() / 100000);
        }
}

__attribute__((noinline)) static void zones_with_callstack()
{
        ZoneScopedS(8);
        {
                ZoneScopedNS("stack named", 8);
                n_done++;
        }
}

__attribute__((noinline)) static void more_zones_with_callstack()
{
        {
                ZoneScopedCS(0x223344, 8);
                n_done++;
        }
        {
                ZoneScopedNCS("stack named coloured", 0x334455, 8);
                n_done++;
        }
        ZoneNamedS(a, 8, true);
        ZoneNamedNS(b, "stack b", 8, true);
        ZoneNamedCS(c, 0x445566, 8, true);
        ZoneNamedNCS(d, "stack d", 0x556677, 8, true);
        ZoneTransientS(e, 8, true);
        ZoneTransientNS(f, "stack f", 8, true);
}

static void moments()
{
        static const unsigned char pixels[4 * 6 * 4] = { 255 };
        static const char *const frames[] = { "run-time frames", "other run-time frames" };

        FrameMark;
        FrameMarkNamed("audio");
        FrameMarkStart("physics");
        FrameMarkEnd("physics");
        for (const char *name : frames) {
                FrameMarkNamed(name);
                n_done += name[0] == 'r';
        }
        FrameImage(pixels, 4, 4, 0, false);
        FrameImage(pixels, 4, 6, 0, false);

        TracyPlotConfig("bytes", tracy::PlotFormatType::Memory, true, false, 0xff0000);
        TracyPlotConfig(frames[0], tracy::PlotFormatType::Percentage, false, true, 0);
        TracyPlot("bytes", int64_t(-3));
        TracyPlot("float", 0.5f);
        TracyPlot("double", 0.25);
        TracyPlot(frames[0], int64_t(1));
        std::atomic<int64_t> pending(5);
        TracyPlot("pending", pending);
        TracyPlot("yes", true);
        TracyPlot("unsigned", sizeof(char));
        n_done += static_cast<int>(pending) - 5;

        TracyMessage("with a length", 13);
        TracyMessageL("a literal");
        TracyMessageL((std::string("text that lives until the message") + " has been written").c_str());
        TracyMessageC("red", 3, 0xff0000);
        TracyMessageLC("green", 0x00ff00);
        TracyMessageS("stack", 5, 8);
        TracyMessageLS("stack literal", 8);
        TracyMessageCS("stack red", 9, 0xff0000, 8);
        TracyMessageLCS("stack green", 0x00ff00, 8);
        TracyLogString(tracy::MessageSeverity::Fatal, tracy::Color::Red, 0, "fatal");
        TracyLogString(tracy::MessageSeverity::Trace, 0, 0, 9, "trace of this only");
        TracyAppInfo("version 3", 9);
        n_done++;
}

static void memory()
{
        static char block[64];
        static const char *const pool = "arena";

        TracyAlloc(block, 64);
        TracyFree(block);
        TracyAllocN(block, 32, "pool");
        TracyFreeN(block, "pool");
        TracyAllocN(block, 16, pool);
        TracyMemoryDiscard(pool);
        TracyAllocS(block, 63, 8);
        TracyFreeS(block, 8);
        TracyAllocNS(block, 31, 8, "pool");
        TracyFreeNS(block, 8, "pool");
        TracyMemoryDiscardS(pool, 8);
        TracySecureAlloc(block, 61);
        TracySecureFree(block);
        TracySecureAllocN(block, 29, "pool");
        TracySecureFreeN(block, "pool");
        TracySecureAllocS(block, 59, 8);
        TracySecureFreeS(block, 8);
        TracySecureAllocNS(block, 27, 8, "pool");
        TracySecureFreeNS(block, 8, "pool");
        TracySecureMemoryDiscard(pool);
        TracySecureMemoryDiscardS(pool, 8);
        n_done += block[0] == 0 && pool[0] == 'a';
}

static TracyLockable(std::mutex, global_mutex);
static TracySharedLockableN(std::shared_mutex, global_shared, "shared one");
static TracyLockableN(std::mutex, contended, "contended");

struct account {
        TracyLockable(std::recursive_mutex, member_mutex);
        mutable TracySharedLockable(std::shared_mutex, member_shared);
        std::condition_variable_any changed;
        int value = 0;
};

static std::atomic<int> stage(0);

/* Until the main thread waits in the kernel. */
static void wait_for_sleep()
{
        for (;;) {
                char line[512] = "";
                FILE *stat = fopen("/proc/self/stat", "r");

                if (!stat || !fgets(line, sizeof(line), stat))
                        abort();
                fclose(stat);
                if (strstr(line, ") S "))
                        return;
                std::this_thread::yield();
        }
}

static void helper()
{
        tracy::SetThreadNameWithHint("tracy helper", 7);
        std::lock_guard<LockableBase(std::mutex)> guard(contended);
        stage = 1;
        while (stage == 1)
                std::this_thread::yield();
        wait_for_sleep();
}

static void locks()
{
        account one;
        {
                std::lock_guard<LockableBase(std::mutex)> guard(global_mutex);
                LockMark(global_mutex);
                LockableName(global_mutex, "the global one", 14);
                n_done++;
        }
        {
                std::unique_lock<LockableBase(std::mutex)> guard(global_mutex, std::try_to_lock);
                n_done += guard.owns_lock();
        }
        {
                std::unique_lock<LockableBase(std::recursive_mutex)> guard(one.member_mutex);
                one.value++;
                one.changed.wait_for(guard, std::chrono::milliseconds(1), [&one] { return one.value > 0; });
        }
        global_shared.lock_shared();
        global_shared.unlock_shared();
        n_done += global_shared.try_lock_shared();
        global_shared.unlock_shared();
        {
                std::lock_guard<SharedLockableBase(std::shared_mutex)> guard(global_shared);
                LockMark(global_shared);
                LockableName(global_shared, "the shared one", 14);
                n_done++;
        }
        {
                std::lock_guard<SharedLockableBase(std::shared_mutex)> guard(one.member_shared);
                n_done++;
        }

        std::thread other(helper);
        while (stage == 0)
                std::this_thread::yield();
        stage = 2;
        contended.lock();
        contended.unlock();
        other.join();
}

static void own_lock()
{
#ifdef TRACY_ENABLE
        static constexpr tracy::SourceLocationData place{ nullptr, "own lock", TracyFile, TracyLine, 0 };
        tracy::LockableCtx own(&place);
        tracy::SharedLockableCtx shared(&place);

        if (own.BeforeLock())
                own.AfterLock();
        own.Mark(&place);
        own.CustomName("mine", 4);
        own.AfterUnlock();
        own.AfterTryLock(false);
        own.AfterTryLock(true);
        own.AfterUnlock();
        if (shared.BeforeLock())
                shared.AfterLock();
        shared.AfterUnlock();
        if (shared.BeforeLockShared())
                shared.AfterLockShared();
        shared.AfterUnlockShared();
        shared.AfterTryLockShared(true);
        shared.AfterUnlockShared();

        tracy::ScopedZone zone(&place, 0, true);
        tracy::ScopedZone made(12, "file.cpp", 8, "function", 8, "by hand", 7, 0x0a0b0c, -1, true);
        made.Text("both by hand", 12);
#endif
}

static void fibers()
{
        TracyFiberEnter("fiber one");
        {
                ZoneScopedN("on a fiber");
                TracyFiberEnterHint("fiber two", 3);
                TracyFiberEnter("fiber one");
                n_done++;
        }
        TracyFiberLeave;
}

static int32_t parameter;

static void program()
{
        const auto level = TracySectionEnter("level %d", 3);
        const auto boss = TracySectionEnterCategory(2, "boss");

        TracySectionSetup(2, "fights");
        TracySectionLeave(level);
        TracySectionLeave(boss);

        TracyParameterRegister([](void *, uint32_t, int32_t value) { parameter = value; }, nullptr);
        TracyParameterSetup(0, "speed", TracyParamTypeInt, 3);
        TracySourceCallbackRegister(
                [](void *, const char *, size_t &size) {
                        size = 0;
                        return static_cast<char *>(nullptr);
                },
                nullptr);
        TracySetProgramName("tracy workload");
        TracyNoop;
        if (TracyIsConnected) {
                ZoneScopedN("connected");
        }
        if (TracyIsStarted)
                n_done += 0;
        n_done += parameter == 0 && level + 0 * boss + 1 > 0;
}

static void gpu()
{
        TracyGpuContext;
        TracyGpuZone("nothing");
        TracyGpuCollect;
        TracyCLCtx opencl = TracyCLContext(0, 0);
        TracyCLZone(opencl, "nothing");
        TracyD3D11Ctx d3d11 = TracyD3D11Context(0, 0);
        TracyD3D12Ctx d3d12 = TracyD3D12Context(0, 0);
        TracyWebGPUCtx webgpu = TracyWebGPUContext(0, 0, 0);
        auto cuda = TracyCUDAContext();
        TracyCUDACollect(cuda);
        n_done += !opencl && !d3d11 && !d3d12 && !webgpu && cuda == nullptr;
}

int main()
{
        tracy::SetThreadName("tracy main");
        zones();
        zones_with_callstack();
        more_zones_with_callstack();
        moments();
        memory();
        locks();
        own_lock();
        fibers();
        program();
        gpu();
        printf("%d done\n", n_done);
        return 0;
}
