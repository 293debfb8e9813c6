// SPDX-License-Identifier: MIT
/*
 * timeline_flows.js - arrows from where work was handed over to where it was taken, for all in view, on the switch of wake-ups
 *
 * Way of the data:  source.arrows(), timeline_rows -> [timeline_flows] -> timeline_arrows, a canvas
 *
 * The source gives the longest of a view.  The last reply is drawn until that for a view that moved is there.
 */

import { formatCount, formatPlural } from './format.js';
import { clipLine, paintHead } from './timeline_launches.js';
import { AXIS_PX, xOfTime } from './timeline_paint.js';

/**
 * @typedef {import('./source_server.js').ArrowsOfView} ArrowsOfView
 * @typedef {import('./screen_timeline.js').TimelineScreen} TimelineScreen
 * @typedef {import('./timeline_paint.js').TimelineFrame} TimelineFrame
 * @typedef {{ from: { x: number, y: number }, to: { x: number, y: number } }} FlowArrow  in pixels
 */

const ARROW_STEP_PX = 2;

/**
 * thinFlows() - at most one arrow from two pixels of a row to two of another one
 * @param {FlowArrow[]} arrows
 */
export function thinFlows(arrows) {
        /** @type {Map<string, FlowArrow>} */
        const places = new Map();

        for (const arrow of arrows) {
                const key = [arrow.from, arrow.to].map(({ x, y }) => `${Math.floor(x / ARROW_STEP_PX)} ${y}`).join();

                if (!places.has(key))
                        places.set(key, arrow);
        }
        return [...places.values()];
}

export class TimelineFlows {
        /** @param {TimelineScreen} timeline */
        constructor(timeline) {
                this.timeline = timeline;
                this.viewer = timeline.viewer;
                /** Whether the trace has some. */
                this.hasAny = false;
                this.isLookedFor = false;
                this.isAsking = false;
                /** The view that `found` is of. */
                this.view = '';
                /** @type {ArrowsOfView|null} */
                this.found = null;
                /**
                 * Drawn last; read by tests.
                 * @type {FlowArrow[]}
                 */
                this.shown = [];
        }

        /** Finds out whether there are some, once the trace is whole, and seen: a page in one file reads all of them for that. */
        async lookFor() {
                const { model, source } = this.viewer;

                if (this.isLookedFor || model.isLive || model.progress < 1)
                        return;
                this.isLookedFor = true;
                await this.timeline.cache.painted;
                const found = await source.arrows(0, model.duration_ns + 1).catch(() => null);

                this.hasAny = found !== null && found.n > 0;
                if (this.hasAny)
                        this.timeline.arrange();
        }

        /** @param {TimelineFrame} frame */
        async need(frame) {
                const { from, to, model } = frame;
                const view = [from, to, model.isLive ? model.duration_ns : 0].join();

                if (this.isAsking || this.view === view)
                        return;
                this.isAsking = true;
                try {
                        this.found = await this.viewer.source.arrows(from, to);
                        this.hasAny = this.hasAny || this.found.n > 0;
                } catch (error) {
                        this.viewer.emit('failure', error);
                }
                this.isAsking = false;
                this.view = view;
                this.timeline.draw();
        }

        /**
         * The middle of the outermost lane of each track that has a row, on the canvas.
         * @param {TimelineFrame} frame
         */
        middles(frame) {
                /** @type {Map<number, number>} */
                const middles = new Map();

                for (const { lanes } of this.timeline.layout.rows)
                        for (const { lane, track, y, height } of lanes)
                                if (!middles.has(track.id) || (lane.depth === 0 && ['zones', 'device'].includes(lane.kind)))
                                        middles.set(track.id, y + height / 2 - frame.top + AXIS_PX);
                return middles;
        }

        /**
         * @param {TimelineFrame} frame
         * @returns {string}  how many there are
         */
        paint(frame) {
                this.need(frame);
                const middles = this.middles(frame);
                const arrows = (this.found?.arrows ?? []).flatMap(([fromTrack, begin, toTrack, end]) => {
                        const [fromY, toY] = [middles.get(fromTrack), middles.get(toTrack)];

                        return fromY === undefined || toY === undefined ? []
                                : [{ from: { x: xOfTime(frame, begin), y: fromY }, to: { x: xOfTime(frame, end), y: toY } }];
                });

                this.shown = thinFlows(arrows);
                paintFlows(frame, this.shown);
                const n = this.found?.n ?? 0;

                return n === 0 ? '' : this.shown.length < n ? `${formatCount(this.shown.length)} of ${formatPlural(n, 'hand-over')}`
                        : formatPlural(n, 'hand-over');
        }
}

/** @param {TimelineFrame} frame @param {FlowArrow[]} arrows */
function paintFlows(frame, arrows) {
        const { context } = frame;

        context.save();
        context.globalAlpha = 0.7;
        context.strokeStyle = context.fillStyle = frame.colors.accent;
        context.lineWidth = 1;
        for (const { from, to } of arrows) {
                const part = clipLine(from, to, { top: AXIS_PX, right: frame.width, bottom: frame.height });

                if (!part)
                        continue;
                const [begin, end] = part.map((share) => ({ x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share }));

                context.beginPath();
                context.moveTo(begin.x, begin.y);
                context.lineTo(end.x, end.y);
                context.stroke();
                if (part[1] === 1)
                        paintHead(context, end, Math.atan2(to.y - from.y, to.x - from.x));
        }
        context.restore();
}
