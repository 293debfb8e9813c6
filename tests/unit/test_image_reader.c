/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/image_reader.c: what is read is there byte for byte, in order and within the limit; what is
 * not says why, and nothing leaks
 */
#include "base/byte_buffer.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_spec.h"
#include "sampler/keep/image_reader.h"
#include "tests/unit/unit_test.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define LIMIT_BYTES (UINT64_C(8) << 20)
#define WAIT_NS     (UINT64_C(60) * 1000000000)

static struct image_reader *reader;
static atomic_int n_freed;

static void set_up(void)
{
        atomic_store(&n_freed, 0);
        ck_assert_int_eq(image_reader_start(LIMIT_BYTES, &reader, NULL), 0);
}

static void tear_down(void)
{
        image_reader_stop(reader);
}

/* A file of @n_bytes that begins as an ELF file does, without notes. */
static int make_elf(size_t n_bytes, uint8_t fill)
{
        int fd = memfd_create("elf", MFD_CLOEXEC);
        uint8_t *bytes = malloc(n_bytes + 1);

        ck_assert_int_ge(fd, 0);
        ck_assert_ptr_nonnull(bytes);
        for (size_t i = 0; i < n_bytes; i++)
                bytes[i] = (uint8_t)(fill + i % 251);
        memset(bytes, 0, n_bytes < 64 ? n_bytes : 64);
        memcpy(bytes, ELFMAG, n_bytes < SELFMAG ? n_bytes : SELFMAG);
        ck_assert_int_eq(io_write_all(fd, bytes, n_bytes, NULL), 0);
        free(bytes);
        return fd;
}

static void put_fd(uint32_t id, int fd)
{
        struct image_request request = { .id = id, .fd = fd };

        ck_assert_int_eq(image_reader_put(reader, &request, 0), 0);
}

static struct staged_image take(void)
{
        struct staged_image image;

        ck_assert_int_eq(image_reader_wait(reader, WAIT_NS), 1);
        ck_assert_int_eq(image_reader_next(reader, &image), 1);
        return image;
}

static int result_of(int fd)
{
        put_fd(1, fd);
        return take().code;
}

START_TEST(test_file)
{
        static const size_t sizes[] = { 64, 4095, 4096, 4097, (1 << 20) - 1, (1 << 20) + 1, 3000001 };

        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
                int fd = make_elf(sizes[i], (uint8_t)i), again = dup(fd);
                uint8_t *wanted = malloc(sizes[i]), *found = malloc(sizes[i]);
                struct staged_image image;
                size_t n_read;

                put_fd((uint32_t)i + 7, fd);
                image = take();
                ck_assert_int_eq(image.code, 0);
                ck_assert_uint_eq(image.id, i + 7);
                ck_assert_uint_eq(image.kind, TRACE_ATTACHMENT_MODULE_FILE);
                ck_assert_uint_eq(image.size_bytes, sizes[i]);
                ck_assert_int_eq(io_pread_full(again, wanted, sizes[i], 0, &n_read, NULL), 0);
                ck_assert_uint_eq(image.hash, content_hash(wanted, sizes[i]));
                ck_assert_int_eq(image_reader_copy(reader, &image, 0, found, sizes[i]), 0);
                ck_assert_mem_eq(found, wanted, sizes[i]);
                image_reader_forget(reader, &image);
                io_close(&again);
                free(wanted);
                free(found);
        }
}
END_TEST

/* ulimit -f holds for the memory that code is read into: that is another reason than the limit for code. */
START_TEST(test_a_limit_on_the_length_of_files)
{
        struct rlimit before, small;
        int fd = make_elf(200000, 1), other = make_elf(4096, 2);

        ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
        small = (struct rlimit){ .rlim_cur = 100000, .rlim_max = before.rlim_max };
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
        ck_assert_int_eq(result_of(fd), -EDQUOT);
        ck_assert_int_eq(result_of(other), 0);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
}
END_TEST

/*
 * Parts are given back while others of the same image are needed, and the next image does not disturb them.
 */
