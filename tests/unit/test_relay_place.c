/* SPDX-License-Identifier: MIT */
/*
 * relay_intake.c: only the file that the place was written for is gone on with, and only if all of it is
 * there
 */
#include "base/error.h"
#include "sampler/relay/relay_intake.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_BYTES 1000

struct fixture {
        int file_fd, place_fd;
        struct relay_place place;
};

/* Stands for the file system, where it is wanted. */
static struct {
        bool is_wanted;
        int outcome;
        struct statx status;
} told;

int statx(int fd, const char *restrict path, int flags, unsigned mask, struct statx *restrict ret)
{
        if (!told.is_wanted)
                return (int)syscall(SYS_statx, fd, path, flags, mask, ret);
        *ret = told.status;
        return told.outcome;
}

static void set_up(struct fixture *f, uint64_t file_bytes)
{
        f->file_fd = memfd_create("trace", MFD_CLOEXEC);
        f->place_fd = memfd_create("place", MFD_CLOEXEC);
        ck_assert(f->file_fd >= 0 && f->place_fd >= 0);
        ck_assert_int_eq(ftruncate(f->file_fd, FILE_BYTES), 0);
        f->place = (struct relay_place){ .recording = 1,
                                         .generation = 2,
                                         .n_loss_rows = 3,
                                         .n_own_rows = 4,
                                         .reopens = 1,
                                         .position = 5,
                                         .file_bytes = file_bytes,
                                         .file_id = relay_place_identify(f->file_fd) };
        ck_assert_int_eq(relay_place_write(f->place_fd, &f->place, NULL), 0);
}

static void tear_down(struct fixture *f)
{
        (void)close(f->file_fd);
        (void)close(f->place_fd);
}

START_TEST(what_is_written_is_read)
{
        struct relay_place read;
        struct fixture f;

        set_up(&f, FILE_BYTES);
        ck_assert_int_eq(relay_place_read(f.place_fd, f.file_fd, &read), 1);
        ck_assert_mem_eq(&read, &f.place, sizeof(read));
        ck_assert_int_eq(ftruncate(f.file_fd, FILE_BYTES + 1), 0); /* half a chunk after it */
        ck_assert_int_eq(relay_place_read(f.place_fd, f.file_fd, &read), 1);
        tear_down(&f);
}
END_TEST

START_TEST(another_file_is_left_alone)
{
        struct relay_place read;
        struct fixture f;
        int other_fd = memfd_create("other", MFD_CLOEXEC);

        set_up(&f, FILE_BYTES);
        ck_assert_int_eq(ftruncate(other_fd, FILE_BYTES), 0);
        ck_assert_int_eq(relay_place_read(f.place_fd, other_fd, &read), -ESTALE);
        ck_assert_int_eq(relay_place_read(f.place_fd, -1, &read), -ESTALE);
        (void)close(other_fd);
        tear_down(&f);
}
END_TEST

START_TEST(nothing_or_too_little_is_not_gone_on_with)
{
        struct relay_place read;
        struct fixture f;

        set_up(&f, 0);
        ck_assert_int_eq(relay_place_read(f.place_fd, f.file_fd, &read), 0);
        tear_down(&f);
        set_up(&f, FILE_BYTES + 1);
        ck_assert_int_eq(relay_place_read(f.place_fd, f.file_fd, &read), -ENODATA);
        ck_assert_int_eq(ftruncate(f.place_fd, RELAY_PLACE_BYTES - 1), 0);
        ck_assert_int_eq(relay_place_read(f.place_fd, f.file_fd, &read), -EBADMSG);
        ck_assert_int_eq(relay_place_read(-1, f.file_fd, &read), -EBADMSG);
        tear_down(&f);
}
END_TEST

START_TEST(a_full_disk_is_reported)
{
        const struct relay_place place = { .recording = 1 };
        struct error err = ERROR_NONE;
        int fd = open("/dev/full", O_RDWR | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(relay_place_write(fd, &place, &err), -ENOSPC);
        ck_assert_int_eq(err.code, -ENOSPC);
        (void)close(fd);
}
END_TEST

/* A new file may have the inode number of a removed one: the time when it was made tells them apart. */
START_TEST(a_file_of_the_same_number_is_another_one)
{
        uint64_t first;

        told.is_wanted = true;
        told.status.stx_mask = STATX_INO | STATX_BTIME;
        told.status.stx_ino = 7;
        told.status.stx_btime.tv_sec = 1000;
        told.status.stx_btime.tv_nsec = 4;
        first = relay_place_identify(0);
        ck_assert_uint_ne(first, 0);
        ck_assert_uint_eq(relay_place_identify(0), first);
        told.status.stx_btime.tv_sec++;
        ck_assert_uint_ne(relay_place_identify(0), first);
        told.status.stx_btime.tv_sec--;
        told.status.stx_btime.tv_nsec++;
        ck_assert_uint_ne(relay_place_identify(0), first);
        told.status.stx_btime.tv_nsec--;
        told.status.stx_ino++;
        ck_assert_uint_ne(relay_place_identify(0), first);

        told.status.stx_mask = STATX_INO;
        first = relay_place_identify(0);
        told.status.stx_btime.tv_sec++;
        ck_assert_uint_eq(relay_place_identify(0), first);
        told.outcome = -1;
        ck_assert_uint_eq(relay_place_identify(0), 0);
        told.is_wanted = false;
}
END_TEST
