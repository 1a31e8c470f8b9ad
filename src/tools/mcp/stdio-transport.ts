import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { endGroup, guardGroup, signalGroup } from '../process-groups.ts';
import { McpFailure } from './failure.ts';
import { lineReader } from './lines.ts';
import { MAX_MESSAGE_BYTES, type StdioServer } from './server-settings.ts';

/** Milliseconds that a server has to end by itself once its input has ended, then after SIGTERM. */
const END_MS = 1000;
/** Milliseconds for output that still comes after the end, from who outlived its group. */
const DRAIN_MS = 500;
const MAX_STDERR_LINE = 64 * 1024;

export interface StdioHooks {
  /** A JSON-RPC message out of one line; throws for anything else. */
  readonly parse: (line: string) => JSONRPCMessage;
  readonly onStderr: (line: string) => void;
}

/**
 * MCP over the standard streams of a program.
 *
 * Unlike the SDK's own, it ends all that the program started, gives it no variable beyond those named, and bounds a
 * message while it comes.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: (<T extends JSONRPCMessage>(message: T) => void) | undefined;
  readonly #server: StdioServer;
  readonly #hooks: StdioHooks;
  #child: ChildProcessWithoutNullStreams | undefined;
  #closed: Promise<void> = Promise.resolve();
  #delivered: Promise<void> = Promise.resolve();
  #end: McpFailure | undefined;

  constructor(server: StdioServer, hooks: StdioHooks) {
    this.#server = server;
    this.#hooks = hooks;
  }

  /** How the program ended, once it has. */
  get end(): McpFailure {
    return this.#end ?? new McpFailure('lost', 'it was closed');
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#server;
    if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) throw new Error(`${cwd} is not a folder`);
    const child = spawn(command, args, {
      cwd,
      env: { ...env },
      stdio: 'pipe',
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => reject(startFailure(command, error)));
    });
    guardGroup(child);
    this.#child = child;
    this.#closed = new Promise((resolve) => child.once('close', () => resolve()));
    this.#listen(child);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || !stdin.writable) throw this.end;
    const broke = await new Promise<boolean>((resolve) =>
      stdin.write(`${JSON.stringify(message)}\n`, (error) => resolve(error instanceof Error)),
    );
    if (!broke) return;
    // How the program ended says more than that its pipe broke.
    await this.#closedWithin(END_MS);
    throw this.end;
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#end ??= new McpFailure('lost', 'it was ended');
    child.stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await this.#closedWithin(END_MS)) return;
      signalGroup(child, signal);
    }
    await this.#closed;
  }

  #listen(child: ChildProcessWithoutNullStreams): void {
    const messages = lineReader(MAX_MESSAGE_BYTES, (line) => this.#receive(line));
    child.stdout.on('data', (chunk: Buffer) => {
      if (messages.push(chunk)) return;
      this.#end ??= new McpFailure(
        'unusable',
        `it sent a message of more than ${MAX_MESSAGE_BYTES} bytes and was ended`,
      );
      signalGroup(child, 'SIGKILL');
    });
    const notes = lineReader(MAX_STDERR_LINE, this.#hooks.onStderr);
    child.stderr.on('data', (chunk: Buffer) => notes.push(chunk));
    for (const stream of [child.stdin, child.stdout, child.stderr, child]) {
      stream.on('error', (error: Error) => this.onerror?.(error));
    }
    child.once('exit', (code, signal) => {
      const why = signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
      this.#end ??= new McpFailure('lost', why);
      endGroup(child);
      setTimeout(() => child.stdout.destroy(), DRAIN_MS).unref();
      setTimeout(() => child.stderr.destroy(), DRAIN_MS).unref();
    });
    child.once('close', () => {
      this.#child = undefined;
      void this.#delivered.then(() => this.onclose?.());
    });
  }

  /** One message a turn of the loop: the SDK drops a progress note that the result overtakes within one. */
  #receive(line: string): void {
    if (line.trim() === '') return;
    this.#delivered = this.#delivered.then(() => {
      this.#deliver(line);
      return new Promise((resolve) => setImmediate(resolve));
    });
  }

  #deliver(line: string): void {
    try {
      this.onmessage?.(this.#hooks.parse(line));
    } catch {
      this.onerror?.(new Error(`it printed what is no MCP message: ${line.slice(0, 200)}`));
    }
  }

  async #closedWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const closed = await Promise.race([this.#closed.then(() => true), late]);
    clearTimeout(timer);
    return closed;
  }
}

function startFailure(command: string, error: NodeJS.ErrnoException): Error {
  if (error.code === 'ENOENT') return new Error(`there is no program ${JSON.stringify(command)}`);
  if (error.code === 'EACCES') return new Error(`${JSON.stringify(command)} may not be run`);
  return error;
}
