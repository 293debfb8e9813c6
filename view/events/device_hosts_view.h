/* SPDX-License-Identifier: MIT */
/*
 * view/events/device_hosts_view.h - the tables of `report --devices` about the host: what its zones had
 * devices do
 *
 * Way of the data:  device_hosts -> [device_hosts_view] -> devices_view
 */
#ifndef VIEW_EVENTS_DEVICE_HOSTS_VIEW_H
#define VIEW_EVENTS_DEVICE_HOSTS_VIEW_H

struct answer_part;
struct device_stats;
struct event_names;

extern const struct answer_part device_hosts_part, device_keys_part;

/* Adds the tables, if there are keys. */
void device_hosts_view_add(struct event_names *n, const struct device_stats *s);
void device_hosts_view_warn(struct event_names *n, const struct device_stats *s);

#endif /* VIEW_EVENTS_DEVICE_HOSTS_VIEW_H */
