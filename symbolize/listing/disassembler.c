/* SPDX-License-Identifier: MIT */
/*
 * The few functions of LLVM's C interface that are needed are declared here, and looked up when the library
 * is loaded: they have been the same since LLVM 3, so any version that a machine has will do, and its headers
 * are not needed to build.
 */
#include "symbolize/listing/disassembler.h"

#include "base/error.h"
#include "base/library_loader.h"
#include "symbolize/listing/branch_target.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRINT_IMM_HEX  UINT64_C(2) /* LLVMDisassembler_Option_PrintImmHex */
#define OTHER_SYNTAX   UINT64_C(4) /* LLVMDisassembler_Option_AsmPrinterVariant */
#define X86_BYTES_MAX  15          /* of an instruction */
#define NAME_BYTES_MAX 64

typedef void initialize_part(void);
typedef void *create_context(const char *triple, const char *cpu, const char *features, void *info, int tag,
                             void *get_operand, void *look_up);
typedef int set_options(void *context, uint64_t options);
typedef size_t decode_instruction(void *context, uint8_t *bytes, uint64_t n_bytes, uint64_t pc, char *text,
                                  size_t text_bytes);
typedef void dispose_context(void *context);

struct disassembler {
        void *library;
        void *context;
        decode_instruction *decode;
        dispose_context *dispose;
        struct disassembler_options options;
};

struct machine_row {
        uint16_t machine;
        bool is_64_bit;
        bool is_big_endian;
        const char *target;   /* as in LLVMInitialize<target>Disassembler() */
        const char *triple;   /* what the code is for */
        const char *features; /* what a triple alone leaves out; x86 decodes all it knows */
};

/* The newest version knows the most instructions. */
static const char *const library_names[] = {
        "libLLVM.so.21.1", "libLLVM.so.20.1", "libLLVM.so.19.1", "libLLVM.so.18.1", "libLLVM-18.so.1",
        "libLLVM-17.so.1", "libLLVM-16.so.1", "libLLVM-15.so.1", "libLLVM-14.so.1",
};

/*
 * "+all" turns on every extension that the library knows, if the library is new enough to know the word;
 * some extensions are named for older libraries.
 */
#define AARCH64_FEATURES \
        "+all,+v8.7a,+sve2,+sve2-aes,+sve2-sm4,+sve2-sha3,+sve2-bitperm,+sme,+bf16,+i8mm,+fullfp16,+dotprod"

/* RISC-V has no word like "+all", and some of its extensions exclude each other. */
#define RISCV_FEATURES                                                                                       \
        "+m,+a,+f,+d,+c,+v,+zfh,+zvfh,+experimental-zvfh,+zba,+zbb,+zbc,+zbs,+zbkb,+zbkc,+zbkx,+zknd,+zkne," \
        "+zknh,+zksed,+zksh,+zkr,+zicbom,+zicbop,+zicboz,+zihintpause,+svinval,+h,+zawrs,+experimental-zawrs"

static const struct machine_row machine_rows[] = {
        { EM_X86_64, true, false, "X86", "x86_64-linux-gnu", "" },
        { EM_386, false, false, "X86", "i386-linux-gnu", "" },
        { EM_AARCH64, true, false, "AArch64", "aarch64-linux-gnu", AARCH64_FEATURES },
        { EM_RISCV, true, false, "RISCV", "riscv64-linux-gnu", RISCV_FEATURES },
        { EM_RISCV, false, false, "RISCV", "riscv32-linux-gnu", RISCV_FEATURES },
        { EM_PPC64, true, false, "PowerPC", "powerpc64le-linux-gnu", "" },
        { EM_PPC64, true, true, "PowerPC", "powerpc64-linux-gnu", "" },
        { EM_S390, true, true, "SystemZ", "s390x-linux-gnu", "+vector" },
        { EM_LOONGARCH, true, false, "LoongArch", "loongarch64-linux-gnu", "+d" },
};

static const struct machine_row *find_machine(const struct disassembler_options *options)
{
        for (size_t i = 0; i < sizeof(machine_rows) / sizeof(machine_rows[0]); i++)
                if (machine_rows[i].machine == options->machine &&
                    machine_rows[i].is_64_bit == options->is_64_bit &&
                    machine_rows[i].is_big_endian == options->is_big_endian)
                        return &machine_rows[i];
        return NULL;
}

/* A function's address is data to dlsym(3). */
#define LOOK_UP(library, name, function) \
        (*(void **)&(function) = library_loader_find(library, name), (function) != NULL)

static bool initialize(void *library, const char *target, const char *part)
{
        initialize_part *function;
        char name[NAME_BYTES_MAX];

        (void)snprintf(name, sizeof(name), "LLVMInitialize%s%s", target, part);
        if (!LOOK_UP(library, name, function))
                return false;
        function();
        return true;
}

static void *open_library(struct error *err)
{
        for (size_t i = 0; i < sizeof(library_names) / sizeof(library_names[0]); i++) {
                void *library = library_loader_open(library_names[i], false);

                if (library)
                        return library;
        }
        (void)error_set(err, -ENOENT,
                        "no disassembler: the library of LLVM is missing (Debian's package libllvm16)");
        return NULL;
}

