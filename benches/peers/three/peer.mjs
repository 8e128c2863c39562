// Draws a crowd that `throng crowd` printed, with three.js in headless Chromium, and prints JSON with the time of each
// frame. This half serves the page, the model and the crowd to Chromium, and waits for the page's report. The scene and
// the measurement are in page.mjs. Chromium's GPU process draws with SwiftShader.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, extname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';

const text = (value) => ({ type: 'string', default: value });
const { values: options } = parseArgs({
    options: {
        model: text(), crowd: text(), size: text('1280x720'), frames: text('24'), warmup: text('5'), msaa: text('1'),
        ground: text('on'), picture: text(), chromium: text('chromium'),
    },
});
if (!options.model || !options.crowd) fail('usage: node peer.mjs --model FILE.glb --crowd CROWD.json [--size WxH] ' +
    '[--frames N] [--warmup N] [--msaa 1|4] [--ground on|off] [--picture FILE.png] [--chromium PROGRAM]');

const folder = import.meta.dirname;
const page = '<!doctype html><script type="importmap">{"imports": {"three": "/three/build/three.module.js", ' +
    '"three/addons/": "/three/examples/jsm/"}}</script><script type="module" src="/page.mjs"></script>';
const types = { '.mjs': 'text/javascript', '.js': 'text/javascript', '.html': 'text/html' };

/** Returns the bytes of a path that the page asks for. */
function bytes(path) {
    if (path === '/index.html') return page;
    if (path === '/options.json') return JSON.stringify(options);
    if (path === '/crowd.json') return readFileSync(options.crowd);
    if (path === '/page.mjs') return readFileSync(join(folder, 'page.mjs'));
    if (path.startsWith('/three/')) return readFileSync(join(folder, 'node_modules', path));
    // The model's name ends its path, and the files that it names lie beside it.
    return readFileSync(join(dirname(options.model), path.replace('/model/', '')));
}

const profile = mkdtempSync(join(tmpdir(), 'throng-peer-three-'));
let chromium;

async function finish(code) {
    chromium?.removeAllListeners();
    // Chromium's processes are a group of their own.
    if (chromium?.pid) try { process.kill(-chromium.pid, 'SIGKILL'); } catch { /* They have ended. */ }
    await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    process.exit(code);
}

function fail(message) {
    console.error(`error: ${message}`);
    finish(1);
}

// Whoever ends this program, for example by a time limit, ends Chromium too.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => finish(1));

async function receive(request) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const report = JSON.parse(Buffer.concat(chunks));
    if (report.error) fail(report.error);
    const { picture, ...figures } = report;
    if (options.picture) writeFileSync(options.picture, Buffer.from(picture.split(',')[1], 'base64'));
    console.log(JSON.stringify(figures));
    finish(0);
}

const server = createServer((request, response) => {
    if (request.method === 'POST') return receive(request);
    const path = normalize(decodeURIComponent(request.url));
    try {
        const body = bytes(path);
        // With these two headers the page's clock has steps of 5 µs instead of 100.
        response.writeHead(200, {
            'Content-Type': types[extname(path)] ?? 'application/octet-stream',
            'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp',
        });
        response.end(body);
    } catch (error) {
        response.writeHead(404).end(String(error));
    }
});
server.listen(0, '127.0.0.1', () => {
    chromium = spawn(options.chromium, [
        '--headless', '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--no-first-run',
        '--disable-background-networking', '--disable-component-update', `--user-data-dir=${profile}`, `http://127.0.0.1:${server.address().port}/index.html`,
    ], { stdio: 'ignore', detached: true });
    chromium.on('error', (error) => fail(`${options.chromium}: ${error.message}`));
    chromium.on('exit', (code) => fail(`${options.chromium} ended with the code ${code} before the page had reported`));
});
