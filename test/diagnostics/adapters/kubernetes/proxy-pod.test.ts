import {
  notRunning,
  podToQuery,
  proxyContainer,
  queryLine,
  type Pod,
} from '../../../../src/diagnostics/adapters/kubernetes/proxy-pods.js';

const running = { phase: 'Running', containerStatuses: [{ name: 'kube-proxy', state: { running: {} } }] };

function pod(name: string, fields: Partial<Pod> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  return {
    metadata: { name, namespace: 'kube-system', ...metadata },
    spec: { containers: [{ name: 'kube-proxy' }] },
    status: running,
    ...fields,
  };
}

describe('the command line of a question', () => {
  it.each([
    ['its program', ['/usr/local/bin/kube-proxy', '--v=2'], [], ['/usr/local/bin/kube-proxy', 'status']],
    [
      'a program of two words',
      ['node', '/opt/kubeproxy', '-v', '2'],
      [],
      ['node', '/opt/kubeproxy', 'status'],
    ],
    ["the image's own program", [], ['--v=2'], ['kube-proxy', 'status']],
    ['a program alone', ['kube-proxy'], ['--v=2'], ['kube-proxy', 'status']],
    [
      'flags by which the proxy is found',
      ['kube-proxy', '--config', '/c.conf', '--hostname-override=$(NODE_NAME)'],
      ['--metrics-bind-address=127.0.0.1:9', '--configuration=x'],
      ['kube-proxy', 'status', '--config', '/c.conf', '--metrics-bind-address=127.0.0.1:9'],
    ],
  ])('has %s', (_, command, args, expected) => {
    expect(queryLine({ name: 'kube-proxy', command, args }, ['status'])).toEqual(expected);
  });
});

it('takes the container that is called kube-proxy, else the first', () => {
  const containers = [{ name: 'side' }, { name: 'kube-proxy' }];
  expect(proxyContainer(pod('a', { spec: { containers } }))?.name).toBe('kube-proxy');
  expect(proxyContainer(pod('a', { spec: { containers: [{ name: 'proxy' }] } }))?.name).toBe('proxy');
  expect(proxyContainer(pod('a', { spec: {} }))).toBeUndefined();
});

it.each([
  [
    'it waits',
    { containerStatuses: [{ name: 'kube-proxy', state: { waiting: { reason: 'ImagePullBackOff' } } }] },
    'ImagePullBackOff',
  ],
  [
    'it ended',
    { containerStatuses: [{ name: 'kube-proxy', state: { terminated: { reason: 'OOMKilled' } } }] },
    'OOMKilled',
  ],
  ['nothing is known of it', { phase: 'Pending' }, 'Pending'],
  ['it runs', running, undefined],
])('says why a container does not run: %s', (_, status, reason) => {
  expect(notRunning(pod('a', { status }), 'kube-proxy')).toBe(reason);
});

describe('of several pods on a node', () => {
  const old = pod('old', {}, { creationTimestamp: '2026-01-01T00:00:00Z' });
  const young = pod('young', {}, { creationTimestamp: '2026-02-01T00:00:00Z' });
  const leaving = pod('leaving', {}, { creationTimestamp: '2026-03-01T00:00:00Z', deletionTimestamp: 'x' });
  const pending = pod(
    'pending',
    { status: { phase: 'Pending' } },
    { creationTimestamp: '2026-04-01T00:00:00Z' },
  );

  it('asks the newest that runs and stays', () => {
    expect(podToQuery([old, pending, young, leaving])?.metadata.name).toBe('young');
  });
  it('asks one that is being deleted before one that does not run', () => {
    expect(podToQuery([pending, leaving])?.metadata.name).toBe('leaving');
  });
  it('knows when there is none', () => {
    expect(podToQuery([])).toBeUndefined();
  });
});
