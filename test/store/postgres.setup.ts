import { postgresPrograms, startPostgres } from './postgres-server.ts';

/**
 * Vitest's global setup: where PostgreSQL is installed and `HOLDFAST_TEST_POSTGRES` names no server, starts one for the
 * run, so that the store's contract is held on both databases.
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.HOLDFAST_TEST_POSTGRES !== undefined || postgresPrograms() === undefined) return undefined;
  const server = await startPostgres();
  process.env.HOLDFAST_TEST_POSTGRES = server.url;
  return server.stop;
}
