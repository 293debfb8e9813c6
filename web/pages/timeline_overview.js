// SPDX-License-Identifier: MIT
/*
 * timeline_overview.js - the strip above the lanes: the whole recording, with a window that can be moved and stretched
 *
 * Way of the data:  lane_cache, frame_budget -> [timeline_overview] -> a canvas; a drag -> TimelineScreen.showRange()
 *
 * It shows how many CPUs were busy, late frames as marks at its foot, the selected range, and the window of the timeline.
 */

import { themeColors } from './colors.js';
import { el, setAttributes } from './dom.js';
import { formatDuration, formatTime } from './format.js';
import { frameSetOf } from './frame_budget.js';
import { bucketOf, emptySpanItems } from './lane_cache.js';

/**
 * @typedef {import('./frame_budget.js').FrameBudgets} FrameBudgets
 * @typedef {import('./lane_cache.js').LaneCache} LaneCache
 * @typedef {import('./model.js').LaneOfModel} LaneOfModel
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

const OVERVIEW_PX = 46;
const OVERVIEW_EDGE_PX = 6;

export class TimelineOverview {
        /**
         * @param {Viewer} viewer
         * @param {LaneCache} cache
         * @param {FrameBudgets} budgets
         * @param {(from: number, to: number) => void} onRange
         */
        constructor(viewer, cache, budgets, onRange) {
                this.viewer = viewer;
                this.cache = cache;
                this.budgets = budgets;
                this.onRange = onRange;
                /** The part that the timeline shows. */
                this.from = 0;
                this.to = viewer.model.duration_ns;
                this.isAsked = false;
                this.canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { class: 'timeline-overview', tabindex: '0',
                        role: 'slider', 'aria-label': 'the part of the recording that is shown; arrows move it' }));
                this.most = el('span', { class: 'muted' });
                this.element = el('div', { class: 'timeline-strip' },
                                  el('div', { class: 'timeline-strip-name' }, el('span', {}, 'CPU load'), this.most), this.canvas);
                this.canvas.addEventListener('pointerdown', (event) => this.drag(event));
                this.canvas.addEventListener('pointermove', (event) => this.hover(event));
                this.canvas.addEventListener('keydown', (event) => this.key(event));
        }

        /** How many CPUs were busy; without that, the CPUs themselves. */
        lanes() {
                const load = this.viewer.model.tracks.find((track) => track.kind === 'load' || track.title === 'CPU load');

                if (load)
                        return load.lanes.filter((lane) => lane.kind === 'plot');
                return this.viewer.model.lanesOfKind('cpu').slice(0, 64).map((found) => found.lane);
        }

        /** Tracks of frames. */
        frames() {
                return this.viewer.model.tracks.filter((track) => track.kind === 'frames' && track.lanes.length > 0).slice(0, 8);
        }

        /**
         * @param {number} from  what the timeline shows
         * @param {number} to
         * @param {number} margin  pixels right of the lanes: those of a scroll bar
         */
        draw(from, to, margin) {
                const context = this.canvas.getContext('2d');

                this.from = from;
                this.to = to;
                this.element.style.paddingRight = `${Math.max(0, margin)}px`;
                const width = this.canvas.clientWidth;
                const scale = window.devicePixelRatio || 1;
                const { duration_ns } = this.viewer.model;

                if (!context || width < 10)
                        return;
                if (this.canvas.width !== Math.round(width * scale)) {
                        this.canvas.width = Math.round(width * scale);
                        this.canvas.height = OVERVIEW_PX * scale;
                }
                const colors = themeColors();
                const lanes = [...this.lanes(), ...this.frames().map((track) => track.lanes[0])];
                const bucket = bucketOf(duration_ns / width);

                context.setTransform(scale, 0, 0, scale, 0, 0);
                context.fillStyle = colors.surface;
                context.fillRect(0, 0, width, OVERVIEW_PX);
                context.fillStyle = colors.running;
                this.drawLoad(context, this.lanes(), width, bucket);
                this.drawLate(context, width, bucket);
                this.drawSelection(context, width);
                const left = Math.max(0, from / duration_ns * width);
                const right = Math.min(width, to / duration_ns * width);
                context.fillStyle = colors.selection;
                if (right - left < width)
                        context.fillRect(left, 0, Math.max(2, right - left), OVERVIEW_PX);
                context.strokeStyle = colors.accent;
                context.lineWidth = 1.5;
                context.strokeRect(left + 0.75, 0.75, Math.max(2, right - left) - 1.5, OVERVIEW_PX - 1.5);
                setAttributes(this.canvas, { 'aria-valuemin': '0', 'aria-valuemax': String(duration_ns),
                        'aria-valuenow': String(Math.round((from + to) / 2)),
                        'aria-valuetext': `from ${formatTime(Math.max(0, from), (to - from) / 100)}, ${formatDuration(to - from)} long` });
                if (!lanes.every((lane) => this.cache.has(lane.id, 0, duration_ns, bucket)) && !this.isAsked) {
                        this.isAsked = true;
                        this.fetch(lanes.map((lane) => lane.id), bucket);
                }
        }

        /** @param {number[]} ids @param {number} bucket */
        async fetch(ids, bucket) {
                const { model } = this.viewer;

                try {
                        const to = Math.ceil(model.duration_ns / Math.pow(2, bucket) + 1) * Math.pow(2, bucket);
                        const lanes = await this.cache.lanesOf(ids, 0, to, bucket);

                        for (const id of ids) {
                                const items = lanes.get(id);

                                this.cache.keep(id, { from: 0, to, bucketLog2: bucket, used: 0, items: items === undefined ||
                                        typeof items === 'string' ? emptySpanItems(bucket) : items });
                        }
                        this.cache.onItems();
                } catch (error) {
                        this.cache.onFailure(error);
                }
                this.isAsked = false;
        }

        /**
         * Draws a mark for each bucket whose longest frame is late.
         * @param {CanvasRenderingContext2D} context
         * @param {number} width
         * @param {number} bucket
         */
        drawLate(context, width, bucket) {
                const { duration_ns } = this.viewer.model;

                context.fillStyle = themeColors().late;
                for (const track of this.frames()) {
                        const items = this.cache.best(track.lanes[0].id, 0, duration_ns, bucket);
                        const budget = this.budgets.of(frameSetOf(track.title));

                        for (let i = 0; items && !items.isPoints && i < items.n; i++)
                                if (items.longestNs[i] > budget)
                                        context.fillRect(items.longestBegin[i] / duration_ns * width, OVERVIEW_PX - 6,
                                                         Math.max(2, items.longestNs[i] / duration_ns * width), 6);
                }
        }

        /** @param {CanvasRenderingContext2D} context @param {number} width */
        drawSelection(context, width) {
                const range = this.viewer.range();
                const { duration_ns } = this.viewer.model;

                if (!range.isSelected)
                        return;
                context.fillStyle = themeColors().accent;
                context.fillRect(range.from / duration_ns * width, 0, Math.max(2, (range.to - range.from) / duration_ns * width), 4);
        }

        /**
         * @param {CanvasRenderingContext2D} context
         * @param {LaneOfModel[]} lanes
         * @param {number} width
         * @param {number} bucket
         */
        drawLoad(context, lanes, width, bucket) {
                const { duration_ns } = this.viewer.model;
                const tall = OVERVIEW_PX / Math.max(1, lanes.length);

                lanes.forEach((lane, at) => {
                        const items = this.cache.best(lane.id, 0, duration_ns, bucket);

                        if (!items)
                                return;
                        if (items.isPoints) {
                                const most = items.max.reduce((a, b) => Math.max(a, b), 1e-9);

                                this.most.textContent = `at most ${Number(most.toPrecision(2))}`;

                                for (let i = 0; i < items.n; i++) {
                                        const x = items.begin[i] / duration_ns * width;
                                        const end = i + 1 < items.n ? items.begin[i + 1] / duration_ns * width : x + 1;
                                        const height = (items.first[i] + items.last[i]) / 2 / most * (OVERVIEW_PX - 4);

                                        context.fillRect(x, OVERVIEW_PX - height, Math.max(1, end - x), height);
                                }
                                return;
                        }
                        for (let i = 0; i < items.n; i++)
                                context.fillRect(items.begin[i] / duration_ns * width, at * tall + 1,
                                                 Math.max(0.6, (items.end[i] - items.begin[i]) / duration_ns * width), tall - 2);
                });
        }

        /** @param {PointerEvent|MouseEvent} event */
        placeOf(event) {
                const box = this.canvas.getBoundingClientRect();
                const { duration_ns } = this.viewer.model;
                const x = event.clientX - box.left;

                return { x, ns: clampTo(x / box.width, 0, 1) * duration_ns, left: this.from / duration_ns * box.width,
                         right: this.to / duration_ns * box.width, width: box.width };
        }

        /**
         * The action of a drag from here: stretches the window at an edge, moves it, or makes a new one.
         * @param {{ x: number, left: number, right: number, width: number }} place
         * @returns {'left'|'right'|'move'|'new'}
         */
        gripOf({ x, left, right, width }) {
                const isAll = left <= 1 && right >= width - 1;

                if (!isAll && Math.abs(x - left) <= OVERVIEW_EDGE_PX)
                        return 'left';
                if (!isAll && Math.abs(x - right) <= OVERVIEW_EDGE_PX)
                        return 'right';
                return !isAll && x > left && x < right ? 'move' : 'new';
        }

        /** @param {PointerEvent} event */
        hover(event) {
                const grips = { left: 'ew-resize', right: 'ew-resize', move: 'grab', new: 'crosshair' };

                if (event.buttons === 0)
                        this.canvas.style.cursor = grips[this.gripOf(this.placeOf(event))];
        }

        /** @param {PointerEvent} event */
        drag(event) {
                const { duration_ns } = this.viewer.model;
                const start = this.placeOf(event);
                const grip = this.gripOf(start);
                const { from, to } = this;
                /** @param {PointerEvent} move */
                const follow = (move) => {
                        const { ns } = this.placeOf(move);

                        if (Math.abs(move.clientX - event.clientX) <= 3)
                                return;
                        if (grip === 'move')
                                this.onRange(from + ns - start.ns, to + ns - start.ns);
                        else if (grip === 'new')
                                this.onRange(Math.min(start.ns, ns), Math.max(start.ns, ns));
                        else
                                this.onRange(Math.min(grip === 'left' ? to : from, ns), Math.max(grip === 'left' ? to : from, ns));
                };
                const done = (/** @type {PointerEvent} */ up) => {
                        const length = grip === 'new' ? duration_ns / 20 : to - from;

                        this.canvas.removeEventListener('pointermove', follow);
                        if (Math.abs(up.clientX - event.clientX) <= 3)
                                this.onRange(start.ns - length / 2, start.ns + length / 2);
                };

                this.canvas.setPointerCapture(event.pointerId);
                this.canvas.addEventListener('pointermove', follow);
                this.canvas.addEventListener('pointerup', done, { once: true });
        }

        /** @param {KeyboardEvent} event */
        key(event) {
                const length = this.to - this.from;
                const step = event.key === 'ArrowRight' ? 0.2 : event.key === 'ArrowLeft' ? -0.2 : 0;
                const factor = event.key === 'ArrowUp' ? 0.7 : event.key === 'ArrowDown' ? 1 / 0.7 : 1;
                const middle = (this.from + this.to) / 2 + step * length;

                if (step === 0 && factor === 1)
                        return;
                this.onRange(middle - length * factor / 2, middle + length * factor / 2);
                event.preventDefault();
                event.stopPropagation();
        }
}

/** @param {number} value @param {number} least @param {number} most */
export function clampTo(value, least, most) {
        return Math.max(least, Math.min(most, value));
}
