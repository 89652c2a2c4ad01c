import { after, describe, it } from 'node:test';
import { IptablesTool } from '../../../../src/adapters/iptables/iptables-tool.js';
import { PrometheusMetrics } from '../../../../src/adapters/metrics/prometheus-metrics.js';
import { allModes } from '../../../../src/bootstrap/modes/choose-mode.js';
import type { OpenMode } from '../../../../src/bootstrap/modes/mode.js';
import { parseCommandLine } from '../../../../src/bootstrap/configuration/command-line.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import { backendContract } from '../../../../src/testing/contract/backend-contract.js';
import type { BackendSubject } from '../../../../src/testing/contract/backend-subject.js';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../../src/testing/fakes/memory-logger.js';
import { iptablesSnapshot } from '../../../testing/contract/snapshots.js';
import { emptyNode, listNode } from './recorded-kernel.js';
import { here, linesOf, tool } from './tool.js';

const STRANGERS = 'table ip mine { chain prerouting { type nat hook prerouting priority -200; }; }';

/** The modes of the whole program, on the guest's own kernel: one place, which each case empties. */
const modes: Readonly<
  Record<string, Pick<BackendSubject<OpenMode[]>, 'snapshot' | 'damage' | 'writesInParts'>>
> = {
  nftables: {
    snapshot: async () => linesOf(await tool('nft', '-s', 'list', 'ruleset')),
    damage: async () => void (await tool('nft', 'flush', 'chain', 'ip', 'kube-proxy', 'services')),
  },
  ipvs: {
    writesInParts: true,
    async snapshot() {
      const { servers, sets, device } = await listNode(here);
      const saved = await new IptablesTool({ variant: 'legacy' }).save('IPv4');
      return {
        servers: linesOf(servers),
        sets: linesOf(sets),
        device: device.split(/\s+/).sort(),
        rules: iptablesSnapshot(saved),
      };
    },
    damage: async () => void (await tool('iptables-legacy', '-t', 'nat', '-F', 'KUBE-SERVICES')),
  },
};

const [name = 'nftables'] = process.argv.slice(2);
const family: IpFamily = 'IPv4';
const logger = new MemoryLogger();
const clock = new FakeClock(1_700_000_000_000);
const mode = allModes(
  parseCommandLine(['--proxy-mode', name], { readFile: () => '', hostname: () => 'node1' }),
  logger,
).find((each) => each.name === name)!;
const metrics = new PrometheusMetrics({
  clock,
  mode: mode.name,
  version: 'v1',
  programVersion: '1',
  features: [],
});
const parts = { logger, clock, metrics, localAddresses: { list: () => [] } };

/** A place is what has been opened on it. */
const subject: BackendSubject<OpenMode[]> = {
  family,
  async makePlace() {
    await emptyNode(here);
    await here.run(['nft', '-f', '-'], `flush ruleset\n${STRANGERS}\n`);
    return [];
  },
  async removePlace(opened) {
    for (const one of opened) await one.close();
  },
  async open(opened) {
    const one = await mode.open('serve');
    opened.push(one);
    return one.backend(family, parts);
  },
  ...modes[name]!,
};

describe(`the backend of ${name} mode on a real kernel`, () => {
  after(() => emptyNode(here));
  for (const { name: promise, run } of backendContract(subject)) it(promise, run);
});
