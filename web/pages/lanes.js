// SPDX-License-Identifier: MIT
// Items of lanes: decoded from the server's binary answer, and folded from whole lanes by the index's own rule.
//
// The rule: a bucket is q = 2^bucketLog2 ns.  A span of at least q is an item of its own; shorter spans are one item for
// each bucket in which they begin: from the first's begin to the last's end, with their count and the longest of them.
// Points with values are one item a bucket: least, greatest, first and last value.

/**
 * @typedef {{isPoints: false, n: number, bucketLog2: number, begin: Float64Array, end: Float64Array,
 *     longestBegin: Float64Array, longestNs: Float64Array, what: Uint32Array, count: Uint32Array}} SpanItems
 * @typedef {{isPoints: true, n: number, bucketLog2: number, begin: Float64Array, min: Float64Array, max: Float64Array,
 *     first: Float64Array, last: Float64Array, count: Uint32Array}} PointItems
 * @typedef {SpanItems | PointItems} LaneItems
 * @typedef {{isPoints: boolean, n: number, begin: Float64Array, end: Float64Array, longestBegin: Float64Array,
 *     longestNs: Float64Array, what: Uint32Array, count: Uint32Array, values: Float64Array, min: Float64Array,
 *     max: Float64Array, last: Float64Array}} WholeLane a lane with all that is known of it
 */

const LANES_MAGIC = 0x4c545948;
const LANES_VERSION = 1;

/** Reads columns of little-endian numbers that are aligned to eight bytes; refuses a column that goes beyond the end. */
export class ColumnReader {
        /**
         * @param {ArrayBuffer} buffer
         * @param {number} magic
         */
        constructor(buffer, magic) {
                this.buffer = buffer;
                this.at = 0;
                const [found, version] = this.words(2);
                if (found !== magic || version !== LANES_VERSION) {
                        throw new Error('these are not lanes of a version that this page reads');
                }
        }

        /** @param {number} nBytes */
        take(nBytes) {
                const at = this.at;
                if (nBytes < 0 || at + nBytes > this.buffer.byteLength) {
                        throw new Error('the lanes are cut off');
                }
                this.at = Math.min(this.buffer.byteLength, at + nBytes + (-nBytes & 7));
                return at;
        }

        /** @param {number} n */
        words(n) {
                return new Uint32Array(this.buffer, this.take(n * 4), n);
        }

        /** @param {number} n */
        doubles(n) {
                return new Float64Array(this.buffer, this.take(n * 8), n);
        }
}

/**
 * @param {ArrayBuffer} buffer reply to /lanes
 * @returns {Map<number, LaneItems>}
 */
export function decodeLanes(buffer) {
        const reader = new ColumnReader(buffer, LANES_MAGIC);
        const [nLanes] = reader.words(2);
        /** @type {Map<number, LaneItems>} */
        const lanes = new Map();
        for (let i = 0; i < nLanes; i++) {
                const [id, isPoints, n, bucketLog2] = reader.words(4);
                if (isPoints) {
                        lanes.set(id, { isPoints: true, n, bucketLog2, begin: reader.doubles(n), min: reader.doubles(n),
                                max: reader.doubles(n), first: reader.doubles(n), last: reader.doubles(n),
                                count: reader.words(n) });
                } else {
                        lanes.set(id, { isPoints: false, n, bucketLog2, begin: reader.doubles(n), end: reader.doubles(n),
                                longestBegin: reader.doubles(n), longestNs: reader.doubles(n), what: reader.words(n),
                                count: reader.words(n) });
                }
        }
        return lanes;
}

/** @returns {SpanItems} */
export function noItems() {
        const none = new Float64Array(0);
        const words = new Uint32Array(0);
        return { isPoints: false, n: 0, bucketLog2: 0, begin: none, end: none, longestBegin: none, longestNs: none,
                what: words, count: words };
}

/**
 * The first index in [low, high) whose value is at least `value`; high if none is.
 * @param {Float64Array} sorted
 * @param {number} value
 * @param {number} [low]
 * @param {number} [high]
 */
