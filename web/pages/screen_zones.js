// SPDX-License-Identifier: MIT
/*
 * screen_zones.js - the statistics of all zones; for one zone its histogram, its instances, the zones and calls
 * inside, and why it is slow
 */

import { AnswerScreen, filterOf, filterWithout } from './answer_screen.js';
import { answerCell, answerRows, callTree } from './answers.js';
import { button, el } from './dom.js';
import { FlameGraph } from './flame_graph.js';
import { formatCount, formatDuration } from './format.js';
import { HistogramChart } from './histogram_chart.js';

/**
 * @typedef {import('./answers.js').Answer} Answer
 * @typedef {import('./histogram_chart.js').HistogramBin} HistogramBin
 * @typedef {import('./viewer.js').ViewState} ViewState
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

/**
 * The parameters that choose the instances in the histogram's selected part.
 * @param {ViewState} state
 */
function zonePartOf(state) {
        /** @type {{ [key: string]: string }} */
        const params = {};

        if (state.longer)
                params.longer_than = state.longer;
        if (state.shorter)
                params.shorter_than = state.shorter;
        return params;
}

export class ZonesScreen extends AnswerScreen {
        static id = 'zones';
        static title = 'Zones';
        static key = 'z';

        /** @param {Viewer} viewer */
        constructor(viewer) {
                super(viewer, 'zones', 'Zones');
                this.tools.append(
                        this.choice('thread', 'thread', this.threadChoices()),
                        this.choice('group instances by', 'group', [['', 'nothing'], ['thread', 'thread'], ['text', 'text'],
                                ['name', 'name of the instance'], ['value', 'value'], ['parent', 'zone around']]));
                this.addPart('zones', (state) => ({ question: 'zones', params: filterWithout(state, ['zone']) }),
                             (answer, state) => this.drawZones(answer, state));
                this.addPart('one zone', (state) => state.zone === undefined ? null : {
                        question: 'zone', params: { ...filterOf(state), zone: state.zone } },
                             (answer, state) => this.drawZone(answer, state));
                this.addPart('instances', (state) => state.zone === undefined || !(state.longer || state.shorter || state.group)
                        ? null : { question: 'zone', params: { ...filterOf(state), zone: state.zone, ...zonePartOf(state),
                                   ...(state.group ? { group_by: state.group } : {}) } },
                             (answer, state) => this.drawPart(answer, state));
                this.addPart('why', (state) => state.zone === undefined || state.why === undefined ? null : {
                        question: 'why', params: { ...filterOf(state), zone: state.zone,
                                                   ...(state.longer ? { slower_than: state.longer } : {}) } },
                             (answer) => this.drawWhy(answer)).comesIntoSight = true;
        }

        /** @param {ViewState} state */
        show(state) {
                this.settleChoices(state);
                this.element.classList.toggle('has-part', Boolean(state.longer || state.shorter));
                super.show(state);
        }

        /** @param {Answer} answer @param {ViewState} state */
        drawZones(answer, state) {
                if (answerRows(answer, 'zones').length === 0)
                        return [el('p', {}, 'The program marked no zones in this part of the recording.')];
                return [this.table(answer, 'zones', {
                        name: 'Zones', shown: state.zone === undefined ? 18 : 8,
                        columns: ['handle', 'name', 'count', 'total_ns', 'self_ns', 'on_cpu_ns', 'waiting_ns', 'mean_ns',
                                  'p50_ns', 'p90_ns', 'p99_ns', 'max_ns', 'mean_without_samples_ns', 'n_samples', 'n_unclosed',
                                  'place'],
                        isChosen: (row) => row.handle === this.viewer.state.zone,
                        onOpen: (row) => this.viewer.set({ zone: row.handle, longer: undefined, shorter: undefined,
                                                           why: undefined, group: undefined }),
                })];
        }

        /** @param {Answer} answer @param {ViewState} state */
        drawZone(answer, state) {
                const name = this.nameOf(state.zone ?? '');
                const why = el('button', { type: 'button', class: 'primary' }, 'why are some slow?');
                const back = el('button', { type: 'button' }, 'all zones');

                why.addEventListener('click', () => this.viewer.set({ why: '1' }));
                back.addEventListener('click', () => this.viewer.set({ zone: undefined, why: undefined, longer: undefined,
                                                                      shorter: undefined, group: undefined }));
                return [
                        el('div', { class: 'data-tools' }, el('h2', {}, `Zone ${name}`), why, back),
                        this.facts(answer, ['count', 'total_ns', 'self_ns', 'on_cpu_ns', 'waiting_ns', 'preempted_ns', 'min_ns',
                                            'mean_ns', 'p50_ns', 'p90_ns', 'p99_ns', 'p99_9_ns', 'max_ns', 'n_unclosed', 'ipc']),
                        this.histogram(answer, state, name),
                        el('div', { class: 'answer of-all' }, ...this.inside(answer, `Slowest instances of ${name}`),
                           this.table(answer, 'threads', { name: 'By thread', shown: 8 }),
                           this.table(answer, 'counters', { name: 'Counters in the zone', shown: 8 })),
                ];
        }

