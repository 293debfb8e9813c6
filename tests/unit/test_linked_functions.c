/* SPDX-License-Identifier: MIT */
/*
 * symbolize/symbols/module_symbols.c: what linkers discarded, and what strip and assemblers left without a
 * name or a size, lends its name and its lines to no other code
 */
#include "base/byte_buffer.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/symbols/module_symbols.h"
#include "symbolize/symbols/symbolizer.h"
#include "tests/unit/built_files.h"
#include "tests/unit/unit_test.h"

#include <gelf.h>
#include <stdio.h>
#include <string.h>

static struct built_files files;
static struct byte_buffer index_bytes;

static struct {
        struct elf_image *image;
        struct module_symbols *module;
        int fd;
} opened = { .fd = -1 };

static void setup(void)
{
        built_files_init(&files);
}

static void teardown(void)
{
        module_symbols_close(opened.module);
        elf_image_close(opened.image);
        io_close(&opened.fd);
        built_files_deinit(&files);
        byte_buffer_deinit(&index_bytes);
}

static void open_file(const char *name)
{
        const struct module_symbols_options options = { .name = "program" };

        opened.fd = -1;
        ck_assert_int_eq(regular_file_open(built_files_path(&files, name), &opened.fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(opened.fd, &opened.image, NULL), 0);
        ck_assert_int_eq(module_symbols_open(opened.image, &options, &opened.module, NULL), 0);
}

/* Address and size of a symbol of a file with a whole symbol table. */
static GElf_Sym find_symbol(const char *file, const char *wanted)
{
        GElf_Sym symbol = { .st_size = 0 };
        struct elf_image *image;
        Elf_Scn *section = NULL;
        bool is_found = false;
        GElf_Shdr header;
        int fd = -1;

        ck_assert_int_eq(regular_file_open(built_files_path(&files, file), &fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
        while (!is_found && (section = elf_nextscn(image->elf, section))) {
                Elf_Data *data = elf_getdata(section, NULL);

                if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
                        continue;
                for (int i = 0; !is_found && gelf_getsym(data, i, &symbol); i++)
                        is_found = strcmp(elf_strptr(image->elf, header.sh_link, symbol.st_name), wanted) ==
                                   0;
        }
        ck_assert_msg(is_found, "%s: no symbol %s", file, wanted);
        elf_image_close(image);
        io_close(&fd);
        return symbol;
}

/* ---- discarded code ------------------------------------------------------------------------------------ */

#define FIRST_LINE 300 /* of the function that is kept */
#define LAST_LINE  309

#define DISCARDED_FUNCTIONS 6
#define DISCARDED_CALLS     60

/* The functions that are discarded are larger than all that is kept; nothing is inlined into `kept`. */
static void write_sources(void)
{
        static const char kept[] = "extern volatile int sink;\n"
                                   "#line 300\n"
                                   "__attribute__((noinline)) void kept(void) {\n"
                                   "for (int i = 0; i < 9; i++) {\nsink += i;\nsink *= 3;\nsink /= 7;\n}\n}\n"
                                   "volatile int sink;\n"
                                   "int _start(void) { kept(); return sink; }\n";
        static char discarded[16384], whole[20000];
        int at = snprintf(
                discarded, sizeof(discarded),
                "extern volatile int sink;\n"
                "static inline __attribute__((always_inline)) void tiny(int k) { sink += k * 7; }\n");

        for (int f = 0; f < DISCARDED_FUNCTIONS; f++) {
                at += snprintf(discarded + at, sizeof(discarded) - (size_t)at, "void discarded%d(int k) {\n",
                               f);
                for (int i = 0; i < DISCARDED_CALLS; i++)
                        at += snprintf(discarded + at, sizeof(discarded) - (size_t)at, "tiny(k + %d);\n", i);
                at += snprintf(discarded + at, sizeof(discarded) - (size_t)at, "}\n");
        }
        (void)snprintf(whole, sizeof(whole), "%s%s", discarded, kept);
        built_files_write(&files, "discarded.c", discarded);
        built_files_write(&files, "kept.c", kept);
        built_files_write(&files, "whole.c", whole);
}

#define ONE_FILE  "-ffunction-sections whole.c"
#define TWO_FILES "kept.c discarded.c" /* all discarded functions are in one section */

static const struct {
        const char *compiler, *linker, *options;
} discards[] = {
        { "gcc", "bfd", "-gdwarf-4 " ONE_FILE },
        { "gcc", "bfd", "-gdwarf-5 " TWO_FILES },
        { "gcc", "bfd", "-gdwarf-4 -Wl,-z,noseparate-code " ONE_FILE },
        { "gcc", "bfd", "-gdwarf-5 -Wl,-z,noseparate-code " ONE_FILE },
        { "gcc", "bfd", "-gdwarf-5 -Wl,-z,noseparate-code " TWO_FILES },
        { "gcc", "gold", "-gdwarf-4 " ONE_FILE },
        { "gcc", "gold", "-gdwarf-5 " ONE_FILE },
        { "gcc", "gold", "-gdwarf-4 " TWO_FILES },
        { "gcc", "gold", "-gdwarf-5 " TWO_FILES },
        { "gcc", "gold", "-gdwarf-5 -gsplit-dwarf " ONE_FILE },
        { "gcc", "lld", "-gdwarf-4 " ONE_FILE },
        { "gcc", "lld", "-gdwarf-5 -Wl,-z,noseparate-code " TWO_FILES },
        { "clang", "gold", "-gdwarf-4 " ONE_FILE },
        { "clang", "gold", "-gdwarf-5 " ONE_FILE },
        { "clang", "lld", "-gdwarf-5 -Wl,-z,noseparate-code " ONE_FILE },
};

START_LOOP_TEST(test_discarded_functions, 0, sizeof(discards) / sizeof(discards[0]))
{
        const struct symbol *symbols;
        char linker[32], command[256];
        GElf_Sym kept;

        (void)snprintf(linker, sizeof(linker), "ld.%s", discards[_i].linker);
        if (!built_files_has(discards[_i].compiler) || !built_files_has(linker))
                return;
        write_sources();
        (void)snprintf(command, sizeof(command),
                       "%s -O1 -fuse-ld=%s -nostdlib -Wl,--gc-sections -o program %s", discards[_i].compiler,
                       discards[_i].linker, discards[_i].options);
        ck_assert(built_files_run(&files, command));
        ck_assert(!built_files_run(&files, "nm program | grep -q discarded"));
        kept = find_symbol("program", "kept");
        open_file("program");
        for (uint64_t svma = kept.st_value; svma < kept.st_value + kept.st_size; svma++) {
                ck_assert_uint_eq(module_symbols_find(opened.module, svma, &symbols), 1);
                ck_assert_pstr_eq(symbols[0].function, "kept");
                ck_assert_uint_ge(symbols[0].line, FIRST_LINE);
                ck_assert_uint_le(symbols[0].line, LAST_LINE);
        }
}
END_TEST

/* ---- symbols without a size ---------------------------------------------------------------------------- */

/*
 * A symbol of size 0 before a function; code of another one after it; and asm functions with labels in them.
 */
static const char sizeless[] =
        "volatile int sink;\n"
        "#define FUNCTION __attribute__((noinline)) void\n"
        "__asm__(\".text\\n.globl sizeless\\n.type sizeless,@function\\nsizeless:\\n nop\\n ret\\n nop\\n\");\n"
        "FUNCTION hot(void) { for (int i = 0; i < 9; i++) { sink += i; sink *= 3; } }\n"
        "__asm__(\".globl typed\\n.type typed,@function\\ntyped:\\n .cfi_startproc\\n nop\\n\"\n"
        "        \"label:\\n nop\\n.globl global_label\\nglobal_label:\\n nop\\n ret\\n .cfi_endproc\\n\");\n"
        "__asm__(\".globl untyped\\nuntyped:\\n .cfi_startproc\\n nop\\n\"\n"
        "        \"other_label:\\n nop\\n.globl second_label\\nsecond_label:\\n nop\\n ret\\n .cfi_endproc\\n\");\n"
        "__asm__(\"bare:\\n nop\\n ret\\n\");\n"
        "FUNCTION last(void) { for (int i = 0; i < 9; i++) { sink -= i; sink *= 5; } }\n";

static const char *name_at(uint64_t svma)
{
        const struct symbol *symbols;
        uint32_t n = module_symbols_find(opened.module, svma, &symbols);

        return n > 0 && symbols[n - 1].function ? symbols[n - 1].function : "";
}

/*
 * All code of the symbol @of in whole.so has this name in the opened file; NULL = "program+0x" and its
 * address.
 */
static void expect_name(const char *of, const char *wanted)
{
        GElf_Sym symbol = find_symbol("whole.so", of);
        uint64_t n_bytes = symbol.st_size > 0 ? symbol.st_size : 1;
        char unnamed[64];

        (void)snprintf(unnamed, sizeof(unnamed), "program+0x%llx", (unsigned long long)symbol.st_value);
        for (uint64_t i = 0; i < n_bytes; i++)
                ck_assert_msg(strcmp(name_at(symbol.st_value + i), wanted ? wanted : unnamed) == 0,
                              "%s+%llu is %s", of, (unsigned long long)i, name_at(symbol.st_value + i));
}

/* @is_saved: read from its saved index. */
static void build_sizeless(const char *options, const char *then, bool is_saved)
{
        char command[512];

        built_files_write(&files, "sizeless.c", sizeless);
        (void)snprintf(command, sizeof(command),
                       "gcc -O1 -fno-toplevel-reorder -shared -fPIC %s sizeless.c -o whole.so && "
                       "objcopy %s whole.so program",
                       options, then);
        ck_assert(built_files_run(&files, command));
        open_file("program");
        if (is_saved) {
                struct module_symbols_options saved = { .name = "program" };

                ck_assert_int_eq(module_symbols_save(opened.module, &index_bytes, NULL), 0);
                module_symbols_close(opened.module);
                saved.index = index_bytes.data;
                saved.index_bytes = index_bytes.used_bytes;
                ck_assert_int_eq(module_symbols_open(opened.image, &saved, &opened.module, NULL), 0);
        }
}

/* The byte at each label: labels have no size. */
static void expect_labels(void)
{
        expect_name("typed", "typed");
        expect_name("label", "typed");
        expect_name("global_label", "typed");
        expect_name("untyped", "untyped");
        expect_name("other_label", "untyped");
        expect_name("second_label", "untyped");
        expect_name("bare", "bare");
        expect_name("last", "last");
}

START_LOOP_TEST(test_symbols_without_size, 0, 2)
{
        build_sizeless("", "", _i == 1);
        expect_name("sizeless", "sizeless");
        expect_name("hot", "hot");
        expect_labels();
}
END_TEST

START_LOOP_TEST(test_symbols_without_size_end_at_unwind_information, 0, 2)
{
        build_sizeless("", "--strip-symbol=hot --strip-symbol=bare", _i == 1);
        expect_name("sizeless", "sizeless");
        expect_name("hot", NULL);
}
END_TEST

/* Only the instructions of x86-64 are known: symbolize/elf/code_extent.h. */
static bool is_decoded(void)
{
        GElf_Ehdr header;

        return gelf_getehdr(opened.image->elf, &header) && header.e_machine == EM_X86_64;
}

START_LOOP_TEST(test_exports_without_size_have_what_is_known_to_be_theirs, 0, 2)
{
        build_sizeless("-fvisibility=hidden", "--strip-all", _i == 1);
        expect_name("sizeless", is_decoded() ? "sizeless" : "");
        ck_assert_str_eq(name_at(find_symbol("whole.so", "sizeless").st_value + 2), "");
        expect_name("hot", NULL);
        expect_name("last", NULL);
        expect_name("typed", "typed");
        expect_name("global_label", "typed");
        expect_name("second_label", "untyped");
}
END_TEST

START_LOOP_TEST(test_debug_information_goes_before_symbols_without_size, 0, 2)
{
        struct function_range range;
        uint64_t hot;

        build_sizeless("-g -fno-asynchronous-unwind-tables -fno-unwind-tables",
                       "--strip-symbol=hot --strip-symbol=last --strip-symbol=bare", _i == 1);
        hot = find_symbol("whole.so", "hot").st_value;
        expect_name("hot", "hot");
        expect_name("sizeless", "sizeless");
        expect_name("last", "last");
        ck_assert_int_eq(module_symbols_find_range(opened.module, hot + 1, &range), 1);
        ck_assert_uint_eq(range.start_svma, hot);
        ck_assert_int_eq(module_symbols_find_range(opened.module,
                                                   find_symbol("whole.so", "sizeless").st_value, &range),
                         1);
        ck_assert_uint_eq(range.end_svma, hot);
}
END_TEST

/* ---- unusual names and types --------------------------------------------------------------------------- */

/*
 * Functions named as labels are, marks of code and data, what annobin adds, and objects that hold code: one
 * with functions in it, of which one has no size, and one that begins where a function without a size does.
 */
static const char unusual[] =
        "#define SYMBOL(name, type, bytes) \".type \" name \",@\" type \"\\n.size \" name \",\" bytes \"\\n\"\n"
        "__asm__(\".text\\n\"\n"
        "SYMBOL(\".omp_outlined.\", \"function\", \"8\")\n"
        "SYMBOL(\".annobin_unusual.c\", \"function\", \"64\")\n"
        "\".annobin_unusual.c:\\n.omp_outlined.:\\n.skip 8\\n\"\n"
        "SYMBOL(\"$data\", \"function\", \"8\")\n"
        "\"$data:\\n.skip 4\\n$d.1:\\n$x:\\n.skip 4\\n$done:\\n.skip 8\\n\"\n"
        "SYMBOL(\"snapshot\", \"object\", \"40\")\n"
        "\"snapshot:\\n.skip 8\\n\"\n"
        "SYMBOL(\"inner\", \"function\", \"8\")\n"
        "\"inner:\\n.skip 8\\n\"\n"
        "\".type sizeless,@function\\nsizeless:\\n\"\n"
        "SYMBOL(\"table\", \"object\", \"8\")\n"
        "\"table:\\n.skip 16\\n\"\n"
        "\".type lone,@function\\nlone:\\n.skip 8\\n\"\n"
        "\".data\\n\"\n"
        "SYMBOL(\"variable\", \"object\", \"8\")\n"
        "\"variable:\\n.quad 1\\n\");\n";

START_TEST(test_functions_with_unusual_names_and_types)
{
        static const struct {
                uint64_t at;
                const char *name;
        } expected[] = {
                { 0, ".omp_outlined." }, { 7, ".omp_outlined." }, { 8, "$data" },     { 15, "$data" },
                { 16, "$done" },         { 23, "$done" },         { 24, "snapshot" }, { 31, "snapshot" },
                { 32, "inner" },         { 40, "sizeless" },      { 47, "sizeless" }, { 48, "snapshot" },
                { 55, "snapshot" },      { 56, "lone" },
        };
        uint64_t first;

        built_files_write(&files, "unusual.c", unusual);
        ck_assert(built_files_run(&files, "gcc -shared -nostdlib unusual.c -o program"));
        first = find_symbol("program", ".omp_outlined.").st_value;
        open_file("program");
        for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
                ck_assert_msg(strcmp(name_at(first + expected[i].at), expected[i].name) == 0, "+%llu is %s",
                              (unsigned long long)expected[i].at, name_at(first + expected[i].at));
        ck_assert_str_eq(name_at(find_symbol("program", "variable").st_value), "");
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
