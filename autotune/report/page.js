// The page's data, and what is drawn of all of it: the summary, and speed by hidden size.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);

function timeText(ns) {
    const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']];
    const [size, unit] = units.find(([each]) => ns >= each) ?? [1, 'ns'];
    return `${Number((ns / size).toPrecision(3))} ${unit}`;
}

function plural(count, word) {
    return `${count} ${word}${count === 1 ? '' : 's'}`;
}

const gainText = gain => `${gain.toFixed(2)}×`;
const dateText = started => started.slice(0, 16).replace('T', ' ');

function addSummary() {
    const rows = data.sessions.flatMap(session => session.rows);
    const entries = {
        'problems decided': data.best.length,
        sessions: data.sessions.length,
        machines: new Set(data.sessions.map(session => session.signature)).size,
        'schedules timed': rows.reduce((sum, each) => sum + each.trials.length, 0),
    };
    for (const [name, value] of Object.entries(entries)) {
        const entry = htmlElement('div', '', document.getElementById('summary'));
        htmlElement('dt', name, entry);
        htmlElement('dd', value, entry);
    }
}

// The choices of one kind of work: which is where, by the bytes that a call moves and the last cache.
const regimes = [
    {title: 'One row', words: 'in cache', of: best => best.choices.filter(c => c.rows === 1)},
    {title: 'Many rows', words: 'in cache: the most that were tuned for',
     of: best => best.choices.filter(c => c.rows > 1 && c.bytes <= cacheBytes(best)).slice(-1)},
    {title: 'More than a cache', words: 'from and to memory',
     of: best => best.choices.filter(c => c.rows > 1 && c.bytes > cacheBytes(best)).slice(-1)},
];

const cacheBytes = best => best.l3_bytes || 32 * 2 ** 20;

function speedText(p) {
    const copy = p.copy_gb_per_s === null ? '' : `\ncopy ${p.copy_gb_per_s.toFixed(1)} GB/s`;
    return `${p.family}\nhidden ${p.hidden}, rows ${p.rows}: ${timeText(p.ns / p.rows)} a row\n` +
        `${p.gb_per_s.toFixed(1)} GB/s, heuristic ${p.heuristic_gb_per_s.toFixed(1)} (${gainText(p.gain)})` +
        `${copy}\n${p.knobs}`;
}

function drawSpeed(families, points) {
    return (svg, width) => {
        const speeds = points.flatMap(p => [p.gb_per_s, p.heuristic_gb_per_s, p.copy_gb_per_s ?? 0]);
        const x = powerScale(points.map(p => p.hidden));
        const y = linearScale(0, Math.max(...speeds));
        const axes = drawAxes(svg, width, {x, y, xWords: 'hidden size', yWords: 'GB/s'});
        const marked = [];
        const line = (of, speed, className) => {
            const d = pathThrough(of.map(p => [axes.px(p.hidden), axes.py(p[speed])]));
            svgElement('path', {d, class: `trace ${className}`}, svg);
        };
        const copies = new Map();  // by hidden size, of the problem that can be copied fastest
        for (const p of points.filter(each => each.copy_gb_per_s !== null)) {
            const known = copies.get(p.hidden);
            copies.set(p.hidden, known && known.copy_gb_per_s > p.copy_gb_per_s ? known : p);
        }
        line([...copies.values()].sort((a, b) => a.hidden - b.hidden), 'copy_gb_per_s', 'plain');
        families.forEach((family, index) => {
            const own = points.filter(p => p.family === family).sort((a, b) => a.hidden - b.hidden);
            line(own, 'heuristic_gb_per_s', `dashed c${index % 6}`);
            line(own, 'gb_per_s', `c${index % 6}`);
            for (const p of own) {
                const [px, py] = [axes.px(p.hidden), axes.py(p.gb_per_s)];
                drawMark(svg, index, px, py, `c${index % 6}`);
                marked.push({px, py, text: speedText(p)});
            }
        });
        return {height: axes.height, points: marked};
    };
}

function addLegend(parent, names, copies) {
    const legend = htmlElement('ul', '', parent, 'legend');
    names.forEach((name, index) => {
        const entry = htmlElement('li', '', legend);
        const svg = svgElement('svg', {viewBox: '0 0 26 12'}, entry);
        svgElement('path', {d: 'M0,6H26', class: `trace c${index % 6}`}, svg);
        drawMark(svg, index, 13, 6, `c${index % 6}`);
        entry.append(name);
    });
    if (copies) {
        const entry = htmlElement('li', '', legend);
        svgElement('path', {d: 'M0,6H26', class: 'trace plain'}, svgElement('svg', {viewBox: '0 0 26 12'}, entry));
        entry.append('copy');
    }
}

function addSpeed() {
    const section = document.getElementById('speed');
    const machines = new Map();
    for (const best of data.best) {
        const key = `${best.machine} · ${best.target}`;
        machines.set(key, [...machines.get(key) ?? [], best]);
    }
    let copies = false;
    for (const [name, bests] of machines) {
        htmlElement('h3', name, section, 'name');
        const families = [...new Set(bests.map(best => best.family))].sort();
        const pointsOf = regime => bests.flatMap(best => regime.of(best).map(choice => ({...best, ...choice})));
        const points = regimes.map(pointsOf);
        const copied = points.flat().some(p => p.copy_gb_per_s !== null);
        copies ||= copied;
        addLegend(section, families, copied);
        const panels = htmlElement('div', '', section, 'panels');
        regimes.forEach((regime, index) => {
            if (points[index].length > 0) {
                addFigure(panels, regime.title, regime.words, drawSpeed(families, points[index]));
            }
        });
    }
    if (copies) {
        document.getElementById('copy-words').textContent =
            ' The grey line is what copying as many bytes reaches, measured on this machine for this page.';
    }
    section.hidden = data.best.length === 0;
    document.getElementById('best').hidden = data.best.length === 0;
}

addSummary();
addSpeed();
