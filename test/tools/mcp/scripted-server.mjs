// An MCP server for tests, on the SDK's server side: `node scripted-server.mjs FOLDER [--http] [--page N]`.
// What it did stands in FOLDER, so that tests count from outside.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';

const [folder = '.', ...flags] = process.argv.slice(2);
const http = flags.includes('--http');
const pageSize = flags.includes('--page') ? Number(flags[flags.indexOf('--page') + 1]) : 1000;
const READS = { readOnlyHint: true };
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const inFolder = (name) => path.join(folder, name);
const record = (name, line) => appendFileSync(inFolder(name), `${line}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const object = (properties = {}, required = []) => ({ type: 'object', properties, required });

record('starts', process.pid);
process.stderr.write(`started with ${Object.keys(process.env).length} variables\n`);

/** Dies, but the first time only. */
function dieOnce(name) {
  if (existsSync(inFolder(name))) return;
  writeFileSync(inFolder(name), '');
  process.exit(3);
}

const TOOLS = {
  echo: {
    description: 'Says it again.',
    annotations: READS,
    inputSchema: object({ text: { type: 'string' } }, ['text']),
    run: (args) => text(args.text),
  },
  note: {
    description: 'Writes a note.',
    inputSchema: object({ text: { type: 'string' } }),
    run: ({ text: note }) => {
      record('notes', note);
      return text('written');
    },
  },
  read_and_die: {
    annotations: READS,
    run: () => {
      record('reads', 'x');
      dieOnce('died');
      return text('alive');
    },
  },
  always_die: {
    annotations: READS,
    run: () => {
      record('deaths', 'x');
      process.exit(3);
    },
  },
  note_and_die: {
    run: () => {
      record('notes', 'last');
      process.exit(3);
    },
  },
  set_and_die: {
    annotations: { idempotentHint: true },
    run: () => {
      record('sets', 'x');
      dieOnce('died');
      return text('set');
    },
  },
  slow: {
    annotations: READS,
    run: (_args, { signal }) =>
      new Promise((resolve) => {
        record('slow', 'began');
        signal.addEventListener('abort', () => {
          record('slow', 'cancelled');
          resolve(text('too late'));
        });
      }),
  },
  steps: {
    annotations: READS,
    run: async (_args, { _meta, sendNotification }) => {
      record('meta', JSON.stringify(_meta));
      for (const [progress, message] of [
        [1, 'one'],
        [2, 'two'],
      ]) {
        const params = { progressToken: _meta.progressToken, progress, total: 2, message };
        await sendNotification({ method: 'notifications/progress', params });
      }
      return text('done');
    },
  },
  huge: {
    annotations: READS,
    inputSchema: object({ bytes: { type: 'number' } }),
    run: ({ bytes }) => {
      record('huge', bytes);
      return text('x'.repeat(bytes));
    },
  },
  media: {
    annotations: READS,
    run: () => ({
      content: [
        { type: 'text', text: 'a picture:' },
        { type: 'image', data: PNG, mimeType: 'image/png' },
        { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'mem:a', text: 'the text' } },
        { type: 'resource', resource: { uri: 'mem:b', blob: 'AAAA', mimeType: 'application/pdf' } },
        { type: 'resource_link', uri: 'mem:c', name: 'c' },
      ],
    }),
  },
  structured: { annotations: READS, run: () => ({ content: [], structuredContent: { answer: 42 } }) },
  fails: { annotations: READS, run: () => ({ ...text('no such thing'), isError: true }) },
  refuses: {
    annotations: READS,
    run: () => {
      throw new McpError(ErrorCode.InvalidParams, 'b is needed since yesterday');
    },
  },
  environment: {
    annotations: READS,
    run: () => {
      process.stderr.write(`${JSON.stringify(process.env)}\n`);
      return text(JSON.stringify(process.env));
    },
  },
  garbage: {
    annotations: READS,
    run: () => {
      process.stdout.write('debug: hello\n');
      return text('still here');
    },
  },
  child: {
    annotations: READS,
    run: () => text(String(spawn('sleep', ['600'], { stdio: 'ignore' }).pid)),
  },
  change: {
    annotations: READS,
    run: async (_args, { sendNotification }) => {
      writeFileSync(inFolder('changed'), '');
      await sendNotification({ method: 'notifications/tools/list_changed' });
      return text('changed');
    },
  },
};

function listed() {
  const tools = Object.entries(TOOLS).map(([name, { description, annotations, inputSchema }]) => ({
    name,
    ...(description === undefined ? {} : { description }),
    ...(annotations === undefined ? {} : { annotations }),
    inputSchema: inputSchema ?? object(),
  }));
  if (existsSync(inFolder('changed'))) {
    tools[0] = { ...tools[0], description: 'Says it otherwise.', annotations: {} };
    tools.push({ name: 'added', inputSchema: object(), annotations: READS });
  }
  const extra = existsSync(inFolder('extra.json')) ? JSON.parse(readFileSync(inFolder('extra.json'), 'utf8')) : [];
  return [...tools, ...extra];
}

function newServer() {
  const server = new Server({ name: 'scripted', version: '1' }, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    record('lists', params?.cursor ?? 'first');
    const from = Number(params?.cursor ?? 0);
    const tools = listed();
    const next = from + pageSize;
    const circle = existsSync(inFolder('circle')) ? '0' : undefined;
    return { tools: tools.slice(from, next), nextCursor: next < tools.length ? String(next) : circle };
  });
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const tool = TOOLS[params.name];
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `unknown tool ${params.name}`);
    return tool.run(params.arguments ?? {}, extra);
  });
  return server;
}

if (http) {
  const sessions = new Map();
  const listener = createServer(async (request, response) => {
    record('authorization', request.headers.authorization ?? 'none');
    if (existsSync(inFolder('forget'))) {
      sessions.clear();
      rmSync(inFolder('forget'));
    }
    const id = request.headers['mcp-session-id'];
    let transport = sessions.get(id);
    if (transport === undefined && id !== undefined) {
      response.writeHead(404).end('no such session');
      return;
    }
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (made) => sessions.set(made, transport),
      });
      await newServer().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  listener.listen(0, '127.0.0.1', () => process.stdout.write(`${listener.address().port}\n`));
} else {
  await newServer().connect(new StdioServerTransport());
  process.stdin.on('close', () => process.exit(0));
}
