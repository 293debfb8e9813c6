// SPDX-License-Identifier: MIT
/*
 * screen_memory.js - memory as the program reported it: in use over time, in use at one time, and never freed
 */

import { AnswerScreen, filterOf, filterWithout } from './answer_screen.js';
import { answerRows } from './answers.js';
import { DataTable } from './data_table.js';
import { button, el } from './dom.js';
import { formatTime, parseDuration } from './format.js';
import { PlotPane } from './plot_pane.js';

/**
 * @typedef {import('./answer_screen.js').Question} Question
 * @typedef {import('./answers.js').Answer} Answer
 * @typedef {import('./answers.js').AnswerRow} AnswerRow
 * @typedef {import('./viewer.js').ViewState} ViewState
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

export class MemoryScreen extends AnswerScreen {
        static id = 'memory';
        static title = 'Memory';
        static key = 'y';

        /** @param {Viewer} viewer */
        constructor(viewer) {
                super(viewer, 'memory', 'Memory');
                this.curve = new PlotPane(viewer, 'memory');
                this.element.append(this.curve.element);
                this.addPart('memory', (state) => ({ question: 'memory', params: filterOf(state) }), (answer) => this.draw(answer));
                this.instants = { at: this.instant('at'), beside: this.instant('beside') };
                this.tools.append(el('label', {}, 'in use at ', this.instants.at), el('label', {}, 'compared with ', this.instants.beside),
                                  el('span', { class: 'muted' }, 'or a click on a curve; with Shift, the instant to compare with'));
                this.changes = el('div', { class: 'answer' });
                this.element.append(this.changes);
                for (const key of /** @type {('at'|'beside')[]} */ (['at', 'beside']))
                        this.addPart(key === 'at' ? 'memory at the instant' : 'memory at the other instant',
                                     (state) => this.askAt(state, key), (answer, state) => this.drawAt(answer, state, key))
                                .onNothing = () => this.take(key, []);
                /** @type {{ [key: string]: AnswerRow[] }} */
                this.inUse = {};
        }

        /** @param {ViewState} state */
        show(state) {
                this.curve.show(state);
                for (const key of /** @type {('at'|'beside')[]} */ (['at', 'beside']))
                        if (document.activeElement !== this.instants[key])
                                this.instants[key].value = state[key] ? formatTime(Number(state[key])) : '';
                super.show(state);
                this.drawChanges(state);
        }

        /**
         * A field for an instant.
         * @param {'at'|'beside'} key
         */
        instant(key) {
                const field = /** @type {HTMLInputElement} */ (el('input', { type: 'text', size: '14', placeholder: 'as 1.5s or 20 ms' }));

                field.addEventListener('change', () => this.viewer.set({ [key]: parseDuration(field.value) }));
                return field;
        }

        /** @param {ViewState} state @param {'at'|'beside'} key @returns {Question|null} */
        askAt(state, key) {
                return !/^[0-9]{1,18}$/.test(state[key] ?? '') ? null : { question: 'memory',
                        params: { ...filterWithout(state, ['from', 'to']), to: String(Number(state[key]) + 1) } };
        }

        /** @param {Answer} answer */
        draw(answer) {
                if (answerRows(answer, 'pools').length === 0)
                        return [el('p', {}, 'The program reported no allocations in this part.')];
                return [
                        this.table(answer, 'pools', { name: 'Pools', shown: 8,
                                about: 'Enter shows what was in use at the pool\'s peak',
                                onOpen: (row) => this.viewer.set({ at: String(row.peak_at_ns) }) }),
                        this.table(answer, 'leaks', { name: 'Never freed in this part', shown: 12 }),
                        this.table(answer, 'sites', { name: 'Allocated in this part', shown: 12 }),
                ];
        }

        /** @param {Answer} answer @param {ViewState} state @param {'at'|'beside'} key */
        drawAt(answer, state, key) {
                const time = formatTime(Number(state[key]));

                this.take(key, answerRows(answer, 'leaks'));
                return [
                        el('div', { class: 'data-tools' }, el('h3', {}, `In use at ${time}`),
                           button('close', () => this.viewer.set({ [key]: null }))),
                        this.table(answer, 'pools', { name: `Pools at ${time}`, shown: 6, columns: ['pool', 'live_bytes', 'n_live'] }),
                        this.table(answer, 'leaks', { name: `Allocations at ${time}`, shown: 12 }),
                ];
        }

        /** @param {'at'|'beside'} key @param {AnswerRow[]} rows */
        take(key, rows) {
                this.inUse[key] = rows;
                this.changes.dataset.shown = '';
                this.drawChanges(this.viewer.state);
        }

        /**
         * The difference between two instants, by place: rows of both answers beside each other.
         * @param {ViewState} state
         */
        drawChanges(state) {
                const { at, beside } = this.inUse;
                const shown = `${state.at}-${state.beside}`;

                if (state.at === undefined || state.beside === undefined || !at || !beside) {
                        this.changes.replaceChildren();
                        this.changes.dataset.shown = '';
                        return;
                }
                if (this.changes.dataset.shown === shown)
                        return;
                this.changes.dataset.shown = shown;
                this.changes.replaceChildren(new DataTable({
                        name: 'Changes between the two instants', shown: 14, sortBy: 'change_bytes',
                        about: `in use at ${formatTime(Number(state.beside))}, less what was in use at ${formatTime(Number(state.at))}`,
                        rows: memoryChanges(at, beside) }).element);
        }
}

/**
 * memoryChanges() - what is in use at two instants, joined by pool and place
 * @param {AnswerRow[]} before
 * @param {AnswerRow[]} after
 * @returns {AnswerRow[]} without places where nothing changed
 */
function memoryChanges(before, after) {
        /** @type {Map<string, AnswerRow>} */
        const rows = new Map();
        /** @param {AnswerRow} row @param {number} sign */
        const add = (row, sign) => {
                const key = JSON.stringify([row.pool, row.callstack, row.zones]);
                const joined = rows.get(key) ?? { change_bytes: 0, change_blocks: 0, before_bytes: 0, after_bytes: 0, pool: row.pool,
                                                  callstack: row.callstack, zones: row.zones };

                joined.change_bytes += sign * row.bytes;
                joined.change_blocks += sign * row.count;
                joined[sign > 0 ? 'after_bytes' : 'before_bytes'] += row.bytes;
                rows.set(key, joined);
        };

        before.forEach((row) => add(row, -1));
        after.forEach((row) => add(row, 1));
        return [...rows.values()].filter((row) => row.change_bytes !== 0 || row.change_blocks !== 0);
}
