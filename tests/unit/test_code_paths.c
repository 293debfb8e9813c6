/* SPDX-License-Identifier: MIT */
/*
 * unwind/code_paths.c: what the instructions of compiled code say at each of them is what its unwind table
 * says; what would be the return address of other code, or is not known, is no result
 */
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/elf/elf_image.h"
#include "tests/unit/built_files.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"
#include "unwind/code_effect.h"
#include "unwind/code_paths.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_module.h"
#include "unwind/unwind_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------- beside tables */

static const char program[] =
        "typedef unsigned long size; typedef __builtin_va_list list;\n"
        "int first(int); int second(double *, size); void never(const char *) __attribute__((noreturn));\n"
        "extern int (*volatile hook)(int); extern double table[64]; int sum(int n, ...);\n"
        "int leaf(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i] * (s ^ i); return s; }\n"
        "double real(const double *p, int n) { double s = 0; while (n-- > 0) s = s * 1.5 + p[n]; return s; }\n"
        "int calls(int n) { int s = 0; for (int i = 0; i < n; i++) s += first(i) + first(s); return s; }\n"
        "int deep(int n) { return n < 2 ? n : deep(n - 1) + deep(n - 2) * first(n); }\n"
        "int tail(int n) { if (n > 3) return first(n); return hook(n + 1); }\n"
        "int checks(int *p, int n) { if (!p) never(\"p\"); if (n < 0) never(\"n\");\n"
        "  for (int i = 0; i < n; i++) { if (p[i] < 0) never(\"i\"); p[i] += first(p[i]); } return leaf(p, n); }\n"
        "double large(int n) { double a[100]; for (int i = 0; i < 100; i++) a[i] = first(i) * 0.5;\n"
        "  return second(a, 100) + real(a, n); }\n"
        "int grows(int n) { double *a = __builtin_alloca((size)n * 8); return second(a, (size)n) + first(n); }\n"
        "int many(int n) { switch (n) { case 0: return first(1); case 1: return leaf(0, 2); case 2: return 7;\n"
        "  case 3: return first(first(3)); case 4: return tail(1); case 5: return calls(2); } return -1; }\n"
        "int sum(int n, ...) { list l; int s = 0; __builtin_va_start(l, n);\n"
        "  while (n-- > 0) s += first(__builtin_va_arg(l, int)); __builtin_va_end(l); return s; }\n"
        "int early(int *p) { if (!p[0]) return 1; for (int i = 1; i < p[0]; i++) first(p[i] + sum(3, 1, i, 2));\n"
        "  return hook(p[1]) + hook(p[2]); }\n";

/* loop test: compilers, each with the share of places in percent that must have a result */
static const struct {
        const char *compiler, *command;
        unsigned share;
        bool is_exact; /* its tables describe how a frame is set up and taken down, too */
} ways[] = {
        { "clang", "clang --target=riscv64-linux-gnu -march=rv64gc -O2 -fuse-ld=lld", 80, false },
        { "clang", "clang --target=riscv64-linux-gnu -march=rv64gc -Os -fuse-ld=lld", 80, false },
        { "clang", "clang --target=riscv64-linux-gnu -march=rv64g -O1 -fuse-ld=lld", 80, false },
        { "clang", "clang --target=riscv64-linux-gnu -march=rv64gc -O0 -fuse-ld=lld", 80, false },
        { "clang", "clang --target=aarch64-linux-gnu -O2 -fuse-ld=lld", 80, false },
        { "clang", "clang --target=aarch64-linux-gnu -O1 -mbranch-protection=standard -fuse-ld=lld", 80,
          false },
        { "clang", "clang --target=aarch64-linux-gnu -O0 -fuse-ld=lld", 80, false },
        { "riscv64-linux-gnu-gcc", "riscv64-linux-gnu-gcc -O2", 70, true },
        { "riscv64-linux-gnu-gcc", "riscv64-linux-gnu-gcc -Os", 70, true },
        { "riscv64-linux-gnu-gcc", "riscv64-linux-gnu-gcc -O0", 70, true },
        { "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-gcc -O2", 70, true },
        { "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-gcc -O2 -mbranch-protection=standard", 70, true },
        { "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-gcc -O0", 70, true },
};

struct counts {
        unsigned n, n_found, n_unlike_base;
};

static bool is_in_register(const struct unwind_rule *rule, const struct unwind_machine *m)
{
        return rule->ra == UNWIND_SAVED_SAME ||
               (rule->ra == UNWIND_SAVED_IN_REGISTER && rule->ra_value == m->ra);
}

/* One instruction of a function. */
struct place {
        const struct unwind_table *table;
        uint64_t svma;
        const uint8_t *bytes; /* of the segment */
        size_t n_bytes, at;
        bool is_return, is_at_end;
};

