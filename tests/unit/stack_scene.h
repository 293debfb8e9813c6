/* SPDX-License-Identifier: MIT */
/* tests/unit/stack_scene.h - a stack, a table with every kind of rule, and code without one, to be walked */
#ifndef TESTS_UNIT_STACK_SCENE_H
#define TESTS_UNIT_STACK_SCENE_H

#include "tests/unit/cfi_builder.h"
#include "unwind/stack_walk.h"

#include <stddef.h>
#include <stdint.h>

#define BIAS      UINT64_C(0x7f0000000000) /* of the file that has the table */
#define STACK     UINT64_C(0x7ffd00000000) /* where the copy begins */
#define WORDS     256
#define JIT       UINT64_C(0x7e0000000000) /* code without a table */
#define JIT_END   UINT64_C(0x7e0000100000)
#define PLAIN     0x2000 /* CFA = sp + 16 */
#define ROOT      0x2100 /* it has no caller */
#define FRAMED    0x2200 /* CFA = fp + 16, the caller's at CFA - 16 */
#define EPILOGUE  0x2300 /* CFA = sp + 8, though the caller's fp is said to be at CFA - 16 */
#define PLT       0x2400
#define SIGNAL    0x2500
#define BY_RBX    0x2600 /* CFA = rbx + 8 */
#define SAVES     0x2700 /* CFA = sp + 24, rbx at CFA - 16 */
#define BY_RDI    0x2800 /* the return address is in rdi, nothing is on the stack */
#define BY_MEMORY 0x2900 /* CFA = what is at sp + 8, plus 8 */
#define ENDLESS   0x2a00 /* CFA = sp */
#define FP_LOST   0x2b00 /* the caller's fp is undefined */
#define SAME_RA   0x2c00 /* RA unchanged, CFA = sp + 16 */
#define FAR_RA    0x2d00 /* return address at CFA - 40000, by the list of registers */
#define GAP       0x3000
#define ENTRY     0x3800 /* of the file, without a rule */

struct stack_scene {
        struct cfi_builder builder;
        struct unwind_table *table;
        uint64_t words[WORDS];
        struct stack_walker *walker;
        struct stack_walk_space space;
        struct stack_walk_input input;
        struct stack_walk walk;
        const uint8_t *jit_code; /* from JIT on; NULL = it cannot be read */
        size_t jit_code_bytes;
        unsigned *n_reads;
};

/* Without a table. */
void stack_scene_begin(struct stack_scene *s, const struct unwind_machine *machine);

/* With a table of all kinds of rules. */
void stack_scene_begin_x86_64(struct stack_scene *s);

void stack_scene_add(struct stack_scene *s, uint64_t svma, const uint8_t *instructions, size_t n_bytes);

void stack_scene_end(struct stack_scene *s);

void stack_scene_run(struct stack_scene *s, uint64_t pc);

/* Walks, and compares all frames with a list that ends in 0. */
void stack_scene_expect(struct stack_scene *s, uint64_t pc, enum stack_walk_end end_wanted,
                        const uint64_t *pcs);

/* For `read_code` of the space. */
size_t stack_scene_read_jit_code(const void *context, uint64_t avma, uint8_t *bytes, size_t n_bytes);

#define PCS(...) ((const uint64_t[]){ __VA_ARGS__, 0 })

#endif /* TESTS_UNIT_STACK_SCENE_H */
