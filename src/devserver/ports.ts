import { connect, createServer } from 'node:net';

const HOST = '127.0.0.1';
const STEPS = 200;

/**
 * A port of the loopback that nothing uses: `preferred`, else the next free one, else any.
 *
 * Another process may take it before the caller does; who binds it then fails and asks again.
 */
export async function freePort(preferred: number, taken: ReadonlySet<number> = new Set()): Promise<number> {
  for (let port = preferred; port < Math.min(preferred + STEPS, 65_536); port += 1) {
    if (!taken.has(port) && (await isFree(port))) return port;
  }
  return anyPort(taken);
}

/** Free means both: it can be bound, and nobody answers (a listener on all addresses does not always stop a bind). */
async function isFree(port: number): Promise<boolean> {
  return (await bound(port)) === port && !(await answers(port));
}

async function anyPort(taken: ReadonlySet<number>): Promise<number> {
  for (;;) {
    const port = await bound(0);
    if (port === undefined) throw new Error('no free port on the loopback interface');
    if (!taken.has(port)) return port;
  }
}

function bound(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: HOST, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : undefined));
    });
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST });
    const settle = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(250, () => settle(false));
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}
