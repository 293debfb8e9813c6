/* SPDX-License-Identifier: MIT */
#include "tests/unit/tt_log.h"

#include "base/error.h"
#include "import/file/import_source.h"
#include "import/tt/import_tt_device.h"
#include "tests/unit/unit_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "/tmp/hyprof_tt_XXXXXX"

char tt_log_folder[] = FOLDER;

int tt_log_read_path(const char *path, struct import_rows *rows, struct error *err)
{
        struct import_source *source;
        int r = import_source_open(&source, path, err);

        ck_assert_msg(r == 0, "%s", err->text);
        r = import_tt_device_read(source, rows, err);
        import_source_close(source);
        return r;
}

int tt_log_read_bytes(const void *bytes, size_t n_bytes, struct import_rows *rows, struct error *err)
{
        char path[64];
        int r, fd = memfd_create("log", MFD_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert(write(fd, bytes, n_bytes) == (ssize_t)n_bytes);
        ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        r = tt_log_read_path(path, rows, err);
        (void)close(fd);
        return r;
}

int tt_log_read_text(const char *text, struct import_rows *rows, struct error *err)
{
        return tt_log_read_bytes(text, strlen(text), rows, err);
}

void *tt_log_load(const char *path, size_t *ret_bytes)
{
        static char bytes[1 << 20];
        FILE *file = fopen(path, "re");

        ck_assert_ptr_nonnull(file);
        *ret_bytes = fread(bytes, 1, sizeof(bytes), file);
        (void)fclose(file);
        ck_assert(*ret_bytes > 0 && *ret_bytes < sizeof(bytes));
        return bytes;
}

void tt_log_put(const char *name, const void *bytes, size_t n_bytes)
{
        char path[512];
        FILE *file;

        (void)snprintf(path, sizeof(path), "%s/%s", tt_log_folder, name);
        for (char *at = path + strlen(tt_log_folder) + 1; (at = strchr(at, '/')) != NULL; at++) {
                *at = '\0';
                (void)mkdir(path, 0700);
                *at = '/';
        }
        file = fopen(path, "we");
        ck_assert_ptr_nonnull(file);
        ck_assert(fwrite(bytes, 1, n_bytes, file) == n_bytes);
        ck_assert_int_eq(fclose(file), 0);
}

void tt_log_put_text(const char *name, const char *text)
{
        tt_log_put(name, text, strlen(text));
}

void tt_log_put_copy(const char *name, const char *from)
{
        size_t n_bytes;
        void *bytes = tt_log_load(from, &n_bytes);

        tt_log_put(name, bytes, n_bytes);
}

void tt_log_make_folder(void)
{
        (void)strcpy(tt_log_folder, FOLDER);
        ck_assert_ptr_nonnull(mkdtemp(tt_log_folder));
}

void tt_log_remove_folder(void)
{
        char command[64];

        (void)snprintf(command, sizeof(command), "rm -r %s", tt_log_folder);
        ck_assert_int_eq(system(command), 0);
}

int tt_log_read_with_sync(const char *log, const char *sync, struct import_rows *rows, struct error *err)
{
        int r;

        tt_log_make_folder();
        tt_log_put_text("profile_log_device.csv", log);
        tt_log_put_text("sync_device_info.csv", sync);
        ck_assert(import_tt_device_recognise_folder(tt_log_folder));
        r = import_tt_device_read_folder(tt_log_folder, rows, err);
        tt_log_remove_folder();
        return r;
}
