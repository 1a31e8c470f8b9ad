import { textTokens } from '../transcript/text-tokens.ts';
import { missingHeadingsOf, SUMMARY_HEADINGS } from './headings.ts';
import type { RecordedIdentifier } from './identifier-record.ts';
import { holdsIdentifier } from './identifiers.ts';

/** Share of the required names that a summary must hold on its own. */
export const MIN_RECALL = 0.9;

/** Most tokens of required names, and their share of what the model may write. */
const REQUIRED_TOKENS = 1000;
const REQUIRED_SHARE = 0.3;

export interface GateInput {
  /** The model's own text. */
  readonly text: string;
  /** Most tokens that it may take. */
  readonly limitTokens: number;
  /** Tokens of what it replaces. */
  readonly replacedTokens: number;
  readonly required: readonly string[];
  /** Names of the agent's tools: a text that calls one is no summary. */
  readonly tools?: readonly string[];
}

export interface GateReport {
  /** In words that can be told to the model; empty when the text passed. */
  readonly problems: readonly string[];
  /** Nothing of the text can be used, whatever is done to it. */
  readonly unusable: boolean;
  readonly tokens: number;
  readonly missingHeadings: readonly string[];
  readonly missingIdentifiers: readonly string[];
  readonly identifierRecall: number;
}

/** Measures a summary against what it must hold. Total: any text gives a report. */
export function gate(input: GateInput): GateReport {
  const text = input.text.trim();
  const tokens = textTokens(text);
  const missingHeadings = missingHeadingsOf(text);
  const missingIdentifiers = input.required.filter((name) => !holdsIdentifier(text, name));
  const identifierRecall = input.required.length === 0 ? 1 : 1 - missingIdentifiers.length / input.required.length;
  const fatal = fatalProblem(text, missingHeadings.length, input.tools ?? []);
  const problems = [
    ...(fatal === undefined ? [] : [fatal]),
    ...(fatal !== undefined || missingHeadings.length === 0
      ? []
      : [`these headings are missing: ${missingHeadings.join(', ')}`]),
    ...(tokens <= input.limitTokens ? [] : [`it is too long: about ${tokens} of at most ${input.limitTokens} tokens`]),
    ...(tokens < input.replacedTokens ? [] : ['it is not shorter than what it stands for']),
    ...(fatal !== undefined || identifierRecall >= MIN_RECALL
      ? []
      : [`these exact names are missing: ${missingIdentifiers.slice(0, 40).join(' ')}`]),
  ];
  // Half of the headings is a summary with gaps; fewer is some other text.
  const unusable = fatal !== undefined || missingHeadings.length * 2 > SUMMARY_HEADINGS.length;
  return { problems, unusable, tokens, missingHeadings, missingIdentifiers, identifierRecall };
}

/**
 * The names that a summary must hold on its own: the most important ones, as many as a model can be asked to repeat.
 *
 * @param modelTokens most tokens of the model's text.
 */
export function requiredIdentifiers(record: readonly RecordedIdentifier[], modelTokens: number): readonly string[] {
  let room = Math.min(REQUIRED_TOKENS, modelTokens * REQUIRED_SHARE);
  const required: string[] = [];
  for (const { text } of record) {
    room -= textTokens(` ${text}`);
    if (room < 0) break;
    required.push(text);
  }
  return required;
}

const REFUSALS =
  /^(?:i(?:['’]m| am) (?:sorry|unable|not able)|sorry\b|i (?:cannot|can['’]t|can not|won['’]t)|as an ai\b|unfortunately, i (?:cannot|can['’]t)|抱歉|对不起|很抱歉|我无法|我不能|申し訳|すみません)/i;

/** Beginnings of our own instructions: a model that repeats them has not summarised anything. */
const ECHOES: readonly string[] = [
  'This message is from the program that runs you',
  'Use Markdown with exactly these headings',
  'You write summaries of conversations',
];

/** Forms in which models write calls as text. */
const CALL_FORMS: readonly RegExp[] = [
  /<(?:tool_call|function_calls?|invoke|tool_use|function=)[\s>]/i,
  /<\|(?:tool_call|python_tag|channel|tool▁call)[^\n]{0,40}\|?>/i,
  /\[(?:assistant )?tool[ _]calls?\b[^\]\n]{0,40}\]\s*:?/i,
  /\[TOOL_CALLS?\]/,
  /^\s*(?:```(?:json|tool_code)?\s*)?\{\s*"(?:name|tool|function|tool_calls?)"\s*:/,
];

function fatalProblem(text: string, missingHeadings: number, tools: readonly string[]): string | undefined {
  if (text === '') return 'it is empty';
  if (missingHeadings > 0 && REFUSALS.test(text)) return 'it refuses or apologises instead of summarising';
  if (ECHOES.some((echo) => text.includes(echo))) return 'it repeats the instructions';
  if (CALL_FORMS.some((form) => form.test(text)) || tools.some((tool) => callsTool(text, tool))) {
    return 'it holds the text of a tool call';
  }
  return undefined;
}

/** `run_command({"command": …` */
function callsTool(text: string, tool: string): boolean {
  for (let at = text.indexOf(`${tool}(`); at !== -1; at = text.indexOf(`${tool}(`, at + 1)) {
    if (/^\s*\{/.test(text.slice(at + tool.length + 1, at + tool.length + 12))) return true;
  }
  return false;
}
