/* SPDX-License-Identifier: MIT */
/*
 * export/firefox/firefox_shared.h - the members "shared" and "libs" of a Firefox profile
 *
 * Way of the data:  firefox_tables, source texts of the trace -> [firefox_shared] -> export_firefox
 */
#ifndef EXPORT_FIREFOX_FIREFOX_SHARED_H
#define EXPORT_FIREFOX_FIREFOX_SHARED_H

#include <stdint.h>

struct error;
struct firefox_tables;
struct json_out;
struct loaded_trace;

/* The limit of all source texts in one file. */
#define FIREFOX_SOURCES_BYTES_MAX (UINT64_C(64) << 20)

/*
 * firefox_shared_write() - writes both
 * @ret_n_left_out:  source texts for which there was no room
 * Returns 0, -ENOMEM, -errno of reading the trace.
 */
int firefox_shared_write(struct firefox_tables *t, struct loaded_trace *trace, struct json_out *j,
                         uint64_t *ret_n_left_out, struct error *err);

#endif /* EXPORT_FIREFOX_FIREFOX_SHARED_H */
