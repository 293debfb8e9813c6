// SPDX-License-Identifier: MIT
/*
 * timeline_parallel.js - how many CPUs ran threads of the program, and how many threads could have run and did not;
 * without a page
 *
 * Way of the data:  lane_cache: sums of CPU time; cause_steps -> [timeline_parallel] -> timeline_paint, timeline_words
 *
 * The lanes add up CPU time, so the mean between two of their values is exact, however much lies between them.  The first
 * lane is what ran, the second that and what could have run.
 */

import { CAUSES, mixOfCauses } from './cause_steps.js';
import { formatDuration, formatShare, formatTime } from './format.js';
import { lowerBound } from './lanes.js';

/**
 * @typedef {import('./cause_steps.js').CauseMix} CauseMix
 * @typedef {import('./cause_steps.js').CauseSteps} CauseSteps
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
 * @typedef {{ begin: number, end: number, ran: number, cores: number[]|null }} ParallelPart  a part of the strip; `cores`: by
 *             cause, which are with `ran` all CPUs; null = not known
 */

/**
 * partsOfParallel() - the parts of a view from left to right
 * Sums of CPU time say exactly what ran.  The steps of the causes divide the rest.
 * @param {PointItems|null} ran  sums of CPU time; null = there are none, and the steps say what ran
 * @param {CauseSteps|null} steps
 * @param {{ from: number, to: number, nCpus: number }} view
 * @returns {ParallelPart[]}
 */
export function partsOfParallel(ran, steps, { from, to, nCpus }) {
        const begins = ran ? ran.begin : steps ? steps.begin : new Float64Array(0);
        const n = ran ? ran.n - 1 : steps ? steps.n : 0;
        /** @type {ParallelPart[]} */
        const parts = [];
        /** @param {number} begin @param {number} end @param {number|null} mean */
        const put = (begin, end, mean) => {
                const mix = steps && mixOfCauses(steps, begin, end);
                const idle = mix ? mix.cores.reduce((sum, cores) => sum + cores, 0) : 0;
                const running = mean ?? (mix ? mix.running : 0);
                const free = Math.max(0, nCpus - running);

                parts.push({ begin, end, ran: running, cores: mix && idle > 0 ? mix.cores.map((cores) => cores / idle * free) : null });
        };

        for (let i = Math.max(0, lowerBound(begins, from, 0, n) - 1); i < n && begins[i] < to; i++) {
                if (!ran) {
                        put(begins[i], /** @type {CauseSteps} */ (steps).end[i], null);
                        continue;
                }
                const ends = steps ? edgesOf(steps, begins[i], begins[i + 1]) : [begins[i + 1]];

                ends.forEach((end, k) => put(k === 0 ? begins[i] : ends[k - 1], end, meanAfter(ran, i)));
        }
        return parts;
}

/**
 * Where steps begin and end between two instants, and the second of these: what ran is the same for so long, but the causes
 * are not.
 * @param {CauseSteps} steps
 * @param {number} begin
 * @param {number} end
 */
function edgesOf(steps, begin, end) {
        const edges = [];

        for (let i = Math.max(0, lowerBound(steps.begin, begin, 0, steps.n) - 1); i < steps.n && steps.begin[i] < end; i++)
                for (const edge of [steps.begin[i], steps.end[i]])
                        if (edge > Math.max(begin, edges[edges.length - 1] ?? 0) && edge < end)
                                edges.push(edge);
        return [...edges, end];
}

/**
 * The causes in the order of their shares, the largest first, as the report calls them.
 * @param {CauseMix} mix
 * @param {number} nCpus
 */
export function sharesOfCauses(mix, nCpus) {
        return CAUSES.map((word, cause) => ({ word, share: mix.cores[cause] / nCpus })).filter((one) => one.share >= 0.0005)
                .sort((a, b) => b.share - a.share);
}

/**
 * A line each.
 * @param {TraceModel} model
 * @param {{ begin: number, end: number, ran: number, wanted: number, causes: CauseMix|null }} hit
 */
export function wordsOfParallel(model, hit) {
        const ready = Math.max(0, hit.wanted - hit.ran);
        const { causes } = hit;
        const n = cpusOf(model);
        const isElsewhere = causes !== null && (causes.begin !== hit.begin || causes.end !== hit.end);

        return [`${shortNumber(hit.ran)} of ${n} CPUs ran threads of the program`,
                ...(hit.wanted > hit.ran ? [`${shortNumber(ready)} threads could run and did not`] : []),
                ...(causes ? sharesOfCauses(causes, n).map(({ word, share }) => `${formatShare(share)} of the CPUs: ${word}`)
                        : ['the rest was idle, or other programs had it']),
                `mean of ${formatDuration(hit.end - hit.begin)}, at ${formatTime(hit.begin)}`,
                ...(isElsewhere ? [`causes: mean of ${formatDuration(causes.end - causes.begin)}, at ${formatTime(causes.begin)}`] : [])];
}
