/* SPDX-License-Identifier: MIT */
/*
 * cli/on_host/host_place.h - what a recording needs on the host: a folder, hyprof, the program and its files
 *
 * Way of the data:  host_board, files -> [host_place] -> host_transport -> the host
 *
 * hyprof lies in a folder of the user's own, under a name that has its content's number, so it is sent once;
 * memory is preferred (/dev/shm).  The folder of one recording is below it, and is removed at its end.
 */
#ifndef CLI_ON_HOST_HOST_PLACE_H
#define CLI_ON_HOST_HOST_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct host;

#define HOST_PLACE_FILES_MAX 64

struct host_place {
        char *machine;  /* heap, as all here */
        char *hyprof;   /* there: its path */
        char *folder;   /* there: of this recording; NULL = it was not made */
        bool has_files; /* then the program starts in "files" below it */
};

/*
 * host_place_make() - asks what machine it is, sends hyprof unless it is there, makes the folder
 * The first command on the host: it may ask for a password.
 * Returns 0; -EHOSTUNREACH: the host does not answer; -ENOENT: no hyprof for this machine is here (`machine`
 * is set); -ENOSPC: no folder there takes it; -ENOEXEC: hyprof does not run there; -errno.
 */
int host_place_make(struct host_place *p, const struct host *host, struct error *err);

/*
 * host_place_send() - sends files and folders: each is there under its last name
 * Returns 0; -EEXIST: two have one name; -ENOENT and other -errno of a file; -EIO: they did not arrive.
 */
int host_place_send(struct host_place *p, const struct host *host, const char *const *paths, size_t n_paths,
                    struct error *err);

/* After a start that failed: removes the folder.  Else the attendant does. */
void host_place_remove(const struct host_place *p, const struct host *host);
void host_place_deinit(struct host_place *p);

#endif /* CLI_ON_HOST_HOST_PLACE_H */
