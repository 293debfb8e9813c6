/* SPDX-License-Identifier: MIT */
/*
 * Kinds in which a lock is held: mutexes, a read-write lock, the kernel's lock of memory maps, a lock of
 * files.
 */
#include "tests/workloads/delays/plant.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

BURN_FUNCTION(answer);
BURN_FUNCTION(flush_log);
BURN_FUNCTION(rebuild);
BURN_FUNCTION(inside);
BURN_FUNCTION(outside);
BURN_FUNCTION(hold);
BURN_FUNCTION(hold_first);
BURN_FUNCTION(hold_second);
BURN_FUNCTION(scan_table);
BURN_FUNCTION(update);
BURN_FUNCTION(flush);
BURN_FUNCTION(tidy);

/* A round of several threads: each begins and ends it together with the others. */
static pthread_barrier_t turn;

static void begin_turns(unsigned n_threads)
{
        if (pthread_barrier_init(&turn, NULL, n_threads) != 0)
                plant_fail("pthread_barrier_init");
}

static void wait_for_turn(void)
{
        pthread_barrier_wait(&turn);
}

static pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER, lock_b = PTHREAD_MUTEX_INITIALIZER;

/*
 * convoy: 'flusher' holds A for 4 ms; 'index' holds B, waits for A and then runs 2 ms; main arrives 0.5 ms
 * after them, waits for B and runs 1 ms.  Who wakes main is 'index', but half of the time is 'flusher'.
 */
static void convoy_flusher(void *n_turns)
{
        for (int i = 0; i < *(int *)n_turns; i++) {
                pthread_mutex_lock(&lock_a);
                wait_for_turn();
                burn_us(flush_log, 4000);
                pthread_mutex_unlock(&lock_a);
                wait_for_turn();
        }
}

static void convoy_index(void *n_turns)
{
        for (int i = 0; i < *(int *)n_turns; i++) {
                pthread_mutex_lock(&lock_b);
                wait_for_turn();
                pthread_mutex_lock(&lock_a);
                burn_us(rebuild, 2000);
                pthread_mutex_unlock(&lock_a);
                pthread_mutex_unlock(&lock_b);
                wait_for_turn();
        }
}

static void convoy_request(void)
{
        HYPROF_ZONE("request");
        nap_us(500);
        pthread_mutex_lock(&lock_b);
        burn_us(answer, 1000);
        pthread_mutex_unlock(&lock_b);
}

static void run_convoy(int n)
{
        pthread_t flusher, index;

        begin_turns(3);
        flusher = plant_thread("flusher", convoy_flusher, &n);
        index = plant_thread("index", convoy_index, &n);
        for (int i = 0; i < n; i++) {
                wait_for_turn();
                convoy_request();
                wait_for_turn();
        }
        plant_join(flusher);
        plant_join(index);
}

/*
 * handoff: three threads want one mutex: 'first' holds it 2 ms, 'second' has queued before main and holds it
 * 3 ms. main waits once, for both.
 */
static void handoff_first(void *n_turns)
{
        for (int i = 0; i < *(int *)n_turns; i++) {
                pthread_mutex_lock(&lock_a);
                wait_for_turn();
                burn_us(hold_first, 2300);
                pthread_mutex_unlock(&lock_a);
                wait_for_turn();
        }
}

static void handoff_second(void *n_turns)
{
        for (int i = 0; i < *(int *)n_turns; i++) {
                wait_for_turn();
                pthread_mutex_lock(&lock_a);
                burn_us(hold_second, 3000);
                pthread_mutex_unlock(&lock_a);
                wait_for_turn();
        }
}

static void handoff_request(void)
{
        HYPROF_ZONE("request");
        pthread_mutex_lock(&lock_a);
        burn_us(answer, 1000);
        pthread_mutex_unlock(&lock_a);
}

static void run_handoff(int n)
{
        pthread_t first, second;

        begin_turns(3);
        first = plant_thread("first", handoff_first, &n);
        second = plant_thread("second", handoff_second, &n);
        for (int i = 0; i < n; i++) {
                wait_for_turn();
                nap_us(300);
                handoff_request();
                wait_for_turn();
        }
        plant_join(first);
        plant_join(second);
}

