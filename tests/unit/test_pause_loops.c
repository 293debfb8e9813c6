/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/pause_loops.c: instructions of loops that pause are found, on each machine; work beside
 * such a loop, and loops without a pause, are not
 */
#include "symbolize/listing/pause_loops.h"
#include "tests/unit/unit_test.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define SVMA 0x1000

/* Bytes of instructions, with their lengths; places that spin are marked: p at the pause, s elsewhere. */
struct scene {
        uint16_t machine;
        uint8_t bytes[64];
        uint8_t n_bytes_of[24];
        const char *marks; /* one letter an instruction; - = does not spin */
};

static const struct scene scenes[] = {
        { /* pause; mov (%rdi),%eax; test %eax,%eax; je to the pause; ret */
          EM_X86_64,
          { 0xf3, 0x90, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xf8, 0xc3 },
          { 2, 2, 2, 2, 1 },
          "ppss-" },
        { /* the same with a NOP instead of the pause */
          EM_X86_64,
          { 0x66, 0x90, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xf8, 0xc3 },
          { 2, 2, 2, 2, 1 },
          "-----" },
        { /* the bytes of a pause in another instruction: mov $0x90f3,%eax */
          EM_X86_64,
          { 0xb8, 0xf3, 0x90, 0x00, 0x00, 0x85, 0xc0, 0x74, 0xf7, 0xc3 },
          { 5, 2, 2, 1 },
          "----" },
        { /*
           * a loop that works under a spin lock: mov $1,%eax; xchg %eax,(%rdi); test %eax,%eax; jne 0x12;
           * addl $1,(%rsi); decl (%rdi); jmp 0; at 0x12 pause; cmpl $0,(%rdi); jne 0x12; jmp 0
           */
          EM_X86_64,
          { 0xb8, 0x01, 0x00, 0x00, 0x00, 0x87, 0x07, 0x85, 0xc0, 0x75, 0x07, 0x83, 0x06, 0x01,
            0xff, 0x0f, 0xeb, 0xee, 0xf3, 0x90, 0x83, 0x3f, 0x00, 0x75, 0xf9, 0xeb, 0xe5 },
          { 5, 2, 2, 2, 3, 2, 2, 2, 3, 2, 2 },
          "-------pps-" },
        { /*
           * a function that works under a spin lock, whose pause lies after its end: xchg %eax,(%rdi);
           * test %eax,%eax; jne 0xc; addl $1,(%rsi); decl (%rdi); ret; at 0xc pause; jmp 0
           */
          EM_X86_64,
          { 0x87, 0x07, 0x85, 0xc0, 0x75, 0x06, 0x83, 0x06, 0x01, 0xff, 0x0f, 0xc3, 0xf3, 0x90, 0xeb, 0xf0 },
          { 2, 2, 2, 3, 2, 1, 2, 2 },
          "sss---pp" },
        { /* waits in a loop of a loop: pause; dec %ecx; jne 0; cmpl $0,(%rdi); je 0; ret */
          EM_X86_64,
          { 0xf3, 0x90, 0xff, 0xc9, 0x75, 0xfa, 0x83, 0x3f, 0x00, 0x74, 0xf5, 0xc3 },
          { 2, 2, 2, 3, 2, 1 },
          "pps---" },
        { /* yield; ldar w1,[x0]; cbz w1 to the yield; ret */
          EM_AARCH64,
          { 0x3f, 0x20, 0x03, 0xd5, 0x01, 0xfc, 0xdf, 0x88, 0xc1, 0xff, 0xff, 0x34, 0xc0, 0x03, 0x5f, 0xd6 },
          { 4, 4, 4, 4 },
          "pps-" },
        { /* the same with wfe */
          EM_AARCH64,
          { 0x5f, 0x20, 0x03, 0xd5, 0x01, 0xfc, 0xdf, 0x88, 0xc1, 0xff, 0xff, 0x34, 0xc0, 0x03, 0x5f, 0xd6 },
          { 4, 4, 4, 4 },
          "pps-" },
        { /* the same with isb */
          EM_AARCH64,
          { 0xdf, 0x3f, 0x03, 0xd5, 0x01, 0xfc, 0xdf, 0x88, 0xc1, 0xff, 0xff, 0x34, 0xc0, 0x03, 0x5f, 0xd6 },
          { 4, 4, 4, 4 },
          "pps-" },
        { /* the same with nop */
          EM_AARCH64,
          { 0x1f, 0x20, 0x03, 0xd5, 0x01, 0xfc, 0xdf, 0x88, 0xc1, 0xff, 0xff, 0x34, 0xc0, 0x03, 0x5f, 0xd6 },
          { 4, 4, 4, 4 },
          "----" },
        { /* ret between the head of the loop and its pause: cbnz w1,0xc; add; ret; yield; b 0 */
          EM_AARCH64,
          { 0x61, 0x00, 0x00, 0x35, 0x21, 0x04, 0x00, 0x11, 0xc0, 0x03,
            0x5f, 0xd6, 0x3f, 0x20, 0x03, 0xd5, 0xfc, 0xff, 0xff, 0x17 },
          { 4, 4, 4, 4, 4 },
          "s--pp" },
        { /* pause; lw a5,0(a0); beqz a5 to the pause; ret (short) */
          EM_RISCV,
          { 0x0f, 0x00, 0x00, 0x01, 0x83, 0x27, 0x05, 0x00, 0xe3, 0x8c, 0x07, 0xfe, 0x82, 0x80 },
          { 4, 4, 4, 2 },
          "pps-" },
        { /* pause; nop (short); lw a5,0(a0); beqz a5 to the pause */
          EM_RISCV,
          { 0x0f, 0x00, 0x00, 0x01, 0x01, 0x00, 0x83, 0x27, 0x05, 0x00, 0xe3, 0x8b, 0x07, 0xfe },
          { 4, 2, 4, 4 },
          "ppss" },
        { /* ret between the head of the loop and its pause: bnez a5,0xa; addi; ret (short); pause; j 0 */
          EM_RISCV,
          { 0x63, 0x95, 0x07, 0x00, 0x93, 0x87, 0x17, 0x00, 0x82, 0x80, 0x0f, 0x00, 0x00, 0x01, 0x6f, 0xf0,
            0x3f, 0xff },
          { 4, 4, 2, 4, 4 },
          "s--pp" },
        { /* a machine whose pause is not known */
          EM_PPC64,
          { 0xf3, 0x90, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xf8, 0xc3 },
          { 2, 2, 2, 2, 1 },
          "-----" },
};

