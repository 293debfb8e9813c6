/* SPDX-License-Identifier: MIT */
/*
 * format/trace_spec.h - the numbers of docs/understand/trace-format.md and nothing else
 *
 * Way of the data:  [trace_spec] is spoken on both sides of the file
 *
 * Ids in this file are part of the trace format: they are never reused and
 * never change their meaning.  tests/lint/spec_sync.sh compares them with the
 * document.
 */
#ifndef FORMAT_TRACE_SPEC_H
#define FORMAT_TRACE_SPEC_H

#include <stdint.h>

#define TRACE_VERSION_MAJOR 1  /* a reader refuses another major version */
#define TRACE_VERSION_MINOR 11 /* a newer minor only adds chunk kinds, columns, ops, reasons */

#define TRACE_CHUNK_MAGIC        UINT32_C(0x43505948) /* "HYPC" */
#define TRACE_CHUNK_HEADER_BYTES 48
#define TRACE_CHUNK_RAW_MAX      (UINT32_C(1) << 26)  /* bytes of a body, stored or unpacked */
#define TRACE_CHUNK_NO_NAMES     UINT32_C(1)          /* flag of an EVENTS chunk: it has no THREAD_NAME */
#define TRACE_TRAILER_MAGIC      UINT32_C(0x45505948) /* "HYPE": last four bytes of a whole trace */
#define TRACE_TRAILER_BYTES      12

/*
 * The limit of a text in an event.  A writer leaves longer ones out and counts them, so that bodies stay
 * below their limit.
 */
#define TRACE_TEXT_BYTES_MAX (UINT32_C(1) << 24)

/* X(id, NAME) */
#define TRACE_CODECS(X) \
        X(0, RAW)       \
        X(1, ZSTD)

enum trace_codec {
#define X(id, name) TRACE_CODEC_##name = (id),
        TRACE_CODECS(X)
#undef X
};

/* Chunks that are not tables: X(id, NAME) */
#define TRACE_CHUNK_KINDS(X) \
        X(1, FILE)           \
        X(2, EVENTS)         \
        X(3, INDEX)          \
        X(4, ATTACHMENT)     \
        X(5, STATES)

/* Tables, each a chunk kind of its own: X(id, NAME, name in text) */
#define TRACE_TABLES(X)                      \
        X(16, STRINGS, "string")             \
        X(17, META, "meta")                  \
        X(18, PROCESSES, "process")          \
        X(19, THREADS, "thread")             \
        X(20, MODULES, "module")             \
        X(21, MAPPINGS, "mapping")           \
        X(22, FRAMES, "frame")               \
        X(23, STACKS, "stack")               \
        X(24, LOCATIONS, "location")         \
        X(25, ZONE_PATHS, "zone_path")       \
        X(26, SAMPLE_EVENTS, "sample_event") \
        X(27, SYMBOLS, "symbol")             \
        X(28, LOSSES, "loss")                \
        X(29, NOTICES, "notice")             \
        X(30, CLOCKS, "clock")               \
        X(31, PLOTS, "plot")                 \
        X(32, LOCKS, "lock")                 \
        X(33, DEVICES, "device")             \
        X(34, DEVICE_CLOCKS, "device_clock") \
        X(35, PROGRAM_INFO, "program_info")  \
        X(36, ATTACHMENTS, "attachment")     \
        X(37, CODE_REGIONS, "code_region")   \
        X(38, COUNTERS, "counter")           \
        X(39, MODULE_IMAGES, "module_image") \
        X(40, CODE_LINES, "code_line")       \
        X(41, RECORDINGS, "recording")       \
        X(42, SYSCALLS, "syscall")           \
        X(43, TRACKS, "track")               \
        X(44, IMPORTS, "import")             \
        X(45, IMPORT_LOSSES, "import_loss")  \
        X(46, EXCHANGES, "exchange")

#define TRACE_TABLE_FIRST 16
#define TRACE_TABLE_COUNT 31

enum trace_chunk_kind {
#define X(id, name) TRACE_CHUNK_##name = (id),
        TRACE_CHUNK_KINDS(X)
#undef X
};

