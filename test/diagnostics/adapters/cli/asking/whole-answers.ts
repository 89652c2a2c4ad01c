/** A command that asks the proxy of this node. */
export type AskingName =
  | 'diff'
  | 'drain-status'
  | 'explain'
  | 'history'
  | 'services'
  | 'status'
  | 'top'
  | 'trace';

const sync = {
  lastSuccess: { time: 1, durationSeconds: 1, full: true, writtenSteps: 1 },
  lastFailure: { time: 1, reason: 'EIO' },
  failures: 1,
  unverified: { sinceTime: 1, reason: 'EIO' },
  drift: { repairs: 1, writtenSteps: 1, lastTime: 1 },
};
const verdict = { state: 'error', cause: 'NoPodSelected', reason: 'no pod', nextStep: 'look' };
const frontend = {
  kind: 'cluster-ip',
  address: '10.96.0.1',
  port: 80,
  policy: 'Cluster',
  outcome: 'forward',
  ...verdict,
  reason: 'to 1 endpoint',
};
const endpoint = {
  address: '10.244.1.1',
  port: 80,
  local: true,
  unresponsive: true,
  ejected: false,
  ready: true,
  serving: true,
  terminating: true,
  zoneHints: ['a'],
  nodeHints: ['b'],
  used: false,
  reason: 'hinted for others',
};
const place = { service: 'a/b', portName: 'http', protocol: 'TCP', family: 'IPv4' };
const counts = {
  openConnections: 1,
  newConnections: 1,
  newConnectionsPerSecond: 1,
  unansweredConnections: 1,
  bytes: 1,
  bytesPerSecond: 1,
};
const list = { count: 1, added: 1, removed: 1, changed: 1, examples: ['+10.244.1.1:80'] };
const change = { family: 'IPv4', time: 1, writtenSteps: 1, reason: 'EIO', durationSeconds: 1 };

