// SPDX-License-Identifier: MIT
'use strict';
/*
 * screen_waits.js - for what threads waited, who ended it, and which locks were held meanwhile
 */

class WaitsScreen extends AnswerScreen {
        static id = 'waits';
        static title = 'Waits';
        static key = 'b';

        /** @param {Viewer} viewer */
        constructor(viewer) {
                super(viewer, 'waits', 'Waits');
                this.tools.append(this.choice('thread', 'thread', this.threadChoices()));
                this.addPart('waits', (state) => ({ question: 'off_cpu', params: filterOf(state) }), (answer) => this.drawWaits(answer));
                this.addPart('locks', (state) => ({ question: 'locks', params: filterOf(state) }), (answer) => this.drawLocks(answer));
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
}
screens.push(WaitsScreen);
