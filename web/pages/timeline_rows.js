// SPDX-License-Identifier: MIT
/*
 * timeline_rows.js - which tracks and lanes stand where on the timeline, from top to bottom; without a page
 *
 * Way of the data:  TraceModel, what the person chose -> [timeline_rows] -> timeline_paint, screen_timeline
 */

import { busiestOf, busyShareOf, deviceTree, isNodeKey, isOpenAtFirst, nodeKeysOf } from './device_tree.js';
import { formatCount, formatShare } from './format.js';
import { samplesOf, someGhosts } from './ghost_lanes.js';
import { NO_NAME } from './model_checks.js';
import { GROUP_LEAST, isGroupKey, packProcesses } from './process_groups.js';

/**
 * @typedef {import('./device_tree.js').DeviceNode} DeviceNode
 * @typedef {import('./model.js').LaneOfModel} LaneOfModel
 * @typedef {import('./model.js').ProcessOfModel} ProcessOfModel
 * @typedef {import('./model.js').TraceModel} TraceModel
 * @typedef {import('./model.js').TrackOfModel} TrackOfModel
 */

/**
 * Heights in CSS pixels, by kind of lane.
 * @type {{ [kind: string]: number }}
 */
const LANE_HEIGHTS = { zones: 19, ghosts: 15, states: 16, samples: 7, messages: 10, cpu: 18, unrecorded: 18, holder: 15, waiters: 11,
                       frames: 20, device: 19, plot: 46, counter: 46, memory: 46, cpu_time: 38 };
/** Lanes that grow where the window has room: states stay quiet, and moments are points. */
const GROWING = ['zones', 'ghosts', 'cpu', 'unrecorded', 'holder', 'waiters', 'frames', 'device', 'plot', 'counter', 'memory'];
const TRACK_HEADER_PX = 20;
/**
 * Room above the first lane, by kind of track.
 * @type {{ [kind: string]: number }}
 */
const TRACK_TOP_PX = { load: 1, cpu: 1, frames: 2, thread: 3 };
const TRACK_GAP_PX = 5;
/** The room for the legend below the load. */
export const LOAD_LEGEND_PX = 15;
/**
 * The order of a track's lanes.
 * @type {{ [kind: string]: number }}
 */
const LANE_ORDER = { states: 0, samples: 1, messages: 2, holder: 3, waiters: 4, zones: 5, ghosts: 6, unrecorded: 10 };
/**
 * The order of tracks without a process.
 * @type {{ [kind: string]: number }}
 */
const TRACK_ORDER = { load: -1, frames: 0, cpu: 1, thread: 2, device: 3, lock: 4, memory: 5, plot: 6, counter: 7 };

/** The sort of processes and threads by their samples, which the model has. */
export const BUSIEST_FIRST = 'busy';
/** More threads than that do not fit on a screen. */
const THREADS_IN_SIGHT = 12;
/** Lanes of a device that is folded. */
const STRIP_PX = 5;
/** In the set of folded rows: of a row that is folded at first, that it is open. */
const OPENED = 'open:';

/**
 * @typedef {{ lane: LaneOfModel, track: TrackOfModel, y: number, height: number }} LaneRow
 * @typedef {{ kind: 'group'|'track', title: string, track: TrackOfModel|null, key: string, y: number, height: number,
 *             isOpen: boolean, isPinned: boolean, nHidden: number, lanes: LaneRow[],
 *             depth?: number, parent?: string, note?: string, fault?: string }} TimelineRow  `depth`, `parent`: among the lanes of a device
 * @typedef {{ process: ProcessOfModel, tracks: TrackOfModel[] }} ProcessTracks
 * @typedef {{ showsGhosts: boolean, hidesGhosts: boolean, showsIdle: boolean, showsWakes: boolean, closed: Set<string>, pinned: string[],
 *             moved: Map<string, number>, ghosts: Set<string>, path: { threads: number[], isFirst: boolean }|null, isFolded: boolean,
 *             hidesEmpty: boolean, filter: string, sort: string, numbers: Map<string, number>,
 *             view: { from: number, to: number }, found: string, growth: number }} TimelineChoice
 *         `hidesGhosts`: also those that are shown by themselves; `ghosts`: tracks for which showsGhosts is the other way
 *         round; `path`: threads that are shown in any case; `closed`: with isFolded, what is open; `numbers`: by thread, for the sort;
 *         `view`: what hidesEmpty looks at; `found`: the track that is shown in any case; `growth`: how many times as high
 *         lanes are that grow
 */

