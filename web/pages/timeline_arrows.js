// SPDX-License-Identifier: MIT
/*
 * timeline_arrows.js - arrows from threads that woke others, for all wake-ups in view, and of flows, on a switch
 *
 * Way of the data:  lane_cache: the states of threads, timeline_flows -> [timeline_arrows] -> a canvas
 *
 * The states that are drawn say who woke a thread, so nothing is asked for.  At most one arrow between two rows for each
 * two pixels, at most ARROWS_MAX in all: then those after the longest waits are drawn, which stay when the view moves.
 */

import { button, el, setAttributes } from './dom.js';
import { formatCount, formatPlural } from './format.js';
import { lowerBound } from './lanes.js';
import { STATE_RUNNABLE, STATE_WAITING } from './model.js';
import { TimelineFlows } from './timeline_flows.js';
import { AXIS_PX, xOfTime } from './timeline_paint.js';
import { paintWakeUp } from './timeline_wakes.js';

/**
 * @typedef {import('./lanes.js').SpanItems} SpanItems
 * @typedef {import('./screen_timeline.js').TimelineScreen} TimelineScreen
 * @typedef {import('./timeline_paint.js').TimelineFrame} TimelineFrame
 * @typedef {import('./timeline_rows.js').LaneRow} LaneRow
 * @typedef {import('./timeline_rows.js').TimelineRow} TimelineRow
 */

/** @typedef {{ x: number, from: number|null, to: number, waited_ns: number }} WakeArrow  in pixels; `from`: null = it has no row */
/** @typedef {{ arrows: WakeArrow[], nAll: number, isFolded: boolean }} WakeArrows  `isFolded`: shorter states are not told apart */

export const ARROWS_MAX = 500;
const ARROW_STEP_PX = 2;
/** The length of an arrow from a thread that has no row. */
const STUB_PX = 9;
const HEAD_PX = 5;

/**
 * wakeUpsOfItems() - the wake-ups in the states of one thread
 * @param {SpanItems} items
 * @param {number} from
 * @param {number} to
 * @returns {{ wakeUps: { at: number, waker: number, waited_ns: number }[], isFolded: boolean }}
 */
export function wakeUpsOfItems(items, from, to) {
        const wakeUps = [];
        let isFolded = false;

        for (let i = Math.max(0, lowerBound(items.begin, from, 0, items.n) - 1); i < items.n && items.begin[i] < to; i++) {
                const waker = items.what[i] & 0x0fffffff;
                const at = items.longestBegin[i];
                const isAfterWait = i > 0 && items.count[i] === 1 && items.what[i - 1] >>> 28 === STATE_WAITING &&
                        items.end[i - 1] === items.begin[i];

                isFolded = isFolded || items.count[i] > 1;
                if (items.what[i] >>> 28 === STATE_RUNNABLE && waker !== 0 && at >= from && at < to)
                        wakeUps.push({ at, waker, waited_ns: isAfterWait ? items.longestNs[i - 1] : 0 });
        }
        return { wakeUps, isFolded };
}

/**
 * thinArrows() - those that are drawn
 * @param {WakeArrow[]} arrows
 * @returns {WakeArrow[]}
 */
export function thinArrows(arrows) {
        /** @type {Map<string, WakeArrow>} */
        const places = new Map();

        for (const arrow of arrows) {
                const key = `${Math.floor(arrow.x / ARROW_STEP_PX)} ${arrow.from} ${arrow.to}`;
                const other = places.get(key);

                if (!other || other.waited_ns < arrow.waited_ns)
                        places.set(key, arrow);
        }
        const shown = [...places.values()];

        return shown.length <= ARROWS_MAX ? shown : shown.sort((a, b) => b.waited_ns - a.waited_ns).slice(0, ARROWS_MAX);
}

export class TimelineArrows {
        /** @param {TimelineScreen} timeline */
        constructor(timeline) {
                this.timeline = timeline;
                this.button = button('Wake-ups', () => this.toggle(), {
                        title: 'arrows from threads that woke others, and from where work was handed over to where it was taken (U)' });
                this.note = el('span', { class: 'muted' });
                this.flows = new TimelineFlows(timeline);
                /**
                 * Drawn last; read by tests.
                 * @type {WakeArrow[]}
                 */
                this.shown = [];
        }

        toggle() {
                const { choice, viewer } = this.timeline;

                choice.showsWakes = !choice.showsWakes;
                viewer.announce(choice.showsWakes ? 'arrows shown' : 'arrows hidden');
                this.timeline.keepChoice();
        }

        /** The switch as the choice is; there is none where no states are. */
        say() {
                const { choice, viewer } = this.timeline;
                const hasStates = viewer.model.tracks.some((track) => track.lanes.some((lane) => lane.kind === 'states'));

                setAttributes(this.button, { 'aria-pressed': String(choice.showsWakes), hidden: !hasStates && !this.flows.hasAny });
                this.button.textContent = !this.flows.hasAny ? 'Wake-ups' : hasStates ? 'Wake-ups, flows' : 'Flows';
                this.flows.lookFor();
                this.note.hidden = !choice.showsWakes;
        }

