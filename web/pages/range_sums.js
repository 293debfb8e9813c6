// SPDX-License-Identifier: MIT
// Sums over a time range from the samples and zones that a one-file page holds: the one statistic that the pages compute
// themselves, since a file has no command to ask.  A test compares them with the command line's answers; where the file
// left anything out for its size, the documents say that they are approximate.

import { EscapedColumns } from './file_lanes.js';
import { formatCount, formatTime } from './format.js';
import { ColumnReader, lowerBound } from './lanes.js';
import { STATE_RUNNING } from './model.js';

/**
 * @typedef {import('./lanes.js').WholeLane} WholeLane
 * @typedef {import('./model.js').LaneOfModel} LaneOfModel
 * @typedef {import('./model.js').TraceModel} TraceModel
 */

const FILE_SAMPLES_MAGIC = 0x50535948;

/**
 * @typedef {{n: number, time: Float64Array, thread: Float64Array, stack: Float64Array, event: Float64Array,
 *     weight: Float64Array}} FileSamples
 * @typedef {{stacks: [number, number][], frames: number[][]}} FileStacks parent and frame of a stack, functions of a
 *     frame, innermost first; by id - 1
 * @typedef {{from: number, to: number, thread: number | null, event: number}} SumRange
 */

/**
 * @param {ArrayBuffer} buffer the data element `samples`
 * @returns {FileSamples}
 */
export function decodeFileSamples(buffer) {
        const reader = new ColumnReader(buffer, FILE_SAMPLES_MAGIC);
        const [n, nEscapes] = reader.words(2);
        const columns = new EscapedColumns(reader, n, nEscapes);
        return { n, time: columns.nextSums(), thread: columns.next(), stack: columns.next(), event: columns.next(),
                weight: columns.next() };
}

/**
 * Calls for each sample of the range.
 * @param {FileSamples} samples
 * @param {SumRange} range
 * @param {(i: number) => void} visit
 */
function eachSampleOf(samples, range, visit) {
        const end = lowerBound(samples.time, range.to);
        for (let i = lowerBound(samples.time, range.from); i < end; i++) {
                if (samples.event[i] === range.event && (range.thread === null || samples.thread[i] === range.thread)) {
                        visit(i);
                }
        }
}

/** Functions of a stack, innermost first, with a function's recursion as often as it occurs. */
export class StackFunctions {
        /** @param {FileStacks} stacks */
        constructor(stacks) {
                this.stacks = stacks;
                /** @type {Map<number, number[]>} */
                this.known = new Map();
        }

        /**
         * @param {number} id
         * @returns {number[]}
         */
        of(id) {
                const known = this.known.get(id);
                if (known) {
                        return known;
                }
                /** @type {number[]} */
                const functions = [];
                // A parent has a smaller id: the loop ends even if the file says otherwise.
                for (let at = id, before = Infinity; at > 0 && at < before && this.stacks.stacks[at - 1];) {
                        const [parent, frame] = this.stacks.stacks[at - 1];
                        functions.push(...(this.stacks.frames[frame - 1] || []));
                        before = at;
                        at = parent;
                }
                this.known.set(id, functions);
                return functions;
        }
}

/**
 * Rows of the document `functions` for a range.
 * @param {TraceModel} model
 * @param {FileSamples} samples
 * @param {FileStacks} stacks
 * @param {SumRange} range
 */
function functionSums(model, samples, stacks, range) {
        const stackFunctions = new StackFunctions(stacks);
        const n = model.functions.length;
        const sums = { selfSamples: new Float64Array(n), selfWeight: new Float64Array(n), samples: new Float64Array(n),
                weight: new Float64Array(n), nSamples: 0 };
        eachSampleOf(samples, range, (i) => {
                const functions = stackFunctions.of(samples.stack[i]);
                sums.nSamples++;
                if (functions.length) {
                        sums.selfSamples[functions[0]]++;
                        sums.selfWeight[functions[0]] += samples.weight[i];
                }
                for (const one of new Set(functions)) {
                        sums.samples[one]++;
                        sums.weight[one] += samples.weight[i];
                }
        });
        return sums;
}

/**
 * The facts that documents over a range share with that of the whole trace.
 * @param {TraceModel} model
 * @param {any} whole
 * @param {SumRange} range
 * @param {number | null} nSamples
 */
export function rangeDocument(model, whole, range, nSamples) {
        const dropped = model.file ? model.file.dropped : [];
        return Object.assign({}, whole, { answer: null, filter: 'from ' + formatTime(range.from) + ', to ' + formatTime(range.to),
                range_ns: range.to - range.from, n_samples: nSamples,
                warnings: [...(dropped.length ? ['these sums are approximate: ' + dropped.join('; ')] : []), ...(whole.warnings || [])] });
}

/**
 * A row that stands for no function, such as "[truncated]", has nothing of its own.
 * @param {any} row
 */
