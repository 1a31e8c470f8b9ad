import { pick, seededRandom } from '../../fakes/random.ts';

const SUBJECTS = [
  'the parser',
  'a reader',
  'the team',
  'every caller',
  'the old module',
  'its author',
  'a later release',
  'the queue',
  'one of the reviewers',
  'the build',
];
const VERBS = [
  'describes',
  'avoids',
  'repeats',
  'explains',
  'prepares',
  'follows',
  'replaces',
  'questions',
  'forgets',
  'collects',
];
const OBJECTS = [
  'the shape of the answer',
  'what was agreed before',
  'a longer list of cases',
  'the slow path',
  'its own defaults',
  'the usual order of things',
  'many small steps',
  'an earlier decision',
  'the remaining work',
  'every open question',
];
const TAILS = [
  'without much ado',
  'as the notes say',
  'when nobody is looking',
  'for the sake of clarity',
  'in most of the cases',
  'because it is simpler',
  'although it takes longer',
  'before anything else happens',
];

/** English sentences without names, numbers or paths: about `characters` of them, the same for the same seed. */
export function prose(characters: number, seed: number): readonly string[] {
  const random = seededRandom(seed);
  const sentences: string[] = [];
  for (let length = 0; length < characters; ) {
    const subject = pick(random, SUBJECTS);
    const sentence = `${subject[0]?.toUpperCase()}${subject.slice(1)} ${pick(random, VERBS)} ${pick(random, OBJECTS)} ${pick(random, TAILS)}.`;
    sentences.push(sentence);
    length += sentence.length + 1;
  }
  return sentences;
}