enum trace_table {
#define X(id, name, text) TRACE_TABLE_##name = (id),
        TRACE_TABLES(X)
#undef X
};

/* The events of a thread's stream; operands are listed in format/trace_event.c: X(id, NAME, name in text) */
#define TRACE_OPS(X)                                  \
        X(1, ZONE_BEGIN, "zone_begin")                \
        X(2, ZONE_END, "zone_end")                    \
        X(3, SAMPLE, "sample")                        \
        X(4, SWITCH_OUT, "switch_out")                \
        X(5, SWITCH_IN, "switch_in")                  \
        X(6, MESSAGE, "message")                      \
        X(7, PLOT_I64, "plot_i64")                    \
        X(8, PLOT_F64, "plot_f64")                    \
        X(9, FRAME_MARK, "frame_mark")                \
        X(10, THREAD_NAME, "thread_name")             \
        X(11, THREAD_EXIT, "thread_exit")             \
        X(12, ZONE_TEXT, "zone_text")                 \
        X(13, ZONE_NAME, "zone_name")                 \
        X(14, ZONE_VALUE, "zone_value")               \
        X(15, ZONE_COLOR, "zone_color")               \
        X(16, CALLSTACK, "callstack")                 \
        X(17, MESSAGE_TEXT, "message_text")           \
        X(18, FRAME_BEGIN, "frame_begin")             \
        X(19, FRAME_END, "frame_end")                 \
        X(20, MEMORY_ALLOC, "memory_alloc")           \
        X(21, MEMORY_FREE, "memory_free")             \
        X(22, MEMORY_DISCARD, "memory_discard")       \
        X(23, LOCK_WAIT, "lock_wait")                 \
        X(24, LOCK_OBTAIN, "lock_obtain")             \
        X(25, LOCK_RELEASE, "lock_release")           \
        X(26, LOCK_MARK, "lock_mark")                 \
        X(27, LOCK_GONE, "lock_gone")                 \
        X(28, LOCK_NAME, "lock_name")                 \
        X(29, FIBER_ENTER, "fiber_enter")             \
        X(30, FIBER_LEAVE, "fiber_leave")             \
        X(31, THREAD_GROUP, "thread_group")           \
        X(32, DEVICE_ZONE_BEGIN, "device_zone_begin") \
        X(33, DEVICE_ZONE_END, "device_zone_end")     \
        X(34, DEVICE_TIME, "device_time")             \
        X(35, DEVICE_SPAN, "device_span")             \
        X(36, WAKEUP, "wakeup")                       \
        X(37, STACK_COPY, "stack_copy")               \
        X(38, ZONES_GONE, "zones_gone")               \
        X(39, ZONE_KEY, "zone_key")                   \
        X(40, DEVICE_VALUE, "device_value")           \
        X(41, DEVICE_INSTANT, "device_instant")       \
        X(42, FLOW, "flow")                           \
        X(43, FRAME_PICTURE, "frame_picture")

#define TRACE_OP_COUNT       44  /* ids below this are known */
#define TRACE_OPERANDS_MAX   8   /* of one op */
#define TRACE_OPERANDS_TOTAL 103 /* of all ops together */
#define TRACE_COLUMN_OP      0   /* columns of an EVENTS chunk; operand i of op K is column K * 8 + i */
#define TRACE_COLUMN_TIME    1
#define TRACE_COLUMNS_PER_OP 8

enum trace_op {
#define X(id, name, text) TRACE_OP_##name = (id),
        TRACE_OPS(X)
#undef X
};

/* The phase of a FLOW: X(id, NAME) */
#define TRACE_FLOW_PHASES(X) \
        X(1, BEGIN)          \
        X(2, STEP)           \
        X(3, END)

enum trace_flow_phase {
#define X(id, name) TRACE_FLOW_##name = (id),
        TRACE_FLOW_PHASES(X)
#undef X
};

/* struct trace_thread.kind */
enum trace_thread_kind {
        TRACE_THREAD_KERNEL = 0, /* a thread as the kernel knows it */
        TRACE_THREAD_FIBER = 1,  /* runs on threads, see FIBER_ENTER */
        /* Another tool's, which recorded no context switches: when it was on a CPU is not known. */
        TRACE_THREAD_IMPORTED = 2,
};

