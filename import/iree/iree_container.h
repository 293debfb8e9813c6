/* SPDX-License-Identifier: MIT */
/*
 * import/iree/iree_container.h - IREE's binary profiles (.ireeprof), record by record
 *
 * Way of the data:  import_source -> [iree_container] -> iree_model
 *
 * A header of the file, then records with a header each: the beginning of a session, chunks of packed rows of
 * one kind, the end of a session.  All lengths are in the file and hostile; memory is that of one row.
 * A file that is cut off, or that the program never finished, is read as far as it goes.
 */
#ifndef IMPORT_IREE_CONTAINER_H
#define IMPORT_IREE_CONTAINER_H

struct error;
struct import_rows;
struct import_source;
struct iree_model;

#define IREE_CONTAINER_MAGIC "IRPF"

/*
 * Reads all.  Returns 0; -EBADMSG for no header, -ENOTSUP for another major version; or a failure of
 * import_source or import_rows.
 */
int iree_container_read(struct import_source *source, struct iree_model *model, struct import_rows *rows,
                        struct error *err);

#endif /* IMPORT_IREE_CONTAINER_H */
