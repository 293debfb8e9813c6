/* SPDX-License-Identifier: MIT */
/*
 * view/shared/event_view.h - the events of programs other than zones: locks, memory, frames,
 * plots, messages, devices
 *
 * Way of the data:  lock_stats, memory_stats, frame_stats, plot_stats, message_list, device_stats
 *                   -> [event_view] locks_view, memory_view ... -> view_document
 * Specification:    docs/use/view-json.md
 *
 * Each fills a document that is initialised; when memory runs out, it is `failed`.  @trace: with
 * threads' names, walked.
 */
#ifndef VIEW_SHARED_EVENT_VIEW_H
#define VIEW_SHARED_EVENT_VIEW_H

#include <stdbool.h>

struct answer_schema;
struct device_stats;
struct event_view_options;
struct event_walk;
struct flow_stats;
struct frame_stats;
struct frame_zones;
struct heat_grid;
struct loaded_trace;
struct lock_stats;
struct memory_stats;
struct message_list;
struct plot_stats;
struct view_document;
struct zone_paths;

extern const struct answer_schema memory_view_schema, frames_view_schema, plots_view_schema,
        messages_view_schema, devices_view_schema, locks_view_schema, heat_view_schema, flows_view_schema;

void locks_view_fill(struct view_document *d, const struct lock_stats *s, const struct event_walk *walk,
                     struct loaded_trace *trace, const struct event_view_options *options);
void memory_view_fill(struct view_document *d, const struct memory_stats *s, const struct event_walk *walk,
                      struct loaded_trace *trace, const struct event_view_options *options);
void frames_view_fill(struct view_document *d, const struct frame_zones *z, struct loaded_trace *trace,
                      const struct event_view_options *options);
void flows_view_fill(struct view_document *d, const struct flow_stats *s, struct loaded_trace *trace,
                     const struct event_view_options *options);
void plots_view_fill(struct view_document *d, const struct plot_stats *s, struct loaded_trace *trace,
                     const struct event_view_options *options);
/* The newest messages, as many as the limit says. */
void messages_view_fill(struct view_document *d, const struct message_list *l, const struct zone_paths *paths,
                        struct loaded_trace *trace, const struct event_view_options *options);
/*
 * @zone:      as the user named it, where the grid has zones
 * @has_cells: all cells, for a program that draws them; else a drawing
 */
void heat_view_fill(struct view_document *d, const struct heat_grid *g, const char *zone, bool has_cells,
                    struct loaded_trace *trace, const struct event_view_options *options);
void devices_view_fill(struct view_document *d, const struct device_stats *s, struct loaded_trace *trace,
                       const struct event_view_options *options);

#endif /* VIEW_SHARED_EVENT_VIEW_H */
