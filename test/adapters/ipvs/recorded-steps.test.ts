import { createLine } from '../../../src/domain/ipvs/ip-set.js';
import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import { parseSave } from '../../support/iptables/parse-save.js';
import { serverLines, PERSISTENT } from '../../../src/domain/ipvs/virtual-server.js';
import { SERVICE_SETS, setHeader } from '../../../src/domain/ipvs/service-sets.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import {
  recordedContext,
  recordedEntries,
  recordedDump,
  recordedState,
  recordedSteps,
  type RecordedStep,
} from '../../support/recorded/cluster.js';
import { recordedKernel, type RecordedKernel } from '../../support/recorded/ipvs-kernel.js';
import { MemoryNode } from './memory-node.js';
import { leaveBehind } from './recorded-node.js';

const steps = recordedSteps();

describe('taking over from kube-proxy', () => {
  it.each(steps)('writes nothing: $scenario $step', async (step) => {
    const node = new MemoryNode();
    leaveBehind(node, step);
    const backends = IP_FAMILIES.map((family) => node.backend(family));
    for (const backend of backends) {
      const { entries, network } = recordedEntries(step, backend.family, 'ipvs');
      const { written, failed } = await backend.start(entries, network);
      expect({ written, failed, journal: node.takeJournal() }).toEqual({
        written: 0,
        failed: [],
        journal: [],
      });
      expect(await backend.verify('full')).toMatchObject({ compared: true, written: 0, failed: [] });
    }
    for (const backend of backends) await backend.close();
    expect(node.clock.pending).toBe(0);
  });
});

describe('following the cluster', () => {
  const scenarios = [...new Set(steps.map(({ scenario }) => scenario))];

  it.each(scenarios)('makes at each step what kube-proxy made: %s', async (scenario) => {
    for (const family of IP_FAMILIES) {
      const node = new MemoryNode();
      const backend = node.backend(family);
      const table = new ForwardingTable();
      for (const step of steps.filter((one) => one.scenario === scenario)) {
        const state = recordedState(step);
        const { forwarding, network } = recordedContext(step, state, family, 'ipvs');
        const services = [...table.services(), ...state.serviceKeys()];
        const changes = table.update(state, services, forwarding);
        const { failed } =
          step.step === 1
            ? await backend.start(table.entries(), network)
            : await backend.apply(changes, network);
        expect(failed).toEqual([]);
        expect(present(node, family)).toEqual(recordedKernel(step, family));
        for (const table of ['nat', 'filter'] as const) expectRules(node, step, family, table);
        node.takeJournal();
        expect(await backend.verify('full')).toMatchObject({ written: 0 });
        expect(node.takeJournal()).toEqual([]);
      }
    }
  });
});

function present(node: MemoryNode, family: IpFamily): RecordedKernel {
  return {
    servers: serverLines(
      node.servers.all.map(({ server, reals }) => {
        expect(server.flags).toBe(server.persistenceSeconds > 0 ? PERSISTENT : 0);
        expect(new Set(reals.map(({ weight }) => weight))).toEqual(new Set(reals.length > 0 ? [1] : []));
        return { server, endpoints: reals };
      }),
    ).toSorted(),
    addresses: node.addresses.all ?? [],
    sets: SERVICE_SETS.flatMap((set) => {
      const header = setHeader(set, family);
      const members = node.sets.members(header.name)!;
      return [createLine(header), ...members.map((member) => `add ${header.name} ${member}`)];
    }).sort(),
  };
}

function expectRules(node: MemoryNode, step: RecordedStep, family: IpFamily, table: 'nat' | 'filter'): void {
  const dump = parseSave(recordedDump(step, family, 'ipvs'), family).find(({ name }) => name === table)!;
  const actual = dump.chains.map(({ name }) => [name, node.rules(table, name, family)?.toSorted()]);
  expect(actual).toEqual(dump.chains.map(({ name, rules }) => [name, rules.toSorted()]));
  for (const { name, rules } of dump.chains)
    if (!name.startsWith('KUBE-')) expect(node.rules(table, name, family)).toEqual(rules);
}