/** @param {TrackOfModel} track */
function keyOfTrack(track) {
        return `${track.kind}:${track.id}`;
}

/**
 * The rows that may hide a track's lanes, from the outermost one: its group of processes, its process and itself.
 * @param {TrackOfModel} track
 */
export function keysAround(track) {
        return [...(track.group ? [track.group] : []), `process:${track.process}`,
                ...(track.kind === 'device' ? nodeKeysOf(track) : []), keyOfTrack(track)];
}

/**
 * Whether a track has little to show: a thread without zones, messages and samples, or a lock for which no
 * thread waited.  Such tracks are folded away until the user asks for them.
 * @param {TrackOfModel} track
 */
export function isIdleTrack(track) {
        if (track.fault)
                return false;
        if (track.kind === 'lock')
                return !track.lanes.some((lane) => lane.kind === 'waiters' && lane.items > 0);
        return track.kind === 'thread' && !track.lanes.some((lane) =>
                ['zones', 'messages', 'samples', 'ghosts'].includes(lane.kind) && lane.items > 0);
}

/**
 * Whether a thread is on the path that is shown.
 * @param {TimelineChoice} choice
 * @param {TrackOfModel} track
 */
export function isOnPath(choice, track) {
        return track.kind === 'thread' && (choice.path?.threads.includes(Number(track.thread)) ?? false);
}

/** @type {Omit<TimelineChoice, 'showsGhosts'>} all is shown, in its own order */
export const WHOLE_CHOICE = { hidesGhosts: false, showsIdle: false, showsWakes: false, closed: new Set(), pinned: [], moved: new Map(),
        ghosts: new Set(), path: null, isFolded: false, hidesEmpty: false, filter: '', sort: '', numbers: new Map(),
        view: { from: 0, to: Infinity }, found: '', growth: 1 };

/** @param {TimelineChoice} choice @param {TrackOfModel} track */
function isWanted(choice, track) {
        if (isOnPath(choice, track) || choice.found === keyOfTrack(track))
                return true;
        if (choice.hidesEmpty && !isInView(choice, track))
                return false;
        return choice.showsIdle || choice.filter !== '' || !isIdleTrack(track);
}

/** @param {TimelineChoice} choice @param {TrackOfModel} track */
function isInView(choice, track) {
        return track.lanes.some((lane) => lane.items > 0 && isLaneInView(choice, lane));
}

/** @param {TimelineChoice} choice @param {LaneOfModel} lane */
function isLaneInView(choice, lane) {
        return (lane.first_ns ?? 0) <= choice.view.to && (lane.last_ns ?? Infinity) >= choice.view.from;
}

/** @param {TimelineChoice} choice @param {TrackOfModel} track */
export function showsGhostsOf(choice, track) {
        return choice.showsGhosts !== choice.ghosts.has(keyOfTrack(track));
}

/** @param {TimelineChoice} choice @param {TrackOfModel} track @param {boolean} isShown */
export function setGhostsOf(choice, track, isShown) {
        if (isShown === choice.showsGhosts)
                choice.ghosts.delete(keyOfTrack(track));
        else
                choice.ghosts.add(keyOfTrack(track));
}

/**
 * The ghost zones that a track has by itself; null if it has none, or all.
 * @param {TraceModel} model
 * @param {TimelineChoice} choice
 * @param {TrackOfModel} track
 */
export function someGhostsOf(model, choice, track) {
        return choice.hidesGhosts || choice.showsGhosts || showsGhostsOf(choice, track) ? null : someGhosts(model).get(track.id) ?? null;
}

