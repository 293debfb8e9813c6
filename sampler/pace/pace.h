/* SPDX-License-Identifier: MIT */
/*
 * sampler/pace/pace.h - the recorder's tempo: every constant that says when, how long, or how much in one go
 *
 * Way of the data:  [pace] -> all wings of sampler but bpf
 *
 * One table, in groups by stage.  Each row has a name, a value in the unit that the name ends with, and
 * beside or above it the use, the harm of another value, and the bench that measured it, as far as these are
 * known.  A name without a unit is a number of things.  A share is one part in so many.
 *
 * tests/unit/test_pace.c has the relations that must hold between rows: one deadline must not defeat another.
 * recorder_pace.h and wakeup_throttle.h decide by them; tests/unit/test_recorder_pace.c plays loads to both.
 * Constants of formats and of the client ABI, limits of memory, and the times of BPF programs are not here.
 */
#ifndef SAMPLER_PACE_PACE_H
#define SAMPLER_PACE_PACE_H

#include "base/clock.h"

#include <stddef.h>
#include <stdint.h>

/* ---- rings of the kernel, wake-ups, priorities --------------------------------------------------------- */

/*
 * A ring wakes its reader when this share of it is filled, and at the latest when it has this many bytes,
 * which are still in a cache then.
 */
#define PACE_RING_WAKE_SHARE     4
#define PACE_RING_WAKE_MAX_BYTES (UINT32_C(1) << 21)

/* In how many steps a ring's reader tells the kernel how far it has read.  Each step costs a cache miss. */
#define PACE_RING_TAIL_SHARES 16
#define PACE_SYSCALLS_SUMS    4096 /* sums of system calls that one call reads from the kernel */

/*
 * While threads are attached, samples are thrown away this often: at 10 kHz, 0.2 MB of call stacks come for
 * each CPU in this time.
 */
#define PACE_ATTACH_FORGET_NS (2 * NS_PER_MS)

/*
 * A probed counter whose interrupt is later than this, in counts and in time, has lost it: emulated counters
 * look at a timer of their machine.
 */
#define PACE_PROBE_LATE_PERIODS 50
#define PACE_PROBE_LATE_NS      (50 * NS_PER_MS)
#define PACE_PROBE_SPIN_NS      (100 * NS_PER_MS) /* of its own time, the longest that a probe spins */
#define PACE_PROBE_STOPPED_NS   (2 * NS_PER_MS)   /* a counter that stands still for this long was stopped */

/* Two clocks are read again until there is less than this between the readings before and after. */
#define PACE_CLOCKS_UNDISTURBED_NS UINT64_C(200)

/*
 * The doorbells of mappings.  Each interrupts a program for some 25 us.  After more than VAIN_MAX in a window
 * that had nothing urgent they are silent, and the rings are looked at each POLL_MS: each look interrupts a
 * program as well, and a kernel of a pool that lives for less may be too late.  Polls of 10 ms were within
 * what rounds differ by (docs/understand/measurements.md).  tests/bench/bench_starts.sh measures both sides.
 */
#define PACE_BELLS_VAIN_MAX       6
#define PACE_BELLS_WINDOW_NS      (20 * NS_PER_MS)
#define PACE_BELLS_POLL_MS        4
#define PACE_BELLS_URGENT_POLL_MS 1                /* instead, after urgent code, ... */
#define PACE_BELLS_URGENT_NS      (40 * NS_PER_MS) /* ... for so long: it may turn out to be of a pool */
#define PACE_BELLS_POOL_NS        NS_PER_S         /* so long the bells stay on for a pool */

/*
 * The opener of files.  A program that maps files without end must not make its thread occupy a processor:
 * the thread may use an eighth of each window freely; after that, each look is followed by a pause of three
 * times its own time.  That time is measured wrongly while the machine itself is taken off its processors, so
 * no pause is long enough for code to come and go.
 */
#define PACE_OPENER_WINDOW_NS    (20 * NS_PER_MS)
#define PACE_OPENER_TIME_NS      (PACE_OPENER_WINDOW_NS / 8)
#define PACE_OPENER_PAUSE_TIMES  3
#define PACE_OPENER_PAUSE_MAX_NS NS_PER_MS
/* The limits of one look; the remaining records are left for the next look, after a pause if one is due. */
#define PACE_OPENER_OPENS 16
#define PACE_OPENER_LOOKS 256
/* How often the opener wakes the collector for files that are not urgent, while the bells are silent. */
#define PACE_OPENER_REPORT_NS (40 * NS_PER_MS)

