// SPDX-License-Identifier: MIT
//
// w_locks [TURNS=100]
//
// Truth, all on the thread "locks main" but for one that is said:
//   "free"     TURNS times obtained and released, never waited for
//   "blind"    the same, of a kind that cannot be tried: each time waited for
//   "queue"    once held by the thread "locks helper" while the main one waits; then by the
//   main one, marked and
//              called "the queue"
//   "shared"   twice shared at once, then TURNS times held by one, never waited for
//   "timed"    tried twice in vain while the thread "locks helper" holds it, then obtained in time
//   "unused"   never used: no event
// and one of a function, "local", TURNS times made, held once and gone.
// At the end pauses lie in each other: the zones "inside" and "between" are left out, "after" is there.  A
// child that is forked inside of one begins without it: its zones "child" and "child after" are there, "child
// inside" is not.
// A zone "take" holds "queue"; it has the text "from w_locks" and the value TURNS.
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.hpp>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

struct blind_mutex {
        std::mutex mutex;

        void lock()
        {
                mutex.lock();
        }
        void unlock()
        {
                mutex.unlock();
        }
};

/* C++11 has none. */
struct shared_mutex {
        pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

        void lock()
        {
                pthread_rwlock_wrlock(&rwlock);
        }
        bool try_lock()
        {
                return pthread_rwlock_trywrlock(&rwlock) == 0;
        }
        void unlock()
        {
                pthread_rwlock_unlock(&rwlock);
        }
        void lock_shared()
        {
                pthread_rwlock_rdlock(&rwlock);
        }
        bool try_lock_shared()
        {
                return pthread_rwlock_tryrdlock(&rwlock) == 0;
        }
        void unlock_shared()
        {
                unlock();
        }
};

static hyprof::lockable<std::mutex> free_lock{ HYPROF_HERE("free") };
static hyprof::lockable<blind_mutex> blind("blind");
static hyprof::lockable<std::mutex> queue{ HYPROF_HERE("queue") };
static hyprof::shared_lockable<shared_mutex> shared{ HYPROF_HERE("shared") };
static hyprof::lockable<std::timed_mutex> timed("timed");
static hyprof::lockable<std::mutex> unused("unused");

static std::atomic<int> stage(0);

static void wait_for_stage(int wanted)
{
        while (stage < wanted)
                std::this_thread::yield();
}

/* Until the main thread waits in the kernel. */
static void wait_for_sleep()
{
        for (;;) {
                char line[512] = "";
                FILE *stat = std::fopen("/proc/self/stat", "r");

                if (!stat || !std::fgets(line, sizeof(line), stat))
                        std::abort();
                std::fclose(stat);
                if (std::strstr(line, ") S "))
                        return;
                std::this_thread::yield();
        }
}

static void help()
{
        hyprof_thread_name("locks helper");
        timed.lock();
        queue.lock();
        stage = 1;
        wait_for_stage(2);
        timed.unlock();
        stage = 3;
        wait_for_stage(4);
        wait_for_sleep();
        queue.unlock();
}

static void use_helper(int turns)
{
        std::thread helper(help);

        wait_for_stage(1);
        (void)timed.try_lock();
        (void)timed.try_lock_for(std::chrono::milliseconds(1));
        stage = 2;
        wait_for_stage(3);
        if (timed.try_lock_for(std::chrono::seconds(10)))
                timed.unlock();
        {
                static struct hyprof_location here = HYPROF_LOCATION(nullptr, 0);
                HYPROF_SCOPE(zone, "take");

                stage = 4;
                std::unique_lock<hyprof::lockable<std::mutex>> guard(queue);

                queue.mark(&here);
                queue.name("the queue");
                zone.text(std::string("from w_locks"));
                zone.value(turns);
        }
        helper.join();
}

static void run_child()
{
        {
                HYPROF_SCOPE(zone, "child");
        }
        {
                hyprof::paused inside;
                HYPROF_SCOPE(zone, "child inside");
        }
        HYPROF_SCOPE(zone, "child after");
}

static void fork_paused()
{
        hyprof::paused pause;
        pid_t child = fork();

        if (child == 0) {
                run_child();
                _exit(EXIT_SUCCESS);
        }
        if (child > 0)
                (void)waitpid(child, nullptr, 0);
}

static void pause_twice()
{
        {
                hyprof::paused outer;

                {
                        hyprof::paused inner;
                        HYPROF_SCOPE(zone, "inside");
                }
                HYPROF_SCOPE(zone, "between");
        }
        HYPROF_SCOPE(zone, "after");
}

int main(int argc, char **argv)
{
        int turns = static_cast<int>(burn_argument(argc, argv, 1, 100));

        hyprof_thread_name("locks main");
        for (int i = 0; i < turns; i++) {
                std::lock_guard<hyprof::lockable<std::mutex>> guard(free_lock);
                std::lock_guard<hyprof::lockable<blind_mutex>> blind_guard(blind);
        }

        shared.lock_shared();
        shared.lock_shared();
        shared.unlock_shared();
        shared.unlock_shared();
        for (int i = 0; i < turns; i++) {
                hyprof::lockable<std::recursive_mutex> local("local");
                std::lock_guard<hyprof::shared_lockable<shared_mutex>> guard(shared);
                std::lock_guard<hyprof::lockable<std::recursive_mutex>> local_guard(local);
        }
        use_helper(turns);
        pause_twice();
        fork_paused();
        return EXIT_SUCCESS;
}
