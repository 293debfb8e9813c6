// SPDX-License-Identifier: MIT
/*
 * lane_cache.js - items of lanes that were fetched, so that drawing never waits: the page draws the items at hand, and
 * finer ones once they come
 *
 * Way of the data:  source.lanes() -> [lane_cache] -> timeline_paint
 *
 * A lane's items are kept for a few bucket sizes, each over a window that is wider than the view.  A view
 * inside a window of its own bucket size fetches nothing.  Any other view is drawn from the nearest bucket size that
 * covers it, until the reply comes.
 */

import { nextFrame } from './dom.js';
import { faultOfItems } from './model_checks.js';

/**
 * @typedef {import('./lanes.js').LaneItems} LaneItems
 * @typedef {import('./lanes.js').SpanItems} SpanItems
 * @typedef {import('./source_server.js').TraceSource} TraceSource
 */

const LANE_CACHE_BUCKETS = 4;
/* The server refuses more items in a reply; a lane has at most two for each bucket. */
const LANE_CACHE_ITEMS_A_REPLY = 190000;
/* Nor does it take more ids in a request. */
const LANE_CACHE_LANES_A_REQUEST = 1000;

/** @typedef {{ from: number, to: number, bucketLog2: number, items: LaneItems, used: number, isOld?: boolean,
 *             fault?: string }} LaneWindow  `fault`: what is wrong with the items */

/**
 * bucketOf() - the largest power of two in ns that is at most three pixels
 * @param {number} nsPerPixel
 */
export function bucketOf(nsPerPixel) {
        return Math.max(0, Math.min(62, Math.floor(Math.log2(Math.max(1, nsPerPixel * 3)))));
}

export class LaneCache {
        /**
         * @param {TraceSource} source
         * @param {number} duration_ns
         * @param {() => void} onItems     something arrived: draw again
         * @param {(error: any) => void} onFailure
         */
        constructor(source, duration_ns, onItems, onFailure) {
                this.source = source;
                this.duration_ns = duration_ns;
                this.onItems = onItems;
                this.onFailure = onFailure;
                /** @type {Map<number, LaneWindow[]>} */
                this.windows = new Map();
                this.isFetching = false;
                /** @type {{ ids: number[], from: number, to: number, bucketLog2: number }|null} */
                this.wanted = null;
                this.clock = 0;
                this.isPainted = false;
                /** @type {() => void} */
                this.onPainted = () => {};
                /** Resolves when a view that has all of its items is painted: what takes the processors for long is asked then. */
                this.painted = /** @type {Promise<void>} */ (new Promise((resolve) => { this.onPainted = resolve; }));
        }

        /** The index has grown since these items arrived. */
        forget() {
                this.windows.clear();
        }

        /** The same for a trace that is followed: they are drawn until newer ones arrive. */
        age() {
                for (const windows of this.windows.values())
                        for (const window of windows)
                                window.isOld = true;
        }

        /**
         * The best that is there for a view; null if nothing covers any of it.
         * @param {number} id
         * @param {number} from
         * @param {number} to
         * @param {number} bucketLog2
         * @returns {LaneItems|null}
         */
        best(id, from, to, bucketLog2) {
                let best = null;
                let bestCost = Infinity;

                for (const window of this.windows.get(id) ?? []) {
                        const missing = Math.max(0, window.from - from) + Math.max(0, to - window.to);
                        const cost = missing / (to - from) * 1000 + Math.abs(window.bucketLog2 - bucketLog2);

                        if (missing < to - from && cost < bestCost) {
                                best = window;
                                bestCost = cost;
                        }
                }
                if (best)
                        best.used = ++this.clock;
                return best ? best.items : null;
        }

        /**
         * The finest that is there and covers all of a range.
         * @param {number} id
         * @param {number} from
         * @param {number} to
         * @returns {LaneItems|null}
         */
        covering(id, from, to) {
                const windows = (this.windows.get(id) ?? []).filter((one) => one.from <= from && one.to >= to);

                return windows.length === 0 ? null : windows.reduce((a, b) => a.bucketLog2 <= b.bucketLog2 ? a : b).items;
        }

        /**
         * @param {number} id
         * @param {number} from
         * @param {number} to
         * @param {number} bucketLog2
         */
        has(id, from, to, bucketLog2) {
                return (this.windows.get(id) ?? []).some((window) => !window.isOld && window.bucketLog2 === bucketLog2 &&
                        window.from <= Math.max(0, from) && window.to >= Math.min(this.duration_ns, to));
        }