/*
 * This many forks in this time are many: programs are started one after the other, on processors that have no
 * time to spare.  The recorder then puts off all work that can wait.
 */
#define PACE_FORKS_MANY      2
#define PACE_FORKS_WINDOW_NS (NS_PER_S / 2)

/*
 * The guard of the collector's priority.  It looks this long after the collector should have woken, and again
 * after the same time: two looks show starvation.
 */
#define PACE_GUARD_LATE_LOOK_NS (10 * NS_PER_MS)
/*
 * While the collector's priority is raised.  If it uses nine tenths of a window, it falls back, and other
 * threads have their turn.
 */
#define PACE_GUARD_RAISED_LOOK_NS (100 * NS_PER_MS)
#define PACE_GUARD_WINDOW_NS      NS_PER_S
#define PACE_GUARD_REST_NS        (100 * NS_PER_MS)

/*
 * The time slice of a raised thread.  The scheduler runs a thread with a short slice sooner (since Linux
 * 6.12), which matters for a file that is gone a millisecond later.
 */
#define PACE_RAISED_SLICE_NS (100 * NS_PER_US)

#define PACE_FILTER_CPU_S 1 /* of processor time, to make the filter of system calls: it takes milliseconds */

/* ---- the merge: its cycle, the watermark, chunks, the writer ------------------------------------------- */

/* A cycle's time for kernel records; zones have as much (PACE_ZONES_CYCLE_NS). */
#define PACE_MERGE_KERNEL_NS (150 * NS_PER_MS)
/*
 * The watermark: records that are younger wait for the next cycle.  An interrupt stamps its record some
 * microseconds before the record can be read, and a client stamps its event likewise; samples in code of a
 * JIT wait for the next reading of its files.
 */
#define PACE_MERGE_LAG_NS    (2 * NS_PER_MS)
#define PACE_MERGE_UNHURRIED 64 /* records between two looks at the clock */
/*
 * For each ring, the time between two looks at how full all rings are: a look at one takes 50 ns or less.
 */
#define PACE_MERGE_LOOK_NS (10 * NS_PER_US)

/*
 * Fewer samples are taken when the fullest ring is more than half full and has not become emptier for
 * FULL_NS, and samples have taken one part in SAMPLES_SHARE of that time; more again when, in CALM_NS, no
 * ring was half full and twice the samples would have kept the collector busy for less than BUSY_PERCENT.
 */
#define PACE_THROTTLE_FULL_NS       (5 * NS_PER_MS)
#define PACE_THROTTLE_SAMPLES_SHARE 4
#define PACE_THROTTLE_CALM_NS       NS_PER_S
#define PACE_THROTTLE_BUSY_PERCENT  70
/*
 * One in so many samples is timed: reading the clock twice takes 50 ns.  Odd, while one in a power of two is
 * taken: else those that are timed on a CPU could all be taken, or all be left out.
 */
#define PACE_THROTTLE_TIMED 17

/* If programs delay the merge for this long, the collector gives up its raised priority. */
#define PACE_MERGE_BEHIND_NS   (5 * NS_PER_S)
#define PACE_MERGE_ACCOUNTS_NS (NS_PER_S / 2) /* between two accounts of losses */
#define PACE_MERGE_CLOCKS_NS   NS_PER_S       /* between two readings of the clocks of the machine */
/*
 * The parts of kept code in each cycle: a few mebibytes at a time, so that a large file holds up nothing
 * else.
 */
#define PACE_MERGE_CODE_PARTS 4
#define PACE_AHEAD_SCANS      4 /* rounds through the rings at once, while there is new code in them */
/* A stack that was read less than this after a thread's switch onto a CPU belongs to that switch. */
#define PACE_WAITS_LATE_NS (10 * NS_PER_US)
/*
 * How long after its end a thread may still wake another: its parent is woken after the kernel has reported
 * the end, and on a busy machine the thread waits for a CPU in between; 0.23 s were seen.  Longer, and a
 * thread that is not recorded might have its numbers by then: that takes as many births as there are numbers.
 */
#define PACE_WAITS_ENDED_NS (2 * NS_PER_S)

/*
 * A chunk is handed to the writer when it is this large or this old: a crash of the recorder can cost this
 * much.
 */
#define PACE_CHUNK_BYTES  (UINT32_C(1) << 20)
#define PACE_CHUNK_AGE_NS (NS_PER_S / 2)
/*
 * The first chunks come sooner, each twice as old as the one before: a recorder that is killed early leaves
 * something as well.
 */
