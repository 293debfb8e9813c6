/* SPDX-License-Identifier: MIT */
/*
 * import/formats/import_formats.h - which format a file has, by what is in it, and who reads it
 *
 * Way of the data:  path -> [import_formats] -> import_ireeprof, import_tt_device, import_trace_event ...
 *                   -> import_rows
 *
 * The name of a file says nothing.  A file that is none of these is told by what it is, where that is known:
 * "a .cpuprofile", with what to do instead.
 */
#ifndef IMPORT_IMPORT_FORMATS_H
#define IMPORT_IMPORT_FORMATS_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>

struct error;
struct import_rows;
struct import_source;

struct import_format {
        const char *name;  /* as `hyprof import` and the table IMPORTS call it: "trace-event" */
        const char *words; /* for people: what writes it */
        bool (*recognise)(struct text_view head);
        int (*read)(struct import_source *source, struct import_rows *rows, struct error *err);
        bool (*recognise_folder)(const char *path); /* NULL = it is never a folder, as the next */
        int (*read_folder)(const char *path, struct import_rows *rows, struct error *err);
};

/* All formats; the first one that recognises a file reads it. */
const struct import_format *import_formats_all(size_t *ret_n);

/* The format of the first bytes of a file; NULL = it is none of these. */
const struct import_format *import_formats_find(struct text_view head);

/*
 * What else a file is: "a .cpuprofile"; NULL = not known.
 * @ret_advice:  what to do instead; NULL = nothing is known
 */
const char *import_formats_guess(struct text_view head, const char **ret_advice);

/* Whether a path is a file or folder that import_formats_read() would read; never fails, opens no pipe. */
bool import_formats_can_read(const char *path);

/*
 * import_formats_read() - one file or folder
 * After import_trace_begin_file().  A file that is cut off is read up to there, and that is noted.
 * @ret_advice:  after -EBADMSG: what to do instead; NULL = nothing is known
 * Returns 0, -EBADMSG: no such format, or nothing in it can be read, -ENOMEM, -errno.
 */
int import_formats_read(const char *path, struct import_rows *rows, const char **ret_advice,
                        struct error *err);

#endif /* IMPORT_IMPORT_FORMATS_H */
