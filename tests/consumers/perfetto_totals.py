#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a Perfetto trace comes to, read from the text of `protoc --decode`, in lines of words:

samples N / weight N / zone NAME COUNT TOTAL_NS / self FUNCTION SAMPLES / switches N / messages N / counters N /
stack_samples NAME COUNT WEIGHT / flow CATEGORY THREAD EVENT -> THREAD EVENT N / unknown N (fields that the
schema does not have) / unbalanced N (zones and flows) / running N (threads that are on a CPU at the end)
"""
import collections
import re
import sys

TASK_RUNNING = 3

def decode(text):
    """Text with \\ escapes of C -> str."""
    raw = text.encode("latin-1", "backslashreplace").decode("unicode_escape")
    return raw.encode("latin-1", "replace").decode("utf-8", "replace")


def packets(lines):
    """Each packet as nested dicts of lists."""
    stack = []
    for line in lines:
        line = line.strip()
        if line.endswith("{"):
            stack.append((line[:-1].strip(), collections.defaultdict(list)))
        elif line == "}":
            name, fields = stack.pop()
            if stack:
                stack[-1][1][name].append(fields)
            else:
                yield fields
        elif line:
            name, value = line.split(": ", 1)
            stack[-1][1][name].append(decode(value[1:-1]) if value.startswith('"') else value)


def count_unknown(fields):
    n = 0
    for name, values in fields.items():
        n += len(values) if re.fullmatch(r"[0-9]+", name) else 0
        n += sum(count_unknown(value) for value in values if isinstance(value, dict))
    return n


class Totals:
    def __init__(self):
        self.lines = collections.Counter()
        self.zones = {}
        self.own = collections.Counter()
        self.stack_samples = {}
        self.interned = collections.defaultdict(dict)
        self.defaults = {}
        self.open = collections.defaultdict(list)
        self.cpus = {}
        self.states = {}
        self.threads = {}
        self.flow_ends = {"flow_ids": {}, "terminating_flow_ids": {}}

    def intern(self, sequence, interned):
        known = self.interned[sequence]
        for kind, text in (("event_categories", "name"), ("event_names", "name"), ("function_names", "text")):
            for item in interned[kind]:
                known[kind, item["iid"][0]] = (item[text] or [""])[0]
        for item in interned["frames"]:
            known["frames", item["iid"][0]] = item["function_name_id"][0]
        for item in interned["callstacks"]:
            known["callstacks", item["iid"][0]] = item["frame_ids"]

    def add_event(self, sequence, time_ns, event):
        track = (event["track_uuid"] or [self.defaults.get(sequence)])[0]
        kind = event["type"][0]
        if kind == "TYPE_SLICE_BEGIN":
            iid = event["name_iid"]
            name = self.interned[sequence]["event_names", iid[0]] if iid else None
            self.open[track].append((name, time_ns))
        elif kind == "TYPE_SLICE_END":
            if not self.open[track]:
                self.lines["unbalanced"] += 1
                return
            name, begin_ns = self.open[track].pop()
            if name is None:
                return
            zone = self.zones.setdefault(name, [0, 0])
            zone[0] += 1
            if all(other != name for other, _ in self.open[track]):
                zone[1] += time_ns - begin_ns
        elif not self.take_flow(sequence, time_ns, track, event):
            self.lines["messages" if kind == "TYPE_INSTANT" else "counters"] += 1

    def take_flow(self, sequence, time_ns, track, event):
        for field, ends in self.flow_ends.items():
            for flow in event[field]:
                known = self.interned[sequence]
                ends[flow] = (time_ns, known["event_categories", event["category_iids"][0]],
                              f'{self.threads[track]} {known["event_names", event["name_iid"][0]]}')
        return event["flow_ids"] or event["terminating_flow_ids"]

    def count_flows(self):
        """Arrows go forward in time, and have two ends."""
        flows = collections.Counter()
        begins, ends = self.flow_ends.values()
        for flow, (time_ns, category, name) in begins.items():
            end = ends.pop(flow, None)
            if end and end[0] >= time_ns and end[1] == category:
                flows[f"{category} {name} -> {end[2]}"] += 1
            else:
                self.lines["unbalanced"] += 1
        self.lines["unbalanced"] += len(ends)
        return flows

    def add_sample(self, sequence, sample):
        known = self.interned[sequence]
        frame = known["callstacks", sample["callstack_iid"][0]][-1]
        self.own[known["function_names", known["frames", frame]]] += 1
        self.lines["samples"] += 1
        self.cpus[sample["cpu"][0]] = int(sample["timebase_count"][0])

    def add_state(self, time_ns, state):
        tid = state["tid"][0]
        if tid not in self.states or self.states[tid][0] <= time_ns:
            self.states[tid] = time_ns, int(state["state"][0])

    def add(self, packet):
        sequence = packet["trusted_packet_sequence_id"][0]
        for defaults in packet["trace_packet_defaults"]:
            for event in defaults["track_event_defaults"]:
                self.defaults[sequence] = event["track_uuid"][0]
        for track in packet["track_descriptor"]:
            for thread in track["thread"]:
                self.threads[track["uuid"][0]] = (thread["thread_name"] or [""])[0]
        for interned in packet["interned_data"]:
            self.intern(sequence, interned)
        for event in packet["track_event"]:
            self.add_event(sequence, int(packet["timestamp"][0]), event)
        for sample in packet["perf_sample"]:
            self.add_sample(sequence, sample)
        for sample in packet["stack_sample"]:
            line = self.stack_samples.setdefault(sample["primary_descriptor"][0]["name"][0], [0, 0])
            line[0] += 1
            line[1] += int(sample["primary_weight"][0])
        for state in packet["generic_kernel_task_state_event"]:
            self.lines["switches"] += 1
            self.add_state(int(packet["timestamp"][0]), state)
        self.lines["unknown"] += count_unknown(packet)


def main():
    totals = Totals()
    for packet in packets(sys.stdin):
        totals.add(packet)
    flows = totals.count_flows()
    totals.lines["weight"] = sum(totals.cpus.values())
    totals.lines["unbalanced"] += sum(len(track) for track in totals.open.values() if any(n for n, _ in track))
    totals.lines["running"] = sum(state == TASK_RUNNING for _, state in totals.states.values())
    for name in ("samples", "weight", "switches", "messages", "counters", "unknown", "unbalanced", "running"):
        print(name, totals.lines[name])
    for name, (count, total_ns) in sorted(totals.zones.items()):
        print("zone", name, count, total_ns)
    for name, (count, weight) in sorted(totals.stack_samples.items()):
        print("stack_samples", name, count, weight)
    for name, count in sorted(flows.items()):
        print("flow", name, count)
    for name, count in sorted(totals.own.items()):
        print("self", name, count)


main()
