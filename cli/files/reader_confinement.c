/* SPDX-License-Identifier: MIT */
#include "cli/files/reader_confinement.h"

#include "base/io.h"
#include "cli/terminal/complaint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define OWN_PLACES 4 /* for temporary files, SQLite's included, what is thrown away, a screen's keys */

static int open_place(const char *path)
{
        return open(path, O_PATH | O_CLOEXEC);
}

/* The folder of a path whose last part need not be there. */
static int open_folder_of(const char *path)
{
        const char *slash = strrchr(path, '/');
        char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
        int fd = folder ? open_place(folder) : -1;

        free(folder);
        return fd;
}

/*
 * A file is replaced as a whole in its folder, after links are followed.  A folder, a device or a pipe is
 * changed itself.
 */
static int open_result(const char *path)
{
        struct stat status;
        char *real;
        int fd;

        if (strcmp(path, "-") == 0) /* is open */
                return -1;
        if (stat(path, &status) < 0)
                return open_folder_of(path);
        if (!S_ISREG(status.st_mode))
                return open_place(path);
        real = realpath(path, NULL);
        fd = real ? open_folder_of(real) : -1;
        free(real);
        return fd;
}

int reader_confinement_enter(const struct reader_places *places)
{
        size_t n = 0, n_max = places->n_results + OWN_PLACES + places->n_folders;
        int *fds = calloc(n_max, sizeof(*fds));

        if (!fds) {
                complain(
                        "error: giving up rights before the file is read: no memory for the folders of results");
                return -ENOMEM;
        }
        fds[n++] = open_place(io_temporary_folder());
        fds[n++] = open_place("/var/tmp");
        fds[n++] = open_place("/dev/null");
        fds[n++] = open_place("/dev/tty");
        for (size_t i = 0; i < places->n_results; i++)
                fds[n++] = open_result(places->results[i]);
        for (size_t i = 0; i < places->n_folders; i++)
                fds[n + i] = places->folder_fds[i];
        confinement_enter_here(places->reach, fds, n_max);
        for (size_t i = 0; i < n; i++)
                io_close(&fds[i]);
        free(fds);
        return 0;
}
