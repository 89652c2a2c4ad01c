import { TABLE_SIZES } from '../../../../src/domain/balancing/slots.js';
import { IP_FAMILIES } from '../../../../src/domain/net/ip-family.js';
import { compileNftables } from '../../../../src/domain/nftables/compile.js';
import { BY_ADDRESS } from '../../../../src/domain/nftables/layout/sets.js';
import {
  className,
  classNumber,
  classOfNumber,
  classRules,
  type TrafficClass,
} from '../../../../src/domain/nftables/layout/traffic-class.js';
import { NftablesDesiredState } from '../../../../src/domain/nftables/state/desired-state.js';
import { desiredTable } from '../../../../src/domain/nftables/state/desired-table.js';
import type { Packet } from '../../../../src/diagnostics/domain/trace/trace.js';
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

it.each(['round-robin', 'maglev', 'maglev-source'] as const)('has a number for each method: %s', (method) => {
  const classes = (['pick', 'external', 'external-local', 'short-circuit'] as const).flatMap((kind) => [
    ...[2, 1021, 65_521].map((count) => ({ kind, count, affinitySeconds: 0, method })),
    ...[1, 10_800, 86_400].flatMap((affinitySeconds) =>
      TABLE_SIZES.flatMap((slots) =>
        [1, 2, 4096].map((count) => ({ kind, count, affinitySeconds, method, slots })),
      ),
    ),
    { kind, count: 8, affinitySeconds: 60, slots: 1021 },
    ...[2, 1021, 16_381].map((slots) => ({ kind, count: 1, affinitySeconds: 0, method, slots })),
  ]);
  const numbers = classes.map((each) => classNumber({ variant: BY_ADDRESS, ...each }));
  expect(new Set(numbers).size).toBe(classes.length);
  expect(new Set(classes.map((each) => className({ variant: BY_ADDRESS, ...each }))).size).toBe(
    classes.length,
  );
  classes.forEach((each, index) => {
    const number = numbers[index]!;
    expect([number >>> 16, number & 0xffff]).not.toContain(0);
    expect(classOfNumber(number, BY_ADDRESS)).toEqual({ variant: BY_ADDRESS, ...each });
  });
});

// A start of a new version writes nothing where it finds what a former one wrote.
it('has the number that it had in former versions', () => {
  const numberOf = (parts: Omit<TrafficClass, 'variant'>) =>
    classNumber({ variant: BY_ADDRESS, ...parts }).toString(16);
  expect([
    numberOf({ kind: 'external-local', count: 0, affinitySeconds: 0 }),
    numberOf({ kind: 'pick', count: 3, affinitySeconds: 0 }),
    numberOf({ kind: 'external', count: 3, affinitySeconds: 0, method: 'round-robin' }),
    numberOf({ kind: 'short-circuit', count: 1, affinitySeconds: 0, method: 'maglev', slots: 2039 }),
    numberOf({ kind: 'pick', count: 3, affinitySeconds: 10_800 }),
    numberOf({ kind: 'pick', count: 4, affinitySeconds: 10_800, method: 'maglev-source', slots: 2039 }),
  ]).toEqual(['10000001', '50000004', '92000004', 'dc0007f8', '62a30004', '76699153']);
});

it.each([
  [1, 2],
  [2, 4],
  [3, 5],
])('with affinity to %i endpoints it has %i rules: one for each, and those that draw', (count, rules) => {
  for (const kind of ['pick', 'short-circuit'] as const) {
    const trafficClass: TrafficClass = { variant: BY_ADDRESS, kind, count, affinitySeconds: 60 };
    expect(classRules(trafficClass, sampleNode('IPv4'))).toHaveLength(rules);
  }
});

it('has no number of a class that nothing compiles', () => {
  const variant = BY_ADDRESS;
  const most = classNumber({ variant, kind: 'pick', count: 4096, affinitySeconds: 60, slots: 1021 });
  // The next logarithm.
  expect(classOfNumber(most + 16, variant)).toBeUndefined();
});

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
    for (const ending of endings) expect(ending).toMatchObject({ verdict: 'forward', sticky: true });
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
        .flatMap(({ expressions }) => expressions)
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
