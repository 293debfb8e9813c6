// SPDX-License-Identifier: MIT
/*
 * file_search.js - a search in whole lanes, for pages without a server
 *
 * Way of the data:  lanes of the file, name_matches -> [file_search] -> source_file
 *
 * The answers are those of timeline/timeline_hits.h, which says what the order of hits is.  In a file whose short
 * items were merged, only the longest of each has its name left: the count is then a lower bound.
 */

import { lowerBound } from './lanes.js';
import { nameKindOf } from './name_matches.js';

/**
 * @typedef {import('./lanes.js').WholeLane} WholeLane
 * @typedef {import('./name_matches.js').NameKind} NameKind
 * @typedef {import('./source_server.js').FoundHit} FoundHit
 * @typedef {import('./source_server.js').SearchReply} SearchReply
 * @typedef {import('./source_server.js').SearchRequest} SearchRequest
 * @typedef {{ id: number, kind: NameKind, lane: WholeLane }} SearchedLane
 * @typedef {(kind: NameKind, what: number) => boolean} IsWanted
 */

const SEARCH_NAMES_MAX = 100;
const NAME_KINDS = ['zones', 'ghosts', 'messages', 'frames', 'texts'];

/**
 * @param {{ id: number, kind: string }[]} lanes  of the model
 * @param {Map<number, () => WholeLane>} whole
 * @returns {SearchedLane[]}
 */
export function searchedLanes(lanes, whole) {
        return lanes.flatMap(({ id, kind }) => {
                const names = nameKindOf(kind);
                const lane = whole.get(id);

                return names && lane ? [{ id, kind: names, lane: lane() }] : [];
        }).sort((a, b) => a.id - b.id);
}

/**
 * @param {SearchedLane} one
 * @param {number} i
 * @param {number} rank
 * @returns {FoundHit}
 */
function hitAt(one, i, rank) {
        return { lane: one.id, begin_ns: one.lane.begin[i], end_ns: one.lane.end[i], what: one.lane.what[i], rank };
}

/**
 * Hits that begin at one instant, in order.
 * @param {SearchedLane[]} lanes
 * @param {IsWanted} isWanted
 * @param {number} at
 * @returns {FoundHit[]}
 */
function hitsAt(lanes, isWanted, at) {
        const hits = [];

        for (const one of lanes)
                for (let i = lowerBound(one.lane.begin, at, 0, one.lane.n); i < one.lane.n && one.lane.begin[i] === at; i++)
                        if (isWanted(one.kind, one.lane.what[i]))
                                hits.push(hitAt(one, i, hits.length + 1));
        return hits;
}

/**
 * The begin of the first hit after an instant, or of the last before it.
 * @param {SearchedLane[]} lanes
 * @param {IsWanted} isWanted
 * @param {number} at
 * @param {1|-1} step
 * @returns {number|null}
 */
function nearestBegin(lanes, isWanted, at, step) {
        /** @type {number|null} */
        let best = null;

        for (const { kind, lane } of lanes) {
                let i = step > 0 ? lowerBound(lane.begin, at + 0.5, 0, lane.n) : lowerBound(lane.begin, at, 0, lane.n) - 1;

                while (i >= 0 && i < lane.n && (best === null || (lane.begin[i] - best) * step < 0) && !isWanted(kind, lane.what[i]))
                        i += step;
                if (i >= 0 && i < lane.n && (best === null || (lane.begin[i] - best) * step < 0))
                        best = lane.begin[i];
        }
        return best;
}

/**
 * @param {SearchedLane[]} lanes
 * @param {IsWanted} isWanted
 * @param {SearchRequest} from
 * @returns {FoundHit|null}
 */
function stepHit(lanes, isWanted, { at, rank, direction }) {
        const wanted = direction === 'next' ? (rank ?? 0) + 1 : (rank ?? 0) - 1;
        const here = wanted > 0 ? hitsAt(lanes, isWanted, at)[wanted - 1] : undefined;

        if (here)
                return here;
        const begin = nearestBegin(lanes, isWanted, at, direction === 'next' ? 1 : -1);

        if (begin === null)
                return null;
        const hits = hitsAt(lanes, isWanted, begin);

        return hits[direction === 'next' ? 0 : hits.length - 1] ?? null;
}

/**
 * @param {SearchedLane[]} lanes
 * @param {IsWanted} isWanted
 * @param {number} at
 */
function countHits(lanes, isWanted, at) {
        /** @type {Map<string, { kind: NameKind, what: number, count: number }>} */
        const names = new Map();
        const sum = { n_hits: 0, n_before: 0, is_least: false };

        for (const { kind, lane } of lanes) {
                for (let i = 0; i < lane.n; i++) {
                        const what = lane.what[i];

                        sum.is_least = sum.is_least || lane.count[i] > 1;
                        if (!isWanted(kind, what))
                                continue;
                        sum.n_hits++;
                        sum.n_before += lane.begin[i] < at ? 1 : 0;
                        const key = kind + what;
                        const name = names.get(key);

                        if (name)
                                name.count++;
                        else
                                names.set(key, { kind, what, count: 1 });
                }
        }
        const list = [...names.values()].sort((a, b) => b.count - a.count ||
                NAME_KINDS.indexOf(a.kind) - NAME_KINDS.indexOf(b.kind) || a.what - b.what);

        return { ...sum, names: list.slice(0, SEARCH_NAMES_MAX), n_names: list.length };
}

/**
 * searchLanes() - the answer to a search, as the server's
 * @param {SearchedLane[]} lanes
 * @param {IsWanted} isWanted
 * @param {SearchRequest} request
 * @returns {SearchReply}
 */
export function searchLanes(lanes, isWanted, request) {
        const { only } = request;
        let found = stepHit(lanes, only ? (kind, what) => kind === only.kind && what === only.what : isWanted, request);

        if (found && only) {
                const { lane, begin_ns, what } = found;

                found = hitsAt(lanes, isWanted, begin_ns).find((hit) => hit.lane === lane && hit.what === what) ?? found;
        }
        return { found, ...(request.wantsCounts ? countHits(lanes, isWanted, found ? found.begin_ns : request.at) : {}) };
}