/*
 * oversized: main and 'w' run 2 ms under one lock and 1 ms without it.  The lock is fair: a ticket is drawn,
 * and served in turn.
 */
static struct {
        pthread_cond_t served;
        unsigned n_drawn, n_served;
} tickets = { PTHREAD_COND_INITIALIZER, 0, 0 };

static void enter_in_turn(void)
{
        unsigned ticket;

        pthread_mutex_lock(&lock_a);
        ticket = tickets.n_drawn++;
        while (tickets.n_served != ticket)
                pthread_cond_wait(&tickets.served, &lock_a);
        pthread_mutex_unlock(&lock_a);
}

static void leave_in_turn(void)
{
        pthread_mutex_lock(&lock_a);
        tickets.n_served++;
        pthread_cond_broadcast(&tickets.served);
        pthread_mutex_unlock(&lock_a);
}

static void oversized_requests(void *n_requests)
{
        for (int i = 0; i < *(int *)n_requests; i++) {
                HYPROF_ZONE("request");
                enter_in_turn();
                burn_us(inside, 2000);
                leave_in_turn();
                burn_us(outside, 1000);
        }
}

static void run_oversized(int n)
{
        pthread_t w = plant_thread("w", oversized_requests, &n);

        oversized_requests(&n);
        plant_join(w);
}

/*
 * barging: 'hog' takes the mutex again as soon as it gave it up, which main, who has to wake up first, hardly
 * ever can.  Each of main's many waits is ended by 'hog'.
 */
static atomic_int barging_ends;

static void barging_hog(void *unused)
{
        (void)unused;
        while (!atomic_load(&barging_ends)) {
                pthread_mutex_lock(&lock_a);
                burn_us(hold, 2000);
                pthread_mutex_unlock(&lock_a);
                burn_us(outside, 10);
        }
}

static void run_barging(int n)
{
        pthread_t hog = plant_thread("hog", barging_hog, NULL);
        int64_t end_ns = burn_clock_ns(CLOCK_MONOTONIC) + n * INT64_C(10000000);

        while (burn_clock_ns(CLOCK_MONOTONIC) < end_ns) {
                {
                        HYPROF_ZONE("request");
                        pthread_mutex_lock(&lock_a);
                        burn_us(answer, 100);
                        pthread_mutex_unlock(&lock_a);
                }
                nap_us(500);
        }
        atomic_store(&barging_ends, 1);
        plant_join(hog);
}

/*
 * rwlock: 'reader' reads for 7 ms; 'writer' waits for it, then writes for 2 ms; main only wants to read, but
 * the lock prefers writers: it waits for both, and reads for 1 ms.
 */
static pthread_rwlock_t table_lock;

static void rwlock_reader(void *n_turns)
{
        for (int i = 0; i < *(int *)n_turns; i++) {
                pthread_rwlock_rdlock(&table_lock);
                wait_for_turn();
                burn_us(scan_table, 7000);
                pthread_rwlock_unlock(&table_lock);
                wait_for_turn();
        }
}

static void rwlock_writer(void *n_turns)
{
        for (int i = 0; i < *(int *)n_turns; i++) {
                wait_for_turn();
                pthread_rwlock_wrlock(&table_lock);
                burn_us(update, 2000);
                pthread_rwlock_unlock(&table_lock);
                wait_for_turn();
        }
}

static void rwlock_request(void)
{
        HYPROF_ZONE("request");
        pthread_rwlock_rdlock(&table_lock);
        burn_us(answer, 1000);
        pthread_rwlock_unlock(&table_lock);
}

