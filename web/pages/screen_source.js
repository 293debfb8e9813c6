// SPDX-License-Identifier: MIT
'use strict';
/*
 * screen_source.js - a function: its source and its instructions side by side, with the share of each
 */

class SourceScreen extends AnswerScreen {
        static id = 'source';
        static title = 'Source';
        static key = 'o';

        /** @param {Viewer} viewer */
        constructor(viewer) {
                super(viewer, 'source', 'Source');
                this.tools.append(
                        this.choice('event', 'event', this.eventChoices()),
                        this.choice('show', 'inlined', [['', 'its own code'], ['1', 'where it was inlined']]),
                        this.choice('instructions', 'syntax', [['', 'AT&T'], ['intel', 'Intel']]));
                this.addPart('source and instructions', (state) => ({ question: 'annotate', params: {
                        ...filterOf(state), context: 'all', ...(state.function ? { function: state.function } : {}),
                        ...(state.inlined ? { inlined: '1' } : {}),
                        ...(state.syntax ? { disassembler_style: state.syntax } : {}) } }),
                             (answer) => this.draw(answer));
                /** @type {{ file: string, line: number }|null} */
                this.place = null;
        }

        /** @param {ViewState} state */
        show(state) {
                this.settleChoices(state);
                super.show(state);
        }

        /** @param {Answer} answer */
        draw(answer) {
                const lines = answerRows(answer, 'lines');
                const instructions = answerRows(answer, 'instructions');
                const left = el('div', { class: 'listing', tabindex: '0', role: 'region', 'aria-label': 'source lines' });
                const right = el('div', { class: 'listing', tabindex: '0', role: 'region', 'aria-label': 'instructions' });

                this.fillLines(left, lines);
                this.fillInstructions(right, instructions);
                left.addEventListener('click', (event) => this.choose(event, left, right));
                right.addEventListener('click', (event) => this.choose(event, left, right));
                return [
                        answer.why_no_code ? el('p', { class: 'doubt' }, answer.why_no_code) : null,
                        ...answer.warnings.map((words) => el('p', { class: 'doubt' }, words)),
                        el('p', { class: 'muted' }, `${answer.function} in ${answer.module}; shares are of the function's ` +
                           'samples; a click on a line marks its instructions, and the reverse'),
                        el('div', { class: 'side-by-side' }, left, right),
                        this.table(answer, 'functions', { name: 'Other functions', shown: 6,
                                onOpen: (row) => this.viewer.set({ function: row.handle }) }),
                ];
        }

        /** @param {HTMLElement} pane @param {AnswerRow[]} rows */
        fillLines(pane, rows) {
                let file = '';

                if (rows.length === 0)
                        pane.append(el('p', { class: 'muted' }, 'no lines: the code has no line information'));
                for (const row of rows) {
                        if (row.file !== file) {
                                file = row.file;
                                pane.append(el('div', { class: 'listing-file' }, file));
                        }
                        const missing = row.line ? '(source not found)' : '(no line information)';

                        pane.append(this.line(row, [
                                el('span', { class: 'listing-number' }, String(row.line ?? '')),
                                el('span', { class: 'listing-text' }, row.text ?? missing)]));
                }
        }

        /** @param {HTMLElement} pane @param {AnswerRow[]} rows */
        fillInstructions(pane, rows) {
                let owner = '';

                if (rows.length === 0)
                        pane.append(el('p', { class: 'muted' }, 'no instructions: the code is not there'));
                for (const row of rows) {
                        const words = row.inlined_into ? `${row.function}, inlined into ${row.inlined_into}` : row.function ?? '';

                        if (words !== owner && words !== '') {
                                owner = words;
                                pane.append(el('div', { class: 'listing-file' }, owner));
                        }
                        const jump = this.jumpOf(row, pane);

                        pane.append(this.line(row, [
                                el('span', { class: 'listing-number' }, row.address),
                                el('span', { class: 'listing-text' }, row.instruction ?? '', jump)], row.address));
                }
        }

        /**
         * A jump as a link to where it goes.
         * @param {AnswerRow} row
         * @param {HTMLElement} pane
         */
        jumpOf(row, pane) {
                if (!row.target_address)
                        return row.target ? el('span', { class: 'muted' }, `  → ${row.target}`) : null;
                const link = el('button', { type: 'button', class: 'link' }, `  → ${row.target ?? row.target_address}`);

                link.addEventListener('click', (event) => {
                        const line = pane.querySelector(`[data-address="${CSS.escape(row.target_address)}"]`);

                        event.stopPropagation();
                        line?.scrollIntoView({ block: 'center' });
                        line?.classList.add('marked');
                });
                return link;
        }

        /** @param {AnswerRow} row @param {Node[]} parts @param {string} [address] */
        line(row, parts, address) {
                const heat = row.share > 0 ? Math.min(1, Math.sqrt(row.share)) : 0;
                const bar = el('span', { class: 'listing-bar', 'aria-hidden': 'true' });
                const element = el('div', { class: 'listing-line', 'data-file': row.file ?? '', 'data-line': String(row.line ?? ''),
                                            'data-address': address ?? null },
                                   bar, el('span', { class: 'listing-share' }, row.share > 0 ? formatShare(row.share) : ''),
                                   el('span', { class: 'listing-count' }, row.n_samples > 0 ? formatCount(row.n_samples) : ''),
                                   ...parts);

                bar.style.width = `${Math.round(heat * 108)}px`;
                return element;
        }

        /**
         * Marks the lines and instructions of one place.
         * @param {MouseEvent} event
         * @param {HTMLElement[]} panes
         */
        choose(event, ...panes) {
                const line = /** @type {HTMLElement|null} */ (
                        event.target instanceof Element ? event.target.closest('.listing-line') : null);

                if (!line)
                        return;
                for (const pane of panes) {
                        let first = true;

                        for (const other of /** @type {NodeListOf<HTMLElement>} */ (pane.querySelectorAll('.listing-line'))) {
                                const isSame = other.dataset.line === line.dataset.line && other.dataset.file === line.dataset.file;

                                other.classList.toggle('marked', isSame);
                                if (isSame && first && !pane.contains(line))
                                        other.scrollIntoView({ block: 'center' });
                                first = first && !isSame;
                        }
                }
        }
}
screens.push(SourceScreen);
