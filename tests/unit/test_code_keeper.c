/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/code_keeper.c: what may be gone later is in the trace once, byte for byte; what is not is
 * counted, with its reason
 */
#include "base/byte_buffer.h"
#include "base/io.h"
#include "format/attachment_chunk.h"
#include "format/trace_dictionary.h"
#include "sampler/keep/code_keeper.h"
#include "sampler/keep/image_reader.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/recording.h"
#include "symbolize/images/image_spool.h"
#include "tests/unit/unit_test.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define FILE_BYTES 8192

static struct code_keeper *keeper;
static struct trace_dictionary dictionary;
static struct loss_counter losses;
static struct recorder_pace pace;
static const struct recording recording = { .dictionary = &dictionary, .losses = &losses, .pace = &pace };
static struct image_spool spool;
static unsigned n_freed;

static void start(enum code_keeper_mode mode, uint64_t bytes_max)
{
        struct code_keeper_options options = { .mode = mode, .bytes_max = bytes_max, .spool = &spool };

        memset(&losses, 0, sizeof(losses));
        recorder_pace_init(&pace, 0);
        n_freed = 0;
        trace_dictionary_init(&dictionary, 0);
        image_spool_init(&spool);
        ck_assert_int_eq(code_keeper_new(&recording, &options, &keeper, NULL), 0);
}

static void stop(void)
{
        code_keeper_free(keeper);
        image_spool_deinit(&spool);
        trace_dictionary_deinit(&dictionary);
}

/* The begin of an ELF file with a build-id of 20 times 0xab. */
static void put_header(uint8_t *bytes)
{
        static const uint8_t note[16] = {
                4, 0, 0, 0, 20, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0
        };
        const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
                                    .e_phoff = sizeof(header),
                                    .e_phentsize = sizeof(Elf64_Phdr),
                                    .e_phnum = 1 };
        const Elf64_Phdr segment = { .p_type = PT_NOTE,
                                     .p_offset = sizeof(header) + sizeof(segment),
                                     .p_filesz = sizeof(note) + 20,
                                     .p_align = 4 };

        memcpy(bytes, &header, sizeof(header));
        memcpy(bytes + sizeof(header), &segment, sizeof(segment));
        memcpy(bytes + segment.p_offset, note, sizeof(note));
        memset(bytes + segment.p_offset + sizeof(note), 0xab, 20);
}

/* A mapping of this process, of code that is in no folder. */
struct mapped_code {
        struct perf_mmap mmap;
        uint8_t bytes[FILE_BYTES];
        char name[64];
        void *at;
};