static void run_rwlock(int n)
{
        pthread_rwlockattr_t attributes;
        pthread_t reader, writer;

        pthread_rwlockattr_init(&attributes);
        pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
        pthread_rwlock_init(&table_lock, &attributes);
        begin_turns(3);
        reader = plant_thread("reader", rwlock_reader, &n);
        writer = plant_thread("writer", rwlock_writer, &n);
        for (int i = 0; i < n; i++) {
                wait_for_turn();
                nap_us(300);
                rwlock_request();
                wait_for_turn();
        }
        plant_join(reader);
        plant_join(writer);
}

/*
 * memo: 'tidy' holds the lock of a cache for 8 ms, which main never wants; 'io' holds the lock that main
 * waits for, for 3 ms.  main runs 2 ms.
 */
static void memo_cache(void *n_turns)
{
        for (int i = 0; i < *(int *)n_turns; i++) {
                wait_for_turn();
                pthread_mutex_lock(&lock_b);
                burn_us(tidy, 8000);
                pthread_mutex_unlock(&lock_b);
                wait_for_turn();
        }
}

static void memo_io(void *n_turns)
{
        for (int i = 0; i < *(int *)n_turns; i++) {
                pthread_mutex_lock(&lock_a);
                wait_for_turn();
                burn_us(flush, 3000);
                pthread_mutex_unlock(&lock_a);
                wait_for_turn();
        }
}

static void memo_request(void)
{
        HYPROF_ZONE("request");
        pthread_mutex_lock(&lock_a);
        burn_us(answer, 2000);
        pthread_mutex_unlock(&lock_a);
}

static void run_memo(int n)
{
        pthread_t cache, io;

        begin_turns(3);
        cache = plant_thread("cache", memo_cache, &n);
        io = plant_thread("io", memo_io, &n);
        for (int i = 0; i < n; i++) {
                wait_for_turn();
                memo_request();
                wait_for_turn();
        }
        plant_join(cache);
        plant_join(io);
}

/*
 * backoff: a lock of the program's own: who does not get it sleeps 0.5 ms and tries again.  No thread wakes
 * main, but the program reports the lock: 'owner' holds it.
 */
static struct hyprof_lock reported_lock = HYPROF_LOCK("ledger");
static atomic_int is_held;

static void backoff_lock(void)
{
        int is_free = 0;

        if (atomic_compare_exchange_strong(&is_held, &is_free, 1)) {
                hyprof_lock_obtain(&reported_lock);
                return;
        }
        hyprof_lock_wait(&reported_lock);
        do {
                nap_us(500);
                is_free = 0;
        } while (!atomic_compare_exchange_strong(&is_held, &is_free, 1));
        hyprof_lock_obtain(&reported_lock);
}

static void backoff_unlock(void)
{
        hyprof_lock_release(&reported_lock);
        atomic_store(&is_held, 0);
}

static void backoff_owner(void *n_turns)
{
        for (int i = 0; i < *(int *)n_turns; i++) {
                backoff_lock();
                wait_for_turn();
                burn_us(hold, 4000);
                backoff_unlock();
                wait_for_turn();
        }
}

static void backoff_request(void)
{
        HYPROF_ZONE("request");
        backoff_lock();
        burn_us(answer, 1000);
        backoff_unlock();
}

static void run_backoff(int n)
{
        pthread_t owner;

        begin_turns(2);
        owner = plant_thread("owner", backoff_owner, &n);
        for (int i = 0; i < n; i++) {
                wait_for_turn();
                backoff_request();
                wait_for_turn();
        }
        plant_join(owner);
}

/*
 * freelock: 'owner' holds a reported lock for 2 of each 3 ms while main sleeps 3 ms; main takes it once it
 * has woken, and it is free then.  The timer is the cause, not the lock.
 */
static void freelock_owner(void *n_turns)
{
        for (int i = 0; i < *(int *)n_turns; i++) {
                wait_for_turn();
                backoff_lock();
                burn_us(hold, 2000);
                backoff_unlock();
                wait_for_turn();
        }
}

static void freelock_request(void)
{
        HYPROF_ZONE("request");
        nap_us(3000);
        backoff_lock();
        burn_us(answer, 1000);
        backoff_unlock();
}

