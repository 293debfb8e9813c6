// SPDX-License-Identifier: MIT
/*
 * answer_screen.js - what the screens of answers have in common: ask, show progress, cancel, show the answer or
 * the failure
 *
 * Way of the data:  viewer.state -> [answer_screen] -> source.answer() -> draw() of the screen
 *
 * A screen names its questions for a state; it asks those that differ from the ones shown.  An answer that is no
 * longer wanted is cancelled.
 */

import { answerAbout, answerCell, answerRows, answerTitleOf, answerTypeOf } from './answers.js';
import { DataTable, isThere, searchTables } from './data_table.js';
import { el } from './dom.js';
import { formatCount, formatPlural } from './format.js';

/**
 * @typedef {import('./answers.js').Answer} Answer
 * @typedef {import('./answers.js').AnswerRow} AnswerRow
 * @typedef {import('./data_table.js').DataTableOptions} DataTableOptions
 * @typedef {import('./model.js').TraceModel} TraceModel
 * @typedef {import('./viewer.js').ViewState} ViewState
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

/**
 * @typedef {{ question: string, params: { [key: string]: string }, colored?: string }} Question `colored`: how the answer is
 *     drawn, which draws it anew
 */

/** After this long without an answer, the page shows its progress. */
const ANSWER_PATIENCE_MS = 300;

/** An answer about a recording that runs is asked for again after this. */
const ANSWER_LIVE_MS = 2000;

/**
 * The part of the trace that is shown, as the parameters that all answers know.
 * @param {ViewState} state
 */
export function filterOf(state) {
        /** @type {{ [key: string]: string }} */
        const params = {};

        for (const key of ['from', 'to', 'thread', 'process', 'cpu', 'zone', 'event', 'module']) {
                const value = /** @type {{ [key: string]: string|undefined }} */ (state)[key];

                const isTime = key === 'from' || key === 'to';

                if (value !== undefined && value !== '' && (!isTime || /^[0-9]{1,18}$/.test(value)))
                        params[key] = value;
        }
        return params;
}

/**
 * The same, without the parameters named by @keys.
 * @param {ViewState} state
 * @param {string[]} keys
 */
export function filterWithout(state, keys) {
        const params = filterOf(state);

        for (const key of keys)
                delete params[key];
        return params;
}

/**
 * A sentence of an answer, in which zones and threads that were asked for by handle are named.
 * @param {TraceModel} model
 * @param {string} words
 */
function withNames(model, words) {
        return words.replace(/\b(zone|thread) (?:called )?([zt][0-9]{1,9})\b(?! ')/g, (all, kind, handle) => {
                const name = kind === 'zone' ? model.locations.find((one) => one.handle === handle)?.name
                        : model.threadOfHandle(handle)?.name;

                return name ? `${kind} ${name}` : all;
        });
}

/**
 * One line about all that an answer lacks, so that the answer stays in sight.
 * @param {string[]} warnings
 */
export function doubtsOf(warnings) {
        if (warnings.length < 2)
                return warnings.length === 0 ? null : el('p', { class: 'doubt' }, warnings[0]);
        return el('details', { class: 'doubt' }, el('summary', {}, `${warnings.length} things are missing or doubtful`),
                  el('ul', {}, warnings.map((words) => el('li', {}, words))));
}

/** A fact of more letters has the room of several. */
const LONG_FACT = 20;

/** One part of a screen, which has an answer of its own. */
class AnswerPart {
        /**
         * @param {Viewer} viewer
         * @param {string} name
         * @param {(answer: Answer, state: ViewState) => (Node|null)[]} draw
         */
        constructor(viewer, name, draw) {
                this.viewer = viewer;
                this.name = name;
                this.drawAnswer = draw;
                this.asked = '';
                /** The answer was asked for by a button: it is scrolled to when it has come. */
                this.comesIntoSight = false;
                /** Its sentence and its filter stand elsewhere on the screen. */
                this.isPlain = false;
                /** Called where an answer would have been empty. */
                this.onNothing = () => {};
                /** @type {AbortController|null} */
                this.running = null;
                /** When it was asked for, by performance.now(). */
                this.askedAt = -Infinity;
                this.element = el('div', { class: 'answer', 'aria-busy': 'false' });
        }

