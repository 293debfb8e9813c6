// SPDX-License-Identifier: MIT
// Where the page begins: finds the source of the data, waits until there is a model, and builds the page.

import { showTheme } from './colors.js';
import { el, fill, nextFrame } from './dom.js';
import { Shell } from './shell.js';
import { FileSource } from './source_file.js';
import { ServerSource } from './source_server.js';
import { Viewer, waitFor } from './viewer.js';

/**
 * While the trace is being written, at least so long, and so many times as long as it took to ask and to draw: a trace with many
 * threads keeps neither the page nor the server busy.
 */
const LIVE_STEP_LEAST_MS = 200;
const LIVE_STEP_FACTOR = 4;

/** Without anything new, screens are told so often: what they ask for by themselves may have grown, or its pause may be over. */
const LIVE_QUIET_MS = 1000;

/** The server may fail to answer this often in a row: at the end of a recording another server takes its place. */
const LIVE_MISSES_MAX = 10;

/**
 * Updates the page while the trace is being written; after that the page begins anew, with the names that the
 * recorder has added.
 * @param {Viewer} viewer
 */
async function followTrace(viewer) {
        let [took, told] = [0, 0];
        for (let misses = 0; viewer.model.isLive;) {
                await waitFor(Math.max(LIVE_STEP_LEAST_MS, LIVE_STEP_FACTOR * took));
                const since = performance.now();
                try {
                        const model = await viewer.source.model();
                        misses = 0;
                        if (!model.isLive) {
                                location.reload();
                                return;
                        }
                        if (viewer.following !== 'paused' && (model !== viewer.model || since - told >= LIVE_QUIET_MS)) {
                                told = since;
                                viewer.model = model;
                                viewer.emit('model', model);
                                await nextFrame();
                        }
                        took = performance.now() - since;
                } catch (error) {
                        if (++misses > LIVE_MISSES_MAX) {
                                viewer.emit('failure', error);
                                return;
                        }
                }
        }
}

async function startPage() {
        const page = /** @type {HTMLElement} */ (document.getElementById('page'));
        const source = document.getElementById('data-model') ? new FileSource() : new ServerSource();
        showTheme('system');
        try {
                const [model] = await Promise.all([source.model(), source.readKept()]);
                const viewer = new Viewer(source, model);
                const shell = new Shell(viewer, page);
                shell.build();
                Object.assign(globalThis, { hyprofViewer: viewer, hyprofShell: shell });
                await viewer.followModel();
                await followTrace(viewer);
        } catch (error) {
                fill(page, el('p', { class: 'failure', role: 'alert' }, /** @type {Error} */ (error).message));
        }
}

startPage();
