/* SPDX-License-Identifier: MIT */
/*
 * export/firefox/firefox_meta.h - the member "meta" of a Firefox profile: when, what, categories, types of markers
 *
 * Way of the data:  META -> [firefox_meta] -> export_firefox
 */
#ifndef EXPORT_FIREFOX_FIREFOX_META_H
#define EXPORT_FIREFOX_FIREFOX_META_H

struct firefox_profile;
struct firefox_threads;

void firefox_meta_write(struct firefox_profile *p, const struct firefox_threads *threads);

#endif /* EXPORT_FIREFOX_FIREFOX_META_H */
