/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/module_listing.h - a listing of code in a module of a trace, wherever that code is
 *
 * Way of the data:  image_spool, trace_dictionary -> [module_listing] -> listing_process -> annotation,
 *                   path_spins
 *
 * The image that the trace keeps comes first, then a file that is certainly the same.
 */
#ifndef SYMBOLIZE_LISTING_MODULE_LISTING_H
#define SYMBOLIZE_LISTING_MODULE_LISTING_H

#include "symbolize/listing/listing_process.h"

#include <stdbool.h>
#include <stdint.h>

struct image_spool;
struct trace_dictionary;

struct module_listing {
        const struct trace_dictionary *dictionary; /* borrowed */
        const struct image_spool *spool;           /* borrowed; NULL = the trace keeps no code */
        uint32_t module;                           /* of the kind FILE, VDSO or IMAGE */
};

/*
 * module_listing_run() - listing_process_run_task() for the code of a module
 * @common:       its places, search and syntax; the rest is filled in
 * @ret_is_kept:  whether the code is the trace's own
 * Returns what that does, or -ENOMEM.
 */
int module_listing_run(const struct module_listing *m, const struct listing_request *common,
                       listing_process_task *task, struct code_listing *ret_listing, bool *ret_is_kept,
                       struct error *err);

#endif /* SYMBOLIZE_LISTING_MODULE_LISTING_H */
