// SPDX-License-Identifier: MIT
/*
 * screen_source.js - a function: its source files and its instructions side by side, with the share of each
 */

import { AnswerScreen, doubtsOf, filterOf } from './answer_screen.js';
import { answerRows } from './answers.js';
import { isThere } from './data_table.js';
import { button, el } from './dom.js';
import { formatShare } from './format.js';
import { ListingPane } from './listing_pane.js';

/**
 * @typedef {import('./answers.js').Answer} Answer
 * @typedef {import('./answers.js').AnswerRow} AnswerRow
 * @typedef {import('./listing_pane.js').ListingRow} ListingRow
 * @typedef {import('./viewer.js').ViewState} ViewState
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

export class SourceScreen extends AnswerScreen {
        static id = 'source';
        static title = 'Source';
        static key = 'o';

        /** @param {Viewer} viewer */
        constructor(viewer) {
                super(viewer, 'source', 'Source');
                this.element.classList.add('source-screen');
                this.tools.append(
                        this.choice('event', 'event', this.eventChoices()),
                        this.choice('show', 'inlined', [['', 'its own code'], ['1', 'where it was inlined']]),
                        this.choice('instructions', 'syntax', [['', 'AT&T'], ['intel', 'Intel']]));
                this.addPart('source and instructions', (state) => ({ question: 'annotate', params: {
                        ...filterOf(state), context: 'all', whole_files: '1', ...(state.function ? { function: state.function } : {}),
                        ...(state.inlined ? { inlined: '1' } : {}),
                        ...(state.syntax ? { disassembler_style: state.syntax } : {}) } }),
                             (answer) => this.draw(answer));
                this.addPart('functions', (state) => ({ question: 'functions', params: filterOf(state) }),
                             (answer) => [this.table(answer, 'functions', {
                                     name: 'All functions', shown: 6, columns: ['function', 'self_share', 'self_samples', 'module'],
                                     about: 'Enter or a click shows its source',
                                     isChosen: (row) => row.handle === this.handle,
                                     onOpen: (row) => this.viewer.set({ function: row.handle }) })]).isPlain = true;
                /** The handle of the function that is shown. */
                this.handle = '';
                this.file = '';
        }

        /** @param {ViewState} state */
        show(state) {
                this.settleChoices(state);
                super.show(state);
        }

        /** @param {Answer} answer */
        draw(answer) {
                this.lines = answerRows(answer, 'lines');
                this.handle = answer.handle ?? '';
                const files = this.files();
                const right = new ListingPane({ name: 'instructions', numberTitle: 'address', rows: this.instructionRows(answer),
                                                onChoose: (row) => this.choose(row, true) });

                this.file = files[0]?.file ?? '';
                this.right = right;
                this.place = el('div', { class: 'listing-side' });
                this.fileList = /** @type {HTMLSelectElement} */ (el('select', { 'aria-label': 'source file' },
                        ...files.map(({ file, share }) => el('option', { value: file },
                                `${shortPath(file)}${share > 0 ? `  ${formatShare(share)}` : ''}`))));
                this.fileList.addEventListener('change', () => this.showFile(this.fileList?.value ?? ''));
                this.origin = el('span', { class: 'muted' });
                this.showFile(this.file);
                requestAnimationFrame(() => right.showHottest());
                return [
                        answer.why_no_code ? el('p', { class: 'doubt' }, answer.why_no_code) : null,
                        doubtsOf(answer.warnings.filter((words) => !answer.why_no_code || !words.includes(answer.why_no_code))),
                        el('div', { class: 'side-by-side' },
                           el('div', { class: 'listing-side' }, el('div', { class: 'data-tools' }, el('h3', {}, 'Source'),
                                   files.length > 0 ? this.fileList : null, files.length > 0
                                           ? button('hottest line', () => this.left?.showHottest()) : null, this.origin),
                              this.place),
                           el('div', { class: 'listing-side' }, el('div', { class: 'data-tools' }, el('h3', {}, 'Instructions'),
                                   button('hottest instruction', () => right.showHottest()),
                                   el('span', { class: 'muted' }, 'a row marks its counterpart; Enter follows a jump')), right.element)),
                ];
        }

        /** Files with their share of the function, the largest first. */
        files() {
                /** @type {Map<string, number>} */
                const shares = new Map();

                for (const row of this.lines ?? [])
                        if (row.file)
                                shares.set(row.file, (shares.get(row.file) ?? 0) + (row.share ?? 0));
                return [...shares].map(([file, share]) => ({ file, share })).sort((a, b) => b.share - a.share);
        }

        /** @param {string} file */
        showFile(file) {
                const rows = (this.lines ?? []).filter((row) => (row.file ?? '') === file);
                const source = rows.find((row) => row.source)?.source;
                /** @type {{ [source: string]: string }} */
                const origins = { trace: 'kept in the trace', file: 'the file on this machine',
                                  withheld: 'the source is private, hidden or not named like one: --source-dir shows it',
                                  'newer file': 'the file is newer than the recording: lines may have moved',
                                  none: 'text not found: record with --embed-source' };

                this.file = file;
                if (this.fileList)
                        this.fileList.value = file;
                if (this.origin) {
                        this.origin.textContent = origins[source ?? ''] ?? '';
                        this.origin.title = this.origin.textContent ?? '';
                        this.origin.classList.toggle('bad', source === 'newer file');
                }
                if (rows.length === 0) {
                        this.left = null;
                        this.place?.replaceChildren(el('div', { class: 'listing' }, el('p', { class: 'muted' },
                                'no lines: the code has no line information')));
                        return;
                }
                const left = new ListingPane({ name: 'source lines', numberTitle: 'line', rows: rows.map((row) => ({ title: '', row,
                        number: String(row.line ?? ''), text: row.line ? row.text?.replace(/\t/g, '        ') ?? null : '',
                })), onChoose: (row) => this.choose(row, false) });

                this.left = left;
                this.place?.replaceChildren(left.element);
                requestAnimationFrame(() => left.showHottest());
        }

        /** @param {Answer} answer @returns {ListingRow[]} instructions; a title where other code was inlined */
        instructionRows(answer) {
                /** @type {ListingRow[]} */
                const rows = [];
                let owner = '';

                for (const row of answerRows(answer, 'instructions')) {
                        const words = row.inlined_into ? `${row.function} inlined into ${row.inlined_into.join(' < ')}`
                                : row.function ?? '';

                        if (words !== owner && words !== '') {
                                owner = words;
                                rows.push({ title: words, row: null, number: '', text: '' });
                        }
                        rows.push({ title: '', row, number: row.address ?? '', text: row.instruction ?? '' });
                }
                return rows;
        }

        /**
         * Marks the lines and instructions of one place.
         * @param {AnswerRow} chosen
         * @param {boolean} isInstruction
         */
        choose(chosen, isInstruction) {
                /** @param {AnswerRow} row */
                const isSame = (row) => isThere(row.line) && row.line === chosen.line && row.file === chosen.file;

                if (isInstruction && chosen.file && chosen.file !== this.file)
                        this.showFile(chosen.file);
                this.left?.mark(isSame);
                this.right?.mark(isSame);
                if (isInstruction)
                        requestAnimationFrame(() => this.left?.show(isSame));
                else
                        this.right?.show(isSame);
        }
}

/**
 * The last parts of a path.
 * @param {string} path
 */
function shortPath(path) {
        const parts = path.split('/');

        return parts.length > 3 ? `…/${parts.slice(-2).join('/')}` : path;
}