#define PACE_CHUNK_AGE_FIRST_NS (20 * NS_PER_MS)
/* Rows of all tables, in a ring: small chunks would take more memory than their rows. */
#define PACE_CHUNK_RING_ROWS 4096

/*
 * Looks at /proc/PID/maps for code that no record announced.  The pause between two looks at a process
 * doubles after each look that finds nothing, up to this many times.  All looks together take a share of the
 * time; a look in which the machine stood still keeps the others waiting for no longer than this.
 */
#define PACE_MAPS_PERIOD_NS    (20 * NS_PER_MS)
#define PACE_MAPS_DOUBLED      6
#define PACE_MAPS_SHARE        50
#define PACE_MAPS_PAUSE_MAX_NS NS_PER_S
#define PACE_MAPS_MAPPINGS     256 /* that are taken in one look */

#define PACE_WRITER_LOOK_NS (100 * NS_PER_MS) /* between two looks of what waits for the writer */
/* After a request to stop: the time for one chunk to be written, and for all that are queued at the end. */
#define PACE_WRITER_STOPPED_CHUNK_NS (NS_PER_S * 7 / 10)
#define PACE_WRITER_STOPPED_END_NS   NS_PER_S

/* ---- zones and regions of programs --------------------------------------------------------------------- */

/* One region's share of a cycle, and the time of all: the next cycle begins with those that come after. */
#define PACE_ZONES_REGION_NS (50 * NS_PER_MS)
#define PACE_ZONES_CYCLE_NS  (150 * NS_PER_MS)
/*
 * The final run ends this long after a request to end, and after the longer time in any case, since a program
 * may go on writing.
 */
#define PACE_ZONES_LAST_NS  NS_PER_S
#define PACE_ZONES_FINAL_NS (60 * NS_PER_S)
/* Threads of one program that are sought in /proc in one cycle, since the kernel did not report them. */
#define PACE_ZONES_SEARCHES 256
/* Numbers of threads in PID namespaces that are looked up in /proc in one cycle: some 20 us each. */
#define PACE_ZONES_LOOKUPS 256

/* Read per ring and cycle, so that all others have their turn; at the end more than a ring can hold. */
#define PACE_ZONES_RING_BYTES      (UINT64_C(1) << 26)
#define PACE_ZONES_RING_LAST_BYTES (UINT64_C(1) << 31)
#define PACE_ZONES_FILL_BYTES      (UINT32_C(1) << 18) /* from one ring at once: stays in a core's cache */
#define PACE_ZONES_ALL_FILLS_BYTES (UINT32_C(1) << 25) /* from all rings of a region at once */
#define PACE_ZONES_WORTH_BYTES     UINT32_C(32768)     /* unread bytes that are worth copying out early */

#define PACE_ZONES_ARM_NS        NS_PER_MS      /* least time between two wake-ups of ours by full rings */
#define PACE_ZONES_STANDSTILL_NS (2 * NS_PER_S) /* after such a stop of ours a program fills no more chunks */
#define PACE_ZONES_FUTURE_NS     NS_PER_S /* an event that is later than this was not stamped by a clock */

/* The output of a thread that does nothing but zones: 20 million of 16 bytes a second. */
#define PACE_DRAIN_FASTEST_BYTES_A_US 320
/*
 * The first look at a new thread comes after this time if the thread has no spare memory: its ring is not
 * always large enough.
 */
#define PACE_DRAIN_FIRST_NS    (5 * NS_PER_MS)
#define PACE_DRAIN_REST_MAX_NS (25 * NS_PER_MS) /* the longest rest while programs write */

/* How long a region that was handed in is kept until its process is recorded; then it is dropped. */
#define PACE_REGIONS_WAITING_NS NS_PER_S
#define PACE_REGIONS_HANDED_IN  4096 /* regions that are taken at once: as many as the socket keeps */
/*
 * Announced regions that are opened in a cycle, and in the final one.  That takes longer: while programs are
 * being started, there are events to be merged.
 */
#define PACE_REGIONS_ANNOUNCED      64
#define PACE_REGIONS_ANNOUNCED_LAST 65536

/* ---- files of code that are kept ----------------------------------------------------------------------- */

/*
 * The limits of waiting for room in the queue, so that a program which maps thousands of files at once cannot
 * stop the collector: for one file, and in sum in a window.
 */
