import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonRenderer } from '../../src/cli/render/loop-events.ts';
import { ndjsonRenderer } from '../../src/cli/render/ndjson.ts';
import { plainRenderer } from '../../src/cli/render/plain.ts';
import { prettyRenderer } from '../../src/cli/render/pretty.ts';
import type { Renderer, Sinks } from '../../src/cli/render/renderer.ts';
import { Screen } from '../../src/cli/render/screen.ts';
import type { AgentEvent } from '../../src/transcript/events.ts';
import { delta, finalResponse, messageDone, recorded, restarted, started, toolCall, USAGE } from './recorded.ts';
import { Terminal } from './terminal.ts';

const RUNS = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);
const LINK = 'http://127.0.0.1:8233/run';

/** Feeds the events, with a tick after each, and ends. */
function play(renderer: Renderer, events: readonly AgentEvent[]): void {
  for (const event of recorded(events)) {
    renderer.event(event);
    renderer.tick();
  }
  renderer.end(LINK);
}

function pretty(events: readonly AgentEvent[], terminal = new Terminal(), rows = 40): Terminal {
  let now = 0;
  const screen = new Screen(
    (text) => terminal.write(text),
    () => terminal.columns,
    true,
  );
  play(
    prettyRenderer({
      screen,
      now: () => {
        now += 100;
        return now;
      },
      rows: () => rows,
    }),
    events,
  );
  return terminal;
}

function captured(make: (sinks: Sinks) => Renderer, events: readonly AgentEvent[]): { out: string; err: string } {
  const said = { out: '', err: '' };
  const sinks = {
    out: (text: string) => {
      said.out += text;
    },
    err: (text: string) => {
      said.err += text;
    },
  };
  play(make(sinks), events);
  return said;
}

const plain = (events: readonly AgentEvent[]) => captured((sinks) => plainRenderer(sinks, () => 0), events);

describe('compactions', () => {
  const base = { type: 'compaction_completed', compactionId: 'k', tokensBefore: 12_400, tokensAfter: 3100 } as const;
  const quality = { passed: true, identifierRecall: 0.97 };
  const failed = { type: 'compaction_failed', compactionId: 'k', error: 'CompactionFailed' } as const;
  const cases: readonly (readonly [AgentEvent, string])[] = [
    [
      { type: 'compaction_started', compactionId: 'k', trigger: 'mid_loop', tokensBefore: 12_400 },
      'compacting 12.4k tokens (within the turn)',
    ],
    [
      { ...base, detail: { outcome: 'compacted', mode: 'ride', quality, costUsd: null } },
      'compacted 12.4k → 3.1k tokens · ride · gate 0.97',
    ],
    [
      {
        ...base,
        detail: { outcome: 'compacted', mode: 'extractive', quality: { ...quality, passed: false }, costUsd: 0.02 },
      },
      'compacted 12.4k → 3.1k tokens · extractive · gate 0.97 (not passed) · $0.02',
    ],
    [{ ...base, detail: { outcome: 'edited', edits: 3 } }, 'shortened old output: 12.4k → 3.1k tokens'],
    [{ ...base, detail: { outcome: 'nothing' } }, 'nothing to compact'],
    [{ ...failed, message: 'no\u001b[2J luck' }, 'compaction failed, history is as it was: no\\u{1b}[2J luck'],
    [{ ...failed, error: 'cancelled', message: 'cancelled' }, 'compaction cancelled, history is as it was'],
  ];
  test.each(cases)('%j is one quiet line', (event, line) => {
    expect(plain([started, event]).err.split('\n')).toContain(line);
    expect(pretty([started, event], new Terminal(120)).text()).toContain(line);
  });
});