/**
 * Whether a lane has a row: ghost zones only as deep as the view has some, but all of a track that was looked for.
 * @param {TraceModel} model
 * @param {TimelineChoice} choice
 * @param {TrackOfModel} track
 * @returns {(lane: LaneOfModel) => boolean}
 */
function isShownLane(model, choice, track) {
        const hasGhosts = showsGhostsOf(choice, track);
        const isWhole = model.isLive || choice.found === keyOfTrack(track);
        const some = someGhostsOf(model, choice, track);

        return (lane) => lane.items > 0 && lane.kind !== 'texts' && lane.kind !== 'pictures' &&
                (lane.kind !== 'ghosts' || (hasGhosts ? isWhole || isLaneInView(choice, lane) : some?.lanes.has(lane.id) === true));
}

/** @param {TimelineChoice} choice @param {string} key */
function isClosed(choice, key) {
        return choice.closed.has(key) !== choice.isFolded;
}

/**
 * Folds a row, or opens it.
 * @param {TimelineChoice} choice
 * @param {string} key
 * @param {boolean} isOpen
 */
export function setOpen(choice, key, isOpen) {
        if (isOpen === choice.isFolded)
                choice.closed.add(key);
        else
                choice.closed.delete(key);
        if ((isNodeKey(key) || isGroupKey(key)) && isOpen && !choice.isFolded)
                choice.closed.add(OPENED + key);
        else
                choice.closed.delete(OPENED + key);
}

/**
 * Whether a name passes the filter: one of its parts, which have commas between them, is in the name, or is a glob of it.
 * @param {string} filter
 * @returns {(name: string) => boolean}
 */
export function filterOfNames(filter) {
        const parts = filter.split(',').map((part) => part.trim().toLowerCase()).filter((part) => part !== '').map((part) =>
                !/[*?]/.test(part) ? part : new RegExp('^' + part.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*+/g, '.*')
                        .replace(/\?/g, '.') + '$', 's'));

        return (name) => parts.length === 0 || parts.some((part) => typeof part === 'string' ? name.toLowerCase().includes(part)
                : part.test(name.toLowerCase()));
}

/**
 * Whether a track passes the filter, by its name with and without the thread's number, or by its process.
 * @param {TraceModel} model
 * @param {TimelineChoice} choice
 * @returns {(track: TrackOfModel) => boolean}
 */
function filterOf(model, choice) {
        const passes = filterOfNames(choice.filter);

        if (choice.filter.trim() === '')
                return () => true;
        return (track) => {
                const process = model.processesById.get(Number(track.process ?? -1));

                return choice.found === keyOfTrack(track) || passes(track.title) || passes(titleOfTrack(model, track)) ||
                        (process !== undefined && (passes(process.name) || passes(titleOfProcess(process))));
        };
}

/** @param {ProcessOfModel} process */
function titleOfProcess(process) {
        return [process.name || 'process', process.pid, process.works_on].filter((word) => word).join(' ');
}

/**
 * @param {TimelineChoice} choice
 * @param {number} px
 */
function grown(choice, px) {
        return Math.round(px * choice.growth);
}

/**
 * timelineRows() - all rows, with their places
 * @param {TraceModel} model
 * @param {TimelineChoice} choice
 * @returns {{ rows: TimelineRow[], height: number }}
 */