static void map_code(struct mapped_code *code, uint8_t fill)
{
        int fd = memfd_create("k", MFD_CLOEXEC);
        struct stat status;

        ck_assert_int_ge(fd, 0);
        memset(code, 0, sizeof(*code));
        memset(code->bytes, fill, FILE_BYTES);
        put_header(code->bytes);
        ck_assert_int_eq(io_write_all(fd, code->bytes, FILE_BYTES, NULL), 0);
        ck_assert_int_eq(fstat(fd, &status), 0);
        code->at = mmap(NULL, FILE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
        ck_assert_ptr_ne(code->at, MAP_FAILED);
        io_close(&fd);
        (void)snprintf(code->name, sizeof(code->name), "/memfd:k (deleted)");
        code->mmap = (struct perf_mmap){ .start_avma = (uint64_t)(uintptr_t)code->at,
                                         .length_bytes = FILE_BYTES,
                                         .inode = status.st_ino,
                                         .device_major = major(status.st_dev),
                                         .device_minor = minor(status.st_dev),
                                         .executable = true,
                                         .path = code->name,
                                         .path_bytes = strlen(code->name) };
}

static void enlarge(const struct mapped_code *code, off_t n_bytes)
{
        char link[96];

        (void)snprintf(link, sizeof(link), "/proc/self/map_files/%lx-%lx",
                       (unsigned long)code->mmap.start_avma,
                       (unsigned long)(code->mmap.start_avma + FILE_BYTES));
        ck_assert_int_eq(truncate(link, n_bytes), 0);
}

static void unmap_code(struct mapped_code *code)
{
        ck_assert_int_eq(munmap(code->at, FILE_BYTES), 0);
}

/* This machine lets us see what is mapped. */
static bool reads_map_files(const struct mapped_code *code)
{
        char link[96];

        (void)snprintf(link, sizeof(link), "/proc/self/map_files/%lx-%lx",
                       (unsigned long)code->mmap.start_avma,
                       (unsigned long)(code->mmap.start_avma + FILE_BYTES));
        return access(link, R_OK) == 0;
}

static void want(uint32_t module, const struct mapped_code *code)
{
        const struct trace_module row = { .kind = TRACE_MODULE_FILE };

        ck_assert_int_eq(code_keeper_want_file(keeper, module, &row, (uint32_t)getpid(), &code->mmap), 0);
}

static uint32_t count_rows(void)
{
        return trace_dictionary_count(&dictionary, TRACE_TABLE_MODULE_IMAGES);
}

/* The last row of a module, or NULL. */
static const struct trace_module_image *find_row(uint32_t module)
{
        for (uint32_t id = count_rows(); id > 0; id--) {
                const struct trace_module_image *row = trace_dictionary_row(&dictionary,
                                                                            TRACE_TABLE_MODULE_IMAGES, id);

                if (row->module == module)
                        return row;
        }
        return NULL;
}

static uint32_t kept_as(uint32_t module)
{
        const struct trace_module_image *row = find_row(module);

        ck_assert_ptr_nonnull(row);
        ck_assert_uint_eq(row->state, TRACE_IMAGE_KEPT);
        ck_assert_uint_ne(row->attachment, 0);
        return row->attachment;
}

static void was_left_out(uint32_t module, enum trace_image_state state)
{
        const struct trace_module_image *row = find_row(module);

        ck_assert_ptr_nonnull(row);
        ck_assert_uint_eq(row->state, state);
        ck_assert_uint_eq(row->attachment, 0);
}

static void take_all(void)
{
        ck_assert_int_eq(code_keeper_take(keeper, true), 0);
}

/* The bytes of an attachment, from the spool, after all parts have left. */
static void is_kept(uint32_t attachment, const uint8_t *bytes, size_t n_bytes)
{
        struct spooled_image image;

        ck_assert_int_eq(image_spool_map(&spool, &dictionary, attachment, &image, NULL), 1);
        ck_assert_uint_eq(image.n_bytes, n_bytes);
        ck_assert_mem_eq(image.bytes, bytes, n_bytes);
        image_spool_unmap(&image);
}

/* Returns how many parts there were. */
static unsigned take_parts(void)
{
        struct byte_buffer body = { .data = NULL };
        struct attachment_chunk part;
        unsigned n_parts = 0;

        code_keeper_rows_written(keeper);
        while (code_keeper_next(keeper, &body) == 1) {
                ck_assert_int_eq(
                        attachment_chunk_decode(&dictionary, body.data, body.used_bytes, &part, NULL), 0);
                byte_buffer_clear(&body);
                n_parts++;
        }
        byte_buffer_deinit(&body);
        return n_parts;
}

#define NEEDS_MAP_FILES(code)                                                                   \
        if (!reads_map_files(code)) { /* an ordinary user: what has no name cannot be opened */ \
                unmap_code(code);                                                               \
                return;                                                                         \
        }

START_TEST(test_kept)
{
        static struct mapped_code code;
        struct byte_buffer body = { .data = NULL };

        map_code(&code, 1);
        NEEDS_MAP_FILES(&code)
        start(CODE_KEEPER_AUTO, 0);
        want(3, &code);
        want(3, &code);
        take_all();
        ck_assert_uint_eq(count_rows(), 1);
        ck_assert(!code_keeper_has_parts(keeper)); /* its row was not written */
        ck_assert_int_eq(code_keeper_next(keeper, &body), 0);
        ck_assert_uint_eq(take_parts(), 1);
        ck_assert(!code_keeper_has_parts(keeper));
        is_kept(kept_as(3), code.bytes, FILE_BYTES);
        want(3, &code);
        take_all();
        ck_assert_uint_eq(count_rows(), 1);
        stop();
        unmap_code(&code);
}
END_TEST

START_TEST(test_same_content)
{
        static struct mapped_code code[3];

        map_code(&code[0], 1);
        NEEDS_MAP_FILES(&code[0])
        map_code(&code[1], 1);
        map_code(&code[2], 2);
        start(CODE_KEEPER_AUTO, 2 * FILE_BYTES); /* the same one does not count twice */
        for (uint32_t i = 0; i < 3; i++) {
                want(10 + i, &code[i]);
                take_all();
        }
        ck_assert_uint_eq(kept_as(10), kept_as(11));
        ck_assert_uint_ne(kept_as(10), kept_as(12));
        ck_assert_uint_eq(trace_dictionary_count(&dictionary, TRACE_TABLE_ATTACHMENTS), 2);
        ck_assert_uint_eq(take_parts(), 2);
        stop();
        for (unsigned i = 0; i < 3; i++)
                unmap_code(&code[i]);
}
END_TEST

/* Where the kernel tells the build-id, the file is opened once. */
START_TEST(test_same_build_id)
{
        static struct mapped_code code, gone;

        map_code(&code, 1);
        NEEDS_MAP_FILES(&code)
        code.mmap.build_id_bytes = 20;
        memset(code.mmap.build_id, 0xab, 20);
        gone = code;
        gone.mmap.start_avma = 0x1000;
        start(CODE_KEEPER_AUTO, 0);
        want(1, &code);
        want(2, &gone); /* while the first is on its way */
        take_all();
        want(3, &gone);
        ck_assert_uint_eq(kept_as(1), kept_as(2));
        ck_assert_uint_eq(kept_as(1), kept_as(3));
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_TOO_LATE], 0);
        stop();
        unmap_code(&code);
}
END_TEST

