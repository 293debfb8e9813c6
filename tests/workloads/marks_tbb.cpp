// SPDX-License-Identifier: MIT
// marks_tbb N - N loops of TBB, which tells ITT of each
#include <tbb/parallel_for.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv)
{
        const int n = argc > 1 ? std::atoi(argv[1]) : 1;
        std::atomic<long> sum{ 0 };

        for (int i = 0; i < n; i++)
                tbb::parallel_for(0, 1000, [&](int j) { sum += j; });
        std::printf("%ld\n", sum.load());
        return 0;
}
