import { nftablesBackend } from '../../support/backends.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import { NftCommitError, type NftTransport } from '../../../src/adapters/nftables/transport.js';
import type { Logger } from '../../../src/application/ports/logger.js';
import type { OpenMode } from '../../../src/bootstrap/modes/mode.js';
import { openNftTransports } from '../../../src/bootstrap/modes/nftables-mode.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import type {
  NftablesServicePortRules,
  PlacedElement,
} from '../../../src/domain/nftables/state/service-port-rules.js';
import { BY_ADDRESS, CLUSTER_IPS, LOOKED_UP_SETS, setsOf } from '../../../src/domain/nftables/layout/sets.js';
import type { Poison } from './poison.js';

const poisons = {
  'rules that are refused': { set: setsOf(BY_ADDRESS).classes, key: '7777:7777', value: 'goto nowhere' },
  'rules that cannot be read': { set: CLUSTER_IPS, key: 'nonsense' },
} satisfies Partial<Record<Poison, PlacedElement>>;

/** Mode nftables for IPv4, with a compiler that poisons. */
export function poisonedNftables(
  poisoned: ReadonlyMap<string, Poison>,
  blind: boolean,
  logger: Logger,
): OpenMode {
  const compile = (entry: ForwardingEntry): NftablesServicePortRules => {
    const poison = poisoned.get(entry.key);
    if (poison === 'a compiler that gives up') throw new Error('no rules for this one');
    const fragment = compileNftables(entry);
    if (poison === undefined) return fragment;
    const elements = [poisons[poison]];
    const listed = elements.filter(({ set }) => !LOOKED_UP_SETS.has(set));
    return [...fragment, { key: `poison of ${entry.key}`, elements, listed, uses: [] }];
  };
  const transports = openNftTransports();
  const transport = blind ? withoutPlaces(transports.families.IPv4) : transports.families.IPv4;
  const watch = new GenerationWatch(transports.generations);
  const backend = nftablesBackend('IPv4', transport, watch, logger, { compile });
  return {
    name: 'nftables',
    families: ['IPv4'],
    means: {},
    backend: () => backend,
    close: () => transports.close(),
  };
}

/** The transport, but it never says which operation it was that the kernel rejected. */
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
