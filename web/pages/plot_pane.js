// SPDX-License-Identifier: MIT
/*
 * plot_pane.js - the curves of some kinds of tracks, over the selected range
 *
 * Way of the data:  model.tracks, source.lanes() -> [plot_pane] -> the screens Memory and Counters
 */

import { themeColors } from './colors.js';
import { el } from './dom.js';
import { formatValue } from './format.js';

/**
 * @typedef {import('./viewer.js').ViewState} ViewState
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

/** Before a plot is on the page; the most for which values are asked for. */
const [PLOT_WIDTH, PLOT_WIDTH_MAX] = [1000, 4000];
const PLOT_HEIGHT = 90;
const PLOTS_MAX = 40;

export class PlotPane {
        /** @param {Viewer} viewer @param {string[]} kinds  of tracks */
        constructor(viewer, ...kinds) {
                this.viewer = viewer;
                this.tracks = viewer.model.tracks.filter((/** @type {any} */ track) => kinds.includes(track.kind)).slice(0, PLOTS_MAX);
                this.element = el('div', { class: 'plots' });
                this.shown = '';
        }

        /** @param {ViewState} state */
        async show(state) {
                const from = Number(state.from ?? 0);
                const to = Number(state.to ?? this.viewer.model.duration_ns);
                const shown = `${from}-${to}`;

                if (shown === this.shown || this.tracks.length === 0 || to <= from)
                        return;
                this.shown = shown;
                const bucket = Math.max(0, Math.floor(Math.log2((to - from) / PLOT_WIDTH_MAX)));
                const lanes = await this.viewer.source.lanes(this.tracks.map((track) => track.lanes[0].id), from, to, bucket);

                if (this.shown === shown)
                        this.element.replaceChildren(...this.tracks.map((track) =>
                                this.plot(track, lanes.get(track.lanes[0].id), from, to)));
        }

        /** @param {any} track @param {any} items @param {number} from @param {number} to */
        plot(track, items, from, to) {
                const n = items ? items.begin.length : 0;
                let least = Infinity;
                let most = -Infinity;

                for (let i = 0; i < n; i++) {
                        least = Math.min(least, items.min[i]);
                        most = Math.max(most, items.max[i]);
                }
                const canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { role: 'img',
                        'aria-label': n === 0 ? `${track.title}: no values`
                        : `${track.title}: from ${formatValue(least, track.unit)} to ${formatValue(most, track.unit)}` }));
                const words = el('p', { class: 'muted' }, n === 0 ? 'no values in this part'
                        : `smallest ${formatValue(least, track.unit)}, largest ${formatValue(most, track.unit)}, ` +
                          `last ${formatValue(items.last[n - 1], track.unit)}`);

                new ResizeObserver(() => drawPlot(canvas, items, n, { from, to, least, most })).observe(words);
                canvas.addEventListener('click', (event) => {
                        const box = canvas.getBoundingClientRect();

                        this.viewer.set({ [event.shiftKey ? 'beside' : 'at']:
                                String(Math.round(from + (event.clientX - box.left) / box.width * (to - from))) });
                });
                return el('figure', {}, el('figcaption', {}, track.title), canvas, words);
        }
}

/**
 * Draws buckets: a bar from the smallest to the largest of each, joined by their last values.
 * @param {HTMLCanvasElement} canvas
 * @param {any} items
 * @param {number} n
 * @param {{ from: number, to: number, least: number, most: number }} area
 */
function drawPlot(canvas, items, n, area) {
        const scale = window.devicePixelRatio || 1;
        const context = canvas.getContext('2d');
        const width = canvas.parentElement?.clientWidth || PLOT_WIDTH;
        const tall = area.most > area.least ? area.most - area.least : 1;
        /** @param {number} ns */
        const x = (ns) => (ns - area.from) / (area.to - area.from) * width;
        /** @param {number} value */
        const y = (value) => PLOT_HEIGHT - 4 - (value - area.least) / tall * (PLOT_HEIGHT - 8);

        canvas.width = width * scale;
        canvas.height = PLOT_HEIGHT * scale;
        canvas.style.width = '100%';
        canvas.style.height = `${PLOT_HEIGHT}px`;
        if (!context || n === 0)
                return;
        context.scale(scale, scale);
        context.strokeStyle = context.fillStyle = themeColors().accent;
        context.beginPath();
        for (let i = 0; i < n; i++) {
                const left = x(items.begin[i]);

                context.fillRect(left, y(items.max[i]), 1, Math.max(1, y(items.min[i]) - y(items.max[i])));
                if (i === 0)
                        context.moveTo(left, y(items.first[i]));
                else
                        context.lineTo(left, y(items.first[i]));
                context.lineTo(left, y(items.last[i]));
        }
        context.stroke();
}