/* strip leaves the build-id: what it left is not the code of the whole file, whichever came first. */
START_TEST(test_same_build_id_of_another_file)
{
        static struct mapped_code code[3], gone;

        map_code(&code[0], 1);
        NEEDS_MAP_FILES(&code[0])
        map_code(&code[1], 1);
        map_code(&code[2], 1);
        enlarge(&code[1], 2 * FILE_BYTES);
        for (unsigned i = 0; i < 3; i++) {
                code[i].mmap.build_id_bytes = 20;
                memset(code[i].mmap.build_id, 0xab, 20);
        }
        gone = code[0];
        gone.mmap.start_avma = 0x1000;
        start(CODE_KEEPER_AUTO, 0);
        want(1, &gone);
        want(2, &code[0]);
        want(3, &code[1]);
        want(4, &code[2]);
        take_all();
        ck_assert_uint_eq(kept_as(1), kept_as(2));
        ck_assert_uint_eq(kept_as(2), kept_as(4));
        ck_assert_uint_ne(kept_as(2), kept_as(3));
        (void)take_parts();
        is_kept(kept_as(2), code[0].bytes, FILE_BYTES);
        stop();
        for (unsigned i = 0; i < 3; i++)
                unmap_code(&code[i]);
}
END_TEST

START_TEST(test_too_late)
{
        static struct mapped_code code, gone;

        map_code(&code, 1);
        NEEDS_MAP_FILES(&code)
        gone = code;
        gone.mmap.start_avma = 0x1000;
        gone.mmap.inode = 1;
        start(CODE_KEEPER_AUTO, 0);
        want(1, &gone);
        want(2, &gone);
        ck_assert_int_eq(code_keeper_take(keeper, false), 0);
        ck_assert_uint_eq(count_rows(), 0); /* another process may have it */
        want(2, &code);
        take_all();
        was_left_out(1, TRACE_IMAGE_TOO_LATE);
        (void)kept_as(2);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_TOO_LATE], 1);
        take_all();
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_TOO_LATE], 1);
        stop();
        unmap_code(&code);
}
END_TEST

