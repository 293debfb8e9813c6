// SPDX-License-Identifier: MIT
'use strict';
/*
 * screen_memory.js - memory as the program reported it: in use over time, at one time, what was never freed
 */

class MemoryScreen extends AnswerScreen {
        static id = 'memory';
        static title = 'Memory';
        static key = 'y';

        /** @param {Viewer} viewer */
        constructor(viewer) {
                super(viewer, 'memory', 'Memory');
                this.curve = new PlotPane(viewer, 'memory');
                this.element.append(this.curve.element);
                this.addPart('memory', (state) => ({ question: 'memory', params: filterOf(state) }), (answer) => this.draw(answer));
                this.addPart('memory before', (state) => state.at === undefined ? null : {
                        question: 'memory', params: { ...filterWithout(state, ['from', 'to']), to: String(Number(state.at) + 1) } },
                             (answer, state) => this.drawAt(answer, state));
        }

        /** @param {ViewState} state */
        show(state) {
                this.curve.show(state);
                super.show(state);
        }

        /** @param {Answer} answer */
        draw(answer) {
                if (answerRows(answer, 'pools').length === 0)
                        return [el('p', {}, 'The program reported no allocations in this part.')];
                return [
                        this.table(answer, 'pools', { name: 'Pools', shown: 8,
                                about: 'Enter shows what was in use at the pool\'s peak',
                                onOpen: (row) => this.viewer.set({ at: String(row.peak_at_ns) }) }),
                        this.table(answer, 'leaks', { name: 'Never freed in this part', shown: 12 }),
                        this.table(answer, 'sites', { name: 'Allocated in this part', shown: 12 }),
                ];
        }

        /** @param {Answer} answer @param {ViewState} state */
        drawAt(answer, state) {
                return [
                        el('h3', {}, `In use at ${formatTime(Number(state.at))}`),
                        this.table(answer, 'pools', { name: 'Pools then', shown: 6, columns: ['pool', 'live_bytes', 'n_live'] }),
                        this.table(answer, 'leaks', { name: 'In use then', shown: 12 }),
                ];
        }
}
screens.push(MemoryScreen);
