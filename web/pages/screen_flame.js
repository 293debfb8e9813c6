// SPDX-License-Identifier: MIT
/*
 * screen_flame.js - the flame graph of all, a thread, a zone, a part of its instances, or a function; by time on a CPU,
 * any counter, instructions per cycle, waiting, both as wall time, or bytes
 */

import { AnswerScreen, filterOf } from './answer_screen.js';
import { answerAbout, answerRows, callTree, stackTree } from './answers.js';
import { button, el } from './dom.js';
import { FlameGraph } from './flame_graph.js';
import { setRatios } from './flame_layout.js';
import { formatBytes, formatCount, formatDuration, formatShare, isNumber } from './format.js';
import { wallTree } from './wall_tree.js';

/**
 * @typedef {import('./answer_screen.js').Question} Question
 * @typedef {import('./answers.js').Answer} Answer
 * @typedef {import('./viewer.js').ViewState} ViewState
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

export class FlameScreen extends AnswerScreen {
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
                        this.choice('of', 'metric', this.metricChoices()),
                        this.choice('event', 'event', this.eventChoices()),
                        this.choice('thread', 'thread', this.threadChoices()),
                        this.choice('zone', 'zone', this.zoneChoices()));
                this.addPart('the flame graph', (state) => this.question(state), (answer, state) => this.draw(answer, state));
                this.addPart('what the function calls', (state) => state.shape === 'sandwich' && state.function && !state.metric
                        ? { question: 'top_down', params: { ...filterOf(state), function: state.function } } : null,
                             (answer, state) => this.drawTree(answer, 'top_down', 'Called functions', state));
        }

        /** @returns {[string, string][]} */
        metricChoices() {
                return [['', 'time, or the event\'s count'], ...(/** @type {[string, string][]} */ (
                        this.eventsOfIpc() ? [['ipc', 'instructions per cycle']] : [])),
                        ['off_cpu', 'waiting'], ['wall', 'wall time: on a CPU and waiting'],
                        ['bytes', 'bytes allocated'], ['live', 'bytes never freed']];
        }

        /** The events that count cycles and instructions; null if one of them was not recorded. */
        eventsOfIpc() {
                const { events } = this.viewer.model;
                const cycles = events.find((name) => /^(cpu-)?cycles\b/.test(name));
                const instructions = events.find((name) => /^instructions\b/.test(name));

                return cycles && instructions ? { cycles, instructions } : null;
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
                if (state.metric === 'wall')
                        return { question: 'off_cpu', params: { ...params, ...this.allRows() } };
                if (state.metric === 'bytes' || state.metric === 'live')
                        return { question: 'memory', params };
                if (state.metric === 'ipc')
                        return { question: 'top_down', params: { ...params, event: this.eventsOfIpc()?.cycles ?? '' } };
                if (state.zone && state.longer && !state.metric)
                        return { question: 'why', params: { ...params, slower_than: state.longer } };
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
                if (state.metric === 'wall')
                        return this.drawWall(answer, state);
                if (state.metric === 'bytes')
                        return this.drawStacks(answer, 'sites', 'bytes', 'Bytes allocated', formatBytes);
                if (state.metric === 'live')
                        return this.drawStacks(answer, 'leaks', 'bytes', 'Bytes never freed', formatBytes);
                if (state.metric !== 'ipc' && state.zone && state.longer)
                        return this.drawPart(answer, state);
                if (state.shape === 'sandwich' && !state.function)
                        return [el('p', {}, 'Choose a function.'), this.table(answer, 'functions', {
                                name: 'Functions', onOpen: (row) => this.viewer.set({ function: row.handle }) })];
                if (state.shape === 'inverted' || state.shape === 'sandwich')
                        return this.drawTree(answer, 'bottom_up', state.shape === 'sandwich' ? 'Callers' : 'By function', state);
                return this.drawTree(answer, 'top_down', 'Calls', state);
        }

        /**
         * All rows of a table: a file without a server has them as they are.
         * @returns {{ [key: string]: string }}
         */
        allRows() {
                return this.viewer.model.file ? {} : { top: '0' };
        }

        /**
         * Time on a CPU and waiting in one; the samples come later than the waits.
         * @param {Answer} offCpu
         * @param {ViewState} state
         */
        drawWall(offCpu, state) {
                const place = el('div', {}, el('p', { class: 'muted' }, 'Samples are read …'));

                this.makeWall(offCpu, state).then((parts) => place.replaceChildren(...parts), (error) =>
                        place.replaceChildren(el('p', {}, `${error.message}`)));
                return [place];
        }

        /** @param {Answer} offCpu @param {ViewState} state */
        async makeWall(offCpu, state) {
                const { source } = this.viewer;
                const params = filterOf(state);
                const [calls, { onCpu_ns, words }] = await Promise.all([source.answer('top_down', params, {}), this.timeOnCpus(params)]);
                const places = answerRows(offCpu, 'places');
                const lost = offCpu.waiting_ns - places.reduce((sum, row) => sum + row.total_ns, 0);

                this.text = state.text ?? '';
                this.graph = new FlameGraph({ name: 'Wall time of all threads', format: formatDuration, search: this.text,
                                              root: wallTree(answerRows(calls, 'top_down'), onCpu_ns, offCpu, places),
                                              onOpen: (node) => node.handle && this.viewer.set({ screen: 'source',
                                                                                                  function: node.handle }) });
                return [el('p', { class: 'muted' }, `${formatDuration(onCpu_ns)} on CPUs (${words}), ` +
                        `${formatDuration(offCpu.waiting_ns)} waiting, ${formatDuration(offCpu.preempted_ns ?? 0)} preempted` +
                        (lost > offCpu.waiting_ns * 0.001 ? `; ${formatDuration(lost)} of the waiting is in rows that were left out` : '')),
                        this.graph.element];
        }

        /**
         * The time that samples stand for: their weight, if they measure time, else what context switches say.
         * @param {{ [key: string]: string }} params
         */
        async timeOnCpus(params) {
                const { source } = this.viewer;
                const whole = await source.answer('overview', params, {});
                const event = answerRows(whole, 'sample_events').find((row) => row.shown) ?? {};

                if (event.unit === 'ns')
                        return { onCpu_ns: event.weight, words: `samples of ${event.name}` };
                const threads = answerRows(await source.answer('threads', { ...params, ...this.allRows() }, {}), 'threads');

                return { onCpu_ns: threads.reduce((sum, row) => sum + (row.on_cpu_ns ?? 0), 0),
                         words: `by context switches, divided by ${event.name ?? 'samples'}` };
        }

        /** @param {Answer} answer @param {string} key @param {string} name @param {ViewState} state */
        drawTree(answer, key, name, state) {
                const rows = answerRows(answer, key);

                if (rows.length === 0)
                        return [el('p', {}, 'No samples in this part of the recording.')];
                this.text = state.text ?? '';
                const nSamples = answer.n_samples;
                const graph = this.graph = new FlameGraph({ name, search: this.text, root: callTree(rows, { value: 'total_share' }, 'all'),
                                              format: (share) => isNumber(nSamples)
                                                      ? `${formatCount(Math.round(share * nSamples))} samples` : formatShare(share),
                                              onOpen: (node) => this.viewer.set({ screen: 'source',
                                                                                  function: node.handle ?? undefined }) });
                this.weigh(graph, answer, state).catch(() => { /* A page without these answers keeps the samples. */ });
                return [el('p', { class: 'muted' }, answerAbout(answer, key)), graph.element];
        }

        /**
         * Compares the instances from the selected part of the histogram on with the others.
         * @param {Answer} answer  of why
         * @param {ViewState} state
         */
        drawPart(answer, state) {
                const rows = answerRows(answer, 'calls');
                const all = el('div', { class: 'data-tools' }, el('span', { class: 'muted' },
                        `instances of at least ${formatDuration(Number(state.longer))}, beside the others; time of one instance`),
                               button('all instances', () => this.viewer.set({ longer: null, shorter: null })));

                if (rows.length === 0)
                        return [all, el('p', {}, 'No samples in these instances.')];
                this.graph = new FlameGraph({ name: 'Calls inside', otherWords: 'in the others', search: state.text ?? '',
                                              format: (ns) => `${formatDuration(ns)} an instance`,
                                              root: callTree(rows, { value: 'slow_ns', before: 'typical_ns' }, 'an instance') });
                return [all, this.graph.element];
        }

        /**
         * Shares become time, or counts of the event; for instructions per cycle boxes are of cycles, and colored.
         * @param {FlameGraph} graph
         * @param {Answer} answer
         * @param {ViewState} state
         */
        async weigh(graph, answer, state) {
                const { source } = this.viewer;
                const whole = await source.answer('overview', filterOf(state), {});
                const event = answerRows(whole, 'sample_events').find((row) => row.name === answer.event);

                if (!event || !isNumber(event.weight))
                        return;
                graph.options.format = (share) => event.unit === 'ns' ? formatDuration(share * event.weight)
                        : `${formatCount(Math.round(share * event.weight))} ${answer.event}`;
                if (state.metric === 'ipc') {
                        const { cycles, instructions } = this.eventsOfIpc() ?? { cycles: '', instructions: '' };
                        const other = await source.answer('top_down', { ...filterOf(state), event: instructions }, {});
                        const counts = answerRows(whole, 'sample_events');
                        const scale = (counts.find((row) => row.name === instructions)?.weight ?? 0) /
                                (counts.find((row) => row.name === cycles)?.weight ?? 1);

                        setRatios(graph.options.root, callTree(answerRows(other, 'top_down'), { value: 'total_share' }, 'all'), scale);
                }
                graph.say(graph.at);
                graph.draw();
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