        /** @param {Question|null} question @param {ViewState} state */
        async show(question, state) {
                const asked = question ? JSON.stringify(question) : '';

                if (asked === this.asked || (question && this.isFresh(question)))
                        return;
                const isRefresh = this.viewer.isFollowing() && this.element.childElementCount > 0;

                this.asked = asked;
                this.askedAt = performance.now();
                this.running?.abort();
                this.running = null;
                if (!question) {
                        this.element.replaceChildren();
                        return;
                }
                const running = this.running = new AbortController();
                const progress = this.wait(running, isRefresh);
                try {
                        const answer = await this.viewer.source.answer(question.question, question.params,
                                { signal: running.signal, onProgress: progress.show });

                        if (this.running === running) {
                                this.element.replaceChildren(...this.all(answer, state));
                                this.viewer.emit('shown', this.element);
                                if (this.comesIntoSight)
                                        this.element.scrollIntoView({ block: 'start' });
                        }
                } catch (error) {
                        if (this.running === running)
                                this.fail(running.signal.aborted ? 'cancelled' : wordsOf(error),
                                        /** @type {any} */ (error).isLasting === true);
                } finally {
                        progress.stop();
                        if (this.running === running) {
                                this.running = null;
                                this.element.setAttribute('aria-busy', 'false');
                        }
                }
        }

        /**
         * Whether this question about a running recording was asked a moment ago, or its answer is on its way.
         * @param {Question} question
         */
        isFresh(question) {
                if (!this.viewer.isFollowing() || this.asked === '')
                        return false;
                const before = /** @type {Question} */ (JSON.parse(this.asked));
                const rest = { from: '', to: '' };

                return JSON.stringify({ ...question, params: { ...question.params, ...rest } }) ===
                        JSON.stringify({ ...before, params: { ...before.params, ...rest } }) &&
                        (this.running !== null || performance.now() - this.askedAt < ANSWER_LIVE_MS);
        }

        /** @param {AbortController} running @param {boolean} isRefresh the old answer stays until the new one comes */
        wait(running, isRefresh) {
                const meter = el('progress', { max: '1', 'aria-label': `${this.name} is computed` });
                const words = el('span', { role: 'status' }, `computing: ${this.name} `);
                const cancel = el('button', { type: 'button' }, 'cancel');
                const timer = setTimeout(() => isRefresh || this.element.replaceChildren(el('p', {}, words, meter, ' ', cancel)),
                                         ANSWER_PATIENCE_MS);

                this.element.setAttribute('aria-busy', 'true');
                cancel.addEventListener('click', () => running.abort());
                return {
                        /** @param {number|null} share */
                        show: (share) => {
                                if (share !== null)
                                        meter.setAttribute('value', String(share));
                        },
                        stop: () => clearTimeout(timer),
                };
        }

        /** @param {Answer} answer @param {ViewState} state */
        all(answer, state) {
                const parts = [];

                if (answer.answer && !this.isPlain)
                        parts.push(el('p', { class: 'headline' }, withNames(this.viewer.model, answer.answer)));
                if (answer.is_approximate)
                        parts.push(el('p', { class: 'doubt' }, 'approximate: this page does not hold all events of the range'));
                if (answer.filter && !this.isPlain)
                        parts.push(el('p', { class: 'muted' }, `of: ${withNames(this.viewer.model, answer.filter)}`));
                parts.push(...this.drawAnswer(answer, state).filter((part) => part !== null));
                return /** @type {Node[]} */ (parts);
        }

        /** @param {string} words @param {boolean} isLasting  another try cannot help */
        fail(words, isLasting) {
                if (isNothing(words)) {
                        this.onNothing();
                        this.element.replaceChildren(el('p', { class: 'muted' }, `${this.name}: nothing in this part of the recording`));
                        return;
                }
                if (isLasting) {
                        this.element.replaceChildren(el('p', { class: 'muted', role: 'status' }, `${this.name}: ${words}`));
                        return;
                }
                const again = el('button', { type: 'button' }, 'try again');
                const { asked } = this;

                again.addEventListener('click', () => {
                        this.asked = '';
                        this.show(JSON.parse(asked), this.viewer.state);
                });
                this.element.replaceChildren(el('p', { class: 'error', role: 'alert' }, words, ' ', again));
        }

        stop() {
                if (!this.running)
                        return;
                this.running.abort();
                this.running = null;
                this.asked = '';
        }
}

/**
 * Whether an answer failed only because nothing in the trace passes its filters.
 * @param {any} error
 */
export function isNothing(error) {
        return /^nothing (that this view shows|in this trace happened)/.test(wordsOf(error));
}

