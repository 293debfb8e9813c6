/* SPDX-License-Identifier: MIT */
/*
 * unwind/unwind_module.c, unwind_cache.c: real files give tables however they are
 * stripped or packed, each once
 */
#include "base/error.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/elf/elf_image.h"
#include "tests/unit/own_code.h"
#include "tests/unit/unit_test.h"
#include "unwind/unwind_cache.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_module.h"
#include "unwind/unwind_table.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static uint8_t *own_bytes;
static size_t n_own_bytes;

static void read_own_file(void)
{
        char *path = own_code_path();
        struct stat status;
        int fd = -1;

        ck_assert_int_eq(regular_file_open(path, &fd, NULL), 0);
        ck_assert_int_eq(fstat(fd, &status), 0);
        own_bytes = malloc((size_t)status.st_size);
        ck_assert_ptr_nonnull(own_bytes);
        ck_assert_int_eq(io_read_full(fd, own_bytes, (size_t)status.st_size, &n_own_bytes, NULL), 0);
        io_close(&fd);
        free(path);
}

static struct unwind_module *module;

static void setup(void)
{
        read_own_file();
}

static void teardown(void)
{
        unwind_module_free(module);
        module = NULL;
        free(own_bytes);
}

static int build(void)
{
        struct elf_image *image = NULL;
        int r = elf_image_open_memory(own_bytes, n_own_bytes, &image, NULL);

        if (r == 0)
                r = unwind_module_build(image, &module, NULL);
        elf_image_close(image);
        return r;
}

/* This function's code is in the table: the byte of the file that is mapped where it is. */
static void expect_own_code(bool is_there)
{
        uint64_t avma = (uint64_t)(uintptr_t)expect_own_code;
        uint64_t file_off = own_code_file_offset(avma);
        uint64_t page = 4096, bias;

        ck_assert(unwind_module_find_bias(module, avma & ~(page - 1), file_off & ~(page - 1), page, &bias));
        ck_assert_int_eq(module->table && unwind_table_find(module->table, avma - bias), is_there);
        ck_assert(!unwind_module_find_bias(module, avma & ~(page - 1), UINT64_C(1) << 40, page, &bias));
}

static Elf64_Shdr *find_section(const char *name)
{
        Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)own_bytes;
        Elf64_Shdr *sections = (Elf64_Shdr *)(void *)(own_bytes + header->e_shoff);
        const char *names = (const char *)own_bytes + sections[header->e_shstrndx].sh_offset;

        for (size_t i = 0; i < header->e_shnum; i++)
                if (strcmp(names + sections[i].sh_name, name) == 0)
                        return &sections[i];
        ck_abort_msg("there is no section %s", name);
        return NULL;
}

START_TEST(test_own_file)
{
        ck_assert_int_eq(build(), 0);
        ck_assert_ptr_nonnull(module->table);
        ck_assert_uint_gt(module->table->n_fdes, 10);
        ck_assert_uint_eq(module->table->n_damaged, 0);
        ck_assert_uint_ge(module->n_bytes, module->table->n_bytes);
        expect_own_code(true);
}
END_TEST

/* By descriptor, as the sampler does it. */
START_TEST(test_unmapped_file)
{
        char *path = own_code_path();
        struct elf_image *image = NULL;
        int fd = -1;

        ck_assert_int_eq(regular_file_open(path, &fd, NULL), 0);
        ck_assert_int_eq(elf_image_open_unmapped(fd, &image, NULL), 0);
        ck_assert_int_eq(unwind_module_build(image, &module, NULL), 0);
        expect_own_code(true);
        elf_image_close(image);
        io_close(&fd);
        free(path);
}
END_TEST

/* A file that is cut while it is open is read no further: no process dies. */
START_TEST(test_file_cut_while_open)
{
        int fd = memfd_create("cut", MFD_CLOEXEC);
        struct elf_image *image = NULL;
        int r;

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(io_write_all(fd, own_bytes, n_own_bytes, NULL), 0);
        ck_assert_int_eq(elf_image_open_unmapped(fd, &image, NULL), 0);
        ck_assert_int_eq(ftruncate(fd, 4096), 0);
        r = unwind_module_build(image, &module, NULL);
        ck_assert(r == -EBADMSG || (r == 0 && !module->table));
        elf_image_close(image);
        io_close(&fd);
}
END_TEST