        /**
         * @param {TimelineFrame} frame
         * @param {TimelineRow[]} rows  in sight
         */
        paint(frame, rows) {
                this.shown = this.flows.shown = [];
                if (!this.timeline.choice.showsWakes || this.timeline.path.isShown())
                        return;
                const all = this.inView(frame, rows);

                this.shown = thinArrows(all.arrows);
                paintArrows(frame, this.shown);
                const words = [this.flows.paint(frame), all.nAll > 0 || !this.flows.hasAny ? wordsOfArrows(this.shown.length, all) : '']
                        .filter((one) => one !== '').join('; ');

                if (this.note.textContent !== words)
                        this.note.textContent = words;
        }

        /** @param {TimelineFrame} frame @param {TimelineRow[]} rows @returns {WakeArrows} */
        inView(frame, rows) {
                const middles = this.middles(frame);
                /** @type {WakeArrows} */
                const all = { arrows: [], nAll: 0, isFolded: false };

                for (const row of rows)
                        for (const lane of row.lanes) {
                                const items = lane.lane.kind === 'states' && lane.track.kind === 'thread'
                                        ? frame.cache.best(lane.lane.id, frame.from, frame.to, frame.bucketLog2) : null;

                                if (!items || items.isPoints)
                                        continue;
                                const found = wakeUpsOfItems(items, frame.from, frame.to);
                                const to = lane.y + lane.height / 2 - frame.top + AXIS_PX;

                                all.isFolded = all.isFolded || found.isFolded;
                                for (const { at, waker, waited_ns } of found.wakeUps)
                                        all.arrows.push({ x: xOfTime(frame, at), from: middles.get(waker) ?? null, to, waited_ns });
                        }
                return { ...all, nAll: all.arrows.length };
        }

        /**
         * The middle of the states of each thread that has a row, on the canvas.
         * @param {TimelineFrame} frame
         */
        middles(frame) {
                /** @type {Map<number, number>} */
                const middles = new Map();

                for (const { track, lanes } of this.timeline.layout.rows)
                        if (track?.kind === 'thread' && track.thread !== null && lanes.length > 0)
                                middles.set(track.thread, lanes[0].y + lanes[0].height / 2 - frame.top + AXIS_PX);
                return middles;
        }
}

/**
 * @param {number} nShown
 * @param {WakeArrows} all
 */
function wordsOfArrows(nShown, all) {
        const words = nShown < all.nAll ? `${formatCount(nShown)} of ${formatPlural(all.nAll, 'wake-up')}, after the longest waits`
                : formatPlural(nShown, 'wake-up');

        return all.isFolded ? `${words}; zoom in for shorter ones` : words;
}

/** @param {TimelineFrame} frame @param {WakeArrow[]} arrows */
function paintArrows(frame, arrows) {
        const { context } = frame;

        context.save();
        context.beginPath();
        context.rect(0, AXIS_PX, frame.width, frame.height - AXIS_PX);
        context.clip();
        context.globalAlpha = 0.7;
        context.strokeStyle = context.fillStyle = frame.colors.accent;
        context.lineWidth = 1;
        context.beginPath();
        for (const { x, from, to } of arrows) {
                context.moveTo(x, Math.max(AXIS_PX - 1, Math.min(frame.height + 1, from ?? to - STUB_PX)));
                context.lineTo(x, to);
        }
        context.stroke();
        context.beginPath();
        for (const { x, from, to } of arrows) {
                const way = (from ?? to - STUB_PX) <= to ? 1 : -1;

                context.moveTo(x, to);
                context.lineTo(x - HEAD_PX / 2, to - HEAD_PX * way);
                context.lineTo(x + HEAD_PX / 2, to - HEAD_PX * way);
        }
        context.fill();
        context.restore();
}

/**
 * The arrow of one wake-up, which an item of the timeline stands for.
 * @param {TimelineScreen} timeline
 * @param {TimelineFrame} frame
 * @param {import('./timeline_wakes.js').WakeUp} wakeUp
 */
export function paintWakerOf(timeline, frame, wakeUp) {
        const woken = timeline.rowOf(wakeUp.lane);
        const waker = timeline.rowOfThread(wakeUp.waker);
        /** @param {LaneRow|null} row */
        const middleOf = (row) => row && row.y + row.height / 2 - frame.top + AXIS_PX;

        paintWakeUp(frame, wakeUp.at, { y: middleOf(waker), name: frame.model.threadName(wakeUp.waker) },
                    { y: middleOf(woken), name: woken ? woken.track.title : '' });
}
