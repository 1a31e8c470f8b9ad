import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// A model that answers at once, in a process of its own so that it shares no event loop with what is measured.
// The model's name is its script: `script-TURNS-BYTES` asks for the tool `work` TURNS times, then ends.

interface Call {
  readonly id: string;
  readonly args: string;
}

interface Decision {
  readonly text: string;
  readonly call?: Call;
}

function decide(body: { model: string; messages: { role: string }[] }): Decision {
  const [, turns, bytes] = /script-(\d+)-(\d+)/.exec(body.model) ?? [];
  const turn = body.messages.filter((message) => message.role === 'tool').length;
  if (turn >= Number(turns)) return { text: `done after ${turn}` };
  const args = JSON.stringify({ n: turn, bytes: Number(bytes), sleep_ms: 0 });
  return { text: `turn ${turn}`, call: { id: `call_${turn}`, args } };
}

function plain(model: string, { text, call }: Decision, usage: object): string {
  const calls = call && [{ id: call.id, type: 'function', function: { name: 'work', arguments: call.args } }];
  const message = { role: 'assistant', content: text, ...(calls ? { tool_calls: calls } : {}) };
  const choices = [{ index: 0, message, finish_reason: calls ? 'tool_calls' : 'stop' }];
  return JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model, choices, usage });
}

function streamed(response: ServerResponse, model: string, { text, call }: Decision, usage: object): void {
  const send = (choices: unknown[], more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, choices, ...more })}\n\n`,
    );
  send([{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }]);
  if (call) {
    const fn = { name: 'work', arguments: call.args };
    send([
      {
        index: 0,
        delta: { tool_calls: [{ index: 0, id: call.id, type: 'function', function: fn }] },
        finish_reason: null,
      },
    ]);
  }
  send([{ index: 0, delta: {}, finish_reason: call ? 'tool_calls' : 'stop' }]);
  send([], { usage });
  response.end('data: [DONE]\n\n');
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const raw = Buffer.concat(chunks).toString('utf8');
    const body = JSON.parse(raw);
    const input = Math.ceil(raw.length / 4);
    const usage = { prompt_tokens: input, completion_tokens: 10, total_tokens: input + 10 };
    const decision = decide(body);
    response.setHeader('content-type', body.stream ? 'text/event-stream' : 'application/json');
    if (body.stream) streamed(response, body.model, decision, usage);
    else response.end(plain(body.model, decision, usage));
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