/* struct trace_attachment.kind: X(id, NAME) */
#define TRACE_ATTACHMENT_KINDS(X) \
        X(1, SOURCE_TEXT)         \
        X(2, CODE_IMAGE)          \
        X(3, MODULE_FILE)         \
        X(4, MODULE_PARTS)        \
        X(5, CODE_BYTES)          \
        X(6, FRAME_PICTURE)

enum trace_attachment_kind {
#define X(id, name) TRACE_ATTACHMENT_##name = (id),
        TRACE_ATTACHMENT_KINDS(X)
#undef X
};

/* struct trace_module_image.state: X(id, NAME, "words") */
#define TRACE_IMAGE_STATES(X)                                        \
        X(1, KEPT, "kept")                                           \
        X(2, TOO_LATE, "gone before it could be opened")             \
        X(3, OVER_LIMIT, "left out: the limit for code was reached") \
        X(4, UNREADABLE, "could not be read")                        \
        X(5, FILE_LIMIT, "left out: longer than ulimit -f allows")

enum trace_image_state {
#define X(id, name, words) TRACE_IMAGE_##name = (id),
        TRACE_IMAGE_STATES(X)
#undef X
};

#define TRACE_IMAGE_STATE_COUNT 6 /* ids below this are known */

/* struct trace_code_region.source: who announced it: X(id, NAME) */
#define TRACE_CODE_SOURCES(X) \
        X(0, ANNOUNCED)       \
        X(1, PERF_MAP)        \
        X(2, JITDUMP)

enum trace_code_source {
#define X(id, name) TRACE_CODE_SOURCE_##name = (id),
        TRACE_CODE_SOURCES(X)
#undef X
};

/* struct trace_recording.clock: how its times came onto this trace's timeline: X(id, NAME, "words") */
#define TRACE_ALIGNMENTS(X)                                                     \
        X(1, REFERENCE, "its clock is the timeline")                            \
        X(2, SAME_BOOT, "exact: the same boot, one monotonic clock")            \
        X(3, REALTIME, "by CLOCK_REALTIME, which both hosts kept synchronised") \
        X(4, REALTIME_FREE, "by CLOCK_REALTIME, not known to be synchronised")  \
        X(5, EXCHANGED, "by clock readings over its capture's connection")

enum trace_alignment {
#define X(id, name, words) TRACE_ALIGNMENT_##name = (id),
        TRACE_ALIGNMENTS(X)
#undef X
};

#define TRACE_ALIGNMENT_COUNT 6 /* ids below this are known */

/* struct trace_plot.format */
enum trace_plot_format {
        TRACE_PLOT_NUMBER = 0,
        TRACE_PLOT_BYTES = 1,
        TRACE_PLOT_PERCENT = 2,
        TRACE_PLOT_WATTS = 3,
};

/* struct trace_module.kind: X(id, NAME) */
#define TRACE_MODULE_KINDS(X) \
        X(1, FILE)            \
        X(2, VDSO)            \
        X(3, KERNEL)          \
        X(4, ANONYMOUS)       \
        X(5, MARK)            \
        X(6, IMAGE)           \
        X(7, PYTHON)

enum trace_module_kind {
#define X(id, name) TRACE_MODULE_##name = (id),
        TRACE_MODULE_KINDS(X)
#undef X
};

/* struct trace_sample_event.mode: what its `rate` counts */
enum trace_sample_mode {
        TRACE_SAMPLE_MODE_FREQUENCY_HZ = 1,
        TRACE_SAMPLE_MODE_PERIOD = 2,
        TRACE_SAMPLE_MODE_WITH_LEADER =
                3, /* read with each sample of `leader`; the weight is the count since the previous one */
        TRACE_SAMPLE_MODE_COUNTED = 4, /* no samples, only a total in COUNTERS */
};

/*
 * How far the callstack of a sample or switch goes, and how certain it is: X(id, NAME, "words").
 * From TRACE_STACK_TRUNCATED on callers are missing, and the stack's root is the mark "[truncated]".
 */
