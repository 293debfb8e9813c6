// SPDX-License-Identifier: MIT
// Lanes as a file of `hyprof html` holds them: whole, column by column, in the form that html_file.c writes.

import { ColumnReader } from './lanes.js';

/**
 * @typedef {import('./lanes.js').WholeLane} WholeLane
 * @typedef {import('./model.js').TrackOfModel} TrackOfModel
 * @typedef {import('./source_server.js').LaunchEnd} LaunchEnd
 */

const FILE_LANES_MAGIC = 0x4e4c5948;
const ESCAPED = 0xffffffff;

/** Reads u32 columns in which 0xffffffff stands for the next of the escapes. */
export class EscapedColumns {
        /**
         * @param {ColumnReader} reader
         * @param {number} n
         * @param {number} nEscapes
         */
        constructor(reader, n, nEscapes) {
                this.reader = reader;
                this.n = n;
                this.escapes = reader.doubles(nEscapes);
                this.nUsed = 0;
        }

        /** @returns {Float64Array} */
        next() {
                const words = this.reader.words(this.n);
                const values = new Float64Array(this.n);
                for (let i = 0; i < this.n; i++) {
                        values[i] = words[i] === ESCAPED ? this.escapes[this.nUsed++] : words[i];
                }
                return values;
        }

        /** Sums from the first on. */
        nextSums() {
                const values = this.next();
                for (let i = 1; i < this.n; i++) {
                        values[i] += values[i - 1];
                }
                return values;
        }
}

/**
 * @param {ArrayBuffer} buffer the data element `lanes`
 * @returns {Map<number, () => WholeLane>} decoded when first asked for
 */
export function decodeFileLanes(buffer) {
        const reader = new ColumnReader(buffer, FILE_LANES_MAGIC);
        const [nLanes] = reader.words(2);
        /** @type {Map<number, () => WholeLane>} */
        const lanes = new Map();
        for (let i = 0; i < nLanes; i++) {
                const [id, isPoints, n, mergedLog2, nEscapes] = reader.words(6);
                const at = reader.at;
                /** @type {WholeLane | null} */
                let whole = null;
                lanes.set(id, () => {
                        if (!whole) {
                                const own = new ColumnReader(buffer, FILE_LANES_MAGIC);
                                own.at = at;
                                whole = isPoints ? decodeFilePoints(own, n, mergedLog2, nEscapes)
                                        : decodeFileSpans(own, n, mergedLog2, nEscapes);
                        }
                        return whole;
                });
                skipFileLane(reader, isPoints, n, mergedLog2, nEscapes);
        }
        return lanes;
}

/**
 * @param {ColumnReader} reader
 * @param {number} isPoints
 * @param {number} n
 * @param {number} mergedLog2
 * @param {number} nEscapes
 */
function skipFileLane(reader, isPoints, n, mergedLog2, nEscapes) {
        reader.take(nEscapes * 8);
        const columns = isPoints ? (mergedLog2 ? [4, 8, 8, 8, 8, 4] : [4, 8]) : new Array(mergedLog2 ? 6 : 3).fill(4);
        for (const size of columns) {
                reader.take(n * size);
        }
}

/**
 * @param {ColumnReader} reader
 * @param {number} n
 * @param {number} mergedLog2
 * @param {number} nEscapes
 * @returns {WholeLane}
 */
function decodeFileSpans(reader, n, mergedLog2, nEscapes) {
        const columns = new EscapedColumns(reader, n, nEscapes);
        const begin = columns.nextSums();
        const length = columns.next();
        const what = Uint32Array.from(columns.next());
        const end = length.map((value, i) => begin[i] + value);
        const none = new Float64Array(0);
        if (!mergedLog2) {
                return { isPoints: false, n, begin, end, what, longestBegin: begin, longestNs: length,
                        count: new Uint32Array(n).fill(1), values: none, min: none, max: none, last: none };
        }
        const longestBegin = columns.next().map((value, i) => begin[i] + value);
        return { isPoints: false, n, begin, end, what, longestBegin, longestNs: columns.next(),
                count: Uint32Array.from(columns.next()), values: none, min: none, max: none, last: none };
}

/**
 * @param {ColumnReader} reader
 * @param {number} n
 * @param {number} mergedLog2
 * @param {number} nEscapes
 * @returns {WholeLane}
 */
function decodeFilePoints(reader, n, mergedLog2, nEscapes) {
        const columns = new EscapedColumns(reader, n, nEscapes);
        const begin = columns.nextSums();
        const values = reader.doubles(n);
        const none = new Float64Array(0);
        const lane = { isPoints: true, n, begin, end: begin, what: new Uint32Array(0), longestBegin: none, longestNs: none,
                values, min: values, max: values, last: values, count: new Uint32Array(n).fill(1) };
        if (mergedLog2) {
                lane.min = reader.doubles(n);
                lane.max = reader.doubles(n);
                lane.last = reader.doubles(n);
                lane.count = Uint32Array.from(columns.next());
        }
        return lane;
}

/** The ends that are named for a zone, as by `hyprof view`; more are counted. */
const LAUNCH_ENDS_MAX = 64;

/** Which zones of threads handed which work of devices over. */
export class FileLaunches {
        /** @param {number[]} numbers the data element `launches`: track, begin, location of a zone of a thread, then of the work */
        constructor(numbers) {
                this.numbers = numbers;
                /** @type {Map<string, number[]>} where in `numbers` the other end is */
                this.ends = new Map();
                for (let i = 0; i + 3 <= numbers.length - numbers.length % 6; i += 3) {
                        const key = numbers.slice(i, i + 3).join();
                        const places = this.ends.get(key);
                        const other = i % 6 === 0 ? i + 3 : i - 3;

                        if (places) {
                                places.push(other);
                        } else {
                                this.ends.set(key, [other]);
                        }
                }
        }

        /**
         * @param {TrackOfModel} track
         * @param {number} at
         * @param {number} what
         * @returns {{n: number, ends: LaunchEnd[]}}
         */
        of(track, at, what) {
                const places = this.ends.get([track.id, at, what].join()) || [];
                const ends = places.slice(0, LAUNCH_ENDS_MAX).map((i) => ({ track: this.numbers[i], begin_ns: this.numbers[i + 1],
                        what: this.numbers[i + 2] }));
                return { n: places.length, ends };
        }
}