function isMark(row) {
        return row !== undefined && row.kind === 'mark';
}

/**
 * @param {TraceModel} model
 * @param {any} whole document of the whole trace
 * @param {FileSamples} samples
 * @param {FileStacks} stacks
 * @param {SumRange} range
 */
export function functionsOfRange(model, whole, samples, stacks, range) {
        const sums = functionSums(model, samples, stacks, range);
        /** @type {Map<string, any>} */
        const known = new Map(whole.functions.rows.map((/** @type {any} */ row) => [row.handle, row]));
        const rows = model.functions.map((one, i) => ({ one, i })).filter(({ i }) => sums.samples[i] > 0).map(({ one, i }) =>
                Object.assign({ function: one.name, module: one.module }, known.get('f' + (i + 1)), { handle: 'f' + (i + 1),
                        self_share: isMark(known.get('f' + (i + 1))) ? null : sums.selfSamples[i] / sums.nSamples,
                        total_share: sums.samples[i] / sums.nSamples,
                        self_samples: sums.selfSamples[i], total_samples: sums.samples[i], self_weight: sums.selfWeight[i],
                        total_weight: sums.weight[i], ipc: null, cache_misses_per_1000: null, branch_misses_per_1000: null }));
        rows.sort((a, b) => b.self_samples - a.self_samples || b.total_samples - a.total_samples);
        const document = rangeDocument(model, whole, range, sums.nSamples);
        document.functions = { about: whole.functions.about && String(whole.functions.about).replace(/[\d,]+ samples/,
                formatCount(sums.nSamples) + ' samples'), rows, left_out: 0 };
        return document;
}

/**
 * Sums of one location of zones.
 * @typedef {{count: number, sum: number, total: number, self: number, onCpu: number, min: number, max: number,
*     nSamples: number, weight: number}} ZoneSums
 */

/** How much of a range lies in spans of one sort, from sums of their lengths: one look-up a zone. */
class CoveredTime {
        /**
         * @param {WholeLane | null} lane
         * @param {(what: number) => boolean} isCounted
         */
        constructor(lane, isCounted) {
                const n = lane ? lane.n : 0;
                this.begin = new Float64Array(n);
                this.end = new Float64Array(n);
                this.before = new Float64Array(n + 1);
                let k = 0;
                for (let i = 0; lane && i < n; i++) {
                        if (isCounted(lane.what[i])) {
                                this.begin[k] = lane.begin[i];
                                this.end[k] = lane.end[i];
                                this.before[k + 1] = this.before[k] + lane.end[i] - lane.begin[i];
                                k++;
                        }
                }
                this.n = k;
        }

        /** @param {number} ns covered before this instant */
        until(ns) {
                const i = lowerBound(this.begin, ns, 0, this.n);
                return i === 0 ? 0 : this.before[i] - Math.max(0, this.end[i - 1] - ns);
        }

        /**
         * @param {number} from
         * @param {number} to
         */
        between(from, to) {
                return this.until(to) - this.until(from);
        }
}

/**
 * Adds up the zones of one thread that begin in the range, whole, as the command line does; a location inside itself
 * counts once in total, on CPU and waiting.
 */
export class ThreadZoneSums {
        /**
         * @param {Map<number, ZoneSums>} sums by location
         * @param {SumRange} range
         * @param {WholeLane[]} depths
         * @param {WholeLane | null} states
         */
        constructor(sums, range, depths, states) {
                this.sums = sums;
                this.range = range;
                this.depths = depths;
                this.running = new CoveredTime(states, (what) => what >>> 28 === STATE_RUNNING);
        }

        /** @param {number} location */
        sumsOf(location) {
                let sums = this.sums.get(location);
                if (!sums) {
                        sums = { count: 0, sum: 0, total: 0, self: 0, onCpu: 0, min: Infinity, max: 0, nSamples: 0, weight: 0 };
                        this.sums.set(location, sums);
                }
                return sums;
        }

        addAll() {
                for (let depth = 0; depth < this.depths.length; depth++) {
                        const lane = this.depths[depth];
                        const end = lowerBound(lane.begin, this.range.to, 0, lane.n);
                        for (let i = lowerBound(lane.begin, this.range.from, 0, lane.n); i < end; i++) {
                                this.add(depth, i);
                        }
                }
        }

        /**
         * @param {number} depth
         * @param {number} i
         */
        add(depth, i) {
                const lane = this.depths[depth];
                const [from, to] = [lane.begin[i], lane.end[i]];
                const sums = this.sumsOf(lane.what[i]);
                const length = to - from;
                sums.count += lane.count[i];
                sums.sum += length;
                sums.self += length - this.childrenOf(depth, from, to);
                sums.min = Math.min(sums.min, length);
                sums.max = Math.max(sums.max, length);
                if (!this.locationsAt(from, depth).includes(lane.what[i])) {
                        sums.total += length;
                        sums.onCpu += this.running.between(from, to);
                }
        }

