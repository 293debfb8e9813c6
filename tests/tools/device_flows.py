#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Arrows from zones of threads to zones of devices, of a Perfetto trace or a file of Chrome's format.

    device_flows.py FILE

A line for each name of a slice on a device: "NAME COUNT NS", how many have an arrow, and the time from where its flow
begins in all.  In Perfetto's format a flow begins at the first event that has it; an end in Chrome's format must be
at the begin of a slice of its thread.
"""
import collections
import json
import sys

from track_slices import fields, first_fields

FIRST_FLOW = 1 << 63


def perfetto(data):
    """TracePacket: 8 time, 11 event; TrackEvent: 9 type, 23 name, 47 flows."""
    begins, slices = {}, []
    for _, packet in fields(data):
        packet = first_fields(packet)
        if 11 not in packet:
            continue
        event = first_fields(packet[11])
        flows = [int.from_bytes(value, "little") for field, value in fields(packet[11]) if field == 47]
        for flow in flows:
            if flow >= FIRST_FLOW:
                begins[flow] = min(begins.get(flow, packet[8]), packet[8])
                if 23 in event:
                    slices.append((event[23].decode(), packet[8], flow))
    for name, time, flow in slices:
        yield name, time - begins[flow]


def chrome(data):
    events = json.loads(data)["traceEvents"]
    slices, begins = {}, {}
    for event in events:
        place = (event["pid"], event["tid"], round(event.get("ts", 0) * 1000))
        if event["ph"] == "X":
            slices[place] = event["name"]
        elif event["ph"] == "s" and event["cat"] == "device":
            begins[event["id"]] = place
    for event in events:
        if event["ph"] == "f" and event["cat"] == "device":
            place = (event["pid"], event["tid"], round(event["ts"] * 1000))
            begin = begins[event["id"]]
            if begin not in slices or place not in slices:
                sys.exit(f"a flow is bound to nothing: {event}")
            yield slices[place], place[2] - begin[2]


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    sums = collections.defaultdict(list)
    for name, delay in (chrome(data) if data[:1] == b"{" else perfetto(data)):
        sums[name].append(delay)
    for name, delays in sorted(sums.items()):
        print(name, len(delays), sum(delays))


main()
