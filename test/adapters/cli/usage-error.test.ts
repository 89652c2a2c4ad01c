import { UsageError } from '../../../src/adapters/cli/usage-error.js';

it.each([
  ['diff takes names', 'kubectl kubeproxy diff', 'kubectl kubeproxy diff takes names'],
  ['unknown flag: --x', 'kubeproxy diff', 'kubeproxy diff: unknown flag: --x'],
  ['differs', 'kubeproxy diff', 'kubeproxy diff: differs'],
  ['"kubeproxy diff" takes nothing', 'kubeproxy diff', '"kubeproxy diff" takes nothing'],
])('%s, asked of %s, is told as: %s', (message, asked, sentence) => {
  expect(new UsageError(message, asked).sentence).toBe(sentence);
});
