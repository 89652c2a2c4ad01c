import { degradedStatus, Deviations } from '../../../src/application/status/deviations.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { ServicePortKey } from '../../../src/domain/model/service-port-name.js';
import { entryOf } from '../../support/traffic/flows.js';

const entry = entryOf();
const [frontend] = entry.frontends;
const at = (address: string) => ({ ...frontend!, address });
const [mine, taken, reserved, free] = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'].map(at);
const nodePort = { ...frontend!, kind: 'node-port', address: undefined, port: 30080 } as never;

let owner: ServicePortKey;
let deviations: Deviations;
beforeEach(() => {
  owner = 'shop/other/tcp/http';
  deviations = new Deviations({
    ownerOf: (_, { address }) =>
      address === taken!.address ? owner : address === undefined ? 'pay/x/tcp/' : undefined,
    reservedFor: (_, { address }) => (address === reserved!.address ? "the proxy's own port" : undefined),
  });
});

const statusOf = (of: ForwardingEntry | undefined = entry) => {
  const deviation = deviations.of(entry.key, of);
  return deviation && degradedStatus('now', deviation);
};
const having = (...frontends: ForwardingEntry['frontends'][number][]): ForwardingEntry => ({
  ...entry,
  frontends,
  requested: [mine!, taken!, reserved!, free!, nodePort],
});

it('a service port with all its frontends, and one that is gone, do not deviate', () => {
  expect([statusOf(), deviations.of(entry.key, undefined)]).toEqual([undefined, undefined]);
  expect(deviations.isEmpty).toBe(true);
});

it('a service port without some of its frontends is degraded, with the owner of each', () => {
  expect(statusOf(having(mine!))).toEqual({
    state: 'degraded',
    sinceTime: 'now',
    conflicts: [
      { frontend: '10.0.0.2:80/TCP', owner: 'shop/other', portName: 'http' },
      { frontend: '10.0.0.3:80/TCP', owner: "the proxy's own port" },
      // Nobody has it by now: it is about to be its own.
      { frontend: '10.0.0.4:80/TCP', owner: 'shop/cart' },
      { frontend: 'node port 30080/TCP', owner: 'pay/x' },
    ],
    reason:
      "10.0.0.2:80/TCP belongs to shop/other:http; 10.0.0.3:80/TCP belongs to the proxy's own port; 10.0.0.4:80/TCP belongs to shop/cart and 1 more",
  });
  expect(statusOf(having())?.reason).toMatch(/^all its frontends belong to other Services: 10\.0\.0\.1/);
});

it('names the owners as they are when they are asked for', () => {
  const status = statusOf(having(mine!, reserved!, free!, nodePort))!;
  owner = 'shop/third/tcp/';
  expect(status.reason).toBe('10.0.0.2:80/TCP belongs to shop/third');
  expect(status.conflicts).toEqual([{ frontend: '10.0.0.2:80/TCP', owner: 'shop/third' }]);
});

it('notes of the backend and what is missing on the node are limits, until they are gone', () => {
  deviations.update([], [{ key: entry.key, note: 'no mh' }]);
  expect(statusOf()).toEqual({ state: 'degraded', sinceTime: 'now', reason: 'no mh', limits: ['no mh'] });
  deviations.setMissing(entry.key, 'no port');
  expect(statusOf()).toMatchObject({
    reason: 'no mh; no port',
    limits: ['no mh', 'no port'],
    limitedBy: 'node',
  });
  expect(statusOf(having(mine!, reserved!, free!, nodePort))?.reason).toBe(
    '10.0.0.2:80/TCP belongs to shop/other:http; no mh; no port',
  );
  deviations.update([entry.key], []);
  expect([statusOf()?.reason, deviations.isEmpty]).toEqual(['no port', false]);
  deviations.setMissing(entry.key, undefined);
  expect([statusOf(), deviations.isEmpty]).toEqual([undefined, true]);
});
