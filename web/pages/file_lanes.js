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

/**
 * Pictures of frames by their numbers; what is cut off is none.
 * @param {ArrayBuffer} bytes
 * @returns {Map<number, ArrayBuffer>}
 */
export function decodeFilePictures(bytes) {
        const view = new DataView(bytes);
        /** @type {Map<number, ArrayBuffer>} */
        const pictures = new Map();

        for (let at = 0; at + 8 <= bytes.byteLength;) {
                const end = at + 8 + view.getUint32(at + 4, true);

                if (end <= bytes.byteLength)
                        pictures.set(view.getUint32(at, true), bytes.slice(at + 8, end));
                at = end;
        }
        return pictures;
}

/** The arrows of a view; more are counted. */
const ARROWS_OF_VIEW_MAX = 500;
/** The ends that are named for a zone, as by `hyprof view`; more are counted. */
const LAUNCH_ENDS_MAX = 64;

/** The numbers of an end: track, begin and location of the zone, and the time of the arrow there. */
const NUMBERS_OF_END = 4;

/** To which work of devices, or zones of threads, work of a zone went. */
export class FileLaunches {
        /** @param {number[]} numbers the data element `launches`: of a zone of a thread, then of where its work went */
        constructor(numbers) {
                this.numbers = numbers;
                /* Both are made when they are asked for: there may be hundreds of thousands of pairs. */
                /** @type {Map<string, number[]>|null} */
                this.ends = null;
                /** @type {number[]|null} */
                this.byLength = null;
        }

        /** Where in `numbers` an end is one of a pair. */
        allEnds() {
                const { numbers } = this;
                /** @type {Map<string, number[]>} */
                const ends = new Map();

                for (let i = 0; i < numbers.length - numbers.length % (2 * NUMBERS_OF_END); i += NUMBERS_OF_END) {
                        const key = numbers.slice(i, i + 3).join();
                        const places = ends.get(key);

                        if (places) {
                                places.push(i);
                        } else {
                                ends.set(key, [i]);
                        }
                }
                return ends;
        }

        /** Where in `numbers` pairs begin, the longest arrow first. */
        longestFirst() {
                const places = [];
                /** @param {number} i */
                const lengthOf = (i) => Math.abs(this.numbers[i + 7] - this.numbers[i + 3]);

                for (let i = 0; i + 2 * NUMBERS_OF_END <= this.numbers.length; i += 2 * NUMBERS_OF_END)
                        places.push(i);
                return places.sort((a, b) => lengthOf(b) - lengthOf(a));
        }

        /**
         * Those with a part between two times, as by `hyprof view`: the longest.
         * @param {number} from
         * @param {number} to
         * @returns {{ n: number, arrows: [number, number, number, number][] }}  track, time, track, time
         */
        between(from, to) {
                const { numbers } = this;
                /** @type {[number, number, number, number][]} */
                const arrows = [];
                let n = 0;

                this.byLength ??= this.longestFirst();
                for (const i of this.byLength) {
                        const begin = numbers[i + 3];
                        const end = numbers[i + 7];

                        if (!(Math.min(begin, end) < to && Math.max(begin, end) >= from))
                                continue;
                        if (n++ < ARROWS_OF_VIEW_MAX)
                                arrows.push([numbers[i], begin, numbers[i + 4], end]);
                }
                return { n, arrows };
        }

        /**
         * @param {TrackOfModel} track
         * @param {number} at
         * @param {number} what
         * @returns {{n: number, ends: LaunchEnd[]}}
         */
        of(track, at, what) {
                this.ends ??= this.allEnds();
                const places = this.ends.get([track.id, at, what].join()) || [];
                /** @param {number} own */
                const isTo = (own) => own % (2 * NUMBERS_OF_END) !== 0;
                const sorted = [...places.filter(isTo), ...places.filter((own) => !isTo(own))];
                const ends = sorted.slice(0, LAUNCH_ENDS_MAX).map((own) => {
                        const isFrom = isTo(own);
                        const other = isFrom ? own - NUMBERS_OF_END : own + NUMBERS_OF_END;
                        const [ofTrack, begin_ns, location, at_ns] = this.numbers.slice(other, other + NUMBERS_OF_END);

                        return { track: ofTrack, begin_ns, what: location, at_ns, own_ns: this.numbers[own + 3], is_from: isFrom };
                });

                return { n: places.length, ends };
        }
}
