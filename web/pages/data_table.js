// SPDX-License-Identifier: MIT
/*
 * data_table.js - a table of an answer: sorted, filtered, copied, saved, walked by keyboard
 *
 * Way of the data:  answers: rows -> [data_table] -> the page
 *
 * Only the rows that are in sight are in the document, so a table of a hundred thousand rows costs what fifty do.  All
 * texts are hostile and become text nodes.
 */

import { answerCell, answerColumn, csvOf, isNumberType } from './answers.js';
import { copyText, el, saveFile } from './dom.js';
import { formatCount, formatPlural } from './format.js';

/**
 * @typedef {import('./answers.js').AnswerColumn} AnswerColumn
 * @typedef {import('./answers.js').AnswerRow} AnswerRow
 */

const DATA_TABLE_ROW_PX = 24;
const DATA_TABLE_ROWS_SHOWN = 18;
const DATA_TABLE_ROWS_AROUND = 6;

/**
 * @typedef {object} DataTableOptions
 * @property {string} name                       for screen readers and the name of a saved file
 * @property {string} [about]                    the line below the title
 * @property {AnswerRow[]} rows
 * @property {(string|AnswerColumn)[]} [columns] default: all keys of the first row
 * @property {string} [sortBy]                   default: as it came
 * @property {(row: AnswerRow) => void} [onOpen] a click, or Enter
 * @property {(row: AnswerRow) => boolean} [isChosen]
 * @property {number} [shown]                    rows in sight; default 18
 */

/**
 * The tables of the page, by their elements: the search box of the page filters those of the screen that is shown.
 * @type {WeakMap<Element, DataTable>}
 */
export const dataTables = new WeakMap();

/**
 * Filters all tables of a screen by the text of the page's search box.
 * @param {HTMLElement} screen
 * @param {string} text
 * @returns {{ n_shown: number, n_rows: number, n_tables: number }}
 */
export function searchTables(screen, text) {
        const sum = { n_shown: 0, n_rows: 0, n_tables: 0 };

        for (const element of screen.querySelectorAll('.data-table')) {
                const table = dataTables.get(element);

                if (!table)
                        continue;
                table.setSearch(text);
                sum.n_shown += table.rows.length;
                sum.n_rows += table.options.rows.length;
                sum.n_tables++;
        }
        return sum;
}

export class DataTable {
        /** @param {DataTableOptions} options */
        constructor(options) {
                this.options = options;
                this.filter = /** @type {HTMLInputElement} */ (el('input', { type: 'search', placeholder: 'filter',
                        'aria-label': `filter ${options.name}` }));
                this.count = el('span', { class: 'muted', role: 'status' });
                this.head = el('tr', { role: 'row' });
                this.body = el('tbody', {});
                this.table = el('table', { class: 'data', role: 'grid', 'aria-label': options.name },
                                el('thead', {}, this.head), this.body);
                this.pane = el('div', { class: 'data-pane', tabindex: '0', role: 'group',
                                        'aria-label': `${options.name}: arrows move, Enter opens` }, this.table);
                this.columns = (options.columns ?? Object.keys(options.rows[0] ?? {}).filter((key) => key !== 'bar'))
                        .map((c) => typeof c === 'string' ? answerColumn(c) : c)
                        .filter((c) => options.rows.length === 0 || options.rows.some((row) => isThere(row[c.key])));
                /** @type {{ key: string, isDown: boolean }|null} */
                this.order = options.sortBy ? { key: options.sortBy, isDown: true } : null;
                this.words = '';
                /** The text of the page's search box; applies in addition to the filter of the table. */
                this.search = '';
                this.rows = options.rows;
                this.at = 0;
                this.largest = new Map(this.columns.filter((c) => c.type === 'share').map((c) => [c.key, Math.max(
                        ...options.rows.slice(0, 5000).map((row) => Math.abs(row[c.key] ?? 0)), 1e-12)]));
                this.element = this.build();
                dataTables.set(this.element, this);
                this.arrange();
        }