export function lowerBound(sorted, value, low, high) {
        let from = low || 0;
        let to = high === undefined ? sorted.length : high;
        while (from < to) {
                const middle = (from + to) >>> 1;
                if (sorted[middle] < value) {
                        from = middle + 1;
                } else {
                        to = middle;
                }
        }
        return from;
}

/** Items that grow, then are cut to their size. */
class SpanItemsBuilder {
        /** @param {number} capacity */
        constructor(capacity) {
                this.n = 0;
                this.begin = new Float64Array(capacity);
                this.end = new Float64Array(capacity);
                this.longestBegin = new Float64Array(capacity);
                this.longestNs = new Float64Array(capacity);
                this.what = new Uint32Array(capacity);
                this.count = new Uint32Array(capacity);
        }

        /**
         * @param {WholeLane} lane
         * @param {number} i
         */
        add(lane, i) {
                const n = this.n++;
                this.begin[n] = lane.begin[i];
                this.end[n] = lane.end[i];
                this.longestBegin[n] = lane.longestBegin[i];
                this.longestNs[n] = lane.longestNs[i];
                this.what[n] = lane.what[i];
                this.count[n] = lane.count[i];
        }

        /**
         * Adds a span to the last item.
         * @param {WholeLane} lane
         * @param {number} i
         */
        extend(lane, i) {
                const n = this.n - 1;
                this.end[n] = lane.end[i];
                this.count[n] += lane.count[i];
                if (lane.longestNs[i] > this.longestNs[n]) {
                        this.longestBegin[n] = lane.longestBegin[i];
                        this.longestNs[n] = lane.longestNs[i];
                        this.what[n] = lane.what[i];
                }
        }

        /**
         * @param {number} bucketLog2
         * @returns {SpanItems}
         */
        items(bucketLog2) {
                const n = this.n;
                return { isPoints: false, n, bucketLog2, begin: this.begin.slice(0, n), end: this.end.slice(0, n),
                        longestBegin: this.longestBegin.slice(0, n), longestNs: this.longestNs.slice(0, n),
                        what: this.what.slice(0, n), count: this.count.slice(0, n) };
        }
}

/**
 * The items of a whole lane in a view.  Folded buckets that straddle an end of the range are whole.
 * @param {WholeLane} lane sorted, its spans do not overlap
 * @param {number} from ns
 * @param {number} to ns
 * @param {number} bucketLog2
 * @returns {SpanItems}
 */
export function foldSpans(lane, from, to, bucketLog2) {
        const q = Math.pow(2, bucketLog2);
        // Ends are sorted as begins are.  A bucket from which a span reaches into the range is folded from its start.
        let i = lowerBound(lane.end, from, 0, lane.n);
        if (i < lane.n) {
                i = lowerBound(lane.begin, Math.floor(Math.min(from, lane.begin[i]) / q) * q, 0, lane.n);
        }
        const end = lowerBound(lane.begin, Math.ceil(to / q) * q, 0, lane.n);
        const builder = new SpanItemsBuilder(Math.max(0, Math.min(end - i, 2 * Math.ceil((to - from) / q + 2) + 4)) + 1);
        while (i < end) {
                if (lane.end[i] - lane.begin[i] >= q) {
                        if (lane.begin[i] < to && isTouched(lane, i, from)) {
                                builder.add(lane, i);
                        }
                        i++;
                        continue;
                }
                i = foldBucket(lane, i, end, q, from, to, builder);
        }
        return builder.items(bucketLog2);
}

/**
 * Whether a span touches the time after `from`; a span without length touches its own instant.
 * @param {WholeLane} lane
 * @param {number} i
 * @param {number} from
 */
function isTouched(lane, i, from) {
        return lane.end[i] > from || (lane.end[i] === lane.begin[i] && lane.begin[i] === from);
}

/**
 * Folds the run of short spans of one bucket that begins with `i`; returns the index after it.
 * @param {WholeLane} lane
 * @param {number} i
 * @param {number} end
 * @param {number} q
 * @param {number} from
 * @param {number} to
 * @param {SpanItemsBuilder} builder
 */
