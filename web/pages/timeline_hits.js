// SPDX-License-Identifier: MIT
/*
 * timeline_hits.js - the item of a lane at an instant
 *
 * Way of the data:  lane_cache -> [timeline_hits] -> screen_timeline: hover, choose
 */

import { mixOfCauses } from './cause_steps.js';
import { bucketOf } from './lane_cache.js';
import { lowerBound } from './lanes.js';
import { meanAt } from './timeline_parallel.js';
import { NO_LANE } from './timeline_rows.js';

/**
 * @typedef {import('./cause_steps.js').CauseMix} CauseMix
 * @typedef {import('./cause_steps.js').CauseSteps} CauseSteps
 * @typedef {import('./lane_cache.js').LaneCache} LaneCache
 * @typedef {import('./timeline_rows.js').LaneRow} LaneRow
 * @typedef {import('./timeline_rows.js').TimelineRow} TimelineRow
 */

/**
 * The item under the pointer, or the chosen one.
 * @typedef {{ lane: LaneRow, row: TimelineRow, begin: number, end: number, what: number, count: number,
 *             longestBegin: number, longestNs: number, causes?: CauseMix|null }} TimelineHit  `causes`: of the CPUs in use
 * @typedef {{ from: number, to: number, width: number, causes?: CauseSteps|null }} HitView  `width`: in pixels
 */

/**
 * lanesAt() - the lanes of a row at a height: the first one, and what lies over it: other programs on a CPU, in a group
 * the lanes of processes that followed each other
 * @param {TimelineRow} row
 * @param {number} y
 * @param {number} ns
 */
export function lanesAt(row, y, ns) {
        const first = row.lanes.find((one) => y >= one.y - 1 && y < one.y + one.height + 1);

        return row.lanes.filter((one) => one === first || (one.y === first?.y && (one.lane.kind === 'unrecorded' ||
                (row.kind === 'group' && (one.lane.first_ns ?? 0) <= ns && (one.lane.last_ns ?? Infinity) >= ns))));
}

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
        if (lane.lane.id === NO_LANE)
                return hitOfCauses(row, lane, ns, view.causes ?? null);
        const near = (view.to - view.from) / view.width * 3;
        const bucket = bucketOf((view.to - view.from) / view.width);
        const items = cache.best(lane.lane.id, view.from, view.to, bucket);

        if (!items || items.n === 0)
                return null;
        if (lane.lane.kind === 'cpu_time')
                return hitOfCpuTime(row, lane, view.causes ? mixOfCauses(view.causes, ns, ns + 1) : null,
                                    row.lanes.map((one) => meanAt(cache.best(one.lane.id, view.from, view.to, bucket), ns)));
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
 * @param {CauseMix|null} causes
 * @param {({ mean: number, begin: number, end: number }|null)[]} means  by lane, the one of what ran last
 * @returns {TimelineHit|null}
 */
function hitOfCpuTime(row, lane, causes, means) {
        const ran = means[means.length - 1];
        const wanted = means[0];

        if (!ran || !wanted)
                return null;
        return { lane, row, begin: Math.max(ran.begin, wanted.begin), end: Math.min(ran.end, wanted.end), what: 0, count: 1,
                 longestBegin: ran.mean, longestNs: wanted.mean, causes };
}

/**
 * The same where only the steps of the causes are there.
 * @param {TimelineRow} row
 * @param {LaneRow} lane
 * @param {number} ns
 * @param {CauseSteps|null} steps
 * @returns {TimelineHit|null}
 */
function hitOfCauses(row, lane, ns, steps) {
        const causes = steps && mixOfCauses(steps, ns, ns + 1);

        return causes && { lane, row, begin: causes.begin, end: causes.end, what: 0, count: 1, longestBegin: causes.running,
                           longestNs: causes.running, causes };
}
