import { readService } from '../../../src/domain/decode/read-service.js';
import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import type { ForwardingContext } from '../../../src/domain/forwarding/forward-service.js';
import { WaitingChanges } from '../../../src/domain/forwarding/waiting-changes.js';
import type { ServicePortKey } from '../../../src/domain/model/service-port-name.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import { NftablesDesiredState } from '../../../src/domain/nftables/state/desired-state.js';
import { Claims } from '../../../src/domain/reconcile/claims.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import { slice, sliceEndpoint } from '../../support/samples.js';

/** Methods that may walk through a whole list. */
const WALKS = [
  ...(['concat', 'every', 'filter', 'find', 'findIndex', 'flatMap', 'includes', 'indexOf'] as const),
  ...(['map', 'slice', 'some', 'sort'] as const),
];

/** How many members of lists the work may walk through. */
function membersWalked(work: () => void): number {
  let members = 0;
  const prototype = Array.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
  const originals = WALKS.map((name) => [name, prototype[name]!] as const);
  for (const [name, original] of originals)
    prototype[name] = function (this: unknown[], ...args: unknown[]) {
      members += this.length;
      return original.apply(this, args);
    };
  try {
    work();
  } finally {
    for (const [name, original] of originals) prototype[name] = original;
  }
  return members;
}

const CONTEXT: ForwardingContext = {
  family: 'IPv4',
  topology: { nodeName: 'n1', zone: '', nodeHints: false },
  nodeIP: '192.0.2.4',
  externalIPsAllowed: true,
};

const portsFrom = (first: number, count: number, shift: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `p${first + index}`,
    protocol: 'TCP' as const,
    port: first + index + shift,
  }));

/** A Service is read, decided, compiled, changed and removed again, with its slices of a hundred ports each. */
function life(count: number): void {
  const state = new ClusterState();
  const table = new ForwardingTable();
  const waiting = new WaitingChanges(count / 4);
  const desired = new NftablesDesiredState();
  const follow = (): void => {
    waiting.add(table.update(state, ['shop/cart'], CONTEXT));
    while (!waiting.empty)
      for (const { key, entry } of waiting.take()) {
        if (table.entry(key) !== entry) throw new Error(`another entry of ${key}`);
        desired.replace(key, entry && compileNftables(entry));
      }
  };
  const read = (shift: number): void => {
    const spec = { clusterIP: '10.96.0.1', ports: portsFrom(0, count, shift) };
    const { value } = readService({ metadata: { namespace: 'shop', name: 'cart' }, spec });
    state.applyService(value!);
  };
  read(1);
  for (let first = 0; first < count; first += 100) {
    const some = portsFrom(first, 100, 2000);
    state.applySlice(slice(`cart-${first}`, [sliceEndpoint('10.244.0.1')], { ports: some }));
  }
  follow();
  read(count + 1);
  follow();
  state.removeService('shop/cart');
  follow();
  expect([table.size, desired.elementCount]).toEqual([0, 0]);
}

describe('a Service with many ports', () => {
  it('costs in proportion to their number', () => {
    // The first of all makes what stays.
    life(400);
    const [few, many] = [membersWalked(() => life(400)), membersWalked(() => life(3200))];
    expect(many).toBeLessThan(10 * few);
  });

  it('that claim one address together cost no more each', () => {
    const walked = (count: number): number => {
      const owners = Array.from({ length: count }, (_, index): ServicePortKey => `shop/cart/tcp/p${index}`);
      const claims = new Claims();
      return membersWalked(() => {
        for (const owner of owners) claims.claim('10.96.0.1', owner);
        for (const owner of owners) claims.release('10.96.0.1', owner);
        expect(claims.ownerOf('10.96.0.1')).toBeUndefined();
      });
    };
    expect(walked(3200)).toBeLessThan(12 * walked(400) + 3200);
  });
});
