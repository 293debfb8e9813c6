// SPDX-License-Identifier: MIT
/*
 * screen_waits.js - why threads waited, which threads ended the waits, which locks were held meanwhile,
 * and the system calls
 */

import { AnswerScreen, filterOf, filterWithout } from './answer_screen.js';
import { answerRows } from './answers.js';
import { el } from './dom.js';

/**
 * @typedef {import('./answers.js').Answer} Answer
 * @typedef {import('./viewer.js').ViewState} ViewState
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

export class WaitsScreen extends AnswerScreen {
        static id = 'waits';
        static title = 'Waits';
        static key = 'b';

        /** @param {Viewer} viewer */
        constructor(viewer) {
                super(viewer, 'waits', 'Waits');
                this.tools.append(this.choice('thread', 'thread', this.threadChoices()));
                this.addPart('waits', (state) => ({ question: 'off_cpu', params: filterOf(state) }), (answer) => this.drawWaits(answer));
                this.addPart('locks', (state) => ({ question: 'locks', params: filterOf(state) }), (answer) => this.drawLocks(answer));
                this.addPart('system calls', (state) => ({ question: 'syscalls', params: filterWithout(state, ['event', 'module']) }),
                             (answer) => this.drawCalls(answer));
        }

        /** @param {ViewState} state */
        show(state) {
                this.settleChoices(state);
                super.show(state);
        }

        /** @param {Answer} answer */
        drawWaits(answer) {
                if (!answer.n_waits)
                        return [el('p', {}, 'No waits were recorded in this part.')];
                return [
                        this.facts(answer, ['n_waits', 'waiting_ns', 'mean_ns', 'max_ns', 'delay_mean_ns', 'delay_max_ns',
                                            'n_preemptions', 'preempted_ns', 'with_callstack_share', 'with_waker_share']),
                        answer.with_callstack_share ? null
                                : el('p', { class: 'muted' }, 'Places and wakers of waits are recorded with: hyprof record --off-cpu'),
                        this.table(answer, 'places', { name: 'Places and reasons', shown: 10,
                                columns: ['id', 'place', 'state', 'kernel', 'total_ns', 'share', 'count', 'mean_ns', 'max_ns',
                                          'delay_mean_ns', 'callstack', 'module'] }),
                        this.table(answer, 'wakers', { name: 'Who ended them', shown: 10 }),
                        this.table(answer, 'threads', { name: 'By thread', shown: 10,
                                onOpen: (row) => this.viewer.set({ thread: row.handle }) }),
                        this.table(answer, 'zones', { name: 'By zone', shown: 10 }),
                ];
        }

        /** @param {Answer} answer */
        drawLocks(answer) {
                if (answerRows(answer, 'locks').length === 0)
                        return [el('p', { class: 'muted' }, 'The program reported no locks.')];
                return [
                        this.table(answer, 'locks', { name: 'Locks', shown: 12,
                                columns: ['lock', 'n_obtains', 'n_waits', 'n_contended', 'wait_ns', 'wait_mean_ns', 'wait_p99_ns',
                                          'wait_max_ns', 'hold_ns', 'hold_mean_ns', 'hold_max_ns', 'blocked_ns', 'n_given_up',
                                          'place'],
                                onOpen: (row) => this.viewer.set({ screen: 'timeline', text: row.lock }) }),
                        this.table(answer, 'holders', { name: 'Held by, while others waited', shown: 10 }),
                        this.table(answer, 'waits', { name: 'Waited for by', shown: 10 }),
                ];
        }

        /** @param {Answer} answer */
        drawCalls(answer) {
                if (!answer.n_calls)
                        return [el('p', { class: 'muted' }, 'No system calls were counted in this part: hyprof record --syscalls')];
                return [
                        el('p', {}, answer.answer),
                        this.table(answer, 'calls', { name: 'System calls', shown: 12,
                                columns: ['name', 'n_calls', 'time_ns', 'time_share', 'mean_ns', 'longest_ns', 'n_errors', 'n_bytes',
                                          'mean_bytes', 'caller', 'caller_share', 'n_samples', 'n_threads'] }),
                        this.table(answer, 'callers', { name: 'Callers, as far as calls were sampled', shown: 10,
                                onOpen: (row) => this.viewer.set({ function: row.handle ?? undefined, screen: 'functions' }) }),
                        this.table(answer, 'zones', { name: 'Zones, as far as calls were sampled', shown: 8 }),
                        this.table(answer, 'threads', { name: 'Threads and their system calls', shown: 10,
                                onOpen: (row) => this.viewer.set({ thread: row.handle ?? undefined }) }),
                ];
        }
}