/* Tables describe stores late: whether this one says a few instructions later where the address is stored. */
static bool is_stored_before(const struct place *p, const struct unwind_rule *ours)
{
        for (uint64_t later = 2; later <= 64; later += 2) {
                const struct unwind_rule *rule = unwind_table_find(p->table, p->svma + later);

                if (rule && rule->ra == UNWIND_SAVED_AT_CFA && rule->ra_value == ours->ra_value)
                        return true;
        }
        return false;
}

/* Whether both rules lead to the same caller. */
static bool agrees(const struct place *p, const struct unwind_rule *ours, const struct unwind_rule *table)
{
        if (ours->cfa_offset != table->cfa_offset)
                return false;
        if (ours->ra == UNWIND_SAVED_AT_CFA)
                return table->ra == UNWIND_SAVED_AT_CFA ? ours->ra_value == table->ra_value
                                                        : !p->is_return && is_stored_before(p, ours);
        /* The register has been loaded, and the place on the stack still holds the same. */
        return is_in_register(table, p->table->machine) || p->is_at_end;
}

static void compare(const struct place *p, bool is_exact, struct counts *counts)
{
        const struct unwind_machine *m = p->table->machine;
        const struct unwind_rule *wanted = unwind_table_find(p->table, p->svma - p->is_return);
        size_t from = p->at < CODE_PATHS_BYTES_BEFORE ? 0 : p->at - CODE_PATHS_BYTES_BEFORE;
        struct unwind_rule found;

        if (m == &unwind_machine_aarch64 && p->bytes[p->at] == 0x1f && p->bytes[p->at + 3] == 0xd5)
                return; /* nop: between functions */
        if (!wanted || (wanted->cfa != UNWIND_CFA_SP && wanted->cfa != UNWIND_CFA_FP) ||
            (!is_exact && !p->is_return && (p->is_at_end || wanted->ra != UNWIND_SAVED_AT_CFA)))
                return;
        counts->n++;
        if (!code_paths_find(m, p->bytes + from, p->n_bytes - from, p->at - from, p->is_return, &found))
                return;
        counts->n_found++;
        if (found.cfa != wanted->cfa)
                counts->n_unlike_base++;
        else
                ck_assert_msg(agrees(p, &found, wanted),
                              "%s %#lx%s: CFA %u%+d, ra %u %d; by the table %u%+d, %u %d", m->name,
                              (unsigned long)p->svma, p->is_return ? " (return)" : "", found.cfa,
                              found.cfa_offset, found.ra, found.ra_value, wanted->cfa, wanted->cfa_offset,
                              wanted->ra, wanted->ra_value);
}

static bool read_effect(const struct unwind_machine *m, const uint8_t *bytes, size_t n_bytes,
                        struct code_effect *e)
{
        return m == &unwind_machine_riscv64 ? code_effect_read_riscv64(bytes, n_bytes, e)
                                            : code_effect_read_aarch64(bytes, n_bytes, e);
}

/* True from where a frame begins to be taken down up to the jump that ends the function. */
static bool is_at_end(const struct code_effect *e, bool was_at_end)
{
        if (e->flow == CODE_FLOW_RETURN || e->flow == CODE_FLOW_JUMP || e->flow == CODE_FLOW_UNKNOWN)
                return false;
        for (unsigned i = 0; i < 2; i++)
                if (e->moves[i].kind == CODE_MOVE_LOAD)
                        return true;
        return was_at_end || e->sp_after > 0 || e->sp_is_fp;
}

static void compare_all(const struct unwind_table *table, const struct elf_image_part *part,
                        const uint8_t *bytes, bool is_exact, struct counts *counts)
{
        struct place p = {
                .table = table, .svma = part->svma, .bytes = bytes, .n_bytes = (size_t)part->file_bytes
        };
        struct code_effect e;

        while (read_effect(table->machine, bytes + p.at, p.n_bytes - p.at, &e)) {
                p.is_return = false;
                compare(&p, is_exact, counts);
                p.at += e.n_bytes;
                p.svma += e.n_bytes;
                p.is_at_end = is_at_end(&e, p.is_at_end);
                p.is_return = true;
                if (e.flow == CODE_FLOW_CALL)
                        compare(&p, is_exact, counts);
        }
}