export function timelineRows(model, choice) {
        /** @type {TimelineRow[]} */
        const rows = [];
        const first = choice.path?.isFirst ? choice.path.threads.map((thread) => model.tracksByThread.get(thread))
                .filter((track) => track !== undefined) : [];
        const tracks = [...loadAlone(model), ...model.tracks];
        const pinned = choice.pinned.map((key) => tracks.find((track) => keyOfTrack(track) === key))
                .filter((track) => track !== undefined && !first.includes(track));
        const passes = filterOf(model, choice);
        const compare = orderOfTracks(model, choice);
        const rest = tracks.filter((track) => passes(track) && !choice.pinned.includes(keyOfTrack(track)) && !first.includes(track) &&
                (track.kind !== 'load' || hasSums(track)));
        const own = rest.filter((track) => track.process === null || !model.processesById.has(track.process))
                .sort(compare);
        /** @type {Map<number, TrackOfModel[]>} */
        const byProcess = new Map(model.processes.map((process) => [process.id, []]));
        let y = 0;

        for (const track of rest)
                byProcess.get(track.process ?? -1)?.push(track);
        /** @param {TimelineRow} row */
        const put = (row) => {
                row.y = y;
                row.lanes = row.lanes.map((lane) => ({ ...lane, y: lane.y + y }));
                y += row.height;
                rows.push(row);
        };

        for (const track of /** @type {TrackOfModel[]} */ (first))
                put(trackRow(model, track, choice, choice.pinned.includes(keyOfTrack(track))));
        for (const track of /** @type {TrackOfModel[]} */ (pinned))
                put(trackRow(model, track, choice, true));
        putTracks(model, own.filter((one) => isWanted(choice, one)), choice, put);
        /** @type {ProcessTracks[]} */
        const processes = model.processes.map((process) => ({ process, tracks: (byProcess.get(process.id) ?? [])
                .sort(compare) }));

        putProcesses(model, inOrder(processes, choice).filter(({ tracks }) => tracks.length > 0 &&
                !(choice.hidesEmpty && !tracks.some((track) => isWanted(choice, track)))), choice, put);
        return { rows, height: y };
}

/**
 * Short processes of one name are one row, where the first of them is.
 * @param {TraceModel} model
 * @param {ProcessTracks[]} processes
 * @param {TimelineChoice} choice
 * @param {(row: TimelineRow) => void} put
 */
function putProcesses(model, processes, choice, put) {
        /** @type {Map<string, ProcessTracks[]>} */
        const groups = new Map();

        for (const one of processes) {
                const key = one.tracks[0].group ?? '';

                if (!groups.has(key))
                        groups.set(key, []);
                groups.get(key)?.push(one);
        }
        for (const one of processes) {
                const key = one.tracks[0].group ?? '';
                const members = key === '' ? [] : groups.get(key) ?? [];

                if (members.length < GROUP_LEAST)
                        putProcess(model, one.process, one.tracks, choice, put);
                else if (one === members[0])
                        putGroup(model, key, members, choice, put);
        }
}

/**
 * @param {TraceModel} model
 * @param {string} key
 * @param {ProcessTracks[]} members
 * @param {TimelineChoice} choice
 * @param {(row: TimelineRow) => void} put
 */
function putGroup(model, key, members, choice, put) {
        const isOpen = (!isClosed(choice, key) && (choice.isFolded || choice.closed.has(OPENED + key))) ||
                members.some(({ tracks }) => tracks.some((track) => isOnPath(choice, track) || choice.found === keyOfTrack(track)));
        const { strips, nAtOnce } = packProcesses(members.map(({ tracks }) => tracks));
        const tall = grown(choice, STRIP_PX);
        const lanes = isOpen ? [] : strips.flatMap((strip, i) => strip.map(({ lane, track }) =>
                ({ lane, track, y: 3 + i * (tall + 1), height: tall })));

        put({ kind: 'group', title: `${formatCount(members.length)} processes of ${members[0].process.name}`, track: null, key, y: 0,
              height: Math.max(TRACK_HEADER_PX + 2, isOpen ? 0 : 3 + strips.length * (tall + 1) + TRACK_GAP_PX), isOpen,
              isPinned: false, nHidden: 0, lanes, note: nAtOnce > 0 ? `at most ${formatCount(nAtOnce)} at a time` : '' });
        for (const { process, tracks } of isOpen ? members : [])
                putProcess(model, process, tracks, choice, (row) =>
                        put({ ...row, depth: (row.depth ?? 0) + 1, parent: row.parent ?? key }));
}

/** @param {TrackOfModel} track */
export function orderOf(track) {
        return TRACK_ORDER[track.kind] ?? 9;
}

/**
 * By kind; threads by the chosen sort; all else, and equals, by their places.
 * @param {TraceModel} model
 * @param {TimelineChoice} choice
 * @returns {(a: TrackOfModel, b: TrackOfModel) => number}
 */
