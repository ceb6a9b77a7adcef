// The sessions: how each one's search went, what each knob is worth, and noise. In one element with page.js.

// The timed candidates of a number of rows; "full" are those that no round of timing dropped.
function candidatesOf(session, rows) {
    return rows.trials.map(([place, gain, samples], index) =>
        ({knobs: session.candidates[place], gain, samples, index, full: samples >= rows.full_samples}));
}

const candidateText = c => `${gainText(c.gain)} the heuristic's speed\n${plural(c.samples, 'sample')}` +
    `${c.full ? '' : ', then dropped'}\n${c.knobs}`;

const bestGain = candidates => Math.max(1, ...candidates.filter(c => c.full).map(c => c.gain));

function drawConvergence(candidates) {
    return (svg, width) => {
        const gains = candidates.map(c => c.gain);
        const axes = drawAxes(svg, width, {
            x: linearScale(1, candidates.length, 4),
            y: linearScale(Math.min(1, ...gains), Math.max(1, ...gains), 4),
            xWords: 'schedules tried', yWords: 'gain ×', even: 1});
        const points = candidates.map(c => {
            const [px, py] = [axes.px(c.index + 1), axes.py(c.gain)];
            drawMark(svg, 0, px, py, c.full ? 'c0' : 'c0 open', 2.5);
            return {px, py, text: `Schedule ${c.index + 1}: ${candidateText(c)}`};
        });
        let best = 1;
        const steps = [[axes.left, axes.py(best)]];
        for (const c of candidates.filter(each => each.full)) {
            steps.push([axes.px(c.index + 1), axes.py(best)]);
            best = Math.max(best, c.gain);
            steps.push([axes.px(c.index + 1), axes.py(best)]);
        }
        steps.push([axes.right, axes.py(best)]);
        svgElement('path', {d: pathThrough(steps), class: 'trace c1'}, svg);
        return {height: axes.height, points};
    };
}

// For each knob that had several values: the best gain with each of them, and what the worst value costs.
function knobEffects(candidates) {
    const knobs = new Map();
    for (const c of candidates) {
        for (const setting of c.knobs.split(',')) {
            const [knob, value] = setting.split('=');
            const values = knobs.get(knob) ?? knobs.set(knob, new Map()).get(knob);
            values.set(value, [...values.get(value) ?? [], c]);
        }
    }
    return [...knobs].filter(([, values]) => values.size > 1).map(([knob, values]) => {
        const best = [...values].map(([value, of]) => {
            const {gain, knobs: text} = of.reduce((a, b) => b.gain > a.gain ? b : a);
            return {value, count: of.length, gain, knobs: text};
        }).sort((a, b) => b.gain - a.gain);
        return {knob, best, cost: best[0].gain / best[best.length - 1].gain};
    }).sort((a, b) => b.cost - a.cost);
}

function drawSensitivity(effects) {
    return (svg, width) => {
        const [left, right, top, rowHeight] = [6, width - 6, 8, 42];
        const gains = effects.flatMap(effect => effect.best.map(each => each.gain));
        const x = linearScale(Math.min(...gains), Math.max(...gains), 4);
        const px = gain => left + 8 + x.place(gain) * (right - left - 16);
        const bottom = top + effects.length * rowHeight;
        for (const tick of x.ticks) {
            svgElement('path', {d: `M${px(tick)},${top}V${bottom}`, class: 'grid'}, svg);
            svgText(svg, x.format(tick), px(tick), bottom + 14, 'middle');
        }
        svgText(svg, 'best gain × with each value', right, bottom + 29, 'end');
        const points = [];
        effects.forEach(({knob, best, cost}, row) => {
            const y = top + row * rowHeight + 22;
            const words = svgText(svg, '', left, y - 9, 'start');
            const name = svgElement('tspan', {class: 'name-of-row'}, words);
            name.textContent = knob;
            words.append(`  at worst ${cost.toFixed(2)}× the time`);
            const worst = best[best.length - 1];
            svgElement('path', {d: `M${px(worst.gain)},${y}H${px(best[0].gain)}`, class: 'trace c0'}, svg);
            let free = Infinity;  // names of values go where none is yet, the best value's first
            for (const each of best) {
                const at = px(each.gain);
                drawMark(svg, 0, at, y, 'c0', 3.5);
                const half = each.value.length * 3 + 4;
                const middle = Math.min(Math.max(at, half), width - half);
                if (middle + half < free) {
                    svgText(svg, each.value, middle, y + 14, 'middle', 'value-name');
                    free = middle - half;
                }
                points.push({px: at, py: y, text: `${knob}=${each.value}: at best ${gainText(each.gain)}, of ` +
                    `${plural(each.count, 'schedule')}\n${each.knobs}`});
            }
        });
        return {height: bottom + 34, points};
    };
}

