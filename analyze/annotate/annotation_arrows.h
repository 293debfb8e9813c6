/* SPDX-License-Identifier: MIT */
/*
 * analyze/annotate/annotation_arrows.h - where the jumps of a function are drawn
 *
 * Way of the data:  code_listing -> [annotation_arrows] -> annotation
 */
#ifndef ANALYZE_ANNOTATE_ANNOTATION_ARROWS_H
#define ANALYZE_ANNOTATE_ANNOTATION_ARROWS_H

struct annotation;

/*
 * annotation_arrows_find() - fill targets and arrows of an annotation whose listing and
 * instructions are there
 * Jumps to one place are one arrow.  Short ones are next to the code, longer ones around them.
 * Returns 0 or -ENOMEM.
 */
int annotation_arrows_find(struct annotation *a);

#endif /* ANALYZE_ANNOTATE_ANNOTATION_ARROWS_H */
