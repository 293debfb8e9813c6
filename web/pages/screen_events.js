// SPDX-License-Identifier: MIT
/*
 * screen_events.js - frames, messages, counters and plots
 */

import { AnswerScreen, filterOf, filterWithout } from './answer_screen.js';
import { answerRows } from './answers.js';
import { button, el } from './dom.js';
import { formatDuration, parseDuration } from './format.js';
import { FrameBars } from './frame_bars.js';
import { FrameBudgets } from './frame_budget.js';
import { HistogramChart } from './histogram_chart.js';
import { PlotPane } from './plot_pane.js';

/**
 * @typedef {import('./answers.js').Answer} Answer
 * @typedef {import('./answers.js').AnswerRow} AnswerRow
 * @typedef {import('./histogram_chart.js').HistogramBin} HistogramBin
 * @typedef {import('./viewer.js').ViewState} ViewState
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

export class FramesScreen extends AnswerScreen {
        static id = 'frames';
        static title = 'Frames';
        static key = 'r';

        /** @param {Viewer} viewer */
        constructor(viewer) {
                super(viewer, 'frames', 'Frames');
                /** @type {FrameBars[]} */
                this.bars = [];
                /** @type {{ name: string, chart: HistogramChart }[]} */
                this.charts = [];
                this.budgets = new FrameBudgets(viewer, () => this.drawBudget());
                this.budget = /** @type {HTMLInputElement} */ (el('input', { type: 'text', size: '12', placeholder: 'twice the median',
                        on: { change: () => this.setBudget() } }));
                this.tools.append(el('label', {}, 'late above ', this.budget),
                                  button('60 per second', () => viewer.set({ budget: Math.round(1e9 / 60) })),
                                  button('30 per second', () => viewer.set({ budget: Math.round(1e9 / 30) })));
                this.addPart('frames', (state) => ({ question: 'frames', params: filterOf(state) }), (answer) => this.draw(answer));
        }

        /** @param {ViewState} state */
        show(state) {
                if (document.activeElement !== this.budget)
                        this.budget.value = state.budget ? formatDuration(Number(state.budget)) : '';
                super.show(state);
                this.drawBudget();
        }

        drawBudget() {
                this.bars.forEach((one) => one.draw());
                for (const { name, chart } of this.charts) {
                        chart.options.limit = this.budgets.of(name);
                        chart.draw();
                }
        }

        setBudget() {
                const ns = parseDuration(this.budget.value);

                this.viewer.set({ budget: ns !== null && ns > 0 ? ns : null });
        }

        /** @param {Answer} answer */
        draw(answer) {
                const bins = answerRows(answer, 'histogram');
                const names = [...new Set(bins.map((bin) => bin.name))];

                if (answerRows(answer, 'frames').length === 0)
                        return [el('p', {}, 'The program marked no frames in this part.')];
                if (this.viewer.range().isAll)
                        this.budgets.take(answer);
                this.bars = this.viewer.model.tracks.filter((track) => track.kind === 'frames' && track.lanes.length > 0).slice(0, 8)
                        .map((track) => new FrameBars(this.viewer, track, this.budgets,
                                                      (at_ns, duration_ns) => this.select({ at_ns, duration_ns })));
                this.charts = names.map((name) => ({ name, chart: new HistogramChart({ name: `durations of ${name}`,
                        limit: this.budgets.of(name),
                        bins: /** @type {HistogramBin[]} */ (bins.filter((bin) => bin.name === name)) }) }));
                return [
                        this.table(answer, 'frames', { name: 'Frames', shown: 6 }),
                        ...this.bars.map((one) => one.element),
                        ...this.charts.map(({ chart }) => chart.element),
                        this.table(answer, 'slowest', { name: 'Slowest frames', shown: 10,
                                about: 'Enter or a click selects it on the timeline',
                                onOpen: (row) => this.select(row) }),
                        this.table(answer, 'slowest_zones', { name: 'What was in the slowest frames', shown: 10 }),
                        this.table(answer, 'zones', { name: 'Zones in frames', shown: 10,
                                onOpen: (row) => row.handle && this.viewer.set({ screen: 'zones', zone: row.handle }) }),
                ];
        }

        /**
         * Selects the frame as the range of all screens.
         * @param {AnswerRow} row
         */
        select(row) {
                this.viewer.set({ from: String(row.at_ns), to: String(row.at_ns + row.duration_ns) });
                this.jump(row);
        }
}

