/** A command that asks the proxy of this node. */
export type AskingName = 'diff' | 'explain' | 'history' | 'services' | 'status' | 'top' | 'trace';

const sync = {
  lastSuccess: { at: 1, seconds: 1, full: true, written: 1 },
  lastFailure: { at: 1, reason: 'EIO' },
  failures: 1,
  unverified: { since: 1, reason: 'EIO' },
  drift: { found: 1, repaired: 1, last: 1 },
};
const frontend = {
  kind: 'cluster-ip',
  address: '10.96.0.1',
  port: 80,
  policy: 'Cluster',
  outcome: 'forward',
  reason: 'to 1 endpoint',
};
const endpoint = {
  address: '10.244.1.1',
  port: 80,
  isLocal: true,
  ready: true,
  serving: true,
  terminating: true,
  zoneHints: ['a'],
  nodeHints: ['b'],
  used: false,
  reason: 'hinted for others',
};
const place = { service: 'a/b', port: 'http', protocol: 'TCP', family: 'IPv4' };
const counts = { open: 1, new: 1, newPerSecond: 1, unanswered: 1, bytes: 1, bytesPerSecond: 1 };
const list = { now: 1, added: 1, removed: 1, turned: 1, some: ['+10.244.1.1:80'] };
const change = { family: 'IPv4', at: 1, steps: 1, reason: 'EIO', took: 1 };

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
      versions: { program: '0.1.0', kubernetes: 'v1.36.0', node: 'v20', kernel: '6.1' },
      startedAt: 1,
      now: 2,
      inSync: false,
      lag: 1,
      waiting: ['IPv4: 1 Service'],
      families: [
        {
          family: 'IPv4',
          inSync: false,
          waiting: 1,
          waitingSince: 1,
          programmed: 1,
          failed: [{ key: 'a/b/tcp/', reason: 'EIO', since: 1 }],
          degraded: [{ key: 'a/c/tcp/', reason: 'lost', since: 1 }],
          sync,
        },
      ],
      ignored: ['Service a/b'],
      watches: [
        {
          kind: 'Service',
          state: 'watching',
          connected: false,
          objects: 1,
          silence: 1,
          failure: 'GET http://x?y',
        },
      ],
      lastErrors: [{ at: 1, text: 'EIO' }],
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
          endpoints: { used: 1, known: 1 },
          state: 'failed',
          reason: 'EIO',
        },
      ],
      unknown: [{ name: 'c', reason: 'absent' }],
    },
  ],
  [
    'explain',
    ['a/b'],
    '/debug/explain',
    {
      service: 'a/b',
      known: true,
      unserved: { kind: 'headless', text: 'it is headless' },
      problems: ['odd'],
      families: [
        {
          family: 'IPv4',
          waiting: true,
          waitingSeconds: 1,
          ports: ['failed', 'programmed', 'pending'].map((state, index) => ({
            port: 'http',
            protocol: 'TCP',
            status: { state, since: 1, attempts: 1, reason: 'EIO', note: 'odd' },
            // Alike in all states.
            frontends: [frontend].slice(index),
            endpoints: [endpoint].slice(index),
            findings: [{ kind: 'draining', isFault: false, text: 'draining' }].slice(index),
            affinitySeconds: 1,
            sourceRanges: ['10.0.0.0/8'].slice(index),
          })),
          absence: { kind: 'held-back', text: 'held back' },
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
      frontends: [{ ...place, frontend, status: { state: 'programmed', since: 1 } }],
      endpoints: [{ ...place, endpoint }],
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
      sourceRewritten: true,
      sticky: true,
      steps: [
        {
          hook: 'output',
          where: 'nat',
          rule: 'r',
          effect: 'masquerade',
          servicePort: 'a/b',
          isForeign: true,
          isUncertain: true,
        },
      ],
      isUncertain: true,
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
          what: 'service-port',
          servicePort: 'a/b/tcp/',
          result: 'failed',
          event: 1,
          trigger: 1,
          endpoints: list,
          frontends: list,
        },
        { ...change, what: 'sync-failed' },
      ],
      total: 2,
    },
  ],
  [
    'top',
    ['--once'],
    '/debug/traffic',
    {
      time: 1,
      seconds: 1,
      services: [
        {
          ...counts,
          ...{ namespace: 'a', name: 'b', port: 'http', protocol: 'TCP', family: 'IPv4', silentEndpoints: 1 },
          endpoints: [{ ...counts, address: '10.244.1.1', port: 80, state: 'ready', silent: true }],
        },
      ],
      omitted: 1,
      complete: false,
      readShare: 0.5,
      sampledOneIn: 2,
      timesLost: 1,
      tracked: 1,
      countsBytes: true,
      tracksServices: false,
    },
  ],
];
