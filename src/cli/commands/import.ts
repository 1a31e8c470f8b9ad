import { createHash, randomUUID } from 'node:crypto';
import { HoldfastError } from '../../contract/errors.ts';
import { isSessionId } from '../../contract/identity.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';
import { importFile } from '../../transcript/interchange/import-file.ts';
import type { MediaRef } from '../../transcript/items.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type Output, printJson } from '../output.ts';
import { visibleLine } from '../render/visible.ts';
import type { Settings } from '../settings.ts';
import { readText } from './check.ts';

/** Makes a new session of a transcript file: OpenAI chat, Anthropic messages, or our own JSON lines. Tells what was repaired. */
export async function importTranscript(
  settings: Settings,
  file: string,
  { session, output }: { readonly session: string | undefined; readonly output: Output | undefined },
): Promise<ExitCode> {
  const sessionId = session ?? randomUUID();
  if (!isSessionId(sessionId)) throw new HoldfastError('InvalidInput', `"${sessionId}" is no session id`);
  const media: { readonly bytes: Buffer; readonly ref: MediaRef }[] = [];
  const imported = importFile(readText(file), {
    storeMedia: (base64, mediaType, name) => {
      const bytes = Buffer.from(base64, 'base64');
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const ref = { sha256, mediaType, byteLength: bytes.byteLength, ...(name === undefined ? {} : { name }) };
      media.push({ bytes, ref });
      return ref;
    },
  });
  const [problem] = imported.problems;
  if (imported.items.length === 0) {
    throw new HoldfastError('InvalidInput', `${file} ${problem?.message ?? 'holds no messages'}`, {
      hint: 'Check it with `holdfast check FILE`.',
    });
  }
  const store = await openStore(settings.store);
  try {
    await keepNew(store, sessionId);
    for (const { bytes, ref } of media) await store.putBlob(bytes, ref.mediaType, ref.name);
    await store.importSession({ sessionId, runId: randomUUID(), items: imported.items });
  } finally {
    await store.close();
  }
  const { format, items, repairs, losses } = imported;
  if (output === 'json') printJson({ sessionId, format, items: items.length, repairs, losses });
  else {
    process.stdout.write(`session ${sessionId}: ${items.length} items from ${format}, ${repairs.length} repairs\n`);
    for (const repair of repairs) process.stdout.write(`  repair: ${visibleLine(JSON.stringify(repair), 160)}\n`);
    for (const { detail } of losses) process.stdout.write(`  not held: ${visibleLine(detail, 160)}\n`);
  }
  return EXIT.ok;
}

async function keepNew(store: Store, sessionId: string): Promise<void> {
  if ((await store.session(sessionId)) === undefined) return;
  throw new HoldfastError('InvalidInput', `session ${sessionId} exists already`, { hint: 'Import into a new one.' });
}
