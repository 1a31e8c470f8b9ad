import { type Flag, imageUrl, jsonObjectText, keys, list, matches, type Obj, object, oneOf, string } from './shape.ts';

interface ItemLaw {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Prefix of ids that the API issues for this kind. */
  readonly prefix: string;
  readonly idRequired?: true;
  readonly check?: (item: Obj, path: string, flag: Flag) => void;
}

const CALL_ID = /^[^\s]{1,64}$/;
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const STATUS = ['in_progress', 'completed', 'incomplete'];

const ITEMS: Readonly<Record<string, ItemLaw>> = {
  reasoning: {
    required: ['summary'],
    optional: ['content', 'encrypted_content', 'status'],
    prefix: 'rs',
    idRequired: true,
    check: reasoning,
  },
  function_call: {
    required: ['call_id', 'name', 'arguments'],
    optional: ['status', 'caller', 'namespace'],
    prefix: 'fc',
    check: (item, path, flag) => {
      matches(item.name, NAME, `${path}.name`, flag);
      jsonObjectText(item.arguments, `${path}.arguments`, flag);
    },
  },
  function_call_output: {
    required: ['call_id', 'output'],
    optional: ['status', 'caller'],
    prefix: 'fc',
    check: output,
  },
  custom_tool_call: {
    required: ['call_id', 'name', 'input'],
    optional: ['status', 'caller', 'namespace'],
    prefix: 'ctc',
    check: (item, path, flag) => {
      matches(item.name, NAME, `${path}.name`, flag);
      string(item.input, `${path}.input`, flag);
    },
  },
  custom_tool_call_output: { required: ['call_id', 'output'], optional: ['caller'], prefix: 'ctc', check: output },
  item_reference: { required: [], optional: [], prefix: '', idRequired: true },
  web_search_call: { required: ['status'], optional: ['action'], prefix: 'ws', idRequired: true },
  file_search_call: { required: ['status', 'queries'], optional: ['results'], prefix: 'fs', idRequired: true },
  code_interpreter_call: {
    required: ['status', 'code', 'container_id', 'outputs'],
    optional: [],
    prefix: 'ci',
    idRequired: true,
  },
  image_generation_call: { required: ['status', 'result'], optional: [], prefix: 'ig', idRequired: true },
  computer_call: {
    required: ['call_id', 'status'],
    optional: ['action', 'actions', 'pending_safety_checks'],
    prefix: 'cu',
    idRequired: true,
  },
  mcp_call: {
    required: ['name', 'arguments', 'server_label'],
    optional: ['output', 'error', 'status', 'approval_request_id'],
    prefix: 'mcp',
    idRequired: true,
  },
  mcp_list_tools: { required: ['server_label', 'tools'], optional: ['error'], prefix: 'mcpl', idRequired: true },
  compaction: { required: ['encrypted_content'], optional: [], prefix: 'cmp' },
};

/** Checks one input item by itself: its keys, its ids, its content. */
export function checkItem(value: unknown, path: string, flag: Flag): void {
  const item = object(value, path, flag);
  if (item === undefined) return;
  if (item.type === undefined || item.type === 'message') {
    message(item, path, flag);
    return;
  }
  const law = ITEMS[String(item.type)];
  if (law === undefined) {
    flag(`${path}.type`, `${JSON.stringify(item.type)} is no item type`);
    return;
  }
  keys(item, path, flag, ['type', ...law.required, ...(law.idRequired ? ['id'] : [])], ['id', ...law.optional]);
  if (item.id !== undefined) matches(item.id, new RegExp(`^${law.prefix}[_-]?.`), `${path}.id`, flag);
  if (law.required.includes('call_id')) matches(item.call_id, CALL_ID, `${path}.call_id`, flag);
  if (typeof item.status !== 'undefined' && law.check !== undefined) oneOf(item.status, STATUS, `${path}.status`, flag);
  law.check?.(item, path, flag);
}