function orderOfTracks(model, choice) {
        const { sort, numbers } = choice;
        const samples = new Map(sort === BUSIEST_FIRST ? model.tracks.map((track) => [track, samplesOf(track)]) : []);
        /** @param {TrackOfModel} track */
        const numberOf = (track) => samples.get(track) ?? numbers.get(model.thread(Number(track.thread))?.handle ?? '') ?? -1;
        /** @param {TrackOfModel} a @param {TrackOfModel} b */
        const bySort = (a, b) => sort === '' || a.kind !== 'thread' || b.kind !== 'thread' ? 0 : sort === 'first'
                ? firstOfTrack(a) - firstOfTrack(b) : numberOf(b) - numberOf(a);

        return (a, b) => orderOf(a) - orderOf(b) || bySort(a, b) || byMoves(choice, a, b);
}

/**
 * Processes with the most samples first, if threads are; those of a group have the samples of all of it.
 * @param {ProcessTracks[]} processes
 * @param {TimelineChoice} choice
 */
function inOrder(processes, choice) {
        if (choice.sort !== BUSIEST_FIRST)
                return processes;
        /** @type {Map<string, number>} */
        const samples = new Map();
        /** @param {ProcessTracks} one */
        const keyOf = ({ process, tracks }) => tracks[0]?.group ?? String(process.id);
        /** @param {ProcessTracks} one */
        const samplesOfKey = (one) => samples.get(keyOf(one)) ?? 0;

        for (const one of processes)
                samples.set(keyOf(one), samplesOfKey(one) + one.tracks.reduce((sum, track) => sum + samplesOf(track), 0));
        return [...processes].sort((a, b) => samplesOfKey(b) - samplesOfKey(a));
}

/**
 * Whether there are more threads than one sees at a time, and it is known which of them were busy: then they come first, unless
 * the address or a person has another order.
 * @param {TraceModel} model
 */
export function hasManyThreads(model) {
        return model.tracks.filter((track) => track.kind === 'thread' && !track.group && samplesOf(track) > 0).length > THREADS_IN_SIGHT;
}

/** @param {TimelineChoice} choice @param {TrackOfModel} a @param {TrackOfModel} b */
function byMoves(choice, a, b) {
        return (choice.moved.get(keyOfTrack(a)) ?? placeOfTrack(a)) - (choice.moved.get(keyOfTrack(b)) ?? placeOfTrack(b));
}

/**
 * CPUs are in the order of their numbers, threads in that of their names, lanes of devices in that of the names on the way to them,
 * all else as in the recording.
 * @param {TrackOfModel} track
 */
export function placeOfTrack(track) {
        if (track.kind === 'device')
                return track.rank ?? 0;
        if (track.kind === 'thread')
                return track.rank ?? track.id;
        return track.kind === 'cpu' ? Number(/\d+/.exec(track.title)?.[0] ?? track.id) : track.id;
}

/**
 * @param {TraceModel} model
 * @param {ProcessOfModel} process
 * @param {TrackOfModel[]} tracks
 * @param {TimelineChoice} choice
 * @param {(row: TimelineRow) => void} put
 */
function putProcess(model, process, tracks, choice, put) {
        const key = `process:${process.id}`;
        const busy = tracks.filter((track) => isWanted(choice, track));
        const isOpen = !isClosed(choice, key) || tracks.some((track) => isOnPath(choice, track));

        /* A thread alone needs no heading. */
        if (model.processes.length > 1 && tracks.length === 1 && tracks[0].kind === 'thread') {
                const [track] = tracks;
                const title = track.title === process.name ? titleOfProcess(process)
                        : `${titleOfProcess(process)}: ${titleOfTrack(model, track)}`;

                if (busy.length > 0)
                        put({ ...trackRow(model, track, choice, false), title });
                return;
        }
        if (model.processes.length > 1)
                put({ kind: 'group', title: titleOfProcess(process), track: null, key, y: 0,
                      height: TRACK_HEADER_PX + 2, isOpen, isPinned: false, nHidden: isOpen ? tracks.length - busy.length : tracks.length,
                      lanes: [] });
        if (isOpen || model.processes.length <= 1)
                putTracks(model, busy, choice, put);
}

