/* SPDX-License-Identifier: MIT */
/*
 * w_jit_text map|shared|dump|frames|announce FOLDER [TURNS=2] [MILLISECONDS=400]
 *
 * Truth: machine code is written into anonymous memory, TURNS times into the same place: in turn a function
 * "first_kernel" and "second_kernel", each of which burns MILLISECONDS in the zone "first" or "second".
 * Whatever is there is told in /tmp/perf-PID.map with lines between that are none, in FOLDER/jit-PID.dump
 * with code and lines (first.mlir or second.mlir: 10 at the start, 11 in the loop, 12 after it), or by
 * hyprof_code_add().  "frames" (x86-64) is "dump" with code that uses the frame pointer for something else,
 * and with its unwinding information.  "shared" is "map" with a file in memory that is mapped twice, once to
 * be written and once to be executed.  The program ends at once afterwards, and takes the map with it.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>
#include <hyprof/program.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CODE_BYTES 4096
#define PATH_BYTES 4096

/* Counts its argument down to nothing; with a frame pointer, so that callers are found. */
#if defined(__x86_64__)
#define MACHINE 62
static const uint8_t code[] = {
        0x55,                         /* push rbp */
        0x48, 0x89, 0xe5,             /* mov rbp, rsp */
        0x48, 0xff, 0xcf, 0x75, 0xfb, /* dec rdi; jnz */
        0x5d, 0xc3,                   /* pop rbp; ret */
};
#define LOOP_AT   4
#define BEHIND_AT 9
#define FRAMES    1
static const uint8_t frameless_code[] = {
        0x55,                         /* push rbp */
        0x31, 0xed, 0x90,             /* xor ebp, ebp; nop */
        0x48, 0xff, 0xcf, 0x75, 0xfb, /* dec rdi; jnz */
        0x5d, 0xc3,                   /* pop rbp; ret */
};
/* CFA = sp + 8; from byte 1 on sp + 16, with rbp at CFA - 16; from byte 10 on as before. */
static const uint8_t eh_frame[] = {
        0x14,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        1,
        'z',
        'R',
        0,
        1,
        0x78,
        16,
        1,
        0x1b,
        0x0c,
        7,
        8,
        0x90,
        1,
        0,
        0,
        0x18,
        0,
        0,
        0,
        0x1c,
        0,
        0,
        0,
        0xd0,
        0xff,
        0xff,
        0xff,
        sizeof(frameless_code),
        0,
        0,
        0,
        0,
        0x41,
        0x0e,
        0x10,
        0x86,
        2,
        0x49,
        0x0e,
        8,
        0xc6,
        0,
        0,
};
#elif defined(__aarch64__)
#define MACHINE   183
static const uint8_t code[] = {
        0xfd, 0x7b, 0xbf, 0xa9, /* stp x29, x30, [sp, #-16]! */
        0xfd, 0x03, 0x00, 0x91, /* mov x29, sp */
        0x00, 0x04, 0x00, 0xf1, /* subs x0, x0, #1 */
        0xe1, 0xff, 0xff, 0x54, /* b.ne */
        0xfd, 0x7b, 0xc1, 0xa8, /* ldp x29, x30, [sp], #16 */
        0xc0, 0x03, 0x5f, 0xd6, /* ret */
};
#define LOOP_AT   8
#define BEHIND_AT 16
#else
#define MACHINE   0
static const uint8_t code[] = { 0 };
#define LOOP_AT   0
#define BEHIND_AT 0
#endif

#if !defined(FRAMES)
#define FRAMES         0
#define frameless_code code
static const uint8_t eh_frame[] = { 0 };
#endif

struct teller {
        const char *how;
        const uint8_t *code; /* sizeof(code) bytes */
        char path[PATH_BYTES];
        FILE *file;
        void *marker; /* of a jitdump: it is announced by being mapped */
};

static void fail(const char *what)
{
        perror(what);
        exit(1);
}

static void put(FILE *file, const void *bytes, size_t n)
{
        if (fwrite(bytes, 1, n, file) != n)
                fail("write");
}

static void put_u32(FILE *file, uint32_t v)
{
        put(file, &v, sizeof(v));
}

static void put_u64(FILE *file, uint64_t v)
{
        put(file, &v, sizeof(v));
}

static void put_prefix(FILE *file, uint32_t kind, size_t body_bytes)
{
        put_u32(file, kind);
        put_u32(file, (uint32_t)(16 + body_bytes));
        put_u64(file, (uint64_t)burn_clock_ns(CLOCK_MONOTONIC));
}

static void open_dump(struct teller *t, const char *folder)
{
        (void)snprintf(t->path, sizeof(t->path), "%s/jit-%d.dump", folder, getpid());
        t->file = fopen(t->path, "w+e");
        if (!t->file)
                fail(t->path);
        put_u32(t->file, 0x4a695444);
        put_u32(t->file, 1);
        put_u32(t->file, 40);
        put_u32(t->file, MACHINE);
        put_u32(t->file, 0);
        put_u32(t->file, (uint32_t)getpid());
        put_u64(t->file, (uint64_t)burn_clock_ns(CLOCK_MONOTONIC));
        put_u64(t->file, 0);
        (void)fflush(t->file);
        t->marker = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(t->file), 0);
        if (t->marker == MAP_FAILED)
                fail("mmap");
}

