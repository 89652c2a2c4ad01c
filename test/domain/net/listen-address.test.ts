import {
  hostPortProblems,
  parsePort,
  splitHostPort,
  withPort,
} from '../../../src/domain/net/listen-address.js';

it.each([
  ['192.0.2.1:80', { host: '192.0.2.1', port: '80' }],
  ['[2001:db8::1]:80', { host: '2001:db8::1', port: '80' }],
  [':80', { host: '', port: '80' }],
  ['[]:', { host: '', port: '' }],
  ['2001:db8::1:80', undefined],
  ['192.0.2.1', undefined],
])('%s is taken apart', (text, parts) => {
  expect(splitHostPort(text)).toEqual(parts);
});

it.each([
  ['1', 1],
  ['65535', 65535],
  ['0', undefined],
  ['65536', undefined],
  ['080', 80],
  ['', undefined],
  ['+80', undefined],
])('%s is a port, or none', (text, port) => {
  expect(parsePort(text)).toBe(port);
});

it('may begin with port 0', () => {
  expect(parsePort('0', 0)).toBe(0);
});

it('gets a port if it is an address', () => {
  expect(['192.0.2.1', '2001:db8::1', '192.0.2.1:9', ''].map((text) => withPort(text, 80))).toEqual([
    '192.0.2.1:80',
    '[2001:db8::1]:80',
    '192.0.2.1:9',
    '',
  ]);
});

it.each([
  ['192.0.2.1:80', []],
  ['192.0.2.1', ['must be IP:port']],
  ['example.com:80', ['must be a valid IP']],
  ['192.0.2.1:0', ['must be a valid port']],
  ['example.com:http', ['must be a valid IP', 'must be a valid port']],
])('%s has the problems %j', (text, problems) => {
  expect(hostPortProblems(text)).toEqual(problems);
});
