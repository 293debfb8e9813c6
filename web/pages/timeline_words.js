// SPDX-License-Identifier: MIT
/*
 * timeline_words.js - an item of the timeline in words, for the tooltip and for screen readers
 */

import { formatCount, formatDuration, formatPlural, formatTime, formatValue } from './format.js';
import { lowerBound } from './lanes.js';
import { wordsOfParallel } from './timeline_parallel.js';

/**
 * @typedef {import('./lanes.js').LaneItems} LaneItems
 * @typedef {import('./model.js').TraceModel} TraceModel
 * @typedef {import('./timeline_hits.js').TimelineHit} TimelineHit
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

/**
 * wordsOfHit() - a line each
 * @param {Viewer} viewer
 * @param {TimelineHit} hit
 * @param {(words: string[]) => void} [later]  called with more when it has arrived
 * @returns {string[]}
 */
export function wordsOfHit(viewer, hit, later) {
        const { model } = viewer;
        const { kind } = hit.lane.lane;
        const title = hit.lane.track.kind === 'device' ? hit.lane.track.title : hit.row.title;
        const place = `${title}, at ${formatTime(hit.begin)}`;

        if (hit.count === 0)
                return [`${title}: ${kind}, nothing here`];
        if (kind === 'cpu_time')
                return wordsOfParallel(model, { begin: hit.begin, end: hit.end, ran: hit.longestBegin, wanted: hit.longestNs,
                                                causes: hit.causes ?? null });
        if (kind === 'plot' || kind === 'counter' || kind === 'memory')
                return [hit.row.title, hit.longestBegin === hit.longestNs ? formatValue(hit.longestNs, hit.lane.track.unit)
                        : `${formatValue(hit.longestBegin, hit.lane.track.unit)} to ${formatValue(hit.longestNs, hit.lane.track.unit)}, ` +
                          `${formatPlural(hit.count, 'value')}`, `at ${formatTime(hit.begin)}`];
        if (kind === 'messages' || kind === 'samples')
                return wordsOfInstant(viewer, hit, place, later);
        const name = model.nameOf(kind, hit.what);

        if (hit.count > 1)
                return [`${formatCount(hit.count)} ${wordOfKind(kind)} within ${formatDuration(hit.end - hit.begin)}`,
                        `longest: ${name}, ${formatDuration(hit.longestNs)}`, place, 'zoom in to tell them apart'];
        if (kind === 'unrecorded')
                return [`${name}: ${formatDuration(hit.end - hit.begin)}`, place,
                        `${model.threadName(hit.what)} was ready to run here, and no recorded thread had this CPU: another program, ` +
                        'the kernel, or none, by the CPU quota', 'hyprof record -a records all programs'];
        return [`${name}: ${formatDuration(hit.end - hit.begin)}`, place, ...(kind === 'zones' ? placeOfZone(model, hit.what) : []),
                ...(kind === 'device' && hit.lane.track.unit ? [hit.lane.track.unit] : [])];
}

/** @param {string} kind */
function wordOfKind(kind) {
        /** @type {{ [kind: string]: string }} */
        const words = { zones: 'zones', ghosts: 'ghost zones', states: 'states', cpu: 'runs', frames: 'frames', holder: 'holds',
                        waiters: 'waits', device: 'device zones', unrecorded: 'stretches of other programs',
                        messages: 'messages', samples: 'samples' };

        return words[kind] ?? 'items';
}

/** @param {TraceModel} model @param {number} location */
function placeOfZone(model, location) {
        const found = model.location(location);

        return found && found.place ? [`${found.function ? `${found.function}, ` : ''}${found.place}`] : [];
}

/**
 * @param {Viewer} viewer
 * @param {TimelineHit} hit
 * @param {string} place
 * @param {(words: string[]) => void} [later]
 */
function wordsOfInstant(viewer, hit, place, later) {
        const isMessage = hit.lane.lane.kind === 'messages';
        const words = [hit.count > 1 ? `${formatCount(hit.count)} ${wordOfKind(hit.lane.lane.kind)}` : isMessage ? 'message' : 'sample',
                       place];

        if (!later || hit.count > 1)
                return words;
        if (isMessage)
                viewer.source.strings([hit.what], 'messages').then((texts) => later([texts[0] ?? '', place]), () => {});
        else if (hit.what !== 0)
                viewer.source.stack(hit.what).then((stack) => later([...words, ...stack.frames.slice(0, 12).map((frame) => frame.name),
                        ...(stack.frames.length > 12 ? [`… ${stack.frames.length - 12} more`] : [])]), () => {});
        return words;
}

/**
 * The words of an item.  A zone also gets its self time, if the zones inside it are at hand.
 * @param {Viewer} viewer
 * @param {import('./lane_cache.js').LaneCache} cache
 * @param {TimelineHit} hit
 * @param {(words: string[]) => void} [later]
 */
export function wordsWithSelf(viewer, cache, hit, later) {
        const words = wordsOfHit(viewer, hit, later);

        if (hit.count !== 1 || !['zones', 'device', 'ghosts'].includes(hit.lane.lane.kind))
                return words;
        const inner = hit.lane.track.lanes.find((lane) => lane.kind === hit.lane.lane.kind && lane.depth === hit.lane.lane.depth + 1);
        const items = inner ? cache.covering(inner.id, hit.begin, hit.end) : null;
        const self = inner ? items && selfTimeOf(items, hit.begin, hit.end) : hit.end - hit.begin;

        if (self !== null)
                words.splice(1, 0, `self ${formatDuration(self)}`);
        return words;
}

/**
 * The time of a span outside of the spans inside it.
 * @param {LaneItems} items  of the lane below
 * @param {number} begin
 * @param {number} end
 * @returns {number|null} null if some of the inner spans are folded, so that their sum is not known
 */
export function selfTimeOf(items, begin, end) {
        if (items.isPoints)
                return null;
        let inside = 0;

        for (let i = lowerBound(items.begin, begin, 0, items.n); i < items.n && items.begin[i] < end; i++) {
                if (items.count[i] !== 1)
                        return null;
                inside += items.end[i] - items.begin[i];
        }
        return end - begin - inside;
}