static void open_map(struct teller *t)
{
        (void)snprintf(t->path, sizeof(t->path), "/tmp/perf-%d.map", getpid());
        t->file = fopen(t->path, "we");
        if (!t->file)
                fail(t->path);
}

static void tell_dump(const struct teller *t, const void *at, const char *name, const char *source)
{
        static const uint64_t offsets[] = { 0, LOOP_AT, BEHIND_AT };
        uint64_t avma = (uint64_t)(uintptr_t)at;

        put_prefix(t->file, 2, 16 + 3 * 16 + strlen(source) + 1 + 2 + 2);
        put_u64(t->file, avma);
        put_u64(t->file, 3);
        for (uint32_t i = 0; i < 3; i++) {
                put_u64(t->file, avma + offsets[i]);
                put_u32(t->file, 10 + i);
                put_u32(t->file, 0);
                if (i == 0)
                        put(t->file, source, strlen(source) + 1);
                else
                        put(t->file, "\xff", 2);
        }
        if (strcmp(t->how, "frames") == 0) {
                put_prefix(t->file, 4, 24 + sizeof(eh_frame));
                put_u64(t->file, sizeof(eh_frame));
                put_u64(t->file, 0); /* no index of it */
                put_u64(t->file, 0);
                put(t->file, eh_frame, sizeof(eh_frame));
        }
        put_prefix(t->file, 0, 40 + strlen(name) + 1 + sizeof(code));
        put_u32(t->file, (uint32_t)getpid());
        put_u32(t->file, (uint32_t)syscall(SYS_gettid));
        put_u64(t->file, avma);
        put_u64(t->file, avma);
        put_u64(t->file, sizeof(code));
        put_u64(t->file, 1);
        put(t->file, name, strlen(name) + 1);
        put(t->file, t->code, sizeof(code));
        (void)fflush(t->file);
}

static void tell(const struct teller *t, const void *at, const char *name, const char *source)
{
        if (strcmp(t->how, "dump") == 0 || strcmp(t->how, "frames") == 0)
                tell_dump(t, at, name, source);
        else if (strcmp(t->how, "announce") == 0)
                hyprof_code_add(at, sizeof(code), name, strlen(name), NULL, 0);
        else
                (void)fprintf(t->file, "this is no line\n%lx %zx %s\n\n0x12 zz\n", (unsigned long)at,
                              sizeof(code), name);
        if (t->file)
                (void)fflush(t->file);
}

/* Memory for code, at @ret_at to be executed and at @ret_write to be written. */
static void map_code(bool shared, void **ret_at, void **ret_write)
{
        int fd = shared ? memfd_create("doublemapper", MFD_CLOEXEC) : -1;

        if (shared && (fd < 0 || ftruncate(fd, CODE_BYTES) < 0))
                fail("memfd_create");
        *ret_at = mmap(NULL, CODE_BYTES, PROT_READ | (shared ? PROT_EXEC : PROT_WRITE),
                       shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
        *ret_write = *ret_at;
        if (shared)
                *ret_write = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (*ret_at == MAP_FAILED || *ret_write == MAP_FAILED)
                fail("mmap");
}

static void write_code(const struct teller *t, void *at, void *write)
{
        if (at == write && mprotect(at, CODE_BYTES, PROT_READ | PROT_WRITE) < 0)
                fail("mprotect");
        memcpy(write, t->code, sizeof(code));
        __builtin___clear_cache(at, (char *)at + sizeof(code));
        if (at == write && mprotect(at, CODE_BYTES, PROT_READ | PROT_EXEC) < 0)
                fail("mprotect");
}

static void run(void *at, uint64_t n_rounds)
{
        void (*burn)(uint64_t n_rounds);

        memcpy(&burn, &at, sizeof(burn));
        burn(n_rounds);
}

int main(int argc, char **argv)
{
        struct teller t = { .how = argc > 2 ? argv[1] : "", .code = code };
        bool has_dump = strcmp(t.how, "dump") == 0 || strcmp(t.how, "frames") == 0;
        int n_turns = (int)burn_argument(argc, argv, 3, 2);
        int64_t burn_ns = (int64_t)burn_argument(argc, argv, 4, 400) * 1000000;
        uint64_t n_rounds;
        void *at, *write;

        if (MACHINE == 0 || argc < 3 || (strcmp(t.how, "frames") == 0 && !FRAMES)) {
                (void)fprintf(
                        stderr,
                        "usage: w_jit_text map|shared|dump|frames|announce FOLDER [TURNS] [MILLISECONDS]\n");
                return 2;
        }
        if (strcmp(t.how, "frames") == 0)
                t.code = frameless_code;
        if (has_dump)
                open_dump(&t, argv[2]);
        else if (strcmp(t.how, "announce") != 0)
                open_map(&t);
        n_rounds = burn_rounds_of(burn_ns);
        map_code(strcmp(t.how, "shared") == 0, &at, &write);
        for (int i = 0; i < n_turns; i++) {
                write_code(&t, at, write);
                tell(&t, at, i % 2 ? "_Z13second_kernelm" : "first_kernel",
                     i % 2 ? "second.mlir" : "first.mlir");
                if (i % 2) {
                        HYPROF_ZONE("second");
                        run(at, n_rounds);
                } else {
                        HYPROF_ZONE("first");
                        run(at, n_rounds);
                }
                if (strcmp(t.how, "announce") == 0)
                        hyprof_code_remove(at, sizeof(code));
        }
        if (t.file && !has_dump)
                (void)unlink(t.path);
        return 0;
}
