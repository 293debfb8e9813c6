// SPDX-License-Identifier: MIT
/*
 * screen_functions.js - functions by self time; the callers and callees of one function
 */

import { AnswerScreen, filterOf } from './answer_screen.js';
import { answerAbout, answerRows, callTree } from './answers.js';
import { DataTable } from './data_table.js';
import { el } from './dom.js';
import { FlameGraph } from './flame_graph.js';
import { formatCount } from './format.js';

/**
 * @typedef {import('./answer_screen.js').Question} Question
 * @typedef {import('./answers.js').Answer} Answer
 * @typedef {import('./viewer.js').ViewState} ViewState
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

export class FunctionsScreen extends AnswerScreen {
        static id = 'functions';
        static title = 'Functions';
        static key = 'f';

        /** @param {Viewer} viewer */
        constructor(viewer) {
                super(viewer, 'functions', 'Functions');
                this.tools.append(this.choice('thread', 'thread', this.threadChoices()),
                                  this.choice('event', 'event', this.eventChoices()));
                this.addPart('functions', (state) => ({ question: 'functions', params: filterOf(state) }),
                             (answer, state) => this.drawFunctions(answer, state));
                this.addPart('callers', (state) => this.ofFunction('bottom_up', state),
                             (answer, state) => this.drawTree(answer, 'bottom_up', `Callers of ${this.named(state)}`));
                this.addPart('callees', (state) => this.ofFunction('top_down', state),
                             (answer, state) => this.drawTree(answer, 'top_down', `Called by ${this.named(state)}`));
                /** @type {Map<string, string>} names by handle, of the last table */
                this.names = new Map();
        }

        /** @param {ViewState} state */
        show(state) {
                this.settleChoices(state);
                super.show(state);
        }

        /** @param {ViewState} state */
        named(state) {
                return this.names.get(state.function ?? '') ?? state.function ?? '';
        }

        /** @param {string} question @param {ViewState} state @returns {Question|null} */
        ofFunction(question, state) {
                return state.function === undefined ? null
                        : { question, params: { ...filterOf(state), function: state.function } };
        }

        /** @param {Answer} answer @param {ViewState} state */
        drawFunctions(answer, state) {
                const rows = answerRows(answer, 'functions');

                this.names = new Map(rows.map((row) => [row.handle, row.function]));
                if (rows.length === 0)
                        return [el('p', {}, 'No samples in this part of the recording.')];
                return [this.table(answer, 'functions', {
                        name: 'Functions', shown: state.function === undefined ? 24 : 10,
                        columns: ['handle', 'function', 'self_share', 'total_share', 'self_samples', 'total_samples', 'ipc',
                                  'cache_misses_per_1000', 'branch_misses_per_1000', 'module'],
                        isChosen: (row) => row.handle === this.viewer.state.function,
                        onOpen: (row) => this.viewer.set({ function: row.handle }),
                })];
        }

        /** @param {Answer} answer @param {string} key @param {string} name */
        drawTree(answer, key, name) {
                const rows = answerRows(answer, key);
                const source = el('button', { type: 'button' }, 'source and instructions');

                if (rows.length === 0)
                        return [];
                source.addEventListener('click', () => this.viewer.go('source'));
                return [
                        key === 'bottom_up' ? el('div', { class: 'data-tools' }, source) : null,
                        new FlameGraph({ name, format: (value) => `${formatCount(value)} samples`,
                                         root: callTree(rows, { value: 'total_samples' }, 'all'),
                                         onOpen: (node) => this.viewer.set({ function: node.handle ?? undefined }) }).element,
                        new DataTable({ name: `${name}, as a tree`, about: answerAbout(answer, key), rows, shown: 10,
                                        columns: ['function', 'total_share', 'self_share', 'total_samples', 'module'],
                                        onOpen: (row) => this.viewer.set({ function: row.handle ?? undefined }) }).element,
                ];
        }
}