export class MessagesScreen extends AnswerScreen {
        static id = 'messages';
        static title = 'Messages';
        static key = 'e';

        /** @param {Viewer} viewer */
        constructor(viewer) {
                super(viewer, 'messages', 'Messages');
                this.tools.append(
                        this.choice('thread', 'thread', this.threadChoices()),
                        this.choice('severity', 'severity', [['', 'all'], ['debug', 'debug and above'], ['info', 'info and above'],
                                ['warning', 'warning and above'], ['error', 'error and above'], ['fatal', 'fatal']]));
                this.addPart('messages', (state) => ({ question: 'messages', params: {
                        ...filterOf(state), ...(state.severity ? { severity: state.severity } : {}) } }),
                             (answer) => this.draw(answer));
        }

        /** @param {ViewState} state */
        show(state) {
                this.settleChoices(state);
                super.show(state);
        }

        /** @param {Answer} answer */
        draw(answer) {
                if (answerRows(answer, 'messages').length === 0)
                        return [el('p', {}, 'The program sent no messages in this part.')];
                return [
                        this.table(answer, 'messages', { name: 'Messages', shown: 26, about: 'Enter or a click shows it on the timeline',
                                columns: ['at_ns', 'thread_name', 'severity', 'text', 'zones'], onOpen: (row) => this.jump(row) }),
                        this.table(answer, 'severities', { name: 'By severity', shown: 6 }),
                ];
        }
}

export class CountersScreen extends AnswerScreen {
        static id = 'counters';
        static title = 'Counters';
        static key = 'u';

        /** @param {Viewer} viewer */
        constructor(viewer) {
                super(viewer, 'counters', 'Counters');
                this.curves = new PlotPane(viewer, 'plot', 'counter');
                this.element.append(this.curves.element);
                this.addPart('counters', (state) => ({ question: 'overview', params: filterOf(state) }), (answer) => this.draw(answer));
                this.addPart('plots', (state) => ({ question: 'plots', params: filterWithout(state, ['event', 'module']) }),
                             (answer) => [this.table(answer, 'plots', { name: 'Plots', shown: 12,
                                     columns: ['name', 'min', 'mean', 'max', 'first', 'last', 'unit', 'count'] })]);
                this.addPart('CPUs', (state) => ({ question: 'cpus', params: filterOf(state) }), (answer) => [
                        this.table(answer, 'cpus', { name: 'CPUs', shown: 10 }),
                        this.table(answer, 'cpu_threads', { name: 'Threads on CPUs', shown: 10 }),
                        this.table(answer, 'owners', { name: 'Threads ready to run: who had the CPU', shown: 10 })]);
        }

        /** @param {ViewState} state */
        show(state) {
                this.curves.show(state);
                super.show(state);
        }

        /** @param {Answer} answer */
        draw(answer) {
                const has = answerRows(answer, 'counters').length + answerRows(answer, 'totals').length > 0;

                return [
                        has ? null : el('p', { class: 'muted' }, 'No counters were recorded: hyprof record -e cycles,instructions'),
                        this.table(answer, 'totals', { name: 'Counted in all', shown: 10 }),
                        this.table(answer, 'counters', { name: 'By function and zone', shown: 16 }),
                        this.table(answer, 'sample_events', { name: 'Sampled events', shown: 6 }),
                ];
        }
}
