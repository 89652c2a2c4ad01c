import { IP_FAMILIES } from '../../../../src/domain/net/ip-family.js';
import { compileNftables } from '../../../../src/domain/nftables/compile.js';
import { BY_ADDRESS } from '../../../../src/domain/nftables/layout/keys.js';
import {
  classNumber,
  classOfNumber,
  type TrafficClass,
} from '../../../../src/domain/nftables/layout/traffic-class.js';
import { NftablesDesiredState } from '../../../../src/domain/nftables/state/desired-state.js';
import { desiredTable } from '../../../../src/domain/nftables/state/desired-table.js';
import type { Packet } from '../../../../src/domain/trace/packet.js';
import { sampleEntry, sampleNode } from '../../../../src/testing/contract/sample-services.js';
import { contentsOf } from '../../../support/nftables/table-contents.js';
import { WalkedTable } from '../../../support/nftables/walked-table.js';

it.each([0, 1, 86_400])(
  'has a number of its own, from which it is read again: %i s of affinity',
  (affinitySeconds) => {
    for (const kind of ['pick', 'external', 'external-local', 'short-circuit'] as const)
      for (const count of [1, 4094]) {
        const trafficClass: TrafficClass = { variant: BY_ADDRESS, kind, count, affinitySeconds };
        expect(classOfNumber(classNumber(trafficClass), BY_ADDRESS)).toEqual(trafficClass);
      }
  },
);

describe.each(IP_FAMILIES)('rules that remember clients, %s', (family) => {
  it.each([1, 86_400])('send clients on by what was remembered for %i s', (affinitySeconds) => {
    const desired = new NftablesDesiredState();
    const entry = sampleEntry(family, 'web', { number: 1, affinitySeconds });
    desired.replace(entry.key, compileNftables(entry));
    const table = new WalkedTable(family, contentsOf(desiredTable(desired, sampleNode(family))));
    const address = entry.frontends[0]!.address!;
    const packet: Packet = {
      ...{ family, protocol: 'TCP', inputInterface: 'eth0', destination: address, destinationPort: 80 },
      source: family === 'IPv4' ? '203.0.113.77' : '2001:db8:e::77',
    };
    const endings = table.walk(packet, { localAddresses: new Set() });
    expect(endings.length).toBeGreaterThan(1);
    for (const ending of endings) expect(ending).toMatchObject({ verdict: 'sent', sticky: true });
  });

  it('remember each for as many seconds as its Service says, and none for longer', () => {
    const desired = new NftablesDesiredState();
    const affinities = { one: 1, two: 90, three: 86_400 };
    for (const [number, [name, affinitySeconds]] of Object.entries(affinities).entries()) {
      const shape = { number: number + 1, affinitySeconds, nodePort: 30_080 + number, external: true };
      const entry = sampleEntry(family, name, shape);
      desired.replace(entry.key, compileNftables(entry));
    }
    const timeouts = desiredTable(desired, sampleNode(family)).chains.flatMap(({ chain, rules }) =>
      rules
        .flatMap(({ statements }) => statements)
        .flatMap((each) => (each.kind === 'remember' ? [[chain.name, each.timeoutSeconds]] : [])),
    );
    expect(timeouts).toEqual(
      [1, 90, 86_400].flatMap((seconds) => [
        [`remember-${seconds}`, seconds],
        [`nodeport-remember-${seconds}`, seconds],
      ]),
    );
  });
});
