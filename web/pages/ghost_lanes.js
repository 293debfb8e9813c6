// SPDX-License-Identifier: MIT
/*
 * ghost_lanes.js - which ghost zones the timeline shows by itself where the program has no zones, so that names can be read
 * before anything is clicked; without a page
 *
 * Way of the data:  TraceModel -> [ghost_lanes] -> timeline_rows, timeline_labels
 *
 * All call stacks would be higher than a screen.  The threads with the most samples share a room of LANES_MAX lanes, each by
 * its part of the samples, from the function on in which its call stacks part: those around it, such as main, say nothing.
 */

/**
 * @typedef {import('./model.js').LaneOfModel} LaneOfModel
 * @typedef {import('./model.js').TraceModel} TraceModel
 * @typedef {import('./model.js').TrackOfModel} TrackOfModel
 * @typedef {{ lanes: Set<number>, nAll: number }} SomeGhosts  lanes by id, of how many of the track
 */

/** For all threads together. */
const LANES_MAX = 24;
/** The least and the most for one thread. */
const [TRACK_LEAST, TRACK_MOST] = [2, 8];
/**
 * The stacks have not parted where a lane has hardly more items than the outermost one.  There are many in all lanes where a
 * thread was often preempted, which ends all of them.
 */
const [CHAIN_GROWTH, CHAIN_LEAST] = [1.2, 3];

/** @type {WeakMap<TraceModel, Map<number, SomeGhosts>>} */
const known = new WeakMap();

/** @param {TrackOfModel} track @returns {LaneOfModel[]} the outermost first */
function ghostsOf(track) {
        return track.lanes.filter((lane) => lane.kind === 'ghosts' && lane.items > 0).sort((a, b) => a.depth - b.depth);
}

/** @param {TrackOfModel} track */
export function samplesOf(track) {
        return track.lanes.filter((lane) => lane.kind === 'samples').reduce((sum, lane) => sum + lane.items, 0);
}

/**
 * The lanes from the last common function on; where there is no such place, as many as end with the fullest one, the
 * innermost of those: the others are only around it.
 * @param {LaneOfModel[]} lanes
 * @param {number} n
 */
function fromWhereTheyPart(lanes, n) {
        const chain = Math.max(CHAIN_LEAST, lanes[0].items * CHAIN_GROWTH);
        const parting = lanes.findIndex((lane) => lane.items > chain);
        const fullest = lanes.reduce((best, lane, i) => lane.items >= lanes[best].items ? i : best, 0);
        const first = parting > 0 ? parting - 1 : fullest - n + 1;

        return lanes.slice(Math.max(0, Math.min(first, lanes.length - n))).slice(0, n);
}

/** @param {TraceModel} model @returns {Map<number, SomeGhosts>} */
function chooseGhosts(model) {
        /* A trace that grows would move below the pointer; zones have names of their own. */
        if (model.isLive || model.progress < 1 || model.lanesOfKind('zones').some(({ lane }) => lane.items > 0))
                return new Map();
        const tracks = model.tracks.map((track) => ({ track, lanes: track.group ? [] : ghostsOf(track) }))
                .filter(({ lanes }) => lanes.length > 0).sort((a, b) => samplesOf(b.track) - samplesOf(a.track))
                .slice(0, LANES_MAX / TRACK_LEAST);
        const all = tracks.reduce((sum, { track }) => sum + samplesOf(track), 0);
        const more = LANES_MAX - TRACK_LEAST * tracks.length;
        /** @param {TrackOfModel} track */
        const roomOf = (track) => Math.min(TRACK_MOST, TRACK_LEAST +
                Math.floor(more * (all > 0 ? samplesOf(track) / all : 1 / tracks.length)));

        return new Map(tracks.map(({ track, lanes }) => [track.id, { nAll: lanes.length,
                lanes: new Set(fromWhereTheyPart(lanes, roomOf(track)).map((lane) => lane.id)) }]));
}

/**
 * someGhosts() - by the number of the track; empty in a recording that has zones, or still runs
 * @param {TraceModel} model
 * @returns {Map<number, SomeGhosts>}
 */
export function someGhosts(model) {
        let some = known.get(model);

        if (!some) {
                some = chooseGhosts(model);
                known.set(model, some);
        }
        return some;
}
