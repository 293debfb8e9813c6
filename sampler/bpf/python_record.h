/* SPDX-License-Identifier: MIT */
/*
 * sampler/bpf/python_record.h - the data between the BPF program that reads Python's frames and the
 * recorder, the same on both sides
 *
 * Way of the data:  python_processes -> [python_record] -> python_frames.bpf -> [python_record] ->
 *                   python_source
 *
 * The rings are those of switch_layout.h: one for each CPU, in plain memory, records in one piece.
 */
#ifndef SAMPLER_BPF_PYTHON_RECORD_H
#define SAMPLER_BPF_PYTHON_RECORD_H

#include <linux/types.h>

#define PYTHON_FRAMES_MAX   256 /* of a sample, innermost first */
#define PYTHON_OUTER_FRAMES 32  /* the outermost ones of these, if the stack has more; a power of two */
#define PYTHON_INNER_FRAMES (PYTHON_FRAMES_MAX - PYTHON_OUTER_FRAMES)
/* steps from frame to frame, those that only stand for calls by C included */
#define PYTHON_STEPS_MAX     4096
#define PYTHON_FRAME_BYTES   88   /* of an interpreter's frame, as many as are read */
#define PYTHON_SLOTS         1024 /* processes at a time; a power of two */
#define PYTHON_PROBES        16   /* slots after its own in which a process may lie */
#define PYTHON_THREADS_MAX   256  /* steps through an interpreter's threads to find one */
#define PYTHON_KNOWN_THREADS 16384
#define PYTHON_WAIT_SLOTS    16384 /* for threads that wait; a power of two */
#define PYTHON_CALL_SLOTS    4096  /* for threads in system calls; a power of two */
/* the longest pause before a thread that is not Python's is searched for again */
#define PYTHON_RETRY_NS      100000000
#define PYTHON_NESTED_MAX    2 /* interpreters on a stack that called the one that runs */
#define PYTHON_NO_OFFSET     0xffff
#define PYTHON_COPIES_MAX    65536 /* copies of a function's instructions: about one a thread */
#define PYTHON_SEEN_SLOTS    8192  /* of code objects that are remembered as copied; a power of two */
#define PYTHON_SEEN_WAYS     2     /* of them in a slot */
#define PYTHON_CODE_BYTES    384   /* of a code object before its instructions, at most */
#define PYTHON_TEXT_BYTES    2048  /* of a name or a path that is copied; the rest is left out */
#define PYTHON_LINES_BYTES   8192  /* of a table of lines, likewise */
#define PYTHON_CODE_WORDS    12    /* words that identify a code object: from its flags to its line table */
#define PYTHON_CODE_FUNCTION 1     /* a bit of a code object's flags: it is a function's (CO_OPTIMIZED) */
/* words of its path that identify it as well: the length and the last bytes */
#define PYTHON_PATH_WORDS 9
#define PYTHON_PATH_BYTES 64ULL /* at most */

/*
 * PYTHON_NO_OFFSET = this version has no such member.  All other offsets in a frame are below
 * PYTHON_FRAME_BYTES.
 */
struct python_offsets {
        __u16 interpreter_next, interpreter_threads; /* of an interpreter */
        __u16 thread_next, thread_native_id;         /* of a thread's state */
        __u16 thread_frame;                          /* the innermost frame, or a struct that leads to it */
        __u16 link_frame;                            /* in that struct: the innermost frame; or none */
        __u16 frame_code, frame_previous, frame_instruction, frame_owner;
        __u16 frame_is_entry;  /* in 3.11, a byte: C called this frame; or none */
        __u16 interpreter_gil; /* of an interpreter: the pointer to its GIL */
        /*
         * In the GIL: the thread that took the lock last, whether the lock is held, how often its holder
         * changed.
         */
        __u16 gil_holder, gil_locked, gil_switches;
        __u16 gil_bytes; /* 0 = there is none */
        /*
         * In a frame: an int, the number of the copy of the instructions that it runs; or none.  In a code
         * object: a pointer to the number of copies and then the copies; and its own instructions, which are
         * copy 0.
         */
        __u16 frame_copy, code_copies, code_instructions;
};

