import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { headingOf, SUMMARY_HEADINGS } from '../../src/compaction/headings.ts';
import { gate } from '../../src/compaction/quality.ts';
import { cutSections, withAllHeadings, withoutAppended } from '../../src/compaction/sections.ts';
import { textTokens } from '../../src/transcript/text-tokens.ts';

const TITLES = SUMMARY_HEADINGS.map(({ title }) => title);

function summary(heading: (title: string, at: number) => string, body = 'Order 8841-K was refunded [#12].'): string {
  return TITLES.map((title, at) => `${heading(title, at)}\n${body}`).join('\n\n');
}

function judged(text: string, extra: Partial<Parameters<typeof gate>[0]> = {}) {
  return gate({
    text,
    limitTokens: 1000,
    replacedTokens: 5000,
    required: ['8841-K'],
    tools: ['run_command'],
    ...extra,
  });
}

describe('good summaries pass', () => {
  test.each<[string, string]>([
    ['headings of level two', summary((title) => `## ${title}`)],
    ['headings of level one, upper case', summary((title) => `# ${title.toUpperCase()}`)],
    ['level four with a colon', summary((title) => `#### ${title}:`)],
    ['bold lines', summary((title) => `**${title}**`)],
    ['bold with a colon inside', summary((title) => `**${title}:**`)],
    ['numbered', summary((title, at) => `## ${at + 1}. ${title}`)],
    ['numbered bold', summary((title, at) => `${at + 1}. **${title}**`)],
    ['an emoji before', summary((title) => `## ✅ ${title}`)],
    ['plain lines with a colon', summary((title) => `${title}:`)],
    ['Chinese text', summary((title) => `## ${title}`, '订单8841-K已退款，用户要求用中文回答。[#12]')],
    ['Japanese text', summary((title) => `## ${title}`, '注文8841-Kは返金済みです。')],
    ['Russian text', summary((title) => `## ${title}`, 'Заказ 8841-K возвращён.')],
    ['Arabic text', summary((title) => `## ${title}`, 'تم رد الطلب 8841-K')],
    [
      'words of refusal inside',
      summary((title) => `## ${title}`, 'The user said: I cannot open 8841-K. Sorry for that.'),
    ],
    ['code and JSON inside', summary((title) => `## ${title}`, '8841-K is in {"name": "x"} of `run_command`')],
  ])('%s', (_, text) => {
    expect(judged(text).problems).toEqual([]);
  });
});

describe('bad summaries fail, and say why', () => {
  test.each<[string, string, string]>([
    ['nothing', '', 'it is empty'],
    ['white space', ' \n\t\n', 'it is empty'],
    ['a refusal', 'I’m sorry, but I can’t help with that.'.replaceAll('’', "'"), 'refuses'],
    ['a refusal with typographic quotes', 'I’m sorry, but I can’t help with that.', 'refuses'],
    ['a refusal in Chinese', '抱歉，我无法总结这段对话。', 'refuses'],
    ['our instructions', 'Use Markdown with exactly these headings, in this order', 'repeats the instructions'],
    ['a call as XML', '<tool_call>{"name":"run_command"}</tool_call>', 'tool call'],
    ['a call as JSON', '{"name": "run_command", "arguments": {}}', 'tool call'],
    ['a call in brackets', '[Assistant tool call]: run_command({"command":"pwd"})', 'tool call'],
    ['a call in a summary', `${summary((title) => `## ${title}`)}\nrun_command({"command": "pwd"})`, 'tool call'],
    ['a call in special tokens', '<|tool_call|>run', 'tool call'],
    ['an answer to the user', 'Sure! The capital of France is Paris.', 'headings are missing'],
    ['a missing heading', summary((title) => (title === 'Decisions' ? '' : `## ${title}`)), 'missing: Decisions'],
    ['no identifiers', summary((title) => `## ${title}`, 'It was refunded.'), 'missing: 8841-K'],
    ['a part of an identifier', summary((title) => `## ${title}`, '18841-KX'), 'missing: 8841-K'],
    ['too long', summary((title) => `## ${title}`, '8841-K and so on. '.repeat(200)), 'too long'],
  ])('%s', (_, text, problem) => {
    expect(judged(text).problems.join('\n')).toContain(problem);
  });

  test('one that is no shorter than what it stands for', () => {
    const text = summary((title) => `## ${title}`);
    expect(judged(text, { replacedTokens: textTokens(text) }).problems).toEqual([
      'it is not shorter than what it stands for',
    ]);
  });

  test('one with fewer than half of the headings is unusable, one with gaps is not', () => {
    expect(judged(`## Goal\n8841-K\n## Decisions\nNone.\n## Next steps\nNone.`).unusable).toBe(true);
    expect(judged(summary((title) => (title === 'Decisions' ? '' : `## ${title}`))).unusable).toBe(false);
  });
});

const MESSY = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('\n', '## ', '**', ...TITLES, '## Goal\n', '- 8841-K\n', '订单'),
    ),
  )
  .map((parts) => parts.join(''));

describe('laws', () => {
  test('any text is judged, and cut to any limit', () => {
    fc.assert(
      fc.property(MESSY, fc.integer({ min: 1, max: 300 }), (text, limit) => {
        judged(text);
        const cut = cutSections(text, limit);
        expect(textTokens(cut)).toBeLessThanOrEqual(limit);
        if (textTokens(text) <= limit) expect(cut).toBe(text);
      }),
    );
  });

  test('missing headings are added once', () => {
    fc.assert(
      fc.property(MESSY, (text) => {
        const whole = withAllHeadings(text);
        expect(withAllHeadings(whole)).toBe(whole);
        for (const title of TITLES) expect(whole.split('\n').map(headingOf)).toContain(title);
      }),
    );
  });

  test('headings outlive a cut as long as they fit', () => {
    const text = summary((title) => `## ${title}`, 'word '.repeat(300));
    const cut = cutSections(text, 200);
    expect(TITLES.filter((title) => cut.includes(`## ${title}`))).toEqual(TITLES);
  });

  test('what a program appended goes, wherever a model put it', () => {
    const text = '## Goal\nx\n## Exact identifiers kept from the record\nOthers: 8841-K\n## Decisions\ny';
    expect(withoutAppended(text)).toBe('## Goal\nx\n## Decisions\ny');
  });
});
