import { iptablesBackend, nftablesBackend, userspaceBackend } from '../../support/backends.js';
import type { BackendSubject } from '../../../src/testing/contract/backend-subject.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryIptables } from '../../support/fakes/memory-iptables.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';
import { RecordingBackend } from '../../../src/testing/fakes/recording-backend.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { MemoryNode } from '../../adapters/ipvs/memory-node.js';
import { HOST } from '../../support/iptables/services.js';
import { iptablesSnapshot, nftablesSnapshot } from './snapshots.js';

const STRANGERS = '*nat\n:MINE - [0:0]\n-A PREROUTING -j MINE\n-A MINE -j RETURN\nCOMMIT\n';

export function recordingSubject(family: IpFamily): BackendSubject<RecordingBackend> {
  return {
    family,
    makePlace: () => new RecordingBackend(family),
    open: (backend) => backend,
    snapshot: ({ programmed, node }) =>
      programmed.size === 0 ? [] : [node, [...programmed].sort(([one], [other]) => (one < other ? -1 : 1))],
    reject({ poisoned }, key) {
      poisoned.clear();
      if (key !== undefined) poisoned.set(key, 'refused');
    },
    breakDown(backend, error) {
      backend.failure = error;
    },
  };
}

export function nftablesSubject(family: IpFamily): BackendSubject<MemoryNftTransport> {
  let takeAgain: (() => void) | undefined;
  let restore: (() => void) | undefined;
  return {
    family,
    makePlace: () => new MemoryNftTransport(),
    open: (kernel) => nftablesBackend(family, kernel, new GenerationWatch(kernel), new MemoryLogger()),
    snapshot(kernel) {
      const table = kernel.contents(family);
      return table && nftablesSnapshot(family, table);
    },
    damage: (kernel) => kernel.tamper(family, [{ op: 'flush-chain', chain: 'services' }]),
    reject(kernel, key) {
      takeAgain?.();
      takeAgain = undefined;
      if (key === undefined) return;
      // The addresses that the service has in the contract.
      const plain = family === 'IPv4' ? /^10\.96\.77\.5?1 / : /^fd00:96::5?1 /;
      takeAgain = kernel.refuse((_, element) => (plain.test(element?.key ?? '') ? 'EINVAL' : undefined));
    },
    writes: (kernel) => kernel.commits.length + kernel.refusedCount,
    breakDown(kernel, error) {
      restore?.();
      restore = error && kernel.outage(error);
    },
  };
}

export function iptablesSubject(family: IpFamily): BackendSubject<MemoryIptables> {
  return {
    ...onIptables(family),
    open(iptables) {
      iptables.reopen();
      const host = () => Promise.resolve(HOST);
      return iptablesBackend(family, iptables, iptables.watch(), host, new MemoryLogger());
    },
    damage: (iptables) =>
      iptables.tamper(family, '*nat\n:KUBE-SERVICES - [0:0]\n-A KUBE-SERVICES -j RETURN\nCOMMIT\n'),
  };
}

export function userspaceSubject(family: IpFamily): BackendSubject<MemoryIptables> {
  const loopback = family === 'IPv4' ? '127.0.0.1' : '::1';
  return {
    ...onIptables(family),
    open(iptables) {
      iptables.reopen();
      return userspaceBackend(
        family,
        {
          listen: loopback,
          hostAddress: () => Promise.resolve(loopback),
          portRange: { low: 0, high: 0 },
          udpIdleTimeout: 250,
          holdPort: () => Promise.resolve(() => undefined),
        },
        iptables,
        iptables.watch(),
        { list: () => [] },
        new FakeClock(),
        new MemoryLogger(),
      );
    },
    adopts: false,
    keepsUnexplained: false,
    damage: (iptables) => iptables.tamper(family, '*nat\n:KUBE-PORTALS-HOST - [0:0]\nCOMMIT\n'),
  };
}

function onIptables(family: IpFamily): Omit<BackendSubject<MemoryIptables>, 'open' | 'damage'> {
  return {
    family,
    makePlace() {
      const iptables = new MemoryIptables();
      iptables.tamper(family, STRANGERS);
      return iptables;
    },
    async snapshot(iptables) {
      iptables.reopen();
      return iptablesSnapshot(await iptables.save(family));
    },
    reject: (iptables, key) =>
      iptables.refuse((line) => (key !== undefined && line.includes(commentOf(key)) ? 'refused' : undefined)),
    writes: (iptables) => iptables.restores,
    breakDown: (iptables, error) => iptables.fail(error),
  };
}

/** `contract/plain:main`, as comments name the service port. */
function commentOf(key: string): string {
  const [namespace, name, , port] = key.split('/');
  return `${namespace}/${name}:${port}`;
}

export function ipvsSubject(family: IpFamily): BackendSubject<MemoryNode> {
  return {
    family,
    makePlace() {
      const node = new MemoryNode();
      for (const scheduler of ['wrr', 'wlc']) node.servers.schedulers.add(scheduler);
      return node;
    },
    open: (node) => node.reopened(family),
    async snapshot(node) {
      node.iptables.reopen();
      return {
        servers: node.servers.all
          .map(({ server, reals }) => [
            server,
            // None has connections, so none drains.
            reals.map(({ address, port, weight }) => `${address} ${port} ${weight}`).sort(),
          ])
          .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)),
        addresses: node.addresses.all,
        sets: node.sets.names.map((name) => [name, node.sets.members(name)]).sort(),
        rules: iptablesSnapshot(await node.iptables.save(family)),
      };
    },
    writesInParts: true,
    reject(node, key) {
      const itsAddress = family === 'IPv4' ? '10.96.77.51' : 'fd00:96::51';
      node.servers.refuse(({ server: { address } }) =>
        key !== undefined && address === itsAddress ? 'EINVAL' : undefined,
      );
    },
    writes: (node) => node.servers.applied + node.iptables.restores,
    damage(node) {
      node.addresses.tamper([]);
      node.iptables.tamper(family, '*nat\n:KUBE-SERVICES - [0:0]\n-A KUBE-SERVICES -j RETURN\nCOMMIT\n');
    },
    breakDown(node, error) {
      node.servers.fail(error);
      node.sets.fail(error);
    },
  };
}
