// SPDX-License-Identifier: MIT
// A made-up trace, with known answers, in the form in which `hyprof html` embeds one: the pages are tried with it
// where no recording can be made, and unit tests have a truth to compare with.
'use strict';

const zlib = require('zlib');

/** The same numbers in every run. */
class FixedRandom {
        constructor(seed) {
                this.state = seed >>> 0 || 1;
        }

        next() {
                this.state ^= this.state << 13;
                this.state ^= this.state >>> 17;
                this.state ^= this.state << 5;
                return (this.state >>> 0) / 4294967296;
        }

        below(n) {
                return Math.floor(this.next() * n);
        }
}

/** Writes little-endian columns, each padded to eight bytes. */
class ColumnWriter {
        constructor() {
                this.parts = [];
        }

        bytes(view) {
                const bytes = Buffer.from(view.buffer, view.byteOffset, view.byteLength);
                this.parts.push(bytes, Buffer.alloc(-bytes.length & 7));
        }

        words(values) {
                this.bytes(Uint32Array.from(values));
        }

        doubles(values) {
                this.bytes(Float64Array.from(values));
        }

        done() {
                return Buffer.concat(this.parts);
        }
}

const ESCAPED = 0xffffffff;

/** Columns of u32, in which what does not fit stands among the escapes. */
function escapeColumns(columns) {
        const escapes = [];
        const words = columns.map((column) => Uint32Array.from(column, (value) => {
                if (value < ESCAPED) {
                        return value;
                }
                escapes.push(value);
                return ESCAPED;
        }));
        return { escapes, words };
}

function deltas(values) {
        return values.map((value, i) => value - (i > 0 ? values[i - 1] : 0));
}

/** lanes: [{id, spans: [[begin, end, what], ...]} or {id, points: [[time, value], ...]}] */
function encodeFileLanes(lanes) {
        const writer = new ColumnWriter();
        writer.words([0x4e4c5948, 1]);
        writer.words([lanes.length, 0]);
        for (const lane of lanes) {
                const things = lane.spans || lane.points;
                const begins = deltas(things.map((thing) => thing[0]));
                const columns = lane.spans ? [begins, things.map((span) => span[1] - span[0]), things.map((span) => span[2])]
                        : [begins];
                const { escapes, words } = escapeColumns(columns);
                writer.words([lane.id, lane.points ? 1 : 0, things.length, 0, escapes.length, 0]);
                writer.doubles(escapes);
                words.forEach((column) => writer.words(column));
                if (lane.points) {
                        writer.doubles(things.map((point) => point[1]));
                }
        }
        return writer.done();
}

/** The data elements of a one-file page. */
function dataElement(name, content) {
        const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
        return '<script type="application/octet-stream" id="data-' + name + '">' +
                zlib.gzipSync(bytes).toString('base64') + '</script>\n';
}

/**
 * A game-like program: a main thread with frames (one of them late, because another thread held a lock), workers whose
 * zones nest, waits with wakers, samples, messages and plots.
 */
class FakeTrace {
        constructor({ nThreads = 6, nFrames = 240, seed = 7 } = {}) {
                this.random = new FixedRandom(seed);
                this.nLanes = 0;
                this.tracks = [];
                this.lanes = [];
                this.threads = [];
                this.strings = [];
                /** [[id, text], ...] of zones */
                this.texts = [];
                this.locationNames = ['Frame', 'update', 'physics', 'render', 'draw', 'job', 'decode', 'compress', 'load file'];
                this.functionNames = ['main', 'run_frame', 'simulate', 'solve', 'paint', 'memcpy', 'worker_main', 'inflate'];
                this.frame_ns = 16600000;
                this.duration_ns = nFrames * this.frame_ns + 5e6;
                this.lateFrame = Math.floor(nFrames * 0.6);
                this.nThreads = nThreads;
                this.nFrames = nFrames;
                this.build();
        }

        lane(track, kind, depth, content) {
                const id = ++this.nLanes;
                const things = content.spans || content.points;
                track.lanes.push({ id, kind, depth, items: things.length });
                this.lanes.push(Object.assign({ id }, content));
        }

        track(kind, title, thread, unit) {
                const track = { id: this.tracks.length, kind, title, process: thread === null ? null : 1, thread,
                        unit: unit || null, lanes: [] };
                this.tracks.push(track);
                return track;
        }