// A few samples that were interrupted would hide all others, so they are put at the edge, hollow.
function drawNoise(samples, floor) {
    return (svg, width) => {
        const percent = samples.map(([, ratio]) => (ratio - 1) * 100);
        const sizes = percent.map(Math.abs).sort((a, b) => a - b);
        const most = Math.max(200 * (floor ?? 0), 1.5 * sizes[Math.floor(sizes.length * 0.8)], 0.1);
        const blocks = samples.map(([block]) => block);
        const axes = drawAxes(svg, width, {
            x: linearScale(Math.min(...blocks), Math.max(...blocks), 4), y: linearScale(-most, most, 4),
            xWords: 'block', yWords: '% apart', even: 0});
        if (floor !== null) {
            const [y1, y2] = [axes.py(floor * 100), axes.py(-floor * 100)];
            const d = `M${axes.left},${y1}H${axes.right}V${y2}H${axes.left}z`;
            svg.prepend(svgElement('path', {d, class: 'shade'}, svg));
        }
        const points = samples.map(([block, , ns], index) => {
            const shown = Math.max(-most, Math.min(most, percent[index]));
            const [px, py] = [axes.px(block), axes.py(shown)];
            drawMark(svg, 0, px, py, shown === percent[index] ? 'c2' : 'c2 open', 2.5);
            return {px, py, text: `Block ${block}: ${percent[index].toFixed(2)} % apart\n${timeText(ns)}`};
        });
        return {height: axes.height, points};
    };
}

function addFigures(parent, session) {
    const panels = (title, words, add) => {
        htmlElement('h3', title, parent);
        htmlElement('p', words, parent);
        const place = htmlElement('div', '', parent, 'panels');
        for (const rows of session.rows) {
            add(place, rows, candidatesOf(session, rows), plural(rows.rows, 'row'));
        }
    };
    panels('Convergence',
           'Every schedule, and the best so far. Hollow ones were dropped before the last round of timing.',
           (place, rows, candidates, title) => addFigure(
               place, title, rows.heuristic_ns === null ? 'gain over the heuristic' :
                   `${gainText(bestGain(candidates))} over the heuristic's ${timeText(rows.heuristic_ns)}`,
               drawConvergence(candidates)));
    panels('Sensitivity of each knob',
           'The best gain that was reached with each of its values; what matters most first.',
           (place, rows, candidates, title) => {
               const effects = knobEffects(candidates);
               if (effects.length > 0) {
                   const words = `of ${plural(candidates.length, 'schedule')}`;
                   addFigure(place, title, words, drawSensitivity(effects));
               }
           });
    panels('Noise',
           'The heuristic\'s kernel against itself: what lies in the grey band counts as a tie. Hollow marks ' +
               'lie beyond the figure.',
           (place, rows, candidates, title) => {
               if (rows.noise.length > 0) {
                   const words = 'one mark for each block of samples';
                   addFigure(place, title, words, drawNoise(rows.noise, session.noise));
               }
           });
}

function addFailures(parent, session) {
    if (session.failed.length > 0) {
        htmlElement('h3', `Fell out: ${plural(session.failed.length, 'schedule')}`, parent);
        const list = htmlElement('ul', '', parent, 'failed');
        for (const {knobs, status, message} of session.failed) {
            const entry = htmlElement('li', `${status}: ${message} `, list);
            htmlElement('code', knobs, entry);
        }
    }
}

function addSession(parent, session, open) {
    const details = htmlElement('details', '', parent);
    const summary = htmlElement('summary', '', details);
    const gains = session.rows.map(rows => bestGain(candidatesOf(session, rows)));
    htmlElement('b', session.problem, summary);
    htmlElement('span', [
        dateText(session.started), session.machine, session.effort, session.state,
        gains.length > 0 ? `up to ${gainText(Math.max(...gains))}` : 'nothing timed',
        session.noise === null ? 'noise unknown' : `noise ${(session.noise * 100).toFixed(1)} %`,
    ].join(' · '), summary);
    const content = htmlElement('div', '', details);
    const fill = () => {
        if (details.open && content.childElementCount === 0) {
            htmlElement('p', `${session.target}; ${session.tools}`, content, 'name');
            if (session.rows.length > 0) {
                addFigures(content, session);
            }
            addFailures(content, session);
        }
    };
    details.addEventListener('toggle', fill);
    details.open = open;
    fill();
}

const newestFirst = [...data.sessions].reverse();
const opened = newestFirst.find(session => session.rows.length > 0);
for (const session of newestFirst) {
    addSession(document.getElementById('sessions'), session, session === opened);
}