#define PACE_KEEP_ROOM_NS      (50 * NS_PER_MS)
#define PACE_KEEP_WINDOW_NS    NS_PER_S
#define PACE_KEEP_IN_WINDOW_NS (250 * NS_PER_MS)
/* The longest wait at the end while nothing new is read: a file system of the program's may never answer. */
#define PACE_KEEP_LAST_NS (10 * NS_PER_S)
/* Files that are mapped while recording are read at once, and those up to this size are kept at once. */
#define PACE_KEEP_AT_ONCE_BYTES (UINT64_C(1) << 20)

#define PACE_READER_STOP_NS NS_PER_S /* for the thread that reads code to end, when it is stopped */
/* How long an opened file is kept, unless its mapping was dealt with before. */
#define PACE_OPENED_FILES_AGE_NS NS_PER_S

/* A look this soon is immediate: less than a program takes to run code, unload it, and write the next. */
#define PACE_VERSIONS_AT_ONCE_NS ((int64_t)(200 * NS_PER_US))

/* ---- images of code in memory -------------------------------------------------------------------------- */

#define PACE_IMAGES_SHARE   50                /* at most this share of all time is spent on images */
#define PACE_IMAGES_LEFT_NS (100 * NS_PER_MS) /* saved up while nothing was to be looked at */
/*
 * After a JIT made executable memory its list is read each millisecond, and then, for longer, at this pause.
 */
#define PACE_IMAGES_SOON_NS      (8 * NS_PER_MS)
#define PACE_IMAGES_EXPECTING_NS (200 * NS_PER_MS)
#define PACE_IMAGES_PAUSE_MS     4

#define PACE_IMAGES_SEARCH_NS    (20 * NS_PER_MS)      /* to search all memory of a process for an image */
#define PACE_IMAGES_SEARCH_BYTES (UINT64_C(128) << 20) /* searched for code whose header is not below it */
#define PACE_IMAGES_PROBES       64                    /* pages that one call reads, to look for a header */
#define PACE_IMAGES_HELD_BYTES   (UINT64_C(1) << 20) /* of an image's mapped bytes: so much is read at once */
/* The limits of the immediate search for a whole image: its time, and the memory that is searched. */
#define PACE_IMAGES_WHOLE_NS    (4 * NS_PER_MS)
#define PACE_IMAGES_WHOLE_BYTES (UINT64_C(64) << 20)
/* After this many misses, a process is searched only one time in this many. */
#define PACE_IMAGES_MISSES      4
#define PACE_IMAGES_MISSES_SKIP 16

/* To tell an image from others that look alike: for one that can be written, there is more time. */
#define PACE_IDENTITY_SEARCH_NS    (4 * NS_PER_MS)
#define PACE_IDENTITY_WRITABLE_NS  (5 * PACE_IDENTITY_SEARCH_NS)
#define PACE_IDENTITY_SEARCH_BYTES (UINT64_C(64) << 20) /* of memory, and of the image */

/* The keeper's search for one image: in so much memory, and for so much processor time; ... */
#define PACE_SOURCE_SEARCH_BYTES (UINT64_C(1) << 30)
#define PACE_SOURCE_SEARCH_NS    (500 * NS_PER_MS)
#define PACE_SOURCE_SECOND_BYTES (UINT64_C(64) << 20) /* ... and then for a second one that looks the same */

/* Images that the program can write while it runs them are looked at again and again. */
#define PACE_WATCHED_SHARE     4                 /* looks take at most this share of the time */
#define PACE_WATCHED_LEFT_NS   (200 * NS_PER_MS) /* of looks, saved up while there were few */
#define PACE_WATCHED_SEARCH_NS (100 * NS_PER_MS) /* from one search for second wholes to the next */
#define PACE_WATCHED_WHOLE_NS  (2 * PACE_IDENTITY_WRITABLE_NS) /* for the whole of a writable image */

/*
 * A mapped file whose data is not there yet is tried for this time in each cycle, with this pause between
 * cycles, and afterwards once in this time.
 */
#define PACE_LANDMARKS_READY_NS NS_PER_S
#define PACE_LANDMARKS_PAUSE_MS 4
#define PACE_LANDMARKS_AGAIN_NS NS_PER_S
#define PACE_LANDMARKS_SAY_NS   (10 * NS_PER_S) /* after this it is noted that the data is not there */

/* ---- unwind tables ------------------------------------------------------------------------------------- */

/* How long a stack that is wanted at once waits for a table, and all such stacks together in each window. */
#define PACE_TABLES_WAIT_NS     (20 * NS_PER_MS)
#define PACE_TABLES_WAIT_MAX_NS (250 * NS_PER_MS)
#define PACE_TABLES_WINDOW_NS   NS_PER_S