static size_t n_bytes_of(const struct scene *s)
{
        size_t n = 0;

        for (size_t i = 0; s->marks[i]; i++)
                n += s->n_bytes_of[i];
        return n;
}

/* The length of the instruction, as the scene says. */
static size_t measure(void *context, uint64_t svma, const uint8_t *bytes, size_t n_bytes)
{
        const struct scene *s = context;
        uint64_t at = SVMA;

        (void)bytes;
        for (size_t i = 0; s->marks[i]; i++) {
                if (at == svma)
                        return s->n_bytes_of[i] <= n_bytes ? s->n_bytes_of[i] : 0;
                at += s->n_bytes_of[i];
        }
        return n_bytes >= 1;
}

static struct pause_code code_of(const struct scene *s, size_t n_bytes)
{
        return (struct pause_code){ .machine = s->machine,
                                    .svma = SVMA,
                                    .bytes = s->bytes,
                                    .n_bytes = n_bytes,
                                    .measure = measure,
                                    .context = (void *)(uintptr_t)s };
}

static char look(const struct pause_code *code, uint64_t svma)
{
        struct pause_place place;

        if (!pause_loops_find(code, svma, &place))
                return '-';
        ck_assert_uint_ge(place.pause_svma, SVMA);
        return place.is_at_pause ? 'p' : 's';
}

START_LOOP_TEST(test_each_scene, 0, sizeof(scenes) / sizeof(scenes[0]))
{
        const struct scene *s = &scenes[_i];
        const struct pause_code code = code_of(s, n_bytes_of(s));
        char found[24] = "";
        uint64_t at = SVMA;

        for (size_t i = 0; s->marks[i]; i++) {
                found[i] = look(&code, at);
                if (found[i] != '-')
                        ck_assert(pause_loops_may_be(&code, at));
                at += s->n_bytes_of[i];
        }
        ck_assert_str_eq(found, s->marks);
}
END_TEST

/* Code that is cut off anywhere is read within its bounds (an error of the sanitizer, or none). */
START_LOOP_TEST(test_each_cut, 0, sizeof(scenes) / sizeof(scenes[0]))
{
        const struct scene *s = &scenes[_i];

        for (size_t n = 0; n <= n_bytes_of(s); n++) {
                uint8_t *copy = malloc(n + 1);
                struct pause_code code = code_of(s, n);

                ck_assert_ptr_nonnull(copy);
                memcpy(copy, s->bytes, n);
                code.bytes = copy;
                for (uint64_t at = SVMA - 2; at <= SVMA + n + 2; at++) {
                        (void)look(&code, at);
                        (void)pause_loops_may_be(&code, at);
                }
                free(copy);
        }
}
END_TEST

/* Without a disassembler the instructions of x86 cannot be told apart. */
START_TEST(test_without_a_disassembler)
{
        struct pause_code code = code_of(&scenes[0], n_bytes_of(&scenes[0]));

        code.measure = NULL;
        ck_assert_int_eq(look(&code, SVMA), '-');
        ck_assert(pause_loops_may_be(&code, SVMA));
}
END_TEST

/* yield; n instructions of work; b to the yield */
static char look_at_loop_of(size_t n_instructions)
{
        static uint8_t bytes[2 * PAUSE_LOOPS_BYTES_MAX];
        const struct pause_code code = {
                .machine = EM_AARCH64, .svma = SVMA, .bytes = bytes, .n_bytes = 4 * (n_instructions + 2)
        };
        uint32_t jump = 0x14000000 | (-(uint32_t)(n_instructions + 1) & 0x3ffffff);

        memset(bytes, 0, sizeof(bytes));
        memcpy(bytes, "\x3f\x20\x03\xd5", 4);
        for (int i = 0; i < 4; i++)
                bytes[4 * (n_instructions + 1) + (size_t)i] = (uint8_t)(jump >> 8 * i);
        return look(&code, SVMA + 8);
}

START_TEST(test_large_loops_do_more)
{
        ck_assert_int_eq(look_at_loop_of(PAUSE_LOOPS_BYTES_MAX / 4 - 2), 's');
        ck_assert_int_eq(look_at_loop_of(PAUSE_LOOPS_BYTES_MAX / 4 - 1), '-');
}
END_TEST
