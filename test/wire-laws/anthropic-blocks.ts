import {
  base64,
  boolean,
  type Flag,
  IMAGE_TYPES,
  isBlank,
  keys,
  list,
  matches,
  type Obj,
  object,
  oneOf,
  string,
} from './shape.ts';

type Role = 'user' | 'assistant';

const TOOL_ID = /^[a-zA-Z0-9_-]+$/;
const SERVER_ID = /^srvtoolu_[a-zA-Z0-9_]+$/;
const SERVER_TOOLS =
  'web_search web_fetch code_execution bash_code_execution text_editor_code_execution tool_search_tool_regex tool_search_tool_bm25'.split(
    ' ',
  );

interface BlockLaw {
  readonly roles: readonly Role[];
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly check: (block: Obj, path: string, flag: Flag, signatures: boolean) => void;
}

const BOTH: readonly Role[] = ['user', 'assistant'];
const MODEL: readonly Role[] = ['assistant'];
const PERSON: readonly Role[] = ['user'];

const BLOCKS: Readonly<Record<string, BlockLaw>> = {
  text: { roles: BOTH, required: ['text'], optional: ['cache_control', 'citations'], check: text },
  image: { roles: PERSON, required: ['source'], optional: ['cache_control', 'transformations'], check: image },
  document: {
    roles: PERSON,
    required: ['source'],
    optional: ['cache_control', 'citations', 'context', 'title'],
    check: document,
  },
  tool_use: {
    roles: MODEL,
    required: ['id', 'name', 'input'],
    optional: ['cache_control', 'caller', 'toolset_name'],
    check: (block, path, flag) => {
      matches(block.id, TOOL_ID, `${path}.id`, flag);
      matches(block.name, /^[a-zA-Z0-9_-]{1,128}$/, `${path}.name`, flag);
      object(block.input, `${path}.input`, flag);
    },
  },
  tool_result: {
    roles: PERSON,
    required: ['tool_use_id'],
    optional: ['cache_control', 'content', 'is_error', 'toolset_name'],
    check: toolResult,
  },
  thinking: { roles: MODEL, required: ['thinking', 'signature'], optional: [], check: thinking },
  redacted_thinking: {
    roles: MODEL,
    required: ['data'],
    optional: [],
    check: (block, path, flag) => {
      if (string(block.data, `${path}.data`, flag) && block.data === '') flag(`${path}.data`, 'is empty');
    },
  },
  server_tool_use: {
    roles: MODEL,
    required: ['id', 'name', 'input'],
    optional: ['cache_control', 'caller'],
    check: (block, path, flag) => {
      matches(block.id, SERVER_ID, `${path}.id`, flag);
      oneOf(block.name, SERVER_TOOLS, `${path}.name`, flag);
      object(block.input, `${path}.input`, flag);
    },
  },
};

/** Results of tools that the server ran, named after their tool. */
const SERVER_RESULT: BlockLaw = {
  roles: MODEL,
  required: ['tool_use_id', 'content'],
  optional: ['cache_control', 'caller'],
  check: (block, path, flag) => {
    matches(block.tool_use_id, SERVER_ID, `${path}.tool_use_id`, flag);
  },
};

export function isServerResult(type: unknown): boolean {
  return (
    typeof type === 'string' &&
    /^(web_search|web_fetch|code_execution|bash_code_execution|text_editor_code_execution|tool_search)_tool_result$/.test(
      type,
    )
  );
}

/** Checks one content block by itself: its type, its keys, the role it may stand in. */
export function checkBlock(value: unknown, path: string, role: Role, flag: Flag, signatures: boolean): void {
  const block = object(value, path, flag);
  if (block === undefined) return;
  const law = isServerResult(block.type) ? SERVER_RESULT : BLOCKS[String(block.type)];
  if (law === undefined) {
    flag(`${path}.type`, `${JSON.stringify(block.type)} is no block type`);
    return;
  }
  if (!law.roles.includes(role)) flag(path, `${block.type} blocks can not be in ${role} messages`);
  keys(block, path, flag, ['type', ...law.required], law.optional);
  law.check(block, path, flag, signatures);
}

function text(block: Obj, path: string, flag: Flag): void {
  if (!string(block.text, `${path}.text`, flag)) return;
  if (isBlank(block.text)) flag(`${path}.text`, 'text content blocks must contain non-whitespace text');
}

/** Also guards replay: an altered or unsigned block is refused ("Invalid `signature` in `thinking` block"). */
function thinking(block: Obj, path: string, flag: Flag, signatures: boolean): void {
  if (string(block.thinking, `${path}.thinking`, flag) && block.thinking === '') flag(path, 'must contain thinking');
  if (signatures) base64(block.signature, `${path}.signature`, flag);
  else string(block.signature, `${path}.signature`, flag);
}

function image(block: Obj, path: string, flag: Flag): void {
  source(block.source, `${path}.source`, flag, IMAGE_TYPES);
}

function source(value: unknown, path: string, flag: Flag, mediaTypes: readonly string[]): void {
  const from = object(value, path, flag);
  if (from === undefined || !oneOf(from.type, ['base64', 'url', 'file', 'text', 'content'], `${path}.type`, flag))
    return;
  if (from.type === 'base64') {
    keys(from, path, flag, ['type', 'media_type', 'data'], []);
    oneOf(from.media_type, mediaTypes, `${path}.media_type`, flag);
    base64(from.data, `${path}.data`, flag);
  } else if (from.type === 'url') {
    keys(from, path, flag, ['type', 'url'], []);
    matches(from.url, /^https?:\/\/./, `${path}.url`, flag);
  } else if (from.type === 'text') {
    keys(from, path, flag, ['type', 'media_type', 'data'], []);
    oneOf(from.media_type, ['text/plain'], `${path}.media_type`, flag);
    if (string(from.data, `${path}.data`, flag) && isBlank(from.data)) flag(`${path}.data`, 'is empty');
  }
}

function document(block: Obj, path: string, flag: Flag): void {
  source(block.source, `${path}.source`, flag, ['application/pdf']);
}

function toolResult(block: Obj, path: string, flag: Flag): void {
  matches(block.tool_use_id, TOOL_ID, `${path}.tool_use_id`, flag);
  if (block.is_error !== undefined) boolean(block.is_error, `${path}.is_error`, flag);
  const { content } = block;
  const empty = content === undefined || content === '' || (Array.isArray(content) && content.length === 0);
  if (empty && block.is_error === true) flag(path, 'content cannot be empty if is_error is true');
  if (content === undefined || content === '') return;
  if (typeof content === 'string') {
    if (isBlank(content)) flag(`${path}.content`, 'must contain non-whitespace text');
    return;
  }
  list(content, `${path}.content`, flag).forEach((inner, i) => {
    const at = `${path}.content[${i}]`;
    const part = object(inner, at, flag);
    if (part !== undefined && oneOf(part.type, ['text', 'image', 'document'], `${at}.type`, flag)) {
      checkBlock(part, at, 'user', flag, true);
    }
  });
}
