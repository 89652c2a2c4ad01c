import { iptablesBackend } from '../../support/backends.js';
import { readdirSync, readlinkSync } from 'node:fs';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import type { IptablesVariant } from '../../../src/adapters/iptables/iptables-commands.js';
import { IptablesHostReader, Nfacct } from '../../../src/adapters/iptables/iptables-host.js';
import { IptablesTool, XtablesLock } from '../../../src/adapters/iptables/iptables-tool.js';
import { LegacyWatch, type IptablesWatch } from '../../../src/adapters/iptables/iptables-watch.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import { CommitListener } from '../../../src/adapters/nftables/netlink/commit-listener.js';
import { NetlinkNftTransport } from '../../../src/adapters/nftables/netlink/netlink-transport.js';
import { IptablesMode } from '../../../src/bootstrap/modes/iptables-mode.js';
import type { Backend, VerificationKind } from '../../../src/application/ports/backend.js';
import type { ForwardingChange } from '../../../src/domain/forwarding/forwarding-table.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { HOST, nodeNetwork, Services } from '../../support/iptables/services.js';
import { serve } from '../../support/program/driver.js';

/** Drives iptables from inside a namespace, with the watches that need to be there. */
let tool: IptablesTool;
let transport: NetlinkNftTransport | undefined;
let generations: GenerationWatch | undefined;
const backends = new Map<IpFamily, { backend: Backend; services: Services }>();

/** Empty for one that is closed by now: that which lists them. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

interface Timed {
  readonly written: number;
  readonly compared?: boolean;
  readonly failed: number;
  readonly seconds: number;
}

async function timed(
  work: Promise<{ written: number; compared?: boolean; failed: readonly unknown[] }>,
): Promise<Timed> {
  const start = performance.now();
  const { written, compared, failed } = await work;
  return {
    written,
    ...(compared === undefined ? {} : { compared }),
    failed: failed.length,
    seconds: (performance.now() - start) / 1000,
  };
}

const handlers = {
  open(variant: IptablesVariant, families: readonly IpFamily[], lockFile: string) {
    const listen = () => CommitListener.open();
    tool = new IptablesTool({ variant, lock: new XtablesLock(lockFile), listen });
    let watch: (family: IpFamily) => IptablesWatch = (family) => new LegacyWatch(family);
    if (variant === 'nft') {
      transport = NetlinkNftTransport.open();
      generations = new GenerationWatch(transport);
      watch = () => generations!;
    }
    for (const family of families) {
      const services = new Services(family);
      const backend = iptablesBackend(
        family,
        tool,
        watch(family),
        () => Promise.resolve(HOST),
        new MemoryLogger(),
        { compile: services.compile },
      );
      backends.set(family, { backend, services });
    }
  },

  start(family: IpFamily, count: number, endpoints: number) {
    const { backend, services } = backends.get(family)!;
    for (let number = 1; number <= count; number++) services.set(number, endpoints);
    return timed(backend.start(services.all, nodeNetwork(family)));
  },

  change(family: IpFamily, numbers: readonly number[], endpoints: number) {
    const { backend, services } = backends.get(family)!;
    const changes: ForwardingChange[] = numbers.map((number) =>
      endpoints === 0 ? services.remove(number) : services.set(number, endpoints),
    );
    return timed(backend.apply(changes, nodeNetwork(family)));
  },

  /** Writes something of our own beside the rules, and returns its generations. */
  async write(family: IpFamily, input: string) {
    const outcome = await generations!.ours(
      () => tool.restore(family, [input].values()),
      (restored) => restored,
    );
    return outcome.generations ?? 'unknown';
  },

  generation: () => transport!.generation(),

  /** Makes the counters, has a rule name one of them, and tells what it counted. */
  async counters() {
    const nfacct = Nfacct.open();
    try {
      const before = await nfacct.packets('ct_state_invalid_dropped_pkts');
      const reader = new IptablesHostReader(tool, nfacct, new MemoryLogger());
      await reader.read('IPv4');
      const { counters } = await reader.read('IPv4');
      await tool.restore(
        'IPv4',
        [
          '*filter\n-A OUTPUT -m nfacct --nfacct-name ct_state_invalid_dropped_pkts -j ACCEPT\nCOMMIT\n',
        ].values(),
      );
      return {
        before: before ?? 'none',
        counters: [...counters],
        packets: await nfacct.packets('ct_state_invalid_dropped_pkts'),
      };
    } finally {
      nfacct.close();
    }
  },

  /** How many sockets of mode iptables are open before it is opened, while it is, and when it is closed. */
  async modeSockets() {
    const sockets = () =>
      readdirSync('/proc/self/fd').filter((fd) => linkOf(`/proc/self/fd/${fd}`).startsWith('socket:')).length;
    const before = sockets();
    const mode = await new IptablesMode(false, new MemoryLogger()).open();
    const open = sockets() - before;
    await mode.close();
    return { open, closed: sockets() - before };
  },

  verify(family: IpFamily, how: VerificationKind) {
    return timed(backends.get(family)!.backend.verify(how));
  },
};

export type Handlers = typeof handlers;

await serve(handlers, async () => {
  tool?.close();
  await transport?.close();
});