/**
 * @param {TraceModel} model
 * @param {TrackOfModel[]} tracks  lanes of devices are together
 * @param {TimelineChoice} choice
 * @param {(row: TimelineRow) => void} put
 */
function putTracks(model, tracks, choice, put) {
        const lanes = tracks.filter((track) => track.kind === 'device');

        for (const track of tracks) {
                if (track.kind !== 'device')
                        put(trackRow(model, track, choice, false));
                else if (track === lanes[0])
                        deviceTree(lanes).forEach((root) => putNode(model, root, choice, put, { depth: 0, isOpen: isOpenAtFirst(root) }));
        }
}

/**
 * A device, core or processor; one with a single lane is that lane.
 * @param {TraceModel} model
 * @param {DeviceNode} node
 * @param {TimelineChoice} choice
 * @param {(row: TimelineRow) => void} put
 * @param {{ depth: number, parent?: string, isOpen: boolean }} place  `isOpen`: at first
 */
function putNode(model, node, choice, put, place) {
        const { key, tracks } = node;
        const isOpen = !isClosed(choice, key) && (choice.isFolded || place.isOpen || choice.closed.has(OPENED + key));
        const at = { depth: place.depth, parent: place.parent };

        if (tracks.length === 1) {
                const path = tracks[0].path ?? [];

                put({ ...trackRow(model, tracks[0], choice, false), ...at, title: path.slice(place.depth).join(' / ') || node.title });
                return;
        }
        put(nodeRow(model, node, { ...at, isOpen }, grown(choice, STRIP_PX)));
        if (!isOpen)
                return;
        if (node.own)
                put({ ...trackRow(model, node.own, choice, false), depth: at.depth + 1, parent: key, title: node.title });
        for (const child of node.children.values())
                putNode(model, child, choice, put, { depth: at.depth + 1, parent: key, isOpen: place.isOpen });
}

/**
 * The row of a device or core: if it is folded, with its busiest lanes as thin strips.
 * @param {TraceModel} model
 * @param {DeviceNode} node
 * @param {{ depth: number, parent?: string, isOpen: boolean }} place
 * @param {number} tall  of a strip
 * @returns {TimelineRow}
 */
function nodeRow(model, node, place, tall) {
        const shown = place.isOpen ? [] : busiestOf(node);
        const note = `${formatCount(node.tracks.length)} lanes, ${formatShare(busyShareOf(node, model.duration_ns))} busy`;
        const lanes = shown.flatMap((track) => track.lanes.filter((lane) => lane.kind === 'device' && lane.items > 0).slice(0, 1)
                .map((lane) => ({ lane, track }))).map((one, i) => ({ ...one, y: 3 + i * (tall + 1), height: tall }));

        return { kind: 'group', title: node.title, track: null, key: node.key, y: 0,
                 height: Math.max(TRACK_HEADER_PX + 2, 3 + lanes.length * (tall + 1) + TRACK_GAP_PX), isPinned: false, nHidden: 0,
                 lanes, ...place, note };
}

/** The lane of a load without sums of CPU time: the causes of idle CPUs alone are drawn in it. */
export const NO_LANE = -1;

/** @param {TrackOfModel} track */
function hasSums(track) {
        return track.lanes.some((lane) => lane.kind === 'cpu_time');
}

/**
 * The CPUs of a recording that runs, or of one without context switches, if it says how many CPUs there were.
 * @param {TraceModel} model
 * @returns {TrackOfModel[]}
 */
function loadAlone(model) {
        if (model.progress < 1 || model.nCpus === 0 || model.tracks.some((track) => track.kind === 'load' && hasSums(track)) ||
            !model.tracks.some((track) => track.kind === 'thread'))
                return [];
        return [{ id: NO_LANE, kind: 'load', title: 'CPU load', process: null, thread: null, unit: 'CPUs',
                  lanes: [{ id: NO_LANE, kind: 'cpu_time', depth: 0, items: 0 }] }];
}