        build() {
                this.buildFrames();
                const cpus = [[], []];
                for (let i = 0; i < this.nThreads; i++) {
                        this.threads.push({ id: i + 1, handle: 't' + (i + 1), process: i < this.nThreads - 1 ? 1 : 2,
                                tid: 4242 + i, name: i === 0 ? 'main' : 'worker ' + i, is_fiber: false });
                        const zones = i === 0 ? this.mainZones() : this.workerZones(i);
                        this.buildThread(i + 1, zones, cpus[i % 2]);
                }
                cpus.forEach((spans, i) => {
                        spans.sort((a, b) => a[0] - b[0]);
                        const clean = spans.filter((span, j) => j === 0 || span[0] >= spans[j - 1][1]);
                        this.lane(this.track('cpu', 'CPU ' + i, null), 'cpu', 0, { spans: clean });
                });
                this.buildLock();
                this.buildPlots();
                this.buildLoad();
        }

        /** Begin and end of a frame; one is three times as long. */
        frameTimes(i) {
                const extra = i > this.lateFrame ? 2 * this.frame_ns : 0;
                return [1e6 + i * this.frame_ns + extra,
                        1e6 + (i + 1) * this.frame_ns + (i >= this.lateFrame ? 2 * this.frame_ns : 0)];
        }

        buildFrames() {
                this.nFrames -= 2;
                const spans = [];
                for (let i = 0; i < this.nFrames; i++) {
                        spans.push([...this.frameTimes(i), i]);
                }
                this.lane(this.track('frames', 'frames', null), 'frames', 0, { spans });
        }

        /** Zones by depth: [[begin, end, location], ...]; each child is inside its parent. */
        mainZones() {
                const depths = [[], [], []];
                for (let i = 0; i < this.nFrames; i++) {
                        const [begin, frameEnd] = this.frameTimes(i);
                        const end = frameEnd - 2e6;
                        const middle = begin + Math.floor((end - begin) * 0.45);
                        depths[0].push([begin, end, 1]);
                        depths[1].push([begin + 1000, middle, 2], [middle + 1000, end - 1000, 4]);
                        depths[2].push([begin + 2000, begin + 2000 + Math.floor((middle - begin) * 0.7), 3]);
                        let at = middle + 5000;
                        while (at < end - 400000) {
                                const length = 20000 + this.random.below(300000);
                                depths[2].push([at, at + length, 5]);
                                at += length + this.random.below(40000);
                        }
                }
                return depths;
        }

        workerZones(i) {
                const depths = [[], []];
                let at = 2e6 + i * 1e5;
                while (at < this.duration_ns - 8e6) {
                        const end = at + 500000 + this.random.below(4000000);
                        depths[0].push([at, end, i === 5 ? 9 : 6]);
                        let inner = at + 1000;
                        while (inner < end - 2000) {
                                const length = Math.min(end - inner - 1000, 300 + this.random.below(this.random.below(20) ? 3000 : 900000));
                                depths[1].push([inner, inner + length, 7 + this.random.below(2)]);
                                inner += length + this.random.below(2000);
                        }
                        at = end + this.random.below(6000000);
                }
                return depths;
        }

        buildThread(id, depths, cpu) {
                const track = this.track('thread', this.threads[id - 1].name, id);
                track.process = this.threads[id - 1].process;
                const states = [];
                const samples = [];
                let at = 500000;
                for (const [begin, end] of depths[0]) {
                        if (begin > at + 10000) {
                                const wake = begin - 5000;
                                states.push([at, wake, (2 << 28 | (id === 1 ? 1 : 2)) >>> 0]);
                                states.push([wake, begin, (3 << 28 | (id === 1 ? 2 : 1)) >>> 0]);
                        }
                        states.push([begin, end, (1 << 28 | (id - 1) % 2) >>> 0]);
                        cpu.push([begin, end, id]);
                        for (let time = Math.ceil(begin / 1e6) * 1e6 + id; time < end; time += 1e6) {
                                samples.push([time, time, 1 + this.random.below(5)]);
                        }
                        at = end;
                }
                this.lane(track, 'states', 0, { spans: states });
                depths.forEach((spans, depth) => this.lane(track, 'zones', depth, { spans }));
                this.lane(track, 'ghosts', 0, { spans: depths[0].map(([begin, end]) => [begin, end, id === 1 ? 0 : 6]) });
                this.lane(track, 'ghosts', 1, { spans: depths[1].filter((span) => span[1] - span[0] > 1e6).map(([b, e]) => [b, e, 2]) });
                this.lane(track, 'samples', 0, { spans: samples });
                if (id === 1) {
                        this.buildMessages(track);
                }
        }