#define TRACE_STACK_STATES(X)                                                                        \
        X(0, UNKNOWN, "not stated")                                                                  \
        X(1, COMPLETE, "complete")                                                                   \
        X(2, STITCHED, "complete: joined to the thread's stack before")                              \
        X(3, APPROXIMATE, "complete: joined to memory that was read a moment later")                 \
        X(4, FRAME_POINTERS, "by frame pointers, as far as they go")                                 \
        X(8, TRUNCATED, "truncated: deeper than the copy of the stack")                              \
        X(9, TOO_DEEP, "truncated: more frames than are followed")                                   \
        X(10, NO_TABLE, "truncated: code without unwind information or a usable frame pointer")      \
        X(11, BAD_MEMORY, "truncated: invalid return address")                                       \
        X(12, NO_REGISTER, "truncated: a rule needs a register whose value is lost")                 \
        X(13, OTHER_STACK, "truncated: outer callers are on another stack, which could not be read") \
        X(14, TABLE_LATE, "truncated: the unwind table of the code was not ready yet")               \
        X(15, LEFT_CODE, "truncated: the chain of frame pointers left the program's code")           \
        X(16, TABLE_FULL, "truncated: the table of distinct call stacks was full")                   \
        X(17, NO_COPY, "truncated: no memory of the stack was there, as where a program ends")       \
        X(18, RETURN_PROBE, "truncated: the kernel holds the return address: a uretprobe is active")

enum trace_stack_state {
#define X(id, name, words) TRACE_STACK_##name = (id),
        TRACE_STACK_STATES(X)
#undef X
};

#define TRACE_STACK_STATE_COUNT 19 /* ids below this are known */

/* Why a thread left its CPU: X(id, NAME, "words") */
#define TRACE_WAIT_STATES(X)                                \
        X(0, UNKNOWN, "unknown")                            \
        X(1, PREEMPTED, "preempted")                        \
        X(2, SLEEPING, "sleeping (interruptible)")          \
        X(3, UNINTERRUPTIBLE, "sleeping (uninterruptible)") \
        X(4, STOPPED, "stopped by a signal or a debugger")  \
        X(5, ENDED, "ended")                                \
        X(6, IDLE, "idle kernel thread")

enum trace_wait_state {
#define X(id, name, words) TRACE_WAIT_##name = (id),
        TRACE_WAIT_STATES(X)
#undef X
};

#define TRACE_WAIT_STATE_COUNT 7 /* ids below this are known */

/*
 * Who got the CPU of a preempted thread: X(id, NAME).  A recorded thread is OTHER + its id in THREADS.
 */
#define TRACE_SUCCESSORS(X) \
        X(0, UNKNOWN)       \
        X(1, IDLE)          \
        X(2, OTHER)

enum trace_successor {
#define X(id, name) TRACE_SUCCESSOR_##name = (id),
        TRACE_SUCCESSORS(X)
#undef X
};

/* struct trace_clock.kind: what the ticks are: X(id, NAME) */
#define TRACE_CLOCK_KINDS(X) \
        X(1, MONOTONIC_RAW)  \
        X(2, TSC)            \
        X(3, CNTVCT)         \
        X(4, RDTIME)         \
        X(5, MONOTONIC)      \
        X(6, REALTIME)       \
        X(7, BOOTTIME)

enum trace_clock_kind {
#define X(id, name) TRACE_CLOCK_##name = (id),
        TRACE_CLOCK_KINDS(X)
#undef X
};

/* struct trace_track.kind: X(id, NAME) */
#define TRACE_TRACK_KINDS(X) \
        X(0, OTHER)          \
        X(1, CORE)           \
        X(2, PROCESSOR)      \
        X(3, STREAM)

enum trace_track_kind {
#define X(id, name) TRACE_TRACK_##name = (id),
        TRACE_TRACK_KINDS(X)
#undef X
};

/* The bits of a DEVICE_VALUE are of this kind: X(id, NAME) */
#define TRACE_VALUE_KINDS(X) \
        X(0, DOUBLE)         \
        X(1, SIGNED)         \
        X(2, UNSIGNED)