/**
 * The lanes of the load, one over the other: the one that covers the others comes last.
 * @param {TrackOfModel} track
 * @param {TimelineChoice} choice
 * @param {boolean} isPinned
 * @returns {TimelineRow}
 */
function loadRow(track, choice, isPinned) {
        const key = keyOfTrack(track);
        const isOpen = !isClosed(choice, key);
        const y = TRACK_TOP_PX.load;
        const height = isOpen ? LANE_HEIGHTS.cpu_time : TRACK_HEADER_PX - y;
        const lanes = track.lanes.filter((lane) => lane.kind === 'cpu_time').sort((a, b) => b.depth - a.depth)
                .map((lane) => ({ lane, track, y, height }));

        return { kind: 'track', title: 'CPUs in use', track, key, y: 0,
                 height: y + height + (isOpen ? LOAD_LEGEND_PX : 0) + TRACK_GAP_PX, isOpen, isPinned,
                 nHidden: 0, lanes };
}

/** @param {TraceModel} model @param {TrackOfModel} track */
export function titleOfTrack(model, track) {
        const thread = track.thread !== null && track.thread !== undefined ? model.thread(track.thread) : null;

        if (!thread || thread.is_fiber || track.kind !== 'thread')
                return track.title;
        return track.title === NO_NAME ? `thread ${thread.tid}` : `${track.title} ${thread.tid}`;
}

/**
 * Where the first item of a track begins; 0 if it has none.
 * @param {TrackOfModel} track
 */
export function firstOfTrack(track) {
        const begins = track.lanes.filter((lane) => lane.items > 0).map((lane) => lane.first_ns ?? 0);

        return begins.length > 0 ? Math.min(...begins) : 0;
}

/**
 * Changes the choice so that a track is among the rows, with lanes of a kind.
 * @param {TimelineChoice} choice
 * @param {TrackOfModel} track
 * @param {string} [kind]
 */
export function openTrack(choice, track, kind) {
        keysAround(track).forEach((key) => setOpen(choice, key, true));
        choice.found = keyOfTrack(track);
        if (kind === 'ghosts')
                setGhostsOf(choice, track, true);
}

/**
 * @param {TraceModel} model
 * @param {TrackOfModel} track
 * @param {TimelineChoice} choice
 * @param {boolean} isPinned
 * @returns {TimelineRow}
 */
function trackRow(model, track, choice, isPinned) {
        if (track.kind === 'load')
                return loadRow(track, choice, isPinned);
        const key = keyOfTrack(track);
        const isOpen = !isClosed(choice, key);
        const shown = track.lanes.filter(isShownLane(model, choice, track))
                .sort((a, b) => (LANE_ORDER[a.kind] ?? 9) - (LANE_ORDER[b.kind] ?? 9) || a.depth - b.depth);
        let y = TRACK_TOP_PX[track.kind] ?? 4;
        /** @type {LaneRow[]} */
        const lanes = [];

        for (const lane of isOpen ? shown : shown.slice(0, track.kind === 'cpu' ? 2 : 1)) {
                const least = LANE_HEIGHTS[lane.kind] ?? 16;
                const height = GROWING.includes(lane.kind) ? grown(choice, least) : least;
                const isOver = lane.kind === 'unrecorded' && lanes.length > 0;

                lanes.push({ lane, track, y: isOver ? lanes[0].y : y, height });
                y += isOver ? 0 : height + (lane.kind === 'states' ? 2 : 1);
        }
        return { kind: 'track', title: titleOfTrack(model, track), track, key, fault: track.fault, y: 0,
                 height: Math.max(y, TRACK_HEADER_PX) + TRACK_GAP_PX,
                 isOpen, isPinned, nHidden: isOpen ? 0 : shown.length - lanes.length, lanes };
}

/**
 * The rows that a window from `top` of `height` pixels shows.
 * @param {TimelineRow[]} rows
 * @param {number} top
 * @param {number} height
 */
export function rowsBetween(rows, top, height) {
        return rows.filter((row) => row.y + row.height > top && row.y < top + height);
}
