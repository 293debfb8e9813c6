// SPDX-License-Identifier: MIT
/*
 * screen_diff.js - two recordings compared: verdicts, a flame graph of the difference, histograms of a zone
 *
 * This screen is there only if the viewer has two traces; `side` of a question says which of them it is about.
 */

import { AnswerScreen, filterWithout, wordsOf } from './answer_screen.js';
import { answerRows, callTree } from './answers.js';
import { DataTable } from './data_table.js';
import { el } from './dom.js';
import { FlameGraph } from './flame_graph.js';
import { formatCount } from './format.js';
import { HistogramChart } from './histogram_chart.js';

/**
 * @typedef {import('./answers.js').Answer} Answer
 * @typedef {import('./answers.js').AnswerRow} AnswerRow
 * @typedef {import('./answers.js').CallNode} CallNode
 * @typedef {import('./histogram_chart.js').HistogramBin} HistogramBin
 * @typedef {import('./model.js').TraceModel} TraceModel
 * @typedef {import('./viewer.js').ViewState} ViewState
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

export class DiffScreen extends AnswerScreen {
        static id = 'diff';
        static title = 'Diff';
        static key = 'd';

        /**
         * Whether there is something to compare.
         * @param {TraceModel} model
         */
        static isThere(model) {
                return model.document.has_before === true;
        }

        /** @param {Viewer} viewer */
        constructor(viewer) {
                super(viewer, 'diff', 'Diff');
                this.addPart('the comparison', (state) => ({ question: 'diff', params: filterWithout(state, ['from', 'to']) }),
                             (answer) => this.draw(answer));
                this.calls = el('div', { class: 'answer' });
                this.zone = el('div', { class: 'answer' });
                this.element.append(this.calls, this.zone);
                this.shown = '';
        }

        /** @param {ViewState} state */
        show(state) {
                const shown = JSON.stringify([filterWithout(state, ['from', 'to']), state.zone]);

                super.show(state);
                if (shown === this.shown)
                        return;
                this.shown = shown;
                this.drawCalls(state).catch((error) => this.calls.replaceChildren(el('p', { class: 'error' }, wordsOf(error))));
                this.drawZone(state).catch((error) => this.zone.replaceChildren(el('p', { class: 'error' }, wordsOf(error))));
        }

        /** @param {Answer} answer */
        draw(answer) {
                return [
                        this.facts(answer, ['verdict', 'runs_before', 'runs_after', 'duration_before_ns', 'duration_after_ns',
                                            'sampled_before_ns', 'sampled_after_ns', 'sampled_change', 'judged', 'significant']),
                        this.table(answer, 'functions', { name: 'Functions', shown: 14 }),
                        this.table(answer, 'zones', { name: 'Zones', shown: 14,
                                about: 'Enter or a click lays the histograms of both over each other',
                                onOpen: (row) => this.viewer.set({ zone: row.name }) }),
                        this.table(answer, 'whole', { name: 'The whole run', shown: 3 }),
                        ...(answer.hints ?? []).map((words) => el('p', { class: 'muted' }, words)),
                ];
        }

        /** @param {ViewState} state */
        async drawCalls(state) {
                const [before, after] = await askBoth(this.viewer, 'top_down', filterWithout(state, ['from', 'to', 'zone']));
                const root = mergedTree(answerRows(before, 'top_down'), answerRows(after, 'top_down'));

                this.calls.replaceChildren(new FlameGraph({ name: 'Samples after, beside before', root,
                                                            format: (value) => `${formatCount(value)} samples` }).element);
        }

        /** @param {ViewState} state */
        async drawZone(state) {
                if (state.zone === undefined) {
                        this.zone.replaceChildren();
                        return;
                }
                this.zone.replaceChildren(await zoneHistograms(this.viewer, state.zone));
        }
}

/**
 * The pattern that means this name alone, and no handle: both recordings are asked, whose handles differ.
 * @param {string} name
 */
function patternOf(name) {
        return name.replace(/^[!-~]|[\\/,*?[]/g, '\\$&');
}

/**
 * zoneHistograms() - how long the instances of a zone lasted in both recordings, as histograms over each other and as numbers
 * @param {Viewer} viewer
 * @param {string} zone  name
 * @param {number} [width]  of the picture, in pixels
 */
export async function zoneHistograms(viewer, zone, width) {
        const [before, after] = await askBoth(viewer, 'zone', { zone: patternOf(zone) });
        /** @param {Answer} answer */
        const bins = (answer) => /** @type {HistogramBin[]} */ (answerRows(answer, 'distribution'));
        const name = `${zone}: before (outline), after (filled)`;
        const rows = [['before', before], ['after', after]].map(([side, answer]) => ({ side,
                ...Object.fromEntries(['count', 'total_ns', 'mean_ns', 'p50_ns', 'p90_ns', 'p99_ns', 'max_ns'].map((key) =>
                        [key, /** @type {any} */ (answer)[key]])) }));

        return el('div', { class: 'answer zone-histograms' }, el('h3', {}, name),
                  new HistogramChart({ name, bins: bins(after), over: bins(before), width }).element,
                  new DataTable({ name: `${zone}, before and after`, rows, shown: 2 }).element);
}

/**
 * A question about each of the two traces.
 * @param {Viewer} viewer
 * @param {string} question
 * @param {{ [key: string]: string }} params
 * @returns {Promise<Answer[]>} before, after
 */
function askBoth(viewer, question, params) {
        return Promise.all(['before', 'after'].map((side) => viewer.source.answer(question, { ...params, side }, {})));
}

/**
 * mergedTree() - the calls of two recordings as one tree, by names: `value` after, `before` before
 * @param {AnswerRow[]} before
 * @param {AnswerRow[]} after
 */
function mergedTree(before, after) {
        const root = callTree(after, { value: 'total_samples' }, 'all');
        const other = callTree(before, { value: 'total_samples' }, 'all');
        /** @param {CallNode} node */
        const setBefore = (node) => {
                node.before = 0;
                node.children.forEach(setBefore);
        };
        /** @param {CallNode} into @param {CallNode} from */
        const merge = (into, from) => {
                into.before = (into.before ?? 0) + from.value;
                for (const inner of from.children) {
                        let child = into.children.find((c) => c.name === inner.name);

                        if (!child) {
                                child = { ...inner, value: 0, self: 0, before: 0, children: [], parent: into };
                                into.children.push(child);
                        }
                        merge(child, inner);
                }
        };

        setBefore(root);
        merge(root, other);
        return root;
}
