import { IP_FAMILIES } from '../../../../src/domain/net/ip-family.js';
import { compileNftables } from '../../../../src/domain/nftables/compile.js';
import { NftablesDesiredState } from '../../../../src/domain/nftables/state/desired-state.js';
import { desiredTable } from '../../../../src/domain/nftables/state/desired-table.js';

import { sampleEntry, sampleNode } from '../../../../src/testing/contract/sample-services.js';

describe.each(IP_FAMILIES)('rules that remember clients, %s', (family) => {
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
