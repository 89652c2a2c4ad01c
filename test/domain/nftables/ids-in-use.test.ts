import { everyKind, variant } from '../../../src/testing/contract/sample-sets.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import { endpointIds } from '../../../src/domain/nftables/endpoint-numbers.js';
import { NftablesAdoptedRules } from '../../../src/domain/nftables/state/adopted-rules.js';
import { NftablesDesiredState, IdsInUse } from '../../../src/domain/nftables/state/desired-state.js';
import type { SetElement } from '../../../src/domain/nftables/layout/table.js';

describe('ids in use', () => {
  it('are abandoned with their last user, and told once', () => {
    const ids = new IdsInUse();
    ids.use(['8000:1', '8000:2']);
    ids.use(['8000:2']);
    ids.abandon(['8000:1', '8000:2']);
    expect([ids.has('8000:1'), ids.has('8000:2')]).toEqual([false, true]);
    expect([...ids.all()]).toEqual(['8000:2']);
    expect([...ids.takeAbandoned()]).toEqual(['8000:1']);
    expect([...ids.takeAbandoned()]).toEqual([]);
    ids.abandon(['8000:2']);
    expect([...ids.takeAbandoned()]).toEqual(['8000:2']);
  });

  it('that come back before anybody asked are not abandoned', () => {
    const ids = new IdsInUse();
    ids.use(['8000:1']);
    ids.abandon(['8000:1']);
    ids.use(['8000:1']);
    expect([...ids.takeAbandoned()]).toEqual([]);
  });
});

describe('the desired state', () => {
  const three = variant('IPv4', 'sticky', { nodePort: 30_000, external: true });
  const two = variant('IPv4', 'sticky', { nodePort: 30_000, external: true, endpoints: 2 });
  const idsOf = (entry: typeof three) => [...endpointIds(entry).values()].sort();

  it('has the ids of endpoints with session affinity, and tells of those that go from all frontends', () => {
    const desired = new NftablesDesiredState();
    for (const entry of everyKind('IPv4'))
      if (entry.key !== three.key) desired.replace(entry.key, compileNftables(entry));
    expect([...desired.ids.all()]).toEqual([]);
    desired.replace(three.key, compileNftables(three));
    expect([...desired.ids.all()].sort()).toEqual(idsOf(three));
    desired.replace(three.key, compileNftables(two));
    const gone = idsOf(three).filter((id) => !idsOf(two).includes(id));
    expect(gone).toHaveLength(1);
    expect([...desired.ids.takeAbandoned()]).toEqual(gone);
    desired.replace(three.key, undefined);
    expect([...desired.ids.takeAbandoned()].sort()).toEqual(idsOf(two));
  });

  it('has the same ids for rules that an earlier process left', () => {
    const sets = new Map<string, { elements: Map<string, SetElement> }>();
    for (const { elements } of compileNftables(three))
      for (const { set, ...element } of elements) {
        if (!sets.has(set.name)) sets.set(set.name, { elements: new Map() });
        sets.get(set.name)!.elements.set(element.key, element);
      }
    const desired = new NftablesDesiredState();
    const adopted = new NftablesAdoptedRules(sets, desired);
    desired.replace(three.key, adopted.rules(adopted.labelsOf(three.name), three.key));
    expect([...desired.ids.all()].sort()).toEqual(idsOf(three));
  });
});
