import { endpointWords } from '../../../../src/diagnostics/application/words.js';
import { endpointOf } from '../cluster/samples.js';

it.each([
  [{}, 'used, ready'],
  [{ local: true }, 'used, on this node, ready'],
  [{ used: false }, 'not used, ready'],
  [{ used: false, reason: 'elsewhere' }, 'not used (elsewhere), ready'],
  [{ ready: false, terminating: true }, 'used, not ready, terminating, still serving'],
  [{ ready: false, terminating: true, serving: false }, 'used, not ready, terminating'],
  [{ zoneHints: ['a'], nodeHints: ['n1'] }, 'used, ready, for zones a, for nodes n1'],
  [{ zoneHints: ['a', 'b'] }, 'used, ready, for zones a b'],
  [{ nodeHints: ['n1', 'n2'] }, 'used, ready, for nodes n1 n2'],
])('%j', (parts, words) => {
  expect(endpointWords({ ...endpointOf('10.0.0.1'), ...parts })).toBe(words);
});
