/* SPDX-License-Identifier: MIT */
/*
 * sampler/bpf/probe_layout.h - what the BPF program of function probes and its loader have in common
 *
 * Way of the data:  function_probes.bpf -> [probe_layout] -> probe_source
 */
#ifndef SAMPLER_BPF_PROBE_LAYOUT_H
#define SAMPLER_BPF_PROBE_LAYOUT_H

#include <linux/types.h>

#define PROBE_FUNCTIONS_MAX   1024
#define PROBE_OWN             (PROBE_FUNCTIONS_MAX - 1) /* hyprof's own function, to measure a hit */
#define PROBE_RING_BYTES      (1ul << 23)
#define PROBE_WAKE_SHARES     8 /* the reader is woken each time that another such part of the ring is full */
#define PROBE_RING_HEAD_BYTES 8 /* of the kernel's, before each record */

/* An instruction of a function, and its meaning. */
enum probe_kind {
        PROBE_BEGIN, /* the function's first one */
        PROBE_END,   /* a return, or a jump to another function */
        PROBE_JUMP,  /* a jump to where a register says: an end, unless that is in the function */
        PROBE_MARK,  /* of no function: a static probe that becomes a message */
        PROBE_SPAN,  /* of records alone: from one tracepoint to another, which had the same key */
};

/*
 * A static probe (SDT) has its arguments where the compiler had them: registers, memory, constants.  Its
 * cookie has the number of this description in place of the offset, and a size of PROBE_STATIC.
 */
#define PROBE_STATIC     1
#define PROBE_SPECS_MAX  1024
#define PROBE_OWN_SPEC   (PROBE_SPECS_MAX - 1) /* of PROBE_OWN, with a tracepoint */
#define PROBE_ARGS_MAX   4
#define PROBE_TEXT_BYTES 512 /* of the text that an argument may point to, with its NUL */
#define PROBE_USER_MIN   4096
#define PROBE_USER_END   (1ull << 47)

enum probe_arg_kind {
        PROBE_ARG_NONE,
        PROBE_ARG_UNKNOWN,
        PROBE_ARG_CONSTANT,
        PROBE_ARG_REGISTER,
        PROBE_ARG_MEMORY,
        PROBE_ARG_SUM,     /* a register and a constant */
        PROBE_ARG_FIELD,   /* of a tracepoint: a number at `offset` of its record, */
        PROBE_ARG_CHARS,   /* a text there, */
        PROBE_ARG_LOCATED, /* or 32 bits: where in the record the text is */
};

/* How a value is shown; the text of static probes does not say it. */
enum probe_style {
        PROBE_STYLE_GUESSED,
        PROBE_STYLE_SIGNED,
        PROBE_STYLE_UNSIGNED,
        PROBE_STYLE_HEX,
        PROBE_STYLE_BOOL,
        PROBE_STYLE_CHARACTER,
        PROBE_STYLE_ENUM,
        PROBE_STYLE_FLOATING,
        PROBE_STYLE_TEXT, /* the value is its address */
};

#define PROBE_HOPS_MAX 2 /* pointers that are followed after the first value */

struct probe_arg {
        __s64 offset; /* the constant, or what is added to the registers */
        __u8 kind;    /* enum probe_arg_kind */
        __u8 reg, index_reg;
        __u8 scale; /* of index_reg; 0 = none */
        __u8 size;  /* 1, 2, 4, 8 */
        __u8 is_signed;
        __u8 style;  /* enum probe_style */
        __u8 n_hops; /* what follows is a pointer to memory, at these offsets: */
        __s32 hops[PROBE_HOPS_MAX];
        __u32 is_address; /* the last memory is not read: its address is the value */
        __u32 text_max;   /* characters of an array; 0 = the text ends with its NUL alone */
};

#define PROBE_KEYS_MAX 2

/* Programs for tracepoints: each of the zones that begin or end at one tracepoint has another one there. */
#define PROBE_POINT_PROGRAMS 4