#define PACE_TABLES_CPU_S     10       /* of processor time, to make the table of one file */
#define PACE_TABLES_FILE_S    30       /* for one that does not let itself be read */
#define PACE_TABLES_PIECES    64       /* packets of answers that one call takes in */
#define PACE_TABLES_REAP_MS   1000     /* for the process of the tables to end */
#define PACE_TABLES_STABLE_NS NS_PER_S /* changes within milliseconds may have the same file time */

/* ---- files of JITs ------------------------------------------------------------------------------------- */

/* How often perf maps are read; with at most this many processes they are read in each cycle. */
#define PACE_JIT_MAPS_NS         (NS_PER_S / 10)
#define PACE_JIT_MAPS_EACH_CYCLE 64
#define PACE_JIT_MAP_FILLS       16 /* pieces of a map, in a cycle */
/* Bytes of each dump, in a cycle: samples must not wait for long. */
#define PACE_JIT_DUMP_BYTES (UINT32_C(1) << 24)
/* Tries to open a map, in a cycle: some programs change protections all the time. */
#define PACE_JIT_TRIES 16
/* Processor time, in a cycle, to read files to their ends; beyond it the rest is left out, and counted. */
#define PACE_JIT_REST_NS (NS_PER_S / 2)

#define PACE_JIT_OBJECTS    256              /* new objects of a JIT that are read in one go, ... */
#define PACE_JIT_OBJECTS_NS (20 * NS_PER_MS) /* ... for which there is so much time at least */

/*
 * The clock of file systems goes on with the timer's interrupt, which may be late on a busy or virtual
 * machine: a map counts as changed until so many ticks after its time.
 */
#define PACE_JIT_MAP_TICKS      3
#define PACE_JIT_START_SLACK_NS NS_PER_S          /* file systems and the kernel's ticks are not that exact */
#define PACE_JIT_YOUNG_NS       NS_PER_S          /* of a map that is read for the first time */
#define PACE_JIT_SETTLED_NS     (100 * NS_PER_MS) /* after this a moment has its line, or gets none */

/* ---- Python -------------------------------------------------------------------------------------------- */

/* A code object whose identity is not known is read again after this time. */
#define PACE_PYTHON_FRESH_NS NS_PER_S
/*
 * The most bytes that are read and searched in this time; functions beyond that have no names until it is
 * over.
 */
#define PACE_PYTHON_WORK_BYTES (UINT64_C(1) << 24) /* some ten milliseconds */
#define PACE_PYTHON_WORK_NS    (100 * NS_PER_MS)

/*
 * A thread that wakes up, asks the holder to release the lock and sleeps on has run for less than this; a
 * thread that got the lock has run Python code meanwhile, nearly always for longer.
 */
#define PACE_PYTHON_ASK_NS (100 * NS_PER_US)

/* Frames that are read a moment after their sample, without BPF. */
#define PACE_PYTHON_LATE_NS  (20 * NS_PER_MS) /* after its sample a stack is not read any more */
#define PACE_PYTHON_STEPS    16384            /* threads that are looked at in PYTHON_RETRY_NS */
#define PACE_PYTHON_PAUSE_MS 2                /* the longest pause between two looks at the rings */

/* How long before its sample a record of BPF may be made: a virtual machine may be stopped in between. */
#define PACE_PYTHON_BEFORE_NS (5 * NS_PER_MS)
/* How long after its sample it may be made: less than the time to the next sample. */
#define PACE_PYTHON_AFTER_NS (100 * NS_PER_US)

/* ---- stacks -------------------------------------------------------------------------------------------- */

/* Missing parts of stacks are read late from memory. */
#define PACE_LATE_SHARE     100             /* reading takes at most this share of all time */
#define PACE_LATE_LEFT_NS   (5 * NS_PER_MS) /* the most reading time that is saved up */
#define PACE_LATE_PERIOD_NS NS_PER_MS       /* between two late reads of a thread */
#define PACE_LATE_STACKS    4               /* cut stacks of a thread that are tried at once */

/* A stack waits for its unwind table no longer than that. */
#define PACE_STACKS_WAIT_NS (2 * NS_PER_S)
/* After this its table must come, or when all that wait take so many bytes. */
#define PACE_STACKS_LATE_NS    (250 * NS_PER_MS)
#define PACE_STACKS_LATE_BYTES (UINT32_C(1) << 23)

