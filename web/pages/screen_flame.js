// SPDX-License-Identifier: MIT
'use strict';
/*
 * screen_flame.js - the flame graph: of all, a thread, a zone, a function; by samples, waiting, bytes
 */

class FlameScreen extends AnswerScreen {
        static id = 'flame';
        static title = 'Flame graph';
        static key = 'l';

        /** @param {Viewer} viewer */
        constructor(viewer) {
                super(viewer, 'flame', 'Flame graph');
                /** @type {FlameGraph|null} */
                this.graph = null;
                this.text = '';
                this.tools.append(
                        this.choice('show', 'shape', [['', 'callers above callees'], ['inverted', 'inverted: callees above callers'],
                                                      ['zones', 'zones as frames'], ['sandwich', 'around one function']]),
                        this.choice('of', 'metric', [['', 'samples'], ['off_cpu', 'waiting'], ['bytes', 'bytes allocated'],
                                                     ['live', 'bytes never freed']]),
                        this.choice('event', 'event', this.eventChoices()),
                        this.choice('thread', 'thread', this.threadChoices()),
                        this.choice('zone', 'zone', this.zoneChoices()));
                this.addPart('the flame graph', (state) => this.question(state), (answer, state) => this.draw(answer, state));
                this.addPart('what the function calls', (state) => state.shape === 'sandwich' && state.function && !state.metric
                        ? { question: 'top_down', params: { ...filterOf(state), function: state.function } } : null,
                             (answer, state) => this.drawTree(answer, 'top_down', 'Called functions', state));
        }

        zoneChoices() {
                return /** @type {[string, string][]} */ ([['', 'all'], ...this.viewer.model.locations.map(
                        (/** @type {any} */ location) => [location.handle, location.name])]);
        }

        /** @param {ViewState} state */
        show(state) {
                this.settleChoices(state);
                super.show(state);
                if ((state.text ?? '') !== this.text) {
                        this.text = state.text ?? '';
                        this.graph?.setSearch(this.text);
                }
        }

        /** @param {ViewState} state @returns {Question|null} */
        question(state) {
                const params = filterOf(state);

                if (state.metric === 'off_cpu')
                        return { question: 'off_cpu', params };
                if (state.metric === 'bytes' || state.metric === 'live')
                        return { question: 'memory', params };
                if (state.shape === 'sandwich')
                        return { question: state.function ? 'bottom_up' : 'functions',
                                 params: { ...params, ...(state.function ? { function: state.function } : {}) } };
                if (state.shape === 'inverted')
                        return { question: 'bottom_up', params };
                return { question: 'top_down', params: { ...params, ...(state.shape === 'zones' ? { zones_as_frames: '1' } : {}) } };
        }

        /** @param {Answer} answer @param {ViewState} state */
        draw(answer, state) {
                if (state.metric === 'off_cpu')
                        return this.drawStacks(answer, 'places', 'total_ns', 'Waiting, by call stack', formatDuration);
                if (state.metric === 'bytes')
                        return this.drawStacks(answer, 'sites', 'bytes', 'Bytes allocated', formatBytes);
                if (state.metric === 'live')
                        return this.drawStacks(answer, 'leaks', 'bytes', 'Bytes never freed', formatBytes);
                if (state.shape === 'sandwich' && !state.function)
                        return [el('p', {}, 'Choose a function.'), this.table(answer, 'functions', {
                                name: 'Functions', onOpen: (row) => this.viewer.set({ function: row.handle }) })];
                if (state.shape === 'inverted' || state.shape === 'sandwich')
                        return this.drawTree(answer, 'bottom_up', state.shape === 'sandwich' ? 'Callers' : 'By function', state);
                return this.drawTree(answer, 'top_down', 'Calls', state);
        }

        /** @param {Answer} answer @param {string} key @param {string} name @param {ViewState} state */
        drawTree(answer, key, name, state) {
                const rows = answerRows(answer, key);

                if (rows.length === 0)
                        return [el('p', {}, 'No samples in this part of the recording.')];
                this.text = state.text ?? '';
                this.graph = new FlameGraph({ name, format: (value) => `${formatCount(value)} samples`, search: this.text,
                                              root: callTree(rows, { value: 'total_samples' }, 'all'),
                                              onOpen: (node) => this.viewer.set({ screen: 'source',
                                                                                  function: node.handle ?? undefined }) });
                return [el('p', { class: 'muted' }, answerAbout(answer, key)), this.graph.element];
        }

        /**
         * @param {Answer} answer
         * @param {string} key
         * @param {string} valueKey
         * @param {string} name
         * @param {(value: number) => string} format
         */
        drawStacks(answer, key, valueKey, name, format) {
                const rows = answerRows(answer, key);

                if (rows.length === 0)
                        return [el('p', {}, `${name}: nothing was recorded in this part.`)];
                return [el('p', { class: 'muted' }, answerAbout(answer, key)),
                        new FlameGraph({ name, format, root: stackTree(rows, valueKey, 'all') }).element];
        }
}
screens.push(FlameScreen);
