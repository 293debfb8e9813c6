/* SPDX-License-Identifier: MIT */
/*
 * analyze/annotate/annotation_files.h - all lines of the source files of a function, not only those with code
 *
 * Way of the data:  annotation, source_texts -> [annotation_files] -> annotation_view
 */
#ifndef ANALYZE_ANNOTATE_ANNOTATION_FILES_H
#define ANALYZE_ANNOTATE_ANNOTATION_FILES_H

#define ANNOTATION_FILE_LINES_MAX 200000 /* of all files of a function */

struct annotation;
struct source_texts;

/*
 * annotation_files_fill() - put a row without samples for each line of the files that `lines` has no row for
 * Files without text keep their rows as they are, and so do those that would make it more than
 * ANNOTATION_FILE_LINES_MAX rows: `n_short_files` counts the latter.  Returns 0 or -ENOMEM.
 */
int annotation_files_fill(struct annotation *a, struct source_texts *sources);

#endif /* ANALYZE_ANNOTATE_ANNOTATION_FILES_H */
