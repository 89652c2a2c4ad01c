import { iptablesBackend } from '../../support/backends.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  RestoreRejectedError,
  type IptablesVariant,
} from '../../../src/adapters/iptables/iptables-commands.js';
import { IptablesTool, XtablesLock } from '../../../src/adapters/iptables/iptables-tool.js';
import { LegacyWatch } from '../../../src/adapters/iptables/iptables-watch.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import { CommitListener } from '../../../src/adapters/nftables/netlink/commit-listener.js';
import { NetlinkNftTransport } from '../../../src/adapters/nftables/netlink/netlink-transport.js';
import type { Logger } from '../../../src/application/ports/logger.js';
import type { OpenMode } from '../../../src/bootstrap/modes/mode.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { compileIptables } from '../../../src/domain/iptables/compile.js';
import type { IptablesOptions } from '../../../src/domain/iptables/options.js';
import type { IptablesServicePortRules } from '../../../src/domain/iptables/table.js';
import type { Poison } from './poison.js';

const HOST = { randomFully: true, tcpLiberal: false, counters: new Set<never>() };
const poisons = {
  'rules that are refused': '-p udp -m tcp --dport 80 -j RETURN',
  'rules that cannot be read': '-d 10.0.0.999/32 -j RETURN',
} satisfies Partial<Record<Poison, string>>;

/** Mode iptables for IPv4, with a compiler that poisons, and a lock of its own. */
export async function poisonedIptables(
  variant: IptablesVariant,
  poisoned: ReadonlyMap<string, Poison>,
  blind: boolean,
  logger: Logger,
): Promise<OpenMode> {
  const compile = (entry: ForwardingEntry, options: IptablesOptions): IptablesServicePortRules => {
    const poison = poisoned.get(entry.key);
    if (poison === 'a compiler that gives up') throw new Error('no rules for this one');
    const { chains, entries } = compileIptables(entry, options);
    if (poison === undefined) return { chains, entries };
    const [first, ...others] = chains;
    return { chains: [{ ...first!, rules: [...first!.rules, poisons[poison]] }, ...others], entries };
  };
  const folder = await mkdtemp(join(tmpdir(), 'kppoison-'));
  const tool = new IptablesTool({
    variant,
    lock: new XtablesLock(join(folder, 'xtables.lock')),
    listen: () => CommitListener.open(),
  });
  const generations = NetlinkNftTransport.open();
  const watch = variant === 'nft' ? new GenerationWatch(generations) : new LegacyWatch('IPv4');
  const readHost = () => Promise.resolve(HOST);
  const commands = blind ? withoutPlaces(tool) : tool;
  const backend = iptablesBackend('IPv4', commands, watch, readHost, logger, { compile });
  return {
    name: 'iptables',
    families: ['IPv4'],
    means: {},
    backend: () => backend,
    close: async () => {
      tool.close();
      await generations.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** The tool, but it never says which line it was that was refused. */
function withoutPlaces(tool: IptablesTool): IptablesTool {
  const restore = tool.restore.bind(tool);
  tool.restore = (family, input) =>
    restore(family, input).catch((error: unknown) => {
      if (!(error instanceof RestoreRejectedError)) throw error;
      throw new RestoreRejectedError(
        error.attempt,
        error.failures.map(({ reason }) => ({ reason })),
      );
    });
  return tool;
}
