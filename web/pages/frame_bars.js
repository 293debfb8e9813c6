// SPDX-License-Identifier: MIT
/*
 * frame_bars.js - all frames of a set, one after the other: how long each lasted, and which were late
 *
 * Way of the data:  source.lanes(), frame_budget -> [frame_bars] -> the screen Frames
 *
 * If several frames share a pixel, the longest is drawn.  A click selects that frame.
 */

import { wordsOf } from './answer_screen.js';
import { themeColors } from './colors.js';
import { el } from './dom.js';
import { formatCount, formatDuration, formatTime } from './format.js';
import { frameSetOf } from './frame_budget.js';
import { bucketOf } from './lane_cache.js';
import { lowerBound } from './lanes.js';

/**
 * @typedef {import('./frame_budget.js').FrameBudgets} FrameBudgets
 * @typedef {import('./lanes.js').SpanItems} SpanItems
 * @typedef {import('./model.js').TrackOfModel} TrackOfModel
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

/** Before the chart is on the page; the most for which bars are asked for. */
const [FRAME_BARS_WIDTH, FRAME_BARS_WIDTH_MAX] = [1000, 4000];
const FRAME_BARS_HEIGHT = 110;

export class FrameBars {
        /**
         * @param {Viewer} viewer
         * @param {TrackOfModel} track
         * @param {FrameBudgets} budgets
         * @param {(begin: number, ns: number) => void} onChoose
         */
        constructor(viewer, track, budgets, onChoose) {
                this.viewer = viewer;
                this.track = track;
                this.budgets = budgets;
                this.onChoose = onChoose;
                /** @type {SpanItems|null} */
                this.items = null;
                this.range = viewer.range();
                this.canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { role: 'img' }));
                this.words = el('p', { class: 'muted', role: 'status' }, 'a click selects a frame');
                this.element = el('figure', { class: 'frame-bars' }, el('figcaption', {}, `${track.title}, in the order of time`),
                                  this.canvas, this.words);
                this.canvas.addEventListener('pointermove', (event) => this.hover(event));
                this.canvas.addEventListener('click', (event) => this.click(event));
                this.width = FRAME_BARS_WIDTH;
                new ResizeObserver(() => this.draw()).observe(this.element);
                this.fetch();
        }

        async fetch() {
                const { from, to } = this.range = this.viewer.range();
                const [lane] = this.track.lanes;

                if (!lane)
                        return;
                try {
                        const lanes = await this.viewer.source.lanes([lane.id], from, to, bucketOf((to - from) / FRAME_BARS_WIDTH_MAX));
                        const items = lanes.get(lane.id);

                        this.items = items && !items.isPoints ? items : null;
                        this.draw();
                } catch (error) {
                        this.words.textContent = wordsOf(error);
                }
        }

        /** @param {number} ns */
        x(ns) {
                return (ns - this.range.from) / (this.range.to - this.range.from) * this.width;
        }

        draw() {
                const { items, canvas } = this;
                const context = canvas.getContext('2d');
                const scale = window.devicePixelRatio || 1;
                const budget = this.budgets.of(frameSetOf(this.track.title));
                const colors = themeColors();
                let most = isFinite(budget) ? budget : 1;

                this.width = canvas.clientWidth || FRAME_BARS_WIDTH;
                canvas.width = this.width * scale;
                canvas.height = FRAME_BARS_HEIGHT * scale;
                if (!context || !items)
                        return;
                for (let i = 0; i < items.n; i++)
                        most = Math.max(most, items.longestNs[i]);
                /** @param {number} ns */
                const height = (ns) => ns / most * (FRAME_BARS_HEIGHT - 6);

                context.scale(scale, scale);
                for (let i = 0; i < items.n; i++) {
                        const left = this.x(items.longestBegin[i]);
                        const width = Math.max(1, this.x(items.longestBegin[i] + items.longestNs[i]) - left - 0.5);
                        const tall = height(items.longestNs[i]);

                        context.fillStyle = items.longestNs[i] > budget ? colors.late : colors.folded;
                        context.fillRect(left, FRAME_BARS_HEIGHT - tall, width, tall);
                }
                canvas.setAttribute('aria-label', `${this.track.title}: durations in the order of time, the longest ` +
                        formatDuration(most) + (isFinite(budget) ? `; late from ${formatDuration(budget)} on` : ''));
                if (!isFinite(budget))
                        return;
                context.fillStyle = colors.text;
                context.fillRect(0, FRAME_BARS_HEIGHT - height(budget), this.width, 1);
                context.font = '11px system-ui, sans-serif';
                context.fillText(`late above ${formatDuration(budget)}`, 4, Math.max(12, FRAME_BARS_HEIGHT - height(budget) - 4));
        }

        /** @param {MouseEvent} event  the item under it, by index; -1 = none */
        itemAt(event) {
                const box = this.canvas.getBoundingClientRect();
                const { items, range } = this;
                const ns = range.from + (event.clientX - box.left) / box.width * (range.to - range.from);
                const near = (range.to - range.from) / this.width;

                for (let i = items ? Math.max(0, lowerBound(items.begin, ns + near, 0, items.n) - 2) : 0; items && i < items.n; i++)
                        if (ns <= items.end[i] + near)
                                return items.begin[i] <= ns + near ? i : -1;
                return -1;
        }

        /** @param {PointerEvent} event */
        hover(event) {
                const at = this.itemAt(event);
                const { items } = this;

                this.canvas.style.cursor = at >= 0 ? 'pointer' : 'default';
                if (!items || at < 0)
                        return;
                const late = items.longestNs[at] > this.budgets.of(frameSetOf(this.track.title)) ? ', late' : '';

                this.words.textContent = `frame ${formatCount(items.what[at])}: ${formatDuration(items.longestNs[at])}${late}, at ` +
                        formatTime(items.longestBegin[at]) +
                        (items.count[at] > 1 ? ` (the longest of ${formatCount(items.count[at])} here)` : '');
        }

        /** @param {MouseEvent} event */
        click(event) {
                const at = this.itemAt(event);

                if (this.items && at >= 0)
                        this.onChoose(this.items.longestBegin[at], this.items.longestNs[at]);
        }
}
