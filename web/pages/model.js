// SPDX-License-Identifier: MIT
// The model of a trace (hyprof.timeline/1): its tracks and names, found by number.

import { compareLanes } from './device_tree.js';
import { formatCount } from './format.js';
import { NO_NAME, numberOf, objectsOf, textOf, textsOf, tracksOf } from './model_checks.js';
import { groupProcesses } from './process_groups.js';

/**
 * @typedef {{id: number, kind: string, depth: number, items: number, first_ns?: number, last_ns?: number}} LaneOfModel
 * @typedef {{id: number, kind: string, title: string, process: number | null, thread: number | null,
 *     number?: number, lane?: number, path?: string[], busy_ns?: number, known_ns?: number, rank?: number, group?: string,
 *     unit: string | null, lanes: LaneOfModel[], fault?: string}} TrackOfModel
 * @typedef {{id: number, handle: string, process: number, tid: number, name: string, is_fiber: boolean}} ThreadOfModel
 * @typedef {{id: number, pid: number, name: string, works_on: string|null}} ProcessOfModel
 * @typedef {{id: number, handle: string, name: string, function: string, place: string, color: number | null}}
 *     LocationOfModel
 * @typedef {{name: string, module: string, is_kernel: boolean}} FunctionOfModel
 * @typedef {{written_by: string, is_redacted: boolean, is_complete: boolean, dropped: string[],
 *     merged_below_ns: number, has_samples: boolean}} FileOfModel
 * @typedef {{schema: string, title: string, command: string[], host: string, duration_ns: number, n_cpus?: number,
 *     progress: number, warnings: string[], events: string[], processes: ProcessOfModel[], threads: ThreadOfModel[],
 *     locations: LocationOfModel[], functions: FunctionOfModel[], wait_states: string[], tracks: TrackOfModel[],
 *     file?: FileOfModel, has_before?: boolean, is_live?: boolean, error?: string}} ModelDocument
 */

/** Kinds of the upper four bits of a state's `what`. */
export const STATE_RUNNING = 1;
export const STATE_WAITING = 2;
export const STATE_RUNNABLE = 3;
export const STATE_PREEMPTED = 4;

/** @param {ThreadOfModel[]} threads */
function sharedNamesOf(threads) {
        const seen = new Set();
        return new Set(threads.map(({ name }) => name).filter((name) => name !== '' && (seen.has(name) || !seen.add(name))));
}

export class TraceModel {
        /** @param {ModelDocument} document as it came: what is missing or no such thing is taken as empty */
        constructor(document) {
                this.document = document;
                this.title = textOf(document.title);
                this.duration_ns = Math.max(1, numberOf(document.duration_ns, 0));
                /** CPUs of the machine; 0 = not known. */
                this.nCpus = numberOf(document.n_cpus, 0);
                this.progress = numberOf(document.progress, 1);
                this.isLive = document.is_live === true;
                this.warnings = textsOf(document.warnings);
                this.events = textsOf(document.events);
                /** @type {ProcessOfModel[]} */
                this.processes = objectsOf(document.processes, ['name']);
                /** @type {ThreadOfModel[]} */
                this.threads = objectsOf(document.threads, ['name', 'handle']);
                /** @type {LocationOfModel[]} */
                this.locations = objectsOf(document.locations, ['name', 'function', 'place', 'handle']);
                /** @type {FunctionOfModel[]} */
                this.functions = objectsOf(document.functions, ['name', 'module']);
                this.waitStates = textsOf(document.wait_states);
                this.tracks = tracksOf(document.tracks);
                this.file = document.file || null;
                this.threadsById = new Map(this.threads.map((thread) => [thread.id, thread]));
                this.processesById = new Map(this.processes.map((process) => [process.id, process]));
                this.tracksById = new Map(this.tracks.map((track) => [track.id, track]));
                /** @type {Map<number, TrackOfModel>} by thread */
                this.tracksByThread = new Map();
                /** @type {Map<number, {track: TrackOfModel, lane: LaneOfModel}>} */
                this.lanesById = new Map();
                for (const track of this.tracks) {
                        for (const lane of track.lanes) {
                                this.lanesById.set(lane.id, { track, lane });
                        }
                        if (track.thread !== null && track.thread !== undefined && track.kind === 'thread') {
                                this.tracksByThread.set(track.thread, track);
                        }
                }
                /** @type {Set<string>} names of several threads, which need their numbers */
                this.sharedNames = sharedNamesOf(this.threads);
                this.rankDevices();
                this.rankThreads();
                groupProcesses(this.processes, this.tracks, this.duration_ns);
        }