static void run_freelock(int n)
{
        pthread_t owner;

        begin_turns(2);
        owner = plant_thread("owner", freelock_owner, &n);
        for (int i = 0; i < n; i++) {
                wait_for_turn();
                freelock_request();
                wait_for_turn();
        }
        plant_join(owner);
}

/*
 * mmapsem: the kernel's lock of a process's memory map: 'mapper' changes the protection of 64 MiB again and
 * again; main asks which of its pages are in memory, for which it waits, and runs 0.05 ms.
 */
#define MAP_BYTES ((size_t)64 << 20)
static atomic_int mapping_ends;

static __attribute__((noinline)) void change_map(char *memory, int protection)
{
        if (mprotect(memory, MAP_BYTES, protection) != 0)
                plant_fail("mprotect");
}

static void mmapsem_mapper(void *memory)
{
        while (!atomic_load(&mapping_ends)) {
                change_map(memory, PROT_READ);
                change_map(memory, PROT_READ | PROT_WRITE);
        }
}

static __attribute__((noinline)) void look_up_pages(char *memory, unsigned char *resident)
{
        if (mincore(memory, 1, resident) != 0)
                plant_fail("mincore");
}

static void run_mmapsem(int n)
{
        char *memory = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        unsigned char resident[1];
        pthread_t mapper;

        if (memory == MAP_FAILED)
                plant_skip("no 64 MiB of memory");
        madvise(memory, MAP_BYTES, MADV_NOHUGEPAGE);
        for (size_t at = 0; at < MAP_BYTES; at += 4096)
                memory[at] = 1;
        mapper = plant_thread("mapper", mmapsem_mapper, memory);
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE("request");
                look_up_pages(memory, resident);
                burn_us(answer, 50);
        }
        atomic_store(&mapping_ends, 1);
        plant_join(mapper);
        munmap(memory, MAP_BYTES);
}

/*
 * filelock: two processes and a lock of a file.  'holder' holds it 4 ms each time that main asks for that;
 * main waits for the file's lock and runs 1 ms.
 */
static struct {
        int file;
        int ask[2], held[2];
} filelock;

static void lock_file(int file)
{
        if (flock(file, LOCK_EX) != 0)
                plant_fail("flock");
}

static int open_same_file(int file)
{
        char path[32];
        int again;

        snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
        again = open(path, O_RDWR | O_CLOEXEC);
        if (again < 0)
                plant_fail("open");
        return again;
}

static void filelock_holder(void *unused)
{
        int file = open_same_file(filelock.file); /* a lock belongs to the opening */

        (void)unused;
        close(filelock.ask[1]);
        while (receive_byte(filelock.ask[0])) {
                lock_file(file);
                send_byte(filelock.held[1]);
                burn_us(hold, 4000);
                flock(file, LOCK_UN);
        }
}

static void filelock_request(void)
{
        HYPROF_ZONE("request");
        lock_file(filelock.file);
        burn_us(answer, 1000);
        flock(filelock.file, LOCK_UN);
}

static void run_filelock(int n)
{
        filelock.file = memfd_create("lock", MFD_CLOEXEC);
        if (filelock.file < 0)
                plant_fail("memfd_create");
        plant_pipe(filelock.ask);
        plant_pipe(filelock.held);
        plant_process("holder", filelock_holder, NULL);
        for (int i = 0; i < n; i++) {
                send_byte(filelock.ask[1]);
                receive_byte(filelock.held[0]);
                filelock_request();
        }
        close(filelock.ask[1]);
        plant_reap();
}

const struct delay_kind lock_delays[] = {
        { "convoy", 150, run_convoy },
        { "handoff", 170, run_handoff },
        { "oversized", 300, run_oversized },
        { "barging", 120, run_barging },
        { "rwlock", 110, run_rwlock },
        { "memo", 140, run_memo },
        { "backoff", 220, run_backoff },
        { "freelock", 280, run_freelock },
        { "mmapsem", 1000, run_mmapsem },
        { "filelock", 220, run_filelock },
        { NULL, 0, NULL },
};