        build() {
                this.filter.addEventListener('input', () => {
                        this.words = this.filter.value.toLowerCase();
                        this.arrange();
                });
                const copy = el('button', { type: 'button' }, 'copy');
                const save = el('button', { type: 'button' }, 'save CSV');

                copy.addEventListener('click', () => this.copy(copy));
                save.addEventListener('click', () => saveFile(`${fileNameOf(this.options.name)}.csv`, 'text/csv', this.csv()));
                this.pane.style.maxHeight = `${(this.options.shown ?? DATA_TABLE_ROWS_SHOWN) * DATA_TABLE_ROW_PX + 30}px`;
                this.pane.addEventListener('scroll', () => this.draw());
                this.pane.addEventListener('keydown', (event) => this.key(event));
                this.buildHead();
                return el('div', { class: 'data-table' },
                                  el('div', { class: 'data-tools' },
                                     el('h3', {}, this.options.name), this.filter, copy, save, this.count),
                                  this.options.about ? el('p', { class: 'muted' }, this.options.about) : null, this.pane);
        }

        /** @param {string} text */
        setSearch(text) {
                const search = text.toLowerCase();

                if (search === this.search)
                        return;
                this.search = search;
                this.pane.scrollTop = 0;
                this.arrange();
        }

        /** @param {AnswerRow} row @param {string} words */
        hasWords(row, words) {
                return words === '' || this.columns.some((c) => answerCell(c.type, row[c.key]).toLowerCase().includes(words));
        }

        buildHead() {
                this.head.replaceChildren(...this.columns.map((column) => {
                        const isOrder = this.order !== null && this.order.key === column.key;
                        const button = el('button', { type: 'button', 'data-key': column.key }, column.title,
                                          isOrder ? el('span', { 'aria-hidden': 'true' }, this.order?.isDown ? ' ▾' : ' ▴') : null);

                        button.addEventListener('click', () => this.sortBy(column));
                        return el('th', { scope: 'col', role: 'columnheader', class: isNumberType(column.type) ? 'number' : '',
                                          'aria-sort': !isOrder ? 'none' : this.order?.isDown ? 'descending' : 'ascending' },
                                  button);
                }));
        }

        /** @param {AnswerColumn} column */
        sortBy(column) {
                const isDown = this.order?.key === column.key ? !this.order.isDown : isNumberType(column.type);

                this.order = { key: column.key, isDown };
                this.buildHead();
                this.arrange();
                /** @type {HTMLElement|null} */ (this.head.querySelector(`[data-key="${CSS.escape(column.key)}"]`))?.focus();
        }

        /** Filters and sorts. */
        arrange() {
                const { words, search, order } = this;
                const wanted = this.options.rows.filter((row) => this.hasWords(row, words) && this.hasWords(row, search));

                if (order) {
                        const sign = order.isDown ? -1 : 1;

                        wanted.sort((a, b) => sign * compareCells(a[order.key], b[order.key]));
                }
                this.rows = wanted;
                this.at = Math.min(this.at, Math.max(0, wanted.length - 1));
                const chosen = this.options.isChosen ? wanted.findIndex(this.options.isChosen) : -1;
                if (chosen >= 0)
                        this.at = chosen;
                this.count.textContent = (words === '' && search === '' ? '' : `${formatCount(wanted.length)} of `) +
                        formatPlural(this.options.rows.length, 'row');
                this.draw();
        }

        draw() {
                const first = Math.max(0, Math.floor(this.pane.scrollTop / DATA_TABLE_ROW_PX) - DATA_TABLE_ROWS_AROUND);
                const shown = (this.options.shown ?? DATA_TABLE_ROWS_SHOWN) + 2 * DATA_TABLE_ROWS_AROUND;
                const last = Math.min(this.rows.length, first + shown);
                const rows = [];

                this.table.setAttribute('aria-rowcount', String(this.rows.length + 1));
                if (first > 0)
                        rows.push(this.gap(first));
                for (let i = first; i < last; i++)
                        rows.push(this.row(i));
                if (last < this.rows.length)
                        rows.push(this.gap(this.rows.length - last));
                if (this.rows.length === 0)
                        rows.push(el('tr', {}, el('td', { colspan: String(Math.max(1, this.columns.length)), class: 'muted' },
                                                  'none')));
                this.body.replaceChildren(...rows);
        }

