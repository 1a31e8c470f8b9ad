import { z } from 'zod';
import { redact } from '../providers/redact.ts';
import type { McpServerConfig } from './settings.ts';

const SECRET = "this looks like a secret: put it into an environment variable and write { env: 'NAME' }";

const plain = z.string().refine((text) => redact(text) === text, SECRET);
const value = z.union(
  [
    plain,
    z.strictObject({
      env: z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of an environment variable, never a secret itself'),
    }),
  ],
  { error: ({ input }) => (typeof input === 'string' ? SECRET : "expected a text or { env: 'NAME' }") },
);
const headerName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'expected the name of an HTTP header');

/** Keys that go with `command` only, and with `url` only. */
const PROGRAM_KEYS = ['args', 'env', 'cwd'] as const;
const ADDRESS_KEYS = ['headers'] as const;

export const mcpServer: z.ZodType<McpServerConfig> = z
  .strictObject({
    command: z.string().min(1).optional(),
    args: z.array(plain).optional(),
    env: z.record(z.string().min(1), value).optional(),
    cwd: z.string().min(1).optional(),
    url: z
      .url({ protocol: /^https?$/, error: 'expected a URL that begins with http:// or https://' })
      .refine((url) => !/:\/\/[^/?#]*@/.test(url), 'a URL holds no password: use headers')
      .refine((url) => redact(url) === url, SECRET)
      .optional(),
    headers: z.record(headerName, value).optional(),
    timeoutSecs: z.number().positive().max(86_400).optional(),
  })
  .superRefine((server, context) => {
    if ((server.command === undefined) === (server.url === undefined)) {
      context.addIssue({ code: 'custom', message: 'expected either command (a program) or url (a server)' });
      return;
    }
    const [keys, owner] =
      server.command === undefined ? ([PROGRAM_KEYS, 'command'] as const) : ([ADDRESS_KEYS, 'url'] as const);
    for (const key of keys) {
      if ((server as McpServerConfig)[key] === undefined) continue;
      context.addIssue({ code: 'custom', path: [key], message: `goes with ${owner} only` });
    }
  }) as z.ZodType<McpServerConfig>;