/* Offsets in objects, in bytes from their beginning. */
struct python_objects {
        __u16 code_file, code_name, code_lines, code_first_line, code_instructions; /* of a code object */
        __u16 bytes_length, bytes_data;
        /* the characters of a str: of ASCII, of any other */
        __u16 text_length, text_state, text_ascii, text_wide;
        __u16 code_is_numbered; /* from 3.12 on, each has a number of its own before its lines (co_version) */
};

/* A process that runs Python.  `pid` is written last, and is 0 while the rest changes. */
struct python_process {
        __u32 pid;
        /* frames with this owner, or a higher number, stand for C code that called Python */
        __u8 owner_entry;
        __u8 unused[3];
        __u64 serial;            /* differs for each process and program that is entered */
        __u64 since_ns;          /* when its program was mapped, or it was forked, by the recorder's clock */
        __u64 interpreters_avma; /* of the pointer to the first interpreter */
        __u64 current_avma;      /* of the pointer to the state of the thread that has the lock; or 0 */
        __u64 gil_avma;          /* of the GIL; or 0: the interpreter has a pointer to it */
        /* of the PID namespace in which threads know their numbers */
        __u64 namespace_device, namespace_inode;
        struct python_offsets offsets;
        struct python_objects objects;
};

struct python_processes {
        __u64 n_entered; /* so far; while it is 0, switches and wake-ups look at no slot */
        struct python_process slots[PYTHON_SLOTS];
        /*
         * Written by switch_events.bpf: the TID of a thread in a system call at whose end its stack will be
         * copied.  If two threads share a slot, the one that was written first is lost.
         */
        __u32 calls[PYTHON_CALL_SLOTS];
};

#define PYTHON_CODE_ENTRY     1 /* bits of `code`: the frame was called by C */
#define PYTHON_CODE_COPIED    2 /* the record has a copy of its code object */
#define PYTHON_CODE_GENERATOR 4 /* read late: the frame is not on the interpreter's stack */
#define PYTHON_CODE_BITS      7

/* The address of the code object alone. */
static inline __u64 python_code_of(__u64 code)
{
        return code & ~(__u64)PYTHON_CODE_BITS;
}

/* One frame. */
struct python_raw_frame {
        __u64 code;        /* address of its code object, and the bits above */
        __u64 instruction; /* address of the instruction it is at */
        __u64 identity;    /* as python_identity(); 0 = it could not be read */
};

/*
 * The identity of a code object is made of its PYTHON_CODE_WORDS and, if python_needs_path() says so, of the
 * PYTHON_PATH_WORDS that python_path_end() finds; python_identity_end() completes it.  Another code object
 * that takes its place in memory often has its name, path and lines at the same addresses.
 */
static inline __u64 python_identity_add(__u64 identity, const __u64 *words, __u32 n_words)
{
        for (__u32 i = 0; i < n_words; i++) {
                identity = (identity ^ words[i]) * 0x9e3779b97f4a7c15ULL;
                identity ^= identity >> 32;
        }
        return identity;
}

/* Never 0. */
static inline __u64 python_identity_end(__u64 identity)
{
        return identity | 1;
}

/* The slot that remembers that a code object was copied. */
static inline __u32 python_seen_slot(__u64 code, __u64 serial)
{
        return (python_code_of(code) + serial) * 0x9e3779b97f4a7c15ULL >> 32 & (PYTHON_SEEN_SLOTS - 1);
}

/*
 * Whether a path is needed to tell a code object apart.  It is not read for functions: that would take too
 * long for each frame of a stack.
 * @flags:  the first of its words; the upper half, which changes while the code runs, is cleared
 */
static inline int python_needs_path(const struct python_objects *objects, __u64 *flags)
{
        *flags &= 0xffffffff;
        return !objects->code_is_numbered && (*flags & PYTHON_CODE_FUNCTION) == 0;
}

/* The offset in a code object of the words that tell it apart. */
static inline __u64 python_identity_off(const struct python_objects *objects)
{
        return objects->code_lines - (PYTHON_CODE_WORDS - 1) * sizeof(__u64);
}

/*
 * Whether to search again for a thread that was not one of Python's.  The pause is as long as the thread has
 * been searched for so far, so that the main thread of a short program is found soon after it begins to run
 * Python.
 */