function reasoning(item: Obj, path: string, flag: Flag): void {
  list(item.summary, `${path}.summary`, flag).forEach((entry, i) => {
    typedText(entry, `${path}.summary[${i}]`, flag, 'summary_text');
  });
  if (item.content !== undefined) {
    list(item.content, `${path}.content`, flag).forEach((entry, i) => {
      typedText(entry, `${path}.content[${i}]`, flag, 'reasoning_text');
    });
  }
  if (item.encrypted_content !== undefined && item.encrypted_content !== null) {
    if (string(item.encrypted_content, `${path}.encrypted_content`, flag) && item.encrypted_content === '') {
      flag(`${path}.encrypted_content`, 'is empty');
    }
  }
}

function typedText(value: unknown, path: string, flag: Flag, type: string): void {
  const part = object(value, path, flag);
  if (part === undefined) return;
  keys(part, path, flag, ['type', 'text'], []);
  oneOf(part.type, [type], `${path}.type`, flag);
  string(part.text, `${path}.text`, flag);
}

function output(item: Obj, path: string, flag: Flag): void {
  if (typeof item.output === 'string') return;
  list(item.output, `${path}.output`, flag, 1).forEach((part, i) => {
    inputPart(part, `${path}.output[${i}]`, flag);
  });
}

function message(item: Obj, path: string, flag: Flag): void {
  if (!oneOf(item.role, ['user', 'assistant', 'system', 'developer'], `${path}.role`, flag)) return;
  const assistant = item.role === 'assistant';
  keys(item, path, flag, ['role', 'content'], assistant ? ['type', 'id', 'status', 'phase'] : ['type', 'id', 'status']);
  if (item.status !== undefined) oneOf(item.status, STATUS, `${path}.status`, flag);
  if (item.id !== undefined) {
    matches(item.id, /^msg[_-]?./, `${path}.id`, flag);
    if (item.type !== 'message') flag(path, 'an item with an id needs its type');
  }
  if (typeof item.content === 'string') {
    if (item.content === '') flag(`${path}.content`, 'is empty');
    return;
  }
  list(item.content, `${path}.content`, flag, 1).forEach((part, i) => {
    (assistant ? outputPart : inputPart)(part, `${path}.content[${i}]`, flag);
  });
}

function inputPart(value: unknown, path: string, flag: Flag): void {
  const part = object(value, path, flag);
  if (part === undefined || !oneOf(part.type, ['input_text', 'input_image', 'input_file'], `${path}.type`, flag))
    return;
  if (part.type === 'input_text') {
    keys(part, path, flag, ['type', 'text'], ['prompt_cache_breakpoint']);
    if (string(part.text, `${path}.text`, flag) && part.text === '') flag(`${path}.text`, 'is empty');
  } else if (part.type === 'input_image') {
    keys(part, path, flag, ['type'], ['image_url', 'file_id', 'detail', 'prompt_cache_breakpoint']);
    if (part.detail !== undefined) oneOf(part.detail, ['auto', 'low', 'high', 'original'], `${path}.detail`, flag);
    if (part.image_url !== undefined && part.image_url !== null) imageUrl(part.image_url, `${path}.image_url`, flag);
    else if (typeof part.file_id !== 'string') flag(path, 'needs image_url or file_id');
  } else {
    keys(
      part,
      path,
      flag,
      ['type'],
      ['file_data', 'file_id', 'file_url', 'filename', 'detail', 'prompt_cache_breakpoint'],
    );
    if ((part.file_data ?? part.file_id ?? part.file_url) === undefined)
      flag(path, 'needs file_data, file_id or file_url');
  }
}

function outputPart(value: unknown, path: string, flag: Flag): void {
  const part = object(value, path, flag);
  if (part === undefined || !oneOf(part.type, ['output_text', 'refusal'], `${path}.type`, flag)) return;
  const key = part.type === 'refusal' ? 'refusal' : 'text';
  keys(part, path, flag, ['type', key], part.type === 'refusal' ? [] : ['annotations', 'logprobs']);
  if (string(part[key], `${path}.${key}`, flag) && part[key] === '') flag(`${path}.${key}`, 'is empty');
}