START_TEST(test_limit)
{
        static struct mapped_code code[2];

        map_code(&code[0], 1);
        NEEDS_MAP_FILES(&code[0])
        map_code(&code[1], 2);
        start(CODE_KEEPER_AUTO, FILE_BYTES + FILE_BYTES / 2);
        want(1, &code[0]);
        want(2, &code[1]);
        take_all();
        (void)kept_as(1);
        was_left_out(2, TRACE_IMAGE_OVER_LIMIT);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_OVER_LIMIT], 1);
        stop();
        unmap_code(&code[0]);
        unmap_code(&code[1]);
}
END_TEST

/* Installed files are left alone, unless everything with samples is wanted. */
START_TEST(test_installed)
{
        struct perf_mmap mmap = { .executable = true, .start_avma = 0x1000, .length_bytes = 4096 };
        const struct trace_module row = { .kind = TRACE_MODULE_FILE };
        char path[4096] = "";
        struct stat status;

        ck_assert_ptr_nonnull(realpath("/bin/sh", path));
        ck_assert_int_eq(stat(path, &status), 0);
        mmap.path = path;
        mmap.path_bytes = strlen(path);
        mmap.inode = status.st_ino;
        for (int mode = CODE_KEEPER_AUTO; mode <= CODE_KEEPER_ALL; mode++) {
                start((enum code_keeper_mode)mode, 0);
                ck_assert_int_eq(code_keeper_want_file(keeper, 5, &row, (uint32_t)getpid(), &mmap), 0);
                ck_assert_int_eq(code_keeper_want_file(keeper, 6, &row, (uint32_t)getpid(), &mmap), 0);
                code_keeper_note_place(keeper, 5);
                code_keeper_note_place(keeper, 5);
                code_keeper_note_place(keeper, 7); /* an unknown one */
                take_all();
                ck_assert_uint_eq(count_rows(), mode == CODE_KEEPER_ALL ? 1 : 0);
                if (mode == CODE_KEEPER_ALL)
                        (void)kept_as(5);
                ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_TOO_LATE], 0);
                stop();
        }
}
END_TEST

/*
 * Code that was mapped before the recording is kept from its third place on; of the rest, at
 * the end, a few mebibytes.
 */
START_TEST(test_mapped_before)
{
        enum { LARGE = 1, FEW, NONE, OFTEN, N_CODES = OFTEN };

        static struct mapped_code codes[N_CODES];

        start(CODE_KEEPER_AUTO, 0);
        for (uint32_t i = 0; i < N_CODES; i++) {
                map_code(&codes[i], (uint8_t)(i + 1));
                codes[i].mmap.was_there = true;
        }
        enlarge(&codes[LARGE - 1], 9 << 20); /* more than may be kept of code with few places */
        for (uint32_t module = 1; module <= N_CODES; module++)
                want(module, &codes[module - 1]);
        for (int i = 0; i < 2; i++) {
                code_keeper_note_place(keeper, LARGE);
                code_keeper_note_place(keeper, OFTEN);
        }
        code_keeper_note_place(keeper, FEW);
        ck_assert(code_keeper_lacks(keeper, OFTEN));
        code_keeper_note_place(keeper, OFTEN);
        ck_assert(!code_keeper_lacks(keeper, OFTEN));
        unmap_code(&codes[OFTEN - 1]); /* it was opened by then */
        take_all();
        ck_assert_uint_eq(count_rows(), 3);
        (void)kept_as(OFTEN);
        (void)kept_as(FEW);
        was_left_out(LARGE, TRACE_IMAGE_OVER_LIMIT);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_OVER_LIMIT], 1);
        stop();
        for (uint32_t i = 0; i < N_CODES - 1; i++)
                unmap_code(&codes[i]);
}
END_TEST

