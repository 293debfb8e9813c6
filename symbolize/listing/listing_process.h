/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/listing_process.h - the listing_reader in a child without privileges
 *
 * Way of the data:  annotation -> fork, drop rights -> listing_reader -> pipe ->
 *                   [listing_process] -> annotation
 *
 * A file or code that crashes the disassembler costs the listing, and nothing else.  The child's standard
 * error is discarded.
 */
#ifndef SYMBOLIZE_LISTING_LISTING_PROCESS_H
#define SYMBOLIZE_LISTING_LISTING_PROCESS_H

#include <stdint.h>

#define LISTING_PROCESS_BYTES_MAX (UINT64_C(1) << 28) /* that the child may send */

struct code_listing;
struct error;
struct listing_request;

/*
 * listing_process_run() - listing_reader_run() in a child
 * The caller has one thread at this moment (it forks).  Blocks until the child is done.
 * Returns what listing_reader_run() does, and -EPROTO if the child died, -EBADMSG if it sent no listing.
 */
int listing_process_run(const struct listing_request *request, struct code_listing *ret_listing,
                        struct error *err);

/* The child's function: listing_reader_run(), or another one for a test. */
typedef int listing_process_task(const struct listing_request *request, struct code_listing *ret_listing,
                                 struct error *err);

/* listing_process_run() with another task for the child. */
int listing_process_run_task(const struct listing_request *request, listing_process_task *task,
                             struct code_listing *ret_listing, struct error *err);

#endif /* SYMBOLIZE_LISTING_LISTING_PROCESS_H */
