// SPDX-License-Identifier: MIT
/*
 * compare_with.js - a dialog with the traces of the folder, one of which is to be compared with the one that is shown
 *
 * Way of the data:  source.nearby(), a person -> [compare_with] -> source.compare() -> the page begins anew with both
 *
 * The viewer starts another server for the two; meanwhile requests wait, or are refused.
 */

import { button, el, fill } from './dom.js';
import { formatBytes } from './format.js';
import { ServerSource } from './source_server.js';
import { waitFor } from './viewer.js';

/** @typedef {import('./viewer.js').Viewer} Viewer */

const STEP_MS = 200;
/** A trace that takes longer to open is given up; the page can be loaded again later. */
const PATIENCE_MS = 120000;

/**
 * The button that opens the dialog; null where there is no server, or the recording runs.
 * @param {Viewer} viewer
 */
export function compareButton(viewer) {
        if (!(viewer.source instanceof ServerSource) || viewer.model.isLive)
                return null;
        return button('Compare with…', () => new CompareDialog(viewer, /** @type {ServerSource} */ (viewer.source)).open(), {
                class: 'quiet', title: 'another recording of this folder, from before a change' });
}

class CompareDialog {
        /** @param {Viewer} viewer @param {ServerSource} source */
        constructor(viewer, source) {
                this.viewer = viewer;
                this.source = source;
                this.list = el('div', { class: 'compare-list' }, 'looking for recordings');
                this.words = el('p', { class: 'muted', role: 'status' });
                this.dialog = /** @type {HTMLDialogElement} */ (el('dialog', { class: 'help', 'aria-label': 'Compare with' },
                        el('h2', null, 'Compare with a recording of this folder, from before a change'), this.list, this.words,
                        el('form', { method: 'dialog' }, el('button', { class: 'quiet' }, 'Close'))));
                this.dialog.addEventListener('close', () => this.dialog.remove());
        }

        async open() {
                document.body.append(this.dialog);
                this.dialog.showModal();
                try {
                        const { traces } = await this.source.nearby();

                        fill(this.list, traces.length === 0 ? el('p', null, 'this folder has no other recording; from elsewhere: ' +
                                'hyprof view BEFORE AFTER') : el('table', null, el('tbody', null, traces.map((one) => this.row(one)))));
                } catch (error) {
                        fill(this.list, el('p', { class: 'failure', role: 'alert' }, /** @type {Error} */ (error).message));
                }
        }

        /** @param {import('./source_server.js').NearbyTrace} trace */
        row(trace) {
                return el('tr', null, el('td', null, button(trace.name, () => this.choose(trace.name), { class: 'link' })),
                          el('td', { class: 'number' }, formatBytes(trace.bytes)),
                          el('td', { class: 'muted' }, new Date(trace.modified_s * 1000).toLocaleString()));
        }

        /** @param {string} name */
        async choose(name) {
                this.words.textContent = `reading ${name}`;
                for (const one of this.list.querySelectorAll('button'))
                        one.disabled = true;
                try {
                        await this.source.compare(name);
                        await this.untilShown();
                        location.hash = '#screen=compare';
                        location.reload();
                } catch (error) {
                        this.words.textContent = '';
                        fill(this.list, el('p', { class: 'failure', role: 'alert' },
                                           `${name} cannot be shown: ${/** @type {Error} */ (error).message}`));
                }
        }

        /** Waits for the server that has both traces; fails with the reason why there is none. */
        async untilShown() {
                for (const end = performance.now() + PATIENCE_MS; ; await waitFor(STEP_MS)) {
                        const now = await this.source.nearby().catch(() => null);

                        if (now?.failure)
                                throw new Error(now.failure);
                        if (now?.isCompared)
                                return;
                        if (performance.now() > end)
                                throw new Error('no answer from hyprof view');
                }
        }
}
