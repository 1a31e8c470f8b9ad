// Starts llama.cpp's server on a free port of this machine, and stops it again.
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';

/** Loading the model takes seconds, on a busy machine many. */
const START_MS = 180_000;

/**
 * The server's URL, and what stops it. Its words go to the file `log`.
 *
 * @throws Error when it ends, or is not healthy in time.
 */
export async function startLlama({ server, model, template, window, log }) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const options = {
    model,
    alias: 'small',
    host: '127.0.0.1',
    port,
    'ctx-size': window,
    parallel: 1,
    // Threads of this server wait for each other by spinning: on a busy machine two are slower than one.
    threads: 1,
    'chat-template-file': template,
    // A base model never closes its reasoning: the server does, after so many tokens.
    'reasoning-budget': 8,
  };
  const args = [
    '--jinja',
    '--slots',
    '--no-webui',
    ...Object.entries(options).flatMap(([key, value]) => [`--${key}`, `${value}`]),
  ];
  const out = openSync(log, 'w');
  // With this on, /slots shows the prompt that the model was given.
  const env = { ...process.env, LLAMA_SERVER_SLOTS_DEBUG: '1' };
  const child = spawn(server, args, { stdio: ['ignore', out, out], env });
  closeSync(out);
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.once('error', () => {});
  const stop = async () => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(timer);
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop().then(() => process.exit(1)));
  for (const started = Date.now(); !(await healthy(url)); ) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
      const how = child.signalCode ?? child.exitCode ?? 'it could not be started';
      throw new Error(`llama.cpp's server ended at once (${how}); see ${log}.`);
    }
    if (Date.now() - started > START_MS) {
      await stop();
      throw new Error(`llama.cpp's server did not get ready in ${START_MS / 1000} s; see ${log}.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return { url, stop };
}

async function healthy(url) {
  try {
    return (await fetch(`${url}/health`, { signal: AbortSignal.timeout(5_000) })).ok;
  } catch {
    return false;
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