enum trace_value_kind {
#define X(id, name) TRACE_VALUE_##name = (id),
        TRACE_VALUE_KINDS(X)
#undef X
};

/* Why something is missing: X(id, NAME, "words for the report"), counted in the table LOSSES */
#define TRACE_LOSS_REASONS(X)                                                                                    \
        X(1, KERNEL_RING_FULL, "kernel records lost: the kernel's ring was full")                                \
        X(2, CLIENT_RING_FULL, "other events dropped by the program: a thread's ring was full")                  \
        X(3, CLIENT_NO_RING, "events dropped by the program: no ring left for a thread")                         \
        X(4, CLIENT_GARBAGE, "bytes skipped in a client ring: not valid events")                                 \
        X(5, CLIENT_GONE, "client regions lost: the process ended before its region could be opened")            \
        X(6, ZONE_UNBALANCED, "ends of zones without a beginning, left out")                                     \
        X(7, ZONE_TOO_DEEP, "zones left out: nested deeper than 4,095")                                          \
        X(8, STACK_TABLE_FULL, "call stacks cut: the table of distinct call stacks was full")                    \
        X(9, STACK_TOO_DEEP, "call stacks cut: deeper than the kernel records")                                  \
        X(10, THROTTLED, "times that the kernel throttled sampling")                                             \
        X(11, RECORD_GARBAGE, "kernel records that could not be read")                                           \
        X(12, PATH_TABLE_FULL, "samples with a shortened zone path: the table of zone paths was full")           \
        X(13, CLOCK_CORRECTED, "timestamps adjusted to keep each thread's order")                                \
        X(14, CLIENT_REFUSED, "client regions refused: not sealed, damaged, of another ABI, or too many")        \
        X(15, STACK_LEFT_CODE, "call stacks cut: the chain of frame pointers left the program's code")           \
        X(16, CLIENT_BUSY, "client regions refused: another hyprof records that program")                        \
        X(17, STRING_TABLE_FULL, "texts left out: the memory for texts was full")                                \
        X(18, DROPPED_ZONES, "zones dropped by the program: a thread's ring was full")                           \
        X(19, DROPPED_MESSAGES, "messages dropped by the program: a thread's ring was full")                     \
        X(20, DROPPED_PLOTS, "values of plots dropped by the program: a thread's ring was full")                 \
        X(21, DROPPED_FRAMES, "frames dropped by the program: a thread's ring was full")                         \
        X(22, DROPPED_MEMORY, "memory events dropped by the program: a thread's ring was full")                  \
        X(23, DROPPED_LOCKS, "lock events dropped by the program: a thread's ring was full")                     \
        X(24, DROPPED_DEVICES, "device events dropped by the program: a thread's ring was full")                 \
        X(25, BLOB_REFUSED, "large texts or images refused by the program: larger than allowed, or no room")     \
        X(26, BLOB_DAMAGED, "large texts or images lost: overwritten before being read")                         \
        X(27, ATTACHMENTS_FULL, "source texts or images left out: the limit was reached")                        \
        X(28, STACK_NOT_UNWOUND, "call stacks of events cut: the program's code keeps no frame pointers")        \
        X(29, STACK_TRUNCATED, "call stacks truncated: deeper than the copy of the stack")                       \
        X(30, STACK_NO_TABLE, "call stacks truncated: code without unwind information")                          \
        X(31, STACK_BAD_MEMORY, "call stacks truncated: invalid return address")                                 \
        X(32, STACK_NO_REGISTER, "call stacks truncated: a register that a rule needs is lost")                  \
        X(33, STACK_OTHER,                                                                                       \
          "call stacks truncated: outer callers are on another stack, which could not be read")                  \
        X(34, STACK_TABLE_LATE, "call stacks truncated: the unwind table of the code was not ready yet")         \
        X(35, UNWIND_FILE_FAILED, "files whose unwind information could not be read")                            \
        X(36, SAMPLES_LOST, "samples lost: the kernel or the processor could not take them")                     \
        X(37, SWITCHES_LOST, "context switches lost: the ring of the BPF program was full")                      \
        X(38, CODE_TOO_LATE, "files of code not kept: gone before being opened")                                 \
        X(39, CODE_OVER_LIMIT, "files of code not kept: the limit was reached (--embed-max)")                    \
        X(40, CODE_UNREADABLE, "files of code not kept: not readable")                                           \
        X(41, JIT_GARBAGE, "lines of perf maps and records of jitdumps that could not be read")                  \
        X(42, SWITCHES_UNSEEN, "context switches that the kernel did not report, with estimated time")           \
        X(43, CODE_REPLACED, "replacements of code at unrecorded times: samples nearby have no name")            \
        X(44, CLIENT_UNREAD, "bytes left in client rings: the recording was stopped before that was read")       \
        X(45, STACK_32_BIT, "call stacks of 32-bit programs, which are not unwound: use --unwind=fp")            \
        X(46, NAMES_FULL, "names left out: the memory for names that programs give was full")                    \
        X(47, CLIENT_NO_ROOM,                                                                                    \
          "client regions refused: larger than half of the memory that was left for them")                       \
        X(48, CLIENT_NO_FILES, "client regions lost: hyprof had no file descriptor left (ulimit -n)")            \
        X(49, LOCATIONS_SHARE, "zones without a name: a program took half of the room for places of zones")      \
        X(50, PYTHON_MISSED,                                                                                     \
          "samples in Python code without Python functions: the interpreter was just found, or a ring was full") \
        X(51, PYTHON_CUT,                                                                                        \
          "call stacks whose Python functions are cut: more than 4,096 deep, or not readable")                   \
        X(52, NOT_TAKEN, "events that no capture took in time: the recorder's buffer was full")                  \
        X(53, TAKEN_BEFORE, "events that an earlier capture of this recording took")                             \
        X(54, PYTHON_LATE,                                                                                       \
          "samples in Python code without Python functions: more than 20 ms old when memory was read")           \
        X(55, PYTHON_UNFIT,                                                                                      \
          "samples in Python code without Python functions: what was read later did not fit the native stack")   \
        X(56, CODE_NOT_WATCHED,                                                                                  \
          "images in memory that can be written, without names: too many or too large to be read in each cycle") \
        X(57, THREAD_UNKNOWN, "events of threads that the kernel did not report, left out")                      \
        X(58, PYTHON_GONE,                                                                                       \
          "call stacks without some Python functions: the code was gone, or made no sense, when it was read")    \
        X(59, PYTHON_TOO_MANY,                                                                                   \
          "call stacks without some Python functions: too many new code objects at once")                        \
        X(60, CLIENT_NO_SPACE,                                                                                   \
          "programs without zones: no room for the memory that is shared with hyprof (ulimit -v, -f, -n)")       \
        X(61, STACK_NO_COPY,                                                                                     \
          "call stacks truncated: no memory of the stack was there, as where a program ends")                    \
        X(62, CODE_FILE_LIMIT, "files of code not kept: longer than ulimit -f allows")                           \
        X(63, CLIENT_JOINED,                                                                                     \
          "programs whose first zones may be missing: started without the environment of the recording")         \
        X(64, STACK_RETURN_PROBE,                                                                                \
          "call stacks truncated: the kernel holds the return address: a uretprobe is active")                   \
        X(65, PYTHON_MIDDLE,                                                                                     \
          "call stacks without the middle of a deep recursion of Python functions: more than 256 deep")          \
        X(66, WAIT_STACKS_LOST, "call stacks of long waits lost: the ring of the BPF program was full")          \
        X(67, SYSCALLS_MISSED, "system calls not counted: the kernel had no memory for a thread")                \
        X(68, STACK_COPIES_FULL,                                                                                 \
          "copies of stacks not kept: the limit was reached, or too many waited (--keep-stacks-max)")            \
        X(69, PROBES_LOST,                                                                                       \
          "begins and ends of functions and tracepoints lost: the ring of the BPF program was full")             \
        X(70, NO_PICTURES,                                                                                       \
          "pictures of frames not recorded: width or height is not a multiple of 4, or above 2048")              \
        X(71, NO_DEVICE_ZONES,                                                                                   \
          "zones of devices not recorded: made by macros for an interface that hyprof does not ask for times")   \
        X(72, NO_EVENTS,                                                                                         \
          "calls of Tracy's or Perfetto's API not recorded: categories, parameters, texts on tracks, "           \
          "more flows")                                                                                          \
        X(73, PROBES_OPEN, "begins of tracepoints with keys lost: the table of 16,384 open ones was full")

