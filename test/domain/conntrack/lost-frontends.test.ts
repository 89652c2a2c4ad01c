import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { compileIptables } from '../../../src/domain/iptables/compile.js';
import {
  IptablesDesiredState,
  udpFrontends as savedInIptables,
} from '../../../src/domain/iptables/desired-state.js';
import { savedRules } from '../../../src/domain/iptables/saved-tables.js';
import { parseSave } from '../../support/iptables/parse-save.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import {
  NftablesDesiredState,
  udpFrontends as presentInNftables,
} from '../../../src/domain/nftables/state/desired-state.js';
import { contentsOf } from '../../support/nftables/table-contents.js';
import { desiredTable } from '../../../src/domain/nftables/state/desired-table.js';
import {
  forwardingTable,
  recordedContext,
  recordedDump,
  RECORDED_HOST,
  recordedState,
  recordedCases,
} from '../../support/recorded/cluster.js';

const text = ({ address = '', port }: { address?: string | undefined; port: number }) => `${address} ${port}`;

/** What leads to endpoints anywhere, by the forwarding table. */
function udpFrontends(entries: readonly ForwardingEntry[]): string[] {
  const ports = entries.filter(
    ({ name, flowEligibleEndpoints }) => name.protocol === 'UDP' && flowEligibleEndpoints.length > 0,
  );
  return [...new Set(ports.flatMap(({ frontends }) => frontends.map(text)))].sort();
}

/** The recorded clusters with UDP services that have endpoints. */
const cases = recordedCases().flatMap((recorded) => {
  const state = recordedState(recorded);
  const context = recordedContext(recorded, state, recorded.family);
  const entries = [...forwardingTable(state, context).entries()];
  const frontends = udpFrontends(entries);
  return frontends.length > 0 ? [{ ...recorded, context, entries, frontends }] : [];
});

describe.each(cases)('UDP frontends that rules tell of: $scenario $step $family', (recorded) => {
  const { family, context, entries, frontends } = recorded;

  it('in nftables', () => {
    const stateOf = (some: readonly ForwardingEntry[]) => {
      const desired = new NftablesDesiredState();
      for (const entry of some) desired.replace(entry.key, compileNftables(entry));
      return desired;
    };
    const { sets } = contentsOf(desiredTable(stateOf(entries), context.network));
    const present = presentInNftables(sets);
    expect(stateOf([]).lost(present).map(text).sort()).toEqual(frontends);
    expect(stateOf(entries).lost(present)).toEqual([]);
  });

  it('in iptables', () => {
    const options = { node: context.network, host: RECORDED_HOST, largeCluster: false };
    const stateOf = (some: readonly ForwardingEntry[]) => {
      const desired = new IptablesDesiredState();
      for (const entry of some) desired.replace(entry.key, compileIptables(entry, options));
      return desired;
    };
    const saved = parseSave(recordedDump(recorded, family), family);
    const present = savedInIptables((chain) => savedRules(saved, 'nat', chain));
    expect(stateOf([]).lost(present).map(text).sort()).toEqual(frontends);
    expect(stateOf(entries).lost(present)).toEqual([]);
  });
});