static int create(struct disassembler *d, const struct machine_row *row, struct error *err)
{
        create_context *create_disassembler;
        set_options *change;

        if (!LOOK_UP(d->library, "LLVMCreateDisasmCPUFeatures", create_disassembler) ||
            !LOOK_UP(d->library, "LLVMSetDisasmOptions", change) ||
            !LOOK_UP(d->library, "LLVMDisasmInstruction", d->decode) ||
            !LOOK_UP(d->library, "LLVMDisasmDispose", d->dispose))
                return error_set(err, -ENOENT, "no disassembler: the library of LLVM has none");
        if (!initialize(d->library, row->target, "TargetInfo") ||
            !initialize(d->library, row->target, "TargetMC") ||
            !initialize(d->library, row->target, "Disassembler"))
                return error_set(err, -ENOTSUP, "no disassembler: the library of LLVM does not know %s",
                                 row->triple);
        d->context = create_disassembler(row->triple, "", row->features, NULL, 0, NULL, NULL);
        if (!d->context)
                return error_set(err, -ENOTSUP, "no disassembler: the library of LLVM refuses %s",
                                 row->triple);
        if (d->options.intel_syntax && strcmp(row->target, "X86") == 0)
                (void)change(d->context, OTHER_SYNTAX);
        (void)change(d->context, PRINT_IMM_HEX); /* comes last: a change of syntax makes a new printer */
        return 0;
}

int disassembler_open(const struct disassembler_options *options, struct disassembler **ret_disassembler,
                      struct error *err)
{
        const struct machine_row *row = find_machine(options);
        struct disassembler *d;
        int r;

        if (!row)
                return error_set(err, -ENOTSUP, "no disassembler for the ELF machine %u", options->machine);
        d = calloc(1, sizeof(*d));
        if (!d)
                return error_set(err, -ENOMEM, "no memory for the disassembler");
        d->options = *options;
        d->library = open_library(err);
        r = d->library ? create(d, row, err) : -ENOENT;
        if (r < 0) {
                disassembler_close(d);
                return r;
        }
        *ret_disassembler = d;
        return 0;
}

void disassembler_close(struct disassembler *d)
{
        if (!d)
                return;
        if (d->context)
                d->dispose(d->context);
        /* The library stays: it does not survive being unloaded. */
        free(d);
}

/* Spells bytes that are no instruction, as many as the shortest possible instruction has. */
static size_t spell_bytes(const struct disassembler *d, const uint8_t *bytes, size_t n_bytes,
                          char ret_text[DISASSEMBLER_TEXT_BYTES])
{
        size_t n_wanted = 4;
        int used;

        if (d->options.machine == EM_X86_64 || d->options.machine == EM_386)
                n_wanted = 1;
        else if (d->options.machine == EM_RISCV)
                n_wanted = (bytes[0] & 3) == 3 ? 4 : 2;
        else if (d->options.machine == EM_S390)
                n_wanted = 2;
        if (n_wanted > n_bytes)
                n_wanted = n_bytes;
        used = snprintf(ret_text, DISASSEMBLER_TEXT_BYTES, ".byte");
        for (size_t i = 0; i < n_wanted; i++)
                used += snprintf(ret_text + used, DISASSEMBLER_TEXT_BYTES - (size_t)used, "%s 0x%02x",
                                 i > 0 ? "," : "", bytes[i]);
        return n_wanted;
}

/* Replaces LLVM's runs of blanks and tabs by one blank, and drops those before the mnemonic. */
static void squeeze(char *text)
{
        char *to = text;

        for (const char *from = text; *from; from++) {
                if (!isspace((unsigned char)*from))
                        *to++ = *from;
                else if (to != text && to[-1] != ' ')
                        *to++ = ' ';
        }
        if (to != text && to[-1] == ' ')
                to--;
        *to = '\0';
}

/* Replaces the last operand, the target of a branch, by its address: LLVM writes a distance. */
static void name_target(char *text, uint64_t svma)
{
        char *blank = strrchr(text, ' ');
        size_t left;

        if (!blank)
                return;
        left = DISASSEMBLER_TEXT_BYTES - (size_t)(blank + 1 - text);
        (void)snprintf(blank + 1, left, "0x%" PRIx64, svma);
}

size_t disassembler_decode(struct disassembler *d, uint64_t svma, const uint8_t *bytes, size_t n_bytes,
                           char ret_text[DISASSEMBLER_TEXT_BYTES])
{
        uint8_t copy[X86_BYTES_MAX + 1] = { 0 }; /* the function wants to be able to write */
        size_t n_given = n_bytes < sizeof(copy) ? n_bytes : sizeof(copy);
        struct branch_target target;
        size_t n_used;

        memcpy(copy, bytes, n_given);
        ret_text[0] = '\0';
        n_used = d->decode(d->context, copy, n_given, svma, ret_text, DISASSEMBLER_TEXT_BYTES);
        if (n_used == 0 || n_used > n_given)
                return spell_bytes(d, bytes, n_bytes, ret_text);
        squeeze(ret_text);
        target = branch_target_decode(d->options.machine, svma, bytes, n_used);
        if (target.kind != BRANCH_NONE)
                name_target(ret_text, target.svma);
        return n_used;
}
