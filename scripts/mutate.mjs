/**
 * Plants faults in src/domain and src/application, one at a time, and runs the hermetic tests that a fault may concern. Prints the
 * faults that no test finds, and the score: `node scripts/mutate.mjs --count 20 --seed 1 --file nftables`. The same seed plants the
 * same faults in the same code; `--file` keeps to files with this in their path. Each file is restored after its turn.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import ts from 'typescript';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    file: { type: 'string', default: '' },
  },
});
/** A fault that makes a loop endless is one that the tests find. */
const TIMEOUT_MS = 600_000;

const { SyntaxKind: Kind } = ts;
const OPERATORS = new Map([
  [Kind.EqualsEqualsEqualsToken, '!=='],
  [Kind.ExclamationEqualsEqualsToken, '==='],
  [Kind.LessThanToken, '<='],
  [Kind.LessThanEqualsToken, '<'],
  [Kind.GreaterThanToken, '>='],
  [Kind.GreaterThanEqualsToken, '>'],
  [Kind.PlusToken, '-'],
  [Kind.MinusToken, '+'],
  [Kind.AsteriskToken, '/'],
  [Kind.SlashToken, '*'],
  [Kind.AmpersandAmpersandToken, '||'],
  [Kind.BarBarToken, '&&'],
]);

/** Every fault that can be planted in a text: where, and what stands there instead. */
function faultsIn(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const faults = [];
  const replace = (node, by) => faults.push({ path, start: node.getStart(), end: node.end, by });
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (node.parent?.name === node) return;
    const { kind } = node;
    if (ts.isBinaryExpression(node) && OPERATORS.has(node.operatorToken.kind))
      replace(node.operatorToken, OPERATORS.get(node.operatorToken.kind));
    else if (kind === Kind.TrueKeyword) replace(node, 'false');
    else if (kind === Kind.FalseKeyword) replace(node, 'true');
    else if (ts.isNumericLiteral(node)) replace(node, `(${node.text} + 1)`);
    else if (ts.isStringLiteral(node)) replace(node, node.text === '' ? "'?'" : "''");
    else if (ts.isExpressionStatement(node)) replace(node, ';');
    ts.forEachChild(node, visit);
  };
  visit(source);
  return faults;
}

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let number = Math.imul(state ^ (state >>> 15), 1 | state);
    number = (number + Math.imul(number ^ (number >>> 7), 61 | number)) ^ number;
    return ((number ^ (number >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Tests beside the file's mirror find most faults and take seconds; only what they miss needs all tests that import the file. */
function isFound({ path }) {
  const beside = dirname(path).replace(/^src/, 'test');
  return fails('--passWithNoTests', '--testPathPatterns', `${beside}/`) || fails('--findRelatedTests', path);
}

function fails(...tests) {
  const options = ['--selectProjects', 'hermetic', '--bail', '--maxWorkers=2', ...tests];
  const { status } = spawnSync('npm', ['run', '--silent', 'jest', '--', ...options], {
    stdio: 'ignore',
    timeout: TIMEOUT_MS,
  });
  return status !== 0;
}

const texts = new Map(
  ['src/domain', 'src/application']
    .flatMap((room) => readdirSync(room, { recursive: true }).map((name) => join(room, name)))
    .filter((path) => path.endsWith('.ts') && path.includes(values.file))
    .sort()
    .map((path) => [path, readFileSync(path, 'utf8')]),
);
const faults = [...texts].flatMap(([path, text]) => faultsIn(path, text));
const random = randomNumbers(Number(values.seed));
const chosen = Array.from(
  { length: Math.min(Number(values.count), faults.length) },
  () => faults.splice(Math.floor(random() * faults.length), 1)[0],
);
// Interrupted, the tests end, and with them this turn: the file is restored.
let isInterrupted = false;
process.on('SIGINT', () => (isInterrupted = true));

if (fails('--testPathPatterns', 'test/domain/', 'test/application/'))
  throw new Error('tests fail without any fault: no fault can be told from that');

let tried = 0;
let found = 0;
for (const fault of chosen) {
  const { path, start, end, by } = fault;
  const text = texts.get(path);
  const line = text.slice(0, start).split('\n').length;
  writeFileSync(path, text.slice(0, start) + by + text.slice(end));
  let hit;
  try {
    hit = isFound(fault);
  } finally {
    writeFileSync(path, text);
  }
  await setImmediate(); // lets the signal arrive
  if (isInterrupted) break;
  tried++;
  if (hit) found++;
  console.log(`${hit ? 'found   ' : 'SURVIVED'} ${path}:${line}: ${text.slice(start, end)} → ${by}`);
}
console.log(
  `${found} of ${tried} faults found (${Math.round((100 * found) / tried)} %), of ${faults.length + chosen.length} possible`,
);
process.exitCode = found === tried ? 0 : 1;
