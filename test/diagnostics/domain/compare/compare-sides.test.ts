import { compareSides } from '../../../../src/diagnostics/domain/compare/compare-sides.js';
import type { ComparedNode } from '../../../../src/diagnostics/domain/compare/clients.js';
import { tablesSide } from '../../../../src/diagnostics/domain/compare/tables-side.js';
import { SavedRules } from '../../../../src/diagnostics/domain/iptables/saved-rules.js';
import { parseSave } from '../../../support/iptables/parse-save.js';
import { savedText, type RulesByTable } from '../../../support/iptables/walked.js';

const NODE: ComparedNode = {
  family: 'IPv4',
  localAddresses: new Set(['198.51.100.1']),
  podNetworks: [],
  clusterNetworks: [],
};

function side(nat: readonly string[], more: RulesByTable = {}) {
  return tablesSide(new SavedRules(parseSave(savedText({ nat, ...more }), 'IPv4'), () => true));
}

const SERVICE = '-d 10.96.0.10/32 -p tcp -m tcp --dport 80';
const PLAIN = [
  '-A PREROUTING -j KUBE-SERVICES',
  `-A KUBE-SERVICES ${SERVICE} -j DNAT --to-destination 10.244.1.5:8080`,
];

function results(one: ReturnType<typeof side>, other: ReturnType<typeof side>) {
  const all = [...compareSides([one, other], NODE)];
  const of = (result: string) => all.filter((each) => each.result === result);
  return { equal: of('equal').length, different: of('different'), unknown: of('unknown') };
}

it('finds nothing between rules that mean the same', () => {
  const other = [
    PLAIN[0]!,
    ...PLAIN.slice(1).map((rule) => rule.replace('-j DNAT', '-m comment --comment "a b" -j DNAT')),
  ];
  const { equal, different, unknown } = results(side(PLAIN), side(other));
  expect([different, unknown]).toEqual([[], []]);
  expect(equal).toBeGreaterThan(0);
});

it('finds a single source of which a rule makes something else', () => {
  const other = PLAIN.toSpliced(
    1,
    0,
    `-A KUBE-SERVICES -s 192.0.2.77/32 ${SERVICE} -j DNAT --to-destination 10.244.1.6:8080`,
  );
  const { different } = results(side(PLAIN), side(other));
  expect(different.map(({ packet }) => packet.source)).toEqual(['192.0.2.77']);
});

it('finds a network that is excepted within another one', () => {
  const other = PLAIN.toSpliced(
    1,
    0,
    '-A KUBE-SERVICES -s 192.0.2.128/25 -j RETURN',
    `-A KUBE-SERVICES -s 192.0.2.0/24 ${SERVICE} -j DNAT --to-destination 10.244.1.6:8080`,
  );
  const sources = new Set(results(side(PLAIN), side(other)).different.map(({ packet }) => packet.source));
  expect([...sources].sort()).toEqual(['192.0.2.0', '192.0.2.128']);
});

it('finds an interface that only one side names', () => {
  const other = PLAIN.toSpliced(1, 0, '-A KUBE-SERVICES -i veth+ -j RETURN');
  const { different } = results(side(PLAIN), side(other));
  expect(different.map(({ packet }) => packet.inputInterface)).toEqual(['veth~']);
});

it('finds other endpoints, shares and times of affinity', () => {
  const shared = (share: string) => [
    PLAIN[0]!,
    `-A KUBE-SERVICES ${SERVICE} -m statistic --mode random --probability ${share} -j DNAT --to-destination 10.244.1.6:8080`,
    PLAIN[1]!,
  ];
  expect(results(side(shared('0.50000000000')), side(shared('0.50000000047'))).different).toEqual([]);
  expect(results(side(shared('0.50000000000')), side(shared('0.50001000000'))).different).not.toEqual([]);
  const sticky = (seconds: number) => [
    PLAIN[0]!,
    `-A KUBE-SERVICES ${SERVICE} -m recent --rcheck --seconds ${seconds} --name A --rsource -j DNAT --to-destination 10.244.1.5:8080`,
    `-A KUBE-SERVICES ${SERVICE} -m recent --set --name A --rsource -j DNAT --to-destination 10.244.1.5:8080`,
  ];
  expect(results(side(sticky(10)), side(sticky(10))).different).toEqual([]);
  expect(results(side(sticky(10)), side(sticky(11))).different).not.toEqual([]);
});

it('takes the steps of the match statistic for no difference, however many endpoints there are, and finds real ones', () => {
  const count = 4_500;
  const WHOLE = 2 ** 31;
  const choosing = (weights: readonly number[], inSteps: (share: number) => number) => {
    let left = weights.reduce((sum, weight) => sum + weight, 0);
    return side([
      PLAIN[0]!,
      ...weights.map((weight, index) => {
        const chance = (inSteps((weight / left) * WHOLE) / WHOLE).toFixed(11);
        left -= weight;
        const match = left > 0 ? ` -m statistic --mode random --probability ${chance}` : '';
        const endpoint = `10.244.${Math.floor(index / 250)}.${(index % 250) + 1}:8080`;
        return `-A KUBE-SERVICES ${SERVICE}${match} -j DNAT --to-destination ${endpoint}`;
      }),
    ]);
  };
  const alike = new Array<number>(count).fill(1000);
  const nearest = choosing(alike, Math.round);
  expect(results(nearest, choosing(alike, Math.floor)).different).toEqual([]);
  expect(results(nearest, choosing(alike.with(7, 1010), Math.round)).different).not.toEqual([]);
});

it('finds where the next connection of a client goes elsewhere', () => {
  const next = (endpoint: string) => [
    PLAIN[0]!,
    `-A KUBE-SERVICES ${SERVICE} -m recent --rcheck --seconds 10 --name A --rsource -j DNAT --to-destination ${endpoint}`,
    `-A KUBE-SERVICES ${SERVICE} -m recent --set --name A --rsource -j DNAT --to-destination 10.244.1.5:8080`,
  ];
  const { different } = results(side(next('10.244.1.5:8080')), side(next('10.244.1.6:8080')));
  expect(different.map(({ remembered }) => remembered)).toEqual([{ address: '10.244.1.5', port: 8080 }]);
});

it('calls unknown what a rule looks at that it cannot tell, and names the rule', () => {
  const unclear = PLAIN.toSpliced(1, 0, '-A KUBE-SERVICES -m u32 --u32 "6&0xff=1" -j RETURN');
  const { different, unknown } = results(side(unclear), side(unclear));
  expect(different).toEqual([]);
  const arriving = unknown.filter(({ packet }) => packet.inputInterface !== undefined);
  expect(arriving.some(({ frontend }) => frontend.port === 80)).toBe(true);
  expect(unknown[0]!.unclear.join()).toContain('-m u32');
});

it('sees ports that rules of other programs name', () => {
  const other = side(PLAIN, { filter: ['-A INPUT -p tcp -m tcp --dport 22 -j DROP'] });
  const { different } = results(side(PLAIN), other);
  expect(different.map(({ frontend }) => frontend)).toContainEqual({
    address: '198.51.100.1',
    protocol: 'TCP',
    port: 22,
  });
});
