import { styleText } from 'node:util';
import { BACKEND_ADDRESSES, CLIENT_ADDRESS, NODE_ADDRESS } from './network.mjs';

const colors = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (style, text) => (colors ? styleText(style, text) : text);

export const say = (text = '') => console.log(text);
export const complain = (text) => console.error(paint('red', text));
export const logLine = (line) => say(paint('gray', `    kubeproxy: ${line}`));
export const event = (text) => say(`${paint('gray', clock())}  ${text}`);

export function topology(network) {
  const [first, second, third] = network.backends.map(
    (name, index) => `${name} ${BACKEND_ADDRESSES[index]}:8080`,
  );
  const client = `${network.client} ${CLIENT_ADDRESS}`;
  const node = `${network.node} ${NODE_ADDRESS}`;
  const margin = ' '.repeat(client.length + 5);
  say('A client outside, a node, and three web servers, each in a network namespace of this machine:');
  say();
  say(`  ${client} ─── ${node} ─┬─ ${first}`);
  say(`  ${margin}${'with kubeproxy'.padEnd(node.length)}  ├─ ${second}`);
  say(`  ${margin}${' '.repeat(node.length)}  └─ ${third}`);
  say();
}

/** One line for each target: how often each backend responded. */
export function tallies(targets, counts) {
  targets.forEach(({ service, kind, address }, index) => {
    const answers = Object.entries(counts[index]).map(([answer, count]) =>
      paint(shade(answer), `${answer} ${bar(count)} ${count}`),
    );
    say(`  ${service.padEnd(8)} ${kind.padEnd(10)} ${address.padEnd(17)}  ${answers.join('   ')}`);
  });
}

/** All targets in one line. */
export function summary(targets, counts) {
  const parts = targets.map(({ service, kind }, index) => {
    const total = Object.values(counts[index]).reduce((sum, count) => sum + count, 0);
    const shares = Object.entries(counts[index]).map(
      ([answer, count]) => `${answer.replace('backend-', '#')} ${Math.round((100 * count) / total)}%`,
    );
    return `${paint('bold', service)} ${kind}: ${shares.join(' ')}`;
  });
  event(parts.join(' | '));
}

function bar(count) {
  return '■'.repeat(Math.max(1, Math.round(count / 4)));
}

function shade(answer) {
  return { 'backend-1': 'green', 'backend-2': 'cyan', 'backend-3': 'yellow' }[answer] ?? 'red';
}

function clock() {
  return new Date().toTimeString().slice(0, 8);
}