/* Large files that are mapped while recording wait for places, though they were read at once. */
START_TEST(test_large_needs_places)
{
        enum { OFTEN = 1, FEW, BEYOND, NONE, SMALL, N_CODES = SMALL };

        static struct mapped_code codes[N_CODES];
        struct pollfd answers = { .events = POLLIN };

        for (uint32_t i = 0; i < N_CODES; i++)
                map_code(&codes[i], (uint8_t)(i + 1));
        NEEDS_MAP_FILES(&codes[0]);
        enlarge(&codes[OFTEN - 1], 9 << 20);
        enlarge(&codes[FEW - 1], 5 << 20);
        enlarge(&codes[BEYOND - 1], 4 << 20);
        enlarge(&codes[NONE - 1], 2 << 20);
        start(CODE_KEEPER_AUTO, 0);
        for (uint32_t module = 1; module <= N_CODES; module++) {
                want(module, &codes[module - 1]);
                unmap_code(&codes[module - 1]); /* it was opened by then */
        }
        answers.fd = code_keeper_fd(keeper);
        while (count_rows() == 0) { /* they are read one after the other, the small one at last */
                ck_assert_int_eq(poll(&answers, 1, 60000), 1);
                ck_assert_int_eq(code_keeper_take(keeper, false), 0);
        }
        (void)kept_as(SMALL);
        ck_assert_uint_eq(count_rows(), 1);
        for (int i = 0; i < 3; i++)
                code_keeper_note_place(keeper, OFTEN);
        for (int i = 0; i < 2; i++)
                code_keeper_note_place(keeper, FEW);
        code_keeper_note_place(keeper, BEYOND);
        take_all();
        ck_assert_uint_eq(count_rows(), 4);
        (void)kept_as(OFTEN);
        (void)kept_as(FEW);
        was_left_out(BEYOND, TRACE_IMAGE_OVER_LIMIT);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_OVER_LIMIT], 1);
        (void)take_parts();
        stop();
}
END_TEST

START_TEST(test_vdso)
{
        const struct trace_module row = { .kind = TRACE_MODULE_VDSO };
        const struct perf_mmap mmap = {
                .executable = true, .start_avma = UINT64_C(1) << 40, .path = "[vdso]", .path_bytes = 6
        };
        uint32_t attachment;

        start(CODE_KEEPER_AUTO, 0);
        ck_assert_int_eq(code_keeper_want_file(keeper, 1, &row, (uint32_t)getpid(), &mmap), 0);
        take_all();
        attachment = kept_as(1);
        (void)take_parts();
        ck_assert_uint_gt(((const struct trace_attachment *)trace_dictionary_row(
                                   &dictionary, TRACE_TABLE_ATTACHMENTS, attachment))
                                  ->size_bytes,
                          1000);
        stop();
}
END_TEST

static int read_nothing(void *source, uint64_t bytes_max, struct byte_buffer *out, uint32_t *ret_kind,
                        struct error *err)
{
        (void)source;
        (void)bytes_max;
        (void)out;
        (void)ret_kind;
        (void)err;
        return -EIO;
}

static void count_free(void *source)
{
        (void)source;
        n_freed++;
}