        /** Threads by name as a person counts, "worker 2" before "worker 10"; of each process the main thread first. */
        rankThreads() {
                const names = new Intl.Collator('en', { numeric: true });
                const threads = this.tracks.filter((track) => track.kind === 'thread');
                /** @param {TrackOfModel} track */
                const isMain = (track) => Number(this.threadsById.get(Number(track.thread))?.tid ===
                        this.processesById.get(Number(track.process))?.pid);

                threads.sort((a, b) => isMain(b) - isMain(a) || names.compare(a.title, b.title) || a.id - b.id);
                threads.forEach((track, rank) => { track.rank = rank; });
        }

        /** Lanes of a device by the way down to them, so that those of a core are together: "core 2 / BRISC". */
        rankDevices() {
                const lanes = this.tracks.filter((track) => track.kind === 'device');

                lanes.sort(compareLanes);
                lanes.forEach((track, rank) => { track.rank = rank; });
        }

        /** @param {number} id */
        thread(id) {
                return this.threadsById.get(id) || null;
        }

        /** @param {string} handle such as t3 */
        threadOfHandle(handle) {
                return this.threads.find((thread) => thread.handle === handle) || null;
        }

        /** @param {number} id */
        threadName(id) {
                const thread = this.threadsById.get(id);
                if (!thread) {
                        return 'thread ' + id;
                }
                return !thread.name ? String(thread.tid) : this.sharedNames.has(thread.name) ? thread.name + ' ' + thread.tid : thread.name;
        }

        /** @param {number} id */
        location(id) {
                return this.locations[id - 1] || null;
        }

        /** @param {number} id */
        locationName(id) {
                const location = this.locations[id - 1];
                return location ? location.name || location.function || location.place || NO_NAME : 'zone ' + id;
        }

        /** @param {number} index */
        functionName(index) {
                const found = this.functions[index];
                return found ? found.name || '[unresolved]' : '[unresolved]';
        }

        /**
         * The name of a thing of a lane.
         * @param {string} kind of the lane
         * @param {number} what
         */
        nameOf(kind, what) {
                switch (kind) {
                case 'zones':
                case 'device':
                        return this.locationName(what);
                case 'ghosts':
                        return this.functionName(what);
                case 'cpu':
                case 'holder':
                case 'waiters':
                        return this.threadName(what);
                case 'states':
                        return this.stateName(what);
                case 'unrecorded':
                        return 'other programs, not recorded';
                case 'frames':
                        return 'frame ' + formatCount(what);
                default:
                        return '';
                }
        }

        /** @param {number} what of a state */
        stateName(what) {
                const value = what & 0x0fffffff;
                switch (what >>> 28) {
                case STATE_RUNNING:
                        return 'running on CPU ' + value;
                case STATE_WAITING:
                        return 'waiting: ' + (this.waitStates[value] || 'unknown reason');
                case STATE_RUNNABLE:
                        return value ? 'runnable, woken by ' + this.threadName(value) : 'runnable';
                case STATE_PREEMPTED:
                        return 'preempted on CPU ' + value;
                default:
                        return 'unknown state';
                }
        }

        /**
         * All lanes of a kind.
         * @param {string} kind
         * @returns {{track: TrackOfModel, lane: LaneOfModel}[]}
         */
        lanesOfKind(kind) {
                return [...this.lanesById.values()].filter((found) => found.lane.kind === kind);
        }
}