        /**
         * Fetches what a view lacks; while one request is on its way, only the last view that was wanted waits.
         * @param {number[]} ids
         * @param {number} from
         * @param {number} to
         * @param {number} bucketLog2
         */
        need(ids, from, to, bucketLog2) {
                /* A comparison shows times that are not within this recording. */
                const lacking = to <= 0 || from >= this.duration_ns ? [] : ids.filter((id) => !this.has(id, from, to, bucketLog2));

                this.wanted = lacking.length === 0 ? null : { ids: lacking, from, to, bucketLog2 };
                if (!this.isPainted && !this.wanted && !this.isFetching) {
                        this.isPainted = true;
                        nextFrame().then(this.onPainted);
                }
                this.fetch();
        }

        async fetch() {
                if (this.isFetching || !this.wanted)
                        return;
                const { from, to, bucketLog2 } = this.wanted;
                /* The reply that came meanwhile may have all of it. */
                const ids = this.wanted.ids.filter((id) => !this.has(id, from, to, bucketLog2));

                if (ids.length === 0) {
                        this.wanted = null;
                        return;
                }
                const q = Math.pow(2, bucketLog2);
                const around = (to - from) * 0.75;
                const first = Math.max(0, Math.floor((from - around) / q) * q);
                const last = Math.min(Math.ceil(this.duration_ns / q + 1) * q, Math.ceil((to + around) / q) * q);
                const nFitting = Math.floor(LANE_CACHE_ITEMS_A_REPLY / (2 * (last - first) / q + 2));
                const part = ids.slice(0, Math.max(1, Math.min(LANE_CACHE_LANES_A_REQUEST, nFitting)));

                this.wanted = null;
                this.isFetching = true;
                try {
                        const lanes = await this.lanesOf(part, first, last, bucketLog2);

                        for (const id of part) {
                                const items = lanes.get(id) ?? emptySpanItems(bucketLog2);

                                this.keep(id, { from: first, to: last, bucketLog2, used: ++this.clock, items: typeof items === 'string'
                                        ? emptySpanItems(bucketLog2) : items, fault: typeof items === 'string' ? items
                                        : faultOfItems(items, this.duration_ns) });
                        }
                        this.isFetching = false;
                        this.onItems();
                } catch (error) {
                        this.isFetching = false;
                        this.onPainted();
                        this.onFailure(error);
                }
                this.fetch();
        }

        /**
         * Items of lanes; of a lane that cannot be read, the reason.
         * @param {number[]} ids
         * @param {number} from
         * @param {number} to
         * @param {number} bucketLog2
         * @returns {Promise<Map<number, LaneItems|string>>}
         */
        async lanesOf(ids, from, to, bucketLog2) {
                try {
                        return await this.source.lanes(ids, from, to, bucketLog2);
                } catch (error) {
                        if (/** @type {any} */ (error).isLost)
                                throw error;
                        if (ids.length === 1)
                                return new Map([[ids[0], /** @type {Error} */ (error).message]]);
                }
                const middle = ids.length >> 1;

                return new Map([...await this.lanesOf(ids.slice(0, middle), from, to, bucketLog2),
                                ...await this.lanesOf(ids.slice(middle), from, to, bucketLog2)]);
        }

        /**
         * What is wrong with the items of a lane; "" = nothing.
         * @param {number} id
         */
        faultOf(id) {
                return (this.windows.get(id) ?? []).find((window) => window.fault)?.fault ?? '';
        }

        /** @param {number} id @param {LaneWindow} window */
        keep(id, window) {
                const kept = (this.windows.get(id) ?? []).filter((other) => other.bucketLog2 !== window.bucketLog2);

                kept.push(window);
                if (kept.length > LANE_CACHE_BUCKETS) {
                        kept.sort((a, b) => a.used - b.used);
                        /* A fast zoom out falls back to the widest window. */
                        const widest = kept.reduce((w, one) => one.to - one.from > w.to - w.from ? one : w);
                        kept.splice(kept.findIndex((one) => one !== widest), 1);
                }
                this.windows.set(id, kept);
        }
}

/** @param {number} bucketLog2 @returns {SpanItems} */
export function emptySpanItems(bucketLog2) {
        const none = new Float64Array(0);

        return { isPoints: false, n: 0, bucketLog2, begin: none, end: none, longestBegin: none, longestNs: none,
                 what: new Uint32Array(0), count: new Uint32Array(0) };
}
