// SPDX-License-Identifier: MIT
/*
 * screen_heat.js - the heat map: what happens once, or at one moment of each second, and what ran then
 *
 * The chosen cells are a range of time for the flame graph, the timeline, and `why`.
 */

import { AnswerScreen, filterOf } from './answer_screen.js';
import { answerRows } from './answers.js';
import { button, el } from './dom.js';
import { formatCount, formatDuration, formatTime } from './format.js';
import { HeatChart } from './heat_chart.js';

/**
 * @typedef {import('./answers.js').Answer} Answer
 * @typedef {import('./answers.js').AnswerRow} AnswerRow
 * @typedef {import('./heat_chart.js').HeatGrid} HeatGrid
 * @typedef {import('./viewer.js').ViewState} ViewState
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

/** A column has so many. */
const ROWS = 50;

/**
 * The cells of an answer, by what they are colored.
 * @param {Answer} answer
 * @param {(row: AnswerRow) => number} valueOf
 * @returns {HeatGrid}
 */
export function gridOfAnswer(answer, valueOf) {
        const { begin_ns, row_ns, columns } = answer;
        const values = new Float64Array(columns * ROWS);

        for (const row of answerRows(answer, 'cells')) {
                const at = Math.round((row.at_ns - begin_ns) / row_ns);
                if (at >= 0 && at < values.length)
                        values[at] = valueOf(row);
        }
        return { begin_ns, row_ns, nRows: ROWS, nColumns: columns, values };
}

export class HeatScreen extends AnswerScreen {
        static id = 'heat';
        static title = 'Heat map';
        static key = 'h';

        /** @param {Viewer} viewer */
        constructor(viewer) {
                super(viewer, 'heat', 'Heat map');
                /** @type {HeatChart|null} */
                this.chart = null;
                this.tools.append(
                        this.choice('colored by', 'heat', [['', 'samples'], ['longest', 'the longest zone that began there']]),
                        this.choice('event', 'event', this.eventChoices()),
                        this.choice('thread', 'thread', this.threadChoices()),
                        this.choice('zone', 'zone', [['', 'all'], ...this.viewer.model.locations.map(
                                (/** @type {any} */ location) => /** @type {[string, string]} */ ([location.handle, location.name]))]));
                this.addPart('the heat map', (state) => ({ question: 'heat', params: filterOf(state), colored: state.heat }),
                             (answer, state) => this.draw(answer, state));
        }

        /** @param {ViewState} state */
        show(state) {
                this.settleChoices(state);
                super.show(state);
        }

        /** @param {Answer} answer @param {ViewState} state */
        draw(answer, state) {
                const isLongest = state.heat === 'longest';
                const format = isLongest ? formatDuration
                        : (/** @type {number} */ n) => `${formatCount(n)} samples of ${answer.event}`;

                if (isLongest && !state.zone)
                        return [el('p', {}, 'Choose a zone, whose longest instances then color the map.')];
                if (answerRows(answer, 'cells').length === 0)
                        return [el('p', {}, 'No samples in this part of the recording.')];
                const grid = gridOfAnswer(answer, (row) => isLongest ? row.longest_ns ?? 0 : row.samples);
                const next = el('div', { class: 'data-tools' });
                this.chart = new HeatChart({ name: `${isLongest ? 'the longest zones' : 'samples'} by time, in columns of ` +
                                              formatDuration(answer.column_ns), grid, format, chosen: null,
                                              onChoose: (first, last) => this.offer(next, grid, first, last),
                                              onOpen: () => next.querySelector('button')?.click() });

                return [this.chart.element, next];
        }

        /**
         * Where the chosen cells lead.
         * @param {HTMLElement} next
         * @param {HeatGrid} grid
         * @param {number} first
         * @param {number} last
         */
        offer(next, grid, first, last) {
                const from = Math.max(0, grid.begin_ns + first * grid.row_ns);
                const to = Math.min(this.viewer.model.duration_ns, grid.begin_ns + (last + 1) * grid.row_ns);
                const range = { from: Math.round(from), to: Math.round(to) };
                const { state, model } = this.viewer;
                // A page in one file adds up the functions of a range itself.
                const asking = model.file ? [button('functions', () => this.viewer.go('functions', range))]
                        : [button('flame graph', () => this.viewer.go('flame', range)),
                           button('closer', () => this.viewer.set(range)),
                           ...(state.zone ? [button('why some are slow', () => this.viewer.go('zones', range))] : [])];

                next.replaceChildren(el('span', {}, `${formatTime(from, grid.row_ns)}, for ${formatDuration(to - from)}: `),
                                     ...asking, button('timeline', () => this.viewer.goToTime(from, to, range)));
        }
}
