/* SPDX-License-Identifier: MIT */
/*
 * view/shared/asked_zone.h - the zone that --zone asked for, in a sentence and in a command
 *
 * Way of the data:  request -> [asked_zone] -> *_view
 *
 * The page asks by handles and people by names: both are told the same.
 */
#ifndef VIEW_SHARED_ASKED_ZONE_H
#define VIEW_SHARED_ASKED_ZONE_H

#include "base/text_view.h"
#include "view/text/shell_word.h"

struct trace_dictionary;

/* @zone: what was asked for, not NULL.  The zone's name if that is a handle, else @zone.  Borrowed. */
struct text_view asked_zone_name(const struct trace_dictionary *dictionary, const char *zone);

/* The value of --zone for the same zone: a handle in its shortest form, else @zone; quoted for a shell. */
struct shell_word asked_zone_option(const struct trace_dictionary *dictionary, const char *zone);

#endif /* VIEW_SHARED_ASKED_ZONE_H */
