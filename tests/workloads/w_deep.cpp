/* SPDX-License-Identifier: MIT */
/*
 * w_deep ROUNDS [DEPTH] [THREADS]
 *
 * Calls 200 deep (or 40, or 400: DEPTH) through functions that templates make, all of them different: virtual
 * calls, std::function, alloca, frames that align the stack, and exceptions that pass through all of it.
 * Compiled without frame pointers; see the Makefile.  About nine tenths of its time are in burn() at the
 * bottom, the rest on the way; every sample's stack has main() and the C library's start (or a thread's) at
 * its root.  The work is fixed by ROUNDS, about 30 us each; prints "ROUNDS seconds cpu_seconds": of wall
 * time, and of its own processor time.  Its stack is 13 KiB deep (4 KiB; 25 KiB).
 */
#include <alloca.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sys/resource.h>
#include <thread>
#include <vector>

#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#pragma GCC diagnostic ignored "-Wstack-usage="
#endif
#pragma GCC diagnostic ignored "-Walloca"

namespace
{

struct stop {
        int from;
};

/* Something to be destroyed when an exception passes. */
struct guard {
        explicit guard(uint64_t &count) : count_(count)
        {
        }
        ~guard()
        {
                count_++;
        }
        guard(const guard &) = delete;
        guard &operator=(const guard &) = delete;

      private:
        uint64_t &count_;
};

ALONE void burn()
{
        for (unsigned i = 0; i < 100000; i++)
                __asm__ volatile("" ::: "memory");
}

enum { KIND_PLAIN, KIND_ALLOCA, KIND_VIRTUAL, KIND_FUNCTION, KIND_ALIGNED, KIND_CATCHES, N_KINDS };

/*
 * Each is one function, which calls the next lower one in its own way and has something
 * left to do after that.
 */
template <int N, int KIND = N % N_KINDS> struct level {
        ALONE static uint64_t run(uint64_t round)
        {
                return level<N - 1>::run(round) + N;
        }
};

template <int KIND> struct level<0, KIND> {
        ALONE static uint64_t run(uint64_t round)
        {
                burn();
                if (round % 16 == 0)
                        throw stop{ 0 };
                return 1;
        }
};

template <int N> struct level<N, KIND_ALLOCA> {
        ALONE static uint64_t run(uint64_t round)
        {
                size_t n_bytes = (round % 2 + 1) * 16;
                char *bytes = static_cast<char *>(alloca(n_bytes));

                memset(bytes, N & 0x7f, n_bytes);
                __asm__ volatile("" ::"r"(bytes) : "memory");
                return level<N - 1>::run(round) + static_cast<uint64_t>(bytes[n_bytes - 1]);
        }
};

struct callee {
        virtual uint64_t call(uint64_t round) = 0;
        virtual ~callee() = default;
};

template <int N> struct callee_of : callee {
        ALONE uint64_t call(uint64_t round) override
        {
                return level<N>::run(round) ^ N;
        }
};

template <int N> struct level<N, KIND_VIRTUAL> {
        ALONE static uint64_t run(uint64_t round)
        {
                callee_of<N - 1> one;
                callee *called = &one;

                __asm__ volatile("" : "+r"(called)); /* or the compiler knows who it is */
                return called->call(round) + 1;
        }
};

template <int N> struct level<N, KIND_FUNCTION> {
        ALONE static uint64_t run(uint64_t round)
        {
                std::function<uint64_t(uint64_t)> next = [](uint64_t r) { return level<N - 1>::run(r) + 1; };

                return next(round) + N;
        }
};

template <int N> struct level<N, KIND_ALIGNED> {
        ALONE static uint64_t run(uint64_t round)
        {
                alignas(32) char bytes[32];

                memset(bytes, N & 0x7f, sizeof(bytes));
                __asm__ volatile("" ::"r"(bytes) : "memory");
                return level<N - 1>::run(round) + static_cast<uint64_t>(bytes[16]);
        }
};

template <int N> struct level<N, KIND_CATCHES> {
        ALONE static uint64_t run(uint64_t round)
        {
                uint64_t n_destroyed = 0;

                try {
                        guard one(n_destroyed);

                        return level<N - 1>::run(round) + n_destroyed;
                } catch (stop &s) {
                        if (N < 60)
                                throw;
                        return static_cast<uint64_t>(s.from) + n_destroyed;
                }
        }
};

ALONE uint64_t descend(int depth, uint64_t round)
{
        try {
                return depth > 200  ? level<400>::run(round)
                       : depth > 40 ? level<200>::run(round)
                                    : level<40>::run(round);
        } catch (stop &) {
                return 0;
        }
}

double seconds_of(const timeval &t)
{
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

void work(int depth, uint64_t n_rounds)
{
        uint64_t sum = 0;

        for (uint64_t i = 1; i <= n_rounds; i++)
                sum += descend(depth, i);
        __asm__ volatile("" ::"r"(sum));
}

} // namespace

int main(int argc, char **argv)
{
        uint64_t n_rounds = argc > 1 ? strtoull(argv[1], nullptr, 10) : 10000;
        int depth = argc > 2 ? atoi(argv[2]) : 200;
        int n_threads = argc > 3 ? atoi(argv[3]) : 1;
        auto began = std::chrono::steady_clock::now();
        std::vector<std::thread> threads;

        for (int i = 1; i < n_threads; i++)
                threads.emplace_back(work, depth, n_rounds);
        work(depth, n_rounds);
        for (std::thread &thread : threads)
                thread.join();
        struct rusage used;
        double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();

        getrusage(RUSAGE_SELF, &used);
        printf("%llu %.6f %.6f\n", static_cast<unsigned long long>(n_rounds), seconds,
               seconds_of(used.ru_utime) + seconds_of(used.ru_stime));
        return 0;
}