START_TEST(test_release)
{
        struct staged_image first, second;
        uint8_t bytes[4096], wanted[4096];
        int fd = make_elf(10000, 3), again = dup(fd);
        size_t n_read;

        put_fd(1, fd);
        put_fd(2, make_elf(5000, 9));
        first = take();
        second = take();
        image_reader_release(reader, &first, 0, 5000);
        ck_assert_int_eq(io_pread_full(again, wanted, 4096, 5000, &n_read, NULL), 0);
        ck_assert_int_eq(image_reader_copy(reader, &first, 5000, bytes, 4096), 0);
        ck_assert_mem_eq(bytes, wanted, 4096);
        image_reader_release(reader, &first, 5000, 10000);
        ck_assert_int_eq(image_reader_copy(reader, &second, 0, bytes, 4096), 0);
        ck_assert_mem_eq(bytes, ELFMAG, SELFMAG);
        ck_assert_uint_eq(bytes[100], 9 + 100);
        image_reader_release(reader, &second, 0, 5000);
        io_close(&again);
}
END_TEST

START_TEST(test_refusals)
{
        int pipe_fds[2], fd;

        ck_assert_int_eq(result_of(make_elf(0, 0)), -ENODATA);
        ck_assert_int_eq(result_of(make_elf(20, 0)), -ENOEXEC);
        fd = make_elf(4096, 0);
        ck_assert_int_eq(pwrite(fd, "#!/b", 4, 0), 4);
        ck_assert_int_eq(result_of(fd), -ENOEXEC);
        ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
        ck_assert_int_eq(result_of(pipe_fds[0]), -EINVAL);
        io_close(&pipe_fds[1]);
        ck_assert_int_eq(result_of(open("/dev/zero", O_RDONLY | O_CLOEXEC)), -EINVAL);
        fd = make_elf(4096, 0);
        ck_assert_int_eq(ftruncate(fd, INT64_C(4) << 30), 0); /* sparse */
        ck_assert_int_eq(result_of(fd), -EFBIG);
}
END_TEST

START_TEST(test_limit)
{
        struct staged_image first;

        put_fd(1, make_elf(LIMIT_BYTES - 4096, 1));
        first = take();
        ck_assert_int_eq(first.code, 0);
        ck_assert_int_eq(result_of(make_elf(4097, 1)), -EFBIG);
        ck_assert_int_eq(result_of(make_elf(4096, 1)), 0);
        ck_assert_int_eq(result_of(make_elf(64, 1)), -EFBIG);
        image_reader_forget(reader, &first);
        ck_assert_int_eq(result_of(make_elf(64, 1)), 0);
}
END_TEST

START_TEST(test_other_build_id)
{
        struct image_request request = { .build_id_bytes = 20 };

        request.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        ck_assert_int_eq(image_reader_put(reader, &request, 0), 0);
        ck_assert_int_eq(take().code, -ESTALE);
        request.fd = make_elf(100, 1); /* has none: it has the other one's name by now */
        ck_assert_int_eq(image_reader_put(reader, &request, 0), 0);
        ck_assert_int_eq(take().code, -ESTALE);
        request.build_id_bytes = 0;
        request.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        ck_assert_int_eq(image_reader_put(reader, &request, 0), 0);
        ck_assert_int_ne(take().code, -ESTALE);
}
END_TEST

/* Notes that lie after everything else. */
START_TEST(test_far_build_id)
{
        struct image_request request = { .build_id_bytes = 4, .build_id = { 1, 2, 3, 4 } };
        Elf64_Ehdr header = { .e_ident = ELFMAG, .e_phoff = 64, .e_phnum = 1, .e_phentsize = 56 };
        Elf64_Phdr segment = { .p_type = PT_NOTE, .p_offset = 100000, .p_filesz = 20, .p_align = 4 };
        uint8_t note[20] = { 4, 0, 0, 0, 4, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4 };

        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        for (int i = 0; i < 2; i++) {
                request.fd = make_elf(100100, 1);
                ck_assert_int_eq(pwrite(request.fd, &header, 64, 0), 64);
                ck_assert_int_eq(pwrite(request.fd, &segment, 56, 64), 56);
                ck_assert_int_eq(pwrite(request.fd, note, sizeof(note), 100000), sizeof(note));
                ck_assert_int_eq(image_reader_put(reader, &request, 0), 0);
                ck_assert_int_eq(take().code, i == 0 ? 0 : -ESTALE);
                note[19] = 5;
        }
}
END_TEST

/* ---- sources ------------------------------------------------------------------------------------------- */

struct fake_source {
        int code;
        size_t n_bytes;
        int wait_fd; /* read until its end; -1 = none */
};

