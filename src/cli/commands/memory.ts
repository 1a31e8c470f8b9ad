import { HoldfastError } from '../../contract/errors.ts';
import { factId, shortFactId } from '../../store/fact-id.ts';
import { type FactRow, type FactStatus, MAX_MEMORY_CHARS } from '../../store/facts-port.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type Output, printJson, printRows } from '../output.ts';
import { factLines } from '../render/facts.ts';
import { visibleLine } from '../render/visible.ts';
import { type Settings, storeExists } from '../settings.ts';
import { withStore } from '../with-client.ts';

export interface MemoryListCommand {
  readonly settings: Settings;
  /** Only what this session may see: its own and the workspace's. */
  readonly session: string | undefined;
  /** Forgotten memories and the ledger (files, commands, URLs, exact names) too. */
  readonly all: boolean;
  readonly output: Output | undefined;
}

/** Lists memories with where they come from, newest first, quarantined ones among them. Needs no server. */
export async function memoryList({ settings, session, all, output }: MemoryListCommand): Promise<ExitCode> {
  const rows = storeExists(settings) ? await withStore(settings, (store) => listed(store, session, all)) : [];
  printRows(output, rows, factLines);
  return EXIT.ok;
}

async function listed(store: Store, session: string | undefined, all: boolean): Promise<readonly FactRow[]> {
  const wanted = all ? {} : ({ kinds: ['memory'], statuses: ['active', 'quarantined'] } as const);
  if (session !== undefined) {
    if ((await store.session(session)) === undefined)
      throw new HoldfastError('NotFound', `no session is called "${session}"`);
    return store.facts({ ...wanted, sessionId: session });
  }
  const rows = [
    ...(await store.facts({ ...wanted, scope: 'workspace' })),
    ...(await store.facts({ ...wanted, scope: 'session' })),
  ];
  return rows.sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0));
}

export interface MemoryStatusCommand {
  readonly settings: Settings;
  /** Id of the fact, or the beginning of it. */
  readonly id: string;
  readonly output: Output | undefined;
}

/** Puts a quarantined or forgotten fact into later prompts. */
export function memoryAllow(command: MemoryStatusCommand): Promise<ExitCode> {
  return setStatus(command, 'active', 'Allowed');
}

/** Takes a fact out of later prompts for good: it stays known, so that it is not learnt again. */
export function memoryForget(command: MemoryStatusCommand): Promise<ExitCode> {
  return setStatus(command, 'forgotten', 'Forgotten');
}

function setStatus({ settings, id, output }: MemoryStatusCommand, status: FactStatus, done: string): Promise<ExitCode> {
  return withStore(settings, async (store) => {
    const fact = await store.setFactStatus(id, status);
    if (fact === undefined)
      throw new HoldfastError('NotFound', `no memory has the id "${id}"`, {
        hint: 'List them with `holdfast memory list --all`.',
      });
    tell(fact, done, output);
    return EXIT.ok;
  });
}

export interface MemoryAddCommand {
  readonly settings: Settings;
  readonly text: string;
  /** For this session only; else for all of the store. */
  readonly session: string | undefined;
  readonly output: Output | undefined;
}

/** Remembers a fact for later prompts: what a person says here is active at once, even if it was quarantined or forgotten. */
export async function memoryAdd({ settings, text, session, output }: MemoryAddCommand): Promise<ExitCode> {
  const fact = text.replace(/\s+/g, ' ').trim();
  if (fact === '') throw new HoldfastError('InvalidInput', 'the memory is empty');
  if (fact.length > MAX_MEMORY_CHARS)
    throw new HoldfastError(
      'InvalidInput',
      `a memory has at most ${MAX_MEMORY_CHARS} characters, this one has ${fact.length}`,
      {
        hint: 'It stands in every later prompt: put longer text into AGENTS.md or MEMORY.md.',
      },
    );
  // The first thing that is remembered may come before the first run.
  const store = await openStore(settings.store);
  try {
    tell(await added(store, fact, session), 'Remembered', output);
    return EXIT.ok;
  } finally {
    await store.close();
  }
}

async function added(store: Store, text: string, session: string | undefined): Promise<FactRow> {
  if (session !== undefined && (await store.session(session)) === undefined)
    throw new HoldfastError('NotFound', `no session is called "${session}"`);
  const scope = session === undefined ? 'workspace' : 'session';
  const id = factId({ scope, sessionId: session ?? '', kind: 'memory', text });
  const fact = { factId: id, scope, kind: 'memory', text, status: 'active', sourceSeq: null } as const;
  const [stored] = await store.putFacts(session ?? '', [{ ...fact, source: { origin: 'user', by: 'command' } }]);
  const active = stored?.status === 'active' ? stored : await store.setFactStatus(id, 'active');
  if (active === undefined) throw new HoldfastError('Internal', `the memory ${id} was not kept`);
  return active;
}

function tell(fact: FactRow, done: string, output: Output | undefined): void {
  if (output === 'json' || output === 'ndjson') printJson(fact);
  else process.stdout.write(`${done} (${shortFactId(fact.factId)}): ${visibleLine(fact.text, MAX_MEMORY_CHARS)}\n`);
}