START_TEST(test_other_code)
{
        const struct code_source source = { .read = read_nothing, .free = count_free };
        struct byte_buffer payload = { .data = NULL };
        static const uint8_t bytes[] = "code that was read already";

        start(CODE_KEEPER_AUTO, 0);
        byte_buffer_add(&payload, bytes, sizeof(bytes));
        ck_assert_int_eq(code_keeper_add(keeper, 1, TRACE_ATTACHMENT_CODE_BYTES, &payload), 0);
        ck_assert_ptr_null(payload.data);
        ck_assert_int_eq(code_keeper_want(keeper, 1, &source), 0); /* it has its code */
        take_all();
        ck_assert_uint_eq(n_freed, 1);
        (void)take_parts();
        is_kept(kept_as(1), bytes, sizeof(bytes));
        ck_assert_int_eq(code_keeper_want(keeper, 2, &source), 0);
        take_all();
        ck_assert_uint_eq(n_freed, 2);
        was_left_out(2, TRACE_IMAGE_UNREADABLE);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_UNREADABLE], 1);
        stop();
}
END_TEST

/* Its executable mapping announces it, before anything is in it: it belongs to jit_files. */
START_TEST(test_a_jitdump_is_no_code)
{
        char folder[] = "/tmp/test_code_keeper.XXXXXX", path[sizeof(folder) + 16];
        struct perf_mmap mmap = { .length_bytes = FILE_BYTES, .executable = true, .path = path };
        const struct trace_module row = { .kind = TRACE_MODULE_FILE };
        int fd;

        ck_assert_ptr_nonnull(mkdtemp(folder));
        (void)snprintf(path, sizeof(path), "%s/jit-7.dump", folder);
        mmap.path_bytes = strlen(path);
        fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        ck_assert_int_ge(fd, 0);
        io_close(&fd);
        start(CODE_KEEPER_AUTO, 0);
        ck_assert_int_eq(code_keeper_want_file(keeper, 1, &row, (uint32_t)getpid(), &mmap), 0);
        take_all();
        ck_assert_uint_eq(count_rows(), 0);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_UNREADABLE], 0);
        stop();
        ck_assert_int_eq(unlink(path), 0);
        ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(test_none)
{
        const struct code_source source = { .read = read_nothing, .free = count_free };
        struct byte_buffer payload = { .data = NULL };
        static struct mapped_code code;

        map_code(&code, 1);
        start(CODE_KEEPER_NONE, 0);
        want(1, &code);
        ck_assert_int_eq(code_keeper_want(keeper, 2, &source), 0);
        byte_buffer_add(&payload, "code", 4);
        ck_assert_int_eq(code_keeper_add(keeper, 3, TRACE_ATTACHMENT_CODE_BYTES, &payload), 0);
        ck_assert_ptr_null(payload.data);
        code_keeper_note_place(keeper, 1);
        take_all();
        ck_assert_uint_eq(n_freed, 1);
        ck_assert_uint_eq(count_rows(), 0);
        ck_assert_uint_eq(take_parts(), 0);
        ck_assert_int_eq(code_keeper_fd(keeper), -1);
        stop();
        unmap_code(&code);
}
END_TEST

/* In the order in which they were wanted, large ones in parts. */
START_TEST(test_parts)
{
        struct byte_buffer payload = { .data = NULL };
        const size_t n_bytes = 2 * (size_t)ATTACHMENT_CHUNK_BYTES_MAX + 77;
        uint8_t *bytes = malloc(n_bytes);

        ck_assert_ptr_nonnull(bytes);
        for (size_t i = 0; i < n_bytes; i++)
                bytes[i] = (uint8_t)(i * 7 + i / 4096);
        start(CODE_KEEPER_AUTO, 0);
        for (uint32_t module = 1; module <= 3; module++) {
                byte_buffer_add(&payload, bytes, module == 2 ? n_bytes : module);
                ck_assert_int_eq(code_keeper_add(keeper, module, TRACE_ATTACHMENT_MODULE_PARTS, &payload), 0);
        }
        take_all();
        ck_assert_uint_eq(take_parts(), 5);
        is_kept(kept_as(1), bytes, 1);
        is_kept(kept_as(2), bytes, n_bytes);
        is_kept(kept_as(3), bytes, 3);
        stop();
        free(bytes);
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 100);