/** @param {any} error */
export function wordsOf(error) {
        return error instanceof Error ? error.message : String(error);
}

/** A screen of one or more parts. */
export class AnswerScreen {
        /** @param {Viewer} viewer @param {string} id @param {string} title */
        constructor(viewer, id, title) {
                this.viewer = viewer;
                /** @type {{ part: AnswerPart, ask: (state: ViewState) => Question|null }[]} */
                this.parts = [];
                this.tools = el('div', { class: 'data-tools' });
                this.element = el('section', { id: `screen-${id}`, class: 'screen', 'aria-label': title }, this.tools);
                viewer.on('shown', (element) => this.element.contains(element) && this.search());
        }

        /**
         * @param {string} name
         * @param {(state: ViewState) => Question|null} ask
         * @param {(answer: Answer, state: ViewState) => (Node|null)[]} draw
         */
        addPart(name, ask, draw) {
                const part = new AnswerPart(this.viewer, name, draw);

                this.parts.push({ part, ask });
                this.element.append(part.element);
                return part;
        }

        /** @param {ViewState} state */
        show(state) {
                const asked = this.viewer.model.isLive ? this.viewer.liveState() : state;

                for (const { part, ask } of this.parts)
                        part.show(ask(asked), state);
                this.search();
        }

        /** The page's search box filters the tables. */
        search() {
                const text = this.viewer.state.text ?? '';
                const sum = searchTables(this.element, text);

                if (!this.element.hidden)
                        this.viewer.emit('hits', text === '' || sum.n_tables === 0 ? ''
                                : `${formatCount(sum.n_shown)} of ${formatPlural(sum.n_rows, 'row')}`);
        }

        /** Answers that have not arrived when the screen is left are cancelled. */
        hide() {
                for (const { part } of this.parts)
                        part.stop();
        }

        /**
         * A table of an answer; null if it is not there or empty.
         * @param {Answer} answer
         * @param {string} key
         * @param {Partial<DataTableOptions> & { name: string }} options
         */
        table(answer, key, options) {
                const rows = answerRows(answer, key);

                if (rows.length === 0)
                        return null;
                return new DataTable({ about: answerAbout(answer, key), rows, ...options }).element;
        }

        /**
         * The facts of an answer as a list.
         * @param {Answer} answer
         * @param {string[]} keys
         */
        facts(answer, keys) {
                const known = keys.filter((key) => isThere(answer[key]));

                return el('dl', { class: 'fact-list' }, ...known.map((key) => {
                        const words = answerCell(answerTypeOf(key), answer[key]);

                        return el('div', { class: words.length > LONG_FACT ? 'wide' : undefined }, el('dt', {}, answerTitleOf(key)),
                                  el('dd', {}, words));
                }));
        }

        /**
         * A choice whose value is part of the state.
         * @param {string} words
         * @param {string} key
         * @param {[value: string, words: string][]} choices  the first is what is meant without a value
         */
        choice(words, key, choices) {
                const list = el('select', { 'data-state': key }, ...choices.map(([value, title]) => el('option', { value }, title)));

                list.addEventListener('change', () => this.viewer.set({
                        [key]: /** @type {HTMLSelectElement} */ (list).value || undefined }));
                return el('label', {}, `${words} `, list);
        }

        /**
         * Shows the state in the choices.
         * @param {ViewState} state
         */
        settleChoices(state) {
                for (const list of /** @type {NodeListOf<HTMLSelectElement>} */ (this.tools.querySelectorAll('select[data-state]')))
                        list.value = /** @type {any} */ (state)[list.dataset.state ?? ''] ?? list.options[0]?.value ?? '';
        }

        /**
         * Goes to an instance on the timeline.
         * @param {AnswerRow} row
         */
        jump(row) {
                const begin = row.at_ns ?? row.begin_ns;

                this.viewer.goToTime(begin, begin + Math.max(row.duration_ns ?? 0, 1), { at: begin, at_thread: row.thread });
        }

        /** The events that were sampled, as choices. */
        eventChoices() {
                return /** @type {[string, string][]} */ ([['', 'default'],
                        ...this.viewer.model.events.map((/** @type {string} */ name) => [name, name])]);
        }

        threadChoices() {
                return /** @type {[string, string][]} */ ([['', 'all threads'], ...this.viewer.model.threads.map(
                        (/** @type {any} */ thread) => [thread.handle, `${thread.name} ${thread.tid ?? ''}`])]);
        }
}