START_TEST(test_file_without_section_headers)
{
        Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)own_bytes;

        header->e_shoff = 0;
        header->e_shnum = 0;
        header->e_shstrndx = 0;
        ck_assert_int_eq(build(), 0);
        expect_own_code(true);
}
END_TEST

START_TEST(test_file_without_unwind_information)
{
        Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)own_bytes;
        Elf64_Phdr *segments = (Elf64_Phdr *)(void *)(own_bytes + header->e_phoff);

        find_section(".eh_frame")->sh_type = SHT_NOBITS; /* as in a file with debug information only */
        for (size_t i = 0; i < header->e_phnum; i++)
                if (segments[i].p_type == PT_GNU_EH_FRAME)
                        segments[i].p_type = PT_NULL;
        ck_assert_int_eq(build(), 0);
        expect_own_code(false);
}
END_TEST

/* Stubs that no section describes, as mold and lld leave them. */
START_TEST(test_stubs_by_their_code)
{
        Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)own_bytes;
        Elf64_Phdr *segments = (Elf64_Phdr *)(void *)(own_bytes + header->e_phoff);
        const Elf64_Shdr *plt = find_section(".plt");
        const struct unwind_rule *rule;

        if (header->e_machine != EM_X86_64)
                return;
        find_section(".eh_frame")->sh_type = SHT_NOBITS;
        for (size_t i = 0; i < header->e_phnum; i++)
                if (segments[i].p_type == PT_GNU_EH_FRAME)
                        segments[i].p_type = PT_NULL;
        ck_assert_int_eq(build(), 0);
        ck_assert_ptr_nonnull(module->table);
        ck_assert_ptr_null(unwind_table_find(module->table, plt->sh_addr - 1));
        rule = unwind_table_find(module->table, plt->sh_addr + 32); /* a stub, after the first one */
        ck_assert_ptr_nonnull(rule);
        ck_assert_uint_eq(rule->cfa, UNWIND_CFA_SP);
        ck_assert_int_eq(rule->cfa_offset, 8);
        ck_assert_uint_eq(rule->ra, UNWIND_SAVED_AT_CFA);
        ck_assert_int_eq(rule->ra_value, -8);
}
END_TEST

START_TEST(test_other_machines)
{
        Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)own_bytes;

        header->e_machine = EM_S390;
        ck_assert_int_eq(build(), -ENOTSUP);
        header->e_machine =
                EM_AARCH64; /* what its unwind information says is nonsense then, but well-formed */
        ck_assert_int_eq(build(), 0);
        ck_assert_ptr_null(unwind_machine_find(EM_386));
}
END_TEST