START_LOOP_TEST(test_beside_tables, 0, sizeof(ways) / sizeof(ways[0]))
{
        struct counts counts = { .n = 0 };
        struct unwind_module *module;
        struct elf_image *image;
        struct built_files files;
        const uint8_t *bytes;
        char command[256];
        size_t file_bytes;
        int fd = -1;

        if (!built_files_has(ways[_i].compiler) ||
            (ways[_i].compiler[0] == 'c' && !built_files_has("ld.lld")))
                return;
        built_files_init(&files);
        built_files_write(&files, "a.c", program);
        (void)snprintf(command, sizeof(command),
                       "%s -fomit-frame-pointer -fasynchronous-unwind-tables -fno-stack-protector -fPIC "
                       "-shared -nostdlib a.c -o a",
                       ways[_i].command);
        ck_assert_msg(built_files_run(&files, command), "%s", command);
        ck_assert_int_eq(regular_file_open(built_files_path(&files, "a"), &fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
        ck_assert_int_eq(unwind_module_build(image, &module, NULL), 0);
        bytes = (const uint8_t *)elf_rawfile(image->elf, &file_bytes);
        for (size_t i = 0; i < module->n_segments; i++)
                compare_all(module->table, &module->segments[i], bytes + module->segments[i].file_off,
                            ways[_i].is_exact, &counts);
        printf("# %s: %u places, %u%% with a result, %u%% from another register than the table\n",
               ways[_i].command, counts.n, 100 * counts.n_found / counts.n,
               100 * counts.n_unlike_base / counts.n);
        ck_assert_uint_ge(counts.n, 200);
        ck_assert_uint_ge(100 * counts.n_found, ways[_i].share * counts.n);
        unwind_module_free(module);
        elf_image_close(image);
        io_close(&fd);
        built_files_deinit(&files);
}
END_TEST

/* ------------------------------------------------------------------- by hand */

#define WORDS(...) { __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ })

/* loop test: code of 32-bit instructions, from its first one on */
static const struct {
        const char *what;
        const struct unwind_machine *machine;
        uint32_t words[8];
        size_t n_bytes;
        bool is_return;
        struct unwind_rule wanted; /* UNWIND_CFA_NONE: no result */
} cases[] = {
#define RISCV &unwind_machine_riscv64
#define AARCH &unwind_machine_aarch64
#define LEAF(ra_at)                                                                       \
        {                                                                                 \
                .cfa = UNWIND_CFA_SP, .ra = UNWIND_SAVED_IN_REGISTER, .ra_value = (ra_at) \
        }
#define SAVED(bytes, ra_at, fp_kind, fp_at)                                                                  \
        {                                                                                                    \
                .cfa = UNWIND_CFA_SP, .cfa_offset = (bytes), .ra = UNWIND_SAVED_AT_CFA, .ra_value = (ra_at), \
                .fp = (fp_kind), .fp_value = (fp_at)                                                         \
        }
        { "add a0, a0, a1; ret", RISCV, WORDS(0x00b50533, 0x00008067), false, LEAF(1) },
        { "the same after a call", RISCV, WORDS(0x00b50533, 0x00008067), true, { .cfa = 0 } },
        { "addi sp, -16; sd ra, 8(sp); jal ra; ld ra, 8(sp); addi sp, 16; ret", RISCV,
          WORDS(0xff010113, 0x00113423, 0x7ff000ef, 0x00813083, 0x01010113, 0x00008067), false, LEAF(1) },
        { "jal ra; ld ra, 8(sp); ld s0, 0(sp); addi sp, 16; ret", RISCV,
          WORDS(0x7ff000ef, 0x00813083, 0x00013403, 0x01010113, 0x00008067), false,
          SAVED(16, -8, UNWIND_SAVED_AT_CFA, -16) },
        { "the next function: addi sp, -16; sd ra, 8(sp); ld ra, 8(sp); addi sp, 16; ret",
          RISCV,
          WORDS(0xff010113, 0x00113423, 0x00813083, 0x01010113, 0x00008067),
          true,
          { .cfa = 0 } },
        { "jr a5", RISCV, WORDS(0x00078067), false, { .cfa = 0 } },
        { "ld ra, 8(sp); addi sp, 16; jr a5", RISCV, WORDS(0x00813083, 0x01010113, 0x00078067), true,
          SAVED(16, -8, UNWIND_SAVED_SAME, 0) },
        { "beqz a0 to itself; ebreak", RISCV, WORDS(0x00050063, 0x00100073), false, { .cfa = 0 } },
        { "beqz a0 over ebreak; ret", RISCV, WORDS(0x00050463, 0x00100073, 0x00008067), false, LEAF(1) },
        { "add sp, sp, t0; ret", RISCV, WORDS(0x00510133, 0x00008067), false, { .cfa = 0 } },
        { "ret above the frame: addi sp, -16; ret",
          RISCV,
          WORDS(0xff010113, 0x00008067),
          false,
          { .cfa = 0 } },
        { "mv ra, a0; ret", RISCV, WORDS(0x00050093, 0x00008067), false, { .cfa = 0 } },
        { "add x0, x0, x1; ret", AARCH, WORDS(0x8b010000, 0xd65f03c0), false, LEAF(30) },
        { "ldp x29, x30, [sp], 32; autiasp; ret", AARCH, WORDS(0xa8c27bfd, 0xd50323bf, 0xd65f03c0), true,
          SAVED(32, -24, UNWIND_SAVED_AT_CFA, -32) },
        { "ldr x30, [sp], 16; ret", AARCH, WORDS(0xf84107fe, 0xd65f03c0), true,
          SAVED(16, -16, UNWIND_SAVED_SAME, 0) },
        { "stp x29, x30, [sp, -32]!; bl; ldp x29, x30, [sp], 32; ret", AARCH,
          WORDS(0xa9be7bfd, 0x94000400, 0xa8c27bfd, 0xd65f03c0), false, LEAF(30) },
        { "the same as the next function",
          AARCH,
          WORDS(0xa9be7bfd, 0x94000400, 0xa8c27bfd, 0xd65f03c0),
          true,
          { .cfa = 0 } },
        { "br x17", AARCH, WORDS(0xd61f0220), false, { .cfa = 0 } },
        { "add sp, sp, x1; ret", AARCH, WORDS(0x8b2163ff, 0xd65f03c0), false, { .cfa = 0 } },
        { "another machine", &unwind_machine_x86_64, WORDS(0x00008067), false, { .cfa = 0 } },
};

START_LOOP_TEST(test_by_hand, 0, sizeof(cases) / sizeof(cases[0]))
{
        const struct unwind_rule *wanted = &cases[_i].wanted;
        struct unwind_rule found = { .cfa = UNWIND_CFA_NONE };
        bool is_found = code_paths_find(cases[_i].machine, (const uint8_t *)cases[_i].words,
                                        cases[_i].n_bytes, 0, cases[_i].is_return, &found);

        ck_assert_msg(is_found == (wanted->cfa != UNWIND_CFA_NONE), "%s: %d", cases[_i].what, is_found);
        ck_assert_msg(found.cfa == wanted->cfa && found.cfa_offset == wanted->cfa_offset &&
                              found.ra == wanted->ra && found.ra_value == wanted->ra_value &&
                              found.fp == wanted->fp && found.fp_value == wanted->fp_value,
                      "%s: CFA %d, ra %u %d, fp %u %d", cases[_i].what, found.cfa_offset, found.ra,
                      found.ra_value, found.fp, found.fp_value);
}
END_TEST

START_TEST(test_calls)
{
        static const uint8_t jal[] = { 0xef, 0x00, 0xf0, 0x7f }, jump[] = { 0x6f, 0x00, 0xf0, 0x7f };
        static const uint8_t short_jalr[] = { 0x13, 0x00, 0x82, 0x97 }, bl[] = { 0x00, 0x04, 0x00, 0x94 };

        ck_assert(code_paths_is_after_call(&unwind_machine_riscv64, jal, sizeof(jal)));
        ck_assert(!code_paths_is_after_call(&unwind_machine_riscv64, jump, sizeof(jump)));
        ck_assert(code_paths_is_after_call(&unwind_machine_riscv64, short_jalr, sizeof(short_jalr)));
        ck_assert(code_paths_is_after_call(&unwind_machine_riscv64, short_jalr + 2, 2));
        ck_assert(code_paths_is_after_call(&unwind_machine_aarch64, bl, sizeof(bl)));
        ck_assert(!code_paths_is_after_call(&unwind_machine_aarch64, jal, sizeof(jal)));
        ck_assert(!code_paths_is_after_call(&unwind_machine_aarch64, bl, 0));
}
END_TEST

/* Any bytes are followed to an end, within them; a result is a frame that makes sense. */
START_TEST(test_any_bytes)
{
        uint64_t state = 5;

        for (unsigned i = 0; i < 2000; i++) {
                const struct unwind_machine *m = i & 1 ? &unwind_machine_riscv64 : &unwind_machine_aarch64;
                size_t n_bytes = fixed_random_next(&state) % CODE_PATHS_BYTES_MAX;
                uint8_t *copy = malloc(n_bytes + 1); /* so that a tool sees a read behind it */
                struct unwind_rule rule;

                ck_assert_ptr_nonnull(copy);
                for (size_t k = 0; k < n_bytes; k++)
                        copy[k] = (uint8_t)fixed_random_next(&state);
                if (code_paths_find(m, copy, n_bytes, fixed_random_next(&state) % (n_bytes + 8), false,
                                    &rule))
                        ck_assert(rule.cfa == UNWIND_CFA_FP || rule.cfa_offset >= 0);
                free(copy);
        }
}
END_TEST
