import {
  parseJsonQuery,
  destinationText,
  InvalidQueryError,
  parseQuery,
  sourceText,
} from '../../../../src/diagnostics/domain/trace/query.js';
describe('a query', () => {
  it.each([
    ['10.244.1.5', '10.96.0.10:53/udp', '10.244.1.5', '10.96.0.10:53/UDP'],
    ['node', '10.96.0.1:443', 'node', '10.96.0.1:443/TCP'],
    ['outside', '[fd00::1]:80/SCTP', 'outside', '[fd00::1]:80/SCTP'],
    ['outside:198.18.0.50', '198.51.100.11:30080/tcp', 'outside:198.18.0.50', '198.51.100.11:30080/TCP'],
    ['outside:[2001:DB8::1]', '[FD00::1]:80', 'outside:2001:db8::1', '[fd00::1]:80/TCP'],
    ['fd00:10::5', '[::ffff:1]:80', 'fd00:10::5', '[::ffff:1]:80/TCP'],
    ['node', '10.96.0.1:1', 'node', '10.96.0.1:1/TCP'],
    ['node', '10.96.0.1:65535', 'node', '10.96.0.1:65535/TCP'],
  ])('from %s to %s is understood', (from, to, source, destination) => {
    const query = parseQuery(from, to);
    expect([sourceText(query.from), destinationText(query)]).toEqual([source, destination]);
    // What is passed on to a running proxy means the same there.
    expect(parseQuery(sourceText(query.from), destinationText(query))).toEqual(query);
  });

  it.each([
    ['node', '10.96.0.1', 'is not ADDRESS:PORT'],
    ['node', 'fd00::1:80', 'is not ADDRESS:PORT'],
    ['node', '10.96.0.1:80/', 'is not ADDRESS:PORT'],
    ['node', '10.96.0.300:80', '"10.96.0.300" is not an IP address'],
    ['node', 'web.shop:80', '"web.shop" is not an IP address'],
    ['node', '10.96.0.1:0', 'port 0 is not from 1 to 65535'],
    ['node', '10.96.0.1:65536', 'port 65536 is not from 1 to 65535'],
    ['node', '10.96.0.1:80/icmp', '"icmp" is none of TCP, UDP and SCTP'],
    ['nodes', '10.96.0.1:80', '"nodes" is neither'],
    ['', '10.96.0.1:80', '"" is neither'],
    ['outside:', '10.96.0.1:80', '"outside:" is neither'],
    ['fd00::5', '10.96.0.1:80', 'the source fd00::5 is not IPv4, as 10.96.0.1 is'],
  ])('from %j to %j is refused', (from, to, reason) => {
    expect(() => parseQuery(from, to)).toThrow(InvalidQueryError);
    expect(() => parseQuery(from, to)).toThrow(reason);
  });
});

describe('a query in JSON', () => {
  const same = parseQuery('10.244.1.5', '10.96.0.10:53/UDP');

  it.each([
    '{"from": "10.244.1.5", "to": "10.96.0.10:53/UDP"}',
    '{"from": "10.244.1.5", "to": "10.96.0.10:53/udp", "protocol": "UDP", "note": 1}',
    '{"from": "10.244.1.5", "to": "10.96.0.10:53", "protocol": "Udp"}',
    '{"from": "10.244.1.5", "address": "10.96.0.10", "port": 53, "protocol": "udp"}',
    '{"from": "10.244.1.5", "address": "10.96.0.10", "port": "53", "protocol": "UDP"}',
  ])('%s is understood', (line) => {
    expect(parseJsonQuery(line)).toEqual(same);
  });

  it.each([
    ['from node', 'on one line: not "from node"'],
    ['[]', 'a query is a JSON object with "from" and "to"'],
    ['null', 'a query is a JSON object with "from" and "to"'],
    ['{"to": "10.96.0.1:80"}', 'from is missing'],
    ['{"from": "node"}', 'the query has neither "to" nor "address"'],
    ['{"from": "node", "address": "10.96.0.1"}', 'is not from 1 to 65535'],
    ['{"from": 1, "to": "10.96.0.1:80"}', 'from is 1, where a text belongs'],
    [
      '{"from": "node", "to": "10.96.0.1:80/tcp", "protocol": "udp"}',
      '"to" has TCP, but "protocol" is "udp"',
    ],
    ['{"from": "node", "address": "10.96.0.1", "port": 1.5}', 'port 1.5 is not from 1 to 65535'],
  ])('%s is refused', (line, reason) => {
    expect(() => parseJsonQuery(line)).toThrow(InvalidQueryError);
    expect(() => parseJsonQuery(line)).toThrow(reason);
  });
});
