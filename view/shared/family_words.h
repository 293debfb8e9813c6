/* SPDX-License-Identifier: MIT */
/*
 * view/shared/family_words.h - why a trace has no events of a kind: the program had none, or the options of
 * the recording left them out
 *
 * Way of the data:  META of a trace -> [family_words] -> recording_view, zones_view, locks_view ...
 */
#ifndef VIEW_SHARED_FAMILY_WORDS_H
#define VIEW_SHARED_FAMILY_WORDS_H

struct trace_dictionary;

struct family_words {
        char text[160];
};

/*
 * family_words_none() - "not recorded: --memory alone"
 * @family:     "zones", "frames", "messages", "plots", "memory", "locks", "devices"
 * @otherwise:  the words if it was to be recorded
 */
struct family_words family_words_none(const struct trace_dictionary *d, const char *family,
                                      const char *otherwise);

#endif /* VIEW_SHARED_FAMILY_WORDS_H */