static int read_fake(void *source, uint64_t bytes_max, struct byte_buffer *out, uint32_t *ret_kind,
                     struct error *err)
{
        const struct fake_source *fake = source;
        char byte;

        (void)err;
        while (fake->wait_fd >= 0 && read(fake->wait_fd, &byte, 1) > 0)
                ;
        if (fake->n_bytes > bytes_max)
                return -EFBIG;
        for (size_t i = 0; i < fake->n_bytes; i++)
                byte_buffer_add_u8(out, (uint8_t)i);
        *ret_kind = TRACE_ATTACHMENT_MODULE_PARTS;
        return fake->code;
}

static void free_fake(void *source)
{
        free(source);
        atomic_fetch_add(&n_freed, 1);
}

static struct image_request fake_request(uint32_t id, int code, size_t n_bytes, int wait_fd)
{
        struct fake_source *fake = malloc(sizeof(*fake));

        ck_assert_ptr_nonnull(fake);
        *fake = (struct fake_source){ .code = code, .n_bytes = n_bytes, .wait_fd = wait_fd };
        return (struct image_request){ .id = id,
                                       .fd = -1,
                                       .source = { .source = fake, .read = read_fake, .free = free_fake } };
}

START_TEST(test_sources)
{
        struct image_request request = fake_request(3, 0, 100, -1);
        struct staged_image image;
        uint8_t bytes[100];

        ck_assert_int_eq(image_reader_put(reader, &request, 0), 0);
        image = take();
        ck_assert_int_eq(image.code, 0);
        ck_assert_uint_eq(image.kind, TRACE_ATTACHMENT_MODULE_PARTS);
        ck_assert_uint_eq(image.size_bytes, 100);
        ck_assert_int_eq(image_reader_copy(reader, &image, 0, bytes, 100), 0);
        ck_assert_uint_eq(bytes[99], 99);
        ck_assert_uint_eq(image.hash, content_hash(bytes, 100));
        request = fake_request(4, -ENOENT, 100, -1);
        ck_assert_int_eq(image_reader_put(reader, &request, 0), 0);
        ck_assert_int_eq(take().code, -ENOENT);
        request = fake_request(5, 0, 0, -1);
        ck_assert_int_eq(image_reader_put(reader, &request, 0), 0);
        ck_assert_int_eq(take().code, -ENODATA);
        request = fake_request(6, 0, LIMIT_BYTES, -1);
        ck_assert_int_eq(image_reader_put(reader, &request, 0), 0);
        ck_assert_int_eq(take().code, -EFBIG);
        ck_assert_int_eq(atomic_load(&n_freed), 4);
}
END_TEST

/* Puts a source that does not end before the pipe does, and as many after it as find room. */
static unsigned fill_queue(int wait_fd)
{
        struct image_request request = fake_request(0, 0, 10, wait_fd);
        unsigned n_put = 0;

        while (image_reader_put(reader, &request, 0) == 0) {
                n_put++;
                request = fake_request(n_put, 0, 10, -1);
                ck_assert_uint_le(n_put, IMAGE_READER_QUEUE_MAX + 1);
        }
        ck_assert_uint_ge(n_put, IMAGE_READER_QUEUE_MAX);
        return n_put;
}

START_TEST(test_full_queue)
{
        int pipe_fds[2];
        unsigned n_put;

        ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
        n_put = fill_queue(pipe_fds[0]);
        ck_assert_int_eq(image_reader_wait(reader, 1), -ETIMEDOUT);
        io_close(&pipe_fds[1]);
        for (unsigned i = 0; i < n_put; i++) {
                struct staged_image image = take();

                ck_assert_uint_eq(image.id, i);
                ck_assert_int_eq(image.code, 0);
        }
        ck_assert_int_eq(image_reader_wait(reader, WAIT_NS), 0); /* nothing more is on its way */
        ck_assert_int_eq(atomic_load(&n_freed), (int)n_put + 1);
        io_close(&pipe_fds[0]);
}
END_TEST

START_TEST(test_stop_when_full)
{
        int pipe_fds[2];
        unsigned n_put;

        ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
        n_put = fill_queue(pipe_fds[0]);
        io_close(&pipe_fds[1]);
        image_reader_stop(reader);
        reader = NULL;
        ck_assert_int_eq(atomic_load(&n_freed), (int)n_put + 1);
        io_close(&pipe_fds[0]);
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 100, .setup = set_up, .teardown = tear_down);