/* ---- the relay and control sockets --------------------------------------------------------------------- */

#define PACE_RELAY_CONNECT_S   2                 /* timeout if the listener hangs and its queue is full */
#define PACE_RELAY_HELLO_NS    (5 * NS_PER_S)    /* for a stranger to say who it is */
#define PACE_RELAY_PROGRESS_NS (NS_PER_S / 20)   /* between two reports of progress */
#define PACE_RELAY_STALLED_NS  (10 * NS_PER_S)   /* patience with a taker if the whole trace is in a file */
#define PACE_RELAY_MOMENT_NS   (NS_PER_S / 2)    /* after this a wait for the taker is announced */
#define PACE_RELAY_FINISH_NS   (2 * NS_PER_S)    /* for the last report, after it was told to end */
#define PACE_RELAY_SEND_BYTES  ((size_t)1 << 20) /* sent to a taker at once */
#define PACE_RELAY_READ_BYTES  ((size_t)4 << 20) /* read from the recorder at once */
#define PACE_RELAY_HEAR        64                /* reads in a row from a taker, which may flood us */
/* A recording of days drops very many chunks: so many are described one by one before they are merged. */
#define PACE_RELAY_MERGE_CHUNKS 16384

/*
 * How often a capture asks for the clock: in a burst at the beginning, for recordings of a moment, and then
 * once in this time.  The answer that was least on the way is kept, of so many.
 */
#define PACE_EXCHANGE_BURST 8
#define PACE_EXCHANGE_NS    NS_PER_S

#define PACE_CONTROL_WAIT_MS 2000 /* for an answer: a recorder that runs answers in a tenth of a second */
/* The wait after the first answer that fits: a second recorder of a process answers as fast as the first. */
#define PACE_CONTROL_OTHERS_MS 200
#define PACE_CONTROL_RETRY_MS  5 /* before a request is repeated that a busy recorder has not read */

/* ---- the recording's own loop, and its end ------------------------------------------------------------- */

#define PACE_LOOP_PROGRESS_NS (NS_PER_S / 5) /* between two reports of progress */
#define PACE_LOOP_QUIET_MS    100 /* the pause without instrumented programs; with some, see recorder_pace */
/*
 * Some call stacks are longer than their copies, and samples are so far apart that few can be completed by
 * others: the missing part is read from memory, the sooner the better.  The same pause holds for code that
 * waits for the writer.
 */
#define PACE_LOOP_CUT_MS      4
#define PACE_LOOP_CUT_RATE_HZ 4000
/*
 * The time of frequent looks after a mapping of code: a young process has no regions and no files yet, and
 * may live briefly.
 */
#define PACE_LOOP_YOUNG_NS (PACE_OPENER_REPORT_NS + 50 * NS_PER_MS)
#define PACE_LOOP_OPEN_MS  10 /* since the last cycle; a new region alone starts no cycle */

/*
 * How often control sockets are looked at during a delay (--delay), and how often while a connection has sent
 * nothing.
 */
#define PACE_DELAY_LOOK_NS NS_PER_S
#define PACE_DELAY_HELD_NS (NS_PER_S / 10)

/*
 * How often the quotas of a cgroup are read.  The period of a quota is a tenth of a second, unless the user
 * chose another.
 */
#define PACE_QUOTA_LIMITED_NS   (NS_PER_S / 10)
#define PACE_QUOTA_UNLIMITED_NS NS_PER_S
#define PACE_QUOTA_YOUNG_NS     (2 * NS_PER_S) /* a command may be moved into its group during this time */

/*
 * The time for a command to stop (Ctrl-Z): an editor tidies up its screen first.  A command that stops later
 * has another reason.
 */
#define PACE_STOP_TIDY_UP_NS (5 * NS_PER_S)

/* The wait after Ctrl-C: a command then usually ends by itself, and its status belongs in the trace. */
#define PACE_END_GRACE_NS (NS_PER_S / 5)
/*
 * The longest wait, at the end, for unwind tables that samples lack; and the same if a signal or --duration
 * ended the recording.
 */
#define PACE_END_TABLES_NS  NS_PER_S
#define PACE_END_STOPPED_NS (NS_PER_S / 20)
#define PACE_END_URGED_NS   (NS_PER_S * 3 / 2) /* how long a command is waited for after that became urgent */
#define PACE_END_KEEPER_MS  1000               /* for the keeper of a cgroup to end */

#endif /* SAMPLER_PACE_PACE_H */
