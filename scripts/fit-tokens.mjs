// Fits the weights of src/transcript/token-weights.ts.
//
//   npx tsc -b src/transcript && node scripts/fit-tokens.mjs FOLDER
//
// FOLDER has one folder of text files for each class of text (english, code, json, …); windows of 2,000 and of 400
// characters are counted with o200k_base, and the weights minimise the squared relative error with every class
// weighing the same. Texts are read for their statistics only. test/fixtures/corpus is never part of FOLDER.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { countFeatures, FEATURE_COUNT } from '../dist/src/transcript/token-features.js';

const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: node scripts/fit-tokens.mjs FOLDER');

/** Relative pull towards the prior of a feature that the corpus hardly shows. */
const RIDGE = 2e-5;
const PRIOR = 1;

const rows = [];
for (const cls of readdirSync(folder)) {
  const windows = [];
  for (const file of readdirSync(`${folder}/${cls}`)) {
    const text = readFileSync(`${folder}/${cls}/${file}`, 'utf8');
    for (let at = 0; at + 2000 <= text.length; at += 2000) windows.push(text.slice(at, at + 2000));
    for (let at = 0; at + 400 <= Math.min(text.length, 2000); at += 400) windows.push(text.slice(at, at + 400));
  }
  for (const window of windows) {
    const counts = new Float64Array(FEATURE_COUNT);
    countFeatures(window, counts);
    const tokens = countTokens(window);
    const small = window.length < 2000 ? 0.2 : 1;
    rows.push({ cls, counts, tokens, weight: small / windows.length, whole: window.length >= 2000 });
  }
}

/** A word of everyday length is one token at least, whatever the neighbours that the corpus shows it with make of it. */
const FLOOR = new Float64Array(FEATURE_COUNT);
FLOOR.fill(0.97, 0, 8); // the features of words of one to eight letters

/** Coordinate descent on Σ weight·((Σ w·x − y)/y)² + ridge, weights kept from their floor to 8. */
function fittedWeights() {
  const w = new Float64Array(FEATURE_COUNT).fill(PRIOR);
  const scaled = rows.map((row) => row.counts.map((x) => x / row.tokens));
  const residual = scaled.map((x) => x.reduce((sum, value, i) => sum + value * w[i], 0) - 1);
  for (let round = 0; round < 400; round += 1) {
    for (let i = 0; i < FEATURE_COUNT; i += 1) {
      let gradient = RIDGE * (w[i] - PRIOR);
      let curvature = RIDGE;
      for (let r = 0; r < rows.length; r += 1) {
        const x = scaled[r][i];
        if (x === 0) continue;
        gradient += rows[r].weight * x * residual[r];
        curvature += rows[r].weight * x * x;
      }
      const next = Math.min(8, Math.max(FLOOR[i], w[i] - gradient / curvature));
      const step = next - w[i];
      if (step === 0) continue;
      w[i] = next;
      for (let r = 0; r < rows.length; r += 1) residual[r] += step * scaled[r][i];
    }
  }
  return w;
}

const weights = fittedWeights();
const byClass = new Map();
for (const row of rows.filter((r) => r.whole)) {
  const estimate = row.counts.reduce((sum, x, i) => sum + x * weights[i], 0);
  const list = byClass.get(row.cls) ?? [];
  list.push(estimate / row.tokens - 1);
  byClass.set(row.cls, list);
}
for (const [cls, errors] of byClass) {
  const sorted = errors.map(Math.abs).sort((a, b) => a - b);
  const bias = errors.reduce((a, b) => a + b, 0) / errors.length;
  const at = (q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
  console.log(
    `${cls}: n ${errors.length}, median ${at(0.5).toFixed(3)}, p95 ${at(0.95).toFixed(3)}, bias ${bias.toFixed(3)}`,
  );
}

const lines = [];
for (let at = 0; at < FEATURE_COUNT; at += 10) {
  lines.push(`  ${[...weights.slice(at, at + 10)].map((w) => Number(w.toFixed(3))).join(', ')},`);
}
writeFileSync(
  'src/transcript/token-weights.ts',
  `/** Tokens for each feature of \`token-features\`, in its order; made by scripts/fit-tokens.mjs against \`o200k_base\`. */
// biome-ignore format: a table
export const TOKEN_WEIGHTS: readonly number[] = [
${lines.join('\n')}
];
`,
);
