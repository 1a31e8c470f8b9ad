import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identityOf, isAlive, type ProcessIdentity } from './process-identity.ts';

/** The dev server of a folder as `.holdfast/dev.json` tells it to other terminals. */
export interface DevState {
  readonly schemaVersion: 1;
  readonly process: ProcessIdentity;
  readonly address: string;
  readonly uiUrl: string;
  readonly namespace: string;
  readonly logFile: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
}

const FILE = 'dev.json';
const USERS = 'dev-users';

/** The folder's dev server, if the one that the file names is still that very process. */
export function liveDevState(stateDir: string): DevState | undefined {
  const state = readJson(join(stateDir, FILE));
  return isDevState(state) && isAlive(state.process) ? state : undefined;
}

export function writeDevState(stateDir: string, state: DevState): void {
  writeWhole(join(stateDir, FILE), state);
}

export function removeDevState(stateDir: string): void {
  rmSync(join(stateDir, FILE), { force: true });
}

/** What a process that uses the folder's dev server tells of itself. `worker`: it keeps a worker running, too. */
export interface DevUser {
  readonly process: ProcessIdentity;
  readonly worker: boolean;
}

/** Notes that this process uses the server, so that nobody ends it meanwhile. */
export function addUser(stateDir: string, worker: boolean): void {
  mkdirSync(join(stateDir, USERS), { recursive: true });
  const user: DevUser = { process: identityOf(process.pid), worker };
  writeWhole(join(stateDir, USERS, `${process.pid}.json`), user);
}

export function removeUser(stateDir: string): void {
  rmSync(join(stateDir, USERS, `${process.pid}.json`), { force: true });
}

/** Other processes that use the server now. Notes of dead ones are swept away. */
export function otherUsers(stateDir: string): readonly DevUser[] {
  const folder = join(stateDir, USERS);
  return namesIn(folder).flatMap((name) => {
    const user = readJson(join(folder, name));
    if (isDevUser(user) && isAlive(user.process)) return user.process.pid === process.pid ? [] : [user];
    if (name.endsWith('.json')) rmSync(join(folder, name), { force: true });
    return [];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Readers see the old file or the new one, never half of it. */
function writeWhole(file: string, value: DevState | DevUser): void {
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, `${JSON.stringify(value)}\n`);
  renameSync(draft, file);
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function isDevState(value: unknown): value is DevState {
  return isRecord(value) && value.schemaVersion === 1 && isIdentity(value.process) && isText(value.address);
}

function isDevUser(value: unknown): value is DevUser {
  return isRecord(value) && isIdentity(value.process) && typeof value.worker === 'boolean';
}

function isIdentity(value: unknown): value is ProcessIdentity {
  return isRecord(value) && Number.isInteger(value.pid) && (value.startMark === null || isText(value.startMark));
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
