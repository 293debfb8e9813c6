// SPDX-License-Identifier: MIT
/*
 * screen_info.js - what was recorded, on which machine, and what is missing or was lost, in the words of the report
 */

import { AnswerScreen, filterOf } from './answer_screen.js';
import { el } from './dom.js';

/**
 * @typedef {import('./answers.js').Answer} Answer
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

export class InfoScreen extends AnswerScreen {
        static id = 'info';
        static title = 'Info';
        static key = 'i';

        /** @param {Viewer} viewer */
        constructor(viewer) {
                super(viewer, 'info', 'Info');
                this.addPart('the recording', (state) => ({ question: 'overview', params: filterOf(state) }),
                             (answer) => this.draw(answer));
                this.addPart('threads', (state) => ({ question: 'threads', params: filterOf(state) }),
                             (answer) => [this.table(answer, 'threads', { name: 'Threads', shown: 12,
                                     onOpen: (row) => this.viewer.set({ thread: row.handle, screen: 'functions' }) }),
                        this.table(answer, 'names', { name: 'Threads that had several names', shown: 8,
                                onOpen: (row) => this.viewer.set({ thread: row.handle }) }),
                        this.table(answer, 'owners', { name: 'Threads ready to run: who had the CPU', shown: 8 })]);
                this.addPart('modules', (state) => ({ question: 'modules', params: filterOf(state) }),
                             (answer) => [this.table(answer, 'modules', { name: 'Files with samples', shown: 12 })]);
        }

        /** @param {Answer} answer */
        draw(answer) {
                const isWhole = answer.ending === 'whole';

                return [
                        this.facts(answer, ['command', 'hostname', 'machine', 'kernel', 'n_cpus', 'hyprof_version', 'duration_ns',
                                'exit_status', 'n_processes', 'n_threads', 'event', 'n_samples', 'n_complete', 'complete_share',
                                'n_truncated', 'n_zones', 'n_unclosed', 'n_switches', 'n_messages', 'n_plot_values',
                                'n_frame_marks', 'unwind', 'scope', 'recorder_share', 'sample_event_fallback']),
                        isWhole ? null : el('p', { class: 'doubt' }, `the trace is ${answer.ending}: ${answer.ending_words ?? ''}`),
                        el('h3', {}, 'Missing or doubtful'),
                        answer.warnings.length === 0 ? el('p', {}, 'nothing is known to be missing')
                                : el('ul', { class: 'loss-list' }, ...answer.warnings.map((words) => el('li', {}, words))),
                        this.table(answer, 'missing', { name: 'Losses and limits', shown: 10 }),
                        this.table(answer, 'also_recorded', { name: 'Also recorded', shown: 8 }),
                        this.table(answer, 'sample_events', { name: 'Sampled events', shown: 6 }),
                ];
        }
}
