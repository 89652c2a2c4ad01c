import assert from 'node:assert/strict';
import { BALANCING_METHODS } from '../../domain/balancing/balancing.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { BackendSubject } from './backend-subject.js';
import { sampleNode } from './sample-services.js';
import { everyKind, variant } from './sample-sets.js';
import { changed, gone, succeeds, writesNothing, type CaseBodies } from './stage.js';

/** The contract of `apply`. */
export function changeCases<Place>(subject: BackendSubject<Place>): CaseBodies<Place> {
  const { family } = subject;
  const all = everyKind(family);
  const make = (name: string, parts: Parameters<typeof variant>[2] = {}) => variant(family, name, parts);
  const batches: readonly (readonly [what: string, changes: readonly ForwardingChange[]])[] = [
    ['a service is added', changed(make('plain'))],
    ['several are added together', changed(...all.slice(1, 6))],
    ['endpoints are added', changed(make('plain', { endpoints: 5 }), make('datagrams', { endpoints: 4 }))],
    ['endpoints are removed', changed(make('plain', { endpoints: 1 }))],
    [
      'the last endpoint is removed',
      changed(make('plain', { endpoints: 0 }), make('datagrams', { endpoints: 0 })),
    ],
    ['endpoints come back', changed(make('plain'), make('datagrams'))],
    [
      'affinity is turned on and off',
      changed(make('plain', { affinitySeconds: 60 }), make('sticky', { affinitySeconds: 0 })),
    ],
    ['the affinity timeout changes', changed(make('plain', { affinitySeconds: 90 }))],
    ['addresses change', changed(make('external', { number: 44 }), make('node-port', { nodePort: 0 }))],
    ['addresses come back', changed(make('external'), make('node-port'))],
    ['source ranges are removed', changed(make('source-ranges', { sourceRanges: false }))],
    [
      'policies change',
      changed(make('external', { externalPolicyLocal: true }), make('plain', { internalPolicyLocal: true })),
    ],
    ['no endpoint is on this node', changed(make('external', { externalPolicyLocal: true, endpoints: 0 }))],
    ['one is removed and another is added', [...gone(make('sticky')), ...changed(make('many'))]],
    [
      'one takes the address of a removed one',
      [...gone(make('many')), ...changed(make('empty', { number: 10 }))],
    ],
    ['weights change', changed(make('weighted', { weights: [0, 5, 5, 2] }))],
    [
      'endpoints with weights are removed',
      changed(make('weighted', { endpoints: 2 }), make('weighted-datagrams', { endpoints: 2 })),
    ],
    ['the only one with a weight is removed', changed(make('weighted-datagrams', { endpoints: 1 }))],
    ['they come back', changed(make('weighted'), make('weighted-datagrams'))],
    ...BALANCING_METHODS.map((balancingMethod): (typeof batches)[number] => [
      `the same endpoints are chosen by ${balancingMethod}`,
      changed(make('weighted', { balancingMethod }), make('plain', { balancingMethod, weights: [3, 4, 5] })),
    ]),
    ['and remembered', changed(make('weighted', { affinitySeconds: 60 }))],
    [
      'they are chosen at random',
      changed(make('weighted', { balancingMethod: 'random' }), make('plain', { weights: [3, 4, 5] })),
    ],
    ['all are removed', gone(...all)],
  ];
  return {
    'has the same rules after every change as after a fresh start': async (stage) => {
      const backend = await stage.started([]);
      const present = new Map<string, ForwardingEntry>();
      for (const [what, changes] of batches) {
        for (const { key, entry } of changes)
          if (entry) present.set(key, entry);
          else present.delete(key);
        succeeds(await backend.apply(changes, stage.node));
        await stage.holds([...present.values()], `after: ${what}`);
      }
    },

    'writes nothing for a change to the same': async (stage) => {
      const backend = await stage.started();
      const before = await stage.snapshot();
      writesNothing(await backend.apply([], stage.node), 'without a change');
      writesNothing(await backend.apply(changed(...stage.all), stage.node), 'by a change to the same');
      assert.deepEqual(await stage.snapshot(), before);
    },

    'ignores the removal of an unknown service': async (stage) => {
      const backend = await stage.started(stage.all.slice(1));
      succeeds(await backend.apply(gone(stage.all[0]!), stage.node));
      await stage.holds(stage.all.slice(1), 'after the removal of a service that was not there');
    },

    'follows changes of the node': async (stage) => {
      const backend = await stage.started();
      const other = sampleNode(family, { masqueradeAll: true, nodePortIPs: 'all' });
      const everything = backend.rulesDependOn?.(stage.node, other) ?? false;
      succeeds(await backend.apply(everything ? changed(...stage.all) : [], other));
      await stage.holds(stage.all, 'after the node changed', other);
      const later = [make('plain', { endpoints: 1 }), ...stage.all.slice(1)];
      succeeds(await backend.apply(changed(...(everything ? later : later.slice(0, 1))), stage.node));
      await stage.holds(later, 'after it changed back');
    },

    'serves an address that two services share the same way, in whatever order they come, until one goes':
      async (stage) => {
        const [one, other] = [make('plain'), make('many', { number: 1 })];
        const backend = await stage.started([one]);
        await backend.apply(changed(other), stage.node);
        await stage.holds([other, one], 'with both');
        succeeds(await backend.apply(gone(one), stage.node));
        await stage.holds([other], 'with the remaining one');
      },
  };
}

/** The contract of `cleanup` and `close`. */
export function removalCases<Place>(): CaseBodies<Place> {
  return {
    'removes everything that it made, and nothing else, also when called twice': async (stage) => {
      const before = await stage.snapshot();
      const backend = await stage.started();
      await backend.cleanup();
      assert.deepEqual(await stage.snapshot(), before);
      await backend.cleanup();
      assert.deepEqual(await stage.snapshot(), before);
    },

    'removes what an earlier process left, without a start': async (stage) => {
      const before = await stage.snapshot();
      await (await stage.started()).close();
      await (await stage.open()).cleanup();
      assert.deepEqual(await stage.snapshot(), before);
    },

    'removes nothing when it is closed, also when closed twice or without a start': async (stage) => {
      const backend = await stage.started();
      const before = await stage.snapshot();
      await backend.close();
      await backend.close();
      await (await stage.open()).close();
      assert.deepEqual(await stage.snapshot(), before);
    },
  };
}
