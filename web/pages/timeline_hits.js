// SPDX-License-Identifier: MIT
/*
 * timeline_hits.js - the item of a lane at an instant
 *
 * Way of the data:  lane_cache -> [timeline_hits] -> screen_timeline: hover, choose
 */

import { bucketOf } from './lane_cache.js';
import { lowerBound } from './lanes.js';
import { meanAt } from './timeline_parallel.js';

/**
 * @typedef {import('./lane_cache.js').LaneCache} LaneCache
 * @typedef {import('./timeline_rows.js').LaneRow} LaneRow
 * @typedef {import('./timeline_rows.js').TimelineRow} TimelineRow
 */

/**
 * The item under the pointer, or the chosen one.
 * @typedef {{ lane: LaneRow, row: TimelineRow, begin: number, end: number, what: number, count: number,
 *             longestBegin: number, longestNs: number }} TimelineHit
 * @typedef {{ from: number, to: number, width: number }} HitView  `width`: in pixels
 */

/**
 * hitOfLane() - an item that is narrower than a few pixels can also be hit a little beside it
 * @param {LaneCache} cache
 * @param {HitView} view
 * @param {TimelineRow} row
 * @param {LaneRow} lane
 * @param {number} ns
 * @returns {TimelineHit|null}
 */
export function hitOfLane(cache, view, row, lane, ns) {
        const near = (view.to - view.from) / view.width * 3;
        const bucket = bucketOf((view.to - view.from) / view.width);
        const items = cache.best(lane.lane.id, view.from, view.to, bucket);

        if (!items || items.n === 0)
                return null;
        if (lane.lane.kind === 'cpu_time')
                return hitOfCpuTime(row, lane, ns, row.lanes.map((one) => meanAt(cache.best(one.lane.id, view.from, view.to, bucket), ns)));
        const after = lowerBound(items.begin, ns + 1e-6, 0, items.n);

        for (const i of [after - 1, after]) {
                if (i < 0 || i >= items.n || items.begin[i] > ns + near)
                        continue;
                if (items.isPoints)
                        return { lane, row, begin: items.begin[i], end: items.begin[i], what: 0, count: items.count[i],
                                 longestBegin: items.min[i], longestNs: items.max[i] };
                if (items.end[i] >= ns - near)
                        return { lane, row, begin: items.begin[i], end: items.end[i], what: items.what[i],
                                 count: items.count[i], longestBegin: items.longestBegin[i], longestNs: items.longestNs[i] };
        }
        return null;
}

/**
 * How many threads ran, as its longestBegin, and how many ran or could have run, as its longestNs.
 * @param {TimelineRow} row
 * @param {LaneRow} lane
 * @param {number} ns
 * @param {({ mean: number, begin: number, end: number }|null)[]} means  by lane, the one of what ran last
 * @returns {TimelineHit|null}
 */
function hitOfCpuTime(row, lane, ns, means) {
        const ran = means[means.length - 1];
        const wanted = means[0];

        if (!ran || !wanted)
                return null;
        return { lane, row, begin: Math.max(ran.begin, wanted.begin), end: Math.min(ran.end, wanted.end), what: 0, count: 1,
                 longestBegin: ran.mean, longestNs: wanted.mean };
}
