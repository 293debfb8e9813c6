// SPDX-License-Identifier: MIT
/*
 * wait_panel.js - what a thread waited for, as a part of the panel of an item: the places, the call stack, who ended it, what
 * that thread did meanwhile; each leads there
 *
 * Way of the data:  wait_facts -> [wait_panel] -> instance_panel
 */

import { button, el } from './dom.js';
import { DataTable } from './data_table.js';
import { formatDuration } from './format.js';
import { adviceOfOwners, wordsOfPlace, wordsOfWaker } from './wait_facts.js';

/**
 * @typedef {import('./answers.js').AnswerRow} AnswerRow
 * @typedef {import('./instance_panel.js').InstancePanel} InstancePanel
 * @typedef {import('./wait_facts.js').WaitFacts} WaitFacts
 */

/**
 * waitPart() - the elements of it; none if the thread did not wait
 * @param {InstancePanel} panel
 * @param {WaitFacts} facts
 * @returns {HTMLElement[]}
 */
export function waitPart(panel, facts) {
        const { subject, places } = facts;

        if (subject.kind === 'preempted')
                return [...ownersTable(panel, facts.owners, subject.begin, subject.end)];
        if (places.length === 0)
                return [];
        return [el('section', { class: 'panel-wait', 'aria-label': 'what it waited for' },
                   ...(subject.kind === 'zone' ? tablesOfZone(panel, facts) : factsOfWait(panel, facts)),
                   stackOf(places[0]), ...meanwhileOf(panel, facts),
                   facts.lack ? el('p', { class: 'muted' }, facts.lack) : null)];
}

/** @param {InstancePanel} panel @param {WaitFacts} facts */
function factsOfWait(panel, facts) {
        const { subject, places, wakers } = facts;
        const words = wordsOfWaker(wakers[0]);
        const waker = subject.waker !== 0 ? button(words, () => panel.toThread(subject.waker, subject.end), { class: 'link' }) : words;
        /** @type {[string, HTMLElement|string][]} */
        const rows = [['waited in', wordsOfPlace(places[0])], ['in the kernel', places[0].kernel ?? ''], ['ended by', waker]];

        return [el('dl', { class: 'fact-list' }, ...rows.filter((row) => row[1] !== '').map(([title, value]) =>
                el('div', {}, el('dt', {}, title), el('dd', {}, value))))];
}

/**
 * A zone may have waited in several places, and several threads may have ended that.
 * @param {InstancePanel} panel
 * @param {WaitFacts} facts
 */
function tablesOfZone(panel, facts) {
        const { hit, viewer } = panel;
        const shown = { shown: 4 };

        return [new DataTable({ name: 'Where it waited', rows: facts.places, ...shown,
                                columns: ['total_ns', 'count', 'place', 'state', 'kernel'] }),
                new DataTable({ name: 'Who ended these waits', rows: facts.wakers, ...shown,
                                about: 'Enter or a click goes to the longest wait that it ended',
                                columns: [{ key: 'total_ns', title: 'ended', type: 'duration' },
                                          { key: 'count', title: 'count', type: 'count' },
                                          { key: 'thread_name', title: 'by thread', type: 'text' },
                                          { key: 'function', title: 'which was in', type: 'text' }],
                                onOpen: (row) => hit && panel.hit === hit && panel.toWakeUp(threadOf(viewer, row), hit) }),
        ].map((table) => table.element);
}

/**
 * The thread of a row, by its numbers; 0 = none, or several of that name
 * @param {InstancePanel['viewer']} viewer
 * @param {AnswerRow} row
 */
function threadOf(viewer, row) {
        const { model } = viewer;
        const found = model.threads.filter((thread) => thread.tid === row.tid && model.processesById.get(thread.process)?.pid === row.pid);

        return found.length === 1 ? found[0].id : 0;
}

/** @param {AnswerRow} place */
function stackOf(place) {
        const stack = /** @type {string[]} */ (place.callstack ?? []);

        return stack.length === 0 ? el('p', { class: 'muted' }, 'no call stack was recorded at this wait')
                : el('details', { open: stack.length <= 24 },
                     el('summary', {}, `call stack of ${wordsOfPlace(place)}, the innermost first`),
                     el('ol', { class: 'call-stack' }, ...stack.map((name) => el('li', {}, name))));
}

/** @param {InstancePanel} panel @param {WaitFacts} facts */
function meanwhileOf(panel, facts) {
        const { model } = panel.viewer;
        const { begin } = facts.subject;
        const rows = facts.segments.map((segment) => ({ after_ns: segment.begin - begin, part_ns: segment.end - segment.begin,
                thread: model.threadName(segment.thread), what: segment.what, function: segment.name, segment }));

        if (facts.ran)
                return [el('p', {}, `${model.threadName(facts.subject.waker)} ran meanwhile: ${facts.ran}`)];
        if (rows.length === 0)
                return [];
        return [el('p', {}, facts.sentence),
                new DataTable({ name: 'Meanwhile', rows, shown: 6, about: 'what it waited for; Enter or a click goes there',
                        columns: [{ key: 'after_ns', title: 'at', type: 'duration' }, { key: 'part_ns', title: 'for', type: 'duration' },
                                  { key: 'thread', title: 'thread', type: 'text' }, { key: 'what', title: 'state', type: 'text' },
                                  { key: 'function', title: 'in', type: 'text' }],
                        onOpen: (row) => panel.toThread(row.segment.thread, row.segment.begin) }).element];
}

/**
 * ownersTable() - who had the CPU while a thread was ready to run
 * @param {InstancePanel} panel
 * @param {AnswerRow[]} rows  of hyprof.threads
 * @param {number} from
 * @param {number} to
 * @returns {HTMLElement[]}
 */
export function ownersTable(panel, rows, from, to) {
        const advice = adviceOfOwners(rows);

        return rows.length === 0 ? [] : [
                new DataTable({ name: 'Who had the CPU while it was ready to run', rows, shown: 5,
                        about: `${formatDuration(to - from)} in all; Enter or a click goes to the thread`,
                        columns: ['ready_ns', 'share', 'owner_name', 'owner_pid'],
                        onOpen: (row) => row.owner_handle && panel.toRun(Number(row.owner_handle.slice(1)), from, to) }).element,
                ...(advice ? [el('p', { class: 'muted' }, advice)] : [])];
}