        /**
         * Time of the zones right below.
         * @param {number} depth
         * @param {number} begin
         * @param {number} end
         */
        childrenOf(depth, begin, end) {
                const lane = this.depths[depth + 1];
                let sum = 0;
                for (let i = lane ? lowerBound(lane.begin, begin, 0, lane.n) : 0; lane && i < lane.n && lane.begin[i] < end; i++) {
                        sum += lane.end[i] - lane.begin[i];
                }
                return sum;
        }

        /**
         * Locations of the zones that are open at an instant, at depths above one.
         * @param {number} ns
         * @param {number} nDepths
         */
        locationsAt(ns, nDepths) {
                const found = [];
                for (const lane of this.depths.slice(0, nDepths)) {
                        const i = lowerBound(lane.begin, ns + 0.5, 0, lane.n) - 1;
                        if (i < 0 || lane.end[i] < ns) {
                                break;
                        }
                        found.push(lane.what[i]);
                }
                return found;
        }

        /**
         * @param {number} ns
         * @param {number} weight
         */
        addSample(ns, weight) {
                for (const location of new Set(this.openAt(ns))) {
                        const sums = this.sumsOf(location);
                        sums.nSamples++;
                        sums.weight += weight;
                }
        }

        /** @param {number} ns */
        openAt(ns) {
                return this.depths.flatMap((lane) => {
                        const i = lowerBound(lane.begin, ns + 0.5, 0, lane.n) - 1;
                        return i >= 0 && lane.end[i] > ns ? [lane.what[i]] : [];
                });
        }
}

/**
 * The zones of each thread of the range, added up by location.
 * @param {TraceModel} model
 * @param {Map<number, () => WholeLane>} lanes
 * @param {FileSamples | null} samples
 * @param {SumRange} range
 */
function zoneSums(model, lanes, samples, range) {
        /** @type {Map<number, ZoneSums>} */
        const sums = new Map();
        /** @type {Map<number, ThreadZoneSums>} */
        const threads = new Map();
        /** @param {LaneOfModel | undefined} lane */
        const wholeOf = (lane) => lane && lanes.has(lane.id) ? /** @type {() => WholeLane} */ (lanes.get(lane.id))() : null;
        for (const [thread, track] of model.tracksByThread) {
                if (range.thread === null || range.thread === thread) {
                        const depths = track.lanes.filter((lane) => lane.kind === 'zones').sort((a, b) => a.depth - b.depth)
                                .map((lane) => wholeOf(lane)).filter((lane) => lane !== null);
                        const own = new ThreadZoneSums(sums, range, /** @type {WholeLane[]} */ (depths),
                                wholeOf(track.lanes.find((lane) => lane.kind === 'states')));
                        own.addAll();
                        threads.set(thread, own);
                }
        }
        let nSamples = 0;
        if (samples) {
                eachSampleOf(samples, range, (i) => {
                        const own = threads.get(samples.thread[i]);
                        nSamples++;
                        if (own) {
                                own.addSample(samples.time[i], samples.weight[i]);
                        }
                });
        }
        return { sums, nSamples };
}

/**
 * @param {TraceModel} model
 * @param {any} whole document of the whole trace
 * @param {Map<number, () => WholeLane>} lanes
 * @param {FileSamples | null} samples
 * @param {SumRange} range
 */
export function zonesOfRange(model, whole, lanes, samples, range) {
        const { sums, nSamples } = zoneSums(model, lanes, samples, range);
        /** @type {Map<string, any>} */
        const known = new Map(whole.zones.rows.map((/** @type {any} */ row) => [row.handle, row]));
        const rows = [...sums].filter(([, one]) => one.count > 0 || one.nSamples > 0).map(([id, one]) => {
                const location = model.location(id);
                const handle = location ? location.handle : 'z' + id;
                return Object.assign({}, known.get(handle), { handle, name: model.locationName(id), count: one.count, total_ns: one.total,
                        self_ns: one.self, on_cpu_ns: one.onCpu, waiting_ns: one.total - one.onCpu,
                        mean_ns: one.count ? Math.floor(one.sum / one.count) : null,
                        p50_ns: null, p90_ns: null, p99_ns: null, p99_9_ns: null,
                        min_ns: one.count ? one.min : null, max_ns: one.count ? one.max : null,
                        mean_without_samples_ns: null, n_samples: one.nSamples,
                        samples_share: nSamples ? one.nSamples / nSamples : null, samples_weight: one.weight });
        });
        rows.sort((a, b) => b.total_ns - a.total_ns);
        const document = rangeDocument(model, whole, range, nSamples);
        document.n_zones = rows.reduce((sum, row) => sum + row.count, 0);
        document.zones = Object.assign({}, whole.zones, { rows, left_out: 0 });
        return document;
}
