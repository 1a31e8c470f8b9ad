import Database from 'better-sqlite3';
import { work } from '../work.ts';

export interface MinimalActivities {
  model(url: string, name: string, run: string, seq: number): Promise<{ n: number; text?: string }>;
  tool(run: string, seq: number, index: number): Promise<void>;
}

const TOOL = {
  name: 'work',
  description: 'Does n-th piece of work and returns text.',
  parameters: {
    type: 'object',
    properties: { n: { type: 'integer' }, bytes: { type: 'integer' }, sleep_ms: { type: 'integer' } },
    required: ['n', 'bytes', 'sleep_ms'],
    additionalProperties: false,
  },
};

/** Messages by reference in SQLite, one row each; what is stored is not asked for again. */
export function minimalActivities(file: string): MinimalActivities {
  const db = new Database(file);
  db.pragma('journal_mode=WAL');
  db.pragma('synchronous=FULL');
  db.exec('CREATE TABLE m(run TEXT, seq INTEGER, idx INTEGER, body TEXT, PRIMARY KEY(run,seq,idx)) WITHOUT ROWID');
  const all = db.prepare<[string], string>('SELECT body FROM m WHERE run=? ORDER BY seq,idx').pluck();
  const put = db.prepare('INSERT OR IGNORE INTO m VALUES(?,?,?,?)');
  const one = db
    .prepare<[string, number, number], string>('SELECT body FROM m WHERE run=? AND seq=? AND idx=?')
    .pluck();
  return {
    async model(url, name, run, seq) {
      if (seq === 1) {
        put.run(run, 0, 0, JSON.stringify({ role: 'system', content: 'You are a worker. Call the tool until done.' }));
        put.run(run, 0, 1, JSON.stringify({ role: 'user', content: 'Do the work.' }));
      }
      let body = one.get(run, seq, 0);
      if (body === undefined) {
        const messages = all.all(run).map((row) => JSON.parse(row));
        body = JSON.stringify(await chat(url, name, messages));
        put.run(run, seq, 0, body);
      }
      const message = JSON.parse(body);
      return message.tool_calls?.length ? { n: message.tool_calls.length } : { n: 0, text: message.content };
    },
    async tool(run, seq, index) {
      if (one.get(run, seq, index + 1) !== undefined) return;
      const call = JSON.parse(one.get(run, seq, 0) ?? '{}').tool_calls[index];
      const content = work(JSON.parse(call.function.arguments));
      put.run(run, seq, index + 1, JSON.stringify({ role: 'tool', tool_call_id: call.id, content }));
    },
  };
}

async function chat(url: string, model: string, messages: unknown[]): Promise<unknown> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
    body: JSON.stringify({ model, messages, tools: [{ type: 'function', function: TOOL }] }),
  });
  if (!response.ok) throw new Error(`model ${response.status}`);
  const body = (await response.json()) as { choices: { message: unknown }[] };
  return body.choices[0]?.message;
}