/* loop test: .debug_frame instead of .eh_frame, and packed in each way */
START_LOOP_TEST(test_debug_frame, 0, 3)
{
        static const char *const ways[] = { "-gz=none", "-gz=zlib", "-gz=zlib-gnu" };
        char folder[] = "/tmp/hyprof-unwind-XXXXXX", command[512], path[64];
        struct elf_image *image = NULL;
        int fd = -1;

        ck_assert_ptr_nonnull(mkdtemp(folder));
        (void)snprintf(path, sizeof(path), "%s/a.so", folder);
        (void)snprintf(
                command, sizeof(command),
                "printf 'int g(int); int f(int a) { return g(a) + 1; }' | gcc -x c - -nostdlib -shared -fPIC -O1 -g %s "
                "-fno-asynchronous-unwind-tables -fno-unwind-tables -o %s 2>/dev/null",
                ways[_i], path);
        /* NOLINTNEXTLINE(cert-env33-c) */
        if (system(command) != 0) {
                printf("skipped: this compiler does not make a file with %s\n", ways[_i]);
                (void)rmdir(folder);
                return;
        }
        ck_assert_int_eq(regular_file_open(path, &fd, NULL), 0);
        ck_assert_int_eq(elf_image_open_unmapped(fd, &image, NULL), 0);
        ck_assert_int_eq(unwind_module_build(image, &module, NULL), 0);
        ck_assert_ptr_nonnull(module->table);
        ck_assert_uint_ge(module->table->n_fdes, 1);
        elf_image_close(image);
        io_close(&fd);
        ck_assert_int_eq(unlink(path), 0);
        ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(test_vdso)
{
        struct elf_image *image = NULL;

        if (elf_image_open_vdso(&image, NULL) < 0)
                return;
        ck_assert_int_eq(unwind_module_build(image, &module, NULL), 0);
        ck_assert_ptr_nonnull(module->table);
        ck_assert_uint_gt(module->table->n_fdes, 0);
        elf_image_close(image);
}
END_TEST

/* loop test: both codes of a signal trampoline, in a file that tells nothing of it and needs the C library */
START_LOOP_TEST(test_trampoline_by_its_code, 0, 2)
{
        struct {
                Elf64_Ehdr header;
                Elf64_Phdr segments[2];
                Elf64_Dyn needed[2];
                uint8_t code[64];
        } file = { .header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
                               .e_type = ET_EXEC,
                               .e_machine = EM_X86_64,
                               .e_version = EV_CURRENT,
                               .e_phoff = sizeof(Elf64_Ehdr),
                               .e_ehsize = sizeof(Elf64_Ehdr),
                               .e_phentsize = sizeof(Elf64_Phdr),
                               .e_phnum = 2 },
                   .segments = { { .p_type = PT_LOAD,
                                   .p_flags = PF_R | PF_X,
                                   .p_vaddr = 0x400000,
                                   .p_filesz = sizeof(file),
                                   .p_memsz = sizeof(file) },
                                 { .p_type = PT_DYNAMIC,
                                   .p_offset = sizeof(file.header) + sizeof(file.segments),
                                   .p_filesz = sizeof(file.needed),
                                   .p_memsz = sizeof(file.needed) } },
                   .needed = { { .d_tag = DT_NEEDED } } };
        const struct unwind_machine *m = &unwind_machine_x86_64;
        struct elf_image *image = NULL;
        uint64_t svma = 0x400000 + sizeof(file) - sizeof(file.code) + 20;
        const uint8_t *code = _i == 0 ? m->sigreturn_code : m->short_sigreturn_code;
        size_t n_bytes = _i == 0 ? m->n_sigreturn_code_bytes : m->n_short_sigreturn_code_bytes;

        memcpy(file.code + 20, code, n_bytes);
        ck_assert_int_eq(elf_image_open_memory(&file, sizeof(file), &image, NULL), 0);
        ck_assert_int_eq(unwind_module_build(image, &module, NULL), 0);
        ck_assert_ptr_nonnull(module->table);
        ck_assert_uint_eq(unwind_table_find(module->table, svma)->cfa, UNWIND_CFA_SIGNAL);
        ck_assert_uint_eq(unwind_table_find(module->table, svma - 1)->cfa, UNWIND_CFA_SIGNAL);
        ck_assert_ptr_null(unwind_table_find(module->table, svma - 2));
        ck_assert_ptr_null(unwind_table_find(module->table, svma + n_bytes));
        elf_image_close(image);
}
END_TEST

