import { setLines } from '../../../src/domain/ipset/script-lines.js';
import { parseSave } from '../../../src/domain/iptables/parse-save.js';
import { savedRules, type SavedTables } from '../../../src/domain/iptables/saved-tables.js';
import { compileIpvs } from '../../../src/domain/ipvs/compile.js';
import { IpvsComposition } from '../../../src/domain/ipvs/composition.js';
import { ipvsImage, type IpvsImage } from '../../../src/domain/ipvs/image.js';
import { serverLines } from '../../../src/domain/ipvs/render-servers.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import {
  forwardingTable,
  recordedContext,
  recordedDump,
  RECORDED_HOST,
  recordedState,
  recordedSteps,
  type RecordedStep,
} from '../iptables/recorded.js';
import { allChains, isHeld } from '../iptables/tables-in-memory.js';
import { recordedKernel } from './recorded.js';

const cases = recordedSteps().flatMap((step) => IP_FAMILIES.map((family) => ({ ...step, family })));

function imageOf(step: RecordedStep, family: IpFamily): IpvsImage {
  const state = recordedState(step);
  const context = recordedContext(step, state, family, 'ipvs');
  const options = { node: context.network, scheduler: 'rr', hasScheduler: () => true };
  const composition = new IpvsComposition();
  for (const entry of forwardingTable(state, context).entries())
    composition.replace(entry.key, compileIpvs(entry, options));
  return ipvsImage(composition, context.network, RECORDED_HOST);
}

function chainNames(tables: SavedTables): string[] {
  return tables
    .flatMap(({ name, chains }) => chains.map((chain) => `${name} ${chain.name}`))
    .filter((name) => / KUBE-/.test(name))
    .sort();
}

describe('what mode ipvs makes of recorded scenarios', () => {
  it.each(cases)('is what kube-proxy 1.36 made: $scenario $step $family', ({ scenario, step, family }) => {
    const { servers, addresses, sets, rules } = imageOf({ scenario, step }, family);
    expect({
      servers: serverLines(servers).toSorted(),
      addresses,
      sets: sets.flatMap(setLines).toSorted(),
    }).toEqual(recordedKernel({ scenario, step }, family));
    const dump = parseSave(recordedDump({ scenario, step }, family, 'ipvs'), family);
    const chains = allChains(rules);
    expect(chains.map(({ table, name }) => `${table} ${name}`).sort()).toEqual(chainNames(dump));
    for (const chain of chains) {
      const recorded = savedRules(dump, chain.table, chain.name)!;
      if (!isHeld(chain, recorded)) expect(chain.rules).toEqual(recorded);
    }
    const { jumps } = rules.frame;
    for (const { table, chain } of jumps) {
      const placed = jumps.filter((jump) => jump.table === table && jump.chain === chain);
      expect(placed.map(({ rule }) => rule).reverse()).toEqual(savedRules(dump, table, chain));
    }
  });
});
