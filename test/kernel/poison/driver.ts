import 'reflect-metadata';
import { MemoryLogger } from '../../../src/adapters/fakes/memory-logger.js';
import { ScriptedSource } from '../../../src/adapters/fakes/scripted-source.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import { NftablesBackend } from '../../../src/adapters/nftables/nftables-backend.js';
import { NftCommitError, type NftTransport } from '../../../src/adapters/nftables/transport.js';
import type { ResourceKind } from '../../../src/application/ports/cluster-source.js';
import type { ServiceStatus } from '../../../src/application/status/service-statuses.js';
import { parseCommandLine } from '../../../src/bootstrap/configuration/command-line.js';
import {
  BACKENDS,
  CLUSTER_SOURCE,
  SERVICE_STATUSES,
  SYNC_LOOPS,
} from '../../../src/bootstrap/identifiers.js';
import { openNftTransports } from '../../../src/bootstrap/nft-transport.js';
import { NftablesMode } from '../../../src/bootstrap/modes/nftables-mode.js';
import { composeProxy, Proxy } from '../../../src/bootstrap/proxy.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import type { Fragment, PlacedElement } from '../../../src/domain/nftables/fragment.js';
import { BY_ADDRESS } from '../../../src/domain/nftables/keys.js';
import { CLUSTER_IPS, setsOf } from '../../../src/domain/nftables/sets.js';
import { serve } from '../driver.js';
import type { TransportName } from '../proxy-process.js';

interface RawObject {
  readonly kind: string;
}

/** What is put into the rules of a poisoned service; the kernel, or nft before it, refuses each of them. */
const poisons = {
  'a verdict without a chain': { set: setsOf(BY_ADDRESS).classes, key: '7777:7777', value: 'goto nowhere' },
  'an address that is none': { set: CLUSTER_IPS, key: 'nonsense' },
} satisfies Record<string, PlacedElement>;

export type Poison = keyof typeof poisons | 'a compiler that gives up';

/** The whole proxy of IPv4 in one process, whose compiler poisons the services that it is told to. */
const source = new ScriptedSource();
const logger = new MemoryLogger();
const poisoned = new Map<string, Poison>();
let container: ReturnType<typeof composeProxy>;
let proxy: Proxy | undefined;

/** The transport, but it never says which operation it was that the kernel refused. */
function withoutPlaces(transport: NftTransport): NftTransport {
  const commit = transport.commit.bind(transport);
  transport.commit = (family, operations) =>
    commit(family, operations).catch((error: unknown) => {
      if (!(error instanceof NftCommitError)) throw error;
      throw new NftCommitError(
        family,
        error.failures.map(({ reason }) => ({ reason })),
      );
    });
  return transport;
}

function compile(entry: ForwardingEntry): Fragment {
  const fragment = compileNftables(entry);
  const poison = poisoned.get(entry.key);
  if (poison === undefined) return fragment;
  if (poison === 'a compiler that gives up') throw new Error('no rules for this one');
  return [...fragment, { key: `poison of ${entry.key}`, elements: [poisons[poison]], uses: [] }];
}

const handlers = {
  async start(transportName: TransportName, objects: readonly RawObject[], blind = false): Promise<void> {
    const commandLine = parseCommandLine(
      [...['--proxy-mode', 'nftables', '--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16']],
      { readFile: () => '', hostname: () => 'node1' },
    );
    const transports = await openNftTransports(transportName, logger);
    const transport = blind ? withoutPlaces(transports.families.IPv4) : transports.families.IPv4;
    const mode = await new NftablesMode(transportName, logger).open(['IPv4']);
    container = composeProxy(commandLine, mode, logger);
    container.rebind(CLUSTER_SOURCE).toConstantValue(source);
    container
      .rebind(BACKENDS)
      .toConstantValue([
        new NftablesBackend('IPv4', transport, new GenerationWatch(transports.generations), logger, compile),
      ]);
    handlers.apply(objects);
    source.synced();
    proxy = new Proxy(container);
    await proxy.start();
  },
  apply(objects: readonly RawObject[]): void {
    for (const object of objects) source.apply(object.kind as ResourceKind, object);
  },
  delete: (kind: ResourceKind, name: string): void =>
    void source.delete(kind, { namespace: 'default', name }),
  poison: (key: string, poison: Poison): void => void poisoned.set(key, poison),
  heal: (): void => poisoned.clear(),
  settled: (): boolean => container.get(SYNC_LOOPS).every((loop) => loop.settled),
  status: (key: string): ServiceStatus | undefined => container.get(SERVICE_STATUSES).get('IPv4', key),
  failures: () => container.get(SERVICE_STATUSES).failures('IPv4'),
  log: () => logger.lines,
};

export type PoisonDriver = typeof handlers;

await serve(handlers, () => proxy?.stop());
