// SPDX-License-Identifier: MIT
/*
 * timeline_parallel.js - how many CPUs ran threads of the program, and how many threads could have run and did not;
 * without a page
 *
 * Way of the data:  lane_cache: sums of CPU time -> [timeline_parallel] -> timeline_paint, timeline_words
 *
 * The lanes add up CPU time, so the mean between two of their values is exact, however much lies between them.  The first
 * lane is what ran, the second that and what could have run.
 */

import { formatDuration, formatTime } from './format.js';
import { lowerBound } from './lanes.js';

/**
 * @typedef {import('./lanes.js').LaneItems} LaneItems
 * @typedef {import('./lanes.js').PointItems} PointItems
 * @typedef {import('./model.js').TraceModel} TraceModel
 */

/**
 * As high as the strip is.
 * @param {TraceModel} model
 */
export function cpusOf(model) {
        return Math.max(1, model.nCpus, model.nCpus > 0 ? 0 : model.lanesOfKind('cpu').length);
}

/**
 * The mean between a value and the next one.
 * @param {PointItems} items
 * @param {number} i
 */
export function meanAfter(items, i) {
        return (items.first[i + 1] - items.first[i]) / (items.begin[i + 1] - items.begin[i]);
}

/**
 * meanAt() - the mean between the two values around an instant
 * @param {LaneItems|null} items
 * @param {number} ns
 * @returns {{ mean: number, begin: number, end: number }|null} null before the first value and after the last
 */
export function meanAt(items, ns) {
        const i = items ? lowerBound(items.begin, ns + 1e-6, 0, items.n) - 1 : -1;

        if (!items || !items.isPoints || i < 0 || i + 1 >= items.n)
                return null;
        return { mean: meanAfter(items, i), begin: items.begin[i], end: items.begin[i + 1] };
}

/** @param {number} n */
function shortNumber(n) {
        return String(Number(n.toFixed(2)));
}

/**
 * A line each.
 * @param {TraceModel} model
 * @param {{ begin: number, end: number, ran: number, wanted: number }} hit
 */
export function wordsOfParallel(model, hit) {
        const ready = Math.max(0, hit.wanted - hit.ran);

        return [`${shortNumber(hit.ran)} of ${cpusOf(model)} CPUs ran threads of the program`,
                `${shortNumber(ready)} threads could run and did not`,
                'the rest was idle, or other programs had it',
                `mean of ${formatDuration(hit.end - hit.begin)}, at ${formatTime(hit.begin)}`];
}
