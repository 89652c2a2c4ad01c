import { portWords } from '../../../../src/diagnostics/application/words.js';

it.each([
  ['http', 'TCP', 'http TCP'],
  ['', 'UDP', '(unnamed) UDP'],
  ['http', '', 'http'],
])('port %j of protocol %j', (portName, protocol, words) => {
  expect(portWords({ portName, protocol })).toBe(words);
});