        buildMessages(track) {
                const spans = [];
                for (let i = 0; i < 12; i++) {
                        this.strings.push([i + 1, 'level ' + (i + 1) + ' loaded: 100% of <b>textures</b>']);
                        const at = Math.floor(this.duration_ns / 13 * (i + 1));
                        spans.push([at, at, i + 1]);
                }
                this.lane(track, 'messages', 0, { spans });
        }

        /** The third thread holds the lock while the main thread's late frame waits. */
        buildLock() {
                const [begin] = this.frameTimes(this.lateFrame);
                const track = this.track('lock', 'scene', null);
                this.lane(track, 'holder', 0, { spans: [[begin + 1e6, begin + 3.2e7, 3], [begin + 3.2e7, begin + 4e7, 1]] });
                this.lane(track, 'waiters', 0, { spans: [[begin + 2e6, begin + 3.2e7, 1]] });
        }

        buildPlots() {
                const load = [];
                const bodies = [];
                for (let time = 0; time < this.duration_ns; time += 5e6) {
                        load.push([time, 0.5 + 0.5 * Math.sin(time / 3e8)]);
                        bodies.push([time, 1000 + this.random.below(400)]);
                }
                this.lane(this.track('counter', 'CPU load', null, 'share'), 'plot', 0, { points: load });
                this.lane(this.track('plot', 'bodies', null, 'count'), 'plot', 0, { points: bodies });
                this.lane(this.track('memory', 'memory in use', null, 'bytes'), 'plot', 0,
                        { points: bodies.map(([time, value]) => [time, value * 65536]) });
        }

        /** Sums of CPU time: of what runs, and of what runs or could. */
        buildLoad() {
                const bin = 1e6;
                const states = this.tracks.flatMap((track) => track.lanes).filter((lane) => lane.kind === 'states')
                        .flatMap((lane) => this.lanes.find((one) => one.id === lane.id).spans);
                const track = this.track('load', 'CPU load', null, 'CPUs');
                for (const [depth, kinds] of [[0, [1]], [1, [1, 3, 4]]]) {
                        const bins = new Float64Array(Math.ceil(this.duration_ns / bin) + 1);
                        for (const [begin, end] of states.filter((span) => kinds.includes(span[2] >>> 28))) {
                                for (let at = begin; at < end; at = Math.min(end, (Math.floor(at / bin) + 1) * bin)) {
                                        bins[Math.floor(at / bin) + 1] += Math.min(end, (Math.floor(at / bin) + 1) * bin) - at;
                                }
                        }
                        let sum = 0;
                        this.lane(track, 'cpu_time', depth, { points: Array.from(bins, (ns, i) => [i * bin, sum += ns]) });
                }
        }

        model() {
                return {
                        schema: 'hyprof.timeline/1', title: './game --fast', command: ['./game', '--fast'], host: 'box',
                        duration_ns: this.duration_ns, n_cpus: 2, progress: 1, warnings: ['made up: no program ran'], events: ['cpu-clock'],
                        processes: [{ id: 1, pid: 4242, name: 'game' }, { id: 2, pid: 4300, name: 'helper' }],
                        threads: this.threads,
                        locations: this.locationNames.map((name, i) => ({ id: i + 1, handle: 'z' + (i + 1), name,
                                function: name.replace(/ /g, '_'), place: 'src/game.c:' + (10 + i), color: i === 2 ? 0xd97706 : null })),
                        functions: this.functionNames.map((name) => ({ name, module: name === 'memcpy' ? 'libc.so.6' : 'game',
                                is_kernel: false })),
                        wait_states: ['unknown', 'futex', 'sleep', 'poll', 'io'],
                        tracks: this.tracks,
                        file: { written_by: 'hyprof 0.1.0', is_redacted: false, is_complete: true, dropped: [],
                                merged_below_ns: 0, has_samples: true },
                };
        }

        dataElements(answers) {
                return dataElement('model', this.model()) + dataElement('lanes', encodeFileLanes(this.lanes)) +
                        dataElement('strings', this.strings) + dataElement('answers', answers || {}) +
                        (this.texts.length ? dataElement('texts', this.texts) : '');
        }
}

module.exports = { FakeTrace, FixedRandom, ColumnWriter, encodeFileLanes, dataElement };
