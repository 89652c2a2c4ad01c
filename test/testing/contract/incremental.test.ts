import fc from 'fast-check';
import assert from 'node:assert/strict';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../../src/domain/forwarding/forwarding-table.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import type { BackendSubject } from '../../../src/testing/contract/backend-subject.js';
import { sampleNode } from '../../../src/testing/contract/sample-services.js';
import { changed, Stage } from '../../../src/testing/contract/stage.js';
import { follow, serviceChange } from '../../support/iptables/arbitraries.js';
import { iptablesSubject, ipvsSubject, nftablesSubject } from './subjects.js';

/** Has the place refuse something; the function ends that. */
type Obstacle<Place> = (place: Place) => () => void;

interface Case {
  /** Resolves when the property holds, and rejects with the counterexample. */
  run(): Promise<void>;
}

const NAMES = ['a', 'b', 'c'];

/**
 * After any changes of Services and of the node, and of refusals that end, the place holds what a fresh start on the final state
 * leaves, and a full verification finds nothing.
 */
function incrementalEqualsFull<Place>(
  subject: BackendSubject<Place>,
  obstacles: readonly Obstacle<Place>[],
): Case {
  const { family } = subject;
  const nodes = [
    sampleNode(family),
    sampleNode(family, { masqueradeAll: true }),
    sampleNode(family, {
      nodePortIPs: 'all',
      nodeAddresses: family === 'IPv4' ? ['192.0.2.1'] : ['2001:db8::1'],
    }),
  ];
  const batch = fc.record({
    changes: fc.array(serviceChange(family, NAMES), { maxLength: 3 }),
    node: fc.constantFrom(...nodes),
    obstacle: fc.option(fc.constantFrom(...obstacles), { nil: undefined, freq: 2 }),
  });
  type Batch = typeof batch extends fc.Arbitrary<infer Value> ? Value : never;
  const live = async (stage: Stage<Place>, batches: readonly Batch[]): Promise<void> => {
    let [network] = nodes;
    const present = new Map<string, ForwardingEntry>();
    const backend = await stage.started([], network!);
    for (const { changes, node, obstacle } of batches) {
      const all = new Map<string, ForwardingChange>();
      for (const one of changes) for (const each of follow(one, present)) all.set(each.key, each);
      if (backend.rulesDependOn?.(network!, node))
        for (const each of changed(...present.values())) all.set(each.key, each);
      network = node;
      const end = obstacle?.(stage.place);
      const { failed } = await backend.apply([...all.values()], node);
      if (!obstacle) assert.deepEqual(failed, []);
      end?.();
      const again = failed.map(({ key }) => ({ key, entry: present.get(key) }));
      assert.deepEqual((await backend.apply(again, node)).failed, []);
      // What could not be removed, and what may still be in use, goes by the next verification.
      await backend.verify('full');
      await stage.holds([...present.values()], 'after a batch', node);
      assert.equal((await backend.verify('full')).written, 0);
    }
  };
  return {
    run: () =>
      fc.assert(
        fc.asyncProperty(fc.array(batch, { maxLength: 5 }), (batches) =>
          Stage.run(subject, (stage) => live(stage, batches)),
        ),
        { numRuns: 10 },
      ),
  };
}

const BACKENDS: Readonly<Record<string, (family: IpFamily) => Case>> = {
  nftables: (family) =>
    incrementalEqualsFull(
      nftablesSubject(family),
      [2, 3].map((last) => (kernel) => {
        const address = family === 'IPv4' ? `10.0.0.${last} ` : `fd00::${last} `;
        return kernel.refuse(({ op }, element) =>
          op === 'add-elements' && element?.key.startsWith(address) ? 'EINVAL' : undefined,
        );
      }),
    ),
  iptables: (family) =>
    incrementalEqualsFull(
      iptablesSubject(family),
      ['default/a', 'default/b'].map((text) => (iptables) => {
        iptables.refuse((line) => (/^-[AI]/.test(line) && line.includes(text) ? 'refused' : undefined));
        return () => iptables.refuse(() => undefined);
      }),
    ),
  ipvs: (family) =>
    incrementalEqualsFull(
      ipvsSubject(family),
      (['servers', 'sets', 'addresses'] as const).map((part) => (node) => {
        node[part].refuse(() => 'EINVAL');
        return () => node[part].refuse(() => undefined);
      }),
    ),
};

describe.each(Object.entries(BACKENDS))('mode %s', (_, open) => {
  it.each(IP_FAMILIES)('holds after any changes what a fresh start would program (%s)', (family) =>
    open(family).run(),
  );
});
