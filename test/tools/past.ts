import type { TranscriptHit } from '../../src/store/compaction-port.ts';
import type { FactQuery, FactRow, NewFact } from '../../src/store/facts-port.ts';
import type { AgentItem, ResponseRef, ToolResult, TranscriptEntry } from '../../src/transcript/items.ts';

export const RESPONSE: ResponseRef = { id: 'r', provider: 'p', model: 'm', api: 'offline' };

export function user(text: string, origin: 'user' | 'steer' | 'control' | 'observed' = 'user'): AgentItem {
  return { kind: 'user_message', schemaVersion: 1, origin, content: [{ type: 'text', text }] };
}

export function said(text: string): AgentItem {
  return { kind: 'assistant_message', schemaVersion: 1, response: RESPONSE, content: [{ type: 'text', text }] };
}

export function calls(...names: readonly (readonly [callId: string, name: string])[]): AgentItem {
  return {
    kind: 'tool_call_batch',
    schemaVersion: 1,
    response: RESPONSE,
    calls: names.map(([callId, name]) => ({ callId, nativeId: callId, name, arguments: { of: callId } })),
  };
}

export function results(...texts: readonly (readonly [callId: string, text: string])[]): AgentItem {
  return {
    kind: 'tool_result_batch',
    schemaVersion: 1,
    results: texts.map(([callId, text]): ToolResult => ({ callId, status: 'ok', content: [{ type: 'text', text }] })),
  };
}

/** What the tools of the past need of a store, over lists in memory: plain definitions, no index, no limits of its own. */
export class Past {
  readonly rows: TranscriptEntry[];
  readonly outputs: Map<string, string> = new Map();
  readonly kept: Map<string, FactRow> = new Map();

  constructor(items: readonly AgentItem[]) {
    this.rows = items.map((item, i) => ({ seq: i + 1, runId: 'run', step: 0, item }));
  }

  /** Puts a whole output aside and shows only a cut of it. */
  cut(callId: string, whole: string): void {
    this.outputs.set(callId, whole);
    for (const [i, row] of this.rows.entries()) {
      if (row.item.kind !== 'tool_result_batch') continue;
      const cut = row.item.results.map((result) =>
        result.callId === callId ? { ...result, fullOutput: { bytes: whole.length, lines: 1 } } : result,
      );
      this.rows[i] = { ...row, item: { ...row.item, results: cut } };
    }
  }

  async entries(_: string, { afterSeq = 0, limit = 1e9 } = {}): Promise<readonly TranscriptEntry[]> {
    return this.rows.filter(({ seq }) => seq > afterSeq).slice(0, limit);
  }

  async entriesAt(_: string, seqs: readonly number[]): Promise<readonly TranscriptEntry[]> {
    return this.rows.filter(({ seq }) => seqs.includes(seq));
  }

  async toolOutput(_: string, callId: string, { start, end }: { readonly start: number; readonly end: number }) {
    const whole = this.outputs.get(callId);
    return whole === undefined ? undefined : { text: whole.slice(start, end), total: whole.length };
  }

  async searchTranscript(
    _: string,
    query: string,
    page: { readonly limit: number; readonly beforeSeq?: number },
  ): Promise<readonly TranscriptHit[]> {
    const words = query.toLowerCase().split(/\s+/);
    const holds = (text: string) => words.every((word) => text.toLowerCase().includes(word));
    const hits = this.rows.flatMap(({ seq, item }): TranscriptHit[] => {
      if (item.kind !== 'tool_result_batch') return [{ seq, kind: item.kind, excerpt: JSON.stringify(item) }];
      return item.results.map(({ callId, content }) => ({
        seq,
        kind: item.kind,
        callId,
        excerpt: this.outputs.get(callId) ?? content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      }));
    });
    return hits
      .filter(({ excerpt }) => holds(excerpt))
      .filter(({ seq }) => seq < (page.beforeSeq ?? Number.POSITIVE_INFINITY))
      .sort((a, b) => b.seq - a.seq)
      .slice(0, page.limit)
      .map((hit) => ({ ...hit, excerpt: hit.excerpt.slice(0, 300) }));
  }

  async putFacts(sessionId: string, facts: readonly NewFact[]): Promise<readonly FactRow[]> {
    return facts.map((fact) => {
      const known = this.kept.get(fact.factId);
      const freed = known?.status === 'quarantined' && fact.status === 'active';
      const row: FactRow = {
        ...fact,
        sessionId,
        createdAt: '',
        updatedAt: '',
        ...(known === undefined || freed ? {} : known),
      };
      this.kept.set(fact.factId, row);
      return row;
    });
  }

  async facts({ kinds, statuses, words = '', limit = 1e9 }: FactQuery): Promise<readonly FactRow[]> {
    return [...this.kept.values()]
      .filter(({ kind, status }) => (kinds?.includes(kind) ?? true) && (statuses?.includes(status) ?? true))
      .filter(({ text }) => words.split(' ').every((word) => text.toLowerCase().includes(word.toLowerCase())))
      .reverse()
      .slice(0, limit);
  }
}