/* A function of makecontext(3) returns to code that was not called: a root, whatever its entry says. */
START_TEST(test_context_start_by_its_code)
{
        struct {
                Elf64_Ehdr header;
                Elf64_Phdr segment;
                uint8_t code[64];
        } file = { .header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
                               .e_type = ET_EXEC,
                               .e_machine = EM_X86_64,
                               .e_version = EV_CURRENT,
                               .e_phoff = sizeof(Elf64_Ehdr),
                               .e_ehsize = sizeof(Elf64_Ehdr),
                               .e_phentsize = sizeof(Elf64_Phdr),
                               .e_phnum = 1 },
                   .segment = { .p_type = PT_LOAD,
                                .p_flags = PF_R | PF_X,
                                .p_vaddr = 0x400000,
                                .p_filesz = sizeof(file),
                                .p_memsz = sizeof(file) } };
        const struct unwind_machine *m = &unwind_machine_x86_64;
        struct elf_image *image = NULL;
        uint64_t svma = 0x400000 + sizeof(file.header) + sizeof(file.segment) + 20;

        memcpy(file.code + 20, m->context_start_code, m->n_context_start_code_bytes);
        ck_assert_int_eq(elf_image_open_memory(&file, sizeof(file), &image, NULL), 0);
        ck_assert_int_eq(unwind_module_build(image, &module, NULL), 0);
        ck_assert_ptr_nonnull(module->table);
        ck_assert_uint_eq(unwind_table_find(module->table, svma - 1)->ra, UNWIND_SAVED_UNDEFINED);
        ck_assert_uint_eq(unwind_table_find(module->table, svma + m->n_context_start_bytes - 1)->ra,
                          UNWIND_SAVED_UNDEFINED);
        ck_assert_ptr_null(unwind_table_find(module->table, svma + m->n_context_start_bytes));
        ck_assert_ptr_null(unwind_table_find(module->table, svma - 2));
        elf_image_close(image);
}
END_TEST

START_TEST(test_cache)
{
        struct unwind_cache_key a = unwind_cache_key_of_build_id("abc", 3),
                                b = unwind_cache_key_of_build_id("abcd", 4);
        struct unwind_cache_key file = unwind_cache_key_of_file(1, 2, 3, 4);
        struct unwind_cache_key later = unwind_cache_key_of_file(1, 2, 3, 5);
        struct unwind_cache cache;
        uint64_t n_bytes;
        uint32_t first, second;

        ck_assert_int_eq(build(), 0);
        n_bytes = module->n_bytes;
        unwind_cache_init(&cache, 0);
        ck_assert_uint_eq(unwind_cache_find(&cache, &a), 0);
        ck_assert_int_eq(unwind_cache_add(&cache, &a, &first, NULL), 1);
        ck_assert_ptr_null(unwind_cache_get(&cache, first));
        ck_assert_int_eq(unwind_cache_put(&cache, first, module), 0);
        ck_assert_ptr_eq(unwind_cache_get(&cache, first), module);
        ck_assert_uint_eq(cache.n_bytes, n_bytes);
        ck_assert_int_eq(unwind_cache_add(&cache, &a, &second, NULL), 0);
        ck_assert_uint_eq(first, second);
        ck_assert_uint_eq(unwind_cache_find(&cache, &a), first);
        ck_assert_uint_eq(unwind_cache_find(&cache, &b), 0);
        ck_assert_int_eq(unwind_cache_add(&cache, &file, &second, NULL), 1);
        ck_assert_uint_eq(second, first + 1);
        ck_assert_ptr_null(unwind_cache_get(&cache, second));
        ck_assert_uint_eq(unwind_cache_find(&cache, &later), 0);
        ck_assert_ptr_null(unwind_cache_get(&cache, 0));
        ck_assert_ptr_null(unwind_cache_get(&cache, second + 1));
        unwind_cache_deinit(&cache);

        /* No room: it stays a file without a table, and is counted. */
        unwind_cache_init(&cache, n_bytes - 1);
        ck_assert_int_eq(build(), 0);
        ck_assert_int_eq(unwind_cache_add(&cache, &a, &first, NULL), 1);
        ck_assert_int_eq(unwind_cache_put(&cache, first, module), -EOVERFLOW);
        ck_assert_ptr_null(unwind_cache_get(&cache, first));
        ck_assert_uint_eq(unwind_cache_find(&cache, &a), first);
        ck_assert_uint_eq(cache.n_too_large, 1);
        ck_assert_uint_eq(cache.n_bytes, 0);
        unwind_cache_deinit(&cache);
        module = NULL; /* it was the cache's */
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