struct probe_spec {
        struct probe_arg args[PROBE_ARGS_MAX];
        struct probe_arg keys[PROBE_KEYS_MAX]; /* of a tracepoint: what joins a begin and its end */
        __u32 is_syscall;                      /* only wanted ones; the first argument is the number */
        __u32 has_texts;                       /* an argument is one, or may point to one */
};

/* Begins with keys that wait for their ends. */
#define PROBE_OPEN_MAX 16384

struct probe_key {
        __u64 words[PROBE_KEYS_MAX];
        __u64 function;
};

struct probe_open {
        __u64 time_ns;
        __u32 pid, tid;
        __u64 values[PROBE_ARGS_MAX];
};

/* A probe's cookie: all that the program knows of the instruction. */
#define PROBE_FUNCTION_BITS 10
#define PROBE_KIND_BITS     2
#define PROBE_REGISTER_BITS 4
#define PROBE_OFFSET_BITS   24 /* of the instruction in its function; and the function's size */

static inline __attribute__((unused)) __u64 probe_cookie(__u32 function, enum probe_kind kind, __u32 reg,
                                                         __u64 offset, __u64 size)
{
        __u64 cookie = size;

        cookie = cookie << PROBE_OFFSET_BITS | offset;
        cookie = cookie << PROBE_REGISTER_BITS | reg;
        cookie = cookie << PROBE_KIND_BITS | kind;
        return cookie << PROBE_FUNCTION_BITS | function;
}

struct probe_record {
        __u64 time_ns; /* CLOCK_MONOTONIC */
        /* the stack pointer, where the return address lies: the same at begin and end; of a SPAN, its time */
        __u64 frame;
        __u32 pid, tid;
        __u32 function;
        __u32 kind;      /* PROBE_BEGIN, PROBE_END, PROBE_MARK or PROBE_SPAN; and PROBE_IS_STATIC */
        __u32 n_args;    /* struct probe_arguments follow, of tracepoints without texts */
        __u32 is_32_bit; /* of a system call: of a 32-bit program */
};

#define PROBE_TEXT_UNKNOWN (-4096) /* the argument could not be read */
#define PROBE_TEXT_NONE    (-4097) /* a text at address 0 */

#define PROBE_IS_STATIC 0x100u /* of `kind` */

#define PROBE_POINT_FRAME (~0ull) /* of tracepoints, which are in no frame of the program's */

struct probe_arguments {
        __u64 values[PROBE_ARGS_MAX];
        __s32 text_bytes[PROBE_ARGS_MAX]; /* with a NUL; 0 and less: it points to no memory, or: */
        char texts[PROBE_ARGS_MAX][PROBE_TEXT_BYTES];
};

struct probe_long_record {
        struct probe_record record;
        struct probe_arguments arguments;
};

#define PROBE_SHORT_BYTES (sizeof(struct probe_record) + __builtin_offsetof(struct probe_arguments, texts))

struct probe_function_state {
        __u64 n_hits; /* of recorded programs */
        __u64 is_off; /* too many: no longer recorded */
};

enum probe_scope { PROBE_SCOPE_ALL, PROBE_SCOPE_CGROUP, PROBE_SCOPE_PROCESSES };

/* Variables of the program. */
struct probe_totals {
        __u64 n_lost;   /* records without room */
        __u64 n_full;   /* begins with keys beyond PROBE_OPEN_MAX open ones */
        __u64 n_others; /* hits of programs that are not recorded */
        __u64 n_ends;   /* of keys whose begin was not recorded */
        __u64 n_begins; /* of keys that began again before their end */
};

#define PROBE_SYSCALL_WORDS 8 /* SYSCALL_NUMBER_MAX + 1 bits */

/* Constants of the program, set before it is loaded. */
struct probe_settings {
        __u32 scope; /* enum probe_scope */
        __u32 unused;
        __u64 syscalls[2]
                      [PROBE_SYSCALL_WORDS]; /* a bit for each number that is wanted, of 64-bit, of 32-bit */
};

#endif /* SAMPLER_BPF_PROBE_LAYOUT_H */