        /** @param {Answer} answer @param {ViewState} state @param {string} name */
        histogram(answer, state, name) {
                const rows = answerRows(answer, 'distribution');
                const bins = /** @type {HistogramBin[]} */ (rows.length > 0 ? rows : answerRows(answer, 'histogram'));

                if (bins.length === 0)
                        return null;
                const selected = state.longer || state.shorter ? { from: Number(state.longer ?? 0),
                        to: Number(state.shorter ?? bins[bins.length - 1].to_ns) } : null;
                return new HistogramChart({ bins, name: `durations of ${name}`, selected, onSelect: (range) => this.viewer.set({
                        longer: range ? String(range.from) : undefined,
                        shorter: range ? String(range.to) : undefined }) }).element;
        }

        /**
         * The instances of an answer: the slowest, calls, waits.
         * @param {Answer} answer
         * @param {string} words
         */
        inside(answer, words) {
                const calls = answerRows(answer, 'calls');

                return [
                        this.table(answer, 'slowest', {
                                name: words, shown: 10, about: 'Enter or a click shows it on the timeline',
                                columns: ['duration_ns', 'at_ns', 'thread', 'thread_name', 'on_cpu_ns', 'waiting_ns', 'self_ns',
                                          'name', 'text', 'value', 'instance_name'],
                                onOpen: (row) => this.jump(row) }),
                        this.table(answer, 'common', { name: 'What slow instances have in common', shown: 8 }),
                        calls.length === 0 ? null : new FlameGraph({
                                name: 'Calls inside', format: (value) => `${formatCount(value)} samples`,
                                root: callTree(calls, { value: 'total_samples' }, 'the zone'),
                                openWords: 'shows its source', onOpen: (node) => this.viewer.set({
                                        screen: 'source', function: node.handle ?? undefined }) }).element,
                        this.table(answer, 'waits', { name: 'Waits inside', shown: 8 }),
                        this.table(answer, 'wakers', { name: 'Ended by', shown: 8 }),
                ];
        }

        /** @param {Answer} answer @param {ViewState} state */
        drawPart(answer, state) {
                const range = state.longer || state.shorter
                        ? `instances of ${formatDuration(Number(state.longer ?? 0))} to ` +
                          (state.shorter ? formatDuration(Number(state.shorter)) : 'the longest') : 'instances in groups';

                return [
                        el('div', { class: 'data-tools' }, el('h3', {}, `${range}: ${formatCount(answer.count ?? 0)}`),
                           ...(state.longer || state.shorter ? [
                                   button('show on the timeline', () => this.viewer.go('timeline')),
                                   button('flame graph', () => this.viewer.go('flame', { shape: null, metric: null })),
                                   button('why are they slow?', () => this.viewer.set({ why: '1' }))] : [])),
                        this.table(answer, 'groups', { name: `By ${state.group}`, shown: 10 }),
                        ...(state.longer || state.shorter ? this.inside(answer, 'Slowest of the selection') : []),
                ];
        }

        /** @param {Answer} answer */
        drawWhy(answer) {
                const calls = answerRows(answer, 'calls');
                /** @type {(ns: number) => string} */
                const format = (ns) => `${formatDuration(ns)} an instance`;

                return [
                        el('h3', {}, 'Why slow instances are slow'),
                        el('p', { class: 'muted' }, `confidence: ${answer.confidence}; ${formatCount(answer.slow_instances ?? 0)} slow ` +
                           `instances, from ${answerCell('duration', answer.slow_from_ns)} on, beside ` +
                           `${formatCount(answer.typical_instances ?? 0)} others`),
                        this.table(answer, 'causes', {
                                name: 'Causes', shown: 8,
                                columns: ['cause', 'words', 'name', 'kernel', 'share', 'share_low', 'share_high', 'confidence',
                                          'extra_ns', 'slow_ns', 'typical_ns', 'p'] }),
                        calls.length === 0 ? null : new FlameGraph({
                                name: 'Slow instances beside the others', format, otherWords: 'in the others',
                                root: callTree(calls, { value: 'slow_ns', before: 'typical_ns' }, 'an instance'),
                                onOpen: (node) => this.viewer.set({ screen: 'source', function: node.handle ?? undefined }),
                        }).element,
                        this.table(answer, 'zones', { name: 'Zones inside', shown: 8 }),
                        this.table(answer, 'owners', { name: 'What kept slow instances from running', shown: 8 }),
                        this.table(answer, 'holders', { name: 'Held meanwhile by', shown: 8 }),
                        this.table(answer, 'wakers', { name: 'Woken by', shown: 8 }),
                        this.table(answer, 'counters', { name: 'Counters', shown: 8 }),
                        this.table(answer, 'slowest', { name: 'Slowest instances', shown: 10, onOpen: (row) => this.jump(row) }),
                ];
        }

        /**
         * The name of a zone that is given by handle or pattern.
         * @param {string} zone
         */
        nameOf(zone) {
                return this.viewer.model.locations.find((/** @type {any} */ l) => l.handle === zone)?.name ?? zone;
        }
}
