import { familyReport } from '../../../../src/diagnostics/application/comparison-report.js';
import type { Side, SideMode } from '../../../../src/diagnostics/domain/compare/side.js';
import { tablesSide } from '../../../../src/diagnostics/domain/compare/tables-side.js';
import { SavedRules } from '../../../../src/diagnostics/domain/iptables/saved-rules.js';
import { parseSave } from '../../../support/iptables/parse-save.js';
import { savedText, type RulesByTable } from '../../../support/iptables/walked.js';

const NODE = {
  family: 'IPv4',
  localAddresses: new Set(['198.51.100.1']),
  podNetworks: [],
  clusterNetworks: [],
} as const;

function side(mode: SideMode, tables: RulesByTable): Side {
  const rules = new SavedRules(parseSave(savedText(tables), 'IPv4'), () => true);
  return { ...tablesSide(rules), mode };
}

const addresses = (count: number) =>
  Array.from({ length: count }, (_, at) => `10.96.${Math.floor(at / 250)}.${(at % 250) + 1}`);

/** Port 80 of each address, which an endpoint serves. */
function services(count: number, endpoint: string): readonly string[] {
  return [
    '-A PREROUTING -j KUBE-SERVICES',
    ...addresses(count).map(
      (address) =>
        `-A KUBE-SERVICES -d ${address}/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination ${endpoint}`,
    ),
  ];
}

const report = (one: Side, other: Side, listed?: number) =>
  familyReport([one, other], NODE, new Set(), listed);

it('lists ten that show a known difference, with the way of their packets, and counts the others', () => {
  const nat = services(12, '10.244.1.5:8080');
  const filter = addresses(12).map((address) => `-A FORWARD -d ${address}/32 -j REJECT`);
  const { knownDifferences, differences, differentClasses } = report(
    side('iptables', { nat }),
    side('nftables', { nat, filter }),
  );
  expect(knownDifferences.map(({ name, classes }) => [name, classes])).toEqual([
    ['other-ports', differentClasses],
  ]);
  expect(differentClasses).toBeGreaterThan(12);
  expect(differences).toHaveLength(10);
  const ways = differences.map(({ paths }) => paths[1]!.map(({ rule }) => rule).join());
  expect(ways.every((way) => way.includes('-j REJECT'))).toBe(true);
});

it('names an IPv6 endpoint that a client was sent to before with brackets', () => {
  const service = '-A KUBE-SERVICES -d fd00::10/128 -p tcp -m tcp --dport 80';
  const next = (endpoint: string): Side => {
    const nat = [
      '-A PREROUTING -j KUBE-SERVICES',
      `${service} -m recent --rcheck --seconds 10 --name A --rsource -j DNAT --to-destination ${endpoint}`,
      `${service} -m recent --set --name A --rsource -j DNAT --to-destination [fd00::5]:8080`,
    ];
    return tablesSide(new SavedRules(parseSave(savedText({ nat }), 'IPv6'), () => true));
  };
  const node = { ...NODE, family: 'IPv6', localAddresses: new Set(['2001:db8::1']) } as const;
  const sides = [next('[fd00::5]:8080'), next('[fd00::6]:8080')] as const;
  const { differences } = familyReport(sides, node, new Set());
  expect(differences.map(({ remembered }) => remembered)).toEqual(['[fd00::5]:8080']);
});

it('lists as many as it may of what is not known, and counts what is left', () => {
  const one = side('iptables', { nat: services(5, '10.244.1.5:8080') });
  const other = side('iptables', { nat: services(5, '10.244.1.6:8080') });
  const { differences, omitted, differentClasses } = report(one, other, 3);
  expect(differences).toHaveLength(3);
  expect(differences.reduce((sum, { classes }) => sum + classes, omitted)).toBe(differentClasses);
  expect(omitted).toBeGreaterThanOrEqual(2);
});

it('leaves out the check of forwarding of a proxy, and nothing else on loopback addresses', () => {
  const nat = (endpoint: string) => [
    '-A OUTPUT -j KUBE-SERVICES',
    `-A KUBE-SERVICES -d 127.0.0.1/32 -p tcp -m tcp --dport 40000 -j DNAT --to-destination ${endpoint}`,
  ];
  const nothing = side('iptables', { nat: [] });
  expect(report(side('iptables', { nat: nat('127.0.0.1:40001') }), nothing).differences).toEqual([]);
  expect(report(side('iptables', { nat: nat('10.244.1.5:8080') }), nothing).differences).toHaveLength(1);
});
