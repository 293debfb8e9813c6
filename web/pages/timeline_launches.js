// SPDX-License-Identifier: MIT
/*
 * timeline_launches.js - the arrows between a zone of a thread and where its work went: to devices, to other zones
 *
 * Way of the data:  a zone -> source.launches(), source.find() -> [timeline_launches] -> a canvas, instance_panel
 *
 * A zone and work of a device said the same key: their arrow goes from begin to begin.  Zones of threads follow each other
 * in a flow: their arrow goes from where work was handed over to where it was taken.
 */

import { formatDuration } from './format.js';
import { paintName } from './timeline_marks.js';
import { AXIS_PX, xOfTime } from './timeline_paint.js';
import { keysAround } from './timeline_rows.js';

/**
 * @typedef {import('./model.js').TraceModel} TraceModel
 * @typedef {import('./model.js').TrackOfModel} TrackOfModel
 * @typedef {import('./source_server.js').FoundSpan} FoundSpan
 * @typedef {import('./source_server.js').LaunchEnd} LaunchEnd
 * @typedef {import('./source_server.js').TraceSource} TraceSource
 * @typedef {import('./timeline_hits.js').TimelineHit} TimelineHit
 * @typedef {import('./timeline_paint.js').TimelineFrame} TimelineFrame
 * @typedef {import('./screen_timeline.js').TimelineScreen} TimelineScreen
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

/** The arrows that are drawn for one zone; more are counted. */
const LAUNCHES_SHOWN_MAX = 16;
/** The lanes of one question to the server. */
const LANES_MAX = 256;

/**
 * `span`: the zone as its lane has it; null while it is not over, and outside of zones.  The arrow is at `at`, and at `own` in the
 * chosen zone; `isFrom`: it begins there.
 * @typedef {{ track: TrackOfModel, begin: number, what: number, span: (FoundSpan & { lane: number })|null, at: number,
 *             own: number, isFrom: boolean }} LaunchPlace
 * @typedef {{ hit: TimelineHit, n: number, ends: LaunchPlace[] }} Launches  `n`: with those that are not among `ends`
 */

/** The arrows of the chosen zone. */
export class TimelineLaunches {
        /** @param {Viewer} viewer @param {TimelineScreen} timeline */
        constructor(viewer, timeline) {
                this.viewer = viewer;
                this.timeline = timeline;
                /** @type {Launches|null} */
                this.found = null;
        }

        /**
         * Draws the arrows of a zone, and names their other ends in the panel, once they are known.
         * @param {TimelineHit|null} hit
         */
        async show(hit) {
                this.found = null;
                const found = hit && await launchesOf(this.viewer.source, this.viewer.model, hit).catch(() => null);

                if (!found || this.timeline.chosen !== hit)
                        return;
                this.found = found;
                this.timeline.panel.showLaunches(found);
                this.timeline.draw();
        }

        /**
         * Goes to an other end, which is unfolded if it is folded away.
         * @param {LaunchPlace} end
         */
        goTo(end) {
                const { timeline } = this;

                if (!end.span)
                        return;
                const { track, span } = end;
                const isShown = timeline.layout.rows.some((row) => row.track === track &&
                        row.lanes.some((one) => one.lane.id === span.lane));

                if (!isShown)
                        timeline.labels.open(keysAround(end.track));
                timeline.chooseFound(end.span.lane, end.span);
                if (timeline.chosen)
                        timeline.reveal(timeline.chosen.lane, timeline.chosen);
        }

        /**
         * The middle of a lane on the canvas; for one that is folded away, of the row that stands for it.
         * @param {TimelineFrame} frame
         * @param {TrackOfModel} track
         * @param {number|null} lane
         */
        middleOf(frame, track, lane) {
                const keys = keysAround(track);
                const row = (lane === null ? null : this.timeline.rowOf(lane)) ??
                        [...this.timeline.layout.rows].reverse().find((one) => one.track === track || keys.includes(one.key));

                return row ? row.y + row.height / 2 - frame.top + AXIS_PX : AXIS_PX;
        }

        /**
         * Draws an arrow for each pair.  An end that is out of sight is named where the arrow leaves the picture.
         * @param {TimelineFrame} frame
         */
        paint(frame) {
                if (!this.found)
                        return;
                const { hit, ends } = this.found;
                const y = this.middleOf(frame, hit.lane.track, hit.lane.lane.id);

                frame.context.strokeStyle = frame.context.fillStyle = frame.colors.accent;
                frame.context.lineWidth = 1.5;
                for (const end of ends) {
                        const own = { x: xOfTime(frame, end.own), y, name: hit.lane.track.title };
                        const other = { x: xOfTime(frame, end.at), y: this.middleOf(frame, end.track, end.span?.lane ?? null),
                                        name: `${nameOfEnd(frame.model, end)} on ${end.track.title}` };

                        paintArrow(frame, end.isFrom ? other : own, end.isFrom ? own : other);
                }
        }
}

/**
 * launchesOf() - the other ends of the arrows of a zone
 * @param {TraceSource} source
 * @param {TraceModel} model
 * @param {TimelineHit} hit
 * @returns {Promise<Launches|null>} null if it has none
 */
