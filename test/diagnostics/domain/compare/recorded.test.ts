import { familyReport } from '../../../../src/diagnostics/application/comparison-report.js';
import { KNOWN_DIFFERENCES } from '../../../../src/diagnostics/domain/compare/known-differences.js';
import { IP_FAMILIES } from '../../../../src/domain/net/ip-family.js';
import { nightly } from '../../../support/nightly.js';
import { ipvsSide } from '../../../../src/diagnostics/domain/compare/tables-side.js';
import { SavedRules } from '../../../../src/diagnostics/domain/iptables/saved-rules.js';
import { parseSave } from '../../../support/iptables/parse-save.js';
import { recordedDump, recordedSteps } from '../../../support/recorded/cluster.js';
import { recordedIpvs } from '../../../support/recorded/ipvs-dump.js';
import {
  planned,
  recorded,
  recordedNode,
  type ComparedMode,
} from '../../../support/compare/recorded-sides.js';

const modes: readonly ComparedMode[] = ['iptables', 'ipvs', 'nftables'];
const pairs = modes.flatMap((one) => modes.map((other) => [one, other] as const));
const all = new Set(KNOWN_DIFFERENCES.map(({ name }) => name));
const nothing = { unknown: 0, differences: [] };

/** The nightly run has all pairs in all steps; each pair has its own share of them otherwise. */
const steps = recordedSteps();
const stepsOf = (pair: number) => (nightly ? steps : steps.filter((_, at) => at % pairs.length === pair));

describe("kube-proxy's rules and our plan", () => {
  it.each(pairs.map((pair, at) => [...pair, at] as const))(
    'of modes %s and %s differ in nothing but what is known',
    (from, to, at) => {
      for (const step of stepsOf(at))
        for (const family of IP_FAMILIES) {
          const sides = [recorded(step, family, from), planned(step, family, to)] as const;
          const { unknownClasses, differences, equalClasses, knownDifferences } = familyReport(
            sides,
            recordedNode(family),
            all,
          );
          expect({ ...step, family, unknown: unknownClasses, differences }).toEqual({
            ...step,
            family,
            ...nothing,
          });
          expect(equalClasses).toBeGreaterThan(0);
          if (from === to) expect(knownDifferences).toEqual([]);
        }
    },
  );
});

it('meets each known difference in some scenario', () => {
  const met = new Set<string>();
  const scenarios = ['nodeport-local-policy', 'internal-local', 'no-endpoints', 'external-ips'];
  for (const step of steps.filter(({ scenario }) => scenarios.includes(scenario)))
    for (const [from, to] of [
      ['iptables', 'ipvs'],
      ['nftables', 'ipvs'],
      ['iptables', 'nftables'],
    ] as const) {
      const sides = [recorded(step, 'IPv4', from), planned(step, 'IPv4', to)] as const;
      for (const { name } of familyReport(sides, recordedNode('IPv4'), all).knownDifferences) met.add(name);
    }
  // What was recorded is of a release that has this filter.
  const step = { scenario: 'clusterip-basic', step: 1 };
  const unfiltered = recordedDump(step, 'IPv4', 'ipvs').replace(/^-A INPUT .*-j KUBE-IPVS-FILTER\n/m, '');
  const rules = new SavedRules(parseSave(unfiltered, 'IPv4'), () => true);
  const former = ipvsSide({ ...recordedIpvs(step, 'IPv4'), rules });
  const { knownDifferences } = familyReport(
    [former, planned(step, 'IPv4', 'iptables')],
    recordedNode('IPv4'),
    all,
  );
  for (const { name } of knownDifferences) met.add(name);
  expect([...met].sort()).toEqual([...all].sort());
});