        /** @param {number} n_rows */
        gap(n_rows) {
                const cell = el('td', { colspan: String(Math.max(1, this.columns.length)) });

                cell.style.height = `${n_rows * DATA_TABLE_ROW_PX}px`;
                return el('tr', { 'aria-hidden': 'true', class: 'gap' }, cell);
        }

        /** @param {number} i */
        row(i) {
                const row = this.rows[i];
                const isChosen = this.options.isChosen?.(row) ?? false;
                const element = el('tr', { role: 'row', 'aria-rowindex': String(i + 2), 'aria-selected': String(isChosen),
                                           class: `${i === this.at ? 'at' : ''} ${this.options.onOpen ? 'opens' : ''}` },
                                   ...this.columns.map((column) => this.cell(column, row)));

                element.addEventListener('click', () => {
                        this.at = i;
                        this.draw();
                        this.options.onOpen?.(row);
                });
                return element;
        }

        /** @param {AnswerColumn} column @param {AnswerRow} row */
        cell(column, row) {
                const text = answerCell(column.type, row[column.key]);
                const cell = el('td', { role: 'gridcell', title: text.length > 24 ? text : null,
                                        class: isNumberType(column.type) ? 'number' : column.type }, text);
                const depth = row.depth;

                if (typeof depth === 'number' && column === this.columns.find((c) => c.type === 'text'))
                        cell.style.paddingLeft = `${8 + 12 * Math.min(depth, 40)}px`;
                if (column.type === 'share' && typeof row[column.key] === 'number') {
                        const bar = el('span', { class: 'bar', 'aria-hidden': 'true' });

                        bar.style.width = `${100 * Math.abs(row[column.key]) / (this.largest.get(column.key) ?? 1)}%`;
                        cell.prepend(bar);
                }
                return cell;
        }

        /** @param {KeyboardEvent} event */
        key(event) {
                const page = (this.options.shown ?? DATA_TABLE_ROWS_SHOWN) - 1;
                /** @type {{ [key: string]: number }} */
                const moves = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + page,
                                PageUp: this.at - page, Home: 0, End: this.rows.length - 1 };

                if (event.target !== this.pane)
                        return;
                if (event.key === 'Enter' && this.rows[this.at]) {
                        this.options.onOpen?.(this.rows[this.at]);
                } else if (event.key in moves) {
                        this.at = Math.max(0, Math.min(this.rows.length - 1, moves[event.key]));
                        this.reveal();
                        this.draw();
                } else {
                        return;
                }
                event.preventDefault();
                event.stopPropagation();
        }

        /** Scrolls so that the row under the keyboard is in sight. */
        reveal() {
                const top = this.at * DATA_TABLE_ROW_PX;
                const height = this.pane.clientHeight - 30 - DATA_TABLE_ROW_PX;

                if (top < this.pane.scrollTop)
                        this.pane.scrollTop = top;
                else if (top > this.pane.scrollTop + height)
                        this.pane.scrollTop = top - height;
        }

        csv() {
                return csvOf(this.columns, this.rows);
        }

        /** @param {HTMLElement} button */
        async copy(button) {
                button.textContent = await copyText(this.csv()) ? 'copied' : 'not permitted';
                setTimeout(() => { button.textContent = 'copy'; }, 1500);
        }
}

/** @param {any} value */
export function isThere(value) {
        return value !== null && value !== undefined;
}

/**
 * Unknown values are smaller than all.
 * @param {any} a
 * @param {any} b
 */
function compareCells(a, b) {
        if (!isThere(a) || !isThere(b))
                return Number(isThere(a)) - Number(isThere(b));
        if (typeof a === 'number' && typeof b === 'number')
                return a - b;
        return String(a).localeCompare(String(b), 'en', { numeric: true });
}

/** @param {string} name */
function fileNameOf(name) {
        return name.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'table';
}
