// SPDX-License-Identifier: MIT
/*
 * process_groups.js - short processes of one name as one row; without a page
 *
 * Way of the data:  TraceModel -> [process_groups] -> timeline_rows
 */

/**
 * @typedef {import('./model.js').LaneOfModel} LaneOfModel
 * @typedef {import('./model.js').ProcessOfModel} ProcessOfModel
 * @typedef {import('./model.js').TrackOfModel} TrackOfModel
 * @typedef {{ lane: LaneOfModel, track: TrackOfModel, first: number, last: number }} PackedLane
 */

/** Fewer processes of one name stand alone. */
export const GROUP_LEAST = 4;
/** A process is short if its threads were there for less than this share of the recording. */
const SHORT_SHARE = 0.25;
const STRIPS_MAX = 6;
/** Lanes of one row: the page asks for each. */
const PACKED_MAX = 300;
const GROUPS = 'processes:';

/** @param {string} key whether it is that of a group of processes */
export function isGroupKey(key) {
        return key.startsWith(GROUPS);
}

/**
 * When a track has something.
 * @param {TrackOfModel} track
 * @returns {{ first: number, last: number }}  the first is after the last if it has nothing
 */
function timeOf(track) {
        const lanes = track.lanes.filter((lane) => lane.items > 0);

        return { first: Math.min(...lanes.map((lane) => lane.first_ns ?? 0)),
                 last: Math.max(...lanes.map((lane) => lane.last_ns ?? Infinity)) };
}

/**
 * groupProcesses() - gives each thread of a short process its group's key, if there are enough of its name
 * @param {ProcessOfModel[]} processes
 * @param {TrackOfModel[]} tracks
 * @param {number} duration_ns
 */
export function groupProcesses(processes, tracks, duration_ns) {
        /** @type {Map<number, { first: number, last: number, tracks: TrackOfModel[] }>} */
        const times = new Map(processes.map((process) => [process.id, { first: Infinity, last: -Infinity, tracks: [] }]));
        /** @type {Map<string, TrackOfModel[][]>} by name */
        const groups = new Map();

        for (const track of tracks) {
                const time = times.get(track.process ?? -1);

                if (!time)
                        continue;
                const { first, last } = timeOf(track);

                time.first = Math.min(time.first, first);
                time.last = Math.max(time.last, last);
                time.tracks.push(track);
        }
        for (const process of processes) {
                const time = times.get(process.id);

                if (!time || time.tracks.length === 0 || !process.name || !(time.last - time.first < duration_ns * SHORT_SHARE))
                        continue;
                if (!groups.has(process.name))
                        groups.set(process.name, []);
                groups.get(process.name)?.push(time.tracks);
        }
        for (const [name, members] of groups)
                if (members.length >= GROUP_LEAST)
                        members.flat().forEach((track) => { track.group = GROUPS + name; });
}

/**
 * The lane that says most about a process: the states of its busiest thread, else its zones.
 * @param {TrackOfModel[]} tracks  of one process
 * @returns {PackedLane|null}
 */
function laneOfProcess(tracks) {
        const lanes = tracks.flatMap((track) => track.lanes.filter((lane) => lane.items > 0 && lane.depth === 0 &&
                ['states', 'zones', 'samples'].includes(lane.kind)).map((lane) => ({ lane, track, ...timeOf(track) })));
        const order = ['states', 'zones', 'samples'];

        lanes.sort((a, b) => order.indexOf(a.lane.kind) - order.indexOf(b.lane.kind) || b.lane.items - a.lane.items);
        return lanes[0] ?? null;
}

/**
 * packProcesses() - lanes of processes in as few strips as they fit into, the longest first
 * @param {TrackOfModel[][]} members  the tracks of each process
 * @returns {{ strips: PackedLane[][], nAtOnce: number }}  `nAtOnce`: how many processes there were at a time, at most
 */
export function packProcesses(members) {
        const lanes = members.flatMap((tracks) => laneOfProcess(tracks) ?? []);
        /** @type {PackedLane[][]} */
        const strips = [];

        for (const one of [...lanes].sort((a, b) => b.last - b.first - a.last + a.first).slice(0, PACKED_MAX)) {
                const free = strips.find((strip) => strip.every((other) => one.first >= other.last || one.last <= other.first));

                if (free)
                        free.push(one);
                else if (strips.length < STRIPS_MAX)
                        strips.push([one]);
        }
        return { strips, nAtOnce: countAtOnce(lanes) };
}

/** @param {PackedLane[]} lanes */
function countAtOnce(lanes) {
        const ends = lanes.map((one) => one.last).sort((a, b) => a - b);
        let nEnded = 0;
        let most = 0;

        lanes.map((one) => one.first).sort((a, b) => a - b).forEach((first, i) => {
                while (ends[nEnded] <= first)
                        nEnded++;
                most = Math.max(most, i + 1 - nEnded);
        });
        return most;
}
