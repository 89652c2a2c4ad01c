import assert from 'node:assert/strict';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { BackendSubject } from './backend-subject.js';
import { sampleNode } from './sample-services.js';
import { everyKind, variant } from './sample-sets.js';
import { changed, gone, succeeds, writesNothing, type Plays } from './stage.js';

/** What `apply` promises. */
export function changeCases<Place>(subject: BackendSubject<Place>): Plays<Place> {
  const { family, tellsConflicts } = subject;
  const node = sampleNode(family);
  const all = everyKind(family);
  const make = (name: string, parts: Parameters<typeof variant>[2] = {}) => variant(family, name, parts);
  const batches: readonly (readonly [what: string, changes: readonly ForwardingChange[]])[] = [
    ['a service comes', changed(make('plain'))],
    ['others come together', changed(...all.slice(1, 6))],
    ['endpoints come', changed(make('plain', { endpoints: 5 }), make('datagrams', { endpoints: 4 }))],
    ['endpoints go', changed(make('plain', { endpoints: 1 }))],
    ['the last endpoint goes', changed(make('plain', { endpoints: 0 }), make('datagrams', { endpoints: 0 }))],
    ['endpoints come back', changed(make('plain'), make('datagrams'))],
    [
      'affinity comes and goes',
      changed(make('plain', { affinitySeconds: 60 }), make('sticky', { affinitySeconds: 0 })),
    ],
    ['the timeout changes', changed(make('plain', { affinitySeconds: 90 }))],
    ['addresses change', changed(make('external', { number: 44 }), make('node-port', { nodePort: 0 }))],
    ['addresses come back', changed(make('external'), make('node-port'))],
    ['source ranges go', changed(make('source-ranges', { sourceRanges: false }))],
    [
      'policies change',
      changed(make('external', { externalPolicyLocal: true }), make('plain', { internalPolicyLocal: true })),
    ],
    ['no endpoint is on this node', changed(make('external', { externalPolicyLocal: true, endpoints: 0 }))],
    ['one goes and another comes', [...gone(make('sticky')), ...changed(make('many'))]],
    [
      'one takes the address of one that goes',
      [...gone(make('many')), ...changed(make('empty', { number: 10 }))],
    ],
    ['all go', gone(...all)],
  ];
  return {
    'holds after every change what a fresh start would program': async (stage) => {
      const backend = await stage.started([], node);
      const present = new Map<string, ForwardingEntry>();
      for (const [what, changes] of batches) {
        for (const { key, entry } of changes)
          if (entry) present.set(key, entry);
          else present.delete(key);
        succeeds(await backend.apply(changes, node));
        await stage.holds([...present.values()], node, `after: ${what}`);
      }
    },

    'writes nothing when a change is no change': async (stage) => {
      const backend = await stage.started(all, node);
      const before = await stage.snapshot();
      writesNothing(await backend.apply([], node), 'without a change');
      writesNothing(await backend.apply(changed(...all), node), 'by a change to the same');
      assert.deepEqual(await stage.snapshot(), before);
    },

    'minds no removal of what it does not have': async (stage) => {
      const backend = await stage.started(all.slice(1), node);
      succeeds(await backend.apply(gone(all[0]!), node));
      await stage.holds(all.slice(1), node, 'after the removal of a service that was not there');
    },

    'follows the node': async (stage) => {
      const backend = await stage.started(all, node);
      const other = sampleNode(family, { masqueradeAll: true, nodePortIPs: 'all' });
      const everything = backend.rulesDependOn?.(node, other) ?? false;
      succeeds(await backend.apply(everything ? changed(...all) : [], other));
      await stage.holds(all, other, 'after the node changed');
      const later = [make('plain', { endpoints: 1 }), ...all.slice(1)];
      succeeds(await backend.apply(changed(...(everything ? later : later.slice(0, 1))), node));
      await stage.holds(later, node, 'after it changed back');
    },

    'serves an address that two services have the same way, whoever came first, until one goes': async (
      stage,
    ) => {
      const [one, other] = [make('plain'), make('many', { number: 1 })];
      const backend = await stage.started([one], node);
      const { failed, conflicts } = await backend.apply(changed(other), node);
      if (tellsConflicts !== false)
        assert.ok(
          failed.length > 0 || conflicts.length > 0,
          'nobody was told that two services have one address',
        );
      await stage.holds([other, one], node, 'with both');
      succeeds(await backend.apply(gone(one), node));
      await stage.holds([other], node, 'with the one that is left');
    },
  };
}