static inline int python_looks_again(__u64 first_ns, __u64 looked_ns, __u64 now_ns)
{
        __u64 pause_ns = looked_ns - first_ns;

        return now_ns - looked_ns >= (pause_ns < PYTHON_RETRY_NS ? pause_ns : PYTHON_RETRY_NS);
}

/* The offset of the pointer to a copy of a code object's instructions, from the beginning of the copies. */
static inline __u64 python_copy_off(__u32 copy)
{
        return ((__u64)copy + 1) * sizeof(__u64);
}

enum python_record_flag {
        PYTHON_FLAG_CUT = 1,       /* there were more frames, or the next one could not be read */
        PYTHON_FLAG_NO_THREAD = 2, /* this thread is none of Python's */
        PYTHON_FLAG_HAS_GIL = 4,   /* this thread holds the GIL */
        PYTHON_FLAG_NO_GIL = 8,    /* it does not hold the GIL; with neither flag it is not known */
        PYTHON_FLAG_SWITCH = 16,   /* not of a sample: the thread begins to wait, or wakes another */
        PYTHON_FLAG_CALL = 32,     /* not of a sample: a system call ends */
};

/*
 * The kind of a str: bytes of a character, whether they follow the object, whether they are ASCII.  In
 * Pythons without a GIL a byte precedes it, in others two bits.
 */
static inline __u32 python_text_kind(__u32 state)
{
        return (state & 0xfc) == 0 ? state >> 6 : state;
}

#define PYTHON_TEXT_WIDTH(kind) ((kind) >> 2 & 7)
#define PYTHON_TEXT_COMPACT     32
#define PYTHON_TEXT_ASCII       64

/* Members of a str of 3.11, from its length on. */
struct python_text_head {
        __u64 length, hash;
        __u32 state, reserved;
};

/*
 * Finds the end of a path that tells code objects apart, in the bytes of the path that are copied.  Returns
 * its length in bytes; @ret_off: where it begins in the str.
 */
static inline __u64 python_path_end(const struct python_objects *objects, const struct python_text_head *head,
                                    __u64 *ret_off)
{
        __u32 kind = python_text_kind(head->state);
        __u64 start = (kind & PYTHON_TEXT_ASCII) != 0 ? objects->text_ascii : objects->text_wide, end;

        end = start +
              (head->length < PYTHON_TEXT_BYTES ? head->length : PYTHON_TEXT_BYTES) * PYTHON_TEXT_WIDTH(kind);
        if (end > PYTHON_TEXT_BYTES)
                end = PYTHON_TEXT_BYTES;
        *ret_off = end > start + PYTHON_PATH_BYTES ? end - PYTHON_PATH_BYTES : start;
        return end > *ret_off ? end - *ret_off : 0;
}

/* As struct switch_record_head: a multiple of 8 bytes, the length first.  Pieces follow the frames. */
struct python_record {
        __u32 n_bytes; /* all of it */
        __u32 tid;
        __u64 time_ns; /* CLOCK_MONOTONIC, just before its sample or switch */
        __u32 n_frames, flags;
        __u32 pid;
        /*
         * Frames between the innermost and the outermost ones, and how many of these C called.  The places of
         * the outermost ones are used in turn then: see python_frame_place().
         */
        __u16 n_left_out, n_left_out_entries;
        struct python_raw_frame frames[];
};

/* Where a record has a frame; @n: counted from the innermost one. */
static inline __u32 python_frame_place(__u32 n)
{
        return n < PYTHON_INNER_FRAMES
                       ? n
                       : PYTHON_INNER_FRAMES + ((n - PYTHON_INNER_FRAMES) & (PYTHON_OUTER_FRAMES - 1));
}

/* Memory of the program as it was at the sample; filled up to a multiple of 8 bytes. */
struct python_piece {
        __u64 avma;
        __u32 n_bytes, reserved;
        __u8 bytes[];
};

#define PYTHON_FRAMES_BYTES \
        (sizeof(struct python_record) + PYTHON_FRAMES_MAX * sizeof(struct python_raw_frame))
#define PYTHON_RECORD_BYTES (PYTHON_FRAMES_BYTES + 16384) /* the longest record */

/* A constant of the program, set before it is loaded. */
struct python_settings {
        __u64 ring_bytes; /* of a CPU, a power of two; a record may extend past it */
};

#endif /* SAMPLER_BPF_PYTHON_RECORD_H */
