import { change, historyAnswer } from '../../../src/application/status/change-entry.js';
import { isNodeProblem, portProblem, portStatus } from '../../../src/application/status/port-status.js';
import { familyHistory } from '../../../src/application/status/sync-history.js';
import type { Shape } from '../../../src/domain/shape.js';

const time = '2026-05-04T12:02:11.040Z';
const conflicts = [
  { frontend: '10.96.0.1:80/TCP', owner: 'a/b', portName: 'http' },
  { frontend: 'node port 30080/TCP', owner: 'a/b' },
];
const list = { count: 1, added: 1, removed: 0, changed: 0, examples: ['+10.1.1.1:80'] };
const portChange = {
  kind: 'service-port',
  family: 'IPv4',
  time,
  writtenSteps: 3,
  servicePort: 'a/b:http',
  result: 'programmed',
  eventTime: time,
  triggerTime: time,
  durationSeconds: 0.1,
  endpointChange: list,
  ejectedChange: list,
  frontendChange: list,
};
const familyChange = { family: 'IPv6', time, writtenSteps: 0, reason: 'EPERM', durationSeconds: 1 };
const failed = { state: 'failed', sinceTime: time, reason: 'EINVAL', attempts: 2 };
const degraded = { state: 'degraded', sinceTime: time, reason: 'no mh' };

/** Each shape of the answers of a proxy, and answers that a command must be able to read. */
const ANSWERS: readonly (readonly [string, Shape<unknown>, unknown])[] = [
  ['a pending port', portStatus, { state: 'pending' }],
  ['a programmed port', portStatus, { state: 'programmed', sinceTime: time }],
  ['a degraded port', portStatus, degraded],
  ['a degraded port, in full', portStatus, { ...degraded, conflicts, limits: ['no mh'], limitedBy: 'node' }],
  ['a failed port', portStatus, failed],
  ['a port that the mode cannot serve', portStatus, { ...failed, limitedBy: 'mode' }],
  ['a port that the node cannot serve', portStatus, { ...failed, limitedBy: 'node' }],
  ['a problem', portProblem, { servicePort: 'a/b', reason: 'EINVAL', sinceTime: time }],
  [
    'a problem of the node',
    portProblem,
    { servicePort: 'a/b', reason: 'EINVAL', sinceTime: time, conflicts, limitedBy: 'node' },
  ],
  [
    'a problem of the mode',
    portProblem,
    { servicePort: 'a/b', reason: 'EINVAL', sinceTime: time, limitedBy: 'mode' },
  ],
  ['a change of a port', change, portChange],
  ['a first sync', change, { kind: 'everything-programmed', ...familyChange }],
  ['a failed sync', change, { kind: 'sync-failed', ...familyChange }],
  ['a repair', change, { kind: 'repaired', family: 'IPv4', time, writtenSteps: 1 }],
  ['a history', historyAnswer, { changes: [portChange], total: 7 }],
  ['no sync', familyHistory, { failures: 0, drift: { repairs: 0, writtenSteps: 0 } }],
  [
    'syncs of every kind',
    familyHistory,
    {
      lastSuccess: { time, durationSeconds: 1, full: true, writtenSteps: 3 },
      lastFailure: { time, reason: 'EPERM' },
      failures: 1,
      unverified: { sinceTime: time, reason: 'EPERM' },
      drift: { repairs: 1, writtenSteps: 3, lastTime: time },
    },
  ],
];

it.each(ANSWERS)('%s is read as it was sent', (_, shape, answer) => {
  expect(shape(answer, '')).toEqual(answer);
});

it.each<[Shape<unknown>, unknown, string]>([
  [
    portStatus,
    { state: 'lost' },
    'state is "lost", where one of pending, programmed, degraded, failed belongs',
  ],
  [portStatus, { ...degraded, limitedBy: 'mode' }, 'limitedBy is "mode", where one of node belongs'],
  [portStatus, { ...failed, limitedBy: 'x' }, 'limitedBy is "x", where one of mode, node belongs'],
  [portStatus, { ...failed, attempts: 'x' }, 'attempts is "x", where a number belongs'],
  [
    change,
    { ...portChange, kind: 'lost' },
    'kind is "lost", where one of service-port, everything-programmed, sync-failed, repaired belongs',
  ],
  [change, { ...portChange, endpointChange: {} }, 'endpointChange.count is missing, where a number belongs'],
])('what has another shape is rejected: %#', (shape, answer, problem) => {
  expect(() => shape(answer, '')).toThrow(problem);
});

it.each([
  ['failed', undefined, true],
  ['failed', 'node', true],
  ['failed', 'mode', false],
  ['degraded', undefined, false],
  ['degraded', 'node', true],
] as const)(
  'whether a port that is %s, limited by %s, is a problem of the node: %s',
  (state, limitedBy, is) => {
    expect(isNodeProblem(state, { limitedBy })).toBe(is);
  },
);