#define TRACE_LOSS_COUNT 74 /* ids below this are known */

enum trace_loss_reason {
#define X(id, name, words) TRACE_LOSS_##name = (id),
        TRACE_LOSS_REASONS(X)
#undef X
};

/* Data that this recording could not have from the start: X(id, NAME, "words for the report") */
#define TRACE_NOTICE_IDS(X)                                                                                 \
        X(1, NO_HARDWARE_COUNTERS,                                                                          \
          "no samples of hardware counters on this machine: sampled by cpu-clock instead of cycles")        \
        X(2, NO_KERNEL_STACKS, "no samples and no call stacks in the kernel: not permitted")                \
        X(3, KERNEL_SYMBOLS_HIDDEN, "kernel functions without names: kptr_restrict hides the addresses")    \
        X(4, NOT_SYMBOLIZED, "recorded without symbols: --no-symbolize")                                    \
        X(5, SHORT_CHILDREN, "children that live for less than one sampling period are not sampled")        \
        X(6, NO_CONTEXT_SWITCHES, "no context switches: times on a CPU and waiting are unknown")            \
        X(7, SYMBOLIZER_FAILED, "symbols incomplete: the symbolizer failed")                                \
        X(8, STOPPED_EARLY, "the recording was stopped before the program ended")                           \
        X(9, FRAME_POINTERS_ONLY,                                                                           \
          "call stacks by frame pointers: callers of code built without them are missing")                  \
        X(10, ATTACHED, "attached to a running program: zones that were open then are not shown")           \
        X(11, CLIENT_RING_FIXED, "a running program keeps the size of its rings")                           \
        X(12, WAITING_BY_PERF, "waiting was recorded through perf, not through BPF")                        \
        X(13, NO_WAKERS, "no wakers: the threads that ended waits are unknown")                             \
        X(14, COUNTERS_SHARED, "more events than counters: values are scaled up from a part of the time")   \
        X(15, RIGHTS_KEPT, "hyprof kept more rights than it needed")                                        \
        X(16, NO_STACK_COPIES, "no copies of stacks: call stacks by frame pointers, as far as they go")     \
        X(17, RING, "only the end of the recording was kept (--ring)")                                      \
        X(18, PAUSED, "the recording was paused: no samples, and no new zones or other events, meanwhile")  \
        X(19, PYTHON_UNKNOWN,                                                                               \
          "a version of Python that is not known: its functions are missing in call stacks")                \
        X(20, NO_PYTHON, "no Python functions in the call stacks of a program")                             \
        X(21, PYTHON_APPROXIMATE,                                                                           \
          "Python functions in call stacks are approximate: read a moment after the sample, without BPF")   \
        X(22, MERGED_PART, "a merged trace was cut off or damaged: the part before that is here")           \
        X(23, MERGED_NEWER, "a merged trace has events that this version does not know: they are left out") \
        X(24, SILENT_COUNTERS, "no samples of an event: its counter counts, but its interrupt never comes") \
        X(25, OUT_OF_REACH, "programs with other rights, or that may not be read, were not recorded")       \
        X(27, CPU_QUOTA, "a CPU quota (cgroup) throttled the program")                                      \
        X(28, PROBES,                                                                                       \
          "functions, static probes or tracepoints were recorded (--zone-function and the like)")           \
        X(29, NO_PROBE, "a function or static probe was not recorded, or not to the end")                   \
        X(30, SAMPLES_THINNED,                                                                              \
          "the recorder could not keep up with all samples: some count for those that were left out")

#define TRACE_NOTICE_COUNT 31

enum trace_notice_id {
#define X(id, name, words) TRACE_NOTICE_##name = (id),
        TRACE_NOTICE_IDS(X)
#undef X
};

#endif /* FORMAT_TRACE_SPEC_H */