export async function launchesOf(source, model, hit) {
        const { kind, id } = hit.lane.lane;

        if (hit.count !== 1 || !['zones', 'device'].includes(kind))
                return null;
        const found = await source.launches(id, hit.begin, hit.what);
        const ends = await Promise.all(found.ends.slice(0, LAUNCHES_SHOWN_MAX).map((end) => placeOfEnd(source, model, end)));
        const known = /** @type {LaunchPlace[]} */ (ends.filter((end) => end !== null));

        return known.length > 0 ? { hit, n: found.n, ends: known } : null;
}

/**
 * @param {TraceSource} source
 * @param {TraceModel} model
 * @param {LaunchEnd} end
 * @returns {Promise<LaunchPlace|null>} null for a track that the page does not know yet
 */
async function placeOfEnd(source, model, end) {
        const track = model.tracksById.get(end.track);

        if (!track)
                return null;
        const lanes = track.lanes.filter((lane) => lane.kind === (track.kind === 'device' ? 'device' : 'zones')).slice(0, LANES_MAX);
        /** @type {LaunchPlace["span"]} */
        let span = null;

        /* In a page whose short zones are merged, the zone may be part of an item with another name. */
        for (const what of lanes.length > 0 && end.what !== 0 ? [end.what, null] : []) {
                if (span)
                        break;
                const found = await source.find(lanes.map((lane) => lane.id), end.begin_ns + 1, 'previous', what);

                if (found && (found.begin_ns === end.begin_ns || (model.file?.merged_below_ns && found.end_ns > end.begin_ns)))
                        span = { lane: lanes[0].id, ...found };
        }
        return { track, begin: end.begin_ns, what: end.what, span, at: end.at_ns, own: end.own_ns, isFrom: end.is_from };
}

/** @param {TraceModel} model @param {LaunchPlace} end */
function nameOfEnd(model, end) {
        return end.what === 0 ? 'no zone' : model.locationName(end.what);
}

/**
 * wordsOfLaunch() - "submitted by forward in main, began 12 us later"
 * @param {TraceModel} model
 * @param {Launches} launches
 * @param {LaunchPlace} end
 */
export function wordsOfLaunch(model, launches, end) {
        const name = nameOfEnd(model, end);
        const ns = end.isFrom ? end.own - end.at : end.at - end.own;
        const when = `${formatDuration(Math.abs(ns))} ${ns < 0 ? 'earlier' : 'later'}`;

        if (launches.hit.lane.lane.kind === 'device')
                return `submitted by ${name} in ${end.track.title}, began ${when}`;
        if (end.track.kind === 'device')
                return `ran on ${end.track.title}: ${name}, ${when}${end.track.unit ? ` (${end.track.unit})` : ''}`;
        return end.isFrom ? `handed over by ${name} in ${end.track.title}, taken ${when}`
                : `taken over by ${name} in ${end.track.title}, ${when}`;
}

/**
 * clipLine() - the part of a line within a rectangle from (0, top) to (right, bottom), as shares of its length
 * @param {{ x: number, y: number }} from
 * @param {{ x: number, y: number }} to
 * @param {{ top: number, right: number, bottom: number }} box
 * @returns {[number, number]|null} null if no part of it is
 */
export function clipLine(from, to, box) {
        let first = 0;
        let last = 1;

        for (const [at, step, low, high] of [[from.x, to.x - from.x, 0, box.right], [from.y, to.y - from.y, box.top, box.bottom]]) {
                if (step === 0) {
                        if (at < low || at > high)
                                return null;
                        continue;
                }
                const [enter, leave] = [(low - at) / step, (high - at) / step].sort((a, b) => a - b);

                first = Math.max(first, enter);
                last = Math.min(last, leave);
        }
        return first <= last ? [first, last] : null;
}

/**
 * @param {TimelineFrame} frame
 * @param {{ x: number, y: number, name: string }} from
 * @param {{ x: number, y: number, name: string }} to
 */
function paintArrow(frame, from, to) {
        const { context } = frame;
        const part = clipLine(from, to, { top: AXIS_PX, right: frame.width, bottom: frame.height });
        /** @param {number} share */
        const pointAt = (share) => ({ x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share });

        if (!part)
                return;
        const [begin, end] = part.map(pointAt);

        context.beginPath();
        context.moveTo(begin.x, begin.y);
        context.lineTo(end.x, end.y);
        context.stroke();
        if (part[0] === 0) {
                context.beginPath();
                context.arc(begin.x, begin.y, 3, 0, 7);
                context.fill();
        }
        if (part[1] === 1)
                paintHead(context, end, Math.atan2(to.y - from.y, to.x - from.x));
        for (const [isHidden, point, one] of /** @type {[boolean, {x: number, y: number}, {name: string}][]} */ (
                [[part[0] > 0, begin, from], [part[1] < 1, end, to]]))
                if (isHidden) {
                        paintName(frame, one.name, point.x + 4, Math.max(AXIS_PX + 8, Math.min(frame.height - 8, point.y)),
                                  point.x > frame.width / 2);
                        context.strokeStyle = context.fillStyle = frame.colors.accent;
                }
}

/** @param {CanvasRenderingContext2D} context @param {{ x: number, y: number }} tip @param {number} angle */
export function paintHead(context, tip, angle) {
        context.beginPath();
        context.moveTo(tip.x, tip.y);
        for (const side of [-0.45, 0.45])
                context.lineTo(tip.x - 9 * Math.cos(angle + side), tip.y - 9 * Math.sin(angle + side));
        context.fill();
}
