import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { ScriptedSource } from '../../../src/testing/fakes/scripted-source.js';
import type { ResourceKind } from '../../../src/application/ports/cluster-source.js';
import type { ServiceStatus } from '../../../src/application/status/service-statuses.js';
import { parseCommandLine } from '../../../src/bootstrap/configuration/command-line.js';
import type { ProxyParts } from '../../../src/bootstrap/parts.js';
import { EmbeddedProxy } from '../../../src/bootstrap/embedding.js';
import { composeProxy } from '../../../src/bootstrap/proxy.js';
import { serve } from '../../support/program/driver.js';
import { poisonedIptables } from './iptables.js';
import { poisonedNftables } from './nftables.js';
import type { Poison, Way } from './poison.js';

interface RawObject {
  readonly kind: string;
}

/** The whole proxy of IPv4 in one process, whose compiler poisons the services that it is told to. */
const source = new ScriptedSource();
const logger = new MemoryLogger();
const poisoned = new Map<string, Poison>();
let shown: ProxyParts;
let proxy: EmbeddedProxy | undefined;

const handlers = {
  /** @param blind the kernel and the tools never say what it is that they refuse */
  async start(way: Way, objects: readonly RawObject[], blind = false): Promise<void> {
    const mode =
      way === 'nft' || way === 'legacy'
        ? await poisonedIptables(way, poisoned, blind, logger)
        : poisonedNftables(poisoned, blind, logger);
    const commandLine = parseCommandLine(
      [
        ...['--proxy-mode', mode.name, '--iptables-min-sync-period', '0s'],
        ...['--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'],
      ],
      { readFile: () => '', hostname: () => 'node1' },
    );
    shown = composeProxy(commandLine, mode, logger, { source: () => source });
    handlers.apply(objects);
    source.synced();
    proxy = new EmbeddedProxy(shown);
    await proxy.start();
  },
  apply(objects: readonly RawObject[]): void {
    for (const object of objects) source.apply(object.kind as ResourceKind, object);
  },
  delete: (kind: ResourceKind, name: string): void =>
    void source.delete(kind, { namespace: 'default', name }),
  poison: (key: string, poison: Poison): void => void poisoned.set(key, poison),
  heal: (): void => poisoned.clear(),
  settled: (): boolean => shown.served.every(({ loop }) => loop.inSync),
  status: (key: string): ServiceStatus | undefined => shown.statuses.get('IPv4', key),
  failures: () => shown.statuses.failures('IPv4'),
  log: () => logger.lines,
  metrics: (): Promise<string> => shown.metrics.exposition(),
  /** The proxy ends; its rules stay. */
  stop: async (): Promise<void> => proxy?.stop(),
};

export type PoisonDriver = typeof handlers;

await serve(handlers, () => proxy?.stop());
