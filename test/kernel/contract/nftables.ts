import { execa } from 'execa';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import { openNftTransports, type NftTransports } from '../../../src/bootstrap/modes/nftables-mode.js';
import { POSSIBLE_SETS } from '../../../src/domain/nftables/layout/sets.js';
import type { BackendSubject } from '../../../src/testing/contract/backend-subject.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { nftablesBackend } from '../../support/backends.js';
import { OwnNamespace } from '../../support/testbed/own-namespace.js';
import { nftablesSnapshot } from '../../testing/contract/snapshots.js';
import { NOBODY } from '../uml/inside/tool.js';

const family = 'IPv4';

/** A network namespace that this process is in. */
interface Place {
  readonly namespace: OwnNamespace;
  readonly opened: NftTransports[];
}

/** nftables mode on the kernel. */
export const nftables: BackendSubject<Place> = {
  family,
  async makePlace() {
    const namespace = OwnNamespace.enter();
    await execa('nft', ['-f', '-'], { input: 'table ip mine { chain mine { accept; }; }' });
    return { namespace, opened: [] };
  },
  async removePlace({ namespace, opened }) {
    for (const transports of opened) await transports.close();
    namespace.leave();
  },
  open({ opened }) {
    const transports = openNftTransports();
    opened.push(transports);
    const { families, generations } = transports;
    return nftablesBackend(family, families[family], new GenerationWatch(generations), new MemoryLogger());
  },
  async snapshot() {
    const { families, close } = openNftTransports();
    const table = await families[family].read(family, POSSIBLE_SETS);
    await close();
    const { stdout: tables } = await execa('nft', ['list', 'tables']);
    if (!table) return { tables };
    const chains = new Map([...table.chains].map(([name, chain]) => [name, { chain, rules: chain.rules }]));
    return { tables, contents: nftablesSnapshot(family, { ...table, chains }) };
  },
  damage: async () => void (await execa('nft', ['flush', 'chain', 'ip', 'kube-proxy', 'services'])),
  breakDown: (_, error) => process.seteuid!(error ? NOBODY : 0),
};