function foldBucket(lane, i, end, q, from, to, builder) {
        const bucket = Math.floor(lane.begin[i] / q);
        const bucketEnd = (bucket + 1) * q;
        let j = i + 1;
        let isInside = lane.begin[i] < to && isTouched(lane, i, from);
        while (j < end && lane.begin[j] < bucketEnd && lane.end[j] - lane.begin[j] < q) {
                isInside = isInside || (lane.begin[j] < to && isTouched(lane, j, from));
                j++;
        }
        if (isInside) {
                builder.add(lane, i);
                for (let k = i + 1; k < j; k++) {
                        builder.extend(lane, k);
                }
        }
        return j;
}

/**
 * @param {WholeLane} lane of points with values
 * @param {number} from
 * @param {number} to
 * @param {number} bucketLog2
 * @returns {PointItems}
 */
export function foldPoints(lane, from, to, bucketLog2) {
        const q = Math.pow(2, bucketLog2);
        // The values before and after the view are there too: lines go to them.
        const first = lowerBound(lane.begin, Math.floor(from / q) * q, 0, lane.n);
        let i = first > 0 ? lowerBound(lane.begin, Math.floor(lane.begin[first - 1] / q) * q, 0, lane.n) : 0;
        let end = lowerBound(lane.begin, Math.ceil(to / q) * q, 0, lane.n);
        end = end < lane.n ? lowerBound(lane.begin, (Math.floor(lane.begin[end] / q) + 1) * q, 0, lane.n) : end;
        const capacity = Math.max(0, Math.min(end - i, Math.ceil((to - from) / q) + 4)) + 1; // begins may not be sorted
        const items = { begin: new Float64Array(capacity), min: new Float64Array(capacity), max: new Float64Array(capacity),
                first: new Float64Array(capacity), last: new Float64Array(capacity), count: new Uint32Array(capacity) };
        let n = 0;
        while (i < end) {
                const bucketEnd = (Math.floor(lane.begin[i] / q) + 1) * q;
                items.begin[n] = lane.begin[i];
                items.first[n] = lane.values[i];
                items.min[n] = lane.min[i];
                items.max[n] = lane.max[i];
                // Beyond 2^53 ns a bucket may end where it begins.
                do {
                        items.min[n] = Math.min(items.min[n], lane.min[i]);
                        items.max[n] = Math.max(items.max[n], lane.max[i]);
                        items.last[n] = lane.last[i];
                        items.count[n] += lane.count[i];
                        i++;
                } while (i < end && lane.begin[i] < bucketEnd);
                n++;
        }
        return { isPoints: true, n, bucketLog2, begin: items.begin.slice(0, n), min: items.min.slice(0, n),
                max: items.max.slice(0, n), first: items.first.slice(0, n), last: items.last.slice(0, n),
                count: items.count.slice(0, n) };
}

/**
 * @param {WholeLane} lane
 * @param {number} from
 * @param {number} to
 * @param {number} bucketLog2
 * @returns {LaneItems}
 */
export function foldLane(lane, from, to, bucketLog2) {
        return lane.isPoints ? foldPoints(lane, from, to, bucketLog2) : foldSpans(lane, from, to, bucketLog2);
}

/**
 * The next or previous span that begins after or before an instant.
 * @param {WholeLane} lane
 * @param {number} at
 * @param {'next' | 'previous'} direction
 * @param {number | null} what
 * @returns {{begin_ns: number, end_ns: number, what: number} | null}
 */
export function findInLane(lane, at, direction, what) {
        const step = direction === 'next' ? 1 : -1;
        let i = direction === 'next' ? lowerBound(lane.begin, at + 0.5, 0, lane.n) : lowerBound(lane.begin, at, 0, lane.n) - 1;
        for (; i >= 0 && i < lane.n; i += step) {
                if (what === null || lane.what[i] === what) {
                        return { begin_ns: lane.begin[i], end_ns: lane.end[i], what: lane.what[i] };
                }
        }
        return null;
}