describe('pretty', () => {
  test('shows text, tool calls, the answer once, totals and the link', () => {
    const screen = pretty([
      started,
      delta('Let me '),
      delta('look.'),
      messageDone('Let me look.', 0, 'tool_calls'),
      ...toolCall('c1', 'read_file a.ts'),
      delta('It is ', 1),
      messageDone('It is in a.ts.', 1),
      finalResponse('It is in a.ts.'),
    ]).text();
    expect(screen).toMatch(
      /^Let me look\.\n✓ read_file a\.ts · 2\.0 kB · 12 ms\nIt is in a\.ts\.\n\n1 step · [\d.]+ s · 1\.2k tokens in, 340 out · \$0\.01\nhttp:/,
    );
  });

  test('the live line tells step, time, tokens and what runs, and leaves no trace', () => {
    const terminal = new Terminal(80);
    const seen: string[] = [];
    let now = 0;
    const screen = new Screen(
      (text) => terminal.write(text),
      () => 80,
      false,
    );
    const renderer = prettyRenderer({ screen, now: () => now, rows: () => 40 });
    const [requested, begun] = toolCall('c1', 'read_file a.ts');
    for (const event of recorded(
      [started, messageDone('', 0, 'tool_calls'), requested, begun].flatMap((e) => (e ? [e] : [])),
    )) {
      renderer.event(event);
      now += 1000;
      renderer.tick();
      seen.push(terminal.text());
    }
    expect(seen.at(-1)).toMatch(/^\S step 0 · 4\.0 s · 1\.5k tokens · read_file a\.ts$/);
    renderer.end(undefined);
    expect(terminal.text()).toBe('');
  });

  test('the live line never wraps, however narrow the terminal', () => {
    for (const columns of [5, 12, 30]) {
      const terminal = new Terminal(columns);
      const screen = new Screen(
        (text) => terminal.write(text),
        () => columns,
        false,
      );
      const renderer = prettyRenderer({ screen, now: () => 0, rows: () => 40 });
      for (const event of recorded([started, ...toolCall('c1', '読む 日本語.ts'.repeat(9)).slice(0, 2)]))
        renderer.event(event);
      expect(terminal.rows().length).toBe(1);
    }
  });

  test('partial text of an attempt that broke off is taken back', () => {
    const text = pretty([
      started,
      delta('The answer is fo'),
      restarted(),
      delta('Forty-two.'),
      messageDone('Forty-two.'),
      finalResponse('Forty-two.'),
    ]).text();
    expect(text).not.toContain('The answer is fo');
    expect(text).toMatch(/^the model's answer broke off[^✓]*attempt\s+2\nForty-two\.\n/);
  });

  test.each([
    ['does not fit the screen', 'x\n'.repeat(50)],
    ['has characters of unknown width', '四十二'],
    ['ends exactly at the edge', 'y'.repeat(60)],
  ])('partial text that %s is marked instead, and nothing above it is lost', (_why, partial) => {
    const text = pretty([
      started,
      ...toolCall('c1', 'read_file a.ts'),
      delta(partial),
      restarted(),
      messageDone('z'),
    ]).text();
    expect(text).toContain('✓ read_file a.ts');
    expect(text).toContain('(the text above is void)');
  });

  test('taking back leaves what stands above', () => {
    const partial =
      'one line\nand a second one that is so long that it wraps at sixty columns, twice even, because it goes on and on';
    const text = pretty([
      started,
      ...toolCall('c1', 'read_file a.ts'),
      delta(partial),
      restarted(),
      messageDone('z'),
    ]).text();
    expect(text).toMatch(/^✓ read_file a\.ts · 2\.0 kB · 12 ms\nthe model's answer broke off/);
  });

  test('deltas that were never seen are made up for by the finished text', () => {
    expect(pretty([started, delta('Hel'), messageDone('Hello.'), finalResponse('Hello.')]).rows()[0]).toBe('Hello.');
    expect(pretty([started, messageDone('Hello.'), finalResponse('Hello.')]).rows()[0]).toBe('Hello.');
  });

  test('a failure tells error, message and hint; a cancel its reason', () => {
    const failed = pretty([
      started,
      { type: 'run_failed', error: 'MaxToolTurns', message: 'too many', hint: 'Raise it.', answers: [] },
    ]);
    expect(failed.text()).toContain('MaxToolTurns: too many\nRaise it.');
    const aborted = pretty([started, { type: 'loop_aborted', reason: 'enough', answers: [] }]);
    expect(aborted.text()).toMatch(/cancelled after .*: enough/);
  });
});

describe('what comes from outside cannot steer the terminal', () => {
  const hostile = fc.string({
    unit: fc.constantFrom(
      'a',
      'é',
      '四',
      '\n',
      '\r',
      '\t',
      '\u001b[2J',
      '\u001b]0;x\u0007',
      '\u009b1A',
      '\u202e',
      '\u2028',
      '\u0000',
      '\u007f',
    ),
  });

  test('pretty and plain write no control of theirs, in any event', () => {
    fc.assert(
      fc.property(hostile, hostile, (text, label) => {
        const events: AgentEvent[] = [
          { ...started, model: text } as AgentEvent,
          delta(text),
          restarted(),
          delta(label),
          messageDone(text, 0, 'tool_calls'),
          ...toolCall('c1', label, text),
          {
            type: 'tool_call_failed',
            step: 0,
            callId: 'c2',
            name: label,
            status: 'error',
            preview: text,
            durationMs: 1,
          },
          { type: 'model_fallback', step: 0, from: text, to: label, reason: text },
          { type: 'hook_failed', hook: label, message: text },
          { type: 'user_message_queued', messageId: 'm', mode: 'steer', preview: text },
          { type: 'loop_aborted', reason: text, answers: [] },
          { type: 'run_failed', error: label, message: text, hint: label, answers: [] },
          finalResponse(text),
        ];
        // The terminal throws when any control but the screen's own reaches it.
        expect(() => pretty(events, new Terminal(40))).not.toThrow();
        const { out, err } = plain(events);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
        expect(out + err).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
      }),
      { numRuns: RUNS },
    );
  });
});

describe('plain', () => {
  test('the answer alone goes to the output, all else aside', () => {
    const { out, err } = plain([
      started,
      delta('Let me'),
      messageDone('Let me look.', 0, 'tool_calls'),
      ...toolCall('c1', 'read_file a.ts'),
      messageDone('It is in a.ts.', 1),
      finalResponse('It is in a.ts.'),
    ]);
    expect(out).toBe('It is in a.ts.\n');
    expect(err).toContain('→ read_file a.ts\n✓ read_file a.ts · 2.0 kB · 12 ms\n');
    expect(err).toContain(LINK);
  });
});

describe('json', () => {
  test('one array of the four simple events, at the end', () => {
    const { out, err } = captured(jsonRenderer, [
      started,
      delta('x'),
      messageDone('Looking.', 0, 'tool_calls'),
      ...toolCall('c1', 'read_file a.ts'),
      {
        type: 'tool_call_failed',
        step: 0,
        callId: 'c2',
        name: 'read_file',
        status: 'timed_out',
        preview: 'late',
        durationMs: 9,
      },
      finalResponse('Done.'),
    ]);
    expect(err).toBe('');
    expect(out.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(out)).toEqual([
      { type: 'text', step: 0, text: 'Looking.' },
      { type: 'tool_start', step: 0, callId: 'c1', name: 'read_file', arguments: { path: 'a.ts' } },
      {
        type: 'tool_end',
        step: 0,
        callId: 'c1',
        name: 'read_file',
        status: 'ok',
        preview: 'two lines',
        durationMs: 12,
      },
      {
        type: 'tool_end',
        step: 0,
        callId: 'c2',
        name: 'read_file',
        status: 'timed_out',
        preview: 'late',
        durationMs: 9,
      },
      { type: 'done', status: 'completed', runId: 'run-1', text: 'Done.', usage: USAGE, costUsd: 0.0123 },
    ]);
  });

  test.each([
    [
      { type: 'loop_aborted', reason: 'enough', answers: [] },
      { status: 'cancelled', text: 'enough' },
    ],
    [
      { type: 'run_failed', error: 'ToolLoop', message: 'again', hint: '', answers: [] },
      { status: 'failed', error: 'ToolLoop', text: 'again' },
    ],
  ] as const)('%j ends in done', (event, done) => {
    const { out } = captured(jsonRenderer, [event]);
    expect(JSON.parse(out)).toEqual([{ type: 'done', runId: 'run-1', ...done }]);
  });
});

test('ndjson is every event on a line of its own, deltas with a null index', () => {
  const events = [started, delta('a\nb'), messageDone('a\nb'), finalResponse('a\nb')];
  const lines = captured(ndjsonRenderer, events)
    .out.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ index }) => index)).toEqual([0, null, 1, 2]);
  expect(lines).toMatchObject(events);
});
