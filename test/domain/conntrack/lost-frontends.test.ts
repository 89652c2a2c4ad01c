import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { compileIptables } from '../../../src/domain/iptables/compile.js';
import { IptablesComposition } from '../../../src/domain/iptables/composition.js';
import { iptablesFrame } from '../../../src/domain/iptables/frame.js';
import { IptablesImage } from '../../../src/domain/iptables/image.js';
import { lostUdpFrontends as lostInIptables } from '../../../src/domain/iptables/lost-frontends.js';
import { parseSave } from '../../support/iptables/parse-save.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import { TableComposition } from '../../../src/domain/nftables/composition.js';
import { lostUdpFrontends as lostInNftables } from '../../../src/domain/nftables/lost-frontends.js';
import { contentsOf } from '../../../src/domain/nftables/table-contents.js';
import { tableImage } from '../../../src/domain/nftables/table-image.js';
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
  const ports = entries.filter(({ name, flowKeepers }) => name.protocol === 'UDP' && flowKeepers.length > 0);
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
    const imageOf = (some: readonly ForwardingEntry[]) => {
      const composition = new TableComposition();
      for (const entry of some) composition.replace(entry.key, compileNftables(entry));
      return tableImage(composition, context.network);
    };
    const { sets } = contentsOf(imageOf(entries));
    expect(lostInNftables(sets, imageOf([])).map(text).sort()).toEqual(frontends);
    expect(lostInNftables(sets, imageOf(entries))).toEqual([]);
  });

  it('in iptables', () => {
    const options = { node: context.network, host: RECORDED_HOST, largeCluster: false };
    const imageOf = (some: readonly ForwardingEntry[]) => {
      const composition = new IptablesComposition();
      for (const entry of some) composition.replace(entry.key, compileIptables(entry, options));
      return new IptablesImage(composition, iptablesFrame(context.network, RECORDED_HOST));
    };
    const saved = parseSave(recordedDump(recorded, family), family);
    expect(lostInIptables(saved, imageOf([])).map(text).sort()).toEqual(frontends);
    expect(lostInIptables(saved, imageOf(entries))).toEqual([]);
  });
});
