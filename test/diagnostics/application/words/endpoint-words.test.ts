import { endpointWords } from '../../../../src/diagnostics/application/words.js';
import { endpointOf } from '../cluster/samples.js';

it.each([
  [{}, 'ready, used'],
  [{ local: true }, 'on this node: ready, used'],
  [{ used: false }, 'ready, not used'],
  [{ used: false, reason: 'elsewhere' }, 'ready, not used (elsewhere)'],
  [{ ready: false, terminating: true }, 'not ready, terminating, still serving, used'],
  [{ ready: false, terminating: true, serving: false }, 'not ready, terminating, used'],
  [{ zoneHints: ['a'], nodeHints: ['n1'] }, 'ready, used, for zones a, for nodes n1'],
  [{ zoneHints: ['a', 'b'] }, 'ready, used, for zones a b'],
  [{ nodeHints: ['n1', 'n2'] }, 'ready, used, for nodes n1 n2'],
  [
    { pod: 'cart-7f9', nodeName: 'node-2', zone: 'a', unansweredConnections: 3 },
    'pod cart-7f9 on node-2, zone a: ready, used, 3 connections without an answer',
  ],
  [{ pod: 'cart-7f9', nodeName: 'node-1', local: true }, 'pod cart-7f9 on node-1 (this node): ready, used'],
  [{ zone: 'a', unansweredConnections: 0 }, 'zone a: ready, used'],
  [{ nodeName: 'node-2' }, 'on node-2: ready, used'],
  [
    { pod: 'cart-7f9', unresponsive: true, unansweredConnections: 1 },
    'pod cart-7f9: ready, used, does not answer, 1 connection without an answer',
  ],
])('%j', (parts, words) => {
  expect(endpointWords({ ...endpointOf('10.0.0.1'), ...parts })).toBe(words);
});
