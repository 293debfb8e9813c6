/* SPDX-License-Identifier: MIT */
/*
 * view/events/device_hosts_view.h - the tables of `report --devices` about the host: what its zones had
 * devices do, and what they did while devices were idle
 *
 * Way of the data:  device_hosts, device_gaps -> [device_hosts_view] -> devices_view
 */
#ifndef VIEW_EVENTS_DEVICE_HOSTS_VIEW_H
#define VIEW_EVENTS_DEVICE_HOSTS_VIEW_H

struct answer_part;
struct device_stats;
struct event_names;

extern const struct answer_part device_hosts_part, device_keys_part, device_gaps_part, device_idle_part;

/* Adds the tables, those of keys only if there are keys, those of gaps only if there are gaps. */
void device_hosts_view_add(struct event_names *n, const struct device_stats *s);
void device_hosts_view_warn(struct event_names *n, const struct device_stats *s);

#endif /* VIEW_EVENTS_DEVICE_HOSTS_VIEW_H */
