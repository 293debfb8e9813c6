// SPDX-License-Identifier: MIT
/*
 * tests/bench/peer_load.cpp - opens a trace as Tracy's profiler does before it draws: all of it into memory
 *
 *      peer_load FILE.tracy
 *
 * Built with Tracy's own server code, see bench_view_peers.sh.  Prints the zones, the seconds until a picture
 * can be drawn, those until the statistics of all zones are ready as well, and the peak of its memory in MiB.
 */
#include "TracyFileRead.hpp"
#include "TracyWorker.hpp"

#include <cstdio>
#include <memory>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

namespace
{
const long BYTES_PER_KIB = 1024;

double now_s()
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return double(t.tv_sec) + double(t.tv_nsec) / 1e9;
}
} // namespace

int main(int argc, char **argv)
{
        if (argc != 2)
                return 2;
        double begin = now_s();
        std::unique_ptr<tracy::FileRead> file(tracy::FileRead::Open(argv[1]));
        if (!file)
                return 1;
        tracy::Worker worker(*file);
        double drawn = now_s();
        while (!worker.AreSourceLocationZonesReady())
                usleep(1000);
        double ready = now_s();
        struct rusage usage;

        getrusage(RUSAGE_SELF, &usage);
        printf("%llu zones: picture %.2f s, statistics %.2f s, %ld MiB\n",
               (unsigned long long)worker.GetZoneCount(), drawn - begin, ready - begin,
               usage.ru_maxrss / BYTES_PER_KIB);
        return 0;
}
