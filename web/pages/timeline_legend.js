// SPDX-License-Identifier: MIT
/*
 * timeline_legend.js - what the colors and marks of the timeline mean: a line above it that can be closed, and a list for
 * the help
 *
 * Way of the data:  [timeline_legend] -> screen_timeline, shell
 */

import { button, el } from './dom.js';

/** @typedef {import('./viewer.js').Viewer} Viewer */

/**
 * Class of the sign, in few words, in more words; the looks are those of timeline_paint.js.
 * @type {[string, string, string][]}
 */
const SIGNS = [
        ['running', 'running', 'the thread is on a CPU'],
        ['runnable', 'ready', 'woken, and waiting for a CPU'],
        ['preempted', 'preempted', 'it could run on, but lost its CPU'],
        ['waiting', 'waiting', 'it sleeps: for a lock, a timer, a disk, another thread'],
        ['sample', 'sample', 'a call stack was taken here'],
        ['message', 'message', 'the program wrote a message'],
        ['folded', 'several in one', 'items too short for this zoom; the mouse over it says how many and which is the longest'],
        ['late', 'late frame', 'a frame over its budget; red at the foot of the strip above as well'],
        ['hatched', 'not known', 'nothing is known of this part yet; the row says why'],
        ['chosen', 'selected range', 'all screens show this range of time'],
];

/** @param {string} sign */
function signOf(sign) {
        return el('span', { class: `timeline-sign ${sign}`, 'aria-hidden': 'true' });
}

/** A table for the help. */
export function legendTable() {
        return el('table', { class: 'legend' }, el('tbody', null, SIGNS.map(([sign, word, words]) => el('tr', null,
                el('th', { scope: 'row' }, signOf(sign), ' ', word), el('td', null, words)))));
}

/**
 * The line that a first visit has; closed, it does not come back.
 * @param {Viewer} viewer
 */
export function legendLine(viewer) {
        const line = el('div', { class: 'timeline-hint muted', role: 'note', hidden: viewer.source.recall('hint') === 'closed' },
                el('span', null, 'wheel or pinch zooms · drag moves · Shift+drag selects · / searches · ? explains all'),
                SIGNS.slice(0, 7).map(([sign, word, words]) => el('span', { title: words }, signOf(sign), ' ', word)));
        line.append(button('×', () => {
                line.hidden = true;
                viewer.remember('hint', 'closed');
        }, { class: 'quiet', title: 'Close; ? shows it again', 'aria-label': 'Close the hint' }));
        return line;
}
