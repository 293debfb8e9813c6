#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Slices of a Perfetto trace or a file of Chrome's format as their readers find them, and whether they are nested.

    track_slices.py FILE

A line for each name on each track: "PARENT/TRACK NAME COUNT NS", the length in all.  In Perfetto's format an end
closes the slice of its track that began last; complete events of Chrome's format that cross are an error, as are
ends without a beginning and slices without an end.
"""
import collections
import json
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = 8 if kind == 1 else 4
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def first_fields(data):
    found = {}
    for field, value in fields(data):
        found.setdefault(field, value)
    return found


def perfetto(data):
    """TracePacket: 8 time, 11 event, 60 track; TrackEvent: 9 type, 11 track, 23 name; track: 1 uuid, 2 name, 5 parent."""
    events, tracks = [], {}
    for _, packet in fields(data):
        packet = first_fields(packet)
        if 60 in packet:
            track = first_fields(packet[60])
            tracks[track[1]] = (track.get(2, b"").decode(), track.get(5))
        if 11 in packet:
            event = first_fields(packet[11])
            if 11 in event and event.get(9) in (1, 2):
                events.append((packet[8], event[11], event[9], event.get(23, b"").decode()))
    open_slices = collections.defaultdict(list)
    for time, track, kind, name in sorted(events, key=lambda event: event[0]):
        if kind == 1:
            open_slices[track].append((time, name))
            continue
        begin, name = open_slices[track].pop()
        title, parent = tracks[track]
        yield f"{tracks.get(parent, ('',))[0]}/{title}", name, time - begin
    if any(open_slices.values()):
        sys.exit("slices that never end")


def chrome(text):
    events = json.loads(text)["traceEvents"]
    titles = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    ends = collections.defaultdict(list)
    for event in events:
        if event["ph"] != "X":
            continue
        begin, length = round(event["ts"] * 1000), round(event["dur"] * 1000)
        key = (event["pid"], event["tid"])
        while ends[key] and ends[key][-1] <= begin:
            ends[key].pop()
        if ends[key] and ends[key][-1] < begin + length:
            sys.exit(f"{event['name']} crosses another on {titles.get(key)}")
        ends[key].append(begin + length)
        yield titles.get(key, ""), event["name"], length


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    sums = collections.defaultdict(list)
    for track, name, length in (chrome(data) if data[:1] == b"{" else perfetto(data)):
        sums[track, name].append(length)
    for (track, name), lengths in sorted(sums.items()):
        print(track, name, len(lengths), sum(lengths))


if __name__ == "__main__":
    main()
