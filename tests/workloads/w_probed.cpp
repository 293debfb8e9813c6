/* SPDX-License-Identifier: MIT */
/*
 * w_probed - functions that end in every way, called a known number of times; prints how often each was
 *
 * Usage: w_probed [N [wait]]; with "wait" it begins only when standard input ends.
 */
#include <hyprof/hyprof.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <vector>

#ifdef __clang__
#define KEPT __attribute__((noinline)) /* it makes no clones */
#else
#define KEPT __attribute__((noinline, noclone))
#endif

static volatile int sink;

namespace work
{
struct shape {
        virtual ~shape()
        {
        }
        virtual int area(int x) = 0;
};
struct square : shape {
        KEPT int area(int x) override
        {
                asm volatile("");
                return x * x;
        }
};
/* Ends with a jump to a virtual function. */
KEPT int measure(shape *s, int x)
{
        return s->area(x);
}
/* Ends with a jump to where a register says. */
KEPT int by_pointer(int (*f)(int), int x)
{
        asm volatile("");
        return f(x);
}
} // namespace work

extern "C" {
KEPT int leaf(int x)
{
        asm volatile("");
        return x + 1;
}
/* Ends with a jump to another function. */
KEPT int tail(int x)
{
        asm volatile("");
        return leaf(x * 2);
}
/* Jumps within itself, by a table. */
KEPT int choose(int x)
{
        switch (x % 8) {
        case 0:
                return leaf(x) + 3;
        case 1:
                sink = 7;
                return x * 5;
        case 2:
                sink = sink + 1;
                return leaf(x) ^ 9;
        case 3:
                sink = x;
                return 8;
        case 4:
                return leaf(x) + sink;
        case 5:
                sink = sink * 3;
                break;
        case 6:
                sink = 1;
                return x / 3;
        default:
                return leaf(x + 2) * 2;
        }
        return sink;
}
KEPT int fact(int n)
{
        int r = n < 2 ? 1 : fact(n - 1);

        asm volatile("");
        return r * n;
}
KEPT int thrower(int x)
{
        if (x % 2)
                throw std::runtime_error("odd");
        return leaf(x);
}
KEPT int catcher(int x)
{
        try {
                return thrower(x) + 1;
        } catch (const std::exception &) {
                return 0;
        }
}
static thread_local jmp_buf place;
KEPT int jumper(int x)
{
        asm volatile("");
        if (x % 4 == 0)
                longjmp(place, 1);
        return x;
}
/* After the longjmp, the frame of the call that it left is that of another function. */
KEPT int jumps(int x)
{
        if (setjmp(place) != 0)
                return leaf(0) + 2;
        return jumper(x) + 1;
}
KEPT int zoned(int x)
{
        HYPROF_ZONE("own");
        return leaf(x) + 1;
}
__attribute__((always_inline)) static inline int always_inlined(int x)
{
        return x * 3 + sink;
}
}

static void work_through(int n)
{
        work::square square;

        for (int i = 0; i < n; i++) {
                sink = tail(i) + choose(i) + fact(5) + catcher(i) + jumps(i) + zoned(i);
                sink = work::measure(&square, i) + work::by_pointer(leaf, i) + always_inlined(i);
        }
}

int main(int argc, char **argv)
{
        int n = argc > 1 ? atoi(argv[1]) : 200;
        std::vector<std::thread> threads;
        char byte;

        printf("pid %d\n", getpid());
        fflush(stdout);
        if (argc > 2 && strcmp(argv[2], "wait") == 0)
                while (read(0, &byte, 1) > 0)
                        ;
        for (int i = 0; i < 2; i++)
                threads.emplace_back(work_through, n);
        work_through(n);
        for (auto &t : threads)
                t.join();
        /* choose() calls leaf() in 4 of 8 turns, jumps() in one of 4 */
        printf("leaf %d\ntail %d\nchoose %d\nfact %d\nthrower %d\ncatcher %d\njumper %d\njumps %d\nzoned %d\n",
               3 * (n + n / 2 + n / 2 + n / 4 + n + n), 3 * n, 3 * n, 15 * n, 3 * n, 3 * n, 3 * n, 3 * n,
               3 * n);
        printf("measure %d\narea %d\nby_pointer %d\n", 3 * n, 3 * n, 3 * n);
        return 0;
}
