// SPDX-License-Identifier: MIT
/*
 * tests/bench/peer_costs.cpp - what instrumentation costs its program, in the macros that
 * hyprof and Tracy share
 *
 * Built twice from this one source, with hyprof's headers and with Tracy's, so
 * that both are measured alike.  Prints a line for each case: its name and the
 * CPU time of one operation in ns, the median of N_ROUNDS.  Rounds of all cases
 * alternate; a round is bursts with pauses, so that a consumer keeps up and what
 * is measured is writing, not waiting or dropping.
 *
 *      peer_costs [bare]    "bare": without the cases that need a recorder
 */
#include <tracy/Tracy.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>
#include <time.h>
#include <vector>

namespace
{
const int N_ROUNDS = 9;
const int N_BURSTS = 15;
const int N_OPERATIONS = 4000; /* of a burst: the largest, 100 KB of events, fit in any ring */
const int DEPTH = 8;

int64_t cpu_ns()
{
        struct timespec t;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

void pause_ms(int ms)
{
        struct timespec t = { 0, ms * 1000000 };

        nanosleep(&t, nullptr);
}

uint64_t ticks()
{
#if defined(__x86_64__)
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
        uint64_t t;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
        return t;
#else
        uint64_t t;
        __asm__ volatile("rdtime %0" : "=r"(t));
        return t;
#endif
}

double median(std::vector<double> values)
{
        std::sort(values.begin(), values.end());
        return values[values.size() / 2];
}

/* The median of bursts: one that was interrupted does not count. */
template <typename Operation> double measure(Operation operation)
{
        std::vector<double> bursts;

        for (int burst = 0; burst < N_BURSTS; burst++) {
                int64_t begin_ns = cpu_ns();

                for (int i = 0; i < N_OPERATIONS; i++)
                        operation(i);
                bursts.push_back(double(cpu_ns() - begin_ns) / N_OPERATIONS);
                pause_ms(3);
        }
        return median(bursts);
}

void nothing(int)
{
        __asm__ volatile("");
}

void two_stamps(int)
{
        uint64_t first = ticks(), second = ticks();

        __asm__ volatile("" : : "r"(first), "r"(second));
}

void zone(int)
{
        ZoneScopedN("measured");
        __asm__ volatile("");
}

__attribute__((noinline)) void zone_with_stack(int left)
{
        if (left > 0) {
                zone_with_stack(left - 1);
                __asm__ volatile("");
                return;
        }
        ZoneScopedNS("stack", DEPTH);
        __asm__ volatile("");
}

__attribute__((noinline)) void recurse(int left)
{
        if (left > 0)
                recurse(left - 1);
        __asm__ volatile("");
}

void alloc_and_free(int i)
{
        void *address = reinterpret_cast<void *>(uintptr_t(0x100000 + 64 * i));

        TracyAlloc(address, 64);
        TracyFree(address);
}

void zone_with_text(int)
{
        ZoneScopedN("with text");
        ZoneText("twenty bytes of text", 20);
}

void zone_with_value(int i)
{
        ZoneScopedN("with value");
        ZoneValue(uint64_t(i));
}

void zone_transient(int)
{
        ZoneTransientN(transient, "transient", true);
        __asm__ volatile("");
}

void message_literal(int)
{
        TracyMessageL("a message");
}

void fiber_enter_and_leave(int)
{
#ifdef TRACY_FIBERS
        TracyFiberEnter("one fiber");
        TracyFiberLeave;
#endif
}

std::mutex bare_mutex;
TracyLockable(std::mutex, measured_mutex);

void lock_bare(int)
{
        std::lock_guard<std::mutex> lock(bare_mutex);
        __asm__ volatile("" : : : "memory");
}

void lock_instrumented(int)
{
        std::lock_guard<LockableBase(std::mutex)> lock(measured_mutex);
        __asm__ volatile("" : : : "memory");
}

/* The time that two threads need for a zone at the same time: the larger of the two. */
double two_threads(bool fibers)
{
        std::atomic<int> n_ready(0);
        std::atomic<bool> stop(false);
        double result[2] = { 0, 0 };
        std::vector<std::thread> threads;
        std::thread other;

        if (fibers)
                other = std::thread([&stop] {
                        while (!stop) {
#ifdef TRACY_FIBERS
                                TracyFiberEnter("fiber");
                                TracyFiberLeave;
#endif
                                pause_ms(1);
                        }
                });
        for (int i = 0; i < 2; i++)
                threads.emplace_back([&n_ready, &result, i] {
                        n_ready++;
                        while (n_ready < 2)
                                ;
                        result[i] = measure(zone);
                });
        for (auto &thread : threads)
                thread.join();
        stop = true;
        if (other.joinable())
                other.join();
        return std::max(result[0], result[1]);
}

struct measured_case {
        const char *name;
        bool recorded_only;
        double (*run)();
        std::vector<double> rounds;
};
} // namespace

int main(int argc, char **argv)
{
        bool bare = argc > 1 && strcmp(argv[1], "bare") == 0;
        measured_case cases[] = {
                { "nothing", false, [] { return measure(nothing); }, {} },
                { "two_stamps", false, [] { return measure(two_stamps); }, {} },
                { "zone", false, [] { return measure(zone); }, {} },
                { "zone_two_threads", false, [] { return two_threads(false); }, {} },
                { "zone_while_fibers", true, [] { return two_threads(true); }, {} },
                { "alloc_and_free", false, [] { return measure(alloc_and_free); }, {} },
                { "zone_with_text", true, [] { return measure(zone_with_text); }, {} },
                { "zone_with_value", true, [] { return measure(zone_with_value); }, {} },
                { "zone_transient", true, [] { return measure(zone_transient); }, {} },
                { "message_literal", true, [] { return measure(message_literal); }, {} },
                { "fiber_enter_and_leave", true, [] { return measure(fiber_enter_and_leave); }, {} },
                { "mutex_bare", false, [] { return measure(lock_bare); }, {} },
                { "mutex_instrumented", false, [] { return measure(lock_instrumented); }, {} },
                { "recursion", true, [] { return measure([](int) { recurse(DEPTH); }); }, {} },
                { "zone_with_stack", true, [] { return measure([](int) { zone_with_stack(DEPTH); }); }, {} },
        };

        for (int round = 0; round < N_ROUNDS; round++)
                for (auto &c : cases)
                        if (!bare || !c.recorded_only)
                                c.rounds.push_back(c.run());
        for (auto &c : cases)
                if (!c.rounds.empty())
                        printf("%s %.2f\n", c.name, median(c.rounds));
        return 0;
}
