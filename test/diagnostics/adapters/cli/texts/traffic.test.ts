import { trafficLines } from '../../../../../src/diagnostics/adapters/cli/commands/top.js';
import type { EndpointReport, TrafficReport } from '../../../../../src/diagnostics/domain/traffic.js';
import { shownLines } from '../../../../support/shown-lines.js';
import { timeText } from '../../../../../src/domain/model/text.js';

const trafficText = (...args: Parameters<typeof trafficLines>): string => shownLines(trafficLines(...args));

const numbers = {
  openConnections: 0,
  newConnections: 0,
  newConnectionsPerSecond: 0,
  unansweredConnections: 0,
};
const busy = {
  openConnections: 12,
  newConnections: 6,
  newConnectionsPerSecond: 3,
  unansweredConnections: 0,
  bytes: 3_145_728,
  bytesPerSecond: 1_572_864,
};
const endpoint = (address: string, parts: Partial<EndpointReport> = {}): EndpointReport => ({
  address,
  port: 8080,
  state: 'ready',
  unresponsive: false,
  ...numbers,
  ...parts,
});

const report: TrafficReport = {
  time: timeText(Date.UTC(2026, 4, 4, 10, 0, 0, 250)),
  durationSeconds: 2,
  complete: true,
  readRatio: 1,
  samplingRate: 1,
  eventLosses: 0,
  trackedConnections: 345,
  bytesCounted: true,
  servicesTracked: true,
  omitted: 0,
  services: [
    {
      namespace: 'shop',
      name: 'cart',
      portName: 'http',
      protocol: 'TCP',
      family: 'IPv4',
      ...busy,
      unresponsiveEndpoints: 1,
      endpoints: [
        endpoint('10.244.2.11', busy),
        endpoint('10.244.2.12', { pod: 'cart-7f9', unansweredConnections: 3, unresponsive: true }),
        endpoint('10.244.2.13'),
      ],
    },
    {
      namespace: 'shop',
      name: 'dns',
      portName: '',
      protocol: 'UDP',
      family: 'IPv6',
      ...numbers,
      unresponsiveEndpoints: 0,
      endpoints: [],
    },
  ],
};

it('is a line for each service port and each endpoint with connections', () => {
  expect(trafficText(report, false)).toBe(
    `2026-05-04T10:00:00Z  2.0 s  345 tracked connections, of Services or not
SERVICE PORT                       PROTOCOL  OPEN  NEW/S  UNANSWERED  BYTES/S  STATE
shop/cart:http                     TCP       12    3      0           1.5 MiB  1 of 3 ready endpoints does not answer
  10.244.2.11:8080                           12    3      0           1.5 MiB  ready
  pod cart-7f9 (10.244.2.12:8080)            0     0      3           0 B      does not answer
shop/dns                           UDP       0     0      0           0 B      no endpoint
`,
  );
});

it('is wide with families and all endpoints', () => {
  const text = trafficText(report, true);
  expect(text).toMatch(/\nSERVICE PORT +PROTOCOL {2}FAMILY {2}OPEN/);
  expect(text).toMatch(/^ {2}10\.244\.2\.13:8080 +0 +0 +0 +0 B +ready$/m);
});

it('has no bytes where the kernel does not count them', () => {
  expect(trafficText({ ...report, bytesCounted: false }, false)).not.toContain('BYTES');
});

it('says how it was counted', () => {
  const text = trafficText(
    {
      ...report,
      services: [],
      complete: false,
      readRatio: 0.349,
      samplingRate: 16,
      eventLosses: 2,
      servicesTracked: false,
      bridgedHidden: true,
      omitted: 4,
    },
    false,
  );
  expect(text.split('\n').slice(1)).toEqual([
    'connections through IPVS are not tracked, so none is shown: set net.ipv4.vs.conntrack to 1',
    'connections of pods to a dead endpoint on their own bridge are not seen, since net.bridge.bridge-nf-call-iptables is 1: kubeproxy explain NAMESPACE/NAME --probe tries them',
    'not complete yet: 34% of the connections have been read',
    'one in 16 connections is counted, and the numbers multiplied',
    'events were lost 2 times: some new connections are missing; open ones are read again',
    'no connections of Services',
    'and 4 more service ports',
    '',
  ]);
});