/** For each command an answer with all that it may have, where it is asked for, and with what arguments. */
export const wholeAnswers: readonly (readonly [AskingName, readonly string[], string, object])[] = [
  [
    'status',
    [],
    '/debug/status',
    {
      state: 'degraded',
      reasons: ['IPv4: 1 service port fails'],
      warnings: ['connections cannot be counted'],
      node: 'node1',
      mode: 'nftables',
      versions: { program: '0.1.0', kubernetes: 'v1.36.0', nodejs: 'v20', kernel: '6.1' },
      startTime: 1,
      time: 2,
      inSync: false,
      lagSeconds: 1,
      pendingReasons: ['IPv4: 1 Service'],
      families: [
        {
          family: 'IPv4',
          inSync: false,
          pendingServices: 1,
          pendingSinceTime: 1,
          programmed: 1,
          failed: [{ servicePort: 'a/b', reason: 'EIO', sinceTime: 1 }],
          degraded: [{ servicePort: 'a/c', reason: 'lost', sinceTime: 1 }],
          sync,
        },
      ],
      ignored: ['Service a/b'],
      watches: [
        {
          kind: 'Service',
          state: 'watching',
          connected: false,
          objectCount: 1,
          idleSeconds: 1,
          failure: 'GET http://x?y',
        },
      ],
      serviceCounts: { ok: 1, warning: 1, error: 1 },
      serviceProblems: [{ service: 'a/b', ...verdict }],
      lastErrors: [{ time: 1, message: 'EIO' }],
    },
  ],
  [
    'services',
    [],
    '/debug/services',
    {
      services: [
        {
          namespace: 'a',
          name: 'b',
          type: 'ClusterIP',
          frontends: ['10.96.0.1:80/TCP'],
          endpointCounts: { used: 1, known: 1 },
          ...verdict,
        },
      ],
      unknownNames: [{ name: 'c', reason: 'absent' }],
    },
  ],
  [
    'explain',
    ['a/b'],
    '/debug/explain',
    {
      service: 'a/b',
      known: true,
      verdict,
      objects: [{ ...verdict, reason: 'odd' }],
      candidates: ['a/b-x'],
      families: [
        {
          family: 'IPv4',
          pending: true,
          pendingSeconds: 1,
          ports: ['failed', 'programmed', 'pending'].map((state, index) => ({
            portName: 'http',
            protocol: 'TCP',
            status: { state, sinceTime: 1, attempts: 1, reason: 'EIO', note: 'odd' },
            // Alike in all states.
            frontends: [frontend].slice(index),
            endpoints: [endpoint].slice(index),
            verdicts: [{ ...verdict, reason: 'draining' }].slice(index),
            affinitySeconds: 1,
            sourceRanges: ['10.0.0.0/8'].slice(index),
          })),
          absence: verdict,
          healthCheck: { port: 1, localEndpoints: 1, listening: false, problem: 'EADDRINUSE' },
          sync,
        },
      ],
    },
  ],
  [
    'explain',
    ['10.96.0.1'],
    '/debug/explain',
    {
      subject: '10.96.0.1',
      frontends: [{ ...place, ...frontend, status: { state: 'programmed', sinceTime: 1 } }],
      endpoints: [{ ...place, ...endpoint }],
      otherwise: 'nobody has it',
    },
  ],
  [
    'trace',
    ['--from', 'node', '--to', '10.96.0.1:80'],
    '/debug/trace',
    {
      outcome: 'forward',
      endpoints: [{ address: '10.244.1.1', port: 80, probability: 1 }],
      sourceRewrite: 'always',
      sticky: true,
      steps: [
        {
          hook: 'output',
          where: 'nat',
          rule: 'r',
          effect: 'masquerade',
          servicePort: 'a/b',
          foreign: true,
          uncertain: true,
        },
      ],
      uncertain: true,
      packet: {
        family: 'IPv4',
        inputInterface: 'eth0',
        source: '10.0.0.1',
        destination: '10.96.0.1',
        protocol: 'TCP',
        destinationPort: 80,
      },
      remarks: ['odd'],
    },
  ],
  [
    'diff',
    [],
    '/debug/diff',
    {
      mode: 'nftables',
      families: [
        { family: 'IPv4', lines: [{ sign: '-', text: 'rule', servicePort: 'a/b' }], omitted: 1 },
        { family: 'IPv6', lines: [], omitted: 0, problem: 'odd' },
      ],
    },
  ],
  [
    'history',
    [],
    '/debug/history',
    {
      changes: [
        {
          ...change,
          kind: 'service-port',
          servicePort: 'a/b',
          result: 'failed',
          eventTime: 1,
          triggerTime: 1,
          endpointChange: list,
          frontendChange: list,
        },
        { ...change, kind: 'sync-failed' },
      ],
      total: 2,
    },
  ],
  [
    'drain-status',
    [],
    '/debug/drain',
    {
      node: 'n1',
      endpoints: [
        {
          ...{ address: '10.244.1.1', port: 80, protocol: 'TCP', pod: 'a/b-1', nodeName: 'n1' },
          ...{ services: ['a/b:http'], terminatingSinceTime: 1, openConnections: 1, inUse: true },
        },
      ],
      addresses: ['10.244.1.1'],
      unseenReason: 'no permission',
    },
  ],
  [
    'top',
    ['--once'],
    '/debug/traffic',
    {
      time: 1,
      durationSeconds: 1,
      services: [
        {
          ...counts,
          ...{
            namespace: 'a',
            name: 'b',
            portName: 'http',
            protocol: 'TCP',
            family: 'IPv4',
            unresponsiveEndpoints: 1,
          },
          endpoints: [{ ...counts, address: '10.244.1.1', port: 80, state: 'ready', unresponsive: true }],
        },
      ],
      omitted: 1,
      complete: false,
      readRatio: 0.5,
      samplingRate: 2,
      eventLosses: 1,
      trackedConnections: 1,
      bytesCounted: true,
      servicesTracked: false,
    },
  ],
];
