/* SPDX-License-Identifier: MIT */
/*
 * unwind/stack_walk.h - registers and a copy of the stack -> the callers, up to the thread's root
 *
 * Way of the data:  perf_record (sample), unwind_table -> [stack_walk] -> call_chain
 *
 * Reads only the given copy of the stack, and code by `read_code`.  Both, and the tables, come from the
 * profiled program: whatever they contain, a walk ends.
 *
 * A walker belongs to one thread.  It allocates nothing after stack_walker_new().
 */
#ifndef UNWIND_STACK_WALK_H
#define UNWIND_STACK_WALK_H

#include "unwind/unwind_machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_WALK_FRAMES_MAX 4096
#define STACK_WALK_PIECES_MAX 4

struct unwind_table;

/* Describes an address of the process. */
struct stack_walk_code {
        const struct unwind_table *table; /* borrowed; NULL = code without one (made at run time, say) */
        uint64_t bias;                    /* address as mapped - address of the table */
};

/* The process's memory as the walk needs it. */
struct stack_walk_space {
        /* The code at an address; false if no code is mapped there. */
        bool (*find)(const void *context, uint64_t avma, struct stack_walk_code *ret_code);
        /*
         * Reads code that no table describes, as it is now: up to @n_bytes from an address on.  Returns how
         * many it read; 0 if they cannot be read, or should not be.  NULL is fine.
         */
        size_t (*read_code)(const void *context, uint64_t avma, uint8_t *bytes, size_t n_bytes);
        const void *context;
        /*
         * A number for the state of this process's mappings, never 0 and never used for another state: what
         * the walker remembers of an address is valid only while the number stays the same.
         */
        uint64_t generation;
};

/* Bytes of the stack as they were when the registers were read. */
struct stack_walk_piece {
        const uint8_t *bytes; /* borrowed */
        uint64_t start_avma;
        uint64_t n_bytes;
};

struct stack_walk_input {
        struct unwind_registers registers;
        struct stack_walk_piece pieces[STACK_WALK_PIECES_MAX]; /* most reads are in the first one */
        size_t n_pieces;
        bool tables_only; /* code without a table ends the walk, whatever its frame pointer says */
};

/* How the caller of a frame was found. */
enum stack_walk_way {
        STACK_WALK_WAY_NONE = 0, /* it was not */
        STACK_WALK_WAY_TABLE,
        STACK_WALK_WAY_CODE,          /* by the instructions up to the frame's return: likely, not certain */
        STACK_WALK_WAY_FRAME_POINTER, /* the code has no table: likely, not certain */
        STACK_WALK_WAY_GUESS,         /* the thread stood outside of all code: it called a wrong address */
        STACK_WALK_WAY_SIGNAL,        /* by the registers that the kernel saved for a handler */
};

struct stack_walk_frame {
        uint64_t pc_avma;
        uint64_t cfa_avma; /* the caller's stack pointer; 0 = not known */
        bool is_exact; /* where the thread stood or was interrupted; else a return address, after the call */
        uint8_t way;   /* enum stack_walk_way */
};

/* Why a walk ended where it ended. */
enum stack_walk_end {
        STACK_WALK_END_ROOT = 0, /* the last frame has no caller */
        STACK_WALK_END_TOO_DEEP, /* STACK_WALK_FRAMES_MAX */
        STACK_WALK_END_CUT,      /* the copy is too short */
        /* the caller, or what a signal interrupted, is on another stack, which is not copied */
        STACK_WALK_END_OTHER_STACK,
        STACK_WALK_END_NO_TABLE,    /* the code has no known rule, and no usable frame pointer */
        STACK_WALK_END_NOT_CODE,    /* invalid return address */
        STACK_WALK_END_NO_REGISTER, /* a rule needs a register whose value is lost */
        STACK_WALK_END_BROKEN,      /* a rule or the stack makes no sense */
        STACK_WALK_N_ENDS,
};

struct stack_walk {
        struct stack_walk_frame frames[STACK_WALK_FRAMES_MAX]; /* innermost first */
        uint32_t n_frames;
        enum stack_walk_end end;
        /* The registers of the last frame, from which stack_walk_resume() goes on; pc is in the frame. */
        uint64_t sp_avma;
        uint64_t fp_avma;
        bool is_fp_known;
        /*
         * at the ends CUT and OTHER_STACK: the address that could not be read; at NOT_CODE: the return
         * address
         */
        uint64_t unread_avma;
};

struct stack_walker;

/* Returns NULL if there is no memory. */
struct stack_walker *stack_walker_new(const struct unwind_machine *machine);

/* NULL is fine. */
void stack_walker_free(struct stack_walker *walker);

/*
 * stack_walk_expect() - fetches the part of a copy into the caches that its walk will probably read
 * @input:   of that walk
 * @before:  any other walk, the last one of the same thread if possible: most callers are the same then, and
 *           their return addresses lie at the same places
 */
void stack_walk_expect(const struct stack_walk_input *input, const struct stack_walk *before);

/*
 * stack_walk_run() - walks one stack
 * @ret_walk:  overwritten, but only the first `n_frames` of its frames
 */
void stack_walk_run(struct stack_walker *walker, const struct stack_walk_space *space,
                    const struct stack_walk_input *input, struct stack_walk *ret_walk);

/*
 * stack_walk_resume() - goes on with a walk that ended for want of memory
 * @input:  the same with more pieces
 * @walk:   as stack_walk_run() left it
 */
void stack_walk_resume(struct stack_walker *walker, const struct stack_walk_space *space,
                       const struct stack_walk_input *input, struct stack_walk *walk);

/* One short phrase for people, in lower case. */
const char *stack_walk_end_text(enum stack_walk_end end);

#endif /* UNWIND_STACK_WALK_H */
